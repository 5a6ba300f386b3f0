//! Silences: the one thing that is written, by those who know the token.

use axum::http::{HeaderMap, header};
use changes::UnixTime;
use maud::{Markup, html};
use units::Span;
use watch_store::{Name, Pair};

use crate::ask::Ask;
use crate::frame::{Sheet, Tab};
use crate::problem::Problem;
use crate::server::Site;
use crate::{SilenceRequest, calendar};

/// Longest silence, in hours: a month.
const HOURS: u64 = 744;
/// Longest reason, in bytes.
const REASON: usize = 500;

/// Takes a silence and says so.
pub fn sheet(site: &Site, headers: &HeaderMap, form: &Ask) -> Result<Sheet, Problem> {
    allowed(site.token.as_deref(), headers, form)?;
    let request = request(form, site.live.now())?;
    let until = calendar::minute(request.until);
    let about = about(&request);
    site.live.silence(request).map_err(|why| {
        Problem::bad(
            format!("the silence was not taken: {why}"),
            "go back and change it",
        )
    })?;
    Ok(Sheet {
        title: "Silenced".to_owned(),
        tab: Tab::None,
        is_live: false,
        body: html! {
            h1 { "Silenced" }
            p.lead { "No alerts of " (about) " until " (until) " UTC." }
            p { a href=(crate::href::HOME) { "All tasks" } }
        },
    })
}

/// The form, of a pair and task or of all.
pub fn form(of: Option<(&Pair, &Name)>, now: UnixTime) -> Markup {
    html! {
        details {
            summary { "Silence alerts" }
            form.silence method="post" action="/silence" autocomplete="off" {
                @if let Some((pair, task)) = of {
                    input type="hidden" name="from" value=(pair.from);
                    input type="hidden" name="to" value=(pair.to);
                    input type="hidden" name="task" value=(task);
                }
                label { "Hours from " (calendar::near(now, now)) " on "
                    input type="number" name="hours" min="1" max=(HOURS) value="24" required; }
                label { "Reason " input type="text" name="reason" maxlength=(REASON) required; }
                label { "Token " input type="password" name="token" required; }
                button { "Silence" }
            }
        }
    }
}

/// Whether the token is there, in the header `Authorization: Bearer` or in the form.
fn allowed(token: Option<&str>, headers: &HeaderMap, form: &Ask) -> Result<(), Problem> {
    let Some(token) = token else {
        let hint = "start the server with a token to allow it";
        return Err(Problem::forbidden("this server only reads", hint));
    };
    let header = headers.get(header::AUTHORIZATION);
    let header = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let given = header.or(form.text("token")).unwrap_or_default();
    // Hashes of BLAKE3 are compared in constant time.
    match blake3::hash(given.as_bytes()) == blake3::hash(token.as_bytes()) {
        true => Ok(()),
        false => {
            let hint = "give the server's token in the form, or as `Authorization: Bearer`";
            Err(Problem::forbidden(
                "the token is missing or another one",
                hint,
            ))
        }
    }
}

fn request(form: &Ask, now: UnixTime) -> Result<SilenceRequest, Problem> {
    let pair = match (form.name("from")?, form.name("to")?) {
        (Some(from), Some(to)) => Some(Pair { from, to }),
        (None, None) => None,
        _ => {
            let what = "only one of `from` and `to` is there";
            return Err(Problem::bad(what, "give both hosts, or none for all pairs"));
        }
    };
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
    Ok(SilenceRequest {
        pair,
        task: form.name("task")?,
        until: now + Span::from_secs(hours * 3600),
        reason: reason.to_owned(),
    })
}

fn about(request: &SilenceRequest) -> String {
    let pair = request.pair.as_ref().map(|pair| format!("the pair {pair}"));
    let task = request
        .task
        .as_ref()
        .map(|task| format!(" in the task {task}"));
    format!(
        "{}{}",
        pair.unwrap_or_else(|| "all pairs".to_owned()),
        task.unwrap_or_default()
    )
}
