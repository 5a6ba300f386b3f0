//! Both ends' files together, without a network: what a copy leaves on the disk.

mod broken_off;
mod common;
mod destination;
mod full;
mod hostile;
mod model;
mod parts;
mod sources;
mod stream_file;
mod tree;
