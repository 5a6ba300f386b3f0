//! Places of files: `/path` here, `HOST:/path` at a host of the plan.

use std::collections::BTreeMap;

use watch_plan::section::{Field, Findings, closest};

use crate::model::{Host, Spot};
use crate::names::HostName;

/// A place; a path here has to be absolute, because tasks run in folders of their engines.
pub(super) fn spot(
    field: Field<&str>,
    hosts: &BTreeMap<HostName, Host>,
    found: &mut Findings,
) -> Option<Spot> {
    let Field { value, place } = field;
    let slash = value.find('/').unwrap_or(value.len());
    let (host, path) = match value.find(':').filter(|colon| *colon < slash) {
        Some(colon) => (Some(&value[..colon]), &value[colon + 1..]),
        None => (None, value),
    };
    let path = cleaned(path);
    let Some(name) = host else {
        if !path.starts_with('/') {
            let problem = format!("`{value}` does not begin with `/`");
            let hint = "write the whole path, or `HOST:/path` with a host of `[hosts]`: tasks run \
                        in other folders than this plan stands in";
            found.refuse(&place, problem, hint);
            return None;
        }
        return Some(Spot { host: None, path });
    };
    if path.is_empty() {
        let problem = format!("`{value}` names no folder");
        found.refuse(&place, problem, format!("write `{name}:/store`"));
        return None;
    }
    match hosts.keys().find(|known| known.as_str() == name) {
        Some(known) => Some(Spot {
            host: Some(known.clone()),
            path,
        }),
        None => {
            let near = closest(name, hosts.keys().map(HostName::as_str));
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let problem = format!("there is no host `{name}` in `[hosts]`");
            let hint = format!("{near}write `{name} = {{ address = \"...\" }}` under `[hosts]`");
            found.refuse(&place, problem, hint);
            None
        }
    }
}

/// `/a//b/` is `/a/b`. `..` stays: where it leads, links decide.
fn cleaned(path: &str) -> String {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    let start = if path.starts_with('/') { "/" } else { "" };
    match (start, parts.is_empty(), path.is_empty()) {
        ("", true, false) => ".".to_owned(),
        _ => format!("{start}{}", parts.join("/")),
    }
}
