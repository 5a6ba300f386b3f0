//! What all pages share: head, navigation, style, script.

use changes::UnixTime;
use maud::{DOCTYPE, Markup, html};
use units::steers;

use crate::problem::{self, Problem};
use crate::{calendar, href};

/// What is in the browser beyond HTML: zoom, and pages that follow the watch.
pub const SCRIPT: &str = include_str!("../assets/script.js");
/// The sign of the site.
pub const ICON: &str = include_str!("../assets/icon.svg");

/// The style of the pages, behind that of reports.
pub fn style() -> String {
    let own = include_str!("../assets/style.css");
    format!("{}\n{own}", draw::render::html::STYLE)
}

/// Which part of the site a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// The grids and what they lead to.
    Grid,
    /// Small charts.
    Charts,
    /// All events.
    Events,
    /// Monthly tables.
    Months,
    /// Traffic across the border.
    Traffic,
    /// The state of hosts and plan.
    Hosts,
    /// Of no part.
    None,
}

/// A page before it has its head.
pub struct Sheet {
    /// In the title of the window.
    pub title: String,
    /// Which part of the site.
    pub tab: Tab,
    /// Whether it follows changes.
    pub is_live: bool,
    /// All of it, with its heading.
    pub body: Markup,
}

impl Sheet {
    /// The page of a problem.
    pub fn of_problem(problem: &Problem) -> Self {
        Sheet {
            title: problem::title(problem.status).to_owned(),
            tab: Tab::None,
            is_live: false,
            body: html! { section.problem { (problem.markup()) } },
        }
    }
}

/// The page that is not there.
pub fn no_such_page() -> Problem {
    Problem::unknown(
        "this address belongs to no page",
        "begin with the list of all tasks, and follow its links",
    )
}

/// The head of a page, with what only some pages have.
pub fn head(title: &str, of: &str, more: Markup) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            (more)
            title { (title) " · " (of) }
            link rel="icon" href="/icon.svg" type="image/svg+xml";
            link rel="stylesheet" href="/style.css";
            script src="/script.js" defer {}
        }
    }
}

/// A whole page as it is sent. All that others have named or said passes here: what would turn
/// other characters round, or steer whatever shows them, is U+FFFD.
pub fn sent(page: Markup) -> String {
    let shown = |sign: char| match sign == '\n' || !steers(sign) {
        true => sign,
        false => '\u{FFFD}',
    };
    page.into_string().chars().map(shown).collect()
}

/// The whole page.
pub fn html(sheet: &Sheet, now: UnixTime, notice: Option<&str>) -> String {
    let tabs = [
        (Tab::Grid, "Grid", href::HOME),
        (Tab::Charts, "Charts", href::CHARTS),
        (Tab::Events, "Incidents", href::EVENTS),
        (Tab::Months, "Months", href::MONTHS),
        (Tab::Traffic, "Traffic", href::TRAFFIC),
        (Tab::Hosts, "Hosts", href::HOSTS),
    ];
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&sheet.title, "trunkline watch", html! {}))
            body.watch {
                a.skip href="#content" { "Skip to the content" }
                header.bar {
                    a.brand href=(href::HOME) { "trunkline " b { "watch" } }
                    nav aria-label="Pages" {
                        @for (tab, name, place) in tabs {
                            @let here = (tab == sheet.tab).then_some("page");
                            a href=(place) aria-current=[here] { (name) }
                        }
                    }
                    p.now {
                        span.pulse aria-hidden="true" {}
                        time datetime=(calendar::machine(now)) { (calendar::minute(now)) } " UTC"
                    }
                }
                main #content data-live[sheet.is_live] {
                    @if let Some(notice) = notice { p.note role="status" { (notice) } }
                    (sheet.body)
                }
            }
        }
    };
    sent(page)
}
