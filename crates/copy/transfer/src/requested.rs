//! The names that a near end has requested: the far end may send no others.
//!
//! The far end chooses the names of what arrives. Without this check it could add a `.bashrc`,
//! replace a file that was not asked for, or change the mode of the destination (CVE-2019-6111,
//! CVE-2022-29154).

use std::collections::BTreeSet;

use copy_protocol::{Entry, Kind, Opening, Problem, ProblemKind};

use files::Rules;
use files::source::select::{Pattern, has_wildcard, target_name};
use files::source::tops;
use files::{problem, with_hint};

/// What the sources of a get stand for.
#[derive(Debug)]
pub(crate) struct Requested {
    names: Vec<Vec<u8>>,
    patterns: Vec<Pattern>,
    /// A source whose content was asked for, under whatever names.
    has_content: bool,
    folders: bool,
    links: bool,
    rules: Rules,
    /// Names of a list, which alone were asked for, with the folders that they are in.
    listed: Option<BTreeSet<Vec<u8>>>,
}

impl Requested {
    /// The sources, as the user wrote them.
    ///
    /// # Errors
    /// When a wildcard cannot be read.
    pub(crate) fn of(opening: &Opening) -> Result<Self, Problem> {
        let lasts = || opening.paths.iter().map(|path| target_name(path));
        let patterns = lasts().filter(|last| has_wildcard(last)).map(Pattern::new);
        Ok(Requested {
            patterns: patterns.collect::<Result<_, _>>()?,
            has_content: opening.recursive && lasts().any(<[u8]>::is_empty),
            names: lasts().map(<[u8]>::to_vec).collect(),
            folders: opening.recursive,
            links: opening.attributes.links,
            rules: Rules::new(&opening.selection.rules)?,
            listed: listed_names(opening)?,
        })
    }

    /// Whether the entry is part of what was asked for.
    ///
    /// # Errors
    /// A problem of the whole copy when it is not: the far end is broken or hostile.
    pub(crate) fn check(&self, entry: &Entry) -> Result<(), Problem> {
        let reason = match self.reason_against(entry) {
            None => return Ok(()),
            Some(reason) => reason,
        };
        let what = format!("the far end told of `{}`, {reason}", entry.name);
        let hint = "nothing of that name was written; the far end is broken or means harm: look at \
            who runs it";
        Err(with_hint(problem(ProblemKind::Protocol, what), hint))
    }

    fn reason_against(&self, entry: &Entry) -> Option<&'static str> {
        let is_below = entry.name.components().count() > 1;
        let is_folder = entry.kind == Kind::Folder;
        if self.rules.hide(entry.name.as_bytes(), is_folder) {
            return Some("which a rule leaves out");
        }
        if let Some(listed) = &self.listed {
            return self.reason_against_listed(entry, listed);
        }
        match &entry.kind {
            Kind::Folder if !self.folders => Some("a folder, and no folders were asked for"),
            _ if is_below && !self.folders => Some("in a folder, and no folders were asked for"),
            Kind::Link(_) if !self.links => Some("a link, and links were not asked for"),
            Kind::File(_) | Kind::Link(_) if entry.name.is_empty() => Some("a file without a name"),
            _ if self.is_named(entry) => None,
            _ => Some("which was not asked for"),
        }
    }

    fn reason_against_listed(
        &self,
        entry: &Entry,
        listed: &BTreeSet<Vec<u8>>,
    ) -> Option<&'static str> {
        let name = entry.name.as_bytes();
        let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.map(|(at, _)| &name[..at]);
        let start = [name, b"/"].concat();
        let next = listed.range(start.clone()..).next();
        let is_on_the_way =
            entry.kind == Kind::Folder && next.is_some_and(|next| next.starts_with(&start));
        let is_listed = listed.contains(name)
            || is_on_the_way
            || self.folders && above.any(|folder| listed.contains(folder));
        match &entry.kind {
            Kind::Link(_) if !self.links => Some("a link, and links were not asked for"),
            _ if is_listed => None,
            _ => Some("which is not in the list"),
        }
    }

    fn is_named(&self, entry: &Entry) -> bool {
        let first = entry.name.components().next().unwrap_or_default();
        let is_it = |name: &Vec<u8>| !first.is_empty() && name == first;
        self.has_content
            || self.names.iter().any(is_it)
            || self.patterns.iter().any(|pattern| pattern.is_match(first))
    }
}

