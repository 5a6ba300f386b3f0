//! iperf3's control protocol and our extension to it.
//!
//! Reading order: `cookie` and `state` for the primitives, `params` and `request` for what a test
//! is, `login` for who may run it, `results` and `telemetry` for what it showed, `datagram` for
//! tests over UDP, then `client` and `server`.

pub mod client;
pub(crate) mod cookie;
pub mod datagram;
pub(crate) mod denial;
pub(crate) mod error_code;
pub(crate) mod extension;
pub(crate) mod inbox;
pub(crate) mod login;
pub(crate) mod number;
pub(crate) mod params;
pub(crate) mod request;
pub(crate) mod request_error;
pub(crate) mod results;
pub mod server;
pub(crate) mod state;
pub(crate) mod telemetry;
