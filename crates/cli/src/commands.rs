//! One file per command.

pub(crate) mod campaign;
pub(crate) mod completion;
pub(crate) mod copy;
pub(crate) mod copy_far;
pub(crate) mod demo;
pub(crate) mod emulate;
pub(crate) mod far;
pub(crate) mod history;
pub(crate) mod limit;
pub(crate) mod man;
pub(crate) mod measure;
pub(crate) mod path;
pub(crate) mod pipe;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod responsiveness;
pub(crate) mod serve;
pub(crate) mod simulate;
pub(crate) mod study;
pub(crate) mod sweep;
pub(crate) mod tune;
pub(crate) mod verify;
pub(crate) mod watch;
