//! Small text files of a bag: `bagit.txt`, `bag-info.txt`, `fetch.txt`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use copy_protocol::{Problem, ProblemKind};
use nix::fcntl::OFlag;

use super::manifest::{Lined, each_line, misplaced, plain, trouble, unread, unreadable};
use crate::checksums::check::TroubleKind;
use crate::problems::{problem, shown, with_hint};
use crate::root::Root;

/// The file that makes a folder a bag.
pub const DECLARATION: &str = "bagit.txt";

/// The most that is read of a file whose length does not grow with the payload.
const TEXT_MAX: u64 = 1 << 20;

/// The files that are to be fetched.
const FETCH: &str = "fetch.txt";

fn text(root: &Root, file: &str) -> io::Result<String> {
    let fd = root.open(file.as_bytes(), OFlag::O_RDONLY | OFlag::O_NONBLOCK)?;
    let mut bytes = Vec::new();
    File::from(fd).take(TEXT_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > TEXT_MAX {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Lines whichever way they end.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.split(['\n', '\r']).filter(|line| !line.is_empty())
}

/// The value of a label, in a file that declares or describes a bag.
fn value<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    lines(text).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim()
            .eq_ignore_ascii_case(label)
            .then(|| value.trim())
    })
}

/// Whether the bag is older than version 1.0, as `bagit.txt` declares.
///
/// # Errors
/// When it is no bag, or one of a kind that is not known here.
pub fn declared(root: &Root, folder: &Path) -> Result<bool, Problem> {
    let text = text(root, DECLARATION);
    let text = text.map_err(|error| {
        let name = folder.join(DECLARATION);
        let problem = unread("read", name.display(), &error);
        let hint = "a folder without it is no BagIt bag; with a list of checksums, write \
            `trunkline verify LIST FOLDER`";
        match error.kind() {
            io::ErrorKind::NotFound => with_hint(problem, hint),
            _ => problem,
        }
    })?;
    let wrong = |what: String, hint: &str| {
        let what = format!("`{}`: {what}", folder.join(DECLARATION).display());
        with_hint(problem(ProblemKind::Request, what), hint)
    };
    let version = value(&text, "BagIt-Version").and_then(|version| {
        let (major, minor) = version.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    let (major, minor) = version.ok_or_else(|| {
        let hint = "RFC 8493 asks for two lines: `BagIt-Version: 1.0` and \
            `Tag-File-Character-Encoding: UTF-8`";
        wrong("it declares no version".to_owned(), hint)
    })?;
    if (major, minor) > (1, 0) {
        let what = format!("the bag has version {major}.{minor}");
        return Err(wrong(what, "versions up to 1.0 are known here"));
    }
    let encoding = value(&text, "Tag-File-Character-Encoding").unwrap_or_default();
    let is_known = ["UTF-8", "UTF8", "US-ASCII"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(encoding));
    if !is_known {
        let what = format!(
            "the encoding `{}` is not known here",
            shown(encoding.as_bytes())
        );
        return Err(wrong(what, "write the tag files as UTF-8"));
    }
    Ok(major == 0)
}

/// What `bag-info.txt` says of the payload: `BYTES.FILES`.
///
/// # Errors
/// When it is there, and cannot be read.
pub fn sum_of_sizes(root: &Root) -> io::Result<Option<String>> {
    match text(root, "bag-info.txt") {
        Ok(text) => Ok(value(&text, "Payload-Oxum").map(str::to_owned)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The files of `fetch.txt` with their addresses, and what is wrong with it.
pub fn to_fetch(
    root: &Root,
    is_old: bool,
    stop: &AtomicBool,
) -> (BTreeMap<Vec<u8>, String>, Lined) {
    let mut files = BTreeMap::new();
    let read = each_line(root, FETCH, stop, &mut |number, line: &[u8]| {
        let (kind, what) = match fetched(line, is_old) {
            Some((name, from)) if misplaced(&name, true).is_none() => {
                files.insert(name, from);
                return None;
            }
            Some((name, _)) => {
                let what = format!("`{}` is no name of a payload file", shown(&name));
                (TroubleKind::Outside, what)
            }
            None => {
                let what = format!("line {number} is not `URL LENGTH FILEPATH`");
                (TroubleKind::Improper, what)
            }
        };
        Some(trouble(kind, FETCH.to_owned(), what, number))
    });
    let lined = read.unwrap_or_else(|error| {
        let is_absent = error.kind() == io::ErrorKind::NotFound;
        let troubles = match is_absent {
            true => Vec::new(),
            false => vec![unreadable(FETCH, &error)],
        };
        Lined {
            troubles,
            is_whole: is_absent,
        }
    });
    (files, lined)
}

/// The file and the address of a line: `URL LENGTH FILEPATH`.
fn fetched(line: &[u8], is_old: bool) -> Option<(Vec<u8>, String)> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end = line.iter().position(is_space)?;
    let (url, rest) = (&line[..end], line[end..].trim_ascii_start());
    let end = rest.iter().position(is_space)?;
    let (length, name) = (&rest[..end], rest[end..].trim_ascii_start());
    let is_length = length == b"-" || length.iter().all(u8::is_ascii_digit);
    let is_whole = is_length && !url.is_empty() && !name.is_empty();
    is_whole.then(|| (plain(name, is_old), shown(url)))
}
