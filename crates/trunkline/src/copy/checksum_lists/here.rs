//! Which files of this host the entries of a copy are.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use copy_protocol::{CopyDirection, CopySpec, NearEnd};
use files::source::SourceSpec;
use files::source::tops::tops;

use crate::Error;

/// Where the files of this end are.
pub(super) enum Here {
    /// They went from here: what there was to copy, by its name at the other end.
    From(BTreeMap<Vec<u8>, Vec<Vec<u8>>>),
    /// They came to here.
    To(Vec<u8>),
}

impl Here {
    /// Those of this copy.
    ///
    /// # Errors
    /// When a list of names cannot be followed.
    pub fn of(spec: &CopySpec) -> Result<Self, Error> {
        let NearEnd::Here(paths) = &spec.near else {
            return Ok(Here::From(BTreeMap::new()));
        };
        let mut paths: Vec<Vec<u8>> = paths
            .iter()
            .map(|path| path.as_os_str().as_bytes().to_vec())
            .collect();
        if spec.direction == CopyDirection::Get {
            return Ok(Here::To(paths.pop().unwrap_or_default()));
        }
        let all = tops(&SourceSpec {
            paths,
            wildcards: false,
            recursive: spec.options.recursive,
            attributes: spec.options.attributes,
            selection: spec.options.selection.clone(),
        })?;
        let mut by_name: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
        for top in all {
            by_name.entry(top.name).or_default().push(top.path);
        }
        Ok(Here::From(by_name))
    }

    /// The files that an entry may be, the likeliest first.
    pub fn paths(&self, name: &[u8]) -> Vec<Vec<u8>> {
        let tops = match self {
            Here::From(tops) => tops,
            Here::To(place) if is_folder(place) => return vec![join(place, name)],
            Here::To(place) => return vec![place.clone()],
        };
        let slashes = (0..name.len()).rev().filter(|at| name[*at] == b'/');
        let cuts = slashes.map(|at| (&name[..at], &name[at + 1..]));
        let (whole, nothing) = ((name, &name[..0]), (&name[..0], name));
        let cuts = iter::once(whole).chain(cuts).chain(iter::once(nothing));
        cuts.flat_map(|(top, rest)| {
            let paths = tops.get::<[u8]>(top).into_iter().flatten();
            paths.map(move |path| join(path, rest))
        })
        .collect()
    }

    /// Below the destination, or the name that one file got.
    pub fn listed_as(&self, name: &[u8]) -> Vec<u8> {
        match self {
            Here::To(place) if !is_folder(place) => {
                let last = place.rsplit(|byte| *byte == b'/').next();
                last.unwrap_or(name).to_vec()
            }
            _ => name.to_vec(),
        }
    }
}

fn is_folder(place: &[u8]) -> bool {
    Path::new(OsStr::from_bytes(place)).is_dir()
}

fn join(folder: &[u8], rest: &[u8]) -> Vec<u8> {
    match (rest, folder) {
        ([], _) => folder.to_vec(),
        (_, [] | [.., b'/']) => [folder, rest].concat(),
        _ => [folder, &b"/"[..], rest].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_the_file_that_it_came_from() {
        let tops = [
            ("run7", "../data/run7"),
            ("x", "x"),
            ("", "a/"),
            ("", "."),
            ("b/y", "/list/b/y"),
        ];
        let mut by_name: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
        for (name, path) in tops {
            by_name.entry(name.into()).or_default().push(path.into());
        }
        let here = Here::From(by_name);
        let paths = |name: &str| {
            let paths = here.paths(name.as_bytes()).into_iter();
            paths
                .map(|path| String::from_utf8(path).unwrap())
                .collect::<Vec<_>>()
        };
        let run = ["../data/run7/c/d", "a/run7/c/d", "./run7/c/d"];
        assert_eq!(paths("run7/c/d"), run);
        assert_eq!(paths("x"), ["x", "a/x", "./x"]);
        assert_eq!(paths("b/y"), ["/list/b/y", "a/b/y", "./b/y"]);
    }
}
