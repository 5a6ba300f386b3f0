//! Which names are left out: `--exclude` and `--include`.
//!
//! A pattern means what it means to rsync, as far as the guide says: without `/` it is for the last
//! component of a name at any depth; with one it is for the end of the name, or from the beginning
//! where it begins with `/`; a `/` at its end makes it one for folders; `*` and `?` stand for no
//! `/`, `**` between slashes for any number of folders, and `NAME/***` for a folder and all that is
//! in it. The first rule that fits decides. What is in a folder that is left out is not looked at.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use copy_protocol::{Problem, ProblemKind, SelectionRule};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::problems::{problem, shown, with_hint};

/// Rules that can be asked.
#[derive(Debug, Clone, Default)]
pub struct Rules(Vec<Rule>);

#[derive(Debug, Clone)]
struct Rule {
    leaves_out: bool,
    is_for_folders: bool,
    globs: GlobSet,
}

impl Rules {
    /// Reads patterns.
    ///
    /// # Errors
    /// When one of them is none.
    pub fn new(rules: &[SelectionRule]) -> Result<Self, Problem> {
        let rules = rules.iter().map(Rule::new);
        rules.collect::<Result<_, _>>().map(Rules)
    }

    /// Whether the name is left out, where no folder that it is in is.
    pub fn leave_out(&self, name: &[u8], is_folder: bool) -> bool {
        let first = self.0.iter().find(|rule| rule.fits(name, is_folder));
        !name.is_empty() && first.is_some_and(|rule| rule.leaves_out)
    }

    /// Whether the name or a folder that it is in is left out.
    pub fn hide(&self, name: &[u8], is_folder: bool) -> bool {
        let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.map(|(at, _)| &name[..at]);
        !self.0.is_empty()
            && (above.any(|folder| self.leave_out(folder, true)) || self.leave_out(name, is_folder))
    }
}

impl Rule {
    fn new(rule: &SelectionRule) -> Result<Self, Problem> {
        let text = rule.pattern.as_str();
        let is_for_folders = text.ends_with('/');
        let text = text.strip_suffix('/').unwrap_or(text);
        let (text, start) = match text.strip_prefix('/') {
            Some(rest) => (rest, ""),
            None => (text, "**/"),
        };
        let mut globs = GlobSetBuilder::new();
        let both = text
            .strip_suffix("/***")
            .map(|folder| [folder.to_owned(), format!("{folder}/**")]);
        for text in both.map_or_else(|| vec![text.to_owned()], Vec::from) {
            check(&text).map_err(|why| wrong(&rule.pattern, why))?;
            let glob = GlobBuilder::new(&format!("{start}{text}"))
                .literal_separator(true)
                .backslash_escape(true)
                .build();
            globs.add(glob.map_err(|error| wrong(&rule.pattern, &error.kind().to_string()))?);
        }
        let globs = globs.build();
        Ok(Rule {
            leaves_out: rule.leaves_out,
            is_for_folders,
            globs: globs.map_err(|error| wrong(&rule.pattern, &error.kind().to_string()))?,
        })
    }

    fn fits(&self, name: &[u8], is_folder: bool) -> bool {
        (is_folder || !self.is_for_folders) && self.globs.is_match(OsStr::from_bytes(name))
    }
}

fn check(text: &str) -> Result<(), &'static str> {
    match text {
        "" => Err("nothing is left of it"),
        _ if text.split('/').any(|one| one != "**" && one.contains("**")) => {
            Err("`**` stands alone between slashes")
        }
        _ => Ok(()),
    }
}

fn wrong(pattern: &str, why: &str) -> Problem {
    let what = format!("pattern `{}`: {why}", shown(pattern.as_bytes()));
    with_hint(
        problem(ProblemKind::Request, what),
        "write `*.tmp` for files of any folder, `/run7/raw/` for one folder, `cache/***` for \
        folders with what is in them",
    )
}

