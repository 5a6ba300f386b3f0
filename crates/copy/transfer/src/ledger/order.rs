//! The order in which files are sent.

use std::collections::VecDeque;

use copy_protocol::FileId;

/// Files of at most this many bytes count by their number, larger ones by their bytes: what a small
/// file costs is opening, making and naming it.
const SMALL_MAX: u64 = 1 << 20;

/// Files that are not split to their end yet. Small and large ones queue apart, and the kind with
/// the larger share left goes next, so that both are done at about the same time: the disk is busy
/// with the small ones while the large ones fill the path. Within each kind, files go in the order
/// in which they were added, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Order {
    small: Line,
    large: Line,
}

#[derive(Debug, Default)]
struct Line {
    /// Each with what it still costs: a file, or its bytes.
    files: VecDeque<(FileId, u64)>,
    /// What they cost together, and how much that was in all since the line was last empty.
    left: u64,
    total: u64,
}

impl Order {
    pub(super) fn add(&mut self, file: FileId, bytes: u64) {
        match bytes <= SMALL_MAX {
            true => self.small.add(file, 1),
            false => self.large.add(file, bytes),
        }
    }

    /// The file to go on with; it stays until [`Order::pass`].
    pub(super) fn front(&self) -> Option<FileId> {
        self.line().files.front().map(|(file, _)| *file)
    }

    /// A piece of `length` bytes of the front was given out.
    pub(super) fn taken(&mut self, length: u64) {
        let line = self.line_mut();
        if let Some((_, cost)) = line.files.front_mut() {
            // A small file costs the same until its end.
            let length = length.min(cost.saturating_sub(1));
            *cost -= length;
            line.left -= length;
        }
    }

    /// The front has nothing left to be given out.
    pub(super) fn pass(&mut self) {
        let line = self.line_mut();
        if let Some((_, cost)) = line.files.pop_front() {
            line.left -= cost;
        }
    }

    fn line(&self) -> &Line {
        match self.small_is_behind() {
            true => &self.small,
            false => &self.large,
        }
    }

    fn line_mut(&mut self) -> &mut Line {
        match self.small_is_behind() {
            true => &mut self.small,
            false => &mut self.large,
        }
    }

    /// Whether a larger share of the small ones is left.
    fn small_is_behind(&self) -> bool {
        let (small, large) = (&self.small, &self.large);
        if small.files.is_empty() || large.files.is_empty() {
            return large.files.is_empty();
        }
        u128::from(small.left) * u128::from(large.total)
            >= u128::from(large.left) * u128::from(small.total)
    }
}

impl Line {
    fn add(&mut self, file: FileId, cost: u64) {
        if self.files.is_empty() {
            self.total = 0;
        }
        self.files.push_back((file, cost));
        self.left += cost;
        self.total += cost;
    }
}
