//! Which sample to recommend under each objective.

use observe::{StreamCount, Window};
use units::Span;

use crate::history::History;
use crate::plan::{GAIN_MIN, Objective};
use crate::strategy::Choice;
use crate::tuning::Sample;

/// Runs of one setting differ by this much, which no single run's interval can show.
const RUN_TO_RUN: f64 = 0.04;

/// A sample that may be recommended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub index: usize,
    pub sample: &'a Sample,
}

impl Candidate<'_> {
    pub fn mean(&self) -> f64 {
        self.sample.goodput().mean.as_f64()
    }

    /// What it surely carries: the lower end of its interval, or less.
    pub fn low(&self) -> f64 {
        self.sample.goodput().low().as_f64().min(self.allowed())
    }

    /// What another run of the same setting may show even when this one's interval is narrow.
    pub fn allowed(&self) -> f64 {
        (1.0 - RUN_TO_RUN) * self.mean()
    }

    /// Order of preference among equals: fewer streams, then automatic, then smaller windows.
    pub fn size(&self) -> (StreamCount, Window) {
        (self.sample.streams(), self.sample.setting.window)
    }

    fn power(&self) -> Option<f64> {
        let rtt = self.sample.summary.rtt_loaded?.as_secs_f64();
        (rtt > 0.0).then(|| self.mean() / rtt)
    }
}

/// Everything that carried data and is worth its window: at the same number of streams a fixed
/// window must beat the automatic one.
pub(crate) fn candidates(history: &History) -> Vec<Candidate<'_>> {
    let all = history
        .candidates()
        .into_iter()
        .map(|(index, sample)| Candidate { index, sample });
    let all: Vec<Candidate<'_>> = all.filter(|candidate| candidate.mean() > 0.0).collect();
    if !matches!(
        history.plan.objective,
        Objective::Knee { .. } | Objective::Max
    ) {
        return all;
    }
    let auto_is_as_good = |fixed: &Candidate<'_>| {
        fixed.sample.setting.window != Window::Auto
            && all.iter().any(|auto| {
                auto.size() == (fixed.sample.streams(), Window::Auto)
                    && fixed.mean() <= (1.0 + GAIN_MIN) * auto.mean()
            })
    };
    all.iter()
        .copied()
        .filter(|candidate| !auto_is_as_good(candidate))
        .collect()
}

/// The recommendation; `None` when nothing carried data.
pub(crate) fn choose(history: &History) -> Option<Choice> {
    let candidates = candidates(history);
    match history.plan.objective {
        Objective::Knee { share } => knee(&candidates, share),
        Objective::Max => highest(&candidates),
        Objective::Power => power(&candidates),
        Objective::Gentle {
            added_rtt_max,
            loss_max,
        } => gentle(history, &candidates, added_rtt_max, loss_max),
    }
}

fn best<'a>(candidates: &'a [Candidate<'a>]) -> Option<&'a Candidate<'a>> {
    candidates
        .iter()
        .max_by(|a, b| a.mean().total_cmp(&b.mean()))
}

/// The goodput that counts as the knee: a share of the highest mean.
pub(crate) fn threshold(candidates: &[Candidate<'_>], share: f64) -> Option<f64> {
    best(candidates).map(|best| share * best.mean())
}

/// The fewest streams whose interval lies above the threshold; the best where no interval does.
fn knee(candidates: &[Candidate<'_>], share: f64) -> Option<Choice> {
    let best = best(candidates)?;
    let threshold = share * best.mean();
    let reaching = candidates
        .iter()
        .filter(|candidate| candidate.low() >= threshold);
    let chosen = reaching
        .min_by_key(|candidate| candidate.size())
        .unwrap_or(best);
    let because = if chosen.index == best.index {
        format!(
            "nothing smaller surely reaches {:.0} % of it",
            share * 100.0
        )
    } else {
        format!(
            "the fewest streams that surely reach {:.0} % of the {} seen with {}",
            share * 100.0,
            best.sample.goodput().mean.human(),
            best.sample.streams(),
        )
    };
    Some(Choice {
        sample: chosen.index,
        because,
    })
}

fn highest(candidates: &[Candidate<'_>]) -> Option<Choice> {
    let best = best(candidates)?;
    let equal = candidates
        .iter()
        .filter(|candidate| candidate.mean() >= best.low());
    let chosen = equal
        .min_by_key(|candidate| candidate.size())
        .unwrap_or(best);
    let because = if chosen.index == best.index {
        "the highest goodput seen".to_owned()
    } else {
        format!(
            "chance alone separates it from the highest, {} with {} streams",
            best.sample.goodput().mean.human(),
            best.sample.streams(),
        )
    };
    Some(Choice {
        sample: chosen.index,
        because,
    })
}

fn power(candidates: &[Candidate<'_>]) -> Option<Choice> {
    let with_power = candidates
        .iter()
        .filter_map(|one| Some((one, one.power()?)));
    let best = with_power.max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((chosen, _)) = best else {
        return highest(candidates).map(|choice| Choice {
            because: format!("no round-trip time is known under load; {}", choice.because),
            ..choice
        });
    };
    Some(Choice {
        sample: chosen.index,
        because: "the most goodput per loaded round-trip time".to_owned(),
    })
}

fn gentle(
    history: &History,
    candidates: &[Candidate<'_>],
    added_rtt_max: Span,
    loss_max: f64,
) -> Option<Choice> {
    let added = |candidate: &&Candidate<'_>| added_rtt(history, candidate.sample);
    let within = |candidate: &&Candidate<'_>| {
        let loss = candidate.sample.retransmitted_share();
        added(candidate).is_none_or(|added| added <= added_rtt_max)
            && loss.is_none_or(|loss| loss <= loss_max)
    };
    let budget = format!(
        "{} of added delay and {} % of loss",
        added_rtt_max.human(),
        loss_max * 100.0
    );
    let kept: Vec<Candidate<'_>> = candidates.iter().filter(within).copied().collect();
    if let Some(chosen) = best(&kept) {
        let because = format!("the highest goodput within {budget}");
        return Some(Choice {
            sample: chosen.index,
            because,
        });
    }
    let least = candidates
        .iter()
        .min_by_key(|candidate| (added(candidate), candidate.size()))?;
    let because = format!("nothing keeps within {budget}; this adds the least delay");
    Some(Choice {
        sample: least.index,
        because,
    })
}

/// Delay that a sample added to the idle path's.
fn added_rtt(history: &History, sample: &Sample) -> Option<Span> {
    Some(sample.summary.rtt_loaded? - history.rtt_unloaded()?)
}
