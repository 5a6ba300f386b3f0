//! Addresses of pages. Names of hosts and tasks may hold any character.

use std::fmt::{self, Display, Formatter};

use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use watch_store::{EventKey, Name, Pair, VisitId};

use crate::range::Range;

/// Everything but letters, digits and what RFC 3986 (section 2.3) leaves unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// Stands in front of names that a path would not keep.
const MARK: char = '~';

/// The page of all tasks.
pub const HOME: &str = "/";
/// The page of events.
pub const EVENTS: &str = "/events";
/// The page of silences.
pub const SILENCES: &str = "/silences";
/// The page of small charts.
pub const CHARTS: &str = "/charts";
/// The page of hosts.
pub const HOSTS: &str = "/hosts";
/// The page of months.
pub const MONTHS: &str = "/months";
/// The page of traffic across the border.
pub const TRAFFIC: &str = "/traffic";

/// A name as one segment of a path. Browsers take `.` and `..` as steps, even encoded, so such
/// names and those that begin with the mark have the mark in front.
pub fn segment(name: &Name) -> String {
    let text = name.as_str();
    let mark = match matches!(text, "." | "..") || text.starts_with(MARK) {
        true => "~",
        false => "",
    };
    format!("{mark}{}", encoded(text))
}

/// The name that a decoded segment stands for.
pub fn from_segment(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// An address with its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    path: String,
    query: Vec<(&'static str, String)>,
}

impl Place {
    /// Without a query.
    pub fn new(path: impl Into<String>) -> Self {
        Place {
            path: path.into(),
            query: Vec::new(),
        }
    }

    /// With this value, in the place of another one of the key.
    pub fn with(mut self, key: &'static str, value: impl Display) -> Self {
        self.query.retain(|(known, _)| *known != key);
        self.query.push((key, value.to_string()));
        self
    }

    /// Showing this range.
    pub fn within(self, range: Range) -> Self {
        match range.ago {
            Some(ago) => self.with("range", ago.word()),
            None => {
                let from = self.with("from", range.from.seconds());
                from.with("to", range.to.seconds())
            }
        }
    }

    /// A form that leads there with the values of its fields.
    pub fn form(&self, class: &str, fields: Markup) -> Markup {
        html! {
            form class=(class) method="get" action=(self.path) autocomplete="off" {
                @for (key, value) in &self.query {
                    input type="hidden" name=(key) value=(value);
                }
                (fields)
            }
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        for (number, (key, value)) in self.query.iter().enumerate() {
            let mark = if number == 0 { '?' } else { '&' };
            write!(f, "{mark}{key}={}", encoded(value))?;
        }
        Ok(())
    }
}

/// The grid of a task.
pub fn grid(task: &Name) -> Place {
    Place::new(HOME).with("task", task.as_str())
}

/// The page of a pair and task.
pub fn pair(pair: &Pair, task: &Name) -> Place {
    let (from, to) = (segment(&pair.from), segment(&pair.to));
    Place::new(format!("/pair/{from}/{to}")).with("task", task.as_str())
}

/// The page of an event.
pub fn event(event: &EventKey) -> Place {
    Place::new(format!("/event/{}", of_event(event)))
}

/// The page of the incident that an event is of.
pub fn incident(event: &EventKey) -> Place {
    Place::new(format!("/incident/{}", of_event(event)))
}

fn of_event(EventKey { pair, task, id }: &EventKey) -> String {
    let names = [task, &pair.from, &pair.to].map(segment).join("/");
    format!("{names}/{id}")
}

/// The page of a visit.
pub fn visit(id: VisitId) -> Place {
    Place::new(format!("/visit/{id}"))
}

/// The page of small charts of a task.
pub fn charts(task: &Name) -> Place {
    Place::new(CHARTS).with("task", task.as_str())
}

/// Months of a task.
pub fn months(task: &Name) -> Place {
    Place::new(MONTHS).with("task", task.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_comes_back_from_its_segment() {
        for text in [
            "cern",
            "..",
            ".",
            "~",
            "~~a",
            "a/b",
            "%2F",
            "東 \"<b>",
            "a?b#c&d",
        ] {
            let segment = segment(&name(text));
            let safe = |c: char| c.is_ascii_alphanumeric() || "-._~%".contains(c);
            assert!(segment.chars().all(safe), "{segment}");
            assert!(!matches!(segment.as_str(), "." | ".."), "{text}");
            let decoded = percent_encoding::percent_decode_str(&segment);
            let decoded = decoded.decode_utf8().unwrap();
            assert_eq!(from_segment(&decoded), text);
        }
    }

    #[test]
    fn a_value_of_a_query_takes_the_place_of_another_one() {
        let place = Place::new("/pair/a/b").with("task", "a&b").with("days", 1);
        assert_eq!(place.to_string(), "/pair/a/b?task=a%26b&days=1");
        let other = place.with("task", "c").to_string();
        assert_eq!(other, "/pair/a/b?days=1&task=c");
    }
}
