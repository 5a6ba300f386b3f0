//! What a query of an address asks for, checked.

use std::collections::BTreeMap;

use changes::UnixTime;
use watch_store::{EventKey, Name, Pair};

use crate::problem::Problem;
use crate::range::{Ago, LONGEST, Range};
use crate::{calendar, href};

const HINT: &str = "take the form from a page of this server";
/// The values of a query by their names.
#[derive(Debug, Clone, Default)]
pub struct Ask(pub BTreeMap<String, String>);

impl Ask {
    /// A value; `None` where it is missing or empty.
    pub fn text(&self, key: &str) -> Option<&str> {
        let text = self.0.get(key).map(String::as_str);
        text.filter(|text| !text.is_empty())
    }

    /// A name.
    pub fn name(&self, key: &str) -> Result<Option<Name>, Problem> {
        let name = self.text(key).map(|text| name(key, text));
        name.transpose()
    }

    /// A point in time.
    pub fn time(&self, key: &str) -> Result<Option<UnixTime>, Problem> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        let time = calendar::read(text).ok_or_else(|| {
            Problem::bad(
                format!("`{key}` is {text:?}, no time between 1970 and 9999"),
                "give seconds since 1970, or a time as 2026-11-24 or 2026-11-24T18:00",
            )
        });
        time.map(Some)
    }

    /// The event of a form: its task, pair and number.
    pub fn event(&self) -> Result<EventKey, Problem> {
        let place = ["task", "from", "to", "event"];
        let missing = |key| Problem::bad(format!("`{key}` is missing"), HINT);
        let text = |key| self.text(key).ok_or_else(|| missing(key));
        let [task, from, to, id] = place.map(text);
        event_of(
            name("task", task?)?,
            (name("from", from?)?, name("to", to?)?),
            id?,
        )
    }

    /// The range of a page: `from` and `to`, or `range` before `now`, or else `usual`.
    pub fn range(&self, now: UnixTime, usual: Ago) -> Result<Range, Problem> {
        let before = |ago| Range::before(now, ago);
        self.range_by(now, before)
            .map(|range| range.unwrap_or_else(|| before(usual)))
    }

    /// The range that is asked for: `from` and `to`, or `range`, which `named` knows.
    pub fn range_by(
        &self,
        now: UnixTime,
        named: impl Fn(Ago) -> Range,
    ) -> Result<Option<Range>, Problem> {
        if let Some(from) = self.time("from")? {
            return between(from, self.time("to")?.unwrap_or(now)).map(Some);
        }
        if self.text("to").is_some() {
            let hint = "give `from` too, or `range` alone";
            return Err(Problem::bad("`to` is there and `from` is not", hint));
        }
        let Some(word) = self.text("range") else {
            return Ok(None);
        };
        let known = Ago::ALL.into_iter().find(|ago| ago.word() == word);
        let unknown = || {
            let words = Ago::ALL.map(Ago::word).join(", ");
            let what = format!("`range` is {word:?}, none of {words}");
            Problem::bad(what, "use one of these, or `from` and `to`")
        };
        known.ok_or_else(unknown).map(|ago| Some(named(ago)))
    }

    /// A whole number up to `most`.
    pub fn number(&self, key: &str, most: u64) -> Result<Option<u64>, Problem> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|number| *number <= most);
        let wrong = || {
            let what = format!("`{key}` is {text:?}, no whole number up to {most}");
            Problem::bad(what, format!("give a number from 0 to {most}"))
        };
        number.ok_or_else(wrong).map(Some)
    }
}

fn between(from: UnixTime, to: UnixTime) -> Result<Range, Problem> {
    let (begin, end) = (calendar::minute(from), calendar::minute(to));
    if to <= from {
        let what = format!("the range from {begin} to {end} has no length");
        return Err(Problem::bad(what, "give a `to` that lies behind `from`"));
    }
    if to.seconds() - from.seconds() > LONGEST {
        let what = format!("the range from {begin} to {end} is longer than ten years");
        return Err(Problem::bad(what, "give a `from` that lies nearer to `to`"));
    }
    Ok(Range::between((from, to)))
}

/// A name that stands in an address.
pub fn name(key: &str, text: &str) -> Result<Name, Problem> {
    let name = text.parse::<Name>();
    name.map_err(|error| {
        let what = format!("`{key}` is no name: {error}");
        Problem::bad(what, "take the address from a page of this server")
    })
}

/// The event of the segments of a path: its task, pair and number.
pub fn event(place: &[String; 4]) -> Result<EventKey, Problem> {
    let [task, from, to, id] = place.each_ref().map(|text| href::from_segment(text));
    event_of(
        name("task", task)?,
        (name("from", from)?, name("to", to)?),
        id,
    )
}

fn event_of(task: Name, (from, to): (Name, Name), id: &str) -> Result<EventKey, Problem> {
    let pair = Pair { from, to };
    match id.parse() {
        Ok(id) => Ok(EventKey { pair, task, id }),
        Err(_) => Err(no_event(&pair, &task, id)),
    }
}

/// That there is no such event.
pub fn no_event(pair: &Pair, task: &Name, id: &str) -> Problem {
    let task = task.as_str();
    let what = format!("the pair {pair} has no event {id:?} of the task {task:?}");
    Problem::unknown(what, "choose one from the page of the pair")
}

/// The pair of two segments of a path.
pub fn pair(from: &str, to: &str) -> Result<Pair, Problem> {
    let end = |key, text| name(key, href::from_segment(text));
    Ok(Pair {
        from: end("from", from)?,
        to: end("to", to)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(values: &[(&str, &str)]) -> Ask {
        let values = values
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()));
        Ask(values.collect())
    }

    fn now() -> UnixTime {
        UnixTime::from_seconds(1_795_543_200)
    }

    #[test]
    fn a_range_is_named_or_has_two_ends() {
        let week = ask(&[]).range(now(), Ago::Week).unwrap();
        assert_eq!(week.length().as_secs_f64(), 7.0 * 86_400.0 + 1.0);
        let named = ask(&[("range", "year")]).range(now(), Ago::Week).unwrap();
        assert_eq!(named.ago, Some(Ago::Year));
        let ends = ask(&[("from", "2026-11-01"), ("to", "2026-11-02")]);
        let ends = ends.range(now(), Ago::Week).unwrap();
        assert_eq!((ends.length().as_secs_f64(), ends.ago), (86_400.0, None));
    }

    #[test]
    fn wrong_values_are_named_with_their_bound() {
        let wrong = [
            (
                vec![("range", "century")],
                "none of hour, 6 hours, day, week, month, year",
            ),
            (vec![("from", "soon")], "no time between 1970 and 9999"),
            (
                vec![("from", "2026-11-02"), ("to", "2026-11-01")],
                "has no length",
            ),
            (vec![("from", "1980-01-01")], "longer than ten years"),
            (vec![("to", "2026-11-01")], "`from` is not"),
        ];
        for (values, words) in wrong {
            let problem = ask(&values).range(now(), Ago::Week).unwrap_err();
            assert!(problem.what.contains(words), "{values:?}: {}", problem.what);
        }
    }
}
