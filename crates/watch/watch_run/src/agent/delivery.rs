//! Sends results to the collector, and forgets those that it has.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::link::{
    AgentLink, FRAME_MAX, FrameError, LINK_VERSION, LinkError, PlanDigest, PlanText, PlanWish,
    Reply, Report, VISITS_MAX,
};
use changes::FarHost;
use watch_plan::HostName;
use watch_store::{Name, Receipt, Refusal, StoredVisit, VisitId};

use crate::agent::visits::{Visits, lock};
use crate::agent::{AgentEvent, AgentOptions, Followed, OnAgentEvent, first_plan};

/// How often an agent reports without results, so that it is seen to live.
const REPORT_EVERY: Duration = Duration::from_secs(30);
/// The first pause after a report did not get through, and the longest; each is twice the one
/// before.
const PAUSES: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(60)];
/// Visits that the collector will never take.
const REFUSED: &str = "refused.ndjson";
/// Most bytes of that file, and of the one before it.
const REFUSED_MAX: u64 = 16 << 20;
/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(200);
/// How long the last report may take after a stop. What it does not deliver stays on the disk.
const LAST_MAX: Duration = Duration::from_secs(1);

/// Reports to one collector.
pub(crate) struct Courier {
    options: AgentOptions,
    plan: Mutex<PlanState>,
    far_hosts: Mutex<BTreeMap<Name, FarHost>>,
    pub(crate) pauses: [Duration; 2],
}

/// The plan that is followed, and the next one.
struct PlanState {
    followed: PlanDigest,
    hosts: Vec<Name>,
    /// What the collector gave, and the agent will follow.
    next: Option<Followed>,
    /// What the agent has looked at.
    wish: PlanWish,
}

/// What was told already, so that it is told once.
#[derive(Default)]
struct Told {
    failure: Option<String>,
    plan: Option<String>,
}

impl Courier {
    pub fn new(options: AgentOptions) -> Self {
        let plan = PlanState {
            followed: options.followed.digest.clone(),
            hosts: names(&options.followed.hosts),
            next: None,
            wish: PlanWish::default(),
        };
        Courier {
            plan: Mutex::new(plan),
            options,
            far_hosts: Mutex::default(),
            pauses: PAUSES,
        }
    }

    /// What the collector told of another host.
    pub fn far_host(&self, host: &HostName) -> Option<FarHost> {
        lock(&self.far_hosts).get(&Name::from(host)).cloned()
    }

    /// The next plan, where there is one: it is the one that is followed then.
    pub fn follow(&self) -> Option<Followed> {
        let mut plan = lock(&self.plan);
        let next = plan.next.take()?;
        plan.followed = next.digest.clone();
        plan.hosts = names(&next.hosts);
        plan.wish = PlanWish::default();
        Some(next)
    }

    /// Asks for a plan where reports are refused: the next one may not have a host of this one.
    fn ask_for_plan(&self, is_given_up: &dyn Fn() -> bool, on_event: &OnAgentEvent<'_>) {
        if self.options.plans.is_none() {
            return;
        }
        let who = (self.options.software.as_str(), self.options.clock.now());
        let (collector, token) = (&self.options.collector, &self.options.token);
        // Why no answer came is told of reports.
        let Ok(text) = first_plan(collector, token, who, is_given_up) else {
            return;
        };
        let digest = text.digest();
        let is_known = {
            let plan = lock(&self.plan);
            plan.followed == digest || plan.wish.seen.as_ref() == Some(&digest)
        };
        if !is_known {
            self.consider(&text, on_event);
        }
    }

    /// Looks at a plan of the collector.
    fn consider(&self, text: &PlanText, on_event: &OnAgentEvent<'_>) {
        let Some(plans) = &self.options.plans else {
            return;
        };
        let taken = plans.take(text);
        let mut plan = lock(&self.plan);
        plan.wish.seen = Some(text.digest());
        plan.wish.refused = taken.as_ref().err().cloned();
        if let Err(why) = &taken {
            on_event(AgentEvent::PlanRefused(why.clone()));
        }
        plan.next = taken.ok();
    }

