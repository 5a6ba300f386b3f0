//! Manifests of a bag: RFC 8493, sections 2.1.3 and 2.2.1; and what its files of lines share.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use copy_protocol::{Problem, ProblemKind};
use nix::errno::Errno;
use nix::fcntl::OFlag;

use crate::checksums::Algorithm;
use crate::checksums::check::{Sum, Trouble, TroubleKind};
use crate::checksums::list::{Lines, from_hex};
use crate::problems::{failed, problem, shown, with_hint};
use crate::root::Root;
use crate::source::look::Listing;

/// After so many lines that cannot be used, the rest of a file is not read: what is told of a line
/// may take more memory than the line.
const REFUSED_MAX: usize = 100;

/// Files by their names, each with a checksum of every manifest that lists it.
pub type Names = BTreeMap<Vec<u8>, Vec<Sum>>;

/// How a file of lines was read.
#[derive(Debug)]
pub struct Lined {
    /// What is wrong with it.
    pub troubles: Vec<Trouble>,
    /// Whether it was read to its end.
    pub is_whole: bool,
}

/// A file that ends where it is stopped.
struct Stopping<'a> {
    file: File,
    stop: &'a AtomicBool,
}

impl Read for Stopping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stop.load(Ordering::Relaxed) {
            true => Ok(0),
            false => self.file.read(buffer),
        }
    }
}

/// Gives `take` each line of a file of a bag; what it gives back is wrong with the line.
///
/// # Errors
/// When the file cannot be opened.
pub fn each_line(
    root: &Root,
    file: &str,
    stop: &AtomicBool,
    take: &mut dyn FnMut(u64, &[u8]) -> Option<Trouble>,
) -> io::Result<Lined> {
    let fd = root.open(file.as_bytes(), OFlag::O_RDONLY | OFlag::O_NONBLOCK)?;
    let stopping = Stopping {
        file: File::from(fd),
        stop,
    };
    let mut lines = Lines::of_bag(BufReader::new(stopping));
    let mut lined = Lined {
        troubles: Vec::new(),
        is_whole: false,
    };
    loop {
        let (number, line) = match lines.next_line() {
            Ok(Some(next)) => next,
            Ok(None) => {
                lined.is_whole = true;
                return Ok(lined);
            }
            Err(error) => {
                lined.troubles.push(unreadable(file, &error));
                return Ok(lined);
            }
        };
        let improper = |what| trouble(TroubleKind::Improper, file.to_owned(), what, number);
        if lined.troubles.len() >= REFUSED_MAX {
            let what = format!("and more: what follows line {} was not read", number - 1);
            lined.troubles.push(improper(what));
            return Ok(lined);
        }
        lined.troubles.extend(match line {
            Some(line) if line.is_empty() => None,
            Some(line) => take(number, &line),
            None => Some(improper(format!("line {number} is longer than any name"))),
        });
    }
}

/// What is wrong with a line of a file.
pub fn trouble(kind: TroubleKind, name: String, what: String, line: u64) -> Trouble {
    Trouble {
        kind,
        name,
        what,
        line: Some(line),
    }
}

/// That a file of the bag could not be read.
pub fn unreadable(file: &str, error: &io::Error) -> Trouble {
    Trouble {
        kind: TroubleKind::Unreadable,
        name: shown(file.as_bytes()),
        what: error.to_string(),
        line: None,
    }
}

/// Why a bag cannot be looked at, which says nothing of its files; the hints of [`failed`] are for
/// copies and served folders.
pub fn unread(trying: &str, name: impl Display, error: &io::Error) -> Problem {
    let failed = Problem {
        kind: ProblemKind::Request,
        ..failed(trying, &name, error)
    };
    match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
        Errno::EXDEV => {
            let what = format!("cannot {trying} `{name}`: a link in its name leads out of the bag");
            let hint = "put what the link points to in its place";
            with_hint(problem(ProblemKind::Request, what), hint)
        }
        Errno::EACCES | Errno::EPERM => {
            let hint = "verify the bag as a user who may read all of it";
            with_hint(failed, hint)
        }
        Errno::EMFILE | Errno::ENFILE => failed,
        _ => Problem {
            hint: None,
            ..failed
        },
    }
}

/// The payload manifests and the tag manifests, by their names.
pub fn found(root: &Root, folder: &Path) -> Result<(Vec<String>, Vec<String>), Problem> {
    let opened = root.open(b".", OFlag::O_RDONLY | OFlag::O_DIRECTORY);
    let listing = opened.and_then(|fd| Listing::of(&fd));
    let mut listing = listing.map_err(|error| unread("list", folder.display(), &error))?;
    let (mut payload, mut tags) = (Vec::new(), Vec::new());
    while let Some(name) = listing.pop() {
        let Ok(name) = String::from_utf8(name) else {
            continue;
        };
        match name.split_once("manifest-") {
            Some(("", rest)) if rest.ends_with(".txt") => payload.push(name),
            Some(("tag", rest)) if rest.ends_with(".txt") => tags.push(name),
            _ => {}
        }
    }
    Ok((payload, tags))
}

/// The algorithm that a manifest has in its name.
pub fn algorithm(file: &str) -> Option<Algorithm> {
    let (_, rest) = file.split_once("manifest-")?;
    Algorithm::named(rest.strip_suffix(".txt")?)
}

