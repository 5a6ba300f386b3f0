//! The text of a sweep document.

use comfy_table::{Attribute, Cell, Color};
use record::sweep_analysis::{Curve, DirectionAnalysis, SettingFigures};
use record::{Setting, Sweep, SweepAnalysis, SweepComparison, Target, Window};

use super::Paint;
use super::layout::Page;
use super::table::{align, empty};
use crate::format::{self, ABSENT, RateUnit};
use crate::text;
use crate::text::sweep::{self as say, compared};

/// The text of a sweep: for each direction its recommendation, a table for each window, and what all visits show.
pub(super) fn sweep(sweep: &Sweep, paint: Paint) -> String {
    let analysis = sweep.analysis();
    let mut page = Page::new(paint);
    page.title(&text::plain(&sweep.target.name));
    for sentence in say::visited(sweep) {
        page.sentence(&sentence);
    }
    if let Some(sentence) = say::directions(&analysis) {
        page.strong(&sentence);
    }
    for way in &analysis.directions {
        page.gap();
        direction(&mut page, (&sweep.target, &analysis), way, paint);
    }
    page.finish()
}

/// Two sweeps side by side, and what that says.
pub fn sweep_comparison(comparison: &SweepComparison, paint: Paint) -> String {
    let mut page = Page::new(paint);
    for sentence in compared::sentences(comparison) {
        page.sentence(&sentence);
    }
    let (unit, rows) = compared::rows(comparison);
    if rows.is_empty() {
        return page.finish();
    }
    let mut table = empty(paint);
    table.set_header(compared::COLUMNS.map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    for row in rows {
        table.add_row(row);
    }
    align(&mut table, 2..compared::COLUMNS.len());
    page.gap();
    page.block(&table.to_string());
    page.gap();
    page.sentence(&format!(
        "Rates in {}; \"sure\" is corrected for the number of settings.",
        unit.name
    ));
    page.finish()
}

fn direction(
    page: &mut Page,
    (target, analysis): (&Target, &SweepAnalysis),
    way: &DirectionAnalysis,
    paint: Paint,
) {
    page.title(text::sentence(text::direction(way.direction)).trim_end_matches('.'));
    if let Some(recommended) = &way.recommended {
        page.strong(&say::recommendation(recommended));
    }
    for sentence in say::because(way) {
        page.sentence(&sentence);
    }
    let highest = way.highest.as_ref();
    let highest = highest.map_or(0, |point| point.goodput.median_bits_per_second);
    let unit = RateUnit::fitting(highest as f64);
    for curve in &way.curves {
        let rows = analysis.settings.iter().filter(|figures| {
            figures.setting.direction == way.direction && on(curve, &figures.setting)
        });
        let chosen = way.recommended.as_ref().map(|it| &it.at.setting);
        page.gap();
        page.title(&heading(
            curve,
            target.window_granted(curve.window, way.direction),
        ));
        page.block(&table(&rows.collect::<Vec<_>>(), unit, chosen, paint));
        for sentence in say::curve(curve) {
            page.sentence(&sentence);
        }
    }
    page.gap();
    page.legend(say::LEGEND);
    let fits = say::fits(way);
    if !fits.is_empty() {
        page.gap();
    }
    for sentence in fits {
        page.sentence(&sentence);
    }
}

fn on(curve: &Curve, setting: &Setting) -> bool {
    curve.window == setting.window && curve.congestion == setting.congestion
}

fn heading(curve: &Curve, granted: Option<u64>) -> String {
    let mut heading = match (curve.window, granted) {
        (Window::Bytes(_), Some(granted)) => format!(
            "Windows of {} (Linux grants {})",
            format::window(curve.window),
            format::window(Window::Bytes(granted))
        ),
        (Window::Bytes(_), None) => format!("Windows of {}", format::window(curve.window)),
        (Window::Auto, _) => "Automatic windows".to_owned(),
    };
    if let Some(name) = &curve.congestion {
        heading.push_str(&format!(", {}", text::plain(name)));
    }
    heading
}

fn table(
    rows: &[&SettingFigures],
    unit: RateUnit,
    chosen: Option<&Setting>,
    paint: Paint,
) -> String {
    let names = [
        "", "streams", unit.name, "\u{b1}", "IQR", "dRTT ms", "RV", "resent", "Jain", "starved",
        "failed",
    ];
    let mut table = empty(paint);
    table.set_header(names.map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    for figures in rows {
        let chosen = chosen == Some(&figures.setting);
        table.add_row(row(figures, unit, chosen).map(|text| {
            match chosen {
                true => Cell::new(text)
                    .fg(Color::Green)
                    .add_attribute(Attribute::Bold),
                false => Cell::new(text),
            }
        }));
    }
    align(&mut table, 1..names.len());
    table.to_string()
}

fn row(figures: &SettingFigures, unit: RateUnit, chosen: bool) -> [String; 11] {
    let goodput = figures.goodput.as_ref();
    let rate = |bits: f64| unit.number(bits);
    let range = goodput.map(|spread| {
        spread
            .quartile3_bits_per_second
            .saturating_sub(spread.quartile1_bits_per_second)
    });
    let failed = match figures.failures {
        0 => String::new(),
        failures => failures.to_string(),
    };
    [
        if chosen { ">" } else { "" }.to_owned(),
        figures.setting.streams.to_string(),
        format::or_absent(goodput, |spread| rate(spread.median_bits_per_second as f64)),
        format::or_absent(goodput.and_then(say::half_width), rate),
        format::or_absent(range, |range| rate(range as f64)),
        format::or_absent(figures.rtt_added.as_ref(), |added| {
            format::added_milliseconds(added.median_seconds)
        }),
        format::or_absent(figures.rate_variability_loaded.as_ref(), |share| {
            format::percent(share.median_ratio)
        }),
        format::or_absent(figures.retransmitted.as_ref(), |share| {
            format::percent(share.median_ratio)
        }),
        figures
            .fairness
            .as_ref()
            .map_or(ABSENT.to_owned(), |index| {
                format!("{:.3}", index.median_ratio)
            }),
        say::starved(figures.starvation.as_ref()),
        failed,
    ]
}
