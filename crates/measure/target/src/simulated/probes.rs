//! Small packets over a simulated path: the links of each way in a row with others' load on them,
//! exact stamps.
//!
//! What is left out: streams of bulk data beside them, and `[[cross]]` traffic that gives way,
//! which would have to be simulated with its TCP. Hosts take no time: packets planned for one
//! moment leave at that moment.

use link::{Chain, Element, Packet};
use netpath::PathSpec;
use observe::{
    Fault, Passage, Passages, PathMtu, Probe, ProbeMethod, ProbeSeries, Probes, ProbesError,
    RunObserver, SizedEcho, Stamped, Trace, TracePlan, Train, Way,
};
use units::{Bytes, Span, Time};

use super::{failure, seed_of_run};

/// A small echo: 32 bytes behind the headers of UDP and IP, as the simulated streams' probes.
const ECHO: Bytes = Bytes::new(60);
/// How long packets may take beyond the delay of the wires before they count as lost.
const PATIENCE: Span = Span::from_secs(1);
/// Others' load had the path for so long when the first packet leaves: its queues are as usual by
/// then.
const LEAD: Span = Span::from_secs(1);
/// While nothing is sent, time passes in steps: what others' load left behind is cleared away at
/// each.
const STEP: Span = Span::from_millis(20);

/// A packet of which number and flight matter.
#[derive(Debug)]
struct Datagram {
    size: Bytes,
    /// Which call it belongs to: late ones may come out during the next.
    flight: u64,
    number: usize,
}

impl Packet for Datagram {
    fn size(&self) -> Bytes {
        self.size
    }
}

/// Both ways of a path in virtual time, which passes only while something is asked for.
#[derive(Debug)]
pub(super) struct SimulatedProbes {
    path: PathSpec,
    forward: Chain<Datagram>,
    reverse: Chain<Datagram>,
    now: Time,
    flights: u64,
}

impl SimulatedProbes {
    /// Probes over `path`; `seed` decides what is lost and when others send.
    ///
    /// # Errors
    /// When others share the path in a way that cannot be simulated beside probes.
    pub fn new(path: &PathSpec, seed: u64) -> Result<Self, ProbesError> {
        if !path.cross.iter().all(|cross| cross.traffic.is_datagrams()) {
            return Err(ProbesError::Unsupported {
                why: "cross traffic that gives way is not simulated beside probes".to_owned(),
                hint: Some(format!(
                    "emulate it, `emu:{}`, or give the link a `load` in place of `[[cross]]`",
                    path.name
                )),
            });
        }
        Ok(SimulatedProbes {
            path: path.clone(),
            forward: Chain::new(path, Way::Forward, seed),
            reverse: Chain::new(path, Way::Reverse, seed_of_run(seed, u64::MAX - 1)),
            now: Time::ZERO + LEAD,
            flights: 0,
        })
    }

    /// Sends packets at the given times, in order, and tells when each arrives.
    fn carry(&mut self, way: Way, size: Bytes, departures: &[Time]) -> Vec<Option<Time>> {
        let mut arrivals = vec![None; departures.len()];
        self.flights += 1;
        let (Some(last), true) = (departures.last(), size <= self.mtu(way)) else {
            return arrivals;
        };
        let latest = *last + self.path.delay(way) + PATIENCE;
        let flight = self.flights;
        let mut missing = departures.len();
        let chain = self.chain(way);
        for (number, at) in departures.iter().enumerate() {
            missing -= pass(chain, *at, flight, &mut arrivals);
            let packet = Datagram {
                size,
                flight,
                number,
            };
            let _ = chain.offer(packet, *at);
        }
        let mut now = *last;
        while now < latest && missing > 0 {
            let Some(wakeup) = chain.next_wakeup() else {
                break;
            };
            now = wakeup.max(now).min(latest);
            missing -= pass(chain, now, flight, &mut arrivals);
        }
        arrivals
    }

    fn chain(&mut self, way: Way) -> &mut Chain<Datagram> {
        match way {
            Way::Forward => &mut self.forward,
            Way::Reverse => &mut self.reverse,
        }
    }

    fn mtu(&self, way: Way) -> Bytes {
        let links = self.path.links(way).into_iter();
        let least = links.filter_map(|link| link.mtu).min();
        Bytes::new(least.unwrap_or(u16::MAX).min(self.path.hosts.mtu).into())
    }

    /// Time goes on to `until` on both ways.
    fn advance(&mut self, until: Time) {
        while self.now < until {
            self.now = (self.now + STEP).min(until);
            for way in Way::BOTH {
                let now = self.now;
                // Late packets of earlier calls: no call waits for them any more.
                while self.chain(way).poll(now).is_some() {}
            }
        }
    }

    /// When a packet that leaves `at` arrives.
    fn pass_alone(&mut self, way: Way, size: Bytes, at: Time) -> Option<Time> {
        let arrivals = self.carry(way, size, &[at]);
        self.settle(&arrivals, &[at], way);
        arrivals.into_iter().next().flatten()
    }