    /// Reports until `stop`, and once more then.
    pub fn run(&self, visits: &Visits, stop: &AtomicBool, on_event: &OnAgentEvent<'_>) {
        let mut told = Told::default();
        let [first, longest] = self.pauses;
        let mut pause = first;
        let stopped_at = OnceLock::new();
        let is_given_up = || {
            let is_stopped = stop.load(Ordering::Relaxed);
            is_stopped && stopped_at.get_or_init(Instant::now).elapsed() >= LAST_MAX
        };
        loop {
            let stopped = stop.load(Ordering::Relaxed);
            let mut delivered = 0;
            let sent = self.deliver(visits, &mut delivered, &mut told, on_event, &is_given_up);
            if delivered > 0 {
                pause = first;
                on_event(AgentEvent::Delivered {
                    visits: delivered,
                    waiting: visits.waiting().count(),
                });
            }
            let wait = match sent {
                Ok(()) => {
                    told.failure = None;
                    REPORT_EVERY
                }
                Err(error) => {
                    self.tell(visits, &error, &mut told, on_event);
                    if let LinkError::Refused(_) = error {
                        self.ask_for_plan(&is_given_up, on_event);
                    }
                    let wait = pause;
                    tracing::debug!(why = chain(&error), ?wait, "not delivered");
                    pause = (pause * 2).min(longest);
                    wait
                }
            };
            if stopped {
                return;
            }
            let is_failing = told.failure.is_some();
            rest(visits, wait, is_failing, stop);
        }
    }

    fn tell(
        &self,
        visits: &Visits,
        error: &LinkError,
        told: &mut Told,
        on_event: &OnAgentEvent<'_>,
    ) {
        let what = chain(error);
        if told.failure.as_ref() != Some(&what) {
            on_event(AgentEvent::NotDelivered {
                what: what.clone(),
                hint: error.hint(),
                waiting: visits.waiting().count(),
            });
            told.failure = Some(what);
        }
    }

