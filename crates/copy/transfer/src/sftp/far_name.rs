//! Names at the far end.

use copy_protocol::{Entry, LINK_ENDING, NAME_MAX, PART_ENDING};

/// Bytes of a copy's number in a name, with the dot before it.
const NUMBERED: usize = 17;
/// Bytes of a long name that its hash replaces.
const HASHED: usize = 17;

/// `name` below `base`; the base itself where there is no name.
pub(super) fn join(base: &[u8], name: &[u8]) -> Vec<u8> {
    match (base, name) {
        (base, b"") => base.to_vec(),
        (b"" | b".", name) => name.to_vec(),
        (base, name) if base.ends_with(b"/") => [base, name].concat(),
        (base, name) => [base, b"/", name].concat(),
    }
}

/// The folder where the server begins has no name.
pub(super) fn named(path: &[u8]) -> &[u8] {
    match path {
        b"" => b".",
        path => path,
    }
}

/// Where the content of `path` lies while it arrives. Two copies at once have other numbers.
pub(super) fn part(path: &[u8], number: u64) -> Vec<u8> {
    beside(path, number, PART_ENDING)
}

/// The name of a link before it replaces what is there.
pub(super) fn link(path: &[u8], number: u64) -> Vec<u8> {
    beside(path, number, LINK_ENDING)
}

fn beside(path: &[u8], number: u64, ending: &[u8]) -> Vec<u8> {
    let start = path
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |at| at + 1);
    let (folder, last) = path.split_at(start);
    let room = NAME_MAX - 1 - NUMBERED - PART_ENDING.len().max(LINK_ENDING.len());
    let mut kept = last.to_vec();
    if last.len() > room {
        let hash = blake3::hash(last).to_hex();
        kept.truncate(room - HASHED);
        kept.push(b'-');
        kept.extend_from_slice(&hash.as_bytes()[..HASHED - 1]);
    }
    let number = format!(".{number:016x}");
    [folder, b".", &kept, number.as_bytes(), ending].concat()
}

/// Time of last modification as the protocol has it: whole seconds of the years 1970 to 2106.
pub(super) fn seconds(entry: &Entry) -> u32 {
    let seconds = entry.modified_nanoseconds.div_euclid(1_000_000_000);
    u32::try_from(seconds.max(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use copy_protocol::is_reserved;

    use super::*;

    #[test]
    fn parts_lie_beside_their_files_under_names_that_fit() {
        assert_eq!(part(b"d/a", 7), b"d/.a.0000000000000007.trunkline-part");
        for last in ["a".repeat(255), "b".repeat(200)] {
            for name in [part(last.as_bytes(), 1), link(last.as_bytes(), u64::MAX)] {
                assert!(
                    name.len() <= NAME_MAX && is_reserved(&name),
                    "{}",
                    name.len()
                );
            }
        }
        assert_ne!(
            part("a".repeat(255).as_bytes(), 1),
            part("a".repeat(254).as_bytes(), 1)
        );
    }

    #[test]
    fn names_are_joined_as_a_user_would() {
        let table: [(&[u8], &[u8], &[u8]); 5] = [
            (b".", b"a", b"a"),
            (b"/", b"a", b"/a"),
            (b"d", b"a/b", b"d/a/b"),
            (b"d/", b"a", b"d/a"),
            (b"d", b"", b"d"),
        ];
        for (base, name, joined) in table {
            assert_eq!(join(base, name), joined);
        }
    }
}
