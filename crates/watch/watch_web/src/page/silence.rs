//! Silences: their list, the form of a new one, and what becomes of both.

use axum::http::HeaderMap;
use changes::UnixTime;
use maud::{Markup, html};
use units::Span;
use watch_store::{EventKey, Incident, Pair, StoredEvent};

use super::incidents::Incidents;
use crate::ask::Ask;
use crate::frame::{Sheet, Tab};
use crate::live::SilenceRequest;
use crate::problem::Problem;
use crate::site::Site;
use crate::{HeldSilence, calendar, href, words};

/// Longest silence, in hours: a month.
const HOURS: u64 = 744;
/// Longest reason, in bytes.
const REASON: usize = 500;

/// All silences that hold.
pub fn list(site: &Site) -> Result<Sheet, Problem> {
    let held = site.live.silences().ok_or_else(|| {
        let hint = "start the collector with `--alerts FILE`";
        Problem::unknown("this server sends no alerts, so none can be silenced", hint)
    })?;
    let now = site.live.now();
    let can_end = site.token.is_some();
    Ok(Sheet {
        title: "Silences".to_owned(),
        tab: Tab::Events,
        is_live: true,
        body: html! {
            h1 { "Silences " span.count { (held.len()) } }
            @if held.is_empty() { p.quiet { "No alert is silenced." } }
            ul.events { @for one in &held { (card(one, can_end, now)) } }
            @if can_end {
                h2 { "Silence all alerts" }
                (form(html! {}, html! {}))
            }
        },
    })
}

fn card(held: &HeldSilence, can_end: bool, now: UnixTime) -> Markup {
    let SilenceRequest { until, reason, .. } = &held.silence;
    html! {
        li.event {
            b { (about(&held.silence)) }
            p {
                "until " time datetime=(calendar::machine(*until)) { (calendar::near(*until, now)) }
                ", for " (words::length(until.since(now)))
            }
            p.cause { bdi { (reason) } }
            @match &held.id {
                None => { p { "Of the file of alerts." } }
                Some(id) if can_end => {
                    details {
                        summary { "End it" }
                        form.silence method="post" action="/silence/end" autocomplete="off" {
                            input type="hidden" name="silence" value=(id);
                            (token())
                            button { "End" }
                        }
                    }
                }
                Some(_) => {}
            }
        }
    }
}

/// Takes a silence.
pub fn take(site: &Site, headers: &HeaderMap, form: &Ask) -> Result<href::Place, Problem> {
    site.check_token(headers, form)?;
    let request = request(site, form)?;
    let refused = |why| Problem::bad(why, "go back and change it");
    site.live.silence(request).map_err(refused)?;
    Ok(href::Place::new(href::SILENCES))
}

/// Ends a silence.
pub fn end(site: &Site, headers: &HeaderMap, form: &Ask) -> Result<href::Place, Problem> {
    site.check_token(headers, form)?;
    let id = form.text("silence").unwrap_or_default();
    match site.live.end_silence(id) {
        true => Ok(href::Place::new(href::SILENCES)),
        false => Err(Problem::unknown(
            format!("no silence {id:?} holds that a page has added"),
            "choose one of the list of silences; those of the file of alerts end there",
        )),
    }
}

/// The form of a silence of an incident or what it concerns.
pub fn form_of(incident: &Incident, worst: &StoredEvent) -> Markup {
    let StoredEvent { pair, task, event } = worst;
    let events = draw::words::count(incident.members().len() as u64, "event");
    let fields = html! {
        input type="hidden" name="from" value=(pair.from);
        input type="hidden" name="to" value=(pair.to);
        input type="hidden" name="task" value=(task);
        input type="hidden" name="event" value=(event.id);
    };
    let choice = html! {
        label { "Alerts of "
            select name="of" {
                option value="incident" { "this incident, " (events) }
                option value="pair" { "the pair " (pair) }
                option value="from" { "the host " (pair.from) }
                option value="to" { "the host " (pair.to) }
                option value="task" { "the task " (task) }
            }
        }
    };
    html! {
        details { summary { "Silence alerts" } (form(fields, choice)) }
    }
}

