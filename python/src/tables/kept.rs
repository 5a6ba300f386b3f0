//! The archive, a row for each result.

use trunkline::history::Entry;
use trunkline::units::{Bytes, Rate};

use super::Columns;
use super::visits::word;

/// A row for each result that is kept.
pub fn kept(entries: &[Entry]) -> Columns {
    let mut columns = Columns::default();
    columns.u64("id", entries, |row| u64::try_from(row.id).ok());
    columns.text("created", entries, |row| Some(row.essence.created.clone()));
    columns.text("kind", entries, |row| {
        Some(row.essence.schema.kind().to_owned())
    });
    columns.text("target", entries, |row| {
        Some(row.essence.target.name.clone())
    });
    columns.text("target_kind", entries, |row| word(&row.essence.target.kind));
    columns.text("objective", entries, |row| row.essence.objective.clone());
    let of = |row: &Entry| row.essence.outcome.clone();
    columns.u32("streams", entries, |row| Some(of(row).setting.streams));
    columns.u64("window_bytes", entries, |row| {
        of(row).setting.window.fixed().map(Bytes::get)
    });
    columns.text("direction", entries, |row| word(&of(row).setting.direction));
    columns.text("congestion", entries, |row| of(row).setting.congestion);
    columns.u64("pacing_bits_per_second", entries, |row| {
        of(row).setting.pacing.map(Rate::bits_per_second)
    });
    columns.u64("goodput_bits_per_second", entries, |row| {
        Some(of(row).goodput_bits_per_second)
    });
    columns.u64("goodput_low_bits_per_second", entries, |row| {
        of(row).interval.map(|one| one.low.bits_per_second())
    });
    columns.u64("goodput_high_bits_per_second", entries, |row| {
        of(row).interval.map(|one| one.high.bits_per_second())
    });
    columns.f64("rtt_unloaded_seconds", entries, |row| {
        of(row).rtt_unloaded_seconds
    });
    columns.f64("rtt_loaded_seconds", entries, |row| {
        of(row).rtt_loaded_seconds
    });
    columns.f64("retransmitted_ratio", entries, |row| {
        of(row).retransmitted_ratio
    });
    columns.text("limit", entries, |row| of(row).limit);
    columns.text("cut_because", entries, |row| {
        row.essence.cut_because.clone()
    });
    columns.text("host", entries, |row| row.essence.host.clone());
    columns.text("trunkline_version", entries, |row| {
        Some(row.essence.trunkline_version.clone())
    });
    columns
}
