//! Links in a row with open-loop cross traffic, in virtual time: probes with exact stamps and a
//! truth to compare with.

#[allow(dead_code)]
pub mod distorted;

use link::{Element, Link, Packet};
use netpath::{LinkSpec, Loss, QueueLimit, QueueSpec};
use observe::{
    Passage, Passages, PathMtu, ProbeSeries, Probes, ProbesError, RunObserver, Stamped, Trace,
    TracePlan, Train, Way,
};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::{Bytes, Rate, Span, Time};

/// Sizes of cross traffic, drawn with equal chances.
pub const FULL: &[u64] = &[1500];
/// What core routers used to see: acknowledgements, old defaults, full packets.
#[allow(dead_code)]
pub const MIXED: &[u64] = &[40, 40, 40, 40, 40, 40, 40, 576, 576, 576, 576, 1500];

/// Cross traffic that enters one link and leaves behind it: Poisson arrivals.
struct Load {
    mean_gap: f64,
    sizes: &'static [u64],
    random: Pcg64,
    next: Time,
}

impl Load {
    fn draw(&mut self) -> Bytes {
        let uniform = ((self.random.next_u64() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        self.next += Span::from_nanos((-uniform.ln() * self.mean_gap) as u64);
        let size = self.random.next_u64() % self.sizes.len() as u64;
        Bytes::new(self.sizes[size as usize])
    }
}

#[derive(Debug)]
struct Datagram(Bytes, Option<usize>);

impl Packet for Datagram {
    fn size(&self) -> Bytes {
        self.0
    }
}

struct Hop {
    link: Link<Datagram>,
    load: Option<Load>,
    /// How long the load runs before a train, at the least: thousands of packets.
    warm_up: Span,
}

impl Hop {
    fn new(rate: Rate, share: f64, sizes: &'static [u64], seed: u64) -> Self {
        let spec = LinkSpec {
            rate,
            delay: Span::from_millis(5),
            queue: QueueSpec::DropTail(QueueLimit::Packets(2000)),
            loss: Loss::None,
            variation: None,
            policer: None,
            reorder: None,
            cuts: Vec::new(),
            corruption: 0.0,
            load: None,
            mtu: None,
        };
        let mean_size = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
        let mean_gap = mean_size * 8e9 / (share * rate.as_f64());
        let load = (share > 0.0).then(|| Load {
            mean_gap,
            sizes,
            random: Pcg64::seed_from_u64(seed),
            next: Time::ZERO,
        });
        Hop {
            link: Link::new(&spec, seed),
            load,
            warm_up: Bytes::new(1500).times(1000).min_time(rate),
        }
    }

    /// Packets with their times of arrival go in, and come out with those of the next hop.
    fn carry(&mut self, packets: &[(Time, usize)], size: Bytes) -> Vec<(Time, usize)> {
        let mut out = Vec::with_capacity(packets.len());
        if let (Some(load), Some((first, _))) = (&mut self.load, packets.first()) {
            // Poisson arrivals have no memory: what happened in a long pause need not be played.
            load.next = load.next.max(*first - self.warm_up);
        }
        for (at, number) in packets {
            while let Some(load) = self.load.as_mut().filter(|load| load.next <= *at) {
                let now = load.next;
                let cross = Datagram(load.draw(), None);
                let _ = self.link.offer(cross, now);
                drain(&mut self.link, now, &mut out);
            }
            let _ = self.link.offer(Datagram(size, Some(*number)), *at);
        }
        while let Some(now) = self.link.next_wakeup() {
            drain(&mut self.link, now, &mut out);
        }
        out
    }
}

fn drain(link: &mut Link<Datagram>, now: Time, out: &mut Vec<(Time, usize)>) {
    while let Some(due) = link.next_wakeup().filter(|due| *due <= now) {
        if let Some(Datagram(_, Some(number))) = link.poll(due) {
            out.push((due, number));
        }
    }
}

trait MinTime {
    fn min_time(self, rate: Rate) -> Span;
}

impl MinTime for Bytes {
    fn min_time(self, rate: Rate) -> Span {
        rate.time_to_send(self)
    }
}

/// What a link is: its rate, the share that others take, their sizes.
pub type HopSpec = (Rate, f64, &'static [u64]);

/// Links in a row, the same both ways.
pub struct Simulated {
    hops: Vec<Hop>,
    now: Time,
    /// How fast the sender can send.
    sender: Rate,
    sender_free: Time,
}

impl Simulated {
    pub fn new(hops: &[HopSpec], seed: u64) -> Self {
        let hop = |(number, (rate, share, sizes)): (usize, &HopSpec)| {
            Hop::new(*rate, *share, sizes, seed * 31 + number as u64)
        };
        Simulated {
            hops: hops.iter().enumerate().map(hop).collect(),
            now: Time::ZERO + Span::from_secs(10),
            sender: Rate::from_bits_per_second(20_000_000_000),
            sender_free: Time::ZERO,
        }
    }

    /// Time since the beginning.
    #[allow(dead_code)]
    pub fn elapsed(&self) -> Span {
        self.now.since(Time::ZERO + Span::from_secs(10))
    }
}

impl Probes for Simulated {
    fn round_trips(
        &mut self,
        _lasting: Span,
        _watch: &mut dyn RunObserver,
    ) -> Result<ProbeSeries, ProbesError> {
        unreachable!("no method asks for round trips")
    }

    fn train(
        &mut self,
        _way: Way,
        train: &Train,
        _watch: &mut dyn RunObserver,
    ) -> Result<Passages, ProbesError> {
        let start = self.now;
        let took = self.sender.time_to_send(train.packet);
        let mut packets = Vec::new();
        for (number, departure) in train.departures.iter().enumerate() {
            let at = (start + *departure).max(self.sender_free);
            self.sender_free = at + took;
            packets.push((at, number));
        }
        let mut passages: Vec<Passage> = packets
            .iter()
            .map(|(at, _)| Passage {
                left: at.since(start),
                arrived: None,
            })
            .collect();
        for hop in &mut self.hops {
            packets = hop.carry(&packets, train.packet);
        }
        for (at, number) in packets {
            passages[number].arrived = Some(at.since(start));
            self.now = self.now.max(at);
        }
        Ok(Passages {
            packets: passages,
            stamped: Stamped::Exactly,
            clocks: None,
        })
    }

    fn pause(&mut self, span: Span) {
        self.now += span;
    }

    fn trace(
        &mut self,
        _plan: &TracePlan,
        _watch: &mut dyn RunObserver,
    ) -> Result<Trace, ProbesError> {
        unreachable!("no method asks for hops")
    }

    fn path_mtu(&mut self, _watch: &mut dyn RunObserver) -> Result<PathMtu, ProbesError> {
        unreachable!("no method asks for the MTU")
    }
}
