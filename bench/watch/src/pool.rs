//! What single visits show on the named paths: short simulations, kept in a file.
//!
//! Each path runs at a tuned setting: the fewest streams of 1, 2, 4, 8 and 16 that carry 95 % of
//! the most, buffers sized by the kernel. Each condition (as it is, rate cut, more delay, more
//! loss, a small receive buffer at the far host) is simulated under four loads of others, which
//! stand for the hours of a day. A visit probes the idle path twenty times in a second and then
//! sends for 10 s (3 s on links beyond 200 Mbit/s).

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use netpath::{Class, Cross, CrossTraffic, Loss, PathSpec};
use observe::{Limit, Observation, ProbeSeries, SamplePlan, Setting, StreamCount, Target, Window};
use target::SimulatedPath;
use units::{Bytes, Rate, Span};

/// The paths: those of the named ones that a simulation of some seconds runs fast enough.
pub const PATHS: [&str; 12] = [
    "capped-buffers",
    "dadc-dumbbell",
    "dadc-dumbbell-cross5",
    "lan",
    "lossy-wifi",
    "oc12-100ms",
    "oc3-80ms",
    "oc3-striping",
    "shallow-queue",
    "slac-caltech",
    "slac-cern",
    "slac-in2p3",
];

/// Loads of others as shares of the forward rate, from the quietest hour to the busiest.
pub const LOADS: [f64; 4] = [0.02, 0.12, 0.24, 0.40];
/// Runs of each path, condition and load.
const RUNS: u64 = 12;
const FAST: Rate = Rate::from_bits_per_second(200_000_000);

/// What is different from the path as its file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    Base,
    RateCut10,
    RateCut20,
    RateCut50,
    Delay2,
    Delay10,
    Loss,
    FarBuffer,
}

impl Condition {
    pub const ALL: [Condition; 8] = [
        Condition::Base,
        Condition::RateCut10,
        Condition::RateCut20,
        Condition::RateCut50,
        Condition::Delay2,
        Condition::Delay10,
        Condition::Loss,
        Condition::FarBuffer,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Condition::Base => "base",
            Condition::RateCut10 => "rate-10",
            Condition::RateCut20 => "rate-20",
            Condition::RateCut50 => "rate-50",
            Condition::Delay2 => "delay-2ms",
            Condition::Delay10 => "delay-10ms",
            Condition::Loss => "loss-0.1",
            Condition::FarBuffer => "far-buffer",
        }
    }

    fn apply(self, path: &mut PathSpec) {
        match self {
            Condition::Base => {}
            Condition::RateCut10 => cut(path, 0.9),
            Condition::RateCut20 => cut(path, 0.8),
            Condition::RateCut50 => cut(path, 0.5),
            Condition::Delay2 => delay(path, Span::from_millis(1)),
            Condition::Delay10 => delay(path, Span::from_millis(5)),
            Condition::Loss => more_loss(path, 0.001),
            Condition::FarBuffer => path.hosts.receive_buffer_max = small(path),
        }
    }
}

fn cut(path: &mut PathSpec, share: f64) {
    path.forward.rate = Rate::from_f64(path.forward.rate.as_f64() * share);
}

fn delay(path: &mut PathSpec, each_way: Span) {
    path.forward.delay += each_way;
    path.reverse.delay += each_way;
}

fn more_loss(path: &mut PathSpec, added: f64) {
    path.forward.loss = match path.forward.loss {
        Loss::GilbertElliott {
            enter,
            leave,
            loss_bad,
            loss_good,
        } => Loss::GilbertElliott {
            enter,
            leave,
            loss_bad,
            loss_good: loss_good + added,
        },
        Loss::Random { rate } => Loss::Random { rate: rate + added },
        Loss::None => Loss::Random { rate: added },
    };
}

/// A quarter of what one of four streams would need.
fn small(path: &PathSpec) -> Bytes {
    let quarter = path.bandwidth_delay_product().get() / 16;
    Bytes::new(quarter.max(32 * 1024))
}