    /// After a call the clock stands where the last packet came in; where one was lost, where it
    /// was given up.
    fn settle(&mut self, arrivals: &[Option<Time>], departures: &[Time], way: Way) {
        let last = departures.last().copied().unwrap_or(self.now);
        let given_up = last + self.path.delay(way) + PATIENCE;
        let arrivals = arrivals.iter().map(|arrival| arrival.unwrap_or(given_up));
        let end = arrivals.max().unwrap_or(self.now);
        self.advance(end.max(self.now));
    }
}

/// What has come out by `now`; how many packets.
fn pass(
    chain: &mut Chain<Datagram>,
    now: Time,
    flight: u64,
    arrivals: &mut [Option<Time>],
) -> usize {
    let mut passed = 0;
    while let Some((arrival, packet)) = chain.poll_timed(now) {
        if packet.flight == flight {
            arrivals[packet.number] = Some(arrival);
            passed += 1;
        }
    }
    passed
}

fn cancelled(watch: &dyn RunObserver) -> Result<(), ProbesError> {
    match watch.is_cancelled() {
        true => Err(failure(Fault::Cancelled, "probing was cancelled".to_owned(), None).into()),
        false => Ok(()),
    }
}

impl Probes for SimulatedProbes {
    fn round_trips(
        &mut self,
        lasting: Span,
        watch: &mut dyn RunObserver,
    ) -> Result<ProbeSeries, ProbesError> {
        cancelled(watch)?;
        let start = self.now;
        let count = lasting
            .as_nanos()
            .div_ceil(ProbeSeries::INTERVAL.as_nanos());
        let sent: Vec<Time> = (0..count)
            .map(|number| start + ProbeSeries::INTERVAL.times(number))
            .collect();
        let there = self.carry(Way::Forward, ECHO, &sent);
        // What happens on the way back depends on nothing but when the echoes set out.
        let echoed: Vec<Time> = there.iter().flatten().copied().collect();
        let mut back = self.carry(Way::Reverse, ECHO, &echoed).into_iter();
        let mut probe = |(sent, there): (&Time, &Option<Time>)| Probe {
            sent: Time::ZERO + sent.since(start),
            rtt: there
                .and_then(|_| back.next()?)
                .map(|back| back.since(*sent)),
        };
        let probes: Vec<Probe> = sent.iter().zip(&there).map(&mut probe).collect();
        self.advance(start + lasting);
        let last = probes
            .iter()
            .filter_map(|probe| Some(start + probe.sent.since(Time::ZERO) + probe.rtt?));
        let last = last.max().unwrap_or(self.now);
        self.advance(last);
        Ok(ProbeSeries {
            method: ProbeMethod::UdpEcho,
            duplicated: 0,
            probes,
        })
    }

    fn sized_echoes(
        &mut self,
        sizes: &[u16],
        watch: &mut dyn RunObserver,
    ) -> Result<Vec<SizedEcho>, ProbesError> {
        cancelled(watch)?;
        let mut seen = Vec::new();
        for size in sizes {
            // One after another: packets that are carried together have one size.
            let (sent, bytes) = (self.now, Bytes::new((*size).into()));
            let there = self.pass_alone(Way::Forward, bytes, sent);
            let back = there.and_then(|there| self.pass_alone(Way::Reverse, bytes, there));
            let rtt = back.map(|back| back.since(sent));
            seen.push(SizedEcho { size: *size, rtt });
            self.advance(sent + ProbeSeries::INTERVAL);
        }
        Ok(seen)
    }

    fn train(
        &mut self,
        way: Way,
        train: &Train,
        watch: &mut dyn RunObserver,
    ) -> Result<Passages, ProbesError> {
        cancelled(watch)?;
        let start = self.now;
        let departures: Vec<Time> = train.departures.iter().map(|span| start + *span).collect();
        let arrivals = self.carry(way, train.packet, &departures);
        self.settle(&arrivals, &departures, way);
        let packets = departures
            .iter()
            .zip(&arrivals)
            .map(|(left, arrived)| Passage {
                left: left.since(start),
                arrived: arrived.map(|arrived| arrived.since(start)),
            });
        Ok(Passages {
            packets: packets.collect(),
            stamped: Stamped::Exactly,
            clocks: None,
        })
    }

    fn pause(&mut self, span: Span) {
        self.advance(self.now + span);
    }

    fn trace(
        &mut self,
        _plan: &TracePlan,
        _watch: &mut dyn RunObserver,
    ) -> Result<Trace, ProbesError> {
        Err(ProbesError::Unsupported {
            why: "a simulated path has no routers that answer".to_owned(),
            hint: Some(format!("emulate it: `emu:{}`", self.path.name)),
        })
    }

    fn path_mtu(&mut self, _watch: &mut dyn RunObserver) -> Result<PathMtu, ProbesError> {
        Ok(PathMtu {
            bytes: self.mtu(Way::Forward),
            confirmed: true,
            vanishing: None,
        })
    }
}

#[cfg(test)]
mod tests;
