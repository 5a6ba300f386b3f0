//! What each search promised beside what its settings carry.

use std::collections::HashMap;

use observe::{Limit, Setting};

use super::truth::{self, Question};
use super::{JUDGES, Place};
use crate::grid::jobs;
use crate::misses::name;
use crate::runs::{Length, Outcome, Runner};
use crate::score::regret;
use crate::search::{Found, Promise, Said};

/// An interval may miss the truth by so many standard errors of the truth.
const TRUTH_ERRORS: f64 = 2.0;
/// A promise that is kept to this share is kept.
pub const KEPT: f64 = 0.9;
/// Promised as less than this share of the recommended one, a default stream is passed over.
const PASSED_OVER: f64 = 0.7;
/// The share of the best that the knee has to reach: its 0.9, less 2 % of chance.
const KNEE: f64 = 0.88;
/// ... with this many times the fewest streams that do.
const KNEE_STREAMS: f64 = 2.0;
/// The share of the best that `max` has to reach.
pub const MAX: f64 = 0.98;

/// A search that was made.
#[derive(Debug)]
pub struct Asked {
    /// Its place among all.
    pub place: usize,
    pub objective: &'static str,
    pub found: Result<Found, String>,
}

/// A search with what came of it.
#[derive(Debug)]
pub struct Row {
    pub family: String,
    pub seed: u64,
    pub objective: &'static str,
    /// Why there is no answer, where there is none.
    pub scored: Result<Scored, String>,
}

/// An answer beside the truth.
#[derive(Debug)]
pub struct Scored {
    /// Its place among all.
    pub place: usize,
    pub found: Found,
    pub path: String,
    pub recommended: Kept,
    /// The row of one default stream, where it was sampled and counts.
    pub default: Option<Kept>,
    /// All rows of the table of samples that count.
    pub rows: Vec<Kept>,
    /// Whether the recommendation passes over a default stream that is as fast, or the reverse.
    pub promised_away: bool,
    /// Share of the best goodput that the recommended setting does not give.
    pub regret: f64,
    /// Whether it gives what the knee asks for, with at most twice the fewest streams.
    pub knee: bool,
    pub round_trips: f64,
    pub limit: Judged,
    pub limit_default: Judged,
}

/// A promise beside what a minute of the setting carries.
#[derive(Debug, Clone)]
pub struct Kept {
    pub setting: Setting,
    pub promise: Promise,
    pub truth: Truth,
}

/// What a minute carries, bits per second.
#[derive(Debug, Clone, Copy)]
pub struct Truth {
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

impl Kept {
    /// What is carried over what was promised.
    pub fn ratio(&self) -> f64 {
        self.truth.mean / self.promise.goodput.max(1.0)
    }

    /// Whether the interval holds the truth, where there is one.
    pub fn holds(&self) -> Option<bool> {
        let (low, high) = self.promise.interval?;
        let slack = TRUTH_ERRORS * self.truth.error;
        Some(low - slack <= self.truth.mean && self.truth.mean <= high + slack)
    }
}

/// A verdict beside the truth.
#[derive(Debug, Clone)]
pub struct Judged {
    pub said: Said,
    /// The verdicts that are right; none where there is no single truth.
    pub right: Vec<Limit>,
}

/// How a verdict stands beside the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It names a true cause first.
    Right,
    /// It names a true cause among those that look alike, or says that the numbers do not tell.
    Open,
    Wrong,
    /// There is no single truth.
    NoTruth,
}

impl Judged {
    /// Whether it is wrong and was said to be likelier than this.
    pub fn is_wrong_above(&self, probability: f64) -> bool {
        self.verdict() == Verdict::Wrong
            && self.said.probability.is_some_and(|one| one > probability)
    }

    pub fn verdict(&self) -> Verdict {
        let is_right = |limit: &Limit| self.right.contains(limit);
        let tells = |limit: &&Limit| !matches!(limit, Limit::Unknown | Limit::TooShort);
        match self.said.limits.first().filter(tells) {
            _ if self.right.is_empty() => Verdict::NoTruth,
            Some(first) if is_right(first) => Verdict::Right,
            Some(_) if !self.said.limits.iter().any(is_right) => Verdict::Wrong,
            _ => Verdict::Open,
        }
    }
}

