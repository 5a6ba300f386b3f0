//! From TOML to the checked file.

mod receivers;

use std::ops::RangeInclusive;
use std::path::Path;

use changes::{Metric, UnixTime};
use jiff::Timestamp;
use units::Span;
use watch_plan::PlanError;
use watch_plan::section::{Field, Findings, Section, closest, parse, read_toml};
use watch_store::{Name, Pair};

use super::{Alerting, Rules, Url};
use crate::{Severity, Silence};

const LAYOUT: &str = "a file of alerts has `key = \"value\"` lines under `[defaults]`, \
                      `[[webhook]]`, `[[mail]]`, `[[alertmanager]]`, `[[silence]]`";
const HOLDS: RangeInclusive<Span> = Span::from_secs(0)..=Span::from_secs(86_400);
/// Where the file gives none.
const RULES: Rules = Rules {
    hold: Span::from_secs(600),
    severity: Severity::Warning,
};

pub(super) fn read(text: &str, file: &str) -> Result<Alerting, PlanError> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let read = |root: &Section, found: &mut Findings| alerting(root, folder, found);
    read_toml(text, file, LAYOUT, read).map(|(alerting, _)| alerting)
}

fn alerting(root: &Section, folder: &Path, found: &mut Findings) -> Option<Alerting> {
    let keys = [
        "base_url",
        "defaults",
        "webhook",
        "mail",
        "alertmanager",
        "silence",
    ];
    root.only(&keys, found);
    let base_url = root.parsed::<Url>("base_url", found);
    let rules = match root.has("defaults") {
        true => root
            .section("defaults", found)
            .map(|section| rules(&section, found)),
        false => Some(RULES),
    };
    let silences = root.sections("silence", found);
    let silences = silences
        .iter()
        .filter_map(|section| silence(section, found));
    Some(Alerting {
        base_url: base_url.map(|url| url.value),
        silences: silences.collect(),
        rules: rules?,
        receivers: receivers::receivers(root, folder, found),
    })
}

fn rules(section: &Section, found: &mut Findings) -> Rules {
    section.only(&["hold", "severity"], found);
    let hold = section.whole_seconds("hold", HOLDS, found);
    let severity = one_of(section, "severity", &Severity::ALL, Severity::name, found);
    Rules {
        hold: hold.map_or(RULES.hold, |hold| hold.value),
        severity: severity.unwrap_or(RULES.severity),
    }
}

/// A word that names one of some values.
fn one_of<T: Copy>(
    section: &Section,
    key: &str,
    values: &[T],
    name: impl Fn(T) -> &'static str,
    found: &mut Findings,
) -> Option<T> {
    let word = section.text(key, found)?;
    let value = values
        .iter()
        .copied()
        .find(|value| name(*value) == word.value);
    if value.is_none() {
        let names: Vec<&str> = values.iter().copied().map(&name).collect();
        let shown: String = word.value.chars().take(60).collect();
        let near = closest(word.value, names.iter().copied());
        let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let hint = format!("{near}write one of {}", names.join(", "));
        found.refuse(&word.place, format!("`{shown}` is no {key}"), hint);
    }
    value
}

fn silence(section: &Section, found: &mut Findings) -> Option<Silence> {
    section.only(
        &["host", "pair", "task", "metric", "until", "reason"],
        found,
    );
    if !["host", "pair", "task", "metric"]
        .iter()
        .any(|key| section.has(key))
    {
        let problem = "this silence has no host, pair, task or metric".to_owned();
        let hint = "name what to silence; without receivers no alert is sent";
        found.refuse(&section.place, problem, hint);
    }
    let host = section.parsed::<Name>("host", found);
    let task = section.parsed::<Name>("task", found);
    let pair = section.has("pair").then(|| pair(section, found));
    let metric = one_of(section, "metric", &Metric::ALL, key_of, found);
    let until = section.text("until", found);
    let hint = "write its end with its offset: `until = \"2026-12-01T08:00:00Z\"`";
    let until = section.required("until", until, hint, found);
    let until = until.and_then(|until| moment(&until, hint, found));
    let reason = section.text("reason", found);
    let reason = section.required("reason", reason, "write why: `reason = \"...\"`", found)?;
    let pair = match pair {
        Some(pair) => Some(pair?),
        None => None,
    };
    Some(Silence {
        host: host.map(|host| host.value),
        pair,
        task: task.map(|task| task.value),
        metric,
        events: Vec::new(),
        until: until?,
        reason: reason.value.to_owned(),
    })
}

/// The name of a metric in documents.
fn key_of(metric: Metric) -> &'static str {
    match metric {
        Metric::Goodput => "goodput",
        Metric::RoundTripMin => "round-trip-min",
        Metric::RoundTripMedian => "round-trip-median",
        Metric::Loss => "loss",
        Metric::Resent => "resent",
    }
}

fn pair(section: &Section, found: &mut Findings) -> Option<Pair> {
    let ends = section.texts("pair", found)?;
    let [from, to] = ends.as_slice() else {
        let problem = format!("a pair has {} hosts", ends.len());
        found.refuse(
            &section.at("pair"),
            problem,
            "write two: `[\"from\", \"to\"]`",
        );
        return None;
    };
    let (from, to) = (
        parse(from.value, &from.place, found),
        parse(to.value, &to.place, found),
    );
    Some(Pair {
        from: from?,
        to: to?,
    })
}

fn moment(text: &Field<&str>, hint: &str, found: &mut Findings) -> Option<UnixTime> {
    let stamp = text.value.parse::<Timestamp>().ok();
    let seconds = stamp.and_then(|stamp| u64::try_from(stamp.as_second()).ok());
    if seconds.is_none() {
        let problem = format!(
            "{:?} is no time since 1970 with an offset",
            first(text.value)
        );
        found.refuse(&text.place, problem, hint);
    }
    seconds.map(UnixTime::from_seconds)
}

/// The beginning of a text, for messages.
fn first(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests;
