//! An incident: since when, what hurts most, why, all its events, and what people wrote to it.
//!
//! It is named by any of its events, so its address holds however it grows.

use maud::{Markup, html};
use watch_store::{Incident, Note, StoredEvent};

use super::incidents::{self, Incidents};
use super::{event, note, silence};
use crate::ask::{self, Ask};
use crate::frame::{Sheet, Tab};
use crate::problem::Problem;
use crate::site::Site;
use crate::{href, words};

/// The page.
pub fn sheet(site: &Site, place: &[String; 4], ask: &Ask) -> Result<Sheet, Problem> {
    let key = ask::event(place)?;
    site.stores.with(|store| {
        let incident = Incidents::of_event(store, &key)?;
        let nothing = || Problem::ours("an incident has no event");
        let worst = incident.worst().ok_or_else(nothing)?;
        let visited = store.visited_pairs()?;
        let notes = store.notes(incident.since())?;
        let title = incidents::title(worst, &incident.silent_hosts(&visited));
        let address = href::incident(&key);
        let sections = event::sections(site, store, worst, (&address, ask))?;
        Ok(Sheet {
            title: format!("{title}, {}", worst.pair),
            tab: Tab::Events,
            is_live: true,
            body: body(
                site,
                &incident,
                worst,
                &title,
                &incident.notes(&notes),
                sections,
            ),
        })
    })
}

fn body(
    site: &Site,
    incident: &Incident,
    worst: &StoredEvent,
    title: &str,
    notes: &[&Note],
    sections: Markup,
) -> Markup {
    let now = site.live.now();
    let can_write = site.token.is_some();
    let cause = words::cause(&worst.event);
    html! {
        h1.event-title.worse[incident.severity().is_some()] { (title) }
        p.setting { (words::path(&worst.pair)) (incidents::beside(incident)) }
        p { (incidents::facts(incident, worst, notes, now)) }
        p.lead {
            @if cause.is_empty() { "The visits hold no cause." }
            @else { "Likeliest cause: " bdi { (draw::words::plain(&cause)) } "." }
        }
        (note::section(notes, worst, can_write, now))
        @if incident.members().len() > 1 {
            h2 { "Its events" }
            (incidents::members(incident, now))
            h2 {
                "The worst of them: " (words::headline(&worst.event)) ", "
                (words::path(&worst.pair))
            }
        }
        (sections)
        @if can_write && site.live.silences().is_some() { (silence::form_of(incident, worst)) }
    }
}