/// Scores all searches.
///
/// # Errors
/// When a setting that was shown cannot be simulated.
pub fn all(places: &[Place], asked: Vec<Asked>, runner: &mut Runner) -> Result<Vec<Row>, String> {
    let truths = truths(places, &asked, runner)?;
    let limits = limits(places, &asked, runner)?;
    let row = |asked: Asked| {
        let place = &places[asked.place];
        let scored = asked
            .found
            .map(|found| score(place, asked.place, found, &truths, &limits));
        Row {
            family: place.family.clone(),
            seed: place.seed,
            objective: asked.objective,
            scored,
        }
    };
    Ok(asked.into_iter().map(row).collect())
}

/// What each setting of each place carries, by [`key`].
type Truths = HashMap<(usize, String), Truth>;
/// The verdicts that are right.
type Limits = HashMap<(usize, String), Vec<Limit>>;

fn key(place: usize, setting: &Setting) -> (usize, String) {
    (place, name(setting))
}

/// The settings that an answer is about: the recommended one, and the default stream.
fn answered(found: &Found) -> impl Iterator<Item = &Setting> {
    let default = found.default.and_then(|index| found.tried.get(index));
    std::iter::once(&found.setting).chain(default.map(|tried| &tried.setting))
}

/// All settings that it shows a figure for.
fn shown(found: &Found) -> impl Iterator<Item = &Setting> {
    let rows = found.tried.iter().filter(|tried| tried.promise.is_some());
    answered(found).chain(rows.map(|tried| &tried.setting))
}

fn truths(places: &[Place], asked: &[Asked], runner: &mut Runner) -> Result<Truths, String> {
    let mut settings: HashMap<(usize, String), &Setting> = HashMap::new();
    for one in asked {
        for setting in one.found.iter().flat_map(shown) {
            settings.insert(key(one.place, setting), setting);
        }
    }
    let settings: Vec<((usize, String), &Setting)> = settings.into_iter().collect();
    let jobs: Vec<_> = settings
        .iter()
        .flat_map(|((place, _), setting)| {
            let path = &places[*place].grid.path;
            jobs(
                path,
                std::slice::from_ref(*setting),
                &JUDGES,
                Length::Minute,
            )
        })
        .collect();
    let outcomes = runner.run("settings that were shown", &jobs)?;
    let truths = outcomes.chunks(JUDGES.len()).map(Truth::of);
    Ok(settings
        .into_iter()
        .map(|(key, _)| key)
        .zip(truths)
        .collect())
}

impl Truth {
    fn of(runs: &[Outcome]) -> Self {
        let goodputs: Vec<f64> = runs.iter().map(|run| run.goodput).collect();
        let spread = stats::standard_deviation(&goodputs).unwrap_or(0.0);
        Truth {
            mean: stats::mean(&goodputs).unwrap_or(0.0),
            error: spread / (goodputs.len() as f64).sqrt(),
        }
    }
}

fn limits(places: &[Place], asked: &[Asked], runner: &mut Runner) -> Result<Limits, String> {
    let mut questions = HashMap::new();
    for one in asked {
        for setting in one.found.iter().flat_map(answered) {
            let question = Question {
                path: places[one.place].grid.path.clone(),
                setting: setting.clone(),
            };
            questions.insert(key(one.place, setting), question);
        }
    }
    let (keys, questions): (Vec<_>, Vec<Question>) = questions.into_iter().unzip();
    let limits = truth::of(&questions, runner)?;
    Ok(keys.into_iter().zip(limits).collect())
}

