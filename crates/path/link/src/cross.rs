//! Cross traffic that comes and goes: sources that are on and off, and short transfers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use netpath::{Class, Cross, CrossTraffic, PathSpec};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::{Bytes, Span, Time};

use crate::random::derive_seed;

/// What a source does when its time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrossDeed {
    /// It sends a datagram.
    Datagram,
    /// It begins a transfer of so many bytes.
    Transfer(Bytes),
    /// Nothing: it was switched on.
    Nothing,
}

/// A source of cross traffic that is not a stream without end; the same seed does the same things.
///
/// ```
/// use link::{CrossDeed, CrossSource};
/// use units::Bytes;
/// let path = netpath::PathSpec::from_toml("example", r#"
///     [forward]
///     rate = "100Mbit/s"
///     delay = "10ms"
///     queue = { kind = "drop-tail", limit = "125kB" }
///     [[cross]]
///     kind = "on-off"
///     sources = 1
///     rate = "12Mbit/s"
///     on = "1s"
///     off = "1s"
/// "#).unwrap();
/// let mut source = CrossSource::of(&path.cross[0], 0, Bytes::new(1500), 1).remove(0);
/// let on = source.begin();
/// assert_eq!(source.act(on), (CrossDeed::Nothing, on));
/// let (deed, next) = source.act(on);
/// // 12,000 bits at 12 Mbit/s take a millisecond.
/// assert_eq!((deed, next.since(on).as_nanos()), (CrossDeed::Datagram, 1_000_000));
/// ```
#[derive(Debug)]
pub struct CrossSource {
    entry: usize,
    class: Class,
    habit: Habit,
    random: Pcg64,
}

#[derive(Debug)]
enum Habit {
    OnOff {
        spacing: Span,
        on: Span,
        off: Span,
        /// When the present period of sending ends; `None` while it is off.
        until: Option<Time>,
    },
    Transfers {
        per_second: f64,
        /// The smallest transfer of the Pareto distribution, in bytes.
        least: f64,
        shape: f64,
    },
}

/// No transfer is larger than this: a heavy tail has no end, a run has.
const TRANSFER_MAX: f64 = 1e12;

/// Sets the seeds of sources apart from those of all else that a simulation draws for.
const SOURCE: u64 = 5;

impl CrossSource {
    /// The sources of entry number `entry` of a path file, from 0, whose datagrams have this size;
    /// streams are none.
    pub fn of(cross: &Cross, entry: usize, datagram: Bytes, seed: u64) -> Vec<CrossSource> {
        let source = |habit, number: u64| CrossSource {
            entry,
            class: cross.class,
            habit,
            random: Pcg64::seed_from_u64(derive_seed(
                seed,
                SOURCE,
                ((entry as u64) << 32) | number,
            )),
        };
        match cross.traffic {
            CrossTraffic::Streams { .. } => Vec::new(),
            CrossTraffic::OnOff {
                sources,
                rate,
                on,
                off,
            } => {
                let habit = || Habit::OnOff {
                    spacing: rate.time_to_send(datagram),
                    on,
                    off,
                    until: None,
                };
                let sources = 0..u64::from(sources);
                sources.map(|number| source(habit(), number)).collect()
            }
            CrossTraffic::Transfers {
                per_second,
                mean_size,
                shape,
                ..
            } => {
                let habit = Habit::Transfers {
                    per_second,
                    // The mean of a Pareto distribution is shape / (shape - 1) times its least
                    // value.
                    least: mean_size.get() as f64 * (shape - 1.0) / shape,
                    shape,
                };
                vec![source(habit, 0)]
            }
        }
    }

    /// Which of the path file's entries it belongs to, from 0.
    pub fn entry(&self) -> usize {
        self.entry
    }

    /// The class that its packets ask for.
    pub fn class(&self) -> Class {
        self.class
    }

    /// When it does something for the first time.
    pub fn begin(&mut self) -> Time {
        let mean = match self.habit {
            Habit::OnOff { off, .. } => off,
            Habit::Transfers { per_second, .. } => seconds(1.0 / per_second),
        };
        Time::ZERO + exponential(&mut self.random, mean)
    }

    /// Its time has come: what it does, and when the next time is.
    pub fn act(&mut self, now: Time) -> (CrossDeed, Time) {
        let random = &mut self.random;
        match &mut self.habit {
            Habit::Transfers {
                per_second,
                least,
                shape,
            } => {
                let size = *least / libm::pow(uniform(random), 1.0 / *shape);
                let size = Bytes::new(size.clamp(1.0, TRANSFER_MAX) as u64);
                let wait = exponential(random, seconds(1.0 / *per_second));
                (CrossDeed::Transfer(size), now + wait)
            }
            Habit::OnOff {
                spacing,
                on,
                off,
                until,
            } => match *until {
                None => {
                    *until = Some(now + exponential(random, *on));
                    (CrossDeed::Nothing, now)
                }
                Some(end) if now < end => (CrossDeed::Datagram, now + *spacing),
                Some(_) => {
                    *until = None;
                    (CrossDeed::Nothing, now + exponential(random, *off))
                }
            },
        }
    }
}

