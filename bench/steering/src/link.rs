//! Does it pay to steer all copies that share a link as one?
//!
//! Some copies over one simulated path, for minutes in virtual time, beside one stream of another
//! user that is there all the time. Each copy ends after a while and another one takes its place.
//! The streams are chosen by `trunkline`'s steering of each copy for itself, by that of the link,
//! by the rules of FTS3 and Globus, and by the best fixed number.

mod sample;

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Parser;
use netpath::PathSpec;
use observe::{Limit, Setting, StreamCount, TcpSample, Window};
use sim::Simulation;
use steer::online::{Interval, Meter, Online, OnlinePlan, Streams};
use steer::{LinkCopy, LinkSteer};
use target::SimulatedPath;
use units::{Bytes, Rate, Span, Time};

use sample::sample;

/// How often the streams are read.
const INTERVAL: Span = Span::from_millis(500);
/// What is counted begins then.
const WARM_UP: Span = Span::from_secs(30);

/// Compares ways to choose the streams of copies that share a link.
#[derive(Debug, Clone, Parser)]
struct Args {
    /// Path files or names.
    #[arg(default_values = ["slac-cern", "oc3-80ms", "twaren-cesnet", "shallow-queue"])]
    paths: Vec<String>,
    /// Copies at a time.
    #[arg(long, default_value_t = 4)]
    copies: usize,
    /// How long, in virtual time.
    #[arg(long, default_value = "300s")]
    length: Span,
    /// Each copy ends after about so long.
    #[arg(long, default_value = "60s")]
    each: Span,
    /// Runs of each.
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Tells the streams of each minute.
    #[arg(long)]
    trace: bool,
}

/// A way to choose the streams of all copies.
enum Rule {
    /// Each copy by what it sees itself.
    Each(Vec<Online>),
    /// All by what they carry together.
    Link(Box<LinkSteer>),
    /// The optimizer of FTS3 3.14: transfers of one stream, once a minute (see [`Fts3`]).
    Fts3(Fts3),
    /// As many for each copy, for good.
    Fixed(u16),
}

/// FTS3 3.14's optimizer in its default mode without failures: two transfers more where the moving
/// average of the rate has not fallen, one less where it fell by an order of magnitude, else none.
struct Fts3 {
    active: u16,
    /// 0.1 of the newest minute and 0.9 of before, in bits per second.
    average: f64,
    arrived: Bytes,
    since: Span,
}

impl Fts3 {
    const EVERY: Span = Span::from_secs(60);
    const RANGE: (u16, u16) = (2, 130);

    /// A link without settings of its own begins in the middle of the range.
    fn new(active: u16) -> Self {
        Fts3 {
            active,
            average: 0.0,
            arrived: Bytes::ZERO,
            since: Span::ZERO,
        }
    }

    fn on_interval(&mut self, arrived: Bytes) {
        self.arrived += arrived;
        self.since += INTERVAL;
        if self.since < Self::EVERY {
            return;
        }
        let rate = Rate::of(self.arrived, self.since).as_f64();
        (self.arrived, self.since) = (Bytes::ZERO, Span::ZERO);
        let before = self.average;
        self.average = match before {
            0.0 => rate,
            _ => 0.1 * rate + 0.9 * before,
        };
        let order = |rate: f64| rate.max(1.0).log10().round();
        self.active = match () {
            () if self.average >= before => self.active + 2,
            () if order(self.average) < order(before) => self.active - 1,
            () => self.active,
        };
        self.active = self.active.clamp(Self::RANGE.0, Self::RANGE.1);
    }
}

impl Rule {
    /// Streams of each copy at the start.
    fn first(&self, copies: usize) -> Vec<u16> {
        match self {
            Rule::Each(all) => all.iter().map(|one| one.streams().get()).collect(),
            Rule::Link(link) => even(link.streams().get(), copies),
            Rule::Fts3(rule) => even(rule.active, copies),
            Rule::Fixed(each) => vec![*each; copies],
        }
    }

