//! Sockets as Linux offers them, and what else a measurement asks of its host.
//!
//! [`options`] sets what a stream asks for and reads what it got, [`tcp_info`] reads `TCP_INFO`,
//! [`multipath`] the same of connections over several links, [`datagrams`] moves many at once,
//! [`poll`] and [`Deadline`] wait, [`mod@connect`] connects, [`ListenAt`] says where servers
//! listen, [`interfaces`] at which addresses that is. [`host`] has the limits of this network
//! namespace, [`processor`] the processor time of threads, [`Clock`] the monotonic clock,
//! [`random`] the kernel's randomness. [`child`] runs other programs, [`filter()`] those that
//! turn a short input into a short output, [`diag`] reads their connections. [`eviction`] chooses
//! which connection goes when too many are unidentified.
//!
//! Linux only, because telemetry rests on `TCP_INFO`.

pub mod child;
mod clock;
pub mod connect;
pub mod datagrams;
mod deadline;
pub mod diag;
pub mod eviction;
mod filtered;
pub mod host;
pub mod interfaces;
mod leaving;
mod listen;
pub mod multipath;
pub mod options;
pub mod poll;
pub mod processor;
pub mod random;
pub mod tcp_info;

pub use clock::Clock;
pub use deadline::Deadline;
pub use filtered::filter;
pub use leaving::{FarEnd, resolve};
pub use listen::ListenAt;
pub use options::{BufferLimit, OptionError, StreamOptions};
