//! The near end: runs one test against any iperf3 server or a trunkline one.
//!
//! The calling thread drives the conversation and reads the streams every [`SamplePlan::INTERVAL`];
//! each stream has a thread of its own, and so have the probes. Nothing is started before it is
//! needed and nothing outlives the run, so a caller inside a network namespace finds all sockets
//! there.
//!
//! What a foreign server cannot tell is absent from the [`Observation`]: its own intervals, its
//! `TCP_INFO`, and round trips where this host permits no ICMP.
//!
//! A test is a conversation with the server and the streams that belong to it; a run has one, and
//! one more for each time that streams joined it while data flowed. Whatever carries data over
//! streams that come and go can be built of tests.
//!
//! Reading order: [`Client`], `error`, `runs`, then `run` with its parts: `proposal` (until the
//! streams run), `test`, `stage` (looking at them) and `assemble`; `datagrams` with `counted` for
//! tests over UDP, `login` for servers with users, `probe_session` for those who want to send
//! trains instead.

mod assemble;
pub(crate) mod busy_retry;
pub(crate) mod connect;
mod conversation;
mod counted;
mod datagrams;
mod error;
mod flow;
pub(crate) mod login;
mod precision;
pub(crate) mod probe_session;
mod probing;
mod proposal;
mod retransmits;
mod run;
mod runs;
mod snapshot;
mod stage;
mod test;

use observe::{Observation, RunObserver, SamplePlan, Setting, Then};

pub use error::ClientError;
pub use login::{Login, LoginError};
pub use runs::Runs;

use busy_retry::ServerState;

use sockets::BufferLimit;
use sockets::Clock;
use units::Address;

/// A server to test against.
///
/// ```no_run
/// use endpoints::Client;
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
    login: Option<Login>,
}

impl Client {
    /// The server at `address`.
    pub fn new(address: Address) -> Self {
        Client {
            address,
            limit: BufferLimit::Host,
            login: None,
        }
    }

    /// Whether windows may pass this host's bounds.
    pub fn with_buffers(self, limit: BufferLimit) -> Self {
        Client { limit, ..self }
    }

    /// Who asks, at a server with users.
    #[must_use]
    pub fn with_login(self, login: Option<Login>) -> Self {
        Client { login, ..self }
    }

    /// Runs one setting and tells what was seen. The streams end with it, whatever the plan says;
    /// see [`Runs`].
    ///
    /// # Errors
    /// When there is no server, it refuses or fails, a stream breaks, or `watch` cancels.
    pub fn run(
        &self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, ClientError> {
        let plan = SamplePlan {
            then: Then::Stop,
            ..*plan
        };
        let asked = Clock::start();
        let (run, beginning) =
            runs::started(self, setting, &plan, watch, asked, ServerState::Unknown)?;
        let (seen, _) = run.observe(&plan, watch, beginning)?;
        Ok(seen)
    }
}
