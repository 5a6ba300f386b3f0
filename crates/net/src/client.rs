//! The near end: runs one test against any iperf3 server or a trunkline one.
//!
//! The calling thread drives the conversation and reads the streams every
//! [`SamplePlan::INTERVAL`]; each stream has a thread of its own, and so have the probes. Nothing is
//! started before it is needed and nothing outlives the run, so a caller inside a network namespace
//! finds all sockets there.
//!
//! What a foreign server cannot tell is absent from the [`Observation`]: its own intervals, its
//! `TCP_INFO`, and round trips where this host permits no ICMP.
//!
//! Reading order: [`Client`], `error`, then `run` and `assemble`.

mod assemble;
mod busy;
mod connect;
mod error;
mod flow;
mod precision;
mod run;
mod sent;

use observe::{Observation, SamplePlan, Setting, Watch};

pub use error::ClientError;

use crate::{Address, BufferLimit};

/// A server to test against.
///
/// ```no_run
/// use net::Client;
/// use observe::{SamplePlan, Setting, StreamCount, Window};
/// let client = Client::new("dtn.example.org".parse().unwrap());
/// let setting = Setting::new(StreamCount::ONE, Window::Auto);
/// let plan = SamplePlan::lasting(units::Span::from_secs(10));
/// let observation = client.run(&setting, &plan, &mut ()).unwrap();
/// println!("{}", observation.bytes_delivered().human());
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    address: Address,
    limit: BufferLimit,
}

impl Client {
    /// The server at `address`.
    pub fn new(address: Address) -> Self {
        Client {
            address,
            limit: BufferLimit::Host,
        }
    }

    /// Whether windows may pass this host's bounds.
    pub fn with_buffers(self, limit: BufferLimit) -> Self {
        Client { limit, ..self }
    }

    /// Runs one setting and tells what was seen.
    ///
    /// # Errors
    /// When nobody is there, the server refuses or fails, a stream breaks, or `watch` cancels.
    pub fn run(
        &self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn Watch,
    ) -> Result<Observation, ClientError> {
        run::run(self, setting, plan, watch)
    }
}
