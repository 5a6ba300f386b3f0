//! Small text files of a bag: `bagit.txt`, `bag-info.txt`, `fetch.txt`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use copy_protocol::{Problem, ProblemKind};
use nix::fcntl::OFlag;

use super::manifest::{decoded, misplaced};
use crate::checksums::check::{Trouble, TroubleKind};
use crate::checksums::list::Lines;
use crate::problems::{failed, problem, shown, with_hint};
use crate::root::Root;

/// The file that makes a folder a bag.
pub const DECLARATION: &str = "bagit.txt";

/// The most that is read of a file whose length does not grow with the payload.
const TEXT_MAX: u64 = 1 << 20;

fn text(root: &Root, file: &str) -> io::Result<String> {
    let fd = root.open(file.as_bytes(), OFlag::O_RDONLY | OFlag::O_NONBLOCK)?;
    let mut bytes = Vec::new();
    File::from(fd).take(TEXT_MAX).read_to_end(&mut bytes)?;
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
        let hint = "a folder without it is no BagIt bag; with a list of checksums, write \
            `trunkline verify LIST FOLDER`";
        with_hint(failed("read", name.display(), &error), hint)
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
pub fn sum_of_sizes(root: &Root) -> Option<String> {
    let text = text(root, "bag-info.txt").ok()?;
    value(&text, "Payload-Oxum").map(str::to_owned)
}

/// The files of `fetch.txt` with their addresses, and what is wrong with it.
pub fn to_fetch(root: &Root, is_old: bool) -> (BTreeMap<Vec<u8>, String>, Vec<Trouble>) {
    let (mut files, mut troubles) = (BTreeMap::new(), Vec::new());
    let mut trouble = |kind, what: String, line| {
        let name = "fetch.txt".to_owned();
        troubles.push(Trouble {
            kind,
            name,
            what,
            line,
        });
    };
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK;
    let fd = match root.open(b"fetch.txt", flags) {
        Ok(fd) => fd,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (files, troubles),
        Err(error) => {
            trouble(TroubleKind::Unreadable, error.to_string(), None);
            return (files, troubles);
        }
    };
    let mut lines = Lines::new(BufReader::new(File::from(fd)));
    loop {
        let (number, line) = match lines.next_line() {
            Ok(Some((number, line))) => (number, line.unwrap_or_default()),
            Ok(None) => return (files, troubles),
            Err(error) => {
                trouble(TroubleKind::Unreadable, error.to_string(), None);
                return (files, troubles);
            }
        };
        if line.is_empty() {
            continue;
        }
        match fetched(&line, is_old) {
            Some((name, from)) if misplaced(&name, true).is_none() => {
                files.insert(name, from);
            }
            Some((name, _)) => {
                let what = format!("`{}` is no name of a payload file", shown(&name));
                trouble(TroubleKind::Outside, what, Some(number));
            }
            None => {
                let what = format!("line {number} is not `URL LENGTH FILEPATH`");
                trouble(TroubleKind::Improper, what, Some(number));
            }
        }
    }
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
    is_whole.then(|| (decoded(name, is_old), shown(url)))
}
