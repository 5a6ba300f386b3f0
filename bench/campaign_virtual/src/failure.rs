//! When hosts, links and workers are away: drawn, the same for every rule.

use units::{Span, Time};

use crate::random::Random;

/// How often a part goes away, and for how long: means of exponential distributions.
#[derive(Debug, Clone, Copy)]
pub struct Away {
    pub every: Span,
    pub lasts: Span,
}

/// What may go away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Link(usize),
    Host(usize),
    /// A process that runs copies, by its number over all hosts with files.
    Worker(usize),
}

/// How often parts of each kind go away.
#[derive(Debug, Clone, Copy)]
pub struct Failures {
    pub link: Away,
    pub host: Away,
    pub worker: Away,
}

impl Failures {
    /// Some thousand in three days with 400 links: each link twice, each host and worker thrice.
    pub const THREE_DAYS: Failures = Failures {
        link: Away {
            every: Span::from_secs(36 * 3_600),
            lasts: Span::from_secs(600),
        },
        host: Away {
            every: Span::from_secs(24 * 3_600),
            lasts: Span::from_secs(1_200),
        },
        worker: Away {
            every: Span::from_secs(24 * 3_600),
            lasts: Span::from_secs(300),
        },
    };

    fn of(&self, part: Part) -> (Away, u64, usize) {
        match part {
            Part::Link(at) => (self.link, 11, at),
            Part::Host(at) => (self.host, 12, at),
            Part::Worker(at) => (self.worker, 13, at),
        }
    }
}

/// The moments at which a part goes away and comes back, in turn, from the start on.
#[derive(Debug, Clone)]
pub struct Schedule {
    away: Away,
    random: Random,
    at: Time,
    is_away: bool,
}

impl Schedule {
    pub fn new(failures: &Failures, part: Part, seed: u64) -> Self {
        let (away, purpose, number) = failures.of(part);
        Schedule {
            away,
            random: Random::new(seed, purpose, number),
            at: Time::ZERO,
            is_away: false,
        }
    }

    /// Whether the moment after those that were told is one at which the part goes away.
    pub fn next_goes_away(&self) -> bool {
        !self.is_away
    }
}

impl Iterator for Schedule {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        let mean = match self.is_away {
            true => self.away.lasts,
            false => self.away.every,
        };
        let until = self.random.exponential(mean.as_secs_f64());
        self.at += Span::from_secs_f64(until);
        self.is_away = !self.is_away;
        Some(self.at)
    }
}

/// When `seconds` of the time are over in which none of these parts is away.
pub fn together(schedules: Vec<Schedule>, seconds: f64) -> Time {
    let mut parts: Vec<(Schedule, Time, bool)> = schedules
        .into_iter()
        .map(|mut schedule| {
            let first = schedule.next().unwrap_or(Time::MAX);
            (schedule, first, true)
        })
        .collect();
    let (mut now, mut left) = (Time::ZERO, Span::from_secs_f64(seconds));
    loop {
        let next = parts
            .iter()
            .map(|(_, at, _)| *at)
            .min()
            .unwrap_or(Time::MAX);
        if parts.iter().all(|(_, _, is_there)| *is_there) {
            if now + left <= next {
                return now + left;
            }
            left = left - next.since(now);
        }
        now = next;
        for (schedule, at, is_there) in &mut parts {
            if *at == now {
                (*at, *is_there) = (schedule.next().unwrap_or(Time::MAX), !*is_there);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_away_for_its_share_of_the_time() {
        let parts = [Part::Link(3), Part::Host(1)];
        let schedules = parts.map(|part| Schedule::new(&Failures::THREE_DAYS, part, 5));
        let day = 86_400.0;
        let end = together(schedules.to_vec(), 1_000.0 * day).as_secs_f64() / day;
        // 1 + 600 / 129600 + 1200 / 86400: 1.0185.
        assert!((1_014.0..1_024.0).contains(&end), "{end}");
        assert_eq!(together(Vec::new(), 7.0), Time::ZERO + Span::from_secs(7));
    }
}