/// A manifest that is to be read.
#[derive(Debug, Clone, Copy)]
pub struct Manifest<'a> {
    /// Its name.
    pub file: &'a str,
    /// The algorithm of its checksums.
    pub algorithm: Algorithm,
    /// Whether the bag is older than version 1.0.
    pub is_old: bool,
    /// Whether it is of the payload; of tag files otherwise.
    pub is_payload: bool,
}

impl Manifest<'_> {
    /// Adds what it lists to `names`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn read(&self, root: &Root, names: &mut Names, stop: &AtomicBool) -> io::Result<Lined> {
        let list: Arc<str> = Arc::from(self.file);
        each_line(root, self.file, stop, &mut |number, line: &[u8]| {
            self.take(number, line, &list, names)
        })
    }

    fn take(
        &self,
        number: u64,
        line: &[u8],
        list: &Arc<str>,
        names: &mut Names,
    ) -> Option<Trouble> {
        let file = self.file;
        let Some((digest, name)) = split(line, self.algorithm.length(), self.is_old) else {
            let what = format!("line {number} is not `CHECKSUM FILEPATH`");
            let name = file.to_owned();
            return Some(trouble(TroubleKind::Improper, name, what, number));
        };
        if let Some((kind, what)) = misplaced(&name, self.is_payload) {
            let what = format!("{file}: {what}");
            return Some(trouble(kind, shown(&name), what, number));
        }
        if let Some(sums) = names.get(&name)
            && sums.iter().any(|known| known.list == *list)
        {
            let what = format!("{file} lists it more than once");
            return Some(trouble(TroubleKind::Bag, shown(&name), what, number));
        }
        names.entry(name).or_default().push(Sum {
            any_of: vec![self.algorithm],
            digest,
            list: Arc::clone(list),
            line: number,
        });
        None
    }
}

/// The digest and the name of a line.
fn split(line: &[u8], length: usize, is_old: bool) -> Option<(Vec<u8>, Vec<u8>)> {
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
    let digest = from_hex(&line[..end]).filter(|digest| digest.len() == length)?;
    let mut name = line[end..].trim_ascii_start();
    // As `md5sum --binary` marks them.
    name = name.strip_prefix(b"*").unwrap_or(name);
    let name = plain(name, is_old);
    (!name.is_empty()).then_some((digest, name))
}

/// A name as files have it: decoded, and without a `./` before it.
pub fn plain(name: &[u8], is_old: bool) -> Vec<u8> {
    let name = decoded(name, is_old);
    name.strip_prefix(b"./").unwrap_or(&name).to_vec()
}

/// A name without the percent signs that stand for a line feed, a carriage return and, since
/// version 1.0, for themselves. Others are part of the name.
fn decoded(name: &[u8], is_old: bool) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((byte, after)) = rest.split_first() {
        let sign = match (byte, after) {
            (b'%', [b'0', b'A' | b'a', ..]) => Some(b'\n'),
            (b'%', [b'0', b'D' | b'd', ..]) => Some(b'\r'),
            (b'%', [b'2', b'5', ..]) if !is_old => Some(b'%'),
            _ => None,
        };
        plain.push(sign.unwrap_or(*byte));
        rest = match sign {
            Some(_) => &after[2..],
            None => after,
        };
    }
    plain
}

/// Why a name has no place in a manifest, and what kind of trouble that is.
pub fn misplaced(name: &[u8], is_payload: bool) -> Option<(TroubleKind, &'static str)> {
    let mut parts = name.split(|byte| *byte == b'/');
    if name.starts_with(b"/") || parts.any(|part| part == b"..") {
        return Some((TroubleKind::Outside, "its name leads out of the bag"));
    }
    if name.contains(&0) {
        return Some((TroubleKind::Outside, "its name has a zero byte"));
    }
    match (is_payload, name.starts_with(b"data/")) {
        (true, false) => {
            let what = "a payload manifest may list `data/` only";
            Some((TroubleKind::Outside, what))
        }
        // RFC 8493, section 2.2.1.
        (false, true) => Some((
            TroubleKind::Bag,
            "a tag manifest may not list payload files",
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_signs_of_a_name_are_encoded() {
        assert_eq!(decoded(b"data/a%0Ab%0d%25%20", false), b"data/a\nb\r%%20");
        assert_eq!(decoded(b"data/%25%0A%", true), b"data/%25\n%");
        assert_eq!(decoded(b"%0", false), b"%0");
    }

    #[test]
    fn a_line_has_a_digest_of_its_algorithm_and_a_name() {
        let of = |line: &[u8]| split(line, 4, false).map(|(_, name)| name);
        assert_eq!(of(b"091e01de data/a b"), Some(b"data/a b".to_vec()));
        assert_eq!(of(b"091E01DE\t *./data/a"), Some(b"data/a".to_vec()));
        for wrong in [
            &b"091e01de"[..],
            b"091e01 data/a",
            b"x data/a",
            b"091e01de  ",
        ] {
            assert_eq!(of(wrong), None, "{}", shown(wrong));
        }
    }

    #[test]
    fn names_stay_in_the_bag() {
        assert!(misplaced(b"data/../../x", true).is_some());
        assert!(misplaced(b"/etc/passwd", false).is_some());
        assert!(misplaced(b"bag-info.txt", true).is_some());
        assert!(misplaced(b"bag-info.txt", false).is_none());
        assert!(misplaced(b"data/..a/~", true).is_none());
        let kind = misplaced(b"data/a", false).map(|(kind, _)| kind);
        assert_eq!(kind, Some(TroubleKind::Bag));
    }
}
