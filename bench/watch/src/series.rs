//! Seeded series of visits in virtual time.
//!
//! A visit every half hour, two minutes early or late, for 60 days. Each draws a run from the pool
//! under the load that others have at that hour: a daily season with quieter weekends, a slow
//! wandering, and bursts of minutes to hours (Pareto). Goodput between two loads is interpolated at
//! the same quantile. On top come what simulations lack: the hosts' own noise of 0.5 to 2 %, one
//! visit in a hundred that is much slower for no reason, jitter of round trips with a heavy tail,
//! 2 % of visits missing and 0.5 % refused.
//!
//! What a fault changes is known exactly, since the same draws without it give the series that it
//! is compared with.

use changes::{
    CauseKind, EventKind, Failure, FarHost, ProbeCount, RoundTrips, Route, Share, UnixTime, Visit,
    VisitKind,
};
use observe::HostLimits;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::{Bytes, Rate, Span};

use crate::pool::{Condition, LOADS, Pool, Shown};

pub const STEP: u64 = 1800;
/// 2026-01-05, a Monday.
const BEGIN: u64 = 1_767_571_200;

/// What happens to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    None,
    Rate10,
    Rate20,
    Rate50,
    Delay2,
    Delay10,
    Loss,
    /// Another route that is longer by 1 to 20 ms.
    Route,
    /// Another route of the same length.
    RouteOnly,
    FarBuffer,
    /// Others take 30 % of our processor.
    Stolen,
    /// A fifth less and back, every one to three hours for a day.
    Flapping,
    /// A fifth less, slowly over 20 days.
    Drift,
}

impl Fault {
    pub const ALL: [Fault; 13] = [
        Fault::None,
        Fault::Rate10,
        Fault::Rate20,
        Fault::Rate50,
        Fault::Delay2,
        Fault::Delay10,
        Fault::Loss,
        Fault::Route,
        Fault::RouteOnly,
        Fault::FarBuffer,
        Fault::Stolen,
        Fault::Flapping,
        Fault::Drift,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Fault::None => "none",
            Fault::Rate10 => "rate -10 %",
            Fault::Rate20 => "rate -20 %",
            Fault::Rate50 => "rate -50 %",
            Fault::Delay2 => "+2 ms",
            Fault::Delay10 => "+10 ms",
            Fault::Loss => "0.1 % loss",
            Fault::Route => "route, +1 to 20 ms",
            Fault::RouteOnly => "route, same length",
            Fault::FarBuffer => "far host's buffers",
            Fault::Stolen => "30 % of our processor",
            Fault::Flapping => "flapping, -20 %",
            Fault::Drift => "drift, -20 % in 20 days",
        }
    }

    /// What should be named first.
    pub fn cause(self) -> Option<CauseKind> {
        match self {
            Fault::None => None,
            Fault::Rate10 | Fault::Rate20 | Fault::Rate50 | Fault::Flapping | Fault::Drift => {
                Some(CauseKind::PathRate)
            }
            Fault::Delay2 | Fault::Delay10 => Some(CauseKind::RoundTrip),
            Fault::Loss => Some(CauseKind::Loss),
            Fault::Route | Fault::RouteOnly => Some(CauseKind::Route),
            Fault::FarBuffer => Some(CauseKind::FarHost),
            Fault::Stolen => Some(CauseKind::OwnProcessor),
        }
    }

    /// The kind of event that it is.
    pub fn kind(self) -> Option<EventKind> {
        match self {
            Fault::None => None,
            Fault::Drift => Some(EventKind::Drift),
            Fault::Flapping => Some(EventKind::Flapping),
            Fault::RouteOnly => Some(EventKind::Route),
            _ => Some(EventKind::Step),
        }
    }

    fn condition(self) -> Condition {
        match self {
            Fault::Rate10 => Condition::RateCut10,
            Fault::Rate20 | Fault::Flapping | Fault::Drift => Condition::RateCut20,
            Fault::Rate50 => Condition::RateCut50,
            Fault::Delay2 => Condition::Delay2,
            Fault::Delay10 => Condition::Delay10,
            Fault::Loss => Condition::Loss,
            Fault::FarBuffer => Condition::FarBuffer,
            Fault::None | Fault::Route | Fault::RouteOnly | Fault::Stolen => Condition::Base,
        }
    }
}

