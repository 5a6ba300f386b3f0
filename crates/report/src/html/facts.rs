//! Where a document comes from, for those who want to repeat it.

use maud::{Markup, html};
use record::{Host, Origin};

use crate::{format, text};

pub fn section(origin: &Origin) -> Markup {
    html! {
        footer {
            h2 { "Where this comes from" }
            dl.facts {
                @for (name, value) in facts(origin) {
                    dt { (name) }
                    dd { (value) }
                }
            }
        }
    }
}

fn facts(origin: &Origin) -> Vec<(&'static str, String)> {
    let seed = origin.seed.map(|seed| ("Seed", seed.to_string()));
    let facts = [
        Some(("Command", text::plain(&origin.command_line.join(" ")))),
        Some(("Date", origin.created.clone())),
        Some(("Host", host(&origin.host))),
        seed,
        Some(("Version", format!("trunkline {}", origin.trunkline_version))),
    ];
    facts.into_iter().flatten().collect()
}

fn host(host: &Host) -> String {
    let kernel = host.kernel.as_ref().map(|kernel| format!("Linux {kernel}"));
    let cpus = host.cpus.map(|cpus| format!("{cpus} processors"));
    let memory = host
        .memory_bytes
        .map(|bytes| format!("{} of memory", format::size(bytes)));
    let known: Vec<String> = [host.name.clone(), kernel, cpus, memory]
        .into_iter()
        .flatten()
        .collect();
    known.join(", ")
}
