//! Sweeps made up from a formula with seeded noise.

use observe::{Direction, Limit, Setting, StreamCount, Window};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::Bytes;

use super::whole;
use crate::{Cell, CellFigures, Outcome, RoundTripFigures, StreamFigures};

/// Round trip of the idle path.
pub const IDLE: f64 = 0.165;

/// A path with its noise.
pub struct Made {
    pub random: Pcg64,
    /// Relative standard deviation of goodputs.
    pub noise: f64,
    pub cycles: u32,
    pub direction: Direction,
}

pub fn made(seed: u64) -> Made {
    Made {
        random: Pcg64::seed_from_u64(seed),
        noise: 0.03,
        cycles: 21,
        direction: Direction::Forward,
    }
}

pub fn setting(streams: u16, window_kib: u64, direction: Direction) -> Setting {
    let streams = StreamCount::new(streams.into()).unwrap();
    Setting {
        direction,
        ..Setting::new(streams, Window::Fixed(Bytes::from_kib(window_kib)))
    }
}

/// What one visit would show without noise.
#[derive(Debug, Clone, Copy)]
pub struct Truth {
    pub goodput: f64,
    /// Mean wait beside the streams; exponential, so that its IQR is ln 3 of it.
    pub added: f64,
    /// Share of their fair share that the last stream gets.
    pub last: f64,
}

impl Made {
    pub fn uniform(&mut self) -> f64 {
        (f64::from(self.random.next_u32()) + 0.5) / 2_f64.powi(32)
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Every setting in every cycle.
    pub fn cells(&mut self, grid: &[(u16, u64)], truth: impl Fn(u16, u64) -> Truth) -> Vec<Cell> {
        let mut cells = Vec::new();
        for cycle in 1..=self.cycles {
            for (streams, window) in grid {
                cells.push(self.cell(cycle, (*streams, *window), truth(*streams, *window)));
            }
        }
        cells
    }

    pub fn cell(&mut self, cycle: u32, (streams, window): (u16, u64), truth: Truth) -> Cell {
        let goodput = truth.goodput * (1.0 + self.noise * self.normal());
        let added = truth.added * (1.0 + self.noise * self.normal()).max(0.0);
        let fair = goodput / f64::from(streams);
        let stream = |number| StreamFigures {
            number,
            goodput_bits_per_second: Some(match number == streams {
                true => whole(truth.last * fair),
                false => whole(fair),
            }),
            retransmits: Some(3),
        };
        let idle = IDLE + 0.0001 * self.normal();
        Cell {
            cycle,
            setting: setting(streams, window, self.direction),
            outcome: Outcome::Measured(Box::new(CellFigures {
                goodput_bits_per_second: whole(goodput),
                interval: None,
                duration_seconds: 20.0,
                rtt_unloaded: Some(round_trips(idle, 0.0005)),
                rtt_loaded: Some(round_trips(IDLE, added)),
                retransmitted_ratio: Some(0.001),
                // 0.15 % for each Mbit/s, ten parts kernel and one user.
                cpu_user_ratio: Some(goodput * 1.5e-9 / 11.0),
                cpu_kernel_ratio: Some(goodput * 1.5e-9 * 10.0 / 11.0),
                cpu_far_user_ratio: None,
                cpu_far_kernel_ratio: None,
                limit: Some(Limit::Link),
                streams: (1..=streams).map(stream).collect(),
                losses_together_ratio: Some(0.8),
                losses_together_by_chance_ratio: Some(0.1),
            })),
        }
    }
}

/// Round trips of an exponential wait with this mean.
pub fn round_trips(idle: f64, wait: f64) -> RoundTripFigures {
    RoundTripFigures {
        min: idle,
        quartile1: idle + wait * (4.0_f64 / 3.0).ln(),
        median: idle + wait * 2_f64.ln(),
        quartile3: idle + wait * 4_f64.ln(),
        mean: idle + wait,
        max: idle + 5.0 * wait,
        loss: 0.0,
    }
}

/// 5 Mbit/s for each stream up to 40; a queue that grows with the streams beyond.
pub fn toy(streams: u16, _window: u64) -> Truth {
    let asked = 5e6 * f64::from(streams);
    Truth {
        goodput: asked.min(40e6),
        added: if asked < 40e6 {
            0.0005
        } else {
            0.005 * f64::from(streams - 7)
        },
        last: 1.0,
    }
}
