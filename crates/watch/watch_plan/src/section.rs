//! A table of a TOML file, read key by key. Mistakes are noted and reading goes on, so that all
//! mistakes of a file are shown at once. Plans are read so, and other files of a watch.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use units::Span;

use crate::tree::{self, Entry, Node, Value};
use crate::{Mistake, Notice, PlanError};

/// Reads a TOML file.
///
/// * `file`: names the text in messages.
/// * `layout`: what such a file looks like, as the next step where the text is no TOML.
/// * `read`: takes the whole file as a table; it notes mistakes and goes on.
///
/// # Errors
/// All mistakes of the text, with their lines.
pub fn read_toml<T>(
    text: &str,
    file: &str,
    layout: &str,
    read: impl FnOnce(&Section, &mut Findings) -> Option<T>,
) -> Result<(T, Vec<Notice>), PlanError> {
    let mut found = Findings::new(file);
    let value = match tree::toml(text, layout) {
        Ok(node) => Section::root(&node, &mut found).and_then(|root| read(&root, &mut found)),
        Err(mistake) => {
            found.mistakes.push(mistake);
            None
        }
    };
    found.finish(value)
}

/// What was found while a file was read, and those that it includes.
pub struct Findings<'a> {
    file: &'a str,
    /// Files behind the first one, and how many lines those before them have: lines are counted on
    /// from file to file.
    included: Vec<(usize, String)>,
    pub(crate) mistakes: Vec<Mistake>,
    pub(crate) notices: Vec<Notice>,
}

/// A place in a file: a line and a key with its tables.
#[derive(Debug, Clone)]
pub struct Place {
    /// The line, from 1; of files that are included, counted on from the files before.
    pub line: usize,
    /// The key with its tables; empty for the whole file.
    pub field: String,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(file: &'a str) -> Self {
        Findings {
            file,
            included: Vec::new(),
            mistakes: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// For a value that may be of several kinds: mistakes noted here are not told.
    pub fn scratch() -> Findings<'static> {
        Findings::new("")
    }

    /// From here on, another file is read, behind `lines` lines of those before it.
    pub(crate) fn begin_file(&mut self, lines: usize, name: String) {
        self.included.push((lines, name));
    }

    /// The file of a line, if it is not the first one, and the line in it.
    pub(crate) fn located(&self, line: usize) -> (Option<&str>, usize) {
        let mut before = self.included.iter().rev();
        match before.find(|(lines, _)| *lines < line) {
            Some((lines, name)) => (Some(name), line - lines),
            None => (None, line),
        }
    }

    /// The value, unless there were mistakes.
    pub(crate) fn finish<T>(mut self, value: Option<T>) -> Result<(T, Vec<Notice>), PlanError> {
        match value {
            Some(value) if self.mistakes.is_empty() => Ok((value, self.grouped_notices())),
            _ => {
                let mut mistakes = std::mem::take(&mut self.mistakes);
                mistakes.sort_by_key(|mistake| mistake.line);
                for mistake in &mut mistakes {
                    let (file, line) = self.located(mistake.line);
                    mistake.file = file.unwrap_or(self.file).to_owned();
                    mistake.line = line;
                }
                Err(PlanError::of(mistakes))
            }
        }
    }

    /// Each text once, with all of its lines.
    pub(crate) fn grouped_notices(&self) -> Vec<Notice> {
        let mut grouped: Vec<Notice> = Vec::new();
        let mut said = BTreeMap::new();
        for notice in &self.notices {
            let (file, line) = self.located(notice.line);
            let at = *said.entry((file, &notice.text)).or_insert(grouped.len());
            match grouped.get_mut(at) {
                Some(first) => first.more.push(line),
                None => grouped.push(Notice {
                    file: file.map(str::to_owned),
                    line,
                    ..notice.clone()
                }),
            }
        }
        grouped
    }

    /// Notes a mistake: the value with its bound, and the next step.
    pub fn refuse(&mut self, place: &Place, problem: String, hint: impl Into<String>) {
        self.mistakes.push(Mistake {
            file: String::new(),
            line: place.line,
            field: place.field.clone(),
            problem,
            hint: hint.into(),
        });
    }

    pub(crate) fn notice(&mut self, place: &Place, text: impl Into<String>) {
        self.notices.push(Notice {
            file: None,
            line: place.line,
            more: Vec::new(),
            field: place.field.clone(),
            text: text.into(),
        });
    }
}

/// One table and where it stands.
pub struct Section<'t> {
    /// Where it stands.
    pub place: Place,
    entries: &'t [Entry],
}

/// A value together with its place.
pub struct Field<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub place: Place,
}

