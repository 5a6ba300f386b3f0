//! A made-up sweep: windows against streams in cycles, on the toy path.
//!
//! Small windows grow in proportion to the streams until the link is nearly full; there round trips
//! rise, losses begin, and cells scatter more. The rate variability of the visits is exponential
//! around a mean that grows with the load, and the kernel takes 0.145 % of a processor for each
//! Mbit/s.

use jiff::{SignedDuration, Timestamp};
use observe::StreamCount;
use units::{Bytes, Rate, Span};

use super::run::Noise;
use super::{on_path, origin, target};
use crate::sweep::{CellFigures, RoundTripFigures, StreamFigures};
use crate::{
    Direction, Document, Interval, Limit, Setting, Sweep, SweepCell, SweepPlan, Target, Window,
};

/// What a made-up sweep is like.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepCase {
    /// Windows of the grid.
    pub windows: Vec<Window>,
    /// Numbers of streams of the grid.
    pub streams: Vec<u16>,
    /// Directions of the grid.
    pub directions: Vec<Direction>,
    /// How often each setting is visited.
    pub cycles: u32,
    /// How long visits last, taken in turn.
    pub durations: Vec<f64>,
    /// One in so many visits fails; zero for none.
    pub failing: u32,
    /// Same seed, same sweep.
    pub seed: u64,
}

impl SweepCase {
    /// Four windows from 8 to 256 KiB with 1 to 20 streams, in five cycles of 20 s.
    pub fn windows_against_streams(seed: u64) -> Self {
        SweepCase {
            windows: [8, 16, 55, 256]
                .map(|kib| Window::Fixed(Bytes::from_kib(kib)))
                .into(),
            streams: (1..=20).collect(),
            directions: vec![Direction::Forward],
            cycles: 5,
            durations: vec![20.0],
            failing: 0,
            seed,
        }
    }

    fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for &direction in &self.directions {
            for &window in &self.windows {
                settings.extend(self.streams.iter().map(|&streams| Setting {
                    direction,
                    ..Setting::new(
                        StreamCount::new(streams.into()).expect("from 1 to 128"),
                        window,
                    )
                }));
            }
        }
        settings
    }
}

const IDLE: f64 = 0.165;
const LINK: f64 = 42.3e6;
/// More than the visit itself: connections, and probes of the idle path.
const BETWEEN_SECONDS: f64 = 7.0;