    /// Sends all that waits, and at least one report.
    ///
    /// * `delivered`: counts the visits that need not be kept any more, also before a failure.
    fn deliver(
        &self,
        visits: &Visits,
        delivered: &mut usize,
        told: &mut Told,
        on_event: &OnAgentEvent<'_>,
        is_given_up: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), LinkError> {
        let (collector, token) = (&self.options.collector, &self.options.token);
        let link = AgentLink::connect(collector, token, is_given_up)?;
        let (handle, is_over) = (link.handle(), AtomicBool::new(false));
        thread::scope(|scope| {
            let guard = scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    if is_given_up() {
                        return handle.shut_down();
                    }
                    thread::park_timeout(TICK);
                }
            });
            let sent = self.send(link, visits, delivered, told, on_event);
            is_over.store(true, Ordering::Relaxed);
            guard.thread().unpark();
            sent
        })
    }

    fn send(
        &self,
        mut link: AgentLink,
        visits: &Visits,
        delivered: &mut usize,
        told: &mut Told,
        on_event: &OnAgentEvent<'_>,
    ) -> Result<(), LinkError> {
        let mut most = VISITS_MAX as u32;
        loop {
            let report = self.report(visits, most, on_event);
            let sent = report.visits.len();
            let reply = match link.report(&report) {
                // Large documents: fewer at once.
                Err(LinkError::Frame(FrameError::Outgoing(_))) if most > 1 => {
                    most /= 2;
                    continue;
                }
                Err(LinkError::Frame(FrameError::Outgoing(bytes))) if sent == 1 => {
                    let receipt = vec![too_long(bytes)];
                    match self.forget(visits, &report.visits, receipt, on_event) {
                        0 => break,
                        _ => continue,
                    }
                }
                reply => reply?,
            };
            self.note(&reply, told, on_event);
            let done = self.forget(visits, &report.visits, reply.receipts, on_event);
            *delivered += done;
            // What could not be put aside is tried again with the next report.
            if sent == 0 || done < sent || visits.waiting().count() == 0 {
                break;
            }
        }
        Ok(())
    }

    fn report(&self, visits: &Visits, most: u32, on_event: &OnAgentEvent<'_>) -> Report {
        let batch = visits.batch(most).unwrap_or_else(|why| {
            on_event(AgentEvent::NotStored(why));
            Vec::new()
        });
        let plan = lock(&self.plan);
        Report {
            version: LINK_VERSION,
            software: self.options.software.clone(),
            hosts: plan.hosts.clone(),
            host: self.options.host.clone(),
            plan: Some(plan.followed.clone()),
            plan_wish: self.options.plans.as_ref().map(|_| plan.wish.clone()),
            now: self.options.clock.now(),
            waiting: visits.waiting().count(),
            running: visits.first_running(),
            visits: batch,
        }
    }

    fn note(&self, reply: &Reply, told: &mut Told, on_event: &OnAgentEvent<'_>) {
        *lock(&self.far_hosts) = reply.far_hosts.clone();
        if let Some(text) = &reply.plan_text {
            self.consider(text, on_event);
        }
        let mut plan = lock(&self.plan);
        if reply.plan == plan.followed {
            // The collector has gone back to it.
            (plan.next, plan.wish) = (None, PlanWish::default());
            return;
        }
        let there = reply.plan.to_string();
        if self.options.plans.is_none() && told.plan.as_ref() != Some(&there) {
            on_event(AgentEvent::PlanDiffers {
                here: plan.followed.to_string(),
                there: there.clone(),
            });
            told.plan = Some(there);
        }
    }

    /// Forgets visits that the collector has, and puts aside those that it will never take; how
    /// many those are.
    pub(crate) fn forget(
        &self,
        visits: &Visits,
        sent: &[StoredVisit],
        receipts: Vec<Receipt>,
        on_event: &OnAgentEvent<'_>,
    ) -> usize {
        let (mut done, mut refused, mut first) = (Vec::<VisitId>::new(), Vec::new(), None);
        for (visit, receipt) in sent.iter().zip(receipts) {
            match receipt {
                Receipt::Stored | Receipt::Known => done.push(visit.id),
                Receipt::Refused(why) => {
                    refused.push(visit);
                    first.get_or_insert(why);
                }
            }
        }
        if let Some(why) = first {
            let file = self.options.state.join(REFUSED);
            match put_aside(&file, &refused) {
                Ok(()) => {
                    done.extend(refused.iter().map(|visit| visit.id));
                    on_event(AgentEvent::Refused {
                        visits: refused.len(),
                        why: why.to_string(),
                        file: file.display().to_string(),
                    });
                }
                Err(error) => on_event(AgentEvent::NotStored(error.to_string())),
            }
        }
        // What cannot be forgotten is sent again, and known there.
        match visits.forget(&done) {
            Ok(()) => done.len(),
            Err(why) => {
                on_event(AgentEvent::NotStored(why));
                0
            }
        }
    }
}

fn names(hosts: &[HostName]) -> Vec<Name> {
    hosts.iter().map(Name::from).collect()
}

/// Waits for a new result, or for `wait`; while reports fail, new results do not shorten that.
fn rest(visits: &Visits, wait: Duration, is_failing: bool, stop: &AtomicBool) {
    let end = Instant::now() + wait;
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if visits.wait(left.min(TICK)) && !is_failing {
            return;
        }
    }
}

/// That a visit alone is longer than a report may be.
fn too_long(bytes: usize) -> Receipt {
    Receipt::Refused(Refusal::Large {
        what: "the length of the visit in bytes".to_owned(),
        value: bytes as u64,
        bound: FRAME_MAX.into(),
    })
}

/// Appends visits to a file. One that would grow beyond [`REFUSED_MAX`] takes the place of the one
/// before it, and a new one begins.
fn put_aside(file: &Path, visits: &[&StoredVisit]) -> io::Result<()> {
    let mut lines = Vec::new();
    for visit in visits {
        serde_json::to_writer(&mut lines, visit)?;
        lines.push(b'\n');
    }
    let size = fs::metadata(file).map_or(0, |found| found.len());
    if size > 0 && size + lines.len() as u64 > REFUSED_MAX {
        fs::rename(file, file.with_extension("ndjson.old"))?;
    }
    let mut options = OpenOptions::new();
    let mut file = options.append(true).create(true).mode(0o600).open(file)?;
    file.write_all(&lines)?;
    file.sync_data()
}

/// An error with what caused it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(one) = cause {
        text += &format!(": {one}");
        cause = one.source();
    }
    text
}
