//! The figures of one visit.

use observe::{Direction, Setting};

use crate::{CellFigures, RoundTripFigures};

/// One visit that was measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit<'a> {
    pub cycle: u32,
    pub setting: &'a Setting,
    pub figures: &'a CellFigures,
}

impl Visit<'_> {
    pub fn streams(&self) -> u16 {
        self.setting.streams.get()
    }

    pub fn goodput(&self) -> f64 {
        self.figures.goodput_bits_per_second as f64
    }

    /// dRTT: mean loaded less mean unloaded round trip.
    pub fn added(&self) -> Option<f64> {
        Some(self.figures.rtt_loaded?.mean - self.figures.rtt_unloaded?.mean)
    }

    pub fn variability_unloaded(&self) -> Option<f64> {
        variability(&self.figures.rtt_unloaded?)
    }

    pub fn variability_loaded(&self) -> Option<f64> {
        variability(&self.figures.rtt_loaded?)
    }

    /// Interquartile range of the loaded round trips.
    pub fn loaded_range(&self) -> Option<f64> {
        self.figures.rtt_loaded.as_ref().map(range)
    }

    /// Interquartile range of the unloaded round trips.
    pub fn unloaded_range(&self) -> Option<f64> {
        self.figures.rtt_unloaded.as_ref().map(range)
    }

    /// Program and kernel together.
    pub fn cpu(&self) -> Option<f64> {
        Some(self.figures.cpu_user_ratio? + self.figures.cpu_kernel_ratio?)
    }

    pub fn fairness(&self) -> Option<f64> {
        self.of_one_way()?.fairness()
    }

    /// Streams below half their fair share.
    pub fn starved(&self) -> Option<usize> {
        self.of_one_way()?.starved()
    }

    /// `None` where both ends send: streams of two directions do not share one link.
    fn of_one_way(&self) -> Option<&CellFigures> {
        (self.setting.direction != Direction::Both).then_some(self.figures)
    }
}

/// RV: one less the smallest over the mean; zero where nothing waits.
fn variability(figures: &RoundTripFigures) -> Option<f64> {
    (figures.mean > 0.0).then(|| 1.0 - figures.min / figures.mean)
}

fn range(figures: &RoundTripFigures) -> f64 {
    figures.quartile3 - figures.quartile1
}