fn form(fields: Markup, choice: Markup) -> Markup {
    html! {
        form.silence method="post" action="/silence" autocomplete="off" {
            (fields)
            (choice)
            label { "Hours from now on"
                input type="number" name="hours" min="1" max=(HOURS) value="24" required; }
            label { "Reason " input type="text" name="reason" maxlength=(REASON) required; }
            (token())
            button { "Silence" }
        }
    }
}

/// The field of the token.
pub fn token() -> Markup {
    html! { label { "Token " input type="password" name="token" required; } }
}

/// What a form chose with `of`; without, all that is given has to match.
fn request(site: &Site, form: &Ask) -> Result<SilenceRequest, Problem> {
    let hours = form.number("hours", HOURS)?.filter(|hours| *hours > 0);
    let hours = hours.ok_or_else(|| {
        let hint = format!("give a number from 1 to {HOURS}");
        Problem::bad("`hours` is missing or 0", hint)
    })?;
    let reason = form.text("reason").unwrap_or_default();
    if reason.is_empty() || reason.len() > REASON {
        let what = format!("`reason` has {} bytes, not 1 to {REASON}", reason.len());
        return Err(Problem::bad(
            what,
            "say in a sentence why alerts are not wanted",
        ));
    }
    let all = SilenceRequest {
        host: None,
        pair: None,
        task: None,
        metric: None,
        events: Vec::new(),
        until: site.live.now() + Span::from_secs(hours * 3600),
        reason: reason.to_owned(),
    };
    Ok(match form.text("of") {
        None => SilenceRequest {
            host: form.name("host")?,
            pair: pair(form)?,
            task: form.name("task")?,
            events: match form.text("event") {
                Some(_) => members(site, form)?,
                None => Vec::new(),
            },
            ..all
        },
        Some("incident") => SilenceRequest {
            events: members(site, form)?,
            ..all
        },
        Some("pair") => SilenceRequest {
            pair: pair(form)?,
            ..all
        },
        Some(end @ ("from" | "to")) => SilenceRequest {
            host: form.name(end)?,
            ..all
        },
        Some("task") => SilenceRequest {
            task: form.name("task")?,
            ..all
        },
        Some(other) => {
            let what = format!("`of` is {other:?}, none of incident, pair, from, to and task");
            return Err(Problem::bad(what, "choose one of the form"));
        }
    })
}

fn pair(form: &Ask) -> Result<Option<Pair>, Problem> {
    match (form.name("from")?, form.name("to")?) {
        (Some(from), Some(to)) => Ok(Some(Pair { from, to })),
        (None, None) => Ok(None),
        _ => {
            let what = "only one of `from` and `to` is there";
            Err(Problem::bad(what, "give both hosts, or none for all pairs"))
        }
    }
}

/// The events of the incident that a form is about.
fn members(site: &Site, form: &Ask) -> Result<Vec<EventKey>, Problem> {
    let key = form.event()?;
    let incident = site.stores.with(|store| Incidents::of_event(store, &key))?;
    Ok(incident.members().iter().map(StoredEvent::key).collect())
}

/// What a silence is about, in words.
fn about(silence: &SilenceRequest) -> String {
    let parts = [
        silence.host.as_ref().map(|host| format!("host {host}")),
        silence.pair.as_ref().map(|pair| format!("pair {pair}")),
        silence.task.as_ref().map(|task| format!("task {task}")),
        silence.metric.map(|metric| metric.name().to_owned()),
        silence.events.first().map(|first| {
            let events = draw::words::count(silence.events.len() as u64, "event");
            format!("an incident with {events} at {}", first.pair)
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "All alerts".to_owned(),
        false => draw::words::sentence(&parts.join(", "))
            .trim_end_matches('.')
            .to_owned(),
    }
}
