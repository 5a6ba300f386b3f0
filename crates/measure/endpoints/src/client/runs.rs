//! One run after another at the same server, with streams that may go on between them.

use observe::{Observation, RunObserver, SamplePlan, Setting};

use super::busy_retry::{ServerState, retry_while_busy};
use super::run::{Beginning, Run};
use super::{Client, ClientError};
use sockets::Clock;

/// A client together with the streams that its last run left sending, see
/// [`observe::Then::KeepRunning`].
///
/// Streams join as a test of their own beside those that run, so a server serves as many tests as
/// streams joined. Here all of them are read at one moment; the server is told at that moment to
/// count anew, and counts from when it hears of it. Streams go on with our own server alone: with a
/// foreign one, and where the further test is refused, the old run ends and a new one starts.
///
/// One run may last an hour, or as long as the first of them. Streams are not read between two
/// runs. What they meet there, such as the end of the server, shows in the next run. Dropping this
/// ends them at once, [`Runs::stop`] in good order.
#[derive(Debug)]
pub struct Runs {
    client: Client,
    running: Option<Run>,
    server: ServerState,
}

impl Runs {
    /// No streams run yet.
    pub fn new(client: Client) -> Self {
        Runs {
            client,
            running: None,
            server: ServerState::Unknown,
        }
    }

    /// Runs one setting and tells what was seen; only a run that time ends can leave streams
    /// sending.
    ///
    /// # Errors
    /// As [`Client::run`]. No streams are left then.
    pub fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, ClientError> {
        let asked = Clock::start();
        let (run, beginning) = match self.grown(setting, plan, watch, asked)? {
            Some(grown) => grown,
            None => started(&self.client, setting, plan, watch, asked, self.server)?,
        };
        self.server = ServerState::Served;
        let (seen, running) = run.observe(plan, watch, beginning)?;
        self.running = running;
        Ok(seen)
    }

    /// Ends the streams that the last run left sending.
    pub fn stop(&mut self) {
        if let Some(run) = self.running.take() {
            run.stop();
        }
    }

    /// The run that goes on, with the missing streams; `None` where a new one has to start.
    fn grown(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
        asked: Clock,
    ) -> Result<Option<(Run, Beginning)>, ClientError> {
        let Some(mut run) = self.running.take() else {
            return Ok(None);
        };
        if !run.is_sound() {
            return Ok(None);
        }
        if !run.leads_to(setting, plan) {
            run.stop();
            return Ok(None);
        }
        let before = run.streams();
        match run.join(&self.client, setting.streams, plan, watch) {
            Ok(()) => {
                let beginning = Beginning {
                    asked,
                    unloaded: None,
                    grown_from: Some(before),
                };
                Ok(Some((run, beginning)))
            }
            Err(ClientError::Cancelled) => Err(ClientError::Cancelled),
            // The new run meets the same obstacle, or shows that it is gone.
            Err(_) => {
                run.stop();
                Ok(None)
            }
        }
    }
}

/// A run of its own; a busy server is asked again.
pub(super) fn started(
    client: &Client,
    setting: &Setting,
    plan: &SamplePlan,
    watch: &mut dyn RunObserver,
    asked: Clock,
    server: ServerState,
) -> Result<(Run, Beginning), ClientError> {
    let start = |watch: &mut dyn RunObserver| Run::start(client, setting, plan, &*watch);
    let (run, unloaded) = retry_while_busy(watch, server, start)?;
    let beginning = Beginning {
        asked,
        unloaded,
        grown_from: None,
    };
    Ok((run, beginning))
}
