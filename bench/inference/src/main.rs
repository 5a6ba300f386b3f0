//! How far rounds agree with packets: goodput of random runs on random paths, as ratios.
//!
//! `inference` reckons a run round trip by round trip, `sim` packet by packet. Both run the same
//! streams on the same path, each with several seeds; what is compared is their mean goodput. The
//! spread of the ratios is what `inference` allows its model to be wrong by.

use std::time::{Duration, Instant};

use clap::Parser;
use inference::{Control, Path, Run, run};
use netpath::PathSpec;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use sim::{Scenario, Variant};
use units::{Bytes, Span};

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
/// A sample and a long run, seconds.
const LENGTHS: [f64; 2] = [4.0, 60.0];
/// How long others' streams send before ours do, seconds.
const BESIDE: f64 = 10.0;
const SEEDS_PACKETS: u64 = 2;
const SEEDS_ROUNDS: u64 = 10;

/// Compares rounds with packets on random paths.
#[derive(Debug, Parser)]
struct Args {
    /// How many runs.
    #[arg(long, default_value_t = 120)]
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

/// A run on a path, for both.
struct Case {
    path: Path,
    spec: PathSpec,
    variant: Variant,
    run: Run,
    label: String,
}

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

fn main() {
    let args = Args::parse();
    let mut draw = Draw(Pcg64::seed_from_u64(args.seed));
    let (mut ratios, mut spent) = (Vec::new(), [Duration::ZERO; 2]);
    for _ in 0..args.count {
        let case = match case(&mut draw, args.others) {
            Ok(case) => case,
            Err(error) => return eprintln!("error: {error}"),
        };
        let (rounds, packets) = (timed(&mut spent[0], || by_rounds(&case)), {
            timed(&mut spent[1], || by_packets(&case))
        });
        ratios.push((rounds / packets, case.label));
    }
    print(&args, ratios, spent);
}

fn timed(spent: &mut Duration, what: impl FnOnce() -> f64) -> f64 {
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
    let (streams, (name, control)) = (draw.one_of(&STREAMS), draw.one_of(&CONTROLS));
    let seconds = draw.one_of(&LENGTHS);
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
        "[forward]\nrate = \"{rate:.0}bit/s\"\ndelay = \"{:.0}us\"\nqueue = {{ kind = \"drop-tail\", \
         limit = \"{queue}packets\" }}\n{}{cross}",
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
        run: Run {
            streams,
            joined: 0,
            window: None,
            control,
            pacing: None,
            seconds,
        },
        label: format!(
            "{streams} x {name}, {seconds} s, {:.0} Mbit/s, {:.0} ms, queue {products:.2}, loss {loss:.1e}, {others} others",
            rate / 1e6,
            rtt * 1e3
        ),
    })
}

fn by_rounds(case: &Case) -> f64 {
    let one = |seed| run(&case.path, &case.run, 1, seed).goodput(0);
    (0..SEEDS_ROUNDS).map(one).sum::<f64>() / SEEDS_ROUNDS as f64
}

fn by_packets(case: &Case) -> f64 {
    let mut scenario = Scenario::of(case.spec.clone(), case.variant);
    scenario.streams = case.run.streams;
    let idle = if case.path.others > 0.0 { BESIDE } else { 0.0 };
    scenario.idle = Span::from_secs_f64(idle);
    scenario.duration = Span::from_secs_f64(idle + case.run.seconds);
    scenario.window = Some(Bytes::from_mib(32));
    let mut one = |seed| {
        scenario.seed = seed;
        let shown = sim::run(&scenario).map_or(Vec::new(), |shown| shown.streams);
        let bytes: f64 = shown.iter().map(|one| one.acknowledged.as_f64()).sum();
        bytes * 8.0 / case.run.seconds
    };
    (1..=SEEDS_PACKETS).map(&mut one).sum::<f64>() / SEEDS_PACKETS as f64
}

fn print(args: &Args, mut ratios: Vec<(f64, String)>, spent: [Duration; 2]) {
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let share = |factor: f64| {
        let close = ratios.iter().filter(|one| one.0.ln().abs() <= factor.ln());
        100.0 * close.count() as f64 / ratios.len().max(1) as f64
    };
    println!(
        "{} runs: {:.0} % within 10 %, {:.0} % within 20 %, {:.0} % within 40 %; rounds {:.3} s, \
         packets {:.1} s\n",
        ratios.len(),
        share(1.1),
        share(1.2),
        share(1.4),
        spent[0].as_secs_f64() * SEEDS_PACKETS as f64 / SEEDS_ROUNDS as f64,
        spent[1].as_secs_f64(),
    );
    let ends = ratios.iter().take(args.worst);
    for (ratio, label) in ends.chain(ratios.iter().rev().take(args.worst).rev()) {
        println!("{ratio:.2}  {label}");
    }
}
