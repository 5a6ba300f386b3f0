//! Manifests of a bag: RFC 8493, sections 2.1.3 and 2.2.1.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use copy_protocol::Problem;
use nix::fcntl::OFlag;

use crate::checksums::Algorithm;
use crate::checksums::check::{Sum, Trouble, TroubleKind};
use crate::checksums::list::{Lines, from_hex};
use crate::problems::{failed, shown};
use crate::root::Root;
use crate::source::look::Listing;

/// What manifests say of one file.
#[derive(Debug, Default)]
pub struct Listed {
    /// Its checksums, one of each manifest.
    pub sums: Vec<Sum>,
    /// The line of the last one.
    pub line: u64,
}

/// Files by their names, of one kind of manifest.
pub type Names = BTreeMap<Vec<u8>, Listed>;

/// The payload manifests and the tag manifests, by their names.
pub fn found(root: &Root, folder: &Path) -> Result<(Vec<String>, Vec<String>), Problem> {
    let opened = root.open(b".", OFlag::O_RDONLY | OFlag::O_DIRECTORY);
    let listing = opened.and_then(|fd| Listing::of(&fd));
    let mut listing = listing.map_err(|error| failed("list", folder.display(), &error))?;
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

/// Adds what a manifest lists to `names`, and gives what is wrong with it.
///
/// * `sum`: makes the checksum of a digest.
///
/// # Errors
/// When it cannot be read.
pub fn read(
    root: &Root,
    file: &str,
    is_old: bool,
    is_payload: bool,
    names: &mut Names,
    sum: &dyn Fn(Vec<u8>) -> Sum,
) -> io::Result<Vec<Trouble>> {
    let fd = root.open(file.as_bytes(), OFlag::O_RDONLY | OFlag::O_NONBLOCK)?;
    let mut lines = Lines::new(BufReader::new(File::from(fd)));
    let mut troubles = Vec::new();
    let length = algorithm(file).map_or(0, Algorithm::length);
    while let Some((number, line)) = lines.next_line()? {
        let line = line.unwrap_or_default();
        if line.is_empty() {
            continue;
        }
        let mut trouble = |kind, name: String, what: String| {
            let line = Some(number);
            troubles.push(Trouble {
                kind,
                name,
                what,
                line,
            });
        };
        let Some((digest, name)) = split(&line, length, is_old) else {
            let what = format!("line {number} is not `CHECKSUM FILEPATH`");
            trouble(TroubleKind::Improper, file.to_owned(), what);
            continue;
        };
        if let Some(what) = misplaced(&name, is_payload) {
            trouble(
                TroubleKind::Outside,
                shown(&name),
                format!("{file}: {what}"),
            );
            continue;
        }
        let listed = names.entry(name.clone()).or_default();
        let sum = sum(digest);
        if listed.sums.iter().any(|known| known.list == sum.list) {
            let what = format!("{file} lists it more than once");
            trouble(TroubleKind::Bag, shown(&name), what);
            continue;
        }
        listed.line = number;
        listed.sums.push(sum);
    }
    Ok(troubles)
}

/// The digest and the name of a line.
fn split(line: &[u8], length: usize, is_old: bool) -> Option<(Vec<u8>, Vec<u8>)> {
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
    let digest = from_hex(&line[..end]).filter(|digest| digest.len() == length)?;
    let mut name = line[end..].trim_ascii_start();
    // As `md5sum --binary` marks them.
    name = name.strip_prefix(b"*").unwrap_or(name);
    let name = decoded(name, is_old);
    let name = name.strip_prefix(b"./").unwrap_or(&name);
    (!name.is_empty()).then(|| (digest, name.to_vec()))
}

/// A name without the percent signs that stand for a line feed, a carriage return and, since
/// version 1.0, for themselves. Others are part of the name.
pub fn decoded(name: &[u8], is_old: bool) -> Vec<u8> {
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

/// Why a name has no place in a bag.
pub fn misplaced(name: &[u8], is_payload: bool) -> Option<&'static str> {
    let mut parts = name.split(|byte| *byte == b'/');
    if name.starts_with(b"/") || parts.any(|part| part == b"..") {
        return Some("its name leads out of the bag");
    }
    if name.contains(&0) {
        return Some("its name has a zero byte");
    }
    (is_payload && !name.starts_with(b"data/"))
        .then_some("a payload manifest may list `data/` only")
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
    }
}