/// The datagrams of all sources of a path that are on and off, in order of time, without end.
#[derive(Debug)]
pub(crate) struct CrossDatagrams {
    size: Bytes,
    sources: Vec<CrossSource>,
    /// When each acts next, the first on top.
    due: BinaryHeap<Reverse<(Time, usize)>>,
}

impl CrossDatagrams {
    /// Those of `path`; `None` where it has none.
    pub(crate) fn of(path: &PathSpec, seed: u64) -> Option<Box<Self>> {
        let size = path.cross_datagram();
        let mut datagrams = CrossDatagrams {
            size,
            sources: Vec::new(),
            due: BinaryHeap::new(),
        };
        let groups = path.cross.iter().enumerate();
        for (entry, cross) in groups.filter(|(_, cross)| cross.traffic.is_datagrams()) {
            for mut source in CrossSource::of(cross, entry, size, seed) {
                // What comes later by the extra delay comes in the same gaps.
                let begin = source.begin() + cross.extra_delay;
                datagrams
                    .due
                    .push(Reverse((begin, datagrams.sources.len())));
                datagrams.sources.push(source);
            }
        }
        (!datagrams.sources.is_empty()).then(|| Box::new(datagrams))
    }

    /// When the next one may come.
    pub(crate) fn next_time(&self) -> Time {
        self.due.peek().map_or(Time::MAX, |Reverse((at, _))| *at)
    }

    /// What comes at [`next_time`](Self::next_time), if it is a datagram and no change of a source.
    pub(crate) fn act(&mut self) -> Option<(Bytes, Class)> {
        let mut top = self.due.peek_mut()?;
        let Reverse((now, index)) = *top;
        let source = self.sources.get_mut(index)?;
        let (deed, next) = source.act(now);
        *top = Reverse((next, index));
        (deed == CrossDeed::Datagram).then_some((self.size, source.class))
    }
}

/// Above 0 and up to 1.
fn uniform(random: &mut Pcg64) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

fn exponential(random: &mut Pcg64, mean: Span) -> Span {
    seconds(-libm::log(uniform(random)) * mean.as_secs_f64())
}

fn seconds(seconds: f64) -> Span {
    Span::from_secs_f64(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(cross: &str) -> CrossSource {
        let text = format!(
            "[forward]\nrate = \"100Mbit/s\"\ndelay = \"10ms\"\n\
             queue = {{ kind = \"drop-tail\", limit = \"100packets\" }}\n[[cross]]\n{cross}"
        );
        let path = PathSpec::from_toml("test", &text).unwrap();
        let mut sources = CrossSource::of(&path.cross[0], 0, Bytes::new(1500), 7);
        sources.remove(0)
    }

    /// What it does in so many seconds.
    fn deeds(source: &mut CrossSource, seconds: u64) -> Vec<CrossDeed> {
        let (mut at, mut deeds) = (source.begin(), Vec::new());
        while at < Time::from_nanos(seconds * 1_000_000_000) {
            let (deed, next) = source.act(at);
            deeds.push(deed);
            at = next;
        }
        deeds
    }

    #[test]
    fn a_source_that_is_on_half_the_time_sends_half_its_rate() {
        let mut source = source(
            "kind = \"on-off\"\nsources = 1\nrate = \"12Mbit/s\"\non = \"100ms\"\noff = \"100ms\"",
        );
        let deeds = deeds(&mut source, 200);
        let sent = deeds
            .iter()
            .filter(|deed| **deed == CrossDeed::Datagram)
            .count();
        // 1000 packets a second while on, 100,000 in 200 s; a thousand periods of each kind scatter
        // by 0.5 x sqrt(2 / 1000) = 2.2 % of the time: four of that.
        assert!((sent as f64 / 100_000.0 - 1.0).abs() < 0.18, "{sent}");
    }

    #[test]
    fn transfers_come_at_their_rate_and_mean_size() {
        let mut source = source(
            "kind = \"transfers\"\nper_second = 50\nmean_size = \"30kB\"\nshape = 2.5\n\
             window = \"64KiB\"",
        );
        let deeds = deeds(&mut source, 1000);
        let sizes = deeds.iter().filter_map(|deed| match deed {
            CrossDeed::Transfer(size) => Some(size.get() as f64),
            _ => None,
        });
        let sizes: Vec<f64> = sizes.collect();
        // 50,000 arrivals, deviation 224; sizes deviate by 0.9 of the mean each at this shape.
        assert!(
            (sizes.len() as f64 - 50_000.0).abs() < 900.0,
            "{}",
            sizes.len()
        );
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        assert!((mean / 30_000.0 - 1.0).abs() < 0.03, "{mean}");
    }
}