    /// Streams of each copy after an interval.
    fn on_interval(&mut self, seen: &[Streams], now: &[u16]) -> Vec<u16> {
        match self {
            Rule::Each(all) => {
                for (one, streams) in all.iter_mut().zip(seen) {
                    one.on_interval(&Interval {
                        length: INTERVAL,
                        streams: *streams,
                        ..Interval::default()
                    });
                }
                all.iter().map(|one| one.streams().get()).collect()
            }
            Rule::Link(link) => {
                let copies = seen.iter().zip(0..).map(|(streams, number)| LinkCopy {
                    number,
                    weight: 1,
                    streams: *streams,
                    limited_by: Some(Limit::Network),
                });
                let copies: Vec<LinkCopy> = copies.collect();
                link.on_interval(INTERVAL, &copies)
                    .values()
                    .copied()
                    .collect()
            }
            Rule::Fts3(rule) => {
                rule.on_interval(seen.iter().map(|one| one.arrived).sum());
                even(rule.active, now.len())
            }
            Rule::Fixed(_) => now.to_vec(),
        }
    }

    /// A copy ended and another one began: what was found for the first is not known to the second.
    fn on_next(&mut self, copy: usize, rtt: Span) {
        match self {
            Rule::Each(all) => all[copy] = Online::new(plan(rtt)),
            Rule::Link(_) | Rule::Fts3(_) | Rule::Fixed(_) => {}
        }
    }
}

fn plan(rtt: Span) -> OnlinePlan {
    OnlinePlan {
        rtt: Some(rtt),
        ..OnlinePlan::default()
    }
}

fn even(total: u16, copies: usize) -> Vec<u16> {
    let copies = copies as u16;
    (0..copies)
        .map(|number| (total / copies + u16::from(number < total % copies)).max(1))
        .collect()
}

/// What a run showed after its warm-up.
struct Shown {
    rate: Rate,
    /// Of the stream that belongs to nobody here.
    other: Rate,
    /// Jain's index over the copies' bytes.
    fairness: f64,
    retransmitted: f64,
    streams: f64,
}

struct Copies {
    simulation: Simulation,
    meters: Vec<Meter>,
    streams: Vec<Vec<u32>>,
    begun: u32,
    joining: Vec<(Time, usize, u32)>,
    handshake: Span,
}

impl Copies {
    fn begin(path: &PathSpec, seed: u64, first: &[u16], length: Span) -> Result<Self, String> {
        let target = SimulatedPath::new(path, seed);
        let all = 1 + first.iter().sum::<u16>();
        let most = StreamCount::MAX.get().min(all);
        let count = StreamCount::new(most.into()).map_err(|error| error.to_string())?;
        let setting = Setting::new(count, Window::Auto);
        let scenario = target.scenario(&setting, seed);
        let mut scenario = scenario.map_err(|error| error.to_string())?;
        scenario.duration = length + Span::from_secs(60);
        let mut next = 1;
        let streams = first.iter().map(|count| {
            next += u32::from(*count);
            (next - u32::from(*count)..next).collect()
        });
        let simulation = Simulation::new(&scenario);
        let mut simulation = simulation.map_err(|error| error.to_string())?;
        // More than a setting may have.
        let joined = simulation.join(u32::from(all - most));
        joined.map_err(|error| error.to_string())?;
        Ok(Copies {
            streams: streams.collect(),
            begun: all.into(),
            handshake: path.base_rtt(),
            simulation,
            meters: vec![Meter::default(); first.len()],
            joining: Vec::new(),
        })
    }

    fn read(&mut self) -> Vec<Streams> {
        let simulation = &self.simulation;
        let state = |index: &u32| -> Option<(u32, TcpSample)> {
            Some((*index, sample(&simulation.stream(*index)?)))
        };
        let read = |(meter, streams): (&mut Meter, &Vec<u32>)| {
            meter.read(streams.iter().filter_map(state))
        };
        self.meters
            .iter_mut()
            .zip(&self.streams)
            .map(read)
            .collect()
    }

