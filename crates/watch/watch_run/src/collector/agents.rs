//! How each agent is, from its latest report.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::link::{PlanDigest, Report, Running};
use changes::{FarHost, UnixTime};
use serde::Serialize;
use units::printable;
use watch_store::Name;

/// Most characters of the name of an agent's program.
const SOFTWARE_MAX: usize = 60;
/// Most characters of why it does not follow a plan.
const REFUSAL_MAX: usize = 500;

/// How an agent is, for one of its hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentState {
    /// The host.
    pub host: Name,
    /// Where it reports from.
    pub peer: SocketAddr,
    /// When its latest report came.
    pub seen: UnixTime,
    /// Its program.
    pub software: String,
    /// Visits that wait on its disk.
    pub waiting: u64,
    /// The visit that runs.
    pub running: Option<Running>,
    /// The plan that it follows; none before its first one.
    pub plan: Option<PlanDigest>,
    /// Whether that is another than the collector's.
    pub plan_differs: bool,
    /// Why it does not follow the collector's, which it was given.
    pub plan_refused: Option<String>,
    /// How far its clock is ahead of the collector's, in seconds; negative behind it. The way of
    /// the report is in it.
    pub clock_ahead_seconds: i64,
    /// Kernel and buffers.
    pub far_host: FarHost,
}

/// The latest report of each host.
#[derive(Debug, Default)]
pub(crate) struct Agents(BTreeMap<Name, AgentState>);

impl Agents {
    pub fn note(&mut self, report: &Report, peer: SocketAddr, plan: &PlanDigest, now: UnixTime) {
        for host in &report.hosts {
            let state = AgentState {
                host: host.clone(),
                peer,
                seen: now,
                software: printable(&report.software, SOFTWARE_MAX),
                waiting: report.waiting,
                running: report.running.clone(),
                plan: report.plan.clone(),
                plan_differs: report.plan.as_ref() != Some(plan),
                plan_refused: refused(report),
                clock_ahead_seconds: ahead(report.now, now),
                far_host: report.host.clone(),
            };
            self.0.insert(host.clone(), state);
        }
    }

    pub fn states(&self) -> Vec<AgentState> {
        self.0.values().cloned().collect()
    }

    pub fn far_hosts(&self) -> BTreeMap<Name, FarHost> {
        let hosts = self.0.values();
        hosts
            .map(|agent| (agent.host.clone(), agent.far_host.clone()))
            .collect()
    }

    /// What waits on the disk of an agent after a report was answered.
    pub fn note_waiting(&mut self, hosts: &[Name], waiting: u64) {
        for host in hosts {
            if let Some(agent) = self.0.get_mut(host) {
                agent.waiting = waiting;
            }
        }
    }
}

fn refused(report: &Report) -> Option<String> {
    let wish = report.plan_wish.as_ref()?;
    let why = wish.refused.as_ref()?;
    Some(printable(why, REFUSAL_MAX))
}

/// How far `one` is ahead of `other`, in seconds.
pub(crate) fn ahead(one: UnixTime, other: UnixTime) -> i64 {
    one.seconds()
        .cast_signed()
        .saturating_sub(other.seconds().cast_signed())
}
