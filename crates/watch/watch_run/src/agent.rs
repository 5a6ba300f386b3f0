//! The agent of a watch, one on each machine of the plan: visits at their times, results on disk
//! until the collector has them.
//!
//! `schedule.rs` turns the timetable and the clock of this host into visits that begin. A visit is
//! made by a [`Visitor`] on a thread of its own. Its result goes into the spool of `watch_store`
//! before anything else; `delivery.rs` sends what waits there and forgets what was confirmed. A
//! note of each running visit lies on the disk, so that one that was cut off by a kill or a reboot
//! is told as a failure.
//!
//! A plan that the collector gives is checked by [`Plans`], and followed as soon as no exclusive
//! visit runs: the one before is followed to the second at which the next one begins.
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
mod first_plan;
mod notes;
mod schedule;
mod visits;

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use crate::link::{PlanDigest, PlanText};
use changes::FarHost;
use copy_protocol::Token;
use units::{Address, Span};
use watch_plan::{HostName, Timetable};

pub use clock::{Clock, HostClock};
pub use error::AgentError;
pub use event::AgentEvent;
pub use first_plan::first_plan;
pub use visits::{Shown, Visitor};

use delivery::Courier;
use schedule::{Schedule, Step};
use visits::Visits;

/// How soon a step of the clock and a stop are noticed.
const TICK: Duration = Duration::from_millis(200);

/// A plan as an agent follows it.
#[derive(Debug, Clone)]
pub struct Followed {
    /// What is visited when.
    pub timetable: Timetable,
    /// The plan's digest, for the collector.
    pub digest: PlanDigest,
    /// The hosts of the plan that this machine is.
    pub hosts: Vec<HostName>,
}

/// Checks plans that the collector gives.
pub trait Plans: Debug + Send + Sync {
    /// The plan as it is to be followed, kept for the next start; or why it cannot be.
    fn take(&self, text: &PlanText) -> Result<Followed, String>;
}

/// What an agent is given.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// What it does at first.
    pub followed: Followed,
    /// Takes what follows; without, the agent keeps to its plan.
    pub plans: Option<Arc<dyn Plans>>,
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
        Ok(Agent {
            schedule: Schedule::new(options.followed.clone(), clock.now()),
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
        let on_event: &OnAgentEvent<'_> = &|event| {
            tracing::info!("{event}");
            on_event(event);
        };
        visits.tell_cut_off(on_event);
        thread::scope(|scope| {
            scope.spawn(|| courier.run(visits, stop, on_event));
            let mut alone: Option<ScopedJoinHandle<'_, ()>> = None;
            while !stop.load(Ordering::Relaxed) {
                let now = self.clock.now();
                match self.schedule.step(now) {
                    Step::Begin(due) => {
                        let begun = (now, courier.far_host(due.far()));
                        let table = self.schedule.timetable();
                        let is_alone = due.kind.is_exclusive();
                        let made = scope.spawn(move || {
                            visits.make((visitor, table.plan()), &due, begun, stop, on_event);
                        });
                        if is_alone {
                            alone = Some(made);
                        }
                    }
                    Step::Quiet(task, why) => on_event(AgentEvent::Quiet { task, why }),
                    Step::Missed(count) => on_event(AgentEvent::Missed(count)),
                    Step::Stepped(by) => on_event(AgentEvent::ClockStepped(by)),
                    Step::Wait(wait) => {
                        let is_between = alone.as_ref().is_none_or(ScopedJoinHandle::is_finished);
                        match is_between.then(|| courier.follow()).flatten() {
                            // What was due until now has begun by the plan before.
                            Some(next) => {
                                on_event(AgentEvent::NewPlan(next.digest.to_string()));
                                self.schedule = Schedule::new(next, now + Span::from_secs(1));
                            }
                            None => self.clock.wait(wait.min(TICK)),
                        }
                    }
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
