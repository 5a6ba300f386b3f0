//! Monthly tables by pair or by group, as PingER prints them.

mod chart;
mod figure;
mod rows;

use std::collections::{BTreeMap, BTreeSet};

use changes::{PingFigure, UnixTime};
use draw::page::{Block, Cell};
use maud::{Markup, html};
use watch_plan::Plan;
use watch_store::{Month, Name, Pair};

use self::figure::Figure;
use self::rows::Values;
use super::task_of;
use crate::ask::Ask;
use crate::frame::{Sheet, Tab};
use crate::href::Place;
use crate::problem::Problem;
use crate::site::Site;
use crate::{calendar, href};

/// Rows of one page; groups sum up more.
const ROWS: usize = 1000;

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Pair,
    Group,
}

const ROWS_BY: [(&str, By); 2] = [("by pair", By::Pair), ("by group", By::Group)];

/// What was asked for.
struct Asked {
    task: Name,
    year: i16,
    figure: Option<Figure>,
    by: By,
}

/// The page.
pub fn sheet(site: &Site, ask: &Ask) -> Result<Sheet, Problem> {
    let now = site.live.now();
    let table = site.live.timetable();
    let plan = table.as_deref().map(|table| table.plan());
    let (tasks, months, asked) = site.stores.with(|store| {
        let mut tasks = store.tasks()?;
        // Those of the plan come first: agents may name others.
        tasks.sort_by_key(|task| plan.is_none_or(|plan| task_of(plan, task).is_none()));
        let Some(asked) = asked(ask, &tasks, now)? else {
            return Ok((tasks, Vec::new(), None));
        };
        // All years: a row ends with what they changed.
        let all = [0, u64::MAX].map(UnixTime::from_seconds);
        let months = store.months(&asked.task, all[0], all[1])?;
        Ok::<_, Problem>((tasks, months, Some(asked)))
    })?;
    let title = "Months".to_owned();
    let body = match asked {
        None => html! { h1 { (title) } p.quiet { "No visit is stored yet." } },
        Some(asked) => asked.draw(&tasks, &months, plan, now)?,
    };
    Ok(Sheet {
        title,
        tab: Tab::Months,
        is_live: false,
        body,
    })
}

/// `None` where no task has a visit.
fn asked(ask: &Ask, tasks: &[Name], now: UnixTime) -> Result<Option<Asked>, Problem> {
    let wanted = ask.name("task")?;
    let task = match wanted {
        Some(task) if !tasks.contains(&task) => {
            let what = format!("no task {:?} has a visit", task.as_str());
            return Err(Problem::unknown(what, "choose one from the page of months"));
        }
        wanted => wanted.or_else(|| tasks.first().cloned()),
    };
    let Some(task) = task else {
        return Ok(None);
    };
    let year = ask.number("year", 9998)?.map(|year| year as i16);
    let year = year.unwrap_or_else(|| calendar::year(now));
    if !(1970..=9998).contains(&year) {
        let what = format!("`year` is {year}, not between 1970 and 9998");
        return Err(Problem::bad(what, "choose a year from the page of months"));
    }
    Ok(Some(Asked {
        task,
        year,
        figure: one_of(
            ask,
            "figure",
            &Figure::ALL.map(|figure| (figure.word(), figure)),
        )?,
        by: one_of(ask, "by", &[("pair", By::Pair), ("group", By::Group)])?.unwrap_or(By::Pair),
    }))
}

/// A word of a list.
fn one_of<T: Copy>(ask: &Ask, key: &str, words: &[(&str, T)]) -> Result<Option<T>, Problem> {
    let Some(text) = ask.text(key) else {
        return Ok(None);
    };
    let found = words.iter().find(|(word, _)| *word == text);
    let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let wrong = || {
        let what = format!("`{key}` is {text:?}, none of {}", all.join(", "));
        Problem::bad(what, "use one of these")
    };
    found.map(|(_, value)| Some(*value)).ok_or_else(wrong)
}

