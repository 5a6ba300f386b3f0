//! All incidents of a time, over or not.

use maud::html;

use super::incidents::Incidents;
use crate::ask::Ask;
use crate::frame::{Sheet, Tab};
use crate::href::{self, Place};
use crate::problem::Problem;
use crate::range::Ago;
use crate::site::Site;

/// Events of which a page shows the incidents: the newest.
const EVENTS: u32 = 1000;

/// The page.
pub fn sheet(site: &Site, ask: &Ask) -> Result<Sheet, Problem> {
    let now = site.live.now();
    let range = ask.range(now, Ago::Month)?;
    let (read, incidents) = site.stores.with(|store| {
        let events = store.events(range.ends(), EVENTS)?;
        Ok::<_, Problem>((events.len(), Incidents::of(store, events)?))
    })?;
    Ok(Sheet {
        title: "Incidents".to_owned(),
        tab: Tab::Events,
        is_live: true,
        body: html! {
            h1 { "Incidents " span.count { (incidents.count()) } }
            @if let Some(held) = site.live.silences() {
                p.setting {
                    a href=(href::SILENCES) {
                        (draw::words::count(held.len() as u64, "silence"))
                    }
                }
            }
            (super::ranges::named(&Place::new(href::EVENTS), range))
            @if incidents.count() == 0 { p.quiet { "None began in this time." } }
            @if read == EVENTS as usize {
                p.note {
                    "Those of the newest " (EVENTS) " events; choose a shorter time for others."
                }
            }
            (incidents.cards(now))
        },
    })
}