/// Whether a text is a pattern of a rule.
///
/// # Errors
/// Why not.
pub fn check_pattern(text: &str) -> Result<(), String> {
    let (leaves_out, pattern) = (true, text.to_owned());
    let rule = SelectionRule {
        leaves_out,
        pattern,
    };
    Rule::new(&rule).map(drop).map_err(|problem| problem.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `-PATTERN` leaves out, `+PATTERN` does not.
    fn rules(texts: &[&str]) -> Rules {
        let rule = |text: &&str| SelectionRule {
            leaves_out: text.starts_with('-'),
            pattern: text[1..].to_owned(),
        };
        Rules::new(&texts.iter().map(rule).collect::<Vec<_>>()).unwrap()
    }

    /// Expected as `rsync -r --exclude` treats them; a name that ends in `/` is a folder.
    #[test]
    fn patterns_mean_what_they_mean_to_rsync() {
        let table: &[(&str, &[&str], &[&str])] = &[
            (
                "*.tmp",
                &["a.tmp", "run7/x/.a.tmp", "d.tmp/"],
                &["a.tmpx", "a.tmp/x"],
            ),
            ("/a.tmp", &["a.tmp"], &["run7/a.tmp"]),
            ("raw/", &["raw/", "run7/raw/"], &["raw", "run7/raw"]),
            ("/run7/raw/", &["run7/raw/"], &["raw/", "x/run7/raw/"]),
            (
                "raw/*.dat",
                &["raw/a.dat", "run7/raw/a.dat"],
                &["a.dat", "raw/x/a.dat", "draw/a.dat"],
            ),
            ("raw/**", &["raw/a", "run7/raw/x/y"], &["raw/", "run7/raw/"]),
            (
                "raw/***",
                &["raw/", "raw/a", "run7/raw/x/y"],
                &["rawx/", "rawx/a"],
            ),
            ("/x/**/y", &["x/y", "x/a/y", "x/a/b/y"], &["a/x/y", "x/y/z"]),
            ("?.[ch]", &["a.c", "d/b.h"], &["ab.c", "a.o"]),
            ("a\\*", &["a*", "d/a*"], &["ab"]),
            ("[!.]*", &["a", "d/b"], &[".a", "d/.b"]),
        ];
        for (pattern, fitting, others) in table {
            let rules = rules(&[&format!("-{pattern}")]);
            let is_out = |name: &&&str| {
                let is_folder = name.ends_with('/');
                rules.leave_out(name.trim_end_matches('/').as_bytes(), is_folder)
            };
            let left: Vec<_> = fitting.iter().filter(|name| !is_out(name)).collect();
            assert!(left.is_empty(), "{pattern} does not fit {left:?}");
            let out: Vec<_> = others.iter().filter(is_out).collect();
            assert!(out.is_empty(), "{pattern} fits {out:?}");
        }
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let only_root = rules(&["+*/", "+*.root", "-*"]);
        for (name, is_folder, is_out) in [
            ("run7", true, false),
            ("run7/hits.root", false, false),
            ("run7/notes", false, true),
            ("", true, false),
        ] {
            assert_eq!(
                only_root.leave_out(name.as_bytes(), is_folder),
                is_out,
                "{name}"
            );
        }
    }

    #[test]
    fn what_is_in_a_folder_that_is_left_out_is_hidden() {
        let rules = rules(&["-/run7/raw"]);
        assert!(rules.hide(b"run7/raw/x/y", false));
        assert!(
            !rules.leave_out(b"run7/raw/x/y", false),
            "it is not looked at"
        );
        assert!(!rules.hide(b"run7/rawer", false));
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        for (text, part) in [
            ("[a", "["),
            ("", "nothing is left"),
            ("/", "nothing is left"),
            ("a**b", "`**` stands alone"),
        ] {
            let told = check_pattern(text).unwrap_err();
            assert!(told.contains(part), "{text}: {told}");
        }
    }
}
