//! How far rounds agree with packets: goodput of random runs on random paths, as ratios.
//!
//! `inference` reckons a run round trip by round trip, `sim` packet by packet. On each path two
//! numbers of streams run a minute in both, and what they carried is read after three times: what
//! a sample shows, short or long, and what is promised. The logarithm of the ratio is the error of
//! the rounds. A table says how wide it is, beside what one run of packets differs from the next
//! by; whether the error of a sample goes on in the minute after it; and whether another number of
//! streams on the same path shares it. These are the figures that `inference` allows for.

use std::time::{Duration, Instant};

use clap::Parser;
use inference::{Control, Path, Run, run};
use netpath::PathSpec;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use sim::{Scenario, Simulation, Variant};
use units::{Bytes, Span, Time};

const SEGMENT: f64 = 1448.0;
const PACKET: f64 = 1500.0;
const STREAMS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// The second is cubic twice: most hosts have it.
const CONTROLS: [(&str, Control); 4] = [
    ("cubic", Control::Cubic),
    ("cubic", Control::Cubic),
    ("reno", Control::Reno),
    ("bbr", Control::Rate),
];
/// After so many seconds it is read what was carried: two samples, and a long run.
const LENGTHS: [f64; 3] = [4.0, 12.0, 60.0];
/// How long others' streams send before ours do, seconds.
const BESIDE: f64 = 10.0;
/// The sample that is looked at part by part, seconds; the least length of one in seconds and in
/// round trips; and the share of the highest that each is given beforehand.
const SAMPLE: f64 = 4.0;
const PART_MIN: (f64, f64) = (0.4, 3.0);
const FLOOR: f64 = 0.05;
/// Up to these a link is full, or nearly; and a part is that many round trips long.
const FREE: [(f64, &str); 3] = [(0.03, "full"), (0.2, "nearly"), (1.0, "free")];
const LENGTH: [(f64, &str); 3] = [(0.1, "10 and more"), (0.25, "4 to 10"), (1.0, "less")];
const SEEDS_PACKETS: u64 = 3;
const SEEDS_ROUNDS: u64 = 10;

/// Compares rounds with packets on random paths.
#[derive(Debug, Parser)]
struct Args {
    /// How many paths.
    #[arg(long, default_value_t = 60)]
    count: usize,
    /// What is drawn follows from it.
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Beside others' streams.
    #[arg(long)]
    others: bool,
    /// Prints the worst so many at either end.
    #[arg(long, default_value_t = 5)]
    worst: usize,
}

/// A path with two numbers of streams, for both.
struct Case {
    path: Path,
    spec: PathSpec,
    variant: Variant,
    control: Control,
    streams: [u32; 2],
    label: String,
}

/// What one number of streams carried after one time, as logarithms.
#[derive(Clone, Copy)]
struct Error {
    /// Rounds over packets.
    error: f64,
    /// The variance of packets from seed to seed.
    chance: f64,
}

/// How far a run of packets differs from one of rounds in the parts of a sample, as logarithms.
struct OfParts {
    by_rate: bool,
    /// The share of the link that is free.
    free: f64,
    /// Of a part, what a round trip takes.
    round_trip: f64,
    start: Vec<f64>,
    late: Vec<f64>,
}

/// By streams, then by length.
type Errors = [[Error; LENGTHS.len()]; 2];

struct Draw(Pcg64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.uniform())
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[((self.uniform() * of.len() as f64) as usize).min(of.len() - 1)]
    }
}