    fn other(&self) -> Bytes {
        self.simulation
            .stream(0)
            .map_or(Bytes::ZERO, |one| one.arrived)
    }

    fn leave(&mut self, copy: usize, keep: usize) -> Result<(), String> {
        let keep = keep.min(self.streams[copy].len());
        for index in self.streams[copy].split_off(keep) {
            self.simulation
                .leave(index)
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn set(&mut self, wanted: &[u16]) -> Result<(), String> {
        let now = self.simulation.now();
        for (copy, wanted) in wanted.iter().enumerate() {
            let wanted = u32::from(*wanted);
            let coming = self.joining.iter().filter(|(_, whose, _)| *whose == copy);
            let coming: u32 = coming.map(|(_, _, count)| count).sum();
            let there = self.streams[copy].len() as u32 + coming;
            if wanted > there {
                self.joining
                    .push((now + self.handshake, copy, wanted - there));
            }
            self.leave(copy, wanted as usize)?;
        }
        Ok(())
    }

    fn advance(&mut self, until: Time) -> Result<(), String> {
        self.simulation.advance(until);
        let (due, later): (Vec<_>, Vec<_>) =
            self.joining.drain(..).partition(|(at, _, _)| *at <= until);
        self.joining = later;
        for (_, copy, count) in due {
            self.simulation
                .join(count)
                .map_err(|error| error.to_string())?;
            self.streams[copy].extend(self.begun..self.begun + count);
            self.begun += count;
        }
        Ok(())
    }
}

fn run(args: &Args, path: &PathSpec, seed: u64, mut rule: Rule) -> Result<Shown, String> {
    let mut wanted = rule.first(args.copies);
    let mut copies = Copies::begin(path, seed, &wanted, args.length)?;
    let mut carried = vec![Bytes::ZERO; args.copies];
    let (mut sent, mut again) = (0.0, 0.0);
    let (mut streams, mut intervals) = (0.0, 0.0);
    let (mut now, mut other) = (Time::ZERO, Bytes::ZERO);
    // The copies end in turn, so that they do not all begin at once.
    let turn = Span::from_nanos(args.each.as_nanos() / args.copies as u64);
    let mut next_end = (Time::ZERO + turn, 0);
    while now.since(Time::ZERO) < args.length {
        now += INTERVAL;
        copies.advance(now)?;
        let seen = copies.read();
        if now.since(Time::ZERO) <= WARM_UP {
            other = copies.other();
        } else {
            for (sum, one) in carried.iter_mut().zip(&seen) {
                *sum += one.arrived;
            }
            sent += seen
                .iter()
                .filter_map(|one| one.sent)
                .map(Bytes::as_f64)
                .sum::<f64>();
            let lost = seen.iter().filter_map(|one| one.retransmitted);
            again += lost.map(Bytes::as_f64).sum::<f64>();
            streams += f64::from(wanted.iter().sum::<u16>());
            intervals += 1.0;
        }
        wanted = rule.on_interval(&seen, &wanted);
        if now >= next_end.0 {
            let copy = next_end.1;
            copies.leave(copy, 0)?;
            copies.joining.retain(|(_, whose, _)| *whose != copy);
            rule.on_next(copy, path.base_rtt());
            wanted = match &rule {
                Rule::Each(all) => all.iter().map(|one| one.streams().get()).collect(),
                _ => wanted,
            };
            next_end = (next_end.0 + turn, (copy + 1) % args.copies);
        }
        copies.set(&wanted)?;
        if args.trace
            && now
                .as_nanos()
                .is_multiple_of(Span::from_secs(30).as_nanos())
        {
            eprintln!("  {} s: {wanted:?}", now.since(Time::ZERO).as_secs_f64());
        }
    }
    let counted = args.length - WARM_UP;
    let all: Bytes = carried.iter().copied().sum();
    let rates: Vec<f64> = carried.iter().map(|bytes| bytes.as_f64()).collect();
    Ok(Shown {
        rate: Rate::of(all, counted),
        other: Rate::of(copies.other() - other, counted),
        fairness: stats::jain_index(&rates).unwrap_or(0.0),
        retransmitted: again / f64::max(sent, 1.0),
        streams: streams / f64::max(intervals, 1.0),
    })
}

fn means(args: &Args, path: &PathSpec, rule: &dyn Fn() -> Rule) -> Result<Shown, String> {
    let runs = (1..=args.seeds).map(|seed| run(args, path, seed, rule()));
    let runs: Vec<Shown> = runs.collect::<Result<_, _>>()?;
    let count = runs.len().max(1) as f64;
    let mean = |of: fn(&Shown) -> f64| runs.iter().map(of).sum::<f64>() / count;
    Ok(Shown {
        rate: Rate::from_f64(mean(|run| run.rate.as_f64())),
        other: Rate::from_f64(mean(|run| run.other.as_f64())),
        fairness: mean(|run| run.fairness),
        retransmitted: mean(|run| run.retransmitted),
        streams: mean(|run| run.streams),
    })
}

fn table(args: &Args, path: &PathSpec) -> Result<(), String> {
    let (rtt, copies) = (path.base_rtt(), args.copies);
    let each = || Rule::Each((0..copies).map(|_| Online::new(plan(rtt))).collect());
    let link = || Rule::Link(Box::new(LinkSteer::new(plan(rtt), Span::ZERO)));
    let mut best: Option<(u16, Shown)> = None;
    for fixed in [1, 2, 4, 8, 16, 30] {
        let shown = means(args, path, &|| Rule::Fixed(fixed))?;
        if best.as_ref().is_none_or(|(_, best)| shown.rate > best.rate) {
            best = Some((fixed, shown));
        }
    }
    let mut rows: BTreeMap<u8, (String, Shown)> = BTreeMap::new();
    if let Some((fixed, shown)) = best {
        rows.insert(0, (format!("best fixed number, {fixed} each"), shown));
    }
    rows.insert(1, ("the link as one".to_owned(), means(args, path, &link)?));
    rows.insert(
        2,
        ("each copy for itself".to_owned(), means(args, path, &each)?),
    );
    let fts3 = || Rule::Fts3(Fts3::new((Fts3::RANGE.0 + Fts3::RANGE.1) / 2));
    rows.insert(3, ("FTS3 from 66".to_owned(), means(args, path, &fts3)?));
    let fts3 = || Rule::Fts3(Fts3::new(Fts3::RANGE.0));
    rows.insert(4, ("FTS3 from 2".to_owned(), means(args, path, &fts3)?));
    // Two copies at a time with eight streams each for files above 250 MB.
    let globus = Args {
        copies: 2,
        ..args.clone()
    };
    rows.insert(
        5,
        (
            "Globus, 2 copies of 8".to_owned(),
            means(&globus, path, &|| Rule::Fixed(8))?,
        ),
    );
    let most = rows.get(&0).map_or(0.0, |(_, best)| best.rate.as_f64());
    for (name, shown) in rows.values() {
        println!(
            "| {} | {name} | {} | {:.3} | {:.1} | {} | {:.2} % | {:.3} |",
            path.name,
            shown.rate.human(),
            shown.rate.as_f64() / most,
            shown.streams,
            shown.other.human(),
            100.0 * shown.retransmitted,
            shown.fairness,
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    let args = Args::parse();
    println!("| path | rule | rate | over best | streams | the other stream | sent again | Jain |");
    println!("|---|---|---|---|---|---|---|---|");
    for name in &args.paths {
        let path = PathSpec::load(name).map_err(|error| error.to_string());
        if let Err(error) = path.and_then(|path| table(&args, &path)) {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
