//! The figures of one visit.

use observe::{Direction, Setting};

use crate::sharing;
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
        stats::jain_index(&self.shares()?)
    }

    /// Streams below half their fair share.
    pub fn starved(&self) -> Option<usize> {
        sharing::starved(&self.shares()?)
    }

    /// Goodput of each of several streams; `None` where one is unknown, and where both ends send:
    /// streams of two directions do not share one link.
    fn shares(&self) -> Option<Vec<f64>> {
        let one_way = self.setting.direction != Direction::Both;
        let streams = self
            .figures
            .streams
            .iter()
            .map(|stream| stream.goodput_bits_per_second.map(|bits| bits as f64));
        let shares: Vec<f64> = streams.collect::<Option<_>>()?;
        (one_way && shares.len() > 1).then_some(shares)
    }
}

/// RV: one less the smallest over the mean; zero where nothing waits.
fn variability(figures: &RoundTripFigures) -> Option<f64> {
    (figures.mean > 0.0).then(|| 1.0 - figures.min / figures.mean)
}

fn range(figures: &RoundTripFigures) -> f64 {
    figures.quartile3 - figures.quartile1
}
