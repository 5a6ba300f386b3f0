//! Several flows side by side, to see where routers spread them over links of equal cost.
//!
//! Each flow keeps its ports, so that all its packets go one way (Paris traceroute), and has other
//! ports than the others. Losses of a flow are counted at the far end's echo service, which answers
//! everything: what routers ration does not count as lost.

use std::net::IpAddr;
use std::thread;

use observe::{Flow, FlowPlan, ProbesError, RunObserver};
use sockets::Clock;
use units::{Span, Time};

use super::error::to_probes_error;
use super::{Pace, TICK, TraceError, Traced};
use crate::probe_flow::{HOPS_PLENTY, ProbeFlow, Said, UdpFlow};

/// Traces each flow after the other, then sends echoes by turns.
pub(super) fn run(
    flows: Vec<UdpFlow>,
    plan: &FlowPlan,
    far: IpAddr,
    pace: &mut Pace,
    watch: &dyn RunObserver,
) -> Result<Vec<Flow>, ProbesError> {
    let (mut traced, mut found) = (Vec::new(), Vec::new());
    for flow in flows {
        let port = flow.port();
        let mut flow = Traced { flow, next: 0 };
        let trace = flow.run(&plan.trace, far, pace, watch)?;
        found.push(Flow {
            port,
            trace,
            echoes: Vec::new(),
        });
        traced.push(flow);
    }
    if traced.iter().any(|traced| traced.flow.is_rate_limited()) {
        return Ok(found);
    }
    let mut echoing = Echoing {
        first: traced.iter().map(|traced| traced.next).collect(),
        sent: vec![Vec::new(); traced.len()],
        flows: traced,
        clock: pace.clock,
    };
    let echoes = echoing.run(plan, watch);
    echoes.map_err(|error| to_probes_error(far, error))?;
    // No answer to any flow is a firewall or a void token, and tells nothing of single ways.
    if echoing.sent.iter().flatten().all(|(_, rtt)| rtt.is_none()) {
        return Ok(found);
    }
    for (flow, sent) in found.iter_mut().zip(echoing.sent) {
        flow.echoes = sent.iter().map(|(_, rtt)| *rtt).collect();
    }
    Ok(found)
}

/// Echoes of all flows.
struct Echoing {
    flows: Vec<Traced<UdpFlow>>,
    /// The number of each flow's first echo.
    first: Vec<u64>,
    /// When each left, and after what time it was answered.
    sent: Vec<Vec<(Time, Option<Span>)>>,
    clock: Clock,
}

impl Echoing {
    fn run(&mut self, plan: &FlowPlan, watch: &dyn RunObserver) -> Result<(), TraceError> {
        for number in 0..u32::from(plan.echoes) * u32::from(plan.flows) {
            if watch.is_cancelled() {
                return Err(TraceError::Cancelled);
            }
            let turn = number as usize % self.flows.len().max(1);
            if let (Some(traced), Some(sent)) = (self.flows.get_mut(turn), self.sent.get_mut(turn))
            {
                sent.push((self.clock.now(), None));
                traced.flow.send(traced.next, HOPS_PLENTY)?;
                traced.next += 1;
            }
            thread::sleep(plan.spacing.into());
            self.gather();
        }
        let end = self.clock.now() + plan.trace.patience;
        while self.clock.now() < end && !self.is_complete() {
            thread::sleep(self.clock.until(end).min(TICK));
            self.gather();
        }
        Ok(())
    }

    fn gather(&mut self) {
        let flows = self.flows.iter_mut().zip(&self.first);
        for ((traced, first), sent) in flows.zip(&mut self.sent) {
            while let Some(answer) = traced.flow.receive() {
                let at = self.clock.now() - answer.age;
                let number = answer.probe.and_then(|number| number.checked_sub(*first));
                let place = number.and_then(|number| usize::try_from(number).ok());
                if let (Said::Arrived(_), Some(place)) = (answer.said, place)
                    && let Some((left, rtt)) = sent.get_mut(place)
                {
                    rtt.get_or_insert(at.since(*left));
                }
            }
        }
    }

    fn is_complete(&self) -> bool {
        let mut all = self.sent.iter().flatten();
        all.all(|(_, rtt)| rtt.is_some())
    }
}
