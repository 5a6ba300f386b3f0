//! The agent of a watch, one on each machine of the plan: visits at their times, results on disk
//! until the collector has them.
//!
//! `schedule.rs` turns the timetable and the clock of this host into visits that begin. A visit is
//! made by a [`Visitor`] on a thread of its own. Its result goes into the spool of `watch_store`
//! before anything else; `delivery.rs` sends what waits there and forgets what was confirmed. A
//! note of each running visit lies on the disk, so that one that was cut off by a kill or a reboot
//! is told as a failure.
//!
//! Left out: visits that were missed while the agent was not there. They are not made up for; the
//! collector sees that they are missing.
//!
//! Reading order: [`Agent`], `schedule.rs`, `visits.rs`, `delivery.rs`, `notes.rs`; `clock.rs` is
//! what a benchmark replaces.

mod clock;
mod delivery;
mod error;
mod event;
mod notes;
mod schedule;
mod visits;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use changes::FarHost;
use sockets::Address;
use watch_link::PlanDigest;
use watch_plan::{HostName, Timetable};
use wire::copy::Token;

pub use clock::{Clock, HostClock};
pub use error::AgentError;
pub use event::AgentEvent;
pub use visits::{Shown, Visitor};

use delivery::Courier;
use schedule::{Schedule, Step};
use visits::Visits;

/// How soon a step of the clock and a stop are noticed.
const TICK: Duration = Duration::from_millis(200);

/// What an agent is given.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// What is visited when.
    pub timetable: Timetable,
    /// The plan's digest, for the collector.
    pub plan: PlanDigest,
    /// The hosts of the plan that this machine is.
    pub hosts: Vec<HostName>,
    /// Where results go.
    pub collector: Address,
    /// What the collector knows this agent by.
    pub token: Token,
    /// The folder for results that wait.
    pub state: PathBuf,
    /// What other agents may know of this host.
    pub host: FarHost,
    /// Its program.
    pub software: String,
    /// What the timetable goes by.
    pub clock: Arc<dyn Clock>,
}

/// An agent with its folder.
pub struct Agent {
    schedule: Schedule,
    visits: Visits,
    courier: Courier,
    clock: Arc<dyn Clock>,
    /// Held as long as the agent lives.
    _lock: File,
}

/// Takes what happens, on any thread.
pub type OnAgentEvent<'a> = dyn Fn(AgentEvent) + Send + Sync + 'a;

impl Agent {
    /// Opens the folder and what waits there.
    ///
    /// # Errors
    /// When another agent has the folder, or it cannot be written.
    pub fn open(options: AgentOptions) -> Result<Self, AgentError> {
        let folder = options.state.as_path();
        let lock = lock(folder)?;
        let visits = Visits::open(folder)?;
        let clock = Arc::clone(&options.clock);
        let (timetable, hosts) = (options.timetable.clone(), options.hosts.clone());
        Ok(Agent {
            schedule: Schedule::new(timetable, hosts, clock.now()),
            clock,
            courier: Courier::new(options),
            visits,
            _lock: lock,
        })
    }

    /// Makes visits until `stop`. Visits that run are then ended, and their results stay on the
    /// disk unless the collector takes them at once.
    pub fn run(mut self, visitor: &dyn Visitor, stop: &AtomicBool, on_event: &OnAgentEvent<'_>) {
        let (visits, courier) = (&self.visits, &self.courier);
        visits.tell_cut_off(on_event);
        thread::scope(|scope| {
            scope.spawn(|| courier.run(visits, stop, on_event));
            while !stop.load(Ordering::Relaxed) {
                let now = self.clock.now();
                match self.schedule.step(now) {
                    Step::Begin(due) => {
                        let begun = (now, courier.far_host(due.far()));
                        scope.spawn(move || visits.make(visitor, &due, begun, stop, on_event));
                    }
                    Step::Quiet(task, why) => on_event(AgentEvent::Quiet { task, why }),
                    Step::Missed(count) => on_event(AgentEvent::Missed(count)),
                    Step::Stepped(by) => on_event(AgentEvent::ClockStepped(by)),
                    Step::Wait(wait) => self.clock.wait(wait.min(TICK)),
                }
            }
        });
    }
}

/// Makes the folder and takes its lock, which ends with this process.
fn lock(folder: &Path) -> Result<File, AgentError> {
    let unusable = |source| AgentError::Folder {
        folder: folder.to_owned(),
        source,
    };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(unusable)?;
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(folder.join("lock"))
        .map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(AgentError::Taken(folder.to_owned())),
        Err(TryLockError::Error(source)) => Err(unusable(source)),
    }
}

#[cfg(test)]
mod tests;
