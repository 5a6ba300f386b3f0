//! Cross traffic that comes and goes: sources that are on and off, and short transfers.

use netpath::{Class, CrossTraffic};
use rand_core::Rng;
use rand_pcg::Pcg64;
use units::{Bytes, Span, Time};

use crate::seeds::{Purpose, generator};

/// What a source does when its time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It sends a datagram.
    Datagram,
    /// It begins a transfer of so many bytes.
    Transfer(Bytes),
    /// Nothing: it was switched on.
    Nothing,
}

/// A source of cross traffic that is not a stream without end.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its group of hosts.
    pub group: u16,
    pub class: Class,
    /// The most that a transfer keeps outstanding.
    pub window: Bytes,
    /// Which of the path file's entries it belongs to.
    pub cross: usize,
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

impl Source {
    /// The sources of one entry of a path file; streams are none.
    pub(crate) fn of(
        cross: &netpath::Cross,
        index: usize,
        datagram: Bytes,
        seed: u64,
    ) -> Vec<Source> {
        let source = |habit, window, number: u64| Source {
            group: index as u16 + 1,
            class: cross.class,
            window,
            cross: index,
            habit,
            random: generator(seed, Purpose::Source, ((index as u64) << 32) | number),
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
                sources
                    .map(|number| source(habit(), Bytes::ZERO, number))
                    .collect()
            }
            CrossTraffic::Transfers {
                per_second,
                mean_size,
                shape,
                window,
            } => {
                let habit = Habit::Transfers {
                    per_second,
                    // The mean of a Pareto distribution is shape / (shape - 1) times its least
                    // value.
                    least: mean_size.get() as f64 * (shape - 1.0) / shape,
                    shape,
                };
                vec![source(habit, window, 0)]
            }
        }
    }

    /// When it does something for the first time.
    pub(crate) fn begin(&mut self) -> Time {
        let mean = match self.habit {
            Habit::OnOff { off, .. } => off,
            Habit::Transfers { per_second, .. } => seconds(1.0 / per_second),
        };
        Time::ZERO + exponential(&mut self.random, mean)
    }

    /// Its time has come: what it does, and when the next time is.
    pub(crate) fn act(&mut self, now: Time) -> (Deed, Time) {
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
                (Deed::Transfer(size), now + wait)
            }
            Habit::OnOff {
                spacing,
                on,
                off,
                until,
            } => match *until {
                None => {
                    *until = Some(now + exponential(random, *on));
                    (Deed::Nothing, now)
                }
                Some(end) if now < end => (Deed::Datagram, now + *spacing),
                Some(_) => {
                    *until = None;
                    (Deed::Nothing, now + exponential(random, *off))
                }
            },
        }
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
    use netpath::PathSpec;

    fn source(cross: &str) -> Source {
        let text = format!(
            "[forward]\nrate = \"100Mbit/s\"\ndelay = \"10ms\"\n\
             queue = {{ kind = \"drop-tail\", limit = \"100packets\" }}\n[[cross]]\n{cross}"
        );
        let path = PathSpec::from_toml("test", &text).unwrap();
        let mut sources = Source::of(&path.cross[0], 0, Bytes::new(1500), 7);
        sources.remove(0)
    }

    /// What it does in so many seconds.
    fn deeds(source: &mut Source, seconds: u64) -> Vec<Deed> {
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
        let sent = deeds.iter().filter(|deed| **deed == Deed::Datagram).count();
        // 1000 packets a second while on, 100,000 in 200 s; a thousand periods of each kind scatter
        // by 0.5 x sqrt(2 / 1000) = 2.2 % of the time: four of that.
        assert!((sent as f64 / 100_000.0 - 1.0).abs() < 0.18, "{sent}");
    }

    #[test]
    fn transfers_come_at_their_rate_and_mean_size() {
        let mut source = source(
            "kind = \"transfers\"\nper_second = 50\nmean_size = \"30kB\"\nshape = 2.5\nwindow = \"64KiB\"",
        );
        let deeds = deeds(&mut source, 1000);
        let sizes = deeds.iter().filter_map(|deed| match deed {
            Deed::Transfer(size) => Some(size.get() as f64),
            _ => None,
        });
        let sizes: Vec<f64> = sizes.collect();
        // 50,000 arrivals, deviation 224; sizes deviate by 0.9 of the mean each at this shape.
        assert!(
            (sizes.len() as f64 - 50_000.0).abs() < 900.0,
            "{}",
            sizes.len()
        );
        let mean = stats::mean(&sizes).unwrap();
        assert!((mean / 30_000.0 - 1.0).abs() < 0.03, "{mean}");
    }
}