fn listed_names(opening: &Opening) -> Result<Option<BTreeSet<Vec<u8>>>, Problem> {
    let names = opening.selection.listed.iter().flatten();
    let names = names
        .map(|name| tops::clean(name))
        .collect::<Result<_, _>>()?;
    Ok(opening.selection.listed.is_some().then_some(names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opening::tests::opening_of;
    use copy_protocol::{CopyDirection, Name};

    fn asked(paths: &[&str], recursive: bool, links: bool) -> Requested {
        let mut opening = opening_of(CopyDirection::Get, paths);
        opening.recursive = recursive;
        opening.attributes.links = links;
        Requested::of(&opening).unwrap()
    }

    fn entry(name: &str, kind: Kind) -> Entry {
        Entry {
            name: Name::new(name.into()).unwrap(),
            kind,
            mode: 0o777,
            modified_nanoseconds: 0,
            version: 0,
            is_sparse: false,
            digest: None,
        }
    }

    fn file(name: &str) -> Entry {
        entry(name, Kind::File(1))
    }

    #[test]
    fn a_get_of_a_file_takes_that_file_and_nothing_else() {
        let asked = asked(&["data/notes.txt"], false, true);
        assert!(asked.check(&file("notes.txt")).is_ok());
        for other in [
            ".bashrc",
            "thesis.tex",
            "notes.txt/x",
            ".ssh/authorized_keys",
            "",
        ] {
            assert!(asked.check(&file(other)).is_err(), "{other}");
        }
        for folder in ["", ".ssh", "notes.txt"] {
            assert!(
                asked.check(&entry(folder, Kind::Folder)).is_err(),
                "{folder}"
            );
        }
        let refused = asked.check(&file(".bashrc")).unwrap_err();
        assert_eq!(
            refused.what,
            "the far end told of `.bashrc`, which was not asked for"
        );
    }

    #[test]
    fn a_folder_comes_with_what_is_in_it_and_nothing_beside_it() {
        let asked = asked(&["run7"], true, true);
        for name in ["run7", "run7/x/y"] {
            assert!(asked.check(&file(name)).is_ok(), "{name}");
        }
        for name in [".profile", "run70/x", "run"] {
            assert!(asked.check(&file(name)).is_err(), "{name}");
        }
        assert!(asked.check(&entry("", Kind::Folder)).is_err());
    }

    #[test]
    fn the_content_of_a_folder_has_any_names() {
        for path in ["run7/", "run7/.", "..", ""] {
            let content = asked(&[path], true, true);
            assert!(content.check(&file("anything/below")).is_ok(), "{path}");
            assert!(content.check(&entry("", Kind::Folder)).is_ok(), "{path}");
            assert!(content.check(&file("")).is_err(), "{path}");
            assert!(
                asked(&[path], false, true).check(&file("x")).is_err(),
                "{path}"
            );
        }
    }

    #[test]
    fn wildcards_mean_what_they_mean_at_the_far_end() {
        let asked = asked(&["data/*.root", "x[1]"], true, true);
        for name in ["a.root", "*.root", "x1", "x[1]", "a.root/in/it"] {
            assert!(asked.check(&file(name)).is_ok(), "{name}");
        }
        for name in [".a.root", "a.txt", "x2", "data/a.root"] {
            assert!(asked.check(&file(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn nothing_comes_that_a_rule_leaves_out_or_that_is_not_in_the_list() {
        let mut opening = opening_of(CopyDirection::Get, &["run7"]);
        opening.recursive = true;
        let (leaves_out, pattern) = (true, "raw/".to_owned());
        let rule = copy_protocol::SelectionRule {
            leaves_out,
            pattern,
        };
        opening.selection.rules.push(rule);
        let ruled = Requested::of(&opening).unwrap();
        assert!(ruled.check(&file("run7/a")).is_ok());
        assert!(ruled.check(&file("run7/raw/a")).is_err());
        assert!(ruled.check(&entry("run7/raw", Kind::Folder)).is_err());
        opening.selection.listed = Some(vec![b"./a/x".to_vec(), b"b".to_vec()]);
        opening.selection.rules.clear();
        let listed = Requested::of(&opening).unwrap();
        for name in ["a/x", "b", "b/y", "a/x/z"] {
            assert!(listed.check(&file(name)).is_ok(), "{name}");
        }
        assert!(listed.check(&entry("a", Kind::Folder)).is_ok());
        for name in ["a", "a/y", "c", "run7/a", ""] {
            assert!(listed.check(&file(name)).is_err(), "{name}");
        }
        opening.recursive = false;
        assert!(
            Requested::of(&opening)
                .unwrap()
                .check(&file("b/y"))
                .is_err()
        );
    }

    #[test]
    fn links_come_only_where_they_were_asked_for() {
        let link = entry("a", Kind::Link(b"/etc".to_vec()));
        assert!(asked(&["a"], false, true).check(&link).is_ok());
        assert!(asked(&["a"], false, false).check(&link).is_err());
    }
}
