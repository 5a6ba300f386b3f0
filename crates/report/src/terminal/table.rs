//! Tables of runs and of streams.

use std::ops::Range;

use comfy_table::presets::NOTHING;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table,
};
use record::{Doubt, Run, Stream};

use super::{COLUMNS, Paint};
use crate::format::{self, ABSENT, RateUnit};
use crate::text;

/// One line of a table of runs.
#[derive(Debug, Clone, Copy)]
pub struct RunRow<'a> {
    pub name: Name<'a>,
    pub run: &'a Run,
    pub standing: Standing,
}

/// What tells the runs of a table apart: their settings, or labels and what others measured.
#[derive(Debug, Clone, Copy)]
pub enum Name<'a> {
    Setting,
    Label {
        label: &'a str,
        published_bits_per_second: Option<u64>,
    },
}

/// Whether a run is the one to use, or does not count for what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Chosen,
    Other,
    /// It counts for less.
    Less,
    /// It does not count.
    Aside,
}

impl Standing {
    pub fn of(chosen: bool) -> Self {
        if chosen {
            Standing::Chosen
        } else {
            Standing::Other
        }
    }

    pub fn doubted(doubt: Option<&Doubt>) -> Self {
        match doubt.map(|doubt| doubt.counts_for_bits_per_second) {
            None => Standing::Other,
            Some(Some(_)) => Standing::Less,
            Some(None) => Standing::Aside,
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Standing::Chosen => ">",
            Standing::Other => "",
            Standing::Less => "<",
            Standing::Aside => "x",
        }
    }
}

/// Longer labels are cut, so that the figures stay on their lines.
const LABEL_CHARACTERS: usize = 22;
/// More streams than this are summed up.
const STREAMS_SHOWN: usize = 12;

