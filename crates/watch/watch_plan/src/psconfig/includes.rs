//! Files that a psconfig file includes.
//!
//! As in perfSONAR: an entry that is there already stays, and what an included file includes is not
//! followed. So no loop is possible.

use std::collections::BTreeSet;

use crate::section::{Field, Findings, Place, Section};
use crate::tree::{self, Entry, Node, Value};

/// Gives the text of an included file, by the name that is written; or why it cannot.
pub type Include<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// Most files that one may include.
pub const INCLUDES_MAX: usize = 32;
/// Most bytes of a file and of all that it includes.
pub const BYTES_MAX: usize = 4 << 20;

/// What an included file may hold of a plan. perfSONAR takes other sections, too.
const TAKEN: [&str; 7] = super::READ;

/// The files that `root` includes, read, in their order.
pub(super) fn included(
    text: &str,
    root: &Node,
    include: &mut Include<'_>,
    found: &mut Findings,
) -> Vec<Node> {
    let names = Section::root(root, found).and_then(|root| root.texts("includes", found));
    let names = names.unwrap_or_default();
    if let Some(first) = names.get(INCLUDES_MAX) {
        let problem = format!("{} files are above {INCLUDES_MAX}", names.len());
        found.refuse(&first.place, problem, "put some of them into one file");
        return Vec::new();
    }
    let (mut bytes, mut lines) = (text.len(), text.lines().count().max(1));
    let mut nodes = Vec::new();
    for name in names {
        let Some(text) = read(&name, include, found) else {
            continue;
        };
        bytes += text.len();
        if bytes > BYTES_MAX {
            let problem = format!("with this file there are {bytes} bytes, above {BYTES_MAX}");
            found.refuse(&name.place, problem, "include less, or make two plans");
            break;
        }
        found.begin_file(lines, printable(name.value));
        match tree::json(&text, lines) {
            Ok(node) => nodes.push(node),
            Err(mistake) => found.mistakes.push(mistake),
        }
        lines += text.lines().count().max(1);
    }
    nodes
}

fn read(name: &Field<&str>, include: &mut Include<'_>, found: &mut Findings) -> Option<String> {
    let shown = printable(name.value);
    let path = name.value.strip_prefix("file://").unwrap_or(name.value);
    if path.contains("://") {
        let problem = format!("`{shown}` is not a file: all agents have to read the same");
        let hint = "get it once, as with `curl -O`, and write the name of the file here";
        found.refuse(&name.place, problem, hint);
        return None;
    }
    include(path)
        .map_err(|why| {
            let problem = format!("`{shown}` cannot be included: {why}");
            let hint = "write a path, relative to the folder of this file";
            found.refuse(&name.place, problem, hint);
        })
        .ok()
}

fn printable(name: &str) -> String {
    units::printable(name, 200)
}

/// Adds the entries of an included file that `root` does not have.
pub(super) fn merge(root: &mut Node, included: Node, found: &mut Findings) {
    let (Value::Table(own), Value::Table(others)) = (&mut root.value, included.value) else {
        let place = Place {
            line: included.line,
            field: String::new(),
        };
        let hint = "write an object with `addresses`, `groups` or others";
        return found.refuse(&place, "an included file is one object".to_owned(), hint);
    };
    for section in others {
        if !TAKEN.contains(&section.key.as_str()) {
            if !section.key.starts_with('_') {
                let text = format!("`{}` of an included file is not used", section.key);
                found.notice(&place(&section, ""), text);
            }
            continue;
        }
        match own.iter_mut().find(|entry| entry.key == section.key) {
            None => own.push(section),
            Some(entry) => add(entry, section, found),
        }
    }
}

/// Adds the entries of a section. What is no table is refused where the section is read.
fn add(own: &mut Entry, section: Entry, found: &mut Findings) {
    let (Value::Table(entries), Value::Table(others)) = (&mut own.node.value, section.node.value)
    else {
        let problem = format!(
            "`{}` is no table here, or not where it is included",
            own.key
        );
        let at = Place {
            line: section.line,
            field: section.key,
        };
        return found.refuse(&at, problem, "write a table in both");
    };
    let known: BTreeSet<String> = entries.iter().map(|entry| entry.key.clone()).collect();
    for entry in others {
        match known.contains(&entry.key) {
            false => entries.push(entry),
            true => found.notice(
                &place(&entry, &section.key),
                "there before it was included; not used here",
            ),
        }
    }
}

fn place(entry: &Entry, table: &str) -> Place {
    let field = match table {
        "" => entry.key.clone(),
        table => format!("{table}.{}", entry.key),
    };
    Place {
        line: entry.line,
        field,
    }
}