/// A series with what it would be without its fault.
pub struct Series {
    pub visits: Vec<Visit>,
    pub without: Vec<Visit>,
    /// When the fault begins; the end of the series where there is none.
    pub changed: UnixTime,
    /// When it ends; the end of the series where it does not.
    pub ended: UnixTime,
}

/// Draws that do not depend on the fault.
struct Random(Pcg64);

impl Random {
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }
}

/// What stays the same over a series.
struct Habits {
    load_low: f64,
    load_peak: f64,
    peak_hour: f64,
    weekend: f64,
    noise: f64,
    jitter: f64,
    routes: u64,
    route_added: f64,
}

impl Habits {
    fn drawn(random: &mut Random) -> Self {
        Habits {
            load_low: random.between(0.02, 0.10),
            load_peak: random.between(0.10, 0.36),
            peak_hour: random.between(0.0, 24.0),
            weekend: random.between(0.3, 0.9),
            noise: random.between(0.005, 0.02),
            jitter: random.between(10e-6, 100e-6),
            routes: match random.uniform() < 0.7 {
                true => 1,
                false => 3,
            },
            route_added: random.between(0.001, 0.020),
        }
    }

    fn load(&self, at: UnixTime) -> f64 {
        let phase = (at.hour() - self.peak_hour) / 24.0 * std::f64::consts::TAU;
        let share = ((1.0 + phase.cos()) / 2.0).powf(1.5);
        let share = match at.is_weekend() {
            true => share * self.weekend,
            false => share,
        };
        self.load_low + (self.load_peak - self.load_low) * share
    }
}

/// When a fault begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    /// Between the fifth day and the fifth last.
    Settled,
    /// Between the third hour and the end of the third day, as many in each part of
    /// [`FIRST_HOURS`].
    FirstDays,
}

/// Parts of the first three days, in hours.
pub const FIRST_HOURS: [(f64, f64); 5] = [
    (3.0, 6.0),
    (6.0, 12.0),
    (12.0, 24.0),
    (24.0, 48.0),
    (48.0, 72.0),
];

impl Begins {
    /// Seconds from the beginning of a series.
    fn drawn(self, random: &mut Random, fault: Fault, days: u64, seed: u64) -> u64 {
        let (low, high) = match self {
            Begins::Settled => {
                let days_left = if fault == Fault::Drift { 25.0 } else { 5.0 };
                (5.0 * 24.0, (days as f64 - days_left) * 24.0)
            }
            Begins::FirstDays => FIRST_HOURS[seed as usize / 100 % FIRST_HOURS.len()],
        };
        (random.between(low, high) * 3600.0) as u64
    }
}

/// The series of a seed: `days` long.
pub fn series(pool: &Pool, fault: Fault, seed: u64, days: u64, begins: Begins) -> Series {
    let mut random = Random(Pcg64::seed_from_u64(
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    ));
    random.uniform();
    let habits = Habits::drawn(&mut random);
    let end = BEGIN + days * 86_400;
    let drawn = begins.drawn(&mut random, fault, days, seed);
    let changed = match fault {
        Fault::None => end,
        _ => BEGIN + drawn,
    };
    let mut bursts = Bursts::default();
    let mut wander = 0.0;
    let flaps = flaps(&mut random, changed);
    let ended = ended(fault, seed, changed, end);
    let (mut visits, mut without) = (Vec::new(), Vec::new());
    for slot in 0..days * 86_400 / STEP {
        let due = BEGIN + slot * STEP + 120;
        let at = UnixTime::from_seconds((due as f64 + random.between(-120.0, 120.0)) as u64);
        wander = 0.98 * wander + 0.2 * random.normal();
        let load = (habits.load(at) * (0.25 * wander).exp() + bursts.at(due, &mut random))
            .clamp(LOADS[0], LOADS[LOADS.len() - 1]);
        let draws = Draws::new(&mut random, load);
        let part = match at.seconds() < ended {
            true => part_of(fault, at.seconds(), changed, &flaps),
            false => 0.0,
        };
        if draws.missing < 0.02 {
            continue;
        }
        visits.push(visit(pool, &habits, &draws, at, fault, part));
        without.push(visit(pool, &habits, &draws, at, Fault::None, 0.0));
    }
    Series {
        visits,
        without,
        changed: UnixTime::from_seconds(changed),
        ended: UnixTime::from_seconds(match fault {
            Fault::Flapping => flaps.last().copied().unwrap_or(end),
            _ => ended,
        }),
    }
}

