//! Between the shapes of a sweep and what `sweep` works with, both ways: a sweep that was
//! interrupted goes on from its document.

use thiserror::Error;
use units::Span;

use super::SweepPlan;

/// A setting or a plan that no run could have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PlanError(String);

impl From<&::sweep::SweepPlan> for SweepPlan {
    fn from(plan: &::sweep::SweepPlan) -> Self {
        SweepPlan {
            settings: plan.settings.clone(),
            cycles: plan.cycles,
            durations_seconds: plan.durations.iter().map(|d| d.as_secs_f64()).collect(),
            unloaded_seconds: plan.unloaded.as_secs_f64(),
            seed: plan.seed,
        }
    }
}

impl TryFrom<&SweepPlan> for ::sweep::SweepPlan {
    type Error = PlanError;

    fn try_from(plan: &SweepPlan) -> Result<Self, PlanError> {
        let durations = plan.durations_seconds.iter().copied();
        let plan = ::sweep::SweepPlan {
            settings: plan.settings.clone(),
            cycles: plan.cycles,
            durations: durations.map(Span::from_secs_f64).collect(),
            unloaded: Span::from_secs_f64(plan.unloaded_seconds),
            seed: plan.seed,
        };
        let checked = plan.check();
        checked.map_err(|error| PlanError(error.to_string()))?;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Setting, Window};
    use observe::StreamCount;
    use units::{Bytes, Rate};

    fn plan() -> SweepPlan {
        let setting = |streams, window| Setting {
            direction: Direction::Reverse,
            congestion: Some("bbr".to_owned()),
            pacing: Some(Rate::from_bits_per_second(5_000_000)),
            mss: Some(1400),
            ..Setting::new(StreamCount::new(streams).unwrap(), window)
        };
        SweepPlan {
            settings: vec![
                setting(1, Window::Auto),
                setting(8, Window::Fixed(Bytes::from_kib(64))),
            ],
            cycles: 21,
            durations_seconds: vec![0.3],
            unloaded_seconds: 1.0,
            seed: u64::MAX,
        }
    }

    #[test]
    fn a_plan_comes_back_as_it_was() {
        let there = ::sweep::SweepPlan::try_from(&plan()).unwrap();
        assert_eq!(SweepPlan::from(&there), plan());
    }

    #[test]
    fn a_plan_that_no_run_could_follow_is_refused_with_its_value() {
        let mut wrong = plan();
        wrong.cycles = 0;
        assert!(::sweep::SweepPlan::try_from(&wrong).is_err());
    }
}
