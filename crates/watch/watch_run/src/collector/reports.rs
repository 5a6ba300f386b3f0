//! Reports of agents: checks them, and stores each visit once.

use std::net::SocketAddr;

use changes::UnixTime;
use copy_protocol::KeyName;
use errors::Hint;
use units::Span;
use watch_store::{Receipt, Refusal, Series, StoredVisit};

use crate::link::{Answer, PlanText, Refused, Reply, Report};

use crate::collector::agents::ahead;
use crate::collector::allowed::{UNPLANNED_MAX, is_possible};
use crate::collector::{Collector, State};

/// How far the clock of an agent, and the time of a visit, may be ahead of the collector's.
pub const CLOCK_AHEAD_MAX: Span = Span::from_secs(60);
/// How old a visit may be when it comes: an agent's disk may have been away for a year. A clock
/// that was never set shows 1970.
pub const VISIT_AGE_MAX: Span = Span::from_secs(400 * 86_400);

impl Collector {
    /// Takes a report of the agent that showed the token `name`.
    ///
    /// Visits from hosts that the token does not stand for, of the future or of years ago, and of
    /// series that no plan explains are refused one by one; the others are stored. The whole report
    /// is refused, and the agent keeps its visits, where its clock is wrong, it names a host that
    /// it is not, or the database fails.
    pub fn take(&self, name: &KeyName, peer: SocketAddr, report: &Report, now: UnixTime) -> Answer {
        if let Some(refused) = self.fault(name, report, now) {
            return Answer::Refused(refused);
        }
        self.agents_known().note(report, peer, &self.plan, now);
        let receipts = match self.receive(name, &report.visits, now) {
            Ok(receipts) => receipts,
            Err(refused) => return Answer::Refused(refused),
        };
        let mut agents = self.agents_known();
        let done = receipts.len() as u64;
        agents.note_waiting(&report.hosts, report.waiting.saturating_sub(done));
        Answer::Taken(Reply {
            now,
            plan: self.plan.clone(),
            plan_text: self.wished(report),
            receipts,
            far_hosts: agents.far_hosts(),
        })
    }

    /// The plan, for an agent that wishes it, does not follow it and has not looked at it.
    fn wished(&self, report: &Report) -> Option<PlanText> {
        let wish = report.plan_wish.as_ref()?;
        let known = [&report.plan, &wish.seen];
        let is_known = known.into_iter().flatten().any(|known| *known == self.plan);
        (!is_known).then(|| self.plan_text.clone())
    }

    fn fault(&self, name: &KeyName, report: &Report, now: UnixTime) -> Option<Refused> {
        let mut hosts = report.hosts.iter();
        let other = hosts.find(|host| !self.allowed.is_from(name, host));
        if let Some(other) = other {
            let own: Vec<&str> = self
                .allowed
                .hosts(name.as_str())
                .map(|n| n.as_str())
                .collect();
            return Some(Refused {
                what: format!(
                    "the agent says that it is `{other}`, and the token `{name}` stands for {}",
                    match own[..] {
                        [] => "no host of the collector's plan".to_owned(),
                        _ => format!("`{}`", own.join("`, `")),
                    }
                ),
                hint: "give each agent a token with the name of its host or machine in the plan"
                    .to_owned(),
            });
        }
        let ahead = ahead(report.now, now);
        (ahead > CLOCK_AHEAD_MAX.as_secs_f64() as i64).then(|| Refused {
            what: format!(
                "the clock of the agent is {ahead} s ahead of the collector's; {} s are allowed",
                CLOCK_AHEAD_MAX.as_secs_f64()
            ),
            hint: "set the clocks of both, best with NTP; the agent keeps its results until then"
                .to_owned(),
        })
    }

    fn receive(
        &self,
        name: &KeyName,
        visits: &[StoredVisit],
        now: UnixTime,
    ) -> Result<Vec<Receipt>, Refused> {
        let mut receipts: Vec<Option<Receipt>> = {
            let mut state = self.state();
            let refusal = |visit| self.refusal(&mut state, name, visit, now);
            let refused = visits.iter().map(refusal);
            refused
                .map(|refusal| refusal.map(Receipt::Refused))
                .collect()
        };
        let fine = visits.iter().zip(&receipts);
        let fine: Vec<StoredVisit> = fine
            .filter(|(_, refused)| refused.is_none())
            .map(|(visit, _)| visit.clone())
            .collect();
        let stored = self.store(&fine).map_err(|error| Refused {
            what: error.to_string(),
            hint: error.hint().unwrap_or_default(),
        })?;
        let mut stored = stored.into_iter();
        for receipt in &mut receipts {
            if receipt.is_none() {
                *receipt = stored.next();
            }
        }
        Ok(receipts.into_iter().flatten().collect())
    }

    fn refusal(
        &self,
        state: &mut State,
        name: &KeyName,
        visit: &StoredVisit,
        now: UnixTime,
    ) -> Option<Refusal> {
        if !self.allowed.makes(name, &visit.pair) {
            return Some(Refusal::Foreign {
                from: visit.pair.from.clone(),
                token: name.to_string(),
            });
        }
        let (ahead, behind) = (visit.visit.at.since(now), now.since(visit.visit.at));
        if ahead > CLOCK_AHEAD_MAX {
            let bound = CLOCK_AHEAD_MAX;
            return Some(Refusal::Future { ahead, bound });
        }
        if behind > VISIT_AGE_MAX {
            let bound = VISIT_AGE_MAX;
            return Some(Refusal::Past { behind, bound });
        }
        let (pair, task) = (visit.pair.clone(), visit.task.clone());
        if !is_possible(&pair, &task) {
            return Some(Refusal::Unnamed { pair, task });
        }
        let series = Series { pair, task };
        let is_known = self.allowed.has(&series) || state.detection.knows(&series);
        let is_taken = is_known || state.unplanned.admits(&series);
        let Series { pair, task } = series;
        let bound = UNPLANNED_MAX as u64;
        (!is_taken).then_some(Refusal::Unplanned { pair, task, bound })
    }
}
