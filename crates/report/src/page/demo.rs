//! The page of a demonstration: settings side by side, then the search.

mod settings;

use record::Demo;

use super::{Block, Column, Page, Row, Standing, Table, run, tune};
use crate::chart::palette::{ACCENT, BLUE, INK};
use crate::chart::{BarRow, Chart, Entry, Mark, Panel};
use crate::format::{self, or_absent};
use crate::text;
use settings::{Compared, Role};

pub fn page(demo: &Demo) -> Page {
    let settings = settings::settings(demo);
    let caption = "Goodput of each setting on the same path.";
    let mut blocks = vec![
        Block::figure("settings", caption, bars(&settings)),
        Block::Table(table(&settings)),
        Block::note(text::DEMO_LEGEND),
        Block::lead(conclusion(demo, &settings)),
        Block::heading("How the tuner got there"),
    ];
    blocks.extend(tune::search(&demo.tune));
    let at_work = (1..)
        .zip(&settings)
        .flat_map(|(number, compared)| at_work(number, compared));
    blocks.push(Block::wide(at_work));
    Page::new("demo", &demo.target.name, blocks)
}

fn at_work(number: usize, compared: &Compared<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::heading(format!("At work: {}", compared.label))];
    blocks.extend(text::why(&compared.run).map(|why| Block::Sentences(vec![why])));
    blocks.extend(run::figures(&compared.run, &format!("{number}-")));
    blocks
}

fn table(settings: &[Compared<'_>]) -> Table {
    let unit = run::unit(settings.iter().map(|compared| &*compared.run));
    let columns = run::columns(unit).map(|column| match column.heading.as_str() {
        "resent" => column.wide(),
        _ => column,
    });
    let names = [Column::name("setting"), Column::number("published")];
    let row = |compared: &Compared<'_>| {
        let published = compared.published_bits_per_second();
        let published = or_absent(published, |bits| unit.number(bits as f64));
        let name = [compared.label.clone(), published];
        let row = Row::new(name.into_iter().chain(run::cells(&compared.run, unit)));
        row.standing(Standing::chosen(compared.role == Role::Tuned))
    };
    Table::new(names.into_iter().chain(columns), settings.iter().map(row))
}

/// The slowest of the usual settings beside the tuned one, in a sentence.
fn conclusion(demo: &Demo, settings: &[Compared<'_>]) -> String {
    let of_role = |role| {
        settings
            .iter()
            .filter(move |compared| compared.role == role)
    };
    let slowest = of_role(Role::Usual).min_by_key(|compared| compared.run.goodput_bits_per_second);
    let (Some(slow), Some(tuned)) = (slowest, of_role(Role::Tuned).next()) else {
        return text::recommendation(&demo.tune);
    };
    let times = text::factor(tuned.run.interval.as_ref(), slow.run.interval.as_ref());
    format!(
        "One path, the same TCP: {} with \u{201c}{}\u{201d}, {} with {}{}.",
        slow.goodput(),
        slow.label,
        tuned.goodput(),
        text::setting(&tuned.run.setting),
        times.map_or(String::new(), |times| format!(": {times} times as much")),
    )
}

/// A bar for each setting, whiskers for its interval and a mark for what was published.
fn bars(settings: &[Compared<'_>]) -> Chart {
    let row = |compared: &Compared<'_>| {
        let run = &compared.run;
        let colour = match compared.role {
            Role::Usual => BLUE,
            Role::Tuned => ACCENT,
        };
        let published = compared.published_bits_per_second();
        let ends = run.interval;
        let ends = ends.map(|interval| (interval.low.as_f64(), interval.high.as_f64()));
        BarRow {
            name: compared.label.clone(),
            bars: vec![(0.0, run.goodput_bits_per_second as f64, colour)],
            whisker: ends,
            mark: published.map(|bits| (bits as f64, INK)),
            value: compared.goodput(),
        }
    };
    let published = settings.iter().find_map(|compared| compared.published);
    let published = published.map(|published| {
        let source = format::shortened(&published.source, 34);
        Entry::new(Mark::Line(INK), format!("published: {source}"))
    });
    let compared = Entry::new(Mark::Area(BLUE), "goodput here, with its 95 % interval");
    let tuned = Entry::new(Mark::Area(ACCENT), "recommended");
    Chart {
        legend: [compared, tuned].into_iter().chain(published).collect(),
        panels: vec![Panel::Bars(settings.iter().map(row).collect())],
    }
}
