//! A client that runs: looked at until enough was seen.

use std::thread;
use std::time::Duration;

use movers::{Client, Invocation};
use observe::{
    Amount, CpuSample, Direction, ProbeSeries, Progress, RunObserver, SamplePlan, Snapshot,
    TargetError,
};
use probe_net::round_trips::LoadedProbes;
use sockets::Clock;
use sockets::child::Child;
use sockets::diag::Diag;
use units::{Bytes, Rate, Span, Time};

use super::connections::Connections;
use super::errors;

/// How long a client is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// To log in and to begin.
    pub begin: Span,
    /// To move something once it has begun.
    pub stall: Span,
    /// To tell its version.
    pub answer: Span,
}

impl Default for Patience {
    /// * 20 s to begin: logins at 300 ms take some of them.
    /// * 15 s without data: some timeouts of TCP in a row.
    fn default() -> Self {
        Patience {
            begin: Span::from_secs(20),
            stall: Span::from_secs(15),
            answer: Span::from_secs(30),
        }
    }
}

/// What was fetched in less shows nothing of a path.
const LASTED_MIN: Span = Span::from_secs(1);
/// How soon an early end of the client is seen.
const TICK: Duration = Duration::from_millis(10);

/// Runs a program to its end.
///
/// # Errors
/// When it cannot be started or takes too long. How it ends does not matter: the answer tells.
pub(super) fn ask(
    invocation: &Invocation,
    client: &dyn Client,
    most: Span,
) -> Result<String, TargetError> {
    let (arguments, variables) = (&invocation.arguments, &invocation.environment);
    let child = Child::start(&invocation.program, arguments, variables);
    let mut child = child.map_err(|error| errors::not_started(client, invocation, error))?;
    let clock = Clock::start();
    while child.ended().map_err(errors::no_kernel)?.is_none() {
        if clock.now().since(Time::ZERO) > most {
            return Err(errors::hangs(client, most, false, &child.said()));
        }
        thread::sleep(TICK);
    }
    Ok(child.last_said())
}

/// Why a run has shown nothing.
pub(super) enum NotSeen {
    /// The client has ended without moving data, or next to none: the far end may take it later.
    Refused(TargetError),
    /// Anything else.
    Failed(TargetError),
}

impl From<TargetError> for NotSeen {
    fn from(error: TargetError) -> Self {
        NotSeen::Failed(error)
    }
}

/// Waits.
///
/// # Errors
/// When the user has had enough.
pub(super) fn pause(span: Span, watch: &dyn RunObserver) -> Result<(), TargetError> {
    let clock = Clock::start();
    while clock.now().since(Time::ZERO) < span {
        if watch.is_cancelled() {
            return Err(errors::cancelled());
        }
        thread::sleep(TICK);
    }
    Ok(())
}

/// What a run has shown, from when data began to flow.
pub(super) struct Seen {
    pub connections: Connections,
    /// What the client has printed of its progress; for want of connections only.
    pub printed: Vec<Progress>,
    pub direction: Direction,
    pub duration: Span,
    pub cpu: Vec<CpuSample>,
    pub loaded: Option<ProbeSeries>,
}

impl Seen {
    /// The mean over all of it.
    pub(super) fn rate(&self) -> Rate {
        let printed = self.printed.last().map_or(Bytes::ZERO, |last| last.bytes);
        Rate::of(self.connections.bytes().max(printed), self.duration)
    }
}

/// A client that was started.
pub(super) struct Running {
    child: Child,
    client: &'static dyn Client,
    direction: Direction,
    diag: Diag,
    clock: Clock,
    connections: Connections,
    printed: Vec<Progress>,
    cpu: Vec<CpuSample>,
    loading: Option<LoadedProbes>,
    patience: Patience,
    /// When data began to flow.
    began: Option<Time>,
    shown: Shown,
}

/// What the onlooker was shown last.
#[derive(Debug, Clone, Copy)]
struct Shown {
    at: Time,
    bytes: Bytes,
    sent: Option<(Bytes, Bytes)>,
    /// When there was something new.
    moved: Time,
}

impl Running {
    pub(super) fn new(
        child: Child,
        client: &'static dyn Client,
        direction: Direction,
        loading: Option<LoadedProbes>,
        patience: Patience,
    ) -> Result<Self, TargetError> {
        Ok(Running {
            child,
            client,
            direction,
            diag: Diag::open().map_err(errors::no_kernel)?,
            clock: Clock::start(),
            connections: Connections::new(direction),
            printed: Vec::new(),
            cpu: Vec::new(),
            loading,
            patience,
            began: None,
            shown: Shown {
                at: Time::ZERO,
                bytes: Bytes::ZERO,
                sent: None,
                moved: Time::ZERO,
            },
        })
    }

