//! The page of a demonstration: settings side by side, then the search.

mod settings;

use draw::chart::palette::RGBColor;
use record::{Demo, Promise, Run};

use super::{run, tune};
use crate::text;
use draw::chart::palette::{ACCENT, BLUE, INK, SERIES};
use draw::chart::{BarRow, Chart, Entry, Mark, Panel};
use draw::format::{self, or_absent};
use draw::page::{Block, Column, Page, Row, Standing, Table};
use settings::{Compared, Role};

pub fn page(demo: &Demo) -> Page {
    let settings = settings::settings(demo);
    let caption = "Goodput of each setting on the same path.";
    let mut blocks = vec![
        Block::figure("settings", caption, bars(&settings)),
        Block::Table(table(&settings)),
        Block::note(text::DEMO_LEGEND),
        Block::lead(conclusion(demo, &settings)),
        Block::Sentences(promises(demo, &settings)),
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
    let names = [
        Column::name("setting"),
        Column::number("published"),
        Column::number("60 s"),
    ];
    let row = |compared: &Compared<'_>| {
        let published = compared.published_bits_per_second();
        let published = or_absent(published, |bits| unit.number(bits as f64));
        let promised = compared.promise.map(|one| one.goodput_bits_per_second);
        let promised = or_absent(promised, |bits| unit.number(bits as f64));
        let name = [compared.label.clone(), published, promised];
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
    let both = slowest.zip(of_role(Role::Tuned).next());
    let faster = both.filter(|(slow, tuned)| {
        slow.run.goodput_bits_per_second < tuned.run.goodput_bits_per_second
    });
    let Some((slow, tuned)) = faster else {
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

/// Whether the runs bore out what was promised, and which setting carried more than the recommended
/// one.
fn promises(demo: &Demo, settings: &[Compared<'_>]) -> Vec<String> {
    let recommended = settings.iter().find(|one| one.role == Role::Tuned);
    let confirmed = demo.tune.confirmations.iter().filter_map(|one| {
        let run = &demo.tune.samples.get(one.sample)?.run;
        let is_last = recommended.is_some_and(|last| last.run.setting == run.setting);
        Some(confirmation(&one.promise, run, is_last))
    });
    let more = |one: &&Compared<'_>| {
        let carried = |one: &Compared<'_>| one.run.goodput_bits_per_second;
        recommended.is_some_and(|last| carried(one) > carried(last))
    };
    let higher = settings.iter().filter(more);
    let higher = higher.map(|one| format!("\u{201c}{}\u{201d} {}", one.label, one.goodput()));
    let higher: Vec<String> = higher.collect();
    let others = format!(
        "In their runs others carried more than what is recommended: {}.",
        higher.join(", ")
    );
    confirmed
        .chain((!higher.is_empty()).then_some(others))
        .collect()
}

/// What was promised for a setting, and what it carried.
fn confirmation(promise: &Promise, run: &Run, is_last: bool) -> String {
    let promised = promise.goodput_bits_per_second;
    let carried = run.goodput_bits_per_second;
    let ends = promise.interval.as_ref();
    let kept = ends.is_none_or(|ends| {
        (ends.low.bits_per_second()..=ends.high.bits_per_second()).contains(&carried)
    });
    let bore_out = match (kept, is_last) {
        (true, true) => "as promised",
        (true, false) => "within the promise, but since then another setting is worth more",
        (false, true) => "not as promised, and with this run counted it is still the answer",
        (false, false) => "not as promised, and the search chose another",
    };
    format!(
        "For {} the search had promised {}; {} of it carried {}: {bore_out}.",
        text::setting(&run.setting),
        format::rate_with_margin(promised, ends),
        format::time(run.duration_seconds),
        format::rate_with_margin(carried, run.interval.as_ref()),
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
            bars: [(0.0, run.goodput_bits_per_second as f64, colour)]
                .into_iter()
                .chain(compared.promise.and_then(promised))
                .collect(),
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
    let promises = settings.iter().filter_map(|one| one.promise);
    let promised = promises.filter_map(promised).next();
    let promised = promised.map(|(_, _, colour)| {
        Entry::new(Mark::Area(colour), "promised: where 95 % of minutes lie")
    });
    let legend = [compared, tuned].into_iter().chain(promised);
    Chart {
        legend: legend.chain(published).collect(),
        panels: vec![Panel::Bars(settings.iter().map(row).collect())],
    }
}

/// The interval of a promise as a thin bar.
fn promised(promise: &Promise) -> Option<(f64, f64, RGBColor)> {
    let ends = promise.interval?;
    Some((ends.low.as_f64(), ends.high.as_f64(), SERIES[2]))
}

#[cfg(test)]
mod tests {
    use record::{Confirmation, synthetic};

    use super::*;

    /// A demo whose recommended setting was promised so much, and carried so much in its run.
    fn confirmed(promise: u64, carried: u64) -> (Demo, Vec<String>) {
        let mut demo = synthetic::demo(7).body;
        let sample = demo.tune.answer.as_ref().unwrap().recommended.sample;
        demo.tune.samples[sample].run.goodput_bits_per_second = carried;
        demo.tuned = Some(demo.tune.samples[sample].run.clone());
        let around = |share: f64| units::Rate::from_f64(share * promise as f64);
        demo.tune.confirmations = vec![Confirmation {
            sample,
            promise: Promise {
                goodput_bits_per_second: promise,
                interval: Some(record::Interval::new(around(0.9), around(1.1))),
            },
        }];
        let sentences = promises(&demo, &settings::settings(&demo));
        (demo, sentences)
    }

    #[test]
    fn a_promise_that_was_kept_is_said_beside_the_run() {
        let (demo, sentences) = confirmed(41_000_000, 40_000_000);
        assert_eq!(sentences.len(), 1, "{sentences:?}");
        assert!(sentences[0].contains("as promised"), "{sentences:?}");
        assert!(!sentences[0].contains("not as promised"));
        let says = conclusion(&demo, &settings::settings(&demo));
        assert!(says.contains("One path, the same TCP"), "{says}");
    }

    /// 42.6 Mbit/s promised, 4 carried: the page says so, and which rows carried more.
    #[test]
    fn a_promise_that_was_broken_is_said_and_so_is_what_carried_more() {
        let (demo, sentences) = confirmed(42_600_000, 4_030_000);
        let text = sentences.join(" ");
        assert!(text.contains("4.03 "), "{text}");
        assert!(text.contains("not as promised"), "{text}");
        assert!(text.contains("others carried more"), "{text}");
        let says = conclusion(&demo, &settings::settings(&demo));
        assert!(!says.contains("times as much"), "{says}");
    }
}
