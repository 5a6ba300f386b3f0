//! What decided, with its numbers, and how that is said.

use units::Rate;

use super::{Candidate, EQUAL};

/// A choice among candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The place of what was chosen among the candidates.
    pub index: usize,
    /// The place of the highest goodput.
    pub highest: usize,
    /// What decided.
    pub reason: Reason,
}

/// What decided. Candidates are named by their places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// No other carries more.
    Highest,
    /// Another carries more, by less than [`EQUAL`].
    EqualsHighest,
    /// It has the fewest streams of those that reach a share of the highest.
    Reaches {
        /// The share.
        share: f64,
        /// What carries most of those with fewer streams than the chosen one; they fall short of
        /// the share.
        fewer: Option<usize>,
        /// Whether the lower end of its interval reaches the share too; a value without an interval
        /// is taken for its own lower end.
        is_sure: bool,
    },
    /// It has the most goodput for each second of loaded round trip.
    Power,
    /// Beside it the round trip is shortest.
    LeastDelay,
}

impl Choice {
    /// Why it was chosen: a sentence for people without a full stop, computed from the candidates
    /// among which it was chosen.
    ///
    /// * `name`: what people call the candidate at a place, such as `4 streams`.
    /// ```
    /// # use models::{Candidate, Rule, choose};
    /// # use stats::Estimate;
    /// # use units::Rate;
    /// # let candidates = [(1, 5), (8, 45), (16, 47)].map(|(streams, mbit)| Candidate {
    /// #     streams,
    /// #     window_rank: 0,
    /// #     goodput: Estimate::bare(Rate::from_bits_per_second(mbit * 1_000_000)),
    /// #     rtt_loaded: None,
    /// #     cost: None,
    /// # });
    /// let choice = choose(&candidates, Rule::default()).unwrap();
    /// let name = |index: usize| format!("{} streams", candidates[index].streams);
    /// assert_eq!(
    ///     choice.because(&candidates, name),
    ///     "the fewest streams that reach 90 % of the highest goodput, 47.0 Mbit/s with 16 streams; \
    ///      with fewer, 1 streams carried most: 5.00 Mbit/s"
    /// );
    /// ```
    pub fn because(&self, candidates: &[Candidate], name: impl Fn(usize) -> String) -> String {
        let rate = |index: usize| rate(candidates, index).human();
        match self.reason {
            Reason::Highest => "the highest goodput of all that count".to_owned(),
            Reason::EqualsHighest => format!(
                "within {:.0} % of the highest goodput, {} with {}: runs of one setting differ by \
                    as much",
                EQUAL * 100.0,
                rate(self.highest),
                name(self.highest)
            ),
            Reason::Reaches { share, fewer, .. } => {
                let fewer = fewer.map(|fewer| {
                    format!(
                        "; with fewer, {} carried most: {}",
                        name(fewer),
                        rate(fewer)
                    )
                });
                let head = self.reaches(share, &rate(self.highest), &name(self.highest));
                format!(
                    "{head}{}{}",
                    fewer.unwrap_or_default(),
                    self.doubt(candidates)
                )
            }
            Reason::Power => format!(
                "the most goodput for each second of loaded round trip: {}{}",
                rate(self.index),
                self.delay(candidates)
            ),
            Reason::LeastDelay => {
                format!("it adds the least delay{}", self.delay(candidates))
            }
        }
    }

    fn reaches(&self, share: f64, rate: &str, name: &str) -> String {
        let percent = share * 100.0;
        match self.highest == self.index {
            true => format!(
                "the highest goodput of all that count, and no fewer streams reach {percent:.0} % \
                    of it"
            ),
            false => format!(
                "the fewest streams that reach {percent:.0} % of the highest goodput, {rate} with \
                    {name}"
            ),
        }
    }

    /// That the choice is not sure.
    fn doubt(&self, candidates: &[Candidate]) -> String {
        let Reason::Reaches { is_sure, share, .. } = self.reason else {
            return String::new();
        };
        let chosen = candidates.get(self.index);
        let chosen = chosen.filter(|_| !is_sure && self.highest != self.index);
        let doubt = chosen.map(|chosen| {
            format!(
                "; its interval goes down to {}, which is less than {:.0} % of that",
                chosen.goodput.low().human(),
                share * 100.0
            )
        });
        doubt.unwrap_or_default()
    }

    fn delay(&self, candidates: &[Candidate]) -> String {
        let rtt = candidates
            .get(self.index)
            .and_then(|chosen| chosen.rtt_loaded);
        rtt.map_or(String::new(), |rtt| format!(", at {}", rtt.human()))
    }
}

fn rate(candidates: &[Candidate], index: usize) -> Rate {
    candidates
        .get(index)
        .map_or(Rate::ZERO, |one| one.goodput.value)
}