    /// Looks on until the plan's amount has passed, the goodput is known, the onlooker has enough,
    /// or the client has ended well.
    ///
    /// # Errors
    /// When the client fails, hangs, or moves nothing, or the user has had enough.
    pub(super) fn until_enough(
        mut self,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Seen, NotSeen> {
        let mut readings = Vec::new();
        loop {
            let has_ended = self.wait(watch)?;
            let now = self.clock.now();
            self.read(now)?;
            if let Some(began) = self.began {
                let snapshot = self.snapshot(plan, now, began);
                watch.on_progress(&snapshot);
                readings.push(Progress {
                    at: snapshot.at,
                    bytes: snapshot.bytes,
                });
                let suffices = |wanted: observe::Precision| wanted.is_met(&[&readings]);
                let is_known = plan.precision.is_some_and(suffices);
                if has_passed(plan, &snapshot) || is_known || watch.has_enough() {
                    return Ok(self.end(now, began));
                }
            }
            if has_ended {
                return self.ended(now, plan);
            }
            if self.began.is_none() {
                watch.on_idle(now.since(Time::ZERO));
            }
            self.check_stall(now, watch)?;
        }
    }

    /// Until the next reading is due; whether the client has ended by then.
    fn wait(&mut self, watch: &dyn RunObserver) -> Result<bool, TargetError> {
        let due = self.shown.at + SamplePlan::INTERVAL;
        loop {
            if watch.is_cancelled() {
                return Err(errors::cancelled());
            }
            let now = self.clock.now();
            let has_ended = self.child.ended().map_err(errors::no_kernel)?.is_some();
            if has_ended || now >= due {
                self.shown.at = now;
                return Ok(has_ended);
            }
            thread::sleep(Duration::from(due.since(now)).min(TICK));
        }
    }

    fn read(&mut self, now: Time) -> Result<(), TargetError> {
        let own = self.child.sockets();
        if !own.is_empty() {
            let all = self.diag.connections(now).map_err(errors::no_kernel)?;
            let own = all.into_iter().filter(|one| own.contains(&one.inode));
            own.for_each(|connection| self.connections.read(connection));
        }
        self.cpu.extend(self.child.processor(now));
        let seen = self.connections.bytes();
        if seen == Bytes::ZERO {
            self.read_printed(now);
        }
        let bytes = seen.max(self.printed.last().map_or(Bytes::ZERO, |last| last.bytes));
        if bytes > self.shown.bytes {
            self.shown.moved = now;
            let before = now.since(Time::ZERO) - SamplePlan::INTERVAL;
            self.began.get_or_insert(Time::ZERO + before);
        }
        Ok(())
    }

    fn read_printed(&mut self, now: Time) {
        let printed = self.client.printed(&self.child.said());
        let last = self.printed.last().map_or(Bytes::ZERO, |last| last.bytes);
        if let Some(new) = printed.filter(|new| new.bytes > last) {
            self.printed.push(Progress {
                at: now,
                bytes: new.bytes,
            });
        }
    }

    fn snapshot(&mut self, plan: &SamplePlan, now: Time, began: Time) -> Snapshot {
        let printed = self.printed.last().map_or(Bytes::ZERO, |last| last.bytes);
        let bytes = self.connections.bytes().max(printed);
        let sent = self.connections.sent();
        let more = bytes - self.shown.bytes.min(bytes);
        let share = sent.zip(self.shown.sent).and_then(|(now, before)| {
            let sent = now.0.as_f64() - before.0.as_f64();
            (sent > 0.0).then(|| ((now.1.as_f64() - before.1.as_f64()) / sent).clamp(0.0, 1.0))
        });
        (self.shown.bytes, self.shown.sent) = (bytes, sent);
        Snapshot {
            at: Time::ZERO + now.since(began),
            duration_max: match plan.amount {
                Amount::Time(time) => Some(time),
                Amount::Bytes(_) => None,
            },
            bytes,
            rate: Rate::of(more, SamplePlan::INTERVAL),
            rtt: self.connections.rtt(),
            probe_rtt: self.loading.as_ref().and_then(LoadedProbes::latest),
            retransmitted_share: share,
        }
    }

    fn check_stall(&self, now: Time, watch: &dyn RunObserver) -> Result<(), TargetError> {
        let waited = now.since(self.shown.moved);
        let (has_begun, most) = match self.began {
            Some(_) => (true, self.patience.stall),
            None => (false, self.patience.begin),
        };
        match waited > most || !has_begun && watch.has_enough() {
            true => Err(errors::hangs(
                self.client,
                waited.min(most),
                has_begun,
                &self.child.said(),
            )),
            false => Ok(()),
        }
    }

    /// The client has ended by itself.
    fn ended(mut self, now: Time, plan: &SamplePlan) -> Result<Seen, NotSeen> {
        let status = self.child.ended().map_err(errors::no_kernel)?;
        let said = self.child.last_said();
        if let Some(status) = status.filter(|status| !status.success()) {
            let error = errors::ended_badly(self.client, status, &said);
            return Err(match self.began {
                Some(_) => NotSeen::Failed(error),
                None => NotSeen::Refused(error),
            });
        }
        self.read_printed(now);
        let began = match (self.began, self.printed.last()) {
            (Some(began), _) => began,
            (None, Some(_)) => Time::ZERO,
            (None, None) => {
                return Err(NotSeen::Refused(errors::nothing_moved(self.client, &said)));
            }
        };
        let lasted = now.since(began);
        let is_timed = matches!(plan.amount, Amount::Time(_));
        match is_timed && lasted < LASTED_MIN {
            true => Err(NotSeen::Refused(errors::too_short(
                self.client,
                lasted,
                &said,
            ))),
            false => Ok(self.end(now, began)),
        }
    }

    fn end(mut self, now: Time, began: Time) -> Seen {
        let loaded = self.loading.take().and_then(LoadedProbes::finish);
        self.child.end();
        let since = |at: Time| Time::ZERO + at.since(began);
        let printed = self.printed.into_iter().map(|reading| Progress {
            at: since(reading.at),
            ..reading
        });
        let cpu = self.cpu.into_iter().filter(|reading| reading.at >= began);
        Seen {
            connections: self.connections.since(began),
            printed: printed.collect(),
            direction: self.direction,
            duration: now.since(began),
            cpu: cpu
                .map(|reading| CpuSample {
                    at: since(reading.at),
                    ..reading
                })
                .collect(),
            loaded,
        }
    }
}

fn has_passed(plan: &SamplePlan, snapshot: &Snapshot) -> bool {
    match plan.amount {
        Amount::Time(time) => snapshot.at.since(Time::ZERO) >= time,
        Amount::Bytes(bytes) => snapshot.bytes >= bytes,
    }
}
