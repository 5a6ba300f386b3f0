//! The formulas beside the packet simulator: the same copies by the same rules over the same paths.

use netpath::PathSpec;
use steer::LinkSteer;
use steer::online::{Online, Streams};
use steering_bench::packets::Packets;
use steering_bench::rules::{Fts3, Rule, plan};
use steering_bench::shared_path::{RunPlan, SharedPath, Shown, run};
use units::{Bytes, Span, Time};

use crate::noise::Noise;
use crate::pipe::Pipe;
use crate::random::Random;

const NOISE: u64 = 31;

/// Copies that share a path of formulas.
struct Formulas {
    pipe: Pipe,
    noise: Noise,
    streams: Vec<u16>,
    joining: Vec<(Time, usize, u16)>,
    now: Time,
    seen: Vec<Streams>,
    other: f64,
}

impl Formulas {
    fn begin(path: &PathSpec, seed: u64, first: &[u16]) -> Result<Self, String> {
        Ok(Formulas {
            pipe: Pipe::new(path)?,
            noise: Noise::new(Random::new(seed, NOISE, 0)),
            streams: first.to_vec(),
            joining: Vec::new(),
            now: Time::ZERO,
            seen: Vec::new(),
            other: 0.0,
        })
    }
}

impl SharedPath for Formulas {
    fn advance(&mut self, until: Time) -> Result<(), String> {
        let length = until.since(self.now);
        self.now = until;
        let all: u16 = self.streams.iter().sum();
        let met = self.pipe.met(all.into());
        let noise = self.noise.factor(length, all.into(), met.is_full);
        let seconds = length.as_secs_f64();
        let each = met.own / 8.0 * noise * seconds / f64::from(all.max(1));
        self.other += met.other / 8.0 * seconds;
        let bytes = |count: f64| Bytes::new(count as u64);
        let rtt = Some(Span::from_secs_f64(met.rtt));
        let of_copy = |streams: &u16| {
            let arrived = each * f64::from(*streams);
            let sent = arrived / (1.0 - met.again);
            Streams {
                count: *streams,
                arrived: bytes(arrived),
                sent: Some(bytes(sent)),
                retransmitted: Some(bytes(sent * met.again)),
                rtt,
                rtt_min: Some(self.pipe.rtt()),
                segment: Some(self.pipe.segment()),
                ..Streams::default()
            }
        };
        self.seen = self.streams.iter().map(of_copy).collect();
        let due = |joining: &(Time, usize, u16)| joining.0 <= until;
        for (_, copy, count) in self.joining.extract_if(.., |joining| due(joining)) {
            self.streams[copy] += count;
        }
        Ok(())
    }

    fn read(&mut self) -> Vec<Streams> {
        self.seen.clone()
    }

    fn other(&self) -> Bytes {
        Bytes::new(self.other as u64)
    }

    fn set(&mut self, wanted: &[u16]) -> Result<(), String> {
        for (copy, wanted) in wanted.iter().enumerate() {
            let coming = self.joining.iter().filter(|(_, whose, _)| *whose == copy);
            let there = self.streams[copy] + coming.map(|(_, _, count)| count).sum::<u16>();
            if *wanted > there {
                let at = self.now + self.pipe.rtt();
                self.joining.push((at, copy, wanted - there));
            }
            self.streams[copy] = self.streams[copy].min(*wanted);
        }
        Ok(())
    }

    fn end(&mut self, copy: usize) -> Result<(), String> {
        self.joining.retain(|(_, whose, _)| *whose != copy);
        self.streams[copy] = 0;
        Ok(())
    }
}

/// Copies at a time, as `steering-link` has it.
const COPIES: usize = 4;

/// One rule on one path, both ways.
#[derive(Debug)]
pub struct Pair {
    pub path: String,
    pub rule: String,
    pub packets: Vec<Shown>,
    pub formulas: Vec<Shown>,
}

