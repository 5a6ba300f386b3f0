//! The pages, a file each.

pub mod border;
pub mod charts;
pub mod event;
pub mod events;
pub mod forecast;
pub mod grid;
pub mod hosts;
pub mod incident;
pub mod incidents;
pub mod mesh;
pub mod months;
pub mod note;
pub mod pair;
pub mod ranges;
pub mod silence;
pub mod state;
pub mod stream;
pub mod traffic;
pub mod visit;

use changes::UnixTime;
use maud::{Markup, html};
use watch_store::{Name, StoredEvent};

use crate::href::Place;
use crate::{calendar, href, words};

/// Links of which one is the page itself.
pub fn links(name: &str, all: impl IntoIterator<Item = (String, Place, bool)>) -> Markup {
    html! {
        nav.links aria-label=(name) {
            @for (text, place, is_here) in all {
                a href=(place) aria-current=[is_here.then_some("true")] { (text) }
            }
        }
    }
}

/// Events as a list of cards; `numbers` counts them as the marks on a chart do.
pub fn cards(events: &[StoredEvent], now: UnixTime, numbers: bool) -> Markup {
    html! {
        ul.events {
            @for (number, stored) in (1..).zip(events) {
                @let (is_worse, end) = (words::is_worse(&stored.event), stored.event.recovered);
                li.event.worse[is_worse].over[end.is_some()] {
                    a href=(href::event(&stored.key())) {
                        @if numbers { span.number { (number) } " " }
                        b { (words::headline(&stored.event)) }
                        span.where { (words::path(&stored.pair)) }
                    }
                    p {
                        span.tag { (stored.task) } " "
                        "since " time datetime=(calendar::machine(stored.event.first_visit)) {
                            (calendar::near(stored.event.first_visit, now))
                        }
                        @if let Some(end) = end {
                            ", over since " (calendar::near(end, now))
                        }
                    }
                    @let cause = words::cause(&stored.event);
                    @if !cause.is_empty() { p.cause { bdi { (draw::words::plain(&cause)) } } }
                }
            }
        }
    }
}

/// A task of the plan with the name that the store has for it.
pub fn task_of<'a>(plan: &'a watch_plan::Plan, task: &Name) -> Option<&'a watch_plan::Task> {
    let mut tasks = plan.tasks().iter();
    tasks.find(|known| known.name.as_str() == task.as_str())
}