/// Half of the faults end, after six hours to ten days.
fn ended(fault: Fault, seed: u64, changed: u64, end: u64) -> u64 {
    let goes_on = matches!(fault, Fault::None | Fault::Flapping | Fault::Drift);
    if goes_on || (seed / 100).is_multiple_of(2) {
        return end;
    }
    let mut random = Random(Pcg64::seed_from_u64(seed ^ 0x51ed_270b));
    random.uniform();
    let lasts = random.between(6.0 * 3600.0, 10.0 * 86_400.0) as u64;
    (changed + lasts).min(end - 86_400)
}

/// Ends of the states of a flapping path.
fn flaps(random: &mut Random, changed: u64) -> Vec<u64> {
    let mut at = changed;
    let mut ends = Vec::new();
    while at < changed + 86_400 {
        at += random.between(3600.0, 3.0 * 3600.0) as u64;
        ends.push(at);
    }
    ends
}

/// How much of a fault there is at a time, from 0 to 1.
fn part_of(fault: Fault, at: u64, changed: u64, flaps: &[u64]) -> f64 {
    if at < changed {
        return 0.0;
    }
    match fault {
        Fault::None => 0.0,
        Fault::Drift => ((at - changed) as f64 / (20.0 * 86_400.0)).min(1.0),
        Fault::Flapping => match flaps.iter().filter(|end| **end <= at).count() {
            past if past < flaps.len() && past % 2 == 0 => 1.0,
            _ => 0.0,
        },
        _ => 1.0,
    }
}

/// Bursts of cross traffic: ten a month, at least five minutes long, Pareto with shape 1.5.
#[derive(Default)]
struct Bursts {
    until: f64,
    load: f64,
}

impl Bursts {
    fn at(&mut self, due: u64, random: &mut Random) -> f64 {
        let (begins, length) = (random.uniform(), random.uniform());
        let load = random.between(0.1, 0.3);
        // A burst counts for a visit if it covers the visit's time.
        let per_visit = 10.0 / 30.0 / 86_400.0 * STEP as f64;
        if begins < per_visit {
            let began = due as f64 - begins / per_visit * STEP as f64;
            self.until = began + 300.0 * (1.0 - length).powf(-1.0 / 1.5);
            self.load = load;
        }
        match (due as f64) < self.until {
            true => self.load,
            false => 0.0,
        }
    }
}

/// What chance decides in one visit.
struct Draws {
    load: f64,
    quantile: f64,
    pick: f64,
    noise: f64,
    slow: f64,
    slow_by: f64,
    jitter: Vec<f64>,
    lost: Vec<f64>,
    missing: f64,
    refused: f64,
    route: f64,
    stolen: f64,
}

impl Draws {
    fn new(random: &mut Random, load: f64) -> Self {
        let tail = |random: &mut Random| match random.uniform() < 0.01 {
            true => 20.0 * (1.0 - random.uniform()).powf(-0.7),
            false => random.exponential(),
        };
        Draws {
            load,
            quantile: random.uniform(),
            pick: random.uniform(),
            noise: random.normal(),
            slow: random.uniform(),
            slow_by: random.between(0.3, 0.9),
            jitter: (0..20).map(|_| tail(random)).collect(),
            lost: (0..20).map(|_| random.uniform()).collect(),
            missing: random.uniform(),
            refused: random.uniform(),
            route: random.uniform(),
            stolen: random.uniform(),
        }
    }
}

