//! Which sample to recommend under each objective.
//!
//! Samples are compared by what a longer run of theirs is expected to have (`lasting.rs`). Runs of one
//! setting differ from each other by more than the interval of either tells, so samples within
//! [`EQUAL`] of each other count as equal and the smaller setting is preferred.
//!
//! The rules over plain measured points, with the sources, are [`models::choose`]; here they meet
//! samples of which some say less than others.

use observe::{Goodput, StreamCount, Window};

use crate::history::History;
use crate::lasting;
use crate::plan::{GAIN_MIN, Objective};
use crate::strategy::Choice;
use crate::tuning::Sample;
use crate::windows;

/// Goodputs that differ by less than this share of the higher one count as equal.
pub(crate) const EQUAL: f64 = 0.01;

/// Several streams may lose this many times what the path makes one stream lose: short samples of one loss
/// rate differ by as much.
const PATH_LOSS_ROOM: f64 = 1.5;

/// A sample that may be recommended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub index: usize,
    pub sample: &'a Sample,
    /// Bits per second that a long run of it is expected to have.
    pub expected: f64,
}

impl Candidate<'_> {
    /// Order of preference among equals: fewer streams, then automatic, then smaller windows.
    pub fn size(&self) -> (StreamCount, Window) {
        (self.sample.streams(), self.sample.setting.window)
    }

    fn goodput(&self) -> Goodput {
        self.sample.goodput()
    }
}

/// Everything that carried data and is worth its window: at the same number of streams a fixed
/// window must beat the automatic one, unless its shorter queue is what is sought.
pub(crate) fn candidates(history: &History) -> Vec<Candidate<'_>> {
    let all = history.candidates().into_iter();
    let all = all.map(|(index, sample)| Candidate {
        index,
        sample,
        expected: lasting::expected(history, sample),
    });
    let all: Vec<Candidate<'_>> = all.filter(|candidate| candidate.expected > 0.0).collect();
    if minds_delay(history.plan.objective) {
        return all;
    }
    all.iter()
        .copied()
        .filter(|one| is_worth_its_window(one, &all))
        .collect()
}

fn minds_delay(objective: Objective) -> bool {
    matches!(objective, Objective::Power | Objective::Gentle { .. })
}

fn is_worth_its_window(one: &Candidate<'_>, all: &[Candidate<'_>]) -> bool {
    let auto = (one.sample.streams(), Window::Auto);
    let auto = all.iter().find(|other| other.size() == auto);
    one.sample.setting.window == Window::Auto
        || auto.is_none_or(|auto| one.expected > (1.0 + GAIN_MIN) * auto.expected)
}

/// The recommendation; `None` when nothing carried data.
pub(crate) fn choose(history: &History) -> Option<Choice> {
    let candidates = candidates(history);
    match history.plan.objective {
        Objective::Max => max(&candidates),
        Objective::Knee { share } => knee(&candidates, share),
        Objective::Power => power(&candidates).or_else(|| {
            let preface = "no round-trip time is known under load; ";
            max(&candidates).map(|choice| prefaced(preface, choice))
        }),
        Objective::Gentle {
            added_rtt_max,
            loss_max,
        } => gentle(
            history,
            &candidates,
            &Budget {
                added_rtt_max,
                loss_max,
            },
        ),
    }
}

/// The highest expected goodput of any.
pub(crate) fn highest<'a, 'b>(candidates: &'b [Candidate<'a>]) -> Option<&'b Candidate<'a>> {
    candidates
        .iter()
        .max_by(|a, b| a.expected.total_cmp(&b.expected))
}

fn smallest_reaching<'a, 'b>(
    candidates: &'b [Candidate<'a>],
    rate: f64,
) -> Option<&'b Candidate<'a>> {
    let reaching = candidates.iter().filter(|one| one.expected >= rate);
    reaching.min_by_key(|one| one.size())
}

fn choice(chosen: &Candidate<'_>, because: String) -> Option<Choice> {
    Some(Choice {
        sample: chosen.index,
        because,
    })
}

fn prefaced(preface: &str, choice: Choice) -> Choice {
    Choice {
        because: format!("{preface}{}", choice.because),
        ..choice
    }
}

