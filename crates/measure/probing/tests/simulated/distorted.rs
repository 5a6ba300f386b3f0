//! Probes whose stamps are not what happened: what real hosts do to arrivals and departures.

use observe::{
    Passages, PathMtu, ProbeSeries, Probes, ProbesError, RunObserver, Stamped, Trace, TracePlan,
    Train, Way,
};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::Span;

use super::Simulated;

/// What is wrong.
#[derive(Debug, Clone, Copy)]
pub enum Flaw {
    /// The receiver's clock ticks so often.
    Ticks(Span),
    /// Each arrival is stamped up to so much late, by chance, but in order.
    Late(Span),
    /// The receiver's device keeps packets until this long after the first, then hands all over at
    /// once.
    Coalesced(Span),
    /// Every so many packets the sender is away for so long, and then catches up.
    Away(usize, Span),
    /// The receiver's clock is fast by so many millionths.
    Fast(f64),
    /// Every so-many-th packet is lost.
    Loses(usize),
}

/// A path with exact stamps and what its hosts make of them.
pub struct Distorted {
    pub path: Simulated,
    pub flaw: Flaw,
    pub stamped: Stamped,
    random: Pcg64,
}

impl Distorted {
    pub fn new(path: Simulated, flaw: Flaw) -> Self {
        Distorted {
            path,
            flaw,
            stamped: Stamped::ByKernel,
            random: Pcg64::seed_from_u64(7),
        }
    }

    fn arrivals(&mut self, passages: &mut Passages) {
        // How long it takes to hand one packet of a batch over after another.
        let each = Span::from_micros(1);
        let (mut due, mut last) = (Span::ZERO, Span::ZERO);
        for (number, packet) in passages.packets.iter_mut().enumerate() {
            let Some(arrived) = packet.arrived else {
                continue;
            };
            let seen = match self.flaw {
                Flaw::Ticks(tick) => {
                    Span::from_nanos(arrived.as_nanos() / tick.as_nanos() * tick.as_nanos())
                }
                Flaw::Late(most) => {
                    let late = self.random.next_u64() % most.as_nanos();
                    (arrived + Span::from_nanos(late)).max(last)
                }
                Flaw::Coalesced(hold) => {
                    if arrived > due {
                        due = arrived + hold;
                    }
                    due.max(last + each)
                }
                Flaw::Fast(millionths) => {
                    Span::from_secs_f64(arrived.as_secs_f64() * (1.0 + millionths / 1e6))
                }
                Flaw::Away(..) => arrived,
                Flaw::Loses(every) if number % every == every - 1 => {
                    packet.arrived = None;
                    continue;
                }
                Flaw::Loses(_) => arrived,
            };
            last = seen;
            packet.arrived = Some(seen);
        }
    }

    /// The train as the sender gets round to it.
    fn departures(&self, train: &Train) -> Train {
        let Flaw::Away(every, long) = self.flaw else {
            return train.clone();
        };
        let mut free = Span::ZERO;
        let late = train
            .departures
            .iter()
            .enumerate()
            .map(|(number, planned)| {
                if number % every == every - 1 {
                    free = *planned + long;
                }
                (*planned).max(free)
            });
        Train {
            packet: train.packet,
            departures: late.collect(),
        }
    }
}

impl Probes for Distorted {
    fn round_trips(
        &mut self,
        lasting: Span,
        watch: &mut dyn RunObserver,
    ) -> Result<ProbeSeries, ProbesError> {
        self.path.round_trips(lasting, watch)
    }

    fn train(
        &mut self,
        way: Way,
        train: &Train,
        watch: &mut dyn RunObserver,
    ) -> Result<Passages, ProbesError> {
        let late = self.departures(train);
        let mut passages = self.path.train(way, &late, watch)?;
        passages.stamped = self.stamped;
        self.arrivals(&mut passages);
        Ok(passages)
    }

    fn pause(&mut self, span: Span) {
        self.path.pause(span);
    }

    fn trace(
        &mut self,
        plan: &TracePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Trace, ProbesError> {
        self.path.trace(plan, watch)
    }

    fn path_mtu(&mut self, watch: &mut dyn RunObserver) -> Result<PathMtu, ProbesError> {
        self.path.path_mtu(watch)
    }
}