/// What one visit showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub goodput: f64,
    pub limit: Limit,
    /// Mean round trip beside the streams, in seconds.
    pub loaded: Option<f64>,
    pub resent: Option<f64>,
    /// Round trips of the probes before, in seconds, in ascending order.
    pub idle: Vec<f64>,
    pub probes_sent: usize,
}

/// All visits of a path: `at[condition][load]`, by goodput.
#[derive(Debug, Clone)]
pub struct Pool {
    pub path: String,
    at: Vec<Vec<Vec<Shown>>>,
}

impl Pool {
    /// The visits of a condition under one of [`LOADS`], in ascending order of goodput.
    pub fn under(&self, condition: Condition, load: usize) -> &[Shown] {
        &self.at[condition as usize][load]
    }
}

/// A run to make.
#[derive(Debug, Clone, Copy)]
struct Job {
    path: &'static str,
    streams: StreamCount,
    condition: Condition,
    load: usize,
    run: u64,
}

/// Simulates all and writes one line for each run to `file`, path after path: what an earlier call
/// wrote of whole paths stays.
///
/// # Errors
/// When a path cannot be simulated or the file cannot be written.
pub fn build(file: &Path, jobs: usize) -> Result<(), Box<dyn Error + Send + Sync>> {
    let known = std::fs::read_to_string(file).unwrap_or_default();
    let mut out = csv::Writer::from_writer(File::options().create(true).append(true).open(file)?);
    for path in PATHS {
        if known
            .lines()
            .any(|line| line.split(',').next() == Some(path))
        {
            continue;
        }
        let lines = run_all(&jobs_of(path)?, jobs)?;
        for line in lines {
            out.write_record(line)?;
        }
        out.flush()?;
    }
    Ok(())
}

fn jobs_of(path: &'static str) -> Result<Vec<Job>, Box<dyn Error + Send + Sync>> {
    let streams = tuned(path)?;
    eprintln!("{path}: {streams} streams");
    let mut todo = Vec::new();
    for condition in Condition::ALL {
        for load in 0..LOADS.len() {
            todo.extend((0..RUNS).map(|run| Job {
                path,
                streams,
                condition,
                load,
                run,
            }));
        }
    }
    Ok(todo)
}

type Line = Vec<String>;

fn run_all(todo: &[Job], jobs: usize) -> Result<Vec<Line>, Box<dyn Error + Send + Sync>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(vec![None; todo.len()]);
    let work = || -> Result<(), Box<dyn Error + Send + Sync>> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = todo.get(index) else {
                return Ok(());
            };
            let line = line(job, &visit(job)?);
            done.lock().map_err(|_| "a run failed")?[index] = Some(line);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| "a run failed")?)
    })?;
    let done = done.into_inner().map_err(|_| "a run failed")?;
    Ok(done.into_iter().flatten().collect())
}

/// The fewest streams that carry 95 % of what any number of them does.
fn tuned(path: &'static str) -> Result<StreamCount, Box<dyn Error + Send + Sync>> {
    let mut carried = Vec::new();
    for count in [1, 2, 4, 8, 16] {
        let job = Job {
            path,
            streams: StreamCount::new(count)?,
            condition: Condition::Base,
            load: 1,
            run: 900,
        };
        carried.push((job.streams, visit(&job)?.goodput));
    }
    let most = carried.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let enough = carried.iter().find(|(_, rate)| *rate >= 0.95 * most);
    Ok(enough.map_or(StreamCount::ONE, |(streams, _)| *streams))
}

fn visit(job: &Job) -> Result<Shown, Box<dyn Error + Send + Sync>> {
    let mut path = PathSpec::load(job.path)?;
    let added = path.forward.rate.as_f64() * LOADS[job.load];
    path.cross.push(others(added));
    job.condition.apply(&mut path);
    let seconds = if path.forward.rate > FAST { 3 } else { 10 };
    let plan = SamplePlan::lasting(Span::from_secs(seconds));
    let setting = Setting::new(job.streams, Window::Auto);
    let seed = seed_of(job);
    let seen = SimulatedPath::new(&path, seed).observe(&setting, &plan, &mut ())?;
    shown(&seen).ok_or_else(|| format!("{}: no stream carried data", job.path).into())
}

