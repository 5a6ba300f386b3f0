//! Others that begin during the copy, and what they got.

use rand_core::Rng;
use rand_pcg::Pcg32;
use sim::{Simulation, Variant};
use units::{Bytes, Rate, Span, Time};

use crate::cell::Cell;

/// Mean bytes of a short flow, the bound of a flow's size, and the shape of the Pareto distribution
/// that they are of.
const MEAN: f64 = 100e3;
const MOST: f64 = 5e6;
const SHAPE: f64 = 1.2;
/// Share of the link that short flows, or a video, ask for.
const LOAD: f64 = 0.25;
/// Most short flows a second.
const FLOWS_MAX: f64 = 50.0;
/// Seconds of the beginning.
const BEGINS: Span = Span::from_secs(10);

/// Who begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreground {
    Cubic,
    Bbr,
    FourCubic,
    /// Short CUBIC flows that come at random and ask for a quarter of the link.
    Web,
    /// A CUBIC flow that is paced at a quarter of the link.
    Video,
}

impl Foreground {
    pub const ALL: [Foreground; 5] = [
        Foreground::Cubic,
        Foreground::Bbr,
        Foreground::FourCubic,
        Foreground::Web,
        Foreground::Video,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Foreground::Cubic => "cubic",
            Foreground::Bbr => "bbr",
            Foreground::FourCubic => "4 x cubic",
            Foreground::Web => "web",
            Foreground::Video => "video",
        }
    }

    /// The foreground of a cell begins at `at`.
    pub fn begin(self, cell: &Cell, at: Time) -> Others {
        Others {
            kind: self,
            rate: cell.rate,
            random: Pcg32::new(cell.seed, 11),
            began: at,
            next: at,
            begun: Vec::new(),
            first: None,
        }
    }
}

/// The foreground while it runs.
pub struct Others {
    kind: Foreground,
    rate: f64,
    random: Pcg32,
    began: Time,
    /// When the next flow begins.
    next: Time,
    /// Number of each, and when it began.
    begun: Vec<(u32, Time)>,
    /// Bytes that arrived in its beginning.
    first: Option<u64>,
}

/// What the foreground got: bytes of its whole time and of its beginning; of short flows the
/// seconds that they took, less of them being more, of all and of those that began first.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub all: f64,
    pub first: f64,
    pub is_seconds: bool,
}

impl Others {
    /// What is due begins.
    pub fn step(&mut self, simulation: &mut Simulation, begun: &mut u32) {
        let now = simulation.now();
        if self.first.is_none() && now >= self.began + BEGINS {
            self.first = Some(self.arrived(simulation));
        }
        while now >= self.next {
            let (count, variant, bytes) = match self.kind {
                Foreground::Bbr => (1, Variant::Bbr, None),
                Foreground::FourCubic => (4, Variant::Cubic, None),
                Foreground::Web => (1, Variant::Cubic, Some(self.size())),
                Foreground::Cubic | Foreground::Video => (1, Variant::Cubic, None),
            };
            simulation
                .join_as(count, variant, bytes)
                .expect("streams may join");
            self.begun
                .extend((*begun..*begun + count).map(|one| (one, now)));
            *begun += count;
            if self.kind == Foreground::Video {
                let share = Rate::from_f64(LOAD * self.rate * 1e6);
                simulation.pace(*begun - 1, Some(share));
            }
            self.next = match self.kind {
                Foreground::Web => self.next + self.pause(),
                _ => Time::MAX,
            };
        }
    }

    fn arrived(&self, simulation: &Simulation) -> u64 {
        let states = self
            .begun
            .iter()
            .filter_map(|(one, _)| simulation.stream(*one));
        states.map(|state| state.arrived.get()).sum()
    }

    /// What it got in all.
    pub fn finish(self, simulation: Simulation) -> Seen {
        let end = simulation.now();
        let all = self.arrived(&simulation);
        if self.kind != Foreground::Web {
            return Seen {
                all: all as f64,
                first: self.first.unwrap_or(all) as f64,
                is_seconds: false,
            };
        }
        let shown = simulation.finish();
        let seconds = |until: Time| {
            let begun = self.begun.iter().filter(move |(_, at)| *at < until);
            let each = begun.map(|(one, at)| {
                let done = shown.streams[*one as usize].completed;
                let done = done.map_or(end, |done| Time::ZERO + done);
                done.since(*at).as_secs_f64()
            });
            each.sum::<f64>()
        };
        Seen {
            all: seconds(end),
            first: seconds(self.began + BEGINS),
            is_seconds: true,
        }
    }

    /// Above 0, at most 1.
    fn draw(&mut self) -> f64 {
        (f64::from(self.random.next_u32()) + 1.0) / (f64::from(u32::MAX) + 1.0)
    }

    fn size(&mut self) -> Bytes {
        let least = MEAN * (SHAPE - 1.0) / SHAPE;
        let size = (least * self.draw().powf(-1.0 / SHAPE)).min(MOST);
        Bytes::new(size as u64)
    }

    fn pause(&mut self) -> Span {
        let per_second = (LOAD * self.rate * 1e6 / 8.0 / MEAN).min(FLOWS_MAX);
        Span::from_secs_f64(-self.draw().ln() / per_second)
    }
}

impl Seen {
    /// Shares of `alone`: in all and of the beginning.
    pub fn kept(&self, alone: &Seen) -> (f64, f64) {
        let share = |mine: f64, theirs: f64| match self.is_seconds {
            true => theirs / mine,
            false => mine / theirs,
        };
        (share(self.all, alone.all), share(self.first, alone.first))
    }
}
