//! All events of a time, over or not.

use maud::html;

use crate::ask::{Ago, Ask};
use crate::frame::{Sheet, Tab};
use crate::href::{self, Place};
use crate::problem::Problem;
use crate::server::Site;

/// Events of one page, the newest.
const EVENTS: u32 = 300;

/// The page.
pub fn sheet(site: &Site, ask: &Ask) -> Result<Sheet, Problem> {
    let now = site.live.now();
    let range = ask.range(now, Ago::Month)?;
    let events = site
        .stores
        .with(|store| Ok(store.events(range.ends(), EVENTS)?))?;
    Ok(Sheet {
        title: "Events".to_owned(),
        tab: Tab::Events,
        is_live: true,
        body: html! {
            h1 { "Events " span.count { (events.len()) } }
            (super::ranges::named(&Place::new(href::EVENTS), range))
            @if events.is_empty() { p.quiet { "None began in this time." } }
            @if events.len() == EVENTS as usize {
                p.note { "The newest " (EVENTS) "; choose a shorter time for others." }
            }
            (super::events(&events, now, false))
        },
    })
}
