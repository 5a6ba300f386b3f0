//! Addresses of pages. Names of hosts and tasks may hold any character.

use changes::UnixTime;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use watch_store::{Name, Pair, VisitId};

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
/// The page of hosts.
pub const HOSTS: &str = "/hosts";
/// The page of months.
pub const MONTHS: &str = "/months";

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

/// A text as a value of a query.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The grid of a task.
pub fn grid(task: &Name) -> String {
    format!("/?task={}", encoded(task.as_str()))
}

/// The page of a pair and task.
pub fn pair(pair: &Pair, task: &Name) -> String {
    let (from, to) = (segment(&pair.from), segment(&pair.to));
    format!("/pair/{from}/{to}?task={}", encoded(task.as_str()))
}

/// The same from one time to another.
pub fn pair_within(of: &Pair, task: &Name, (from, to): (UnixTime, UnixTime)) -> String {
    let (from, to) = (from.seconds(), to.seconds());
    format!("{}&from={from}&to={to}", pair(of, task))
}

/// The page of an event.
pub fn event(pair: &Pair, task: &Name, id: u64) -> String {
    let names = [task, &pair.from, &pair.to].map(segment).join("/");
    format!("/event/{names}/{id}")
}

/// The page of a visit.
pub fn visit(id: VisitId) -> String {
    format!("/visit/{id}")
}

/// Months of a task.
pub fn months(task: &Name) -> String {
    format!("{MONTHS}?task={}", encoded(task.as_str()))
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
}
