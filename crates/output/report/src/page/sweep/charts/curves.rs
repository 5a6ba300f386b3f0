//! Which settings lie on which line, and where along the level axis.

mod drawing;

use record::Window;

use crate::page::sweep::groups::{Column, Group};
use crate::page::sweep::metric::Metric;
use draw::chart::axis::Axis;
use draw::format as number;

/// More lines than this cannot be told apart.
const LINES_MAX: usize = 6;

/// Lines over one axis, the same in every panel.
pub(super) struct Curves<'a> {
    group: &'a Group<'a>,
    axis: Axis,
    title: &'static str,
    lines: Vec<Line>,
    /// How many lines there would be.
    possible: usize,
}

struct Line {
    name: String,
    /// Place along the level axis, and the setting there.
    settings: Vec<(f64, (u16, Window))>,
}

impl<'a> Curves<'a> {
    /// Lines over the streams; with a single number of streams, one over the windows. `None` for
    /// one setting.
    pub(super) fn of(group: &'a Group<'a>) -> Option<Self> {
        match (group.streams.as_slice(), group.windows.as_slice()) {
            ([], _) | (_, []) | ([_], [_]) => None,
            ([streams], windows) => Some(Curves::over_windows(group, *streams, windows)),
            (streams, _) => Some(Curves::over_streams(group, streams)),
        }
    }

    fn over_windows(group: &'a Group<'a>, streams: u16, windows: &[Window]) -> Self {
        let names = windows.iter().map(|window| window.to_string());
        let settings = windows.iter().enumerate();
        let settings = settings.map(|(place, window)| (place as f64, (streams, *window)));
        let plural = if streams == 1 { "" } else { "s" };
        Curves {
            group,
            axis: Axis::names(names.collect(), 12),
            title: "window",
            lines: vec![Line {
                name: format!("{streams} stream{plural}"),
                settings: settings.collect(),
            }],
            possible: 1,
        }
    }

    fn over_streams(group: &'a Group<'a>, streams: &[u16]) -> Self {
        let (axis, place) = streams_axis(streams);
        let line = |column: &Column| Line {
            name: column.name.clone(),
            settings: column
                .windows
                .iter()
                .map(|(s, w)| (place(*s), (*s, *w)))
                .collect(),
        };
        let mut lines: Vec<Line> = shown(group).into_iter().map(line).collect();
        dodge(&mut lines, &axis);
        Curves {
            group,
            axis,
            title: "streams",
            lines,
            possible: group.columns.len(),
        }
    }

    /// The metrics that any visit tells of.
    fn known<'m>(&self, metrics: &[&'m Metric]) -> Vec<&'m Metric> {
        let tells = |metric: &&Metric| self.group.all().any(|(_, _, f)| (metric.of)(f).is_some());
        metrics.iter().copied().filter(tells).collect()
    }

    /// Whether any visit tells of any of them.
    pub(super) fn tells(&self, metrics: &[&Metric]) -> bool {
        !self.known(metrics).is_empty()
    }

    /// What lies along the level axis, for a caption.
    pub(super) fn along(&self) -> &'static str {
        match self.title {
            "window" => "the window",
            _ => "the number of streams",
        }
    }

    /// What no visit tells of, for a caption.
    pub(super) fn missing(&self, metrics: &[&Metric]) -> String {
        let known = self.known(metrics);
        let unknown = metrics
            .iter()
            .filter(|m| !known.iter().any(|k| k.title == m.title));
        let titles: Vec<&str> = unknown.map(|metric| metric.title).collect();
        match titles.as_slice() {
            [] => String::new(),
            titles => format!("; no visit tells of: {}", titles.join(", ")),
        }
    }

    /// What dashed lines are, for a caption.
    pub(super) fn dashes(&self) -> &'static str {
        match self.is_simulated() {
            true => " Dashed: what the simulator carries on the inferred path.",
            false => "",
        }
    }

    /// What a ring at a knee means, for a caption.
    pub(super) fn knees(&self) -> String {
        let [knees, _] = self.marks();
        let shares = knees
            .settings
            .iter()
            .filter_map(|(_, window)| self.group.knee(*window));
        let share = shares.map(|knee| knee.share_ratio).next();
        share.map_or_else(String::new, |share| {
            format!(
                " A knee is the fewest streams that carry {} of the most with their window; a line \
                    that still grows has none.",
                number::percent(share)
            )
        })
    }

    /// Which lines were chosen of too many, for a caption.
    pub(super) fn selection(&self) -> String {
        if self.lines.len() == self.possible {
            return String::new();
        }
        format!(
            " {} of {} {} are drawn, the best among them; the table has all.",
            self.lines.len(),
            self.possible,
            if self.group.has_windows() {
                "windows"
            } else {
                "products of streams and window"
            },
        )
    }
}

/// Even steps where the numbers are about evenly apart, doublings where they are not.
pub fn streams_axis(streams: &[u16]) -> (Axis, fn(u16) -> f64) {
    let most = f64::from(streams.last().copied().unwrap_or(1));
    let counts: Vec<f64> = streams.iter().map(|s| f64::from(*s)).collect();
    let middle = stats::median(&counts).unwrap_or(most);
    if middle >= 0.35 * most {
        (Axis::counts(most), |streams| f64::from(streams))
    } else {
        (Axis::powers_of_two(most), |streams| {
            f64::from(streams.max(1)).log2()
        })
    }
}

/// Lines lie a little beside each other, so that their whiskers can be told apart.
fn dodge(lines: &mut [Line], axis: &Axis) {
    let places = || lines.iter().flat_map(|line| &line.settings);
    let mut apart: Vec<f64> = places().map(|(x, _)| *x).collect();
    apart.sort_by(f64::total_cmp);
    let gaps = apart.windows(2).map(|pair| pair[1] - pair[0]);
    let gap = gaps.filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min);
    let step = (gap * 0.5 / lines.len().max(1) as f64).min((axis.high - axis.low) * 0.007);
    let centre = (lines.len() as f64 - 1.0) / 2.0;
    for (index, line) in lines.iter_mut().enumerate() {
        let shift = (index as f64 - centre) * step;
        line.settings.iter_mut().for_each(|(x, _)| *x += shift);
    }
}

/// Every column, or of many the best one and some evenly among the others.
fn shown<'a>(group: &'a Group<'_>) -> Vec<&'a Column> {
    let columns = &group.columns;
    if columns.len() <= LINES_MAX {
        return columns.iter().collect();
    }
    let last = columns.len() - 1;
    let mut chosen: Vec<usize> = (0..LINES_MAX).map(|i| i * last / (LINES_MAX - 1)).collect();
    let best = group.recommended().or_else(|| group.best_setting());
    let best = best.and_then(|(s, w)| columns.iter().position(|column| column.has(s, w)));
    if let Some(best) = best.filter(|best| !chosen.contains(best)) {
        let inner = chosen.iter_mut().skip(1).take(LINES_MAX - 2);
        if let Some(nearest) = inner.min_by_key(|place| place.abs_diff(best)) {
            *nearest = best;
        }
    }
    chosen.into_iter().map(|place| &columns[place]).collect()
}