fn max(candidates: &[Candidate<'_>]) -> Option<Choice> {
    let best = highest(candidates)?;
    let chosen = smallest_reaching(candidates, (1.0 - EQUAL) * best.expected)?;
    let because = match chosen.index == best.index {
        true => "the highest goodput seen".to_owned(),
        false => format!(
            "chance alone separates it from the highest, {} with {}",
            best.goodput().mean.human(),
            streams(best),
        ),
    };
    choice(chosen, because)
}

fn knee(candidates: &[Candidate<'_>], share: f64) -> Option<Choice> {
    let best = highest(candidates)?;
    let chosen = smallest_reaching(candidates, (1.0 - EQUAL) * share * best.expected)?;
    let percent = share * 100.0;
    let because = match chosen.index == best.index {
        true => {
            format!("the highest goodput seen, and nothing smaller reaches {percent:.0} % of it")
        }
        false => format!(
            "the fewest streams that reach {percent:.0} % of the {} seen with {}",
            best.goodput().mean.human(),
            streams(best),
        ),
    };
    choice(chosen, because)
}

fn streams(one: &Candidate<'_>) -> String {
    match one.sample.streams() {
        StreamCount::ONE => "one stream".to_owned(),
        several => format!("{several} streams"),
    }
}

fn power(candidates: &[Candidate<'_>]) -> Option<Choice> {
    let power = |one: &Candidate<'_>| {
        let rtt = one.sample.summary.rtt_loaded?.as_secs_f64();
        (rtt > 0.0).then(|| one.expected / rtt)
    };
    let known: Vec<(f64, &Candidate<'_>)> = candidates
        .iter()
        .filter_map(|one| Some((power(one)?, one)))
        .collect();
    let best = known.iter().map(|(power, _)| *power).reduce(f64::max)?;
    let equal = known
        .iter()
        .filter(|(power, _)| *power >= (1.0 - EQUAL) * best);
    let (_, chosen) = equal.min_by_key(|(_, one)| one.size())?;
    choice(
        chosen,
        "the most goodput per loaded round-trip time".to_owned(),
    )
}

/// What the objective gentle allows.
struct Budget {
    added_rtt_max: units::Span,
    loss_max: f64,
}

/// Within the budget; else, of those whose delay is known, the one that adds least.
fn gentle(history: &History, candidates: &[Candidate<'_>], budget: &Budget) -> Option<Choice> {
    let Some(idle) = history.rtt_unloaded().or(history.rtt_min()) else {
        return max(candidates).map(|choice| prefaced("no round-trip time is known; ", choice));
    };
    let known = candidates
        .iter()
        .filter(|one| one.sample.summary.rtt_loaded.is_some());
    let known: Vec<Candidate<'_>> = known.copied().collect();
    let words = format!(
        "{} of added delay and {} % of loss",
        budget.added_rtt_max.human(),
        budget.loss_max * 100.0
    );
    let within: Vec<Candidate<'_>> = known
        .iter()
        .copied()
        .filter(|one| keeps(history, one.sample, idle, budget))
        .collect();
    if let Some(chosen) = max(&within) {
        let because = format!("the highest goodput within {words}");
        return Some(Choice { because, ..chosen });
    }
    let Some(least) = known
        .iter()
        .min_by_key(|one| (one.sample.summary.rtt_loaded, one.size()))
    else {
        let preface = "no round-trip time is known under load; ";
        return max(candidates).map(|choice| prefaced(preface, choice));
    };
    let because = format!("nothing is known to keep within {words}; this adds the least delay");
    choice(least, because)
}

/// Whether a sample is known to stay within the budget.
///
/// Windows that the kernel grows may not have grown to their full length yet, so their queue has to be
/// half of what is allowed; and where they have not lost anything, nothing will stop them before the
/// queue is full. Losses that one stream has as well, on a path where nobody else keeps a queue, are
/// the path's and not caused by more streams.
fn keeps(history: &History, sample: &Sample, idle: units::Span, budget: &Budget) -> bool {
    let times = sample.summary.rtt_loaded.zip(sample.retransmitted_share());
    let Some((loaded, lost)) = times else {
        return false;
    };
    let grows = sample.setting.window == Window::Auto && !windows::buffer_binds(history, sample);
    let queueing = match grows {
        true => (loaded - idle).times(2),
        false => loaded - idle,
    };
    let still_grows = grows && lost == 0.0;
    let allowed = budget.loss_max.max(PATH_LOSS_ROOM * history.path_loss());
    !still_grows && queueing <= budget.added_rtt_max && lost <= allowed
}