impl Asked {
    fn draw(
        &self,
        tasks: &[Name],
        months: &[Month],
        plan: Option<&Plan>,
        now: UnixTime,
    ) -> Result<Markup, Problem> {
        let figure = self.figure.unwrap_or_else(|| usual(months));
        let groups = plan.map(rows::group_pairs).unwrap_or_default();
        let (rows, pairs) = match self.by {
            By::Pair => self.by_pair(figure, months),
            By::Group => (by_group(figure, months, &groups), 0),
        };
        let blocks = self.blocks(figure, &rows);
        let chart = chart::drawn(figure, &rows)?;
        let is_of_year = |month: &Month| calendar::year(month.figures.start) == self.year;
        Ok(html! {
            h1 { "Months of " (self.year) }
            p.setting { (self.task) ", " (figure.title()) }
            div.controls {
                @if tasks.len() > 1 { (super::links("Tasks", tasks.iter().map(|task| {
                    let place = self.place(task, self.year, None, self.by);
                    (task.to_string(), place, *task == self.task)
                }))) }
                (super::links("Figures", Figure::ALL.into_iter().map(|other| {
                    let place = self.place(&self.task, self.year, Some(other), self.by);
                    (other.title().to_owned(), place, other == figure)
                })))
                @if !groups.is_empty() {
                    (super::links("Rows", ROWS_BY.map(|(words, by)| {
                        let place = self.place(&self.task, self.year, self.figure, by);
                        (words.to_owned(), place, by == self.by)
                    })))
                }
                (super::links("Years", self.years(now).map(|year| {
                    let place = self.place(&self.task, year, self.figure, self.by);
                    (year.to_string(), place, year == self.year)
                })))
            }
            @if !months.iter().any(is_of_year) { p.quiet { "No visit of this year is stored." } }
            @if pairs > ROWS {
                p.quiet { "The first " (ROWS) " of " (pairs) " pairs, by name. "
                    code { "trunkline watch export months" } " has all." }
            }
            @if let Some(chart) = chart { (chart) }
            (draw::render::html::sections(&blocks)?)
        })
    }

    fn years(&self, now: UnixTime) -> impl Iterator<Item = i16> + use<> {
        let last = calendar::year(now).max(self.year);
        let first = (last - 2).min(self.year.max(1971) - 1);
        (first..=last).filter(move |year| last - year < 4 || *year - first < 3)
    }

    fn place(&self, task: &Name, year: i16, figure: Option<Figure>, by: By) -> Place {
        let mut place = href::months(task).with("year", year);
        if let Some(figure) = figure {
            place = place.with("figure", figure.word());
        }
        match by {
            By::Pair => place,
            By::Group => place.with("by", "group"),
        }
    }

    fn blocks(&self, figure: Figure, rows: &[(Cell, Values)]) -> Vec<Block> {
        let note = "Visits of a month, in UTC; a month without visits is empty. In a year: the \
                    median slope of the logarithms of all months, from twelve on, with where it \
                    lies (95 %); of a group the median of its pairs. The current month lags by up \
                    to an hour of visits.";
        let what = match self.by {
            By::Pair => "pair",
            By::Group => "group",
        };
        let mut blocks = vec![Block::Table(rows::table(what, figure, self.year, rows))];
        if self.by == By::Group {
            let of_pairs = match figure {
                Figure::Probes(_) => {
                    "Means of the pairs. A pair whose host answered nothing in the month is left \
                     out, and so is a bound."
                }
                Figure::Goodput | Figure::Failed => "Medians of the pairs.",
            };
            blocks.extend([
                Block::note(of_pairs),
                Block::heading("Pairs and visits behind each cell"),
                Block::Table(rows::counts(self.year, rows)),
            ]);
        }
        if !figure.note().is_empty() {
            blocks.push(Block::note(figure.note()));
        }
        blocks.push(Block::note(note));
        blocks
    }

    /// The first pairs that have the figure in this year, and how many have it.
    fn by_pair(&self, figure: Figure, months: &[Month]) -> (Vec<(Cell, Values)>, usize) {
        let mut pairs: BTreeMap<&Pair, Vec<&Month>> = BTreeMap::new();
        for month in months
            .iter()
            .filter(|month| figure.of(&month.figures).is_some())
        {
            pairs.entry(&month.pair).or_default().push(month);
        }
        let is_of_year = |month: &&Month| calendar::year(month.figures.start) == self.year;
        pairs.retain(|_, months| months.iter().any(is_of_year));
        let count = pairs.len();
        let row = |(pair, months): (&Pair, Vec<&Month>)| {
            let name = Cell::link(pair.to_string(), href::pair(pair, &self.task).to_string());
            (name, Values::of_pair(figure, months.into_iter()))
        };
        (pairs.into_iter().take(ROWS).map(row).collect(), count)
    }
}

fn by_group(
    figure: Figure,
    months: &[Month],
    groups: &BTreeMap<String, BTreeSet<(String, String)>>,
) -> Vec<(Cell, Values)> {
    let rows = groups.iter().map(|(name, pairs)| {
        let months = months
            .iter()
            .filter(|month| rows::is_of(pairs, &month.pair));
        (Cell::from(name.clone()), Values::of_group(figure, months))
    });
    rows.collect()
}

/// Goodput where there is any.
fn usual(months: &[Month]) -> Figure {
    let has_goodput = months.iter().any(|month| month.figures.goodput.is_some());
    match has_goodput {
        true => Figure::Goodput,
        false => Figure::Probes(PingFigure::Median),
    }
}

#[cfg(test)]
mod tests;