fn main() -> Result<(), String> {
    let args = Args::parse();
    let mut draw = Draw(Pcg64::seed_from_u64(args.seed));
    let (mut found, mut spent) = (Vec::new(), [Duration::ZERO; 2]);
    let mut by_part = Vec::new();
    for _ in 0..args.count {
        let case = case(&mut draw, args.others)?;
        by_part.extend(
            case.streams
                .into_iter()
                .flat_map(|streams| parts(&case, streams)),
        );
        let errors = [0, 1].map(|which| {
            let packets = timed(&mut spent[1], || by_packets(&case, case.streams[which]));
            let rounds = timed(&mut spent[0], || by_rounds(&case, case.streams[which]));
            compared(rounds, &packets)
        });
        found.push((case, errors));
    }
    for (name, by_rate) in [("window", false), ("the rate that arrives", true)] {
        let of = |one: &&(Case, Errors)| (one.0.control == Control::Rate) == by_rate;
        let errors: Vec<Errors> = found.iter().filter(of).map(|one| one.1).collect();
        table(name, &errors);
    }
    table_of_parts(&by_part);
    let seeds = SEEDS_PACKETS as f64 / SEEDS_ROUNDS as f64;
    let [rounds, packets] = spent.map(|spent| spent.as_secs_f64());
    println!("rounds {:.3} s, packets {packets:.1} s\n", rounds * seeds);
    worst(&args, &found);
    Ok(())
}

fn timed<T>(spent: &mut Duration, what: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let value = what();
    *spent += began.elapsed();
    value
}

fn case(draw: &mut Draw, beside: bool) -> Result<Case, String> {
    let (rate, rtt) = (draw.log_uniform(1e7, 2e8), draw.log_uniform(5e-3, 0.3));
    let products = draw.log_uniform(0.02, 3.0);
    let queue = (products * rate * rtt / 8.0 / PACKET).round().max(4.0);
    let loss = match draw.uniform() < 0.5 {
        true => draw.log_uniform(1e-5, 1e-2),
        false => 0.0,
    };
    let (name, control) = draw.one_of(&CONTROLS);
    let first = draw.one_of(&STREAMS[..STREAMS.len() - 1]);
    let more: Vec<u32> = STREAMS.into_iter().filter(|more| *more > first).collect();
    let streams = [first, draw.one_of(&more)];
    let others = if beside {
        draw.log_uniform(1.0, 24.0).round()
    } else {
        0.0
    };
    let cross = match beside {
        true => format!("[[cross]]\nstreams = {others}\nwindow = \"32MiB\"\n"),
        false => String::new(),
    };
    let lost = format!("loss = {{ kind = \"random\", rate = {loss:e} }}\n");
    let text = format!(
        "[forward]\nrate = \"{rate:.0}bit/s\"\ndelay = \"{:.0}us\"\nqueue = {{ kind = \
            \"drop-tail\", limit = \"{queue}packets\" }}\n{}{cross}",
        rtt / 2.0 * 1e6,
        if loss > 0.0 { lost } else { String::new() },
    );
    let path = Path {
        rate: rate * SEGMENT / PACKET,
        rtt,
        queue: queue * SEGMENT,
        standing: 1.0,
        loss,
        run: 1.0,
        others,
        swing: 0.0,
        swing_every: 1.0,
        back: f64::INFINITY,
        back_wait: 0.0,
        window: 32e6,
        per_stream: f64::INFINITY,
        hosts: f64::INFINITY,
        segment: SEGMENT,
    };
    Ok(Case {
        path,
        spec: PathSpec::from_toml("drawn", &text).map_err(|error| error.to_string())?,
        variant: Variant::of_kernel(name).ok_or("no such control")?,
        control,
        streams,
        label: format!(
            "{name}, {:.0} Mbit/s, {:.0} ms, queue {products:.2}, loss {loss:.1e}, {others} others",
            rate / 1e6,
            rtt * 1e3
        ),
    })
}

/// So many streams for a minute.
fn of(case: &Case, streams: u32) -> Run {
    Run {
        streams,
        joined: 0,
        window: None,
        control: case.control,
        pacing: None,
        seconds: LENGTHS[LENGTHS.len() - 1],
    }
}

/// Mean goodput after each time, bits per second.
fn by_rounds(case: &Case, streams: u32) -> [f64; LENGTHS.len()] {
    LENGTHS.map(|seconds| {
        let what = Run {
            seconds,
            ..of(case, streams)
        };
        let one = |seed| run(&case.path, &what, 1, seed).goodput(0);
        (0..SEEDS_ROUNDS).map(one).sum::<f64>() / SEEDS_ROUNDS as f64
    })
}

