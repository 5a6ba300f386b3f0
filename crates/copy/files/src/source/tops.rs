//! Where a walk begins: the sources, or the names of a list below one of them.

use std::collections::{BTreeSet, VecDeque};

use copy_protocol::{Name, Problem, ProblemKind};

use super::{SourceSpec, select};
use crate::problems::{problem, shown, with_hint};

/// Something that a walk begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Top {
    /// As the user would call it.
    pub path: Vec<u8>,
    /// What it is called at the other end.
    pub name: Vec<u8>,
    /// Only the folder itself: what is in it is listed by name.
    pub is_alone: bool,
}

/// All of them, in order.
///
/// # Errors
/// When a list has a name that leads elsewhere, or more than one source.
pub fn tops(spec: &SourceSpec) -> Result<VecDeque<Top>, Problem> {
    let Some(listed) = &spec.selection.listed else {
        let top = |path: &Vec<u8>| Top {
            name: select::target_name(path).to_vec(),
            path: path.clone(),
            is_alone: false,
        };
        return Ok(spec.paths.iter().map(top).collect());
    };
    let [base] = &spec.paths[..] else {
        return Err(several(spec.paths.len()));
    };
    below(base, listed, spec.recursive)
}

/// Each name once, each after the folders that it is in.
fn below(base: &[u8], listed: &[Vec<u8>], is_recursive: bool) -> Result<VecDeque<Top>, Problem> {
    let names: BTreeSet<Vec<u8>> = listed
        .iter()
        .map(|name| clean(name))
        .collect::<Result<_, _>>()?;
    let mut tops = VecDeque::new();
    let mut told: BTreeSet<&[u8]> = BTreeSet::new();
    for name in &names {
        let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let above: Vec<&[u8]> = slashes.map(|(at, _)| &name[..at]).collect();
        // It comes with a folder that is listed itself.
        if is_recursive && above.iter().any(|folder| names.contains(*folder)) {
            continue;
        }
        for folder in above.into_iter().filter(|folder| told.insert(folder)) {
            // With a `/` at its end a link to a folder is followed: what is listed is in there.
            tops.push_back(top(base, folder, b"/", true));
        }
        if told.insert(name) {
            tops.push_back(top(base, name, b"", !is_recursive));
        }
    }
    Ok(tops)
}

fn top(base: &[u8], name: &[u8], end: &[u8], is_alone: bool) -> Top {
    let slash: &[u8] = if base.is_empty() || base.ends_with(b"/") {
        b""
    } else {
        b"/"
    };
    let path = [base, slash, name, end].concat();
    let name = name.to_vec();
    Top {
        path,
        name,
        is_alone,
    }
}

/// `/a/./b/` is `a/b`, as in rsync's lists.
pub fn clean(listed: &[u8]) -> Result<Vec<u8>, Problem> {
    let parts: Vec<&[u8]> = listed
        .split(|byte| *byte == b'/')
        .filter(|part| !matches!(*part, b"" | b"."))
        .collect();
    let name = parts.join(&b'/');
    match Name::new(name) {
        Ok(name) if !name.is_empty() => Ok(name.as_bytes().to_vec()),
        Ok(_) | Err(_) => {
            let what = format!(
                "the list has `{}`, which names nothing below the source",
                shown(listed)
            );
            Err(with_hint(
                problem(ProblemKind::Request, what),
                "write names as they are below the source, like `run7/hits.root`",
            ))
        }
    }
}

fn several(count: usize) -> Problem {
    let what = format!("a list of names goes with one source, and there are {count}");
    with_hint(
        problem(ProblemKind::Request, what),
        "name the folder that all names of the list are in: `--files-from LIST FOLDER HOST:PATH`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(names: &[&str], is_recursive: bool) -> Vec<(String, String, bool)> {
        let names: Vec<Vec<u8>> = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        let tops = below(b"/data", &names, is_recursive).unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        tops.into_iter()
            .map(|top| (text(top.path), text(top.name), top.is_alone))
            .collect()
    }

    #[test]
    fn a_listed_name_comes_after_the_folders_that_it_is_in() {
        let row = |path: &str, name: &str, alone| (path.to_owned(), name.to_owned(), alone);
        let found = listed(&["b/y", "./b//x", "/a", "b/y"], false);
        let expected = [
            row("/data/a", "a", true),
            row("/data/b/", "b", true),
            row("/data/b/x", "b/x", true),
            row("/data/b/y", "b/y", true),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_listed_folder_is_walked_once() {
        let names = |recursive| {
            listed(&["b/x", "b", "b-c"], recursive)
                .into_iter()
                .map(|(_, name, _)| name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(true), ["b", "b-c"]);
        assert_eq!(names(false), ["b", "b-c", "b/x"]);
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["../x", "a/../../x", "", "/", "."] {
            let told = below(b"/data", &[name.as_bytes().to_vec()], true).unwrap_err();
            assert!(
                told.what.contains("names nothing below"),
                "{name}: {}",
                told.what
            );
        }
    }
}
