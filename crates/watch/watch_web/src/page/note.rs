//! Notes to an incident, and who has acknowledged it.

use axum::http::HeaderMap;
use changes::UnixTime;
use maud::{Markup, html};
use watch_store::{Note, NoteKind, StoredEvent, acknowledgement};

use super::silence::token;
use crate::ask::Ask;
use crate::problem::Problem;
use crate::site::Site;
use crate::{calendar, href};

/// Longest name of an author, in bytes.
const AUTHOR: usize = 80;
/// Longest note, in bytes.
const WORDS: usize = 4000;

/// Takes a note.
pub fn take(site: &Site, headers: &HeaderMap, form: &Ask) -> Result<href::Place, Problem> {
    site.check_token(headers, form)?;
    let note = note(site, form)?;
    site.stores.with(|store| {
        let event = &note.event;
        let known = store.event(&event.pair, &event.task, event.id)?;
        known.ok_or_else(|| {
            let what = format!("there is no event {event} to write a note to");
            Problem::unknown(what, "write it on the page of an incident")
        })?;
        Ok(store.insert_note(&note)?)
    })?;
    Ok(href::incident(&note.event))
}

fn note(site: &Site, form: &Ask) -> Result<Note, Problem> {
    let kind = match form.text("kind") {
        Some("note") => NoteKind::Remark,
        Some("acknowledge") => NoteKind::Acknowledged,
        Some("release") => NoteKind::Released,
        other => {
            let what = format!("`kind` is {:?}", other.unwrap_or_default());
            return Err(Problem::bad(what, "give note, acknowledge or release"));
        }
    };
    let author = bounded(form, "author", AUTHOR)?;
    let words = bounded(form, "words", WORDS)?;
    if author.is_empty() {
        return Err(Problem::bad("`author` is missing", "say who writes"));
    }
    if words.is_empty() && kind == NoteKind::Remark {
        return Err(Problem::bad("`words` is missing", "write the note"));
    }
    Ok(Note {
        event: form.event()?,
        at: site.live.now(),
        kind,
        author,
        words,
    })
}

fn bounded(form: &Ask, key: &str, most: usize) -> Result<String, Problem> {
    // Browsers send lines of a form with CR and LF.
    let text = form
        .text(key)
        .unwrap_or_default()
        .trim()
        .replace("\r\n", "\n");
    match text.len() <= most {
        true => Ok(text),
        false => Err(Problem::bad(
            format!("`{key}` has {} bytes, more than {most}", text.len()),
            "shorten it",
        )),
    }
}

/// The notes of an incident, in their order, and the form for another one to its worst event.
pub fn section(notes: &[&Note], worst: &StoredEvent, can_write: bool, now: UnixTime) -> Markup {
    html! {
        @if !notes.is_empty() {
            h2 { "Notes" }
            ul.notes {
                @for note in notes {
                    li {
                        p.by {
                            b { bdi { (note.author) } } " "
                            @match note.kind {
                                NoteKind::Remark => {}
                                NoteKind::Acknowledged => { span.tag { "acknowledged" } " " }
                                NoteKind::Released => { span.tag { "took that back" } " " }
                            }
                            time datetime=(calendar::machine(note.at)) {
                                (calendar::near(note.at, now))
                            }
                        }
                        @if !note.words.is_empty() { p.words { (note.words) } }
                    }
                }
            }
        }
        @if can_write { (form(worst, acknowledgement(notes).is_some())) }
    }
}

fn form(worst: &StoredEvent, is_acknowledged: bool) -> Markup {
    html! {
        details {
            summary {
                @if is_acknowledged { "Write a note" } @else { "Acknowledge or write a note" }
            }
            form.silence method="post" action="/note" {
                input type="hidden" name="from" value=(worst.pair.from);
                input type="hidden" name="to" value=(worst.pair.to);
                input type="hidden" name="task" value=(worst.task);
                input type="hidden" name="event" value=(worst.event.id);
                label { "Name "
                    input type="text" name="author" maxlength=(AUTHOR)
                        autocomplete="name" required; }
                label.wide { "Note " textarea name="words" rows="2" maxlength=(WORDS) {} }
                (token())
                @if is_acknowledged {
                    button name="kind" value="note" { "Write" }
                    button name="kind" value="release" { "Take the acknowledgement back" }
                } @else {
                    button name="kind" value="acknowledge" { "Acknowledge" }
                    button name="kind" value="note" { "Write only" }
                }
            }
        }
    }
}