impl<T: PartialOrd + Display> Field<T> {
    /// The field, unless its value is outside a bound, which is a mistake.
    pub fn within(self, bound: RangeInclusive<T>, found: &mut Findings) -> Option<Field<T>> {
        if bound.contains(&self.value) {
            return Some(self);
        }
        let (low, high) = (bound.start(), bound.end());
        let problem = format!("{} is not between {low} and {high}", self.value);
        found.refuse(&self.place, problem, format!("write {low} to {high}"));
        None
    }
}

impl<'t> Section<'t> {
    /// The whole file, which has to be a table.
    pub(crate) fn root(node: &'t Node, found: &mut Findings) -> Option<Section<'t>> {
        let place = Place {
            line: node.line,
            field: String::new(),
        };
        Section::of(node, place, found)
    }

    /// A node as a table; anything else is refused.
    pub(crate) fn of(node: &'t Node, place: Place, found: &mut Findings) -> Option<Section<'t>> {
        match &node.value {
            Value::Table(entries) => Some(Section { place, entries }),
            _ => {
                wrong(found, &place, node, "a table");
                None
            }
        }
    }

    /// The place of a key, written or not.
    pub fn at(&self, key: &str) -> Place {
        match self.entry(key) {
            Some(entry) => self.place_of(entry),
            None => self.place_in(self.place.line, key),
        }
    }

    fn place_of(&self, entry: &Entry) -> Place {
        self.place_in(entry.line, &entry.key)
    }

    fn place_in(&self, line: usize, key: &str) -> Place {
        let field = match self.place.field.as_str() {
            "" => key.to_owned(),
            name => format!("{name}.{key}"),
        };
        Place { line, field }
    }

    fn entry(&self, key: &str) -> Option<&'t Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Whether a key is written.
    pub fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Refuses keys that are not in `known`, and keys that are written twice.
    pub fn only(&self, known: &[&str], found: &mut Findings) {
        self.once(found);
        for entry in self.entries {
            if !known.contains(&entry.key.as_str()) {
                let near = closest(&entry.key, known.iter().copied());
                let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                let problem = format!("`{}` is not a key here", entry.key);
                let hint = format!("{near}known here: {}", known.join(", "));
                found.refuse(&self.at(&entry.key), problem, hint);
            }
        }
    }

    /// Refuses keys that are written twice, as JSON allows.
    pub(crate) fn once(&self, found: &mut Findings) {
        let mut written = BTreeMap::new();
        for entry in self.entries {
            let Some(&first) = written.get(entry.key.as_str()) else {
                written.insert(entry.key.as_str(), entry.line);
                continue;
            };
            let place = self.place_of(entry);
            let problem = format!(
                "`{}` is written twice, first in line {}",
                entry.key,
                found.located(first).1
            );
            found.refuse(
                &place,
                problem,
                "keep one of them, or give one another name",
            );
        }
    }

    /// The keys, with their places, that are not in `known`.
    pub(crate) fn others(&self, known: &[&str]) -> Vec<(&'t str, Place)> {
        let other = |entry: &&Entry| !known.contains(&entry.key.as_str());
        let others = self.entries.iter().filter(other);
        others
            .map(|entry| (entry.key.as_str(), self.place_of(entry)))
            .collect()
    }

    /// The tables inside this one by their names: `[hosts.NAME]`. The first of two with one name.
    pub fn named(&self, key: &str, found: &mut Findings) -> Vec<(&'t str, Section<'t>)> {
        let Some(inner) = self.section(key, found) else {
            return Vec::new();
        };
        inner.once(found);
        let mut named: Vec<(&str, Section)> = Vec::new();
        let mut seen = BTreeSet::new();
        for entry in inner.entries {
            let first = seen.insert(entry.key.as_str());
            let section = Section::of(&entry.node, inner.place_of(entry), found);
            if let (true, Some(section)) = (first, section) {
                named.push((&entry.key, section));
            }
        }
        named
    }

    /// A table inside this one.
    pub fn section(&self, key: &str, found: &mut Findings) -> Option<Section<'t>> {
        Section::of(&self.entry(key)?.node, self.at(key), found)
    }

    /// A text.
    pub fn text(&self, key: &str, found: &mut Findings) -> Option<Field<&'t str>> {
        let node = &self.entry(key)?.node;
        let place = self.at(key);
        match &node.value {
            Value::Text(text) => Some(Field { value: text, place }),
            _ => {
                wrong(found, &place, node, "a string in quotes");
                None
            }
        }
    }