fn score(place: &Place, number: usize, found: Found, truths: &Truths, limits: &Limits) -> Scored {
    let kept = |setting: &Setting, promise: Promise| Kept {
        setting: setting.clone(),
        promise,
        truth: truths[&key(number, setting)],
    };
    let judged = |setting: &Setting, said: &Said| Judged {
        said: said.clone(),
        right: limits[&key(number, setting)].clone(),
    };
    let tried = found.default.and_then(|index| found.tried.get(index));
    let default_setting = tried.map_or(&found.setting, |tried| &tried.setting);
    let default = tried.and_then(|tried| Some(kept(&tried.setting, tried.promise?)));
    let recommended = kept(&found.setting, found.promise);
    let rows = found.tried.iter();
    let rows = rows.filter_map(|tried| Some(kept(&tried.setting, tried.promise?)));
    let given = recommended.truth.mean;
    let best = place.grid.best.outcome.goodput.max(given);
    let fewest = f64::from(place.grid.fewest(KNEE));
    let streams = f64::from(found.setting.streams.get());
    Scored {
        path: place.grid.path.to_string(),
        promised_away: default
            .as_ref()
            .is_some_and(|default| is_promised_away(default, &recommended)),
        rows: rows.collect(),
        regret: regret(given, best),
        knee: given >= KNEE * best && streams <= KNEE_STREAMS * fewest,
        round_trips: found.seconds / place.grid.path.base_rtt().as_secs_f64(),
        limit: judged(&found.setting, &found.limits),
        limit_default: judged(default_setting, &found.limits_default),
        recommended,
        default,
        place: number,
        found,
    }
}

/// Whether one of both shares of the default stream in the recommended setting's goodput, what is
/// promised and what is true, is large and the other one small.
fn is_promised_away(default: &Kept, recommended: &Kept) -> bool {
    let promised = default.promise.goodput / recommended.promise.goodput.max(1.0);
    let carried = default.truth.mean / recommended.truth.mean.max(1.0);
    let apart = |much: f64, little: f64| much >= KEPT && little < PASSED_OVER;
    apart(carried, promised) || apart(promised, carried)
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::{StreamCount, Window};

    fn kept(promised: f64, interval: Option<(f64, f64)>, carried: f64) -> Kept {
        Kept {
            setting: Setting::new(StreamCount::ONE, Window::Auto),
            promise: Promise {
                goodput: promised,
                interval,
            },
            truth: Truth {
                mean: carried,
                error: 1.0,
            },
        }
    }

    #[test]
    fn an_interval_holds_a_truth_that_is_known_to_two_standard_errors() {
        assert_eq!(kept(100.0, Some((90.0, 110.0)), 88.5).holds(), Some(true));
        assert_eq!(kept(100.0, Some((90.0, 110.0)), 87.5).holds(), Some(false));
        assert_eq!(kept(100.0, None, 100.0).holds(), None);
    }

    #[test]
    fn a_default_stream_is_promised_away_where_promise_and_truth_part() {
        let best = kept(100.0, None, 100.0);
        assert!(is_promised_away(&kept(60.0, None, 95.0), &best));
        assert!(is_promised_away(&kept(95.0, None, 60.0), &best));
        assert!(!is_promised_away(&kept(75.0, None, 95.0), &best));
        assert!(!is_promised_away(&kept(60.0, None, 65.0), &best));
    }

    #[test]
    fn a_wrong_verdict_is_said_with_confidence_or_not() {
        let judged = |limit, probability| Judged {
            said: Said {
                limits: vec![limit],
                probability,
            },
            right: vec![Limit::Loss],
        };
        assert!(judged(Limit::Link, Some(0.9)).is_wrong_above(0.8));
        assert!(!judged(Limit::Link, Some(0.7)).is_wrong_above(0.8));
        assert!(!judged(Limit::Link, None).is_wrong_above(0.8));
        assert!(!judged(Limit::Loss, Some(0.9)).is_wrong_above(0.8));
    }

    #[test]
    fn a_verdict_is_right_only_when_it_names_a_true_cause_first() {
        use Limit::{Link, Loss, ShallowQueue, Unknown};
        let judged = |said: &[Limit], right: &[Limit]| {
            Judged {
                said: said.to_vec().into(),
                right: right.to_vec(),
            }
            .verdict()
        };
        assert_eq!(judged(&[Loss], &[Loss, Link]), Verdict::Right);
        assert_eq!(judged(&[ShallowQueue, Loss], &[Loss]), Verdict::Open);
        assert_eq!(judged(&[Unknown], &[Loss]), Verdict::Open);
        assert_eq!(judged(&[Link], &[Loss]), Verdict::Wrong);
        assert_eq!(judged(&[Link], &[]), Verdict::NoTruth);
    }
}