/// A table of runs, the chosen one marked.
pub fn runs(rows: &[RunRow<'_>], paint: Paint) -> String {
    let top = rows.iter().map(|row| row.run.goodput_bits_per_second).max();
    let unit = RateUnit::fitting(top.unwrap_or(0) as f64);
    let labelled = rows
        .iter()
        .any(|row| matches!(row.name, Name::Label { .. }));
    let names: &[&str] = if labelled {
        &[
            "",
            "setting",
            "published",
            unit.name,
            "\u{b1}",
            "RTT ms",
            "added",
            "limit",
        ]
    } else {
        &[
            "", "streams", "window", unit.name, "\u{b1}", "RTT ms", "added", "resent", "limit",
        ]
    };
    let mut table = empty(paint);
    table.set_header(
        names
            .iter()
            .map(|name| Cell::new(name).add_attribute(Attribute::Bold)),
    );
    let usual = rows
        .first()
        .and_then(|row| row.run.setting.congestion.as_deref());
    for row in rows {
        table.add_row(row.cells(unit, usual));
    }
    align(&mut table, if labelled { 2..7 } else { 1..8 });
    if let Some(limits) = table.column_iter_mut().last() {
        // A limit's name is one word: broken at its hyphen it is read as two limits.
        limits.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.to_string()
}

impl RunRow<'_> {
    fn cells(&self, unit: RateUnit, usual: Option<&str>) -> Vec<Cell> {
        let mut texts = vec![self.standing.mark().to_owned()];
        match self.name {
            Name::Setting => texts.extend(self.setting(unit, usual)),
            Name::Label {
                label,
                published_bits_per_second,
            } => texts.extend(self.labelled(label, published_bits_per_second, unit)),
        }
        texts.push(
            self.run
                .limit
                .map_or(ABSENT, |limit| limit.name())
                .to_owned(),
        );
        texts.iter().map(|text| cell(text, self.standing)).collect()
    }

    fn setting(&self, unit: RateUnit, usual: Option<&str>) -> Vec<String> {
        let setting = &self.run.setting;
        let mut texts = vec![
            setting.streams.to_string(),
            format::window_with(setting, usual),
        ];
        texts.extend(figures(self.run, unit));
        texts.push(format::or_absent(
            self.run.retransmitted_ratio(),
            format::percent,
        ));
        texts
    }

    fn labelled(&self, label: &str, published: Option<u64>, unit: RateUnit) -> Vec<String> {
        let published = format::or_absent(published, |bits| unit.number(bits as f64));
        let mut texts = vec![cut(label), published];
        texts.extend(figures(self.run, unit));
        texts
    }
}

fn figures(run: &Run, unit: RateUnit) -> [String; 4] {
    let goodput = run.goodput_bits_per_second as f64;
    [
        unit.number(goodput),
        format::or_absent(run.interval.as_ref(), |interval| {
            unit.margin(goodput, interval)
        }),
        format::or_absent(run.rtt_loaded_seconds(), format::milliseconds),
        format::or_absent(run.rtt.added_seconds, format::added_milliseconds),
    ]
}

fn cell(text: &str, standing: Standing) -> Cell {
    match standing {
        Standing::Chosen => Cell::new(text)
            .fg(Color::Green)
            .add_attribute(Attribute::Bold),
        Standing::Other => Cell::new(text),
        Standing::Less | Standing::Aside => Cell::new(text).fg(Color::DarkGrey),
    }
}

fn cut(label: &str) -> String {
    let label = text::plain(label);
    match label.chars().count() {
        n if n <= LABEL_CHARACTERS => label,
        _ => label
            .chars()
            .take(LABEL_CHARACTERS - 1)
            .chain(['\u{2026}'])
            .collect(),
    }
}

/// A table without rows that keeps to the page.
pub(super) fn empty(paint: Paint) -> Table {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(COLUMNS as u16);
    match paint {
        Paint::Plain => table.force_no_tty(),
        Paint::Ansi => table.enforce_styling(),
    };
    table
}

/// The columns in `numbers` to the right; two spaces between columns, one after the mark.
pub(super) fn align(table: &mut Table, numbers: Range<usize>) {
    let last = table.column_count().saturating_sub(1);
    for (index, column) in table.column_iter_mut().enumerate() {
        let gap = match index {
            _ if index == last => 0,
            0 => 1,
            _ => 2,
        };
        column.set_padding((0, gap));
        if numbers.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// A table of streams; of many, the first dozen and a line for the rest.
pub fn streams(streams: &[Stream], paint: Paint) -> String {
    let shown = if streams.len() > STREAMS_SHOWN {
        STREAMS_SHOWN - 1
    } else {
        streams.len()
    };
    let (first, rest) = streams.split_at(shown);
    let mut table = empty(paint);
    let names = [
        "stream",
        "goodput",
        "delivered",
        "segments resent",
        "TCP's RTT ms",
    ];
    table.set_header(names.map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    for stream in first {
        table.add_row(stream_row(stream));
    }
    if !rest.is_empty() {
        table.add_row(rest_row(rest));
    }
    align(&mut table, 1..5);
    table.to_string()
}

fn stream_row(stream: &Stream) -> [String; 5] {
    let rtt = stream.tcp.last().and_then(|sample| sample.rtt);
    [
        stream.number.to_string(),
        format::or_absent(stream.goodput_bits_per_second, format::rate),
        format::size(stream.delivered_bytes),
        format::or_absent(stream.retransmits, |segments| segments.to_string()),
        format::or_absent(rtt, format::milliseconds),
    ]
}

fn rest_row(streams: &[Stream]) -> [String; 5] {
    let add = |count: fn(&Stream) -> Option<u64>| {
        streams.iter().filter_map(count).reduce(u64::saturating_add)
    };
    [
        format!("{} others", streams.len()),
        format::or_absent(add(|s| s.goodput_bits_per_second), format::rate),
        format::or_absent(add(|s| Some(s.delivered_bytes)), format::size),
        format::or_absent(add(|s| s.retransmits), |segments| segments.to_string()),
        ABSENT.to_owned(),
    ]
}
