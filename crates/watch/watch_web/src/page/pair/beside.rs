//! What is drawn beside a pair: another pair, the same one on earlier days, or both.

use std::collections::BTreeSet;

use maud::{Markup, html};
use units::Span;
use watch_store::{Name, Pair, Store};

use super::series::{Carried, Series, Trips};
use crate::ask::Ask;
use crate::href::Place;
use crate::problem::Problem;
use crate::range::{Range, earlier};

/// Most days between the two times.
const DAYS: u64 = 3660;
const DAY: u64 = 86_400;

/// What shall be drawn beside a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    pair: Pair,
    days: u64,
}

/// Its values, at the times of those that they stand beside.
pub struct Beside {
    /// What it is, in some words.
    pub name: String,
    /// Round trips in the order of time.
    pub trips: Vec<Trips>,
    /// Goodput in the order of time, in parts without gaps.
    pub goodput: Vec<Vec<Carried>>,
}

impl Other {
    /// What is asked for; `None` for the pair alone.
    pub fn asked(ask: &Ask, pair: &Pair) -> Result<Option<Self>, Problem> {
        let own = pair.clone();
        let other = Other {
            pair: Pair {
                from: ask.name("with_from")?.unwrap_or(own.from),
                to: ask.name("with_to")?.unwrap_or(own.to),
            },
            days: ask.number("days", DAYS)?.unwrap_or(0),
        };
        Ok((other != Other::itself(pair)).then_some(other))
    }

    fn itself(pair: &Pair) -> Self {
        let pair = pair.clone();
        Other { pair, days: 0 }
    }

    /// The page with it.
    pub fn at(&self, place: Place) -> Place {
        let place = place.with("with_from", self.pair.from.as_str());
        let place = place.with("with_to", self.pair.to.as_str());
        place.with("days", self.days)
    }

    /// What it is, in some words.
    pub fn name(&self) -> String {
        let Pair { from, to } = &self.pair;
        match self.days {
            0 => format!("{from} → {to}"),
            days => format!("{from} → {to}, {} earlier", draw::words::count(days, "day")),
        }
    }

    /// Its values of a range.
    pub fn read(&self, store: &mut Store, task: &Name, range: Range) -> Result<Beside, Problem> {
        let tasks = store.tasks_of(&self.pair)?;
        if tasks.is_empty() {
            let what = format!("no task visits the pair {}", self.pair);
            return Err(Problem::unknown(what, "choose two hosts of a grid"));
        }
        let shift = Span::from_secs(self.days * DAY);
        let (from, to) = range.ends();
        let then = Range::between((earlier(from, shift), earlier(to, shift)));
        let series = Series::of(store, &self.pair, task, &tasks, then)?;
        let shift = shift.as_secs_f64();
        let trips = series.trips().into_iter().map(|trips| Trips {
            at: trips.at + shift,
            until: trips.until + shift,
            ..trips
        });
        let later = |point: Carried| Carried {
            at: point.at + shift,
            ..point
        };
        let parts = series.goodput().into_iter();
        Ok(Beside {
            name: self.name(),
            trips: trips.collect(),
            goodput: parts
                .map(|part| part.into_iter().map(later).collect())
                .collect(),
        })
    }
}

/// Links and a form for what shall be drawn beside a pair of `pairs`.
pub fn choice(place: &Place, own: &Pair, now: Option<&Other>, pairs: &[Pair]) -> Markup {
    let before = |days| Other {
        days,
        ..Other::itself(own)
    };
    let usual = [
        ("a day before", before(1)),
        ("a week before", before(7)),
        ("four weeks before", before(28)),
        ("the other way", Other::itself(&own.clone().turned())),
    ];
    let alone = ("alone".to_owned(), place.clone(), now.is_none());
    let usual = usual.into_iter().map(|(text, other)| {
        let is_here = now == Some(&other);
        (text.to_owned(), other.at(place.clone()), is_here)
    });
    let itself = Other::itself(own);
    let chosen = now.unwrap_or(&itself);
    let froms: BTreeSet<&Name> = pairs.iter().map(|pair| &pair.from).collect();
    let tos: BTreeSet<&Name> = pairs.iter().map(|pair| &pair.to).collect();
    let fields = html! {
        label { "from " (hosts("with_from", &froms, &chosen.pair.from)) }
        label { "to " (hosts("with_to", &tos, &chosen.pair.to)) }
        label { "days earlier "
            input type="number" name="days" min="0" max=(DAYS) value=(chosen.days) required; }
        button { "Compare" }
    };
    html! {
        details.compare open[now.is_some()] {
            summary { "Compare with another time or pair" }
            div.controls {
                (super::super::links("Compare", std::iter::once(alone).chain(usual)))
                (place.form("fields", fields))
            }
        }
    }
}

fn hosts(key: &str, names: &BTreeSet<&Name>, chosen: &Name) -> Markup {
    html! {
        select name=(key) {
            @for name in names { option selected[*name == chosen] value=(name.as_str()) { (name) } }
        }
    }
}

/// The other direction.
pub trait Turned {
    fn turned(self) -> Self;
}

impl Turned for Pair {
    fn turned(self) -> Self {
        let Pair { from, to } = self;
        Pair { from: to, to: from }
    }
}