/// A run of packets, and when its streams begin, seconds.
fn simulation(case: &Case, streams: u32, seed: u64, seconds: f64) -> Option<(Simulation, f64)> {
    let mut scenario = Scenario::of(case.spec.clone(), case.variant);
    let idle = if case.path.others > 0.0 { BESIDE } else { 0.0 };
    scenario.streams = streams;
    scenario.seed = seed;
    scenario.idle = Span::from_secs_f64(idle);
    scenario.duration = Span::from_secs_f64(idle + seconds);
    scenario.window = Some(Bytes::from_mib(32));
    Some((Simulation::new(&scenario).ok()?, idle))
}

/// Bits that all streams have carried by then.
fn carried(simulation: &mut Simulation, streams: u32, at: f64) -> f64 {
    simulation.advance(Time::ZERO + Span::from_secs_f64(at));
    let streams = (0..streams).filter_map(|index| simulation.stream(index));
    streams.map(|one| one.delivered.as_f64()).sum::<f64>() * 8.0
}

/// Goodput after each time with each seed, bits per second.
fn by_packets(case: &Case, streams: u32) -> Vec<[f64; LENGTHS.len()]> {
    let one = |seed| {
        let longest = LENGTHS[LENGTHS.len() - 1];
        let (mut simulation, idle) = simulation(case, streams, seed, longest)?;
        Some(LENGTHS.map(|seconds| carried(&mut simulation, streams, idle + seconds) / seconds))
    };
    (1..=SEEDS_PACKETS).filter_map(one).collect()
}

/// One for each seed of packets.
fn parts(case: &Case, streams: u32) -> Vec<OfParts> {
    let length = PART_MIN.0.max(PART_MIN.1 * case.path.rtt);
    let count = (SAMPLE / length).floor().max(1.0) as usize;
    let what = Run {
        seconds: SAMPLE,
        ..of(case, streams)
    };
    let sorted = |mut rates: Vec<f64>| {
        rates[count.div_ceil(3)..].sort_by(f64::total_cmp);
        rates
    };
    let one = |seed| {
        let trace = run(&case.path, &what, count, seed);
        let packets = sorted(packets_by_part(case, streams, seed, count)?);
        let rounds = sorted(trace.bins.iter().map(|bin| bin.rate).collect());
        let floor = FLOOR * packets.iter().copied().fold(0.0, f64::max);
        let pairs = packets.iter().zip(&rounds);
        let errors = pairs.map(|(seen, shown)| ((seen + floor) / (shown + floor)).ln());
        let errors: Vec<f64> = errors.collect();
        let (start, late) = errors.split_at(count.div_ceil(3));
        Some(OfParts {
            by_rate: case.control == Control::Rate,
            free: 1.0 - trace.goodput(count.div_ceil(3)) / case.path.rate,
            round_trip: case.path.rtt * count as f64 / SAMPLE,
            start: start.to_vec(),
            late: late.iter().map(|one| one - mean(late)).collect(),
        })
    };
    (1..=SEEDS_PACKETS).filter_map(one).collect()
}

/// Goodput in each part of a sample, bits per second.
fn packets_by_part(case: &Case, streams: u32, seed: u64, count: usize) -> Option<Vec<f64>> {
    let (mut simulation, idle) = simulation(case, streams, seed, SAMPLE)?;
    let mut before = 0.0;
    let part = |number: usize| {
        let at = SAMPLE * number as f64 / count as f64;
        let all = carried(&mut simulation, streams, idle + at);
        let rate = (all - before) * count as f64 / SAMPLE;
        before = all;
        rate
    };
    Some((1..=count).map(part).collect())
}

