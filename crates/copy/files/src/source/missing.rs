//! A source that is not there, told so that the user sees which part of the name is wrong.

use std::env;

use copy_protocol::{Problem, ProblemKind};
use nix::fcntl::OFlag;

use crate::problems::{problem, shown, with_hint};
use crate::root::Root;

/// How far the name leads and what is missing there; `is_far` where the name was given at the other
/// end.
pub(super) fn missing(root: &Root, path: &[u8], is_far: bool) -> Problem {
    let (folder, last) = first_missing(root, path);
    let wanted = shown(path);
    let what = match is_a_link(root, path) {
        true => format!("`{wanted}` is a link to something that is not there"),
        false => format!(
            "there is no `{wanted}`: {} has no `{}`",
            place(root, folder),
            shown(last)
        ),
    };
    let hint = match (is_a_link(root, path), is_far, root.is_own()) {
        (true, ..) => "without `-L` the link itself is copied",
        (false, true, false) => {
            "check the spelling; paths begin at the folder that is served, and a wildcard in \
            quotes with `--dry-run` shows what is there"
        }
        (false, true, true) => {
            "check the spelling; paths at the far end begin in the home folder unless they begin \
            with `/`"
        }
        (false, false, _) => {
            "check the spelling; a file of another host is written `HOST:PATH` or \
            `trunkline://HOST/PATH`"
        }
    };
    with_hint(problem(ProblemKind::NotFound, what), hint)
}

/// The longest beginning of the name that is there, and the component behind it.
fn first_missing<'a>(root: &Root, path: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let mut start = 0;
    for component in path.split(|byte| *byte == b'/') {
        let end = start + component.len();
        let is_there = || root.open(&path[..end], OFlag::O_PATH).is_ok();
        if !component.is_empty() && !is_there() {
            return (&path[..start], component);
        }
        start = end + 1;
    }
    (b"", path)
}

/// The link is there, and what it points to is not.
fn is_a_link(root: &Root, path: &[u8]) -> bool {
    let there = root.open(path, OFlag::O_PATH | OFlag::O_NOFOLLOW);
    there.is_ok() && root.open(path, OFlag::O_PATH).is_err()
}

fn place(root: &Root, folder: &[u8]) -> String {
    match (folder, root.is_own()) {
        (b"", true) => env::current_dir().map_or_else(
            |_| "the current folder".to_owned(),
            |here| format!("`{}`", here.display()),
        ),
        (b"" | b"/", false) => "the folder that is served".to_owned(),
        (b"/", true) => "`/`".to_owned(),
        (folder, _) => format!("`{}`", shown(folder.strip_suffix(b"/").unwrap_or(folder))),
    }
}
