//! Text for a terminal of 80 columns: tables, sentences and settings.
//!
//! Every line fits except a word that is longer by itself. Commands are broken at spaces with a
//! backslash, so that they can be pasted as they stand.

mod characteristics;
mod copied;
mod history;
mod layout;
mod links;
mod predicted;
mod responsiveness;
mod simulated;
mod sweep;
mod table;

use record::{Answer, AnyDocument, Demo, Emulation, Kind, Measure, Origin, Run, Sample, Tune};

use crate::comparison::{self, Compared, Role};
use crate::format;
use crate::text;
use layout::Page;
use table::{Name, RunRow, Standing, runs};

pub use history::{comparison, history};
pub use links::{LINK_COLUMNS, link_rows};
pub use sweep::sweep_comparison;

/// Columns that every text keeps to.
pub const COLUMNS: usize = 80;

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Plain characters only: for files, pipes and `NO_COLOR`.
    Plain,
    /// ANSI escapes for bold and colour.
    Ansi,
}

/// How long lines may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// [`COLUMNS`]: for people.
    Page,
    /// As long as they need to be: for other programs.
    Any,
}

/// The text of any document, with a line break at the end.
pub fn text(document: &AnyDocument, paint: Paint) -> String {
    match document {
        AnyDocument::Measure(document) => measure(&document.body, paint),
        AnyDocument::Tune(document) => tune(&document.body, paint),
        AnyDocument::Demo(document) => demo(&document.body, paint),
        AnyDocument::Emulate(document) => emulation(&document.body, paint),
        AnyDocument::Simulate(document) => simulated::simulate(&document.body, paint),
        AnyDocument::Campaign(document) => simulated::campaign(&document.body, paint),
        AnyDocument::Predict(document) => predicted::predict(&document.body, paint),
        AnyDocument::Fit(document) => predicted::fit(&document.body, paint),
        AnyDocument::Sweep(document) => sweep::sweep(&document.body, paint),
        AnyDocument::Characteristics(document) => {
            characteristics::characteristics(&document.body, paint)
        }
        AnyDocument::Responsiveness(document) => {
            responsiveness::responsiveness(&document.body, paint)
        }
        AnyDocument::Copy(document) => copied::copy(&document.body, paint),
    }
}

/// `head` with `text` beside it, in lines that fit; those after the first are indented.
pub fn beside(head: &str, text: &str) -> Vec<String> {
    let indent = head.chars().count();
    let mut head = head.to_owned();
    let line = |text: String| {
        let line = format!("{head}{text}");
        head = " ".repeat(indent);
        line
    };
    layout::wrap(text, COLUMNS.saturating_sub(indent))
        .into_iter()
        .map(line)
        .collect()
}

/// Where a document comes from, in one or two lines.
pub fn origin(origin: &Origin) -> String {
    let mut page = Page::new(Paint::Plain);
    let host = origin.host.name.as_deref().unwrap_or("an unnamed host");
    let command = origin.command_line.join(" ");
    page.sentence(&format!(
        "{} on {host} at {}",
        text::plain(&command),
        origin.created
    ));
    page.finish()
}

/// The text of one measurement.
pub fn measure(measure: &Measure, paint: Paint) -> String {
    let run = &measure.run;
    let mut page = Page::new(paint);
    page.title(&format!(
        "{}: {}",
        text::plain(&measure.target.name),
        text::setting(&run.setting)
    ));
    page.facts(&facts(run));
    page.gap();
    for sentence in text::measure(measure) {
        page.sentence(&sentence);
    }
    if run.streams.len() > 1 {
        page.gap();
        page.block(&table::streams(&run.streams, paint));
    }
    page.finish()
}

fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let goodput = format::rate_with_margin(run.goodput_bits_per_second, run.interval.as_ref());
    let settled = if run.steady.settled {
        ""
    } else {
        ", not settled"
    };
    let steady = format!(
        "{goodput} from {} to {}{settled}",
        format::time(run.steady.from_seconds),
        format::time(run.steady.to_seconds),
    );
    let facts = [
        Some(("goodput", steady)),
        round_trip(run).map(|text| ("round trip", text)),
        resent(run).map(|text| ("resent", text)),
        processor(run).map(|text| ("processor", text)),
        run.congestion_used
            .as_deref()
            .map(|name| ("congestion", text::plain(name))),
    ];
    facts.into_iter().flatten().collect()
}