fn table_of_parts(all: &[OfParts]) {
    println!("link     round trips of a part  runs  while streams start  after that");
    for (free, (below, link)) in FREE.into_iter().enumerate() {
        for (long, (most, length)) in LENGTH.into_iter().enumerate() {
            let above = |classes: &[(f64, &str)], class: usize| match class {
                0 => f64::NEG_INFINITY,
                _ => classes[class - 1].0,
            };
            let of_it = all.iter().filter(|one| {
                !one.by_rate
                    && (one.free > above(&FREE, free) && one.free <= below)
                    && (one.round_trip > above(&LENGTH, long) && one.round_trip <= most)
            });
            let of_it: Vec<&OfParts> = of_it.collect();
            let usual = |errors: &dyn Fn(&OfParts) -> f64| {
                let mut sorted: Vec<f64> = of_it.iter().map(|one| errors(one)).collect();
                sorted.sort_by(f64::total_cmp);
                sorted.get(sorted.len() * 2 / 3).copied().unwrap_or(0.0)
            };
            println!(
                "{link:7}  {length:21}  {:4}  {:19.2}  {:10.3}",
                of_it.len(),
                usual(&|one| root_mean_square(&one.start)),
                usual(&|one| root_mean_square(&one.late)),
            );
        }
    }
    println!();
}

fn root_mean_square(values: &[f64]) -> f64 {
    mean(&values.iter().map(|one| one * one).collect::<Vec<_>>()).sqrt()
}

fn compared(
    rounds: [f64; LENGTHS.len()],
    packets: &[[f64; LENGTHS.len()]],
) -> [Error; LENGTHS.len()] {
    std::array::from_fn(|length| {
        let logs: Vec<f64> = packets.iter().map(|one| log(one[length])).collect();
        Error {
            error: log(rounds[length]) - mean(&logs),
            chance: variance(&logs),
        }
    })
}

/// A stream that carried nothing carried little.
fn log(goodput: f64) -> f64 {
    goodput.max(1e4).ln()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares = values.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
    squares / (values.len().max(2) - 1) as f64
}

/// How far two errors go together, 0 to 1.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let together = pairs.iter().map(|(a, b)| (a - mean_a) * (b - mean_b));
    let shared = together.sum::<f64>() / (pairs.len().max(2) - 1) as f64;
    shared / (variance(&a) * variance(&b)).sqrt()
}

fn table(name: &str, errors: &[Errors]) {
    println!("streams that go by {name}: {} paths", errors.len());
    println!(
        "seconds  within 10 %  20 %  40 %   bias   wide  chance  with 60 s  with other streams"
    );
    let last = LENGTHS.len() - 1;
    for (length, seconds) in LENGTHS.into_iter().enumerate() {
        let of = || errors.iter().flatten().map(move |one| one[length]);
        let values: Vec<f64> = of().map(|one| one.error).collect();
        let chance = mean(&of().map(|one| one.chance).collect::<Vec<f64>>());
        let within = |factor: f64| {
            let close = values.iter().filter(|one| one.abs() <= factor.ln());
            100.0 * close.count() as f64 / values.len().max(1) as f64
        };
        let long = errors.iter().flatten();
        let long = long.map(|one| (one[length].error, one[last].error));
        let other = errors.iter();
        let other = other.map(|one| (one[0][length].error, one[1][length].error));
        println!(
            "{seconds:7}  {:9.0} %  {:2.0} %  {:2.0} %  {:+.2}   {:.2}    {:.2}       {:+.2}  \
                {:+.2}",
            within(1.1),
            within(1.2),
            within(1.4),
            mean(&values),
            (variance(&values) - chance / SEEDS_PACKETS as f64)
                .max(0.0)
                .sqrt(),
            chance.sqrt(),
            correlation(&long.collect::<Vec<_>>()),
            correlation(&other.collect::<Vec<_>>()),
        );
    }
    println!();
}

fn worst(args: &Args, found: &[(Case, Errors)]) {
    let mut all: Vec<(f64, String)> = Vec::new();
    for (case, errors) in found {
        for (streams, errors) in case.streams.into_iter().zip(errors) {
            for (seconds, one) in LENGTHS.into_iter().zip(errors) {
                let label = format!("{streams} x {}, {seconds} s", case.label);
                all.push((one.error, label));
            }
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends = all.iter().take(args.worst);
    for (error, label) in ends.chain(all.iter().rev().take(args.worst).rev()) {
        println!("{:.2}  {label}", error.exp());
    }
}