/// A sweep document of `case`, visits shuffled in each cycle.
pub fn sweep(case: &SweepCase) -> Document<Sweep> {
    let mut noise = Noise::new(case.seed);
    let settings = case.settings();
    let mut visits = Vec::new();
    for cycle in 1..=case.cycles {
        let mut order: Vec<(f64, &Setting)> = settings.iter().map(|s| (noise.unit(), s)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        visits.extend(order.into_iter().map(|(_, setting)| (cycle, setting)));
    }
    let visit = |(number, (cycle, setting)): (u32, (u32, &Setting))| {
        cell(case, number, cycle, setting, &mut noise)
    };
    let cells = (1..).zip(visits).map(visit).collect();
    let seconds = case.durations.iter().copied();
    let body = Sweep {
        target: on_path(Target::from(&target())),
        plan: SweepPlan {
            settings,
            cycles: case.cycles,
            durations: seconds.map(Span::from_secs_f64).collect(),
            unloaded: Span::from_secs(5),
            seed: case.seed,
            via: units::Via::default(),
            user: None,
        },
        cut_because: None,
        cells,
        beside: Vec::new(),
        analysis: None,
    };
    let words = "trunkline sweep emu:slac-cern --streams 1..20 --windows 8k,16k,55k,256k --cycles \
        5 --duration 20s";
    Document::new(origin(words, case.seed), body)
}

fn cell(
    case: &SweepCase,
    number: u32,
    cycle: u32,
    setting: &Setting,
    noise: &mut Noise,
) -> SweepCell {
    let turn = number as usize % case.durations.len().max(1);
    let duration = case.durations.get(turn).copied().unwrap_or(20.0);
    let failed = case.failing > 0 && number.is_multiple_of(case.failing);
    let figures = figures(setting, number, duration, noise);
    SweepCell {
        number,
        cycle,
        setting: setting.clone(),
        duration_seconds: duration,
        started: started(number, duration + BETWEEN_SECONDS),
        run: (!failed).then(|| 100 + i64::from(number)),
        failed_because: failed.then(|| {
            "the server was busy with another test for 60 s, and 5 attempts were refused".to_owned()
        }),
        figures: (!failed).then_some(figures),
    }
}

fn started(number: u32, apart: f64) -> String {
    let first = Timestamp::from_second(1_773_500_966).unwrap_or(Timestamp::UNIX_EPOCH);
    let later = SignedDuration::from_secs_f64(apart * f64::from(number - 1));
    let at = first.checked_add(later).unwrap_or(first);
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// What a setting asks of the path and what it gets.
struct Load {
    /// What the streams would take of an endless link, over what the link carries.
    wanted: f64,
    goodput: f64,
    /// Share of the link in use.
    share: f64,
    window_is_full: bool,
}

impl Load {
    fn of(setting: &Setting, noise: &mut Noise) -> Self {
        let by_window = match setting.window {
            Window::Auto => 20e6,
            Window::Fixed(bytes) => bytes.get() as f64 * 8.0 / IDLE,
        };
        let each = by_window.min(4.9e6);
        let wanted = each * f64::from(setting.streams.get()) / LINK;
        // Bends over softly where the link fills.
        let share = wanted / (1.0 + wanted.powi(5)).powf(0.2);
        let back = if setting.direction == Direction::Reverse {
            0.6
        } else {
            1.0
        };
        Load {
            wanted,
            goodput: LINK * share * back * noise.factor(0.02 + 0.12 * share.powi(4)),
            share,
            window_is_full: by_window < 4.9e6,
        }
    }

    fn limit(&self) -> Limit {
        match (self.wanted > 1.0, self.window_is_full) {
            (true, _) => Limit::Link,
            (false, true) => Limit::ReceiveBuffer,
            (false, false) => Limit::Loss,
        }
    }
}

fn figures(setting: &Setting, number: u32, duration: f64, noise: &mut Noise) -> CellFigures {
    let load = Load::of(setting, noise);
    let bits = |rate: f64| rate as u64;
    let kernel = load.goodput / 1e6
        * 0.00145
        * (1.0 + 0.004 * f64::from(setting.streams.get()))
        * noise.factor(0.08);
    let lost_again = 0.0003 + 0.008 * (load.wanted - 0.9).max(0.0);
    CellFigures {
        goodput_bits_per_second: bits(load.goodput),
        interval: Some(Interval {
            low: Rate::from_f64(load.goodput * 0.97),
            high: Rate::from_f64(load.goodput * 1.03),
            confidence: 0.95,
        }),
        duration_seconds: duration,
        rtt_unloaded: Some(round_trips(0.004, 50, 0.0, noise)),
        rtt_loaded: Some(round_trips(
            0.02 + 0.13 * load.share.powi(4),
            200,
            0.001 + 0.004 * load.share,
            noise,
        )),
        retransmitted_ratio: Some(lost_again * noise.factor(0.5)),
        cpu_user_ratio: Some(load.goodput / 1e6 * 0.000145 * noise.factor(0.2)),
        cpu_kernel_ratio: Some(kernel),
        cpu_far_user_ratio: None,
        cpu_far_kernel_ratio: Some(kernel * 1.2),
        limit: Some(load.limit()),
        losses_together_ratio: (setting.streams > StreamCount::ONE && load.wanted > 1.0)
            .then(|| 0.6 * noise.factor(0.4)),
        losses_together_by_chance_ratio: None,
        streams: streams(setting, number, &load, noise),
    }
}

/// Round trips whose variability is exponential around `mean_variability`, of so many probes.
fn round_trips(
    mean_variability: f64,
    probes: u32,
    loss: f64,
    noise: &mut Noise,
) -> RoundTripFigures {
    let draw = -(1.0 - noise.unit()).ln();
    let variability = (mean_variability * draw).min(0.6);
    let waited = IDLE * variability / (1.0 - variability);
    let lost = (0..probes).filter(|_| noise.unit() < loss).count();
    // Waits within a visit are exponential too: their quantiles in shares of the mean.
    RoundTripFigures {
        min: IDLE,
        quartile1: IDLE + 0.288 * waited,
        median: IDLE + 0.693 * waited,
        quartile3: IDLE + 1.386 * waited,
        mean: IDLE + waited,
        max: IDLE + f64::from(probes).ln() * waited,
        loss: lost as f64 / f64::from(probes),
    }
}

/// Nearly equal shares; in some visits the first stream gets a third of its own.
fn streams(setting: &Setting, number: u32, load: &Load, noise: &mut Noise) -> Vec<StreamFigures> {
    let fair = load.goodput / f64::from(setting.streams.get());
    let starves = setting.streams.get() > 3 && number.is_multiple_of(9);
    let stream = |stream: u16| {
        let share = if starves && stream == 1 { 0.33 } else { 1.0 };
        StreamFigures {
            number: stream,
            goodput_bits_per_second: Some((fair * share * noise.factor(0.12)) as u64),
            retransmits: Some((30.0 * load.wanted * noise.factor(0.5)) as u64),
        }
    };
    (1..=setting.streams.get()).map(stream).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::AnyDocument;

    #[test]
    fn every_setting_is_visited_once_in_each_cycle() {
        let case = SweepCase::windows_against_streams(7);
        let document = sweep(&case);
        assert_eq!(document, sweep(&case));
        let cells = &document.body.cells;
        assert_eq!(cells.len(), 400);
        for setting in &document.body.plan.settings {
            let visits = cells.iter().filter(|cell| &cell.setting == setting);
            let cycles: Vec<u32> = visits.map(|cell| cell.cycle).collect();
            assert_eq!(cycles, [1, 2, 3, 4, 5]);
        }
    }

    #[test]
    fn a_made_up_sweep_comes_back_from_its_json() {
        let case = SweepCase {
            failing: 9,
            ..SweepCase::windows_against_streams(7)
        };
        let document = sweep(&case);
        let read = crate::parse(Path::new("sweep.json"), &document.to_json()).unwrap();
        let AnyDocument::Sweep(back) = read else {
            panic!("not a sweep: {}", read.schema().name());
        };
        assert_eq!(*back, document);
    }
}
