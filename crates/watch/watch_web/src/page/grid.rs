//! The grid of each task: what every pair shows now.

use std::collections::BTreeSet;

use changes::UnixTime;
use maud::{Markup, html};
use watch_store::{Name, Pair};

use super::incidents::Incidents;
use super::mesh::{self, Mesh};
use crate::ask::Ask;
use crate::frame::{Sheet, Tab};
use crate::href::Place;
use crate::problem::Problem;
use crate::site::Site;
use crate::{href, words};

/// Grids with more columns are as wide as the page.
const WIDE: usize = 7;
/// Those with still more are drawn small.
const LARGE: usize = 14;
/// Pairs that are named above a grid.
const NAMED: usize = 5;

/// The page.
pub fn sheet(site: &Site, ask: &Ask) -> Result<Sheet, Problem> {
    let now = site.live.now();
    let table = site.live.timetable();
    let wanted = ask.name("task")?;
    let (meshes, incidents) = site.stores.with(|store| {
        let meshes = mesh::all(store, table.as_deref(), wanted.as_ref(), now)?;
        Ok::<_, Problem>((meshes, Incidents::open(store)?))
    })?;
    let title = match (&wanted, &meshes[..]) {
        (Some(task), _) | (None, [Mesh { task, .. }]) => format!("Task {task}"),
        (None, _) => "All tasks".to_owned(),
    };
    let body = html! {
        h1 { (title) }
        (links(&meshes, wanted.as_ref()))
        @if incidents.count() > 0 {
            p.setting {
                a href="#open" {
                    (draw::words::count(incidents.count() as u64, "open incident"))
                }
            }
        }
        div.tasks { @for mesh in meshes.iter().filter(|mesh| mesh.is_shown) { (drawn(mesh)) } }
        @if wanted.is_none() && meshes.iter().any(|mesh| !mesh.is_shown) {
            p.note { "Not all grids fit on one page; the others are behind their names above." }
        }
        @if meshes.is_empty() { (nothing()) }
        (open_incidents(&incidents, now))
    };
    Ok(Sheet {
        title,
        tab: Tab::Grid,
        is_live: true,
        body,
    })
}

fn links(meshes: &[Mesh], wanted: Option<&Name>) -> Markup {
    let all = Place::new(href::HOME);
    let all = ("All tasks".to_owned(), all, wanted.is_none());
    let tasks = meshes.iter().map(|mesh| {
        let is_here = wanted == Some(&mesh.task);
        (mesh.task.to_string(), href::grid(&mesh.task), is_here)
    });
    html! {
        @if meshes.len() > 1 { (super::links("Tasks", std::iter::once(all).chain(tasks))) }
    }
}

fn open_incidents(incidents: &Incidents, now: UnixTime) -> Markup {
    html! {
        section.open #open {
            @if incidents.count() == 0 {
                p.quiet { "No incident is open." }
            } @else {
                h2 { "Open incidents " span.count { (incidents.count()) } }
                (incidents.first_cards(now))
            }
        }
    }
}

fn nothing() -> Markup {
    html! {
        section.problem {
            p.lead { "There is no plan and no visit yet." }
            p {
                "Start agents with " code { "trunkline watch run PLAN" }
                "; their results appear here."
            }
        }
    }
}

fn drawn(mesh: &Mesh) -> Markup {
    let rows: BTreeSet<&Name> = mesh.cells.keys().map(|pair| &pair.from).collect();
    let columns: BTreeSet<&Name> = mesh.cells.keys().map(|pair| &pair.to).collect();
    html! {
        section.task.wide[columns.len() > WIDE] {
            h2 {
                a href=(href::grid(&mesh.task)) { (mesh.task) } " "
                span.about { (about(mesh)) }
            }
            (worst(mesh))
            (mesh.shown.legend(mesh.cells.values()))
            div.matrix tabindex="0" role="group" aria-label={ "Grid of " (mesh.task) } {
                table.grid.large[columns.len() > LARGE] {
                    thead {
                        tr {
                            td.corner { "from ↓ to →" }
                            @for to in &columns { th scope="col" { span { (to) } } }
                        }
                    }
                    tbody {
                        @for from in &rows {
                            tr {
                                th scope="row" { span { (from) } }
                                @for to in &columns { (cell(mesh, from, to)) }
                            }
                        }
                    }
                }
            }
            p.note { (mesh.shown.says()) }
        }
    }
}

/// The pairs that someone should look at first.
fn worst(mesh: &Mesh) -> Markup {
    let ranked = mesh.ranked().into_iter();
    let troubled: Vec<_> = ranked.filter(|(_, cell)| cell.state.is_trouble()).collect();
    let named = troubled.get(..NAMED).unwrap_or(&troubled);
    let more = troubled.len() - named.len();
    html! {
        p.worst {
            @if named.is_empty() { "No pair is worse than usual." } @else { b { "Worst" } }
            @for (pair, cell) in named {
                a href=(href::pair(pair, &mesh.task)) title=(cell.title) {
                    span class={ "key " (cell.state.class()) } { (cell.figure()) }
                    (words::path(pair))
                }
            }
            @if more > 0 { span { "and " (more) " more" } }
        }
    }
}

fn about(mesh: &Mesh) -> String {
    let kind = mesh.kind.map(|kind| kind.word().to_owned());
    let every = mesh
        .interval
        .map(|span| format!("every {}", words::length(span)));
    let pairs = draw::words::count(mesh.cells.len() as u64, "pair");
    let parts = [kind, every, Some(pairs)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn cell(mesh: &Mesh, from: &Name, to: &Name) -> Markup {
    let pair = Pair {
        from: from.clone(),
        to: to.clone(),
    };
    let Some(cell) = mesh.cells.get(&pair) else {
        return html! { td.blank {} };
    };
    html! {
        td class=(cell.state.class()) {
            a href=(href::pair(&pair, &mesh.task)) title=(cell.title) { (cell.figure()) }
        }
    }
}
