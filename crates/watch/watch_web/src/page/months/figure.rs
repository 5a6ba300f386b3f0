//! What a monthly table shows.

use changes::{Metric, PingFigure};
use draw::format;
use watch_store::RollUp;

use crate::words;

/// What a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Median goodput.
    Goodput,
    /// Share of the visits that failed.
    Failed,
    /// What probes showed.
    Probes(PingFigure),
}

impl Figure {
    /// All of them, in the order of the page.
    pub const ALL: [Figure; 16] = [
        Figure::Goodput,
        Figure::Probes(PingFigure::Median),
        Figure::Probes(PingFigure::Mean),
        Figure::Probes(PingFigure::Min),
        Figure::Probes(PingFigure::Loss),
        Figure::Probes(PingFigure::ConditionalLoss),
        Figure::Probes(PingFigure::Variation),
        Figure::Probes(PingFigure::Unpredictability),
        Figure::Probes(PingFigure::Quiescence),
        Figure::Probes(PingFigure::Unreachability),
        Figure::Probes(PingFigure::Duplicates),
        Figure::Probes(PingFigure::Reordering),
        Figure::Probes(PingFigure::Derived),
        Figure::Probes(PingFigure::OpinionScore),
        Figure::Probes(PingFigure::SlowestLink),
        Figure::Failed,
    ];

    /// The word in addresses.
    pub fn word(self) -> &'static str {
        match self {
            Figure::Goodput => "goodput",
            Figure::Failed => "failed",
            Figure::Probes(PingFigure::Median) => "round-trip",
            Figure::Probes(PingFigure::Mean) => "mean",
            Figure::Probes(PingFigure::Min) => "shortest",
            Figure::Probes(PingFigure::Loss) => "loss",
            Figure::Probes(PingFigure::ConditionalLoss) => "conditional-loss",
            Figure::Probes(PingFigure::Variation) => "ipdv",
            Figure::Probes(PingFigure::Unpredictability) => "unpredictability",
            Figure::Probes(PingFigure::Quiescence) => "lossless",
            Figure::Probes(PingFigure::Unreachability) => "unreachable",
            Figure::Probes(PingFigure::Duplicates) => "duplicated",
            Figure::Probes(PingFigure::Reordering) => "reordered",
            Figure::Probes(PingFigure::Derived) => "derived",
            Figure::Probes(PingFigure::OpinionScore) => "mos",
            Figure::Probes(PingFigure::SlowestLink) => "slowest-link",
        }
    }

    /// The words on the page.
    pub fn title(self) -> &'static str {
        match self {
            Figure::Goodput => "median goodput",
            Figure::Failed => "visits that failed",
            Figure::Probes(PingFigure::Median) => "median round trip",
            Figure::Probes(PingFigure::Mean) => "mean round trip",
            Figure::Probes(PingFigure::Min) => "shortest round trip",
            Figure::Probes(PingFigure::Loss) => "probes lost",
            Figure::Probes(PingFigure::ConditionalLoss) => "lost behind a lost one",
            Figure::Probes(PingFigure::Variation) => "variation (IPDV)",
            Figure::Probes(PingFigure::Unpredictability) => "unpredictability",
            Figure::Probes(PingFigure::Quiescence) => "visits without loss",
            Figure::Probes(PingFigure::Unreachability) => "visits without answer",
            Figure::Probes(PingFigure::Duplicates) => "duplicated",
            Figure::Probes(PingFigure::Reordering) => "out of order",
            Figure::Probes(PingFigure::Derived) => "derived throughput",
            Figure::Probes(PingFigure::OpinionScore) => "opinion score (MOS)",
            Figure::Probes(PingFigure::SlowestLink) => "slowest link",
        }
    }

    /// What the upright axis of its chart says, with the unit.
    pub fn axis(self) -> &'static str {
        match self {
            Figure::Goodput | Figure::Probes(PingFigure::Derived | PingFigure::SlowestLink) => {
                "Mbit/s"
            }
            Figure::Probes(
                PingFigure::Min | PingFigure::Median | PingFigure::Mean | PingFigure::Variation,
            ) => "ms",
            Figure::Probes(PingFigure::Unpredictability) => "unpredictability",
            Figure::Probes(PingFigure::OpinionScore) => "MOS",
            Figure::Probes(PingFigure::Duplicates | PingFigure::Reordering) => "probes",
            Figure::Failed | Figure::Probes(_) => "%",
        }
    }

    /// From basic units to those of the axis.
    pub fn factor(self) -> f64 {
        match self.axis() {
            "Mbit/s" => 1e-6,
            "ms" => 1e3,
            "%" => 100.0,
            _ => 1.0,
        }
    }

    /// What has to be known to read it.
    pub fn note(self) -> &'static str {
        match self {
            Figure::Goodput | Figure::Failed => "",
            Figure::Probes(PingFigure::Derived) => {
                "What one TCP stream carries by Mathis's formula, from loss and mean round trip; \
                 \u{2265} is a bound, since no probe was lost: one loss of all the probes."
            }
            Figure::Probes(PingFigure::SlowestLink) => {
                "What the slowest link carries at the least, by how much longer larger packets \
                 take there and back: median of the visits that tell it."
            }
            Figure::Probes(PingFigure::OpinionScore) => {
                "How a call would sound, 1 to 4.4, from mean round trip, variation and loss \
                 (ITU-T G.107, simplified)."
            }
            Figure::Probes(PingFigure::Unpredictability) => {
                "0 where all visits are alike, up to 1: how far mean success and mean speed of \
                 the probes are from the best visit's."
            }
            Figure::Probes(PingFigure::Variation) => {
                "Distance between the quartiles of the differences from one probe to the next."
            }
            Figure::Probes(PingFigure::Duplicates | PingFigure::Reordering) => {
                "How many small probes; the large ones of a ping show none."
            }
            Figure::Probes(_) => {
                "Visits without any answer are counted apart: they are no loss of the path."
            }
        }
    }

    /// Of a month, in basic units.
    pub fn of(self, month: &RollUp) -> Option<f64> {
        match self {
            Figure::Goodput => Some(month.goodput?.median.as_f64()),
            Figure::Failed => (month.visits > 0).then(|| month.failed as f64 / month.visits as f64),
            Figure::Probes(figure) => figure.of(month.pings.as_ref()?),
        }
    }

    /// Whether the value of a month is a bound.
    pub fn is_bound(self, month: &RollUp) -> bool {
        let measured = |figure: PingFigure| figure.measured(month.pings.as_ref()?);
        match self {
            Figure::Probes(figure) => measured(figure).is_none(),
            Figure::Goodput | Figure::Failed => false,
        }
    }

    /// A value with its unit.
    pub fn words(self, value: f64) -> String {
        match self {
            Figure::Goodput | Figure::Probes(PingFigure::Derived | PingFigure::SlowestLink) => {
                words::value(Metric::Goodput, value)
            }
            Figure::Probes(
                PingFigure::Min | PingFigure::Median | PingFigure::Mean | PingFigure::Variation,
            ) => words::value(Metric::RoundTripMedian, value),
            Figure::Probes(PingFigure::Unpredictability | PingFigure::OpinionScore) => {
                format!("{value:.2}")
            }
            Figure::Probes(PingFigure::Duplicates | PingFigure::Reordering) => count(value),
            Figure::Failed | Figure::Probes(_) => format::percent(value),
        }
    }
}

/// A number of probes; means of several pairs with a tenth.
fn count(value: f64) -> String {
    match value.fract() == 0.0 {
        true => format!("{value:.0}"),
        false => format!("{value:.1}"),
    }
}
