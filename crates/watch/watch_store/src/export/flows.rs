//! The table of traffic: hours of which shorter intervals are no longer kept, then those.

use super::tables::{Cell, Column, Kind, column};
use crate::rows::second;
use crate::{Selection, Store, StoreError, Traffic};

/// Seconds of which rows are read at a time.
const HOURS_AT_ONCE: i64 = 30 * 86_400;
const INTERVALS_AT_ONCE: i64 = 3600;

/// In the order of [`row`].
pub(super) const COLUMNS: &[Column] = &[
    column("began", Kind::Time),
    column("interval_seconds", Kind::Whole),
    column("router", Kind::Text),
    column("way", Kind::Text),
    column("application", Kind::Text),
    column("bytes", Kind::Whole),
    column("packets", Kind::Whole),
    column("records", Kind::Whole),
    column("rate_bits_per_second", Kind::Real),
];

impl Store {
    /// The intervals that began within the bounds of a selection, some at a time.
    pub(super) fn each_flow_page(
        &mut self,
        selection: &Selection,
        on_page: &mut dyn FnMut(Vec<Vec<Cell>>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let (from, to) = (second(selection.from), second(selection.to));
        let kept = self.intervals_from()?;
        let parts = [
            ("flow_hours", HOURS_AT_ONCE, (from, to.min(kept))),
            ("flows", INTERVALS_AT_ONCE, (from, to)),
        ];
        for (table, at_once, (mut from, to)) in parts {
            while let Some(first) = self.first_flow(table, (from, to))? {
                let end = first.saturating_add(at_once).min(to);
                let rows = self.flows(table, (first, end))?;
                on_page(rows.iter().map(row).collect())?;
                from = end;
            }
        }
        Ok(())
    }
}

fn row(traffic: &Traffic) -> Vec<Cell> {
    let volume = traffic.volume;
    let rate = volume.bytes as f64 * 8.0 / traffic.seconds.max(1) as f64;
    vec![
        traffic.at.into(),
        traffic.seconds.into(),
        traffic.router.as_str().into(),
        traffic.way.name().into(),
        traffic.application.as_str().into(),
        volume.bytes.into(),
        volume.packets.into(),
        volume.records.into(),
        rate.into(),
    ]
}