fn visit(
    pool: &Pool,
    habits: &Habits,
    draws: &Draws,
    at: UnixTime,
    fault: Fault,
    part: f64,
) -> Visit {
    let mut visit = Visit::new(at, VisitKind::Throughput);
    if draws.refused < 0.005 {
        visit.failure = Some(Failure {
            reason: "the server is busy".to_owned(),
        });
        return visit;
    }
    let base = drawn(pool, Condition::Base, draws);
    let shown = match part > 0.0 {
        true => between(&base, &drawn(pool, fault.condition(), draws), part),
        false => base,
    };
    let new_route = part > 0.0 && matches!(fault, Fault::Route | Fault::RouteOnly);
    let longer = match part > 0.0 && fault == Fault::Route {
        true => habits.route_added,
        false => 0.0,
    };
    let stolen = match part > 0.0 && fault == Fault::Stolen {
        true => 0.3,
        false => 0.01 * draws.stolen,
    };
    let slow = match draws.slow < 0.01 {
        true => draws.slow_by,
        false => 1.0,
    };
    // A window that was full carries less over a longer way; streams that fill a queue do not care.
    let goodput = shown.goodput * (habits.noise * draws.noise).exp() * slow * (1.0 - stolen);
    visit.goodput = Some(Rate::from_f64(goodput));
    visit.resent = shown.resent.and_then(Share::new);
    visit.loaded = shown
        .loaded
        .map(|loaded| Span::from_secs_f64(loaded + longer));
    let trips = shown.idle.iter().zip(&draws.jitter);
    let trips =
        trips.map(|(rtt, jitter)| Span::from_secs_f64(rtt + longer + jitter * habits.jitter));
    let loss = 1e-4 + f64::from(u8::from(fault == Fault::Loss)) * part * 1e-3;
    let lost = draws.lost.iter().filter(|draw| **draw < loss).count();
    visit.round_trips = RoundTrips::new(trips.skip(lost).collect());
    visit.probes = Some(ProbeCount {
        sent: shown.probes_sent as u32,
        lost: lost as u32,
        duplicated: 0,
        reordered: 0,
    });
    let hash = (draws.route * habits.routes as f64) as u64;
    visit.route = Some(Route {
        hash: hash + 100 * u64::from(new_route),
        hops: Vec::new(),
    });
    visit.limit = Some(shown.limit);
    visit.far_host = Some(far_host(part > 0.0 && fault == Fault::FarBuffer));
    visit.stolen = Share::new(stolen);
    visit
}

fn far_host(small: bool) -> FarHost {
    let most = match small {
        true => Bytes::from_kib(256),
        false => Bytes::from_mib(6),
    };
    FarHost {
        kernel: Some("6.18".to_owned()),
        limits: Some(HostLimits {
            send_fixed_max: Bytes::from_kib(208),
            receive_fixed_max: Bytes::from_kib(208),
            send_auto_max: Bytes::from_mib(4),
            receive_auto_max: most,
        }),
    }
}

/// A run under the load of a visit, at its quantile.
fn drawn(pool: &Pool, condition: Condition, draws: &Draws) -> Shown {
    let above = LOADS.iter().position(|load| *load >= draws.load);
    let above = above.unwrap_or(LOADS.len() - 1).max(1);
    let part = (draws.load - LOADS[above - 1]) / (LOADS[above] - LOADS[above - 1]);
    let one = at_quantile(pool.under(condition, above - 1), draws.quantile);
    let other = at_quantile(pool.under(condition, above), draws.quantile);
    let mixed = between(&one, &other, part);
    Shown {
        limit: match draws.pick < part {
            true => other.limit,
            false => one.limit,
        },
        ..mixed
    }
}

fn at_quantile(runs: &[Shown], quantile: f64) -> Shown {
    let rank = quantile * (runs.len() - 1) as f64;
    let (low, high) = (&runs[rank.floor() as usize], &runs[rank.ceil() as usize]);
    between(low, high, rank.fract())
}

fn between(one: &Shown, other: &Shown, part: f64) -> Shown {
    let mix = |a: f64, b: f64| a + (b - a) * part;
    let some = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => Some(mix(a, b)),
        _ => a.or(b),
    };
    Shown {
        goodput: mix(one.goodput, other.goodput),
        limit: match part < 0.5 {
            true => one.limit,
            false => other.limit,
        },
        loaded: some(one.loaded, other.loaded),
        resent: some(one.resent, other.resent),
        idle: one
            .idle
            .iter()
            .zip(&other.idle)
            .map(|(a, b)| mix(*a, *b))
            .collect(),
        probes_sent: one.probes_sent.min(other.probes_sent),
    }
}
