//! Which sample to recommend under each objective.
//!
//! The rules themselves are [`models::choose`]; this page says what counts as a candidate, how sure
//! a sample is of its goodput, and what to do where the rule finds nothing.

use models::ChoiceError;
use observe::{StreamCount, Window};
use stats::{Estimate, Interval};
use units::Rate;

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

    /// Its goodput with the interval widened to what another run may show.
    fn throughput(&self) -> Estimate<Rate> {
        let goodput = self.sample.goodput();
        let above = Rate::from_f64((1.0 + RUN_TO_RUN) * self.mean());
        Estimate {
            value: goodput.mean,
            interval: Some(Interval {
                low: Rate::from_f64(self.low()),
                high: goodput.high().max(above),
                confidence: stats::CONFIDENCE,
            }),
        }
    }

    fn for_rules(&self, windows: &[Window]) -> models::Candidate {
        let window = self.sample.setting.window;
        let rank = windows.iter().filter(|other| **other < window).count();
        models::Candidate {
            streams: u32::from(self.sample.streams().get()),
            window_rank: u32::try_from(rank).unwrap_or(u32::MAX),
            throughput: self.throughput(),
            rtt_loaded: self.sample.summary.rtt_loaded,
            loss: self.sample.retransmitted_share(),
        }
    }
}

/// Everything that carried data and is worth its window: at the same number of streams a fixed
/// window must beat the automatic one, unless its shorter queue is what is sought.
pub(crate) fn candidates(history: &History) -> Vec<Candidate<'_>> {
    let all = history.candidates().into_iter();
    let all = all.map(|(index, sample)| Candidate { index, sample });
    let all: Vec<Candidate<'_>> = all.filter(|candidate| candidate.mean() > 0.0).collect();
    if matches!(
        history.plan.objective,
        Objective::Power | Objective::Gentle { .. }
    ) {
        return all;
    }
    let worth = |fixed: &Candidate<'_>| {
        let auto = all
            .iter()
            .find(|auto| auto.size() == (fixed.sample.streams(), Window::Auto));
        let fixed_is_auto = fixed.sample.setting.window == Window::Auto;
        fixed_is_auto || auto.is_none_or(|auto| fixed.mean() > (1.0 + GAIN_MIN) * auto.mean())
    };
    all.iter().copied().filter(worth).collect()
}

/// The goodput that counts as the knee: a share of the highest mean.
pub(crate) fn threshold(candidates: &[Candidate<'_>], share: f64) -> Option<f64> {
    best(candidates).map(|best| share * best.mean())
}

fn best<'a>(candidates: &'a [Candidate<'a>]) -> Option<&'a Candidate<'a>> {
    candidates
        .iter()
        .max_by(|a, b| a.mean().total_cmp(&b.mean()))
}

/// The recommendation; `None` when nothing carried data.
pub(crate) fn choose(history: &History) -> Option<Choice> {
    let candidates = candidates(history);
    let by = |objective| pick(&candidates, objective);
    match history.plan.objective {
        Objective::Knee { share } => {
            let chosen = by(models::Objective::Knee(share)).ok()?;
            Some(choice(
                chosen,
                because_knee(chosen, best(&candidates)?, share),
            ))
        }
        Objective::Max => highest(&candidates, ""),
        Objective::Power => match by(models::Objective::Power) {
            Ok(chosen) => Some(choice(
                chosen,
                "the most goodput per loaded round-trip time".to_owned(),
            )),
            Err(_) => highest(&candidates, "no round-trip time is known under load; "),
        },
        Objective::Gentle { .. } => gentle(history, &candidates),
    }
}

fn choice(chosen: &Candidate<'_>, because: String) -> Choice {
    Choice {
        sample: chosen.index,
        because,
    }
}

fn pick<'a>(
    candidates: &'a [Candidate<'a>],
    objective: models::Objective,
) -> Result<&'a Candidate<'a>, ChoiceError> {
    let mut windows: Vec<Window> = candidates
        .iter()
        .map(|one| one.sample.setting.window)
        .collect();
    windows.sort();
    windows.dedup();
    let plain: Vec<models::Candidate> = candidates
        .iter()
        .map(|one| one.for_rules(&windows))
        .collect();
    let index = models::choose(&plain, objective)?;
    candidates.get(index).ok_or(ChoiceError::NoCandidates)
}

fn because_knee(chosen: &Candidate<'_>, best: &Candidate<'_>, share: f64) -> String {
    let percent = share * 100.0;
    if chosen.index == best.index {
        return format!(
            "the highest goodput seen, and nothing smaller surely reaches {percent:.0} % of it"
        );
    }
    format!(
        "the fewest streams that surely reach {percent:.0} % of the {} seen with {}",
        best.sample.goodput().mean.human(),
        best.sample.streams(),
    )
}

fn highest(candidates: &[Candidate<'_>], preface: &str) -> Option<Choice> {
    let best = best(candidates)?;
    let chosen = pick(candidates, models::Objective::Max).ok()?;
    let because = if chosen.index == best.index {
        format!("{preface}the highest goodput seen")
    } else {
        format!(
            "{preface}chance alone separates it from the highest, {} with {} streams",
            best.sample.goodput().mean.human(),
            best.sample.streams(),
        )
    };
    Some(choice(chosen, because))
}

/// Within the budget; else, of those whose delay is known, the one that adds least.
fn gentle(history: &History, candidates: &[Candidate<'_>]) -> Option<Choice> {
    let Objective::Gentle {
        added_rtt_max,
        loss_max,
    } = history.plan.objective
    else {
        return None;
    };
    let Some(rtt_unloaded) = history.rtt_unloaded().or(history.rtt_min()) else {
        return highest(candidates, "no round-trip time is known; ");
    };
    let objective = models::Objective::Gentle {
        rtt_unloaded,
        rtt_added_max: added_rtt_max,
        loss_max,
    };
    let budget = format!(
        "{} of added delay and {} % of loss",
        added_rtt_max.human(),
        loss_max * 100.0
    );
    if let Ok(chosen) = pick(candidates, objective) {
        return Some(choice(
            chosen,
            format!("the highest goodput within {budget}"),
        ));
    }
    let delay = |one: &&Candidate<'_>| one.sample.summary.rtt_loaded;
    let known = candidates.iter().filter(|one| delay(one).is_some());
    let Some(least) = known.min_by_key(|one| (delay(one), one.size())) else {
        return highest(candidates, "no round-trip time is known under load; ");
    };
    let because = format!("nothing is known to keep within {budget}; this adds the least delay");
    Some(choice(least, because))
}