/// All rules on one path.
///
/// * `each`: how long a copy is there.
///
/// # Errors
/// Those of the paths.
pub fn path(path: &PathSpec, seeds: u64, each: Span) -> Result<Vec<Pair>, String> {
    let rtt = path.base_rtt();
    let run_plan = RunPlan {
        copies: COPIES,
        length: each.times(5),
        each,
        trace: false,
    };
    let alone = || (0..COPIES).map(|_| Online::new(plan(rtt))).collect();
    let rules: [(&str, &dyn Fn() -> Rule); 9] = [
        ("1 stream each", &|| Rule::Fixed(1)),
        ("2 streams each", &|| Rule::Fixed(2)),
        ("4 streams each", &|| Rule::Fixed(4)),
        ("8 streams each", &|| Rule::Fixed(8)),
        ("30 streams each", &|| Rule::Fixed(30)),
        ("the link as one", &|| {
            Rule::Link(Box::new(LinkSteer::new(plan(rtt), Span::ZERO)))
        }),
        ("each copy for itself", &|| Rule::Each(alone())),
        ("FTS3 from 66", &|| Rule::Fts3(Fts3::new(Fts3::FIRST))),
        ("FTS3 from 2", &|| Rule::Fts3(Fts3::new(Fts3::RANGE.0))),
    ];
    let pair = |(name, rule): &(&str, &dyn Fn() -> Rule)| {
        let mut pair = Pair {
            path: path.name.clone(),
            rule: (*name).to_owned(),
            packets: Vec::new(),
            formulas: Vec::new(),
        };
        for seed in 1..=seeds {
            let packets = |first: &[u16]| Packets::begin(path, seed, first, run_plan.length);
            pair.packets.push(run(&run_plan, rtt, rule(), packets)?);
            let formulas = |first: &[u16]| Formulas::begin(path, seed, first);
            pair.formulas.push(run(&run_plan, rtt, rule(), formulas)?);
        }
        Ok(pair)
    };
    rules.iter().map(pair).collect()
}

/// How a rate differs from one second to the next on packets.
#[derive(Debug)]
pub struct Scatter {
    pub streams: u16,
    /// Standard deviation of a second's rate as a share of the mean.
    pub deviation: f64,
    /// Correlation of a second with the next.
    pub next: f64,
    /// Of what the link carries, with the other stream.
    pub used: f64,
}

/// Seconds that count of a run, and those before.
const SECONDS: usize = 300;
const BEFORE: usize = 60;

/// Fixed numbers of streams on packets.
///
/// # Errors
/// Those of the path.
pub fn scatter(path: &PathSpec, seed: u64) -> Result<Vec<Scatter>, String> {
    let capacity = Pipe::new(path)?.capacity();
    let of = |streams: u16| {
        let length = Span::from_secs((BEFORE + SECONDS) as u64);
        let mut packets = Packets::begin(path, seed, &[streams], length)?;
        let mut rates = Vec::new();
        let mut other = Bytes::ZERO;
        for second in 1..=BEFORE + SECONDS {
            packets.advance(Time::ZERO + Span::from_secs(second as u64))?;
            let seen: Bytes = packets.read().iter().map(|one| one.arrived).sum();
            match second <= BEFORE {
                true => other = packets.other(),
                false => rates.push(seen.as_f64() * 8.0),
            }
        }
        let mean = rates.iter().sum::<f64>() / SECONDS as f64;
        let apart: Vec<f64> = rates.iter().map(|rate| rate / mean - 1.0).collect();
        let square = apart.iter().map(|one| one * one).sum::<f64>();
        let next = apart.windows(2).map(|two| two[0] * two[1]).sum::<f64>();
        let others = (packets.other() - other).as_f64() * 8.0 / SECONDS as f64;
        Ok(Scatter {
            streams,
            deviation: (square / SECONDS as f64).sqrt(),
            next: next / square,
            used: (mean + others) / capacity,
        })
    };
    [1, 2, 4, 8, 16, 32, 64, 120].into_iter().map(of).collect()
}