/// Sixteen sources of datagrams that send half of the time, `rate` bits per second on average.
fn others(rate: f64) -> Cross {
    Cross {
        traffic: CrossTraffic::OnOff {
            sources: 16,
            rate: Rate::from_f64(rate / 8.0),
            on: Span::from_millis(200),
            off: Span::from_millis(200),
        },
        congestion: None,
        class: Class::BestEffort,
        extra_delay: Span::ZERO,
    }
}

fn shown(seen: &Observation) -> Option<Shown> {
    let summary = seen.summary();
    let way = summary.main()?;
    let probes = seen.round_trips.unloaded.as_ref()?;
    Some(Shown {
        goodput: summary.goodput().mean.as_f64(),
        limit: inference::verdict(seen).limit,
        loaded: summary.rtt_loaded.map(Span::as_secs_f64),
        resent: way.tcp.retransmitted_share,
        idle: sorted(probes),
        probes_sent: probes.probes.len(),
    })
}

fn sorted(probes: &ProbeSeries) -> Vec<f64> {
    let mut seconds = probes.rtt_seconds();
    seconds.sort_by(f64::total_cmp);
    seconds
}

fn seed_of(job: &Job) -> u64 {
    let place = job.condition as u64 * 1_000_000 + job.load as u64 * 10_000 + job.run;
    target::seed_from(0x7a7c_4001, place)
}

fn line(job: &Job, shown: &Shown) -> Line {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let idle = shown.idle.iter().map(|rtt| format!("{:.1}", rtt * 1e6));
    vec![
        job.path.to_owned(),
        job.condition.name().to_owned(),
        job.load.to_string(),
        format!("{:.0}", shown.goodput),
        shown.limit.name().to_owned(),
        number(shown.loaded),
        number(shown.resent),
        shown.probes_sent.to_string(),
        idle.collect::<Vec<_>>().join(" "),
    ]
}

/// Reads what [`build`] wrote.
///
/// # Errors
/// When the file is missing or a line is not one of [`build`].
pub fn read(file: &Path) -> Result<Vec<Pool>, Box<dyn Error>> {
    let empty = || vec![vec![Vec::new(); LOADS.len()]; Condition::ALL.len()];
    let mut pools: Vec<Pool> = Vec::new();
    let mut lines = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_path(file)?;
    for line in lines.records() {
        let line = line?;
        let field = |index: usize| line.get(index).unwrap_or_default();
        if pools.last().is_none_or(|pool| pool.path != field(0)) {
            pools.push(Pool {
                path: field(0).to_owned(),
                at: empty(),
            });
        }
        let condition = Condition::ALL
            .into_iter()
            .find(|one| one.name() == field(1));
        let condition = condition.ok_or_else(|| format!("condition `{}` is unknown", field(1)))?;
        let load: usize = field(2).parse()?;
        let pool = pools.last_mut().ok_or("no pool")?;
        pool.at[condition as usize][load].push(parse(&field)?);
    }
    for shown in pools
        .iter_mut()
        .flat_map(|pool| pool.at.iter_mut().flatten())
    {
        shown.sort_by(|a, b| a.goodput.total_cmp(&b.goodput));
    }
    Ok(pools)
}

fn parse<'a>(field: &impl Fn(usize) -> &'a str) -> Result<Shown, Box<dyn Error>> {
    let idle = field(8).split_whitespace().map(str::parse::<f64>);
    let idle = idle.map(|micros| micros.map(|micros| micros / 1e6));
    Ok(Shown {
        goodput: field(3).parse()?,
        limit: Limit::named(field(4)).ok_or_else(|| format!("limit `{}` is unknown", field(4)))?,
        loaded: field(5).parse().ok(),
        resent: field(6).parse().ok(),
        probes_sent: field(7).parse()?,
        idle: idle.collect::<Result<_, _>>()?,
    })
}
