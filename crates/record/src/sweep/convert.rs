//! Between the shapes of a sweep and what `sweep` works with, both ways: a sweep that was
//! interrupted goes on from its document.

use observe::StreamCount;
use thiserror::Error;
use units::{Rate, Span};

use super::{CellFigures, StreamFigures, SweepPlan};
use crate::{Interval, Setting};

/// A setting or a plan that no run could have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PlanError(String);

impl From<&::sweep::SweepPlan> for SweepPlan {
    fn from(plan: &::sweep::SweepPlan) -> Self {
        SweepPlan {
            settings: plan.settings.iter().map(Setting::from).collect(),
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
        let settings = plan.settings.iter().map(observe::Setting::try_from);
        let durations = plan.durations_seconds.iter().copied();
        let plan = ::sweep::SweepPlan {
            settings: settings.collect::<Result<_, _>>()?,
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

impl TryFrom<&Setting> for observe::Setting {
    type Error = PlanError;

    fn try_from(setting: &Setting) -> Result<Self, PlanError> {
        let streams = StreamCount::new(setting.streams.into());
        let mss = setting.mss_bytes.map(u16::try_from).transpose();
        let pacing = setting.pacing_bits_per_second;
        Ok(observe::Setting {
            streams: streams.map_err(|error| PlanError(error.to_string()))?,
            window: setting.window.into(),
            direction: setting.direction,
            congestion: setting.congestion.clone(),
            pacing: pacing.map(Rate::from_bits_per_second),
            mss: mss.map_err(|_| PlanError("a segment size above 65535 bytes".to_owned()))?,
        })
    }
}

impl From<&::sweep::CellFigures> for CellFigures {
    fn from(figures: &::sweep::CellFigures) -> Self {
        let interval = figures.goodput_interval;
        CellFigures {
            goodput_bits_per_second: whole(figures.goodput),
            interval: interval.map(|(low, high)| Interval {
                low_bits_per_second: whole(low),
                high_bits_per_second: whole(high),
                confidence: stats::CONFIDENCE,
            }),
            duration_seconds: figures.duration,
            rtt_unloaded: figures.unloaded,
            rtt_loaded: figures.loaded,
            retransmitted_ratio: figures.retransmitted,
            cpu_user_ratio: figures.cpu_user,
            cpu_kernel_ratio: figures.cpu_kernel,
            limit: figures.limit,
            losses_together_ratio: figures.losses_together,
            losses_together_by_chance_ratio: figures.losses_together_by_chance,
            streams: figures.streams.iter().map(StreamFigures::from).collect(),
        }
    }
}

impl From<&::sweep::StreamFigures> for StreamFigures {
    fn from(figures: &::sweep::StreamFigures) -> Self {
        StreamFigures {
            number: figures.number,
            goodput_bits_per_second: figures.goodput.map(whole),
            retransmits: figures.retransmits,
        }
    }
}

fn whole(bits_per_second: f64) -> u64 {
    Rate::from_f64(bits_per_second).bits_per_second()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Window};

    fn plan() -> SweepPlan {
        let setting = |streams, window| Setting {
            streams,
            window,
            direction: Direction::Reverse,
            congestion: Some("bbr".to_owned()),
            pacing_bits_per_second: Some(5_000_000),
            mss_bytes: Some(1400),
        };
        SweepPlan {
            settings: vec![setting(1, Window::Auto), setting(8, Window::Bytes(65_536))],
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
        wrong.settings[1].streams = 500;
        let error = ::sweep::SweepPlan::try_from(&wrong).unwrap_err();
        assert_eq!(error.to_string(), "500 streams are not between 1 and 128");
        let mut wrong = plan();
        wrong.cycles = 0;
        assert!(::sweep::SweepPlan::try_from(&wrong).is_err());
    }
}