fn round_trip(run: &Run) -> Option<String> {
    let ms = |seconds| format!("{} ms", format::milliseconds(seconds));
    let idle = run
        .rtt
        .unloaded
        .as_ref()
        .and_then(|series| series.mean_seconds);
    let lost = run.rtt.loaded.as_ref().and_then(|series| series.loss_ratio);
    let parts = [
        idle.map(|idle| format!("{} idle", ms(idle))),
        run.rtt_loaded_seconds()
            .map(|loaded| format!("{} loaded", ms(loaded))),
        run.rtt
            .added_seconds
            .map(|added| format!("{} ms added", format::added_milliseconds(added))),
        lost.map(|lost| format!("{} of probes lost", format::percent(lost))),
    ];
    joined(parts)
}

fn resent(run: &Run) -> Option<String> {
    joined([
        run.retransmitted_ratio()
            .map(|share| format!("{} of the bytes", format::percent(share))),
        text::segments_again(run),
    ])
}

fn processor(run: &Run) -> Option<String> {
    let shares = |user, kernel| {
        format!(
            "{} user, {} kernel",
            format::percent(user),
            format::percent(kernel)
        )
    };
    let near = run
        .cpu
        .near
        .as_ref()
        .and_then(|near| Some((near.user_ratio?, near.kernel_ratio?)));
    let near = near.map(|(user, kernel)| format!("here {}", shares(user, kernel)));
    let far = run
        .cpu
        .far
        .map(|far| format!("far end {}", shares(far.user_ratio, far.kernel_ratio)));
    let known: Vec<String> = [near, far].into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join("; "))
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// The text of one search: table, recommendation, reasons, settings.
pub fn tune(tune: &Tune, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.title(&text::plain(&tune.target.name));
    search(&mut page, tune, paint);
    page.finish()
}

fn search(page: &mut Page, tune: &Tune, paint: Paint) {
    page.block(&runs(&samples(tune), paint));
    page.legend(text::RUNS_LEGEND);
    for doubt in text::doubts(tune) {
        page.sentence(&doubt);
    }
    page.gap();
    page.strong(&text::recommendation(tune));
    for sentence in text::tune(tune) {
        page.sentence(&sentence);
    }
    if let Some(answer) = &tune.answer {
        settings(page, answer, tune.target.kind);
    }
}

fn samples(tune: &Tune) -> Vec<RunRow<'_>> {
    let chosen = tune.answer.as_ref().map(|answer| answer.recommended.sample);
    let row = |(index, sample): (usize, _)| sample_row(sample, Some(index) == chosen);
    tune.samples.iter().enumerate().map(row).collect()
}

fn sample_row(sample: &Sample, chosen: bool) -> RunRow<'_> {
    RunRow {
        name: Name::Setting,
        run: &sample.run,
        standing: match chosen {
            true => Standing::Chosen,
            false => Standing::doubted(sample.doubt.as_ref()),
        },
    }
}

fn settings(page: &mut Page, answer: &Answer, kind: Kind) {
    if !answer.settings.is_empty() {
        page.gap();
        page.title("Settings to paste");
    }
    for setting in &answer.settings {
        page.command(&text::plain(&setting.command), setting.note.as_deref());
    }
    if !answer.sysctl.is_empty() {
        page.gap();
        page.title("Host limits in the way");
    }
    for line in &answer.sysctl {
        let command = format!(
            "sysctl -w {}=\"{}\"",
            text::plain(&line.key),
            text::plain(&line.value)
        );
        page.sentence(&text::sentence(&text::sysctl(line, kind)));
        page.command(&command, None);
    }
}

/// The text of a demonstration: the settings side by side, then the search.
pub fn demo(demo: &Demo, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.title(&text::plain(&demo.target.name));
    let settings = comparison::settings(demo);
    let rows: Vec<RunRow<'_>> = settings.iter().map(compared_row).collect();
    page.block(&runs(&rows, paint));
    page.legend(text::DEMO_LEGEND);
    page.gap();
    page.sentence(&text::demo(demo));
    page.gap();
    page.title("How the tuner got there");
    search(&mut page, &demo.tune, paint);
    page.finish()
}

fn compared_row<'a>(compared: &'a Compared<'_>) -> RunRow<'a> {
    let published = compared.published;
    RunRow {
        name: Name::Label {
            label: &compared.label,
            published_bits_per_second: published.map(|p| p.goodput_bits_per_second),
        },
        run: &compared.run,
        standing: Standing::of(compared.role == Role::Tuned),
    }
}

/// What the links of an emulated path did.
pub fn emulation(emulation: &Emulation, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.title(&format!(
        "{}: {}",
        text::plain(&emulation.path),
        text::plain(&emulation.path_description)
    ));
    page.block(&links::links(emulation, paint));
    page.finish()
}

#[cfg(test)]
mod tests;
