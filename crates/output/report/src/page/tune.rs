//! The page of one search.

mod streams;

use record::{Answer, Kind, Run, Sample, Transport, Tune};

use super::run;
use crate::text;
use draw::format::{self, RateUnit};
use draw::page::{Block, Column, Command, Fact, Medium, Page, Row, Standing, Table};

/// What was tried, the recommendation with its reasons, and the commands for it.
pub fn page(tune: &Tune) -> Page {
    let mut blocks = search(tune);
    if let Some(sample) = tune.recommended_sample() {
        let heading = Block::heading("The recommended setting at work");
        let figures = run::figures(&sample.run, "");
        blocks.push(Block::wide([heading].into_iter().chain(figures)));
    }
    Page::new("tune", &tune.target.name, blocks)
}

/// What was tried, what to use and why, and the commands for it.
pub fn search(tune: &Tune) -> Vec<Block> {
    let caption = "Goodput with its 95 % interval, and what it adds to the round trip, against the \
         number of streams. Faint points count for less than they show, or for nothing.";
    let mut blocks = vec![
        Block::figure("streams", caption, streams::chart(tune)),
        Block::Table(samples(tune)),
        Block::note(text::RUNS_LEGEND),
        marks(tune),
        Block::Sentences(text::doubts(tune)),
        Block::lead(text::recommendation(tune)),
        Block::wide([Block::Facts(facts(tune))]),
        Block::Why(text::tune(tune)),
    ];
    if let Some(answer) = &tune.answer {
        blocks.extend(settings(answer, tune.target.kind));
    }
    blocks
}

/// What the marks of rows mean that count for less; a browser greys these rows.
fn marks(tune: &Tune) -> Block {
    let is_doubted = tune.samples.iter().any(|sample| sample.doubt.is_some());
    let (less, aside) = (Standing::Less.mark(), Standing::Aside.mark());
    let legend =
        format!("Rows marked {less} count for less, and rows marked {aside} do not count:");
    let legend = is_doubted.then(|| Block::Sentences(vec![legend]));
    Block::Only(Medium::Terminal, legend.into_iter().collect())
}

/// The run that showed the recommendation, with the goodput that the recommendation states, so that
/// the table and the sentence never differ. Of a setting that was tried twice it is the last run.
pub fn tuned_run(tune: &Tune) -> Option<Run> {
    let mut run = tune.recommended_sample()?.run.clone();
    let recommended = &tune.answer.as_ref()?.recommended;
    run.goodput_bits_per_second = recommended.goodput_bits_per_second;
    run.interval = recommended.interval;
    Some(run)
}

fn facts(tune: &Tune) -> Vec<Fact> {
    let Some(answer) = &tune.answer else {
        return Vec::new();
    };
    let chosen = &answer.recommended;
    let congestion = chosen.congestion.as_deref().map(text::plain);
    let congestion = congestion.map(|name| format!(", {name}"));
    let paced = chosen.pacing;
    let paced = paced.map(|pace| format!(", paced at {}", pace.human()));
    let how: String = [congestion, paced].into_iter().flatten().collect();
    let streams = Fact::new("streams", chosen.streams.to_string());
    let streams = streams.after(match chosen.transport {
        Transport::Tcp => format!(", window {}{how}", chosen.window),
        Transport::Udp => format!(", over UDP{how}"),
    });
    let run = tuned_run(tune);
    let figures = run.iter().flat_map(|run| {
        [
            Some(run::goodput(run)),
            run::round_trip(run),
            run::resent(run),
        ]
    });
    [Some(streams)]
        .into_iter()
        .chain(figures)
        .flatten()
        .collect()
}

fn samples(tune: &Tune) -> Table {
    let unit = run::unit(tune.samples.iter().map(|sample| &sample.run));
    let chosen = tune.answer.as_ref().map(|answer| answer.recommended.sample);
    let first = tune.samples.first();
    let usual = first.and_then(|first| first.run.setting.congestion.as_deref());
    let mut columns = vec![Column::number("streams"), Column::number("window")];
    columns.extend(run::columns(unit));
    columns.push(Column::number("60 s"));
    columns.push(Column::text("why tried").wide());
    let row = |(index, sample): (usize, &Sample)| {
        let standing = match Some(index) == chosen {
            true => Standing::Chosen,
            false => run::doubted(sample.doubt.as_ref()),
        };
        row(sample, unit, usual).standing(standing)
    };
    Table::new(columns, tune.samples.iter().enumerate().map(row))
}

fn row(sample: &Sample, unit: RateUnit, usual: Option<&str>) -> Row {
    let setting = &sample.run.setting;
    let name = [
        setting.streams.to_string(),
        format::window_with(setting, usual),
    ];
    let figures = run::cells(&sample.run, unit);
    let minute = sample.promise.as_ref();
    let minute = minute.map(|minute| unit.number(minute.goodput_bits_per_second as f64));
    let minute = minute.unwrap_or_else(|| format::ABSENT.to_owned());
    let last = [minute, sample.why.clone()];
    Row::new(name.into_iter().chain(figures).chain(last))
}

/// Commands for other tools, and the kernel settings in their way.
fn settings(answer: &Answer, kind: Kind) -> Vec<Block> {
    let setting = |setting: &record::ToolSetting| Command {
        name: setting.tool.clone(),
        why: String::new(),
        line: setting.command.clone(),
        note: setting.note.clone().unwrap_or_default(),
    };
    let limit = |line: &record::Sysctl| Command {
        name: line.key.clone(),
        why: text::sentence(&text::sysctl(line, kind)),
        line: format!("sysctl -w {}=\"{}\"", line.key, line.value),
        note: String::new(),
    };
    let settings: Vec<Command> = answer.settings.iter().map(setting).collect();
    let limits: Vec<Command> = answer.sysctl.iter().map(limit).collect();
    let parts = [
        ("Settings to paste", settings),
        ("Host limits in the way", limits),
    ];
    let parts = parts
        .into_iter()
        .filter(|(_, commands)| !commands.is_empty());
    let part = |(title, commands)| [Block::heading(title), Block::Commands(commands)];
    parts.flat_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn the_tuned_setting_has_the_goodput_of_the_recommendation() {
        let mut tune = synthetic::tune(7).body;
        let answer = tune.answer.as_mut().unwrap();
        answer.recommended.goodput_bits_per_second = 12_345;
        assert_eq!(tuned_run(&tune).unwrap().goodput_bits_per_second, 12_345);
    }
}
