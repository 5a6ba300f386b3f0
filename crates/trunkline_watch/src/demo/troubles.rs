//! What goes wrong in the month of the demonstration.

use changes::{CauseKind, UnixTime};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use units::{Bytes, Span};

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

/// Something that goes wrong for a time.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// What it is, in words.
    pub what: String,
    /// When it begins.
    pub begins: UnixTime,
    /// When it ends.
    pub ends: UnixTime,
    pub(super) effect: Effect,
    pub(super) from: Vec<&'static str>,
    pub(super) to: Vec<&'static str>,
}

/// What it does to a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Effect {
    /// The path carries this share less.
    RateCut(f64),
    /// Packets take another route, which is longer by this much.
    Detour(Span),
    /// Packets are lost by chance.
    Loss(f64),
    /// The far host runs this kernel and grows receive buffers only so far.
    SmallBuffers(&'static str, Bytes),
    /// Others have this share of the sending host's processor.
    Stolen(f64),
    /// The far host does not answer, and makes no visits.
    Down,
}

const AMERICA: [&str; 2] = ["slac", "caltech"];
const EUROPE: [&str; 3] = ["cern", "in2p3", "ral"];
const ALL: [&str; 6] = ["slac", "caltech", "cern", "in2p3", "ral", "kek"];

impl Trouble {
    /// Whether it is there at `at` on the path from one laboratory to another.
    pub(super) fn is_on(&self, from: &str, to: &str, at: UnixTime) -> bool {
        self.touches(from, to) && self.begins <= at && at < self.ends
    }

    /// Whether it is one of this path.
    pub(super) fn touches(&self, from: &str, to: &str) -> bool {
        self.from.contains(&from) && self.to.contains(&to)
    }

    /// Whether a host makes no visits at `at`.
    pub(super) fn silences(&self, from: &str, at: UnixTime) -> bool {
        self.effect == Effect::Down
            && self.to.contains(&from)
            && self.begins <= at
            && at < self.ends
    }

    /// The cause that the pages should name first; `None` where a path has no data.
    pub fn cause(&self) -> Option<CauseKind> {
        match self.effect {
            Effect::RateCut(_) => Some(CauseKind::PathRate),
            Effect::Detour(_) => Some(CauseKind::Route),
            Effect::Loss(_) => Some(CauseKind::Loss),
            Effect::SmallBuffers(..) => Some(CauseKind::FarHost),
            Effect::Stolen(_) => Some(CauseKind::OwnProcessor),
            Effect::Down => None,
        }
    }
}

/// The troubles of the month that begins at `start`; the seed moves and sizes them.
pub(super) fn troubles(start: UnixTime, seed: u64) -> Vec<Trouble> {
    let mut draw = Draw(Pcg64Mcg::seed_from_u64(seed));
    let mut all = Vec::new();
    let mut add = |what: String,
                   day: u64,
                   hours: u64,
                   effect,
                   from: &[&'static str],
                   to: &[&'static str],
                   draw: &mut Draw| {
        let begins = start + Span::from_secs(day * DAY + draw.below(24) * HOUR);
        all.push(Trouble {
            what,
            begins,
            ends: begins + Span::from_secs(hours * HOUR),
            effect,
            from: from.to_vec(),
            to: to.to_vec(),
        });
    };
    let longer = Span::from_millis(8 + draw.below(12));
    add(
        format!("a longer route from America to Europe, +{}", longer.human()),
        8,
        7 * 24,
        Effect::Detour(longer),
        &AMERICA,
        &EUROPE,
        &mut draw,
    );
    let loss = 0.002 + draw.below(3) as f64 * 0.001;
    add(
        format!("{:.1} % loss on the way out of ral", loss * 100.0),
        12,
        48,
        Effect::Loss(loss),
        &["ral"],
        &["slac", "caltech", "kek"],
        &mut draw,
    );
    let cut = 0.3 + draw.below(3) as f64 * 0.1;
    add(
        format!("slac to kek carries {:.0} % less", cut * 100.0),
        17,
        20 * 24,
        Effect::RateCut(cut),
        &["slac"],
        &["kek"],
        &mut draw,
    );
    add(
        "a new kernel with small buffers at cern".to_owned(),
        20,
        20 * 24,
        Effect::SmallBuffers("6.12.0", Bytes::from_kib(96)),
        &AMERICA,
        &["cern"],
        &mut draw,
    );
    let hours = 7 + draw.below(6);
    add(
        format!("kek is down for {hours} h"),
        24,
        hours,
        Effect::Down,
        &ALL,
        &["kek"],
        &mut draw,
    );
    add(
        "half of in2p3's processor is taken by others".to_owned(),
        26,
        30,
        Effect::Stolen(0.5),
        &["in2p3"],
        &["cern", "ral", "slac"],
        &mut draw,
    );
    all
}

struct Draw(Pcg64Mcg);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }
}