    /// True or false.
    pub fn boolean(&self, key: &str, found: &mut Findings) -> Option<bool> {
        let node = &self.entry(key)?.node;
        match node.value {
            Value::Boolean(yes) => Some(yes),
            _ => {
                wrong(found, &self.at(key), node, "true or false");
                None
            }
        }
    }

    /// A number.
    pub fn number(&self, key: &str, found: &mut Findings) -> Option<f64> {
        let node = &self.entry(key)?.node;
        match node.value {
            Value::Number(number) => Some(number),
            _ => {
                wrong(found, &self.at(key), node, "a number");
                None
            }
        }
    }

    /// A text that some type reads: `30s`, `10Gbit/s`, a name.
    pub fn parsed<T: FromStr>(&self, key: &str, found: &mut Findings) -> Option<Field<T>>
    where
        T::Err: Display,
    {
        let text = self.text(key, found)?;
        parse(text.value, &text.place, found).map(|value| Field {
            value,
            place: text.place,
        })
    }

    /// The nodes of a list, each with its place.
    pub(crate) fn list(&self, key: &str, found: &mut Findings) -> Option<Vec<(&'t Node, Place)>> {
        let node = &self.entry(key)?.node;
        items(node, &self.at(key), found)
    }

    /// A list of texts, each with its place.
    pub fn texts(&self, key: &str, found: &mut Findings) -> Option<Vec<Field<&'t str>>> {
        let items = self.list(key, found)?;
        Some(texts_of(items, found))
    }

    /// The tables of a list: `[[webhook]]`.
    pub fn sections(&self, key: &str, found: &mut Findings) -> Vec<Section<'t>> {
        if !self.has(key) {
            return Vec::new();
        }
        let items = self.list(key, found).unwrap_or_default();
        let section = |(node, place)| Section::of(node, place, found);
        items.into_iter().filter_map(section).collect()
    }

    /// A span of whole seconds within a bound.
    pub fn whole_seconds(
        &self,
        key: &str,
        bound: RangeInclusive<Span>,
        found: &mut Findings,
    ) -> Option<Field<Span>> {
        let span = self.parsed::<Span>(key, found)?;
        if !span.value.as_nanos().is_multiple_of(1_000_000_000) {
            let problem = format!("`{key}` of {} is not a whole number of seconds", span.value);
            found.refuse(&span.place, problem, "write whole seconds");
            return None;
        }
        span.within(bound, found)
    }

    /// A key that has to be there.
    pub fn required<T>(
        &self,
        key: &str,
        value: Option<T>,
        hint: &str,
        found: &mut Findings,
    ) -> Option<T> {
        if value.is_none() && !self.has(key) {
            let problem = format!("`{key}` is missing from `{}`", self.place.field);
            found.refuse(&self.at(key), problem, hint);
        }
        value
    }
}

/// The nodes of a list, each with its place; anything else is refused.
pub(crate) fn items<'t>(
    node: &'t Node,
    place: &Place,
    found: &mut Findings,
) -> Option<Vec<(&'t Node, Place)>> {
    let Value::List(items) = &node.value else {
        wrong(found, place, node, "a list");
        return None;
    };
    let placed = |item: &'t Node| {
        let place = Place {
            line: item.line,
            field: place.field.clone(),
        };
        (item, place)
    };
    Some(items.iter().map(placed).collect())
}

pub(crate) fn texts_of<'t>(
    items: Vec<(&'t Node, Place)>,
    found: &mut Findings,
) -> Vec<Field<&'t str>> {
    let mut texts = Vec::new();
    for (node, place) in items {
        match &node.value {
            Value::Text(text) => texts.push(Field {
                value: text.as_str(),
                place,
            }),
            _ => wrong(found, &place, node, "a string in quotes"),
        }
    }
    texts
}

/// A text that some type reads; its message is the mistake, and what stands after `; ` the next
/// step.
pub fn parse<T: FromStr>(text: &str, place: &Place, found: &mut Findings) -> Option<T>
where
    T::Err: Display,
{
    text.parse()
        .map_err(|error: T::Err| {
            let message = error.to_string();
            let (problem, hint) = message
                .split_once("; ")
                .unwrap_or((&message, "mend the value"));
            found.refuse(place, problem.to_owned(), hint);
        })
        .ok()
}

fn wrong(found: &mut Findings, place: &Place, node: &Node, wanted: &str) {
    let problem = format!("{} stands where {wanted} is wanted", node.kind());
    found.refuse(place, problem, format!("write {wanted}"));
}

/// The known name that is most like `name`, if one is like it.
pub fn closest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let alike = known.map(|other| (strsim::jaro_winkler(name, other), other));
    let best = alike.max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(alike, _)| *alike > 0.8).map(|(_, name)| name)
}
