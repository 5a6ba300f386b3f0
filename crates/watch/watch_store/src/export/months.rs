//! The table of months.

use changes::{PingFigure, Pings};

use super::tables::{Cell, Column, Kind, column};
use crate::rows::second;
use crate::{Month, Selection, Store, StoreError};

/// In the order of [`row`].
pub(super) const COLUMNS: &[Column] = &[
    column("from_host", Kind::Text),
    column("to_host", Kind::Text),
    column("task", Kind::Text),
    column("month", Kind::Time),
    column("visits", Kind::Whole),
    column("visits_failed", Kind::Whole),
    column("goodput_visits", Kind::Whole),
    column("goodput_median_bits_per_second", Kind::Whole),
    column("probed_visits", Kind::Whole),
    column("unreachable_visits", Kind::Whole),
    column("lossless_visits", Kind::Whole),
    column("probes_sent", Kind::Whole),
    column("probes_lost", Kind::Whole),
    column("probes_duplicated", Kind::Whole),
    column("probes_reordered", Kind::Whole),
    column("probes_lost_followed", Kind::Whole),
    column("probes_lost_again", Kind::Whole),
    column("rtt_min_seconds", Kind::Real),
    column("rtt_median_seconds", Kind::Real),
    column("rtt_mean_seconds", Kind::Real),
    column("ipdv_seconds", Kind::Real),
    column("loss_ratio", Kind::Real),
    column("conditional_loss_ratio", Kind::Real),
    column("unpredictability_ratio", Kind::Real),
    column("derived_bits_per_second", Kind::Whole),
    column("derived_from", Kind::Text),
    column("mean_opinion_score", Kind::Real),
    column("slowest_link_bits_per_second", Kind::Whole),
];

impl Store {
    /// The months of a selection that began within its bounds.
    pub(super) fn month_rows(
        &mut self,
        selection: &Selection,
    ) -> Result<Vec<Vec<Cell>>, StoreError> {
        let mut rows = Vec::new();
        for task in self.tasks()? {
            let months = self.months(&task, selection.from, selection.to)?;
            let wanted = months
                .iter()
                .filter(|month| selection.has(&month.pair, &task));
            rows.extend(wanted.map(|month| row(month, task.as_str())));
        }
        Ok(rows)
    }
}

fn row(month: &Month, task: &str) -> Vec<Cell> {
    let Month { pair, figures } = month;
    let goodput = figures.goodput.as_ref();
    let mut row = vec![
        pair.from.as_str().into(),
        pair.to.as_str().into(),
        task.into(),
        Cell::Time(second(figures.start)),
        figures.visits.into(),
        figures.failed.into(),
        goodput.map_or(0, |goodput| goodput.count).into(),
        goodput
            .map(|goodput| goodput.median.bits_per_second())
            .into(),
    ];
    let pings = figures.pings.as_ref();
    let counts: [fn(&Pings) -> u64; 9] = [
        |pings| pings.visits,
        |pings| pings.unreachable,
        |pings| pings.lossless,
        |pings| pings.sent,
        |pings| pings.lost,
        |pings| pings.duplicated,
        |pings| pings.reordered,
        |pings| pings.lost_followed,
        |pings| pings.lost_again,
    ];
    row.extend(counts.map(|count| Cell::from(pings.map(count))));
    let figure = |figure: PingFigure| pings.and_then(|pings| figure.of(pings));
    row.extend(
        [
            PingFigure::Min,
            PingFigure::Median,
            PingFigure::Mean,
            PingFigure::Variation,
            PingFigure::Loss,
            PingFigure::ConditionalLoss,
            PingFigure::Unpredictability,
        ]
        .map(|of| Cell::from(figure(of))),
    );
    let derived = pings.and_then(Pings::derived);
    let from = |is_bound| match is_bound {
        true => "bound",
        false => "loss",
    };
    row.push(derived.map(|derived| derived.rate.bits_per_second()).into());
    row.push(derived.map(|derived| from(derived.is_bound)).into());
    row.push(figure(PingFigure::OpinionScore).into());
    let slowest = pings.and_then(|pings| pings.slowest_link);
    row.push(slowest.map(|rate| rate.bits_per_second()).into());
    row
}
