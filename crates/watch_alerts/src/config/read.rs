//! From TOML to the checked file.

use std::ops::RangeInclusive;
use std::path::Path;

use changes::{Metric, UnixTime};
use jiff::Timestamp;
use units::Span;
use watch_plan::PlanError;
use watch_plan::section::{Field, Findings, Section, closest, parse, read_toml};
use watch_store::{Name, Pair};

use super::{
    Address, Alerting, Alertmanager, Header, Mail, Place, Receivers, Rules, Secret, Url, Webhook,
};
use crate::{Severity, Silence};

const LAYOUT: &str = "a file of alerts has `key = \"value\"` lines under `[defaults]`, \
                      `[[webhook]]`, `[[mail]]`, `[[alertmanager]]`, `[[silence]]`";
const HOLDS: RangeInclusive<Span> = Span::from_secs(0)..=Span::from_secs(86_400);
const WINDOWS: RangeInclusive<Span> = Span::from_secs(60)..=Span::from_secs(86_400);
/// Where the file gives none.
const RULES: Rules = Rules {
    hold: Span::from_secs(600),
    group_window: Span::from_secs(7200),
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
        receivers: receivers(root, folder, found),
    })
}

fn rules(section: &Section, found: &mut Findings) -> Rules {
    section.only(&["hold", "group_window", "severity"], found);
    let hold = section.whole_seconds("hold", HOLDS, found);
    let window = section.whole_seconds("group_window", WINDOWS, found);
    let severity = one_of(section, "severity", &Severity::ALL, Severity::name, found);
    Rules {
        hold: hold.map_or(RULES.hold, |hold| hold.value),
        group_window: window.map_or(RULES.group_window, |window| window.value),
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

fn receivers(root: &Section, folder: &Path, found: &mut Findings) -> Receivers {
    let tables = ["webhook", "mail", "alertmanager"];
    let [webhooks, mails, managers] = tables.map(|key| root.sections(key, found));
    if webhooks.is_empty() && mails.is_empty() && managers.is_empty() {
        let problem = "the file has no receiver of alerts".to_owned();
        let hint = "add `[[webhook]]`, `[[mail]]` or `[[alertmanager]]`";
        found.refuse(&root.place, problem, hint);
    }
    let webhooks = webhooks
        .iter()
        .filter_map(|one| webhook(one, folder, found))
        .collect();
    let mails = mails.iter().filter_map(|one| mail(one, found)).collect();
    let managers = managers
        .iter()
        .filter_map(|one| alertmanager(one, folder, found));
    Receivers {
        webhooks,
        mails,
        alertmanagers: managers.collect(),
    }
}

fn webhook(section: &Section, folder: &Path, found: &mut Findings) -> Option<Webhook> {
    section.only(&["url", "url_secret", "header"], found);
    let header = header(section, folder, found);
    let url = match section.has("url_secret") {
        false => {
            let url = section.parsed::<Url>("url", found);
            let hint = "write `url = \"https://...\"`, or `url_secret = { file = \"...\" }`";
            Place::Url(section.required("url", url, hint, found)?.value)
        }
        true => {
            if section.has("url") {
                let problem = "both `url` and `url_secret` are written".to_owned();
                found.refuse(&section.at("url"), problem, "keep one of them");
            }
            let inner = section.section("url_secret", found)?;
            inner.only(&["file", "env"], found);
            Place::Secret(secret(&inner, folder, found)?)
        }
    };
    Some(Webhook {
        url,
        header: header?,
    })
}

fn alertmanager(section: &Section, folder: &Path, found: &mut Findings) -> Option<Alertmanager> {
    section.only(&["url", "header"], found);
    let header = header(section, folder, found);
    let url = section.parsed::<Url>("url", found);
    let hint = "write `url = \"http://localhost:9093\"`";
    Some(Alertmanager {
        url: section.required("url", url, hint, found)?.value,
        header: header?,
    })
}

/// The header, where there is one; the outer `None` for a mistake.
fn header(section: &Section, folder: &Path, found: &mut Findings) -> Option<Option<Header>> {
    if !section.has("header") {
        return Some(None);
    }
    let section = section.section("header", found)?;
    section.only(&["name", "file", "env"], found);
    let value = secret(&section, folder, found);
    let name = section.text("name", found);
    let name = section.required("name", name, "write `name = \"Authorization\"`", found)?;
    if ureq::http::HeaderName::from_bytes(name.value.as_bytes()).is_err() {
        let problem = format!("{:?} is no name of a header", first(name.value));
        found.refuse(&name.place, problem, "write `name = \"Authorization\"`");
        return None;
    }
    Some(Some(Header {
        name: name.value.to_owned(),
        value: value?,
    }))
}

fn secret(section: &Section, folder: &Path, found: &mut Findings) -> Option<Secret> {
    match (section.has("file"), section.has("env")) {
        (true, false) => {
            let file = section.text("file", found)?;
            Some(Secret::File(folder.join(file.value)))
        }
        (false, true) => {
            let name = section.text("env", found)?;
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.value.is_empty() || !name.value.chars().all(word) {
                let problem = "this is no name of an environment variable".to_owned();
                found.refuse(
                    &name.place,
                    problem,
                    "write its name, not the secret itself",
                );
                return None;
            }
            Some(Secret::Environment(name.value.to_owned()))
        }
        (both, _) => {
            let which = if both { "both" } else { "neither" };
            let problem = format!("`{}` has {which} of `file` and `env`", section.place.field);
            let hint = "write one: `file = \"secrets/token\"` or `env = \"TOKEN\"`";
            found.refuse(&section.place, problem, hint);
            None
        }
    }
}

fn mail(section: &Section, found: &mut Findings) -> Option<Mail> {
    section.only(&["command", "to", "from"], found);
    let command = texts(
        section,
        "command",
        "write `command = [\"sendmail\", \"-t\"]`",
        found,
    );
    let hint = "write `to = [\"noc@example.org\"]`";
    let to = texts(section, "to", hint, found);
    let from = section.parsed::<Address>("from", found);
    let from = section.required("from", from, "write `from = \"watch@example.org\"`", found);
    let to = to.map(|to| {
        to.iter()
            .map(|one| parse(one.value, &one.place, found))
            .collect()
    });
    let mut words = command?.into_iter().map(|word| word.value.to_owned());
    Some(Mail {
        program: words.next()?,
        arguments: words.collect(),
        to: to.and_then(|to: Option<Vec<Address>>| to)?,
        from: from?.value,
    })
}

/// A list of one text or more.
fn texts<'t>(
    section: &Section<'t>,
    key: &str,
    hint: &str,
    found: &mut Findings,
) -> Option<Vec<Field<&'t str>>> {
    let texts = section.texts(key, found);
    let texts = section.required(key, texts, hint, found)?;
    if texts.is_empty() || texts.iter().any(|text| text.value.contains('\0')) {
        let problem = format!("`{key}` is empty or has a zero byte");
        found.refuse(&section.at(key), problem, hint);
        return None;
    }
    Some(texts)
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
        let hint = "name what is silenced; without receivers nothing is told at all";
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
