//! Holes of files, as the file system tells of them.
//!
//! Source: lseek(2), `SEEK_DATA` and `SEEK_HOLE`. File systems that know no holes say that all is
//! data. Room that was put aside and not written to reads as zeros and mostly counts as a hole.

use std::fs::File;
use std::ops::Range;

use copy_protocol::DataMap;
use nix::errno::Errno;
use nix::unistd::{Whence, lseek};

/// What of a part of a file is data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// All, or the file system does not say.
    Data,
    /// Nothing; the hole goes on to `end`, or to the end of the file where that is less.
    Hole {
        /// First byte that is data again.
        end: u64,
    },
    /// Some blocks.
    Mixed(DataMap),
}

/// Whether none of these bytes are data, as far as the file system says.
pub fn is_hole(file: &File, bytes: &Range<u64>) -> bool {
    next_data(file, bytes.start).is_some_and(|data| data >= bytes.end)
}

/// What of `length` bytes at `offset` is data.
pub fn layout(file: &File, offset: u64, length: u32) -> Layout {
    let end = offset.saturating_add(length.into());
    match next_data(file, offset) {
        None => Layout::Data,
        Some(data) if data >= end => Layout::Hole { end: data },
        Some(data) => mixed(file, offset..end, data).unwrap_or(Layout::Data),
    }
}

/// The map of `piece`, whose first data is at `data`; `None` where all of it is data, or where the
/// system does not say.
fn mixed(file: &File, piece: Range<u64>, mut data: u64) -> Option<Layout> {
    let length = u32::try_from(piece.end - piece.start).ok()?;
    let mut map = DataMap::holes(length);
    while data < piece.end {
        // A hole where there was data a moment ago leads on all the same.
        let hole = next(file, data, Whence::SeekHole)?.max(data + 1);
        let within = |at: u64| u32::try_from(at.min(piece.end) - piece.start).unwrap_or(length);
        map.set_data(within(data)..within(hole));
        if hole >= piece.end {
            break;
        }
        data = next_data(file, hole)?;
    }
    (map.data_length() < length).then_some(Layout::Mixed(map))
}

/// Where data begins at or behind `from`; the end of all files where there is none.
fn next_data(file: &File, from: u64) -> Option<u64> {
    next(file, from, Whence::SeekData)
}

/// `None` where the system does not say.
fn next(file: &File, from: u64, whence: Whence) -> Option<u64> {
    match lseek(file, i64::try_from(from).ok()?, whence) {
        Ok(at) => u64::try_from(at).ok(),
        Err(Errno::ENXIO) => Some(u64::MAX),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    const BLOCK: u64 = 64 << 10;

    #[test]
    fn a_file_is_seen_as_it_lies() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10 * BLOCK + 5).unwrap();
        file.write_all_at(&[1], 3 * BLOCK).unwrap();
        file.write_all_at(&[1; 2 * BLOCK as usize], 7 * BLOCK)
            .unwrap();
        let look = |at: u64, length: u64| layout(&file, at * BLOCK, length as u32);
        if !is_hole(&file, &(0..BLOCK)) {
            return eprintln!("no holes on the file system of temporary files");
        }
        assert_eq!(look(0, 2 * BLOCK), Layout::Hole { end: 3 * BLOCK });
        assert_eq!(look(9, BLOCK + 5), Layout::Hole { end: u64::MAX });
        assert_eq!(look(7, 2 * BLOCK), Layout::Data);
        let Layout::Mixed(map) = look(2, 2 * BLOCK) else {
            panic!("{:?}", look(2, 2 * BLOCK));
        };
        let runs: Vec<_> = map
            .runs()
            .map(|(run, is_data)| (u64::from(run.start), is_data))
            .collect();
        assert_eq!(runs[..2], [(0, false), (BLOCK, true)]);
        assert!(!is_hole(&file, &(0..3 * BLOCK + 1)) && is_hole(&file, &(0..3 * BLOCK)));
    }
}
