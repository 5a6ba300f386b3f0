//! From a document's visits back to what the analysis works with.

use ::sweep as pure;

use super::SweepAnalysis;
use crate::Interval;
use crate::sweep::{CellFigures, RoundTripFigures, Sweep, SweepCell};

impl Sweep {
    /// What it shows: as the document says, or computed from its visits where it says nothing.
    pub fn analysis(&self) -> SweepAnalysis {
        self.analysis.clone().unwrap_or_else(|| self.analyse())
    }

    /// What the visits show. The seed of the plan decides which cycles are drawn for the intervals of the knees.
    pub fn analyse(&self) -> SweepAnalysis {
        (&pure::analyse(&self.visits(), self.plan.seed)).into()
    }

    /// The same sweep with its analysis beside the visits.
    pub fn analysed(self) -> Self {
        Sweep {
            analysis: Some(self.analyse()),
            ..self
        }
    }

    /// The visits. One with a setting that no run can have is left out.
    pub(crate) fn visits(&self) -> Vec<pure::Cell> {
        self.cells.iter().filter_map(cell).collect()
    }
}

/// `None` of a setting that no run can have, and of a visit that neither succeeded nor failed.
fn cell(cell: &SweepCell) -> Option<pure::Cell> {
    let outcome = match (&cell.figures, &cell.failed_because) {
        (Some(figures), _) => pure::Outcome::Measured(Box::new(measured(figures))),
        (None, Some(why)) => pure::Outcome::Failed(why.clone()),
        (None, None) => return None,
    };
    Some(pure::Cell {
        cycle: cell.cycle,
        setting: observe::Setting::try_from(&cell.setting).ok()?,
        outcome,
    })
}

fn measured(figures: &CellFigures) -> pure::CellFigures {
    let ends = |interval: Interval| {
        (
            interval.low_bits_per_second as f64,
            interval.high_bits_per_second as f64,
        )
    };
    let stream = |stream: &crate::sweep::StreamFigures| pure::StreamFigures {
        number: stream.number,
        goodput: stream.goodput_bits_per_second.map(|bits| bits as f64),
        retransmits: stream.retransmits,
    };
    pure::CellFigures {
        goodput: figures.goodput_bits_per_second as f64,
        goodput_interval: figures.interval.map(ends),
        duration: figures.duration_seconds,
        unloaded: figures.rtt_unloaded.as_ref().map(round_trips),
        loaded: figures.rtt_loaded.as_ref().map(round_trips),
        retransmitted: figures.retransmitted_ratio,
        cpu_user: figures.cpu_user_ratio,
        cpu_kernel: figures.cpu_kernel_ratio,
        limit: figures.limit.map(observe::Limit::from),
        streams: figures.streams.iter().map(stream).collect(),
        losses_together: figures.losses_together_ratio,
        losses_together_by_chance: figures.losses_together_by_chance_ratio,
    }
}

fn round_trips(figures: &RoundTripFigures) -> pure::RoundTripFigures {
    pure::RoundTripFigures {
        min: figures.min_seconds,
        quartile1: figures.quartile1_seconds,
        median: figures.median_seconds,
        quartile3: figures.quartile3_seconds,
        mean: figures.mean_seconds,
        max: figures.max_seconds,
        loss: figures.loss_ratio,
    }
}
