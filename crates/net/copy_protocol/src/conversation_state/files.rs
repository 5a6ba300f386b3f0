//! State of each file that is announced and not finished.

use std::collections::{BTreeMap, BTreeSet};

use super::error::ProtocolRule;
use super::{ENTRIES_MAX, INODES_MAX, NAMES_MAX, PARTS_MAX, UNFINISHED_MAX, require};
use crate::{
    Chunk, Entry, FileId, Inode, Kept, Kind, PATH_MAX, PIECE_MAX, Published, Range, Shared, Want,
};

/// The files of a conversation.
#[derive(Debug, Default)]
pub(super) struct Files {
    open: BTreeMap<FileId, File>,
    /// Bytes of names and links of the open ones.
    names: usize,
    /// The sender gave them up and the receiver has not said anything about them since: it may just
    /// now.
    failed_by_sender: BTreeSet<FileId>,
    /// Entries told.
    told: FileId,
    bytes: u64,
    /// All are told.
    is_told: bool,
    /// Entries that the receiver has answered.
    answered: FileId,
    is_fresh: bool,
    is_dry: bool,
    has_digests: bool,
    /// What else was said of entries that are still to come: bytes of it, and of which entry it is
    /// a further name.
    inodes: BTreeMap<FileId, (usize, Option<FileId>)>,
}

#[derive(Debug, Clone, Copy)]
struct File {
    /// `None` when it has no content.
    size: Option<u64>,
    /// Bytes of its name, and of what it says as a link.
    name: usize,
    is_wanted: bool,
    /// What an earlier try left of it is being read back.
    is_reading_back: bool,
    was_read: bool,
}

impl Files {
    /// The opening was answered.
    pub(super) fn begin(&mut self, is_fresh: bool, is_dry: bool, has_digests: bool) {
        self.is_fresh = is_fresh && !is_dry;
        self.is_dry = is_dry;
        self.has_digests = has_digests;
    }

    pub(super) fn size(&self, file: FileId) -> Option<u64> {
        self.open.get(&file).and_then(|file| file.size)
    }

    pub(super) fn on_entries(&mut self, entries: Vec<Entry>) -> Result<Vec<Entry>, ProtocolRule> {
        require(!self.is_told, ProtocolRule::Again)?;
        for entry in &entries {
            self.enter(entry)?;
        }
        Ok(entries)
    }

    /// What else belongs to entries that come next.
    pub(super) fn on_inodes(&mut self, inodes: &[Inode], kept: Kept) -> Result<(), ProtocolRule> {
        require(kept.any(), ProtocolRule::NotAsked)?;
        require(!self.is_told, ProtocolRule::Again)?;
        for inode in inodes {
            let last = self.inodes.last_key_value();
            let is_next = last.is_none_or(|(last, _)| *last < inode.file);
            let is_legal = inode.file >= self.told && is_next && inode.is_legal(kept);
            require(is_legal, ProtocolRule::Inode(inode.file))?;
            let bytes = inode.bytes();
            let fits = self.inodes.len() < INODES_MAX && self.names + bytes <= NAMES_MAX;
            require(fits, ProtocolRule::TooMany)?;
            self.names += bytes;
            let first = match inode.shared {
                Some(Shared::With(first)) => Some(first),
                _ => None,
            };
            self.inodes.insert(inode.file, (bytes, first));
        }
        Ok(())
    }

    fn enter(&mut self, entry: &Entry) -> Result<(), ProtocolRule> {
        let file = self.told;
        let (inode, first) = self.inodes.remove(&file).unwrap_or_default();
        let name = name_length(entry);
        let fits = self.open.len() < UNFINISHED_MAX && self.names + name <= NAMES_MAX;
        require(fits, ProtocolRule::TooMany)?;
        require(!entry.name.is_reserved(), ProtocolRule::Reserved(file))?;
        require(file < ENTRIES_MAX, ProtocolRule::TooManyInAll)?;
        self.told = file + 1;
        let size = match &entry.kind {
            Kind::File(size) => {
                let (size, fits) = (*size, i64::try_from(*size).is_ok());
                require(fits, ProtocolRule::Size { file, size })?;
                // The content of a further name is that of its first one.
                first.is_none().then_some(size)
            }
            Kind::Folder => None,
            Kind::Link(target) => {
                let fits = (1..=PATH_MAX).contains(&target.len()) && !target.contains(&0);
                require(fits, ProtocolRule::Link(file))?;
                None
            }
        };
        let may_have_digest = self.has_digests && size.is_some();
        require(
            entry.digest.is_none() || may_have_digest,
            ProtocolRule::Digest(file),
        )?;
        let bytes = size.unwrap_or_default();
        let sum = self.bytes.checked_add(bytes);
        self.bytes = sum.ok_or(ProtocolRule::Size { file, size: bytes })?;
        let entered = File {
            size,
            name: name + inode,
            is_wanted: self.is_fresh,
            is_reading_back: false,
            was_read: false,
        };
        self.open.insert(file, entered);
        self.names += name;
        Ok(())
    }

    /// Returns whether it was open.
    fn close(&mut self, file: FileId) -> bool {
        let closed = self.open.remove(&file);
        self.names -= closed.map_or(0, |file| file.name);
        closed.is_some()
    }

    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= UNFINISHED_MAX / 2 || self.names >= NAMES_MAX / 2
    }

    pub(super) fn on_entries_end(
        &mut self,
        count: u32,
        bytes: u64,
        linked: u32,
    ) -> Result<(), ProtocolRule> {
        require(!self.is_told, ProtocolRule::Again)?;
        let (told, said) = (self.told, linked);
        require(said <= told, ProtocolRule::Linked { said, told })?;
        let sums = [
            ("entries", u64::from(self.told), u64::from(count)),
            ("bytes", self.bytes, bytes),
        ];
        for (what, told, said) in sums {
            require(told == said, ProtocolRule::Sum { what, told, said })?;
        }
        self.is_told = true;
        Ok(())
    }

    /// Older versions of files that are not answered yet.
    pub(super) fn on_older(
        &self,
        mut older: Vec<(FileId, u64)>,
    ) -> Result<Vec<(FileId, u64)>, ProtocolRule> {
        for (file, bytes) in &older {
            require(*file < self.told, ProtocolRule::UnknownFile)?;
            let is_legal = *file >= self.answered && *bytes > 0;
            require(is_legal, ProtocolRule::Older(*file))?;
        }
        older.retain(|(file, _)| self.size(*file).is_some());
        Ok(older)
    }

    /// Chunks of an older version. Whether the file is still open.
    pub(super) fn on_chunks(
        &self,
        id: FileId,
        start: u64,
        chunks: &[Chunk],
    ) -> Result<bool, ProtocolRule> {
        require(id < self.told, ProtocolRule::UnknownFile)?;
        let end = chunks.iter().try_fold(start, |at, chunk| {
            let length = u64::from(chunk.length);
            at.checked_add(length).filter(|_| length > 0)
        });
        let fits = end.is_some_and(|end| i64::try_from(end).is_ok());
        require(fits && !chunks.is_empty(), ProtocolRule::Older(id))?;
        let Some(file) = self.open.get(&id) else {
            return Ok(false);
        };
        require(file.is_wanted, ProtocolRule::FileState(id))?;
        Ok(true)
    }

    pub(super) fn on_wants(&mut self, wants: Vec<Want>) -> Result<Vec<Want>, ProtocolRule> {
        wants.into_iter().map(|want| self.on_want(want)).collect()
    }

    fn on_want(&mut self, want: Want) -> Result<Want, ProtocolRule> {
        let (Want::Whole(said) | Want::Rest(said, _) | Want::Nothing(said) | Want::Made(said)) =
            want;
        let expected = self.answered;
        require(said < self.told, ProtocolRule::UnknownFile)?;
        require(said == expected, ProtocolRule::WantOrder { said, expected })?;
        self.answered += 1;
        let Some(file) = self.open.get_mut(&said) else {
            return Ok(Want::Nothing(said));
        };
        match (&want, file.size) {
            (Want::Nothing(_), _) => {
                self.close(said);
                return Ok(want);
            }
            (Want::Made(_), None) => {
                self.close(said);
                return Ok(want);
            }
            (Want::Made(_), Some(_)) => return Err(ProtocolRule::FileState(said)),
            (_, None) => return Err(ProtocolRule::NoContent(said)),
            (Want::Rest(_, parts), Some(size)) => check_parts(said, size, parts)?,
            (Want::Whole(_), Some(_)) => (),
        }
        file.is_wanted = true;
        file.is_reading_back = matches!(want, Want::Rest(..));
        if self.is_dry {
            self.close(said);
        }
        Ok(want)
    }

    /// Some or all of what an earlier try left was read back. Whether the file is still open.
    pub(super) fn on_read_back(
        &mut self,
        id: FileId,
        parts: &[(u64, u64)],
        is_all: bool,
    ) -> Result<bool, ProtocolRule> {
        require(id < self.told, ProtocolRule::UnknownFile)?;
        let Some(file) = self.open.get_mut(&id) else {
            return Ok(false);
        };
        require(file.is_reading_back, ProtocolRule::FileState(id))?;
        check_parts(id, file.size.unwrap_or_default(), parts)?;
        file.is_reading_back = !is_all;
        Ok(true)
    }

    /// Pieces that the receiver says something about.
    pub(super) fn on_received(&self, mut ranges: Vec<Range>) -> Result<Vec<Range>, ProtocolRule> {
        for range in &ranges {
            self.check_range(*range)?;
        }
        ranges.retain(|range| self.open.contains_key(&range.file));
        Ok(ranges)
    }

    fn check_range(&self, range: Range) -> Result<(), ProtocolRule> {
        require(range.file < self.told, ProtocolRule::UnknownFile)?;
        let end = range.start.checked_add(range.length);
        let is_piece = (1..=u64::from(PIECE_MAX)).contains(&range.length) && end.is_some();
        require(is_piece, ProtocolRule::Range(range))?;
        let Some(file) = self.open.get(&range.file) else {
            return Ok(());
        };
        require(file.is_wanted, ProtocolRule::FileState(range.file))?;
        let is_within = end <= file.size;
        require(is_within, ProtocolRule::Range(range))
    }

    /// Files that the sender read to their end.
    pub(super) fn on_file_ends(
        &mut self,
        mut ends: Vec<FileId>,
    ) -> Result<Vec<FileId>, ProtocolRule> {
        for end in &ends {
            require(*end < self.told, ProtocolRule::UnknownFile)?;
            if let Some(file) = self.open.get_mut(end) {
                let first = file.is_wanted
                    && !file.is_reading_back
                    && !file.was_read
                    && file.size.is_some();
                require(first, ProtocolRule::FileState(*end))?;
                file.was_read = true;
            }
        }
        ends.retain(|end| self.open.contains_key(end));
        Ok(ends)
    }

    pub(super) fn on_published(
        &mut self,
        published: Vec<Published>,
    ) -> Result<Vec<Published>, ProtocolRule> {
        let mut current = Vec::with_capacity(published.len());
        for one in published {
            require(one.file < self.told, ProtocolRule::UnknownFile)?;
            let state = ProtocolRule::FileState(one.file);
            match self.open.get(&one.file) {
                Some(file) => require(file.was_read, state)?,
                None => {
                    // Crossed the sender's word that it failed.
                    require(self.failed_by_sender.remove(&one.file), state)?;
                    continue;
                }
            }
            self.close(one.file);
            current.push(one);
        }
        Ok(current)
    }

    /// One file failed, which the peer may not know yet.
    pub(super) fn on_failed(&mut self, file: FileId, by_sender: bool) -> Result<(), ProtocolRule> {
        require(file < self.told, ProtocolRule::UnknownFile)?;
        let was_open = self.close(file);
        match by_sender {
            true if was_open => {
                self.failed_by_sender.insert(file);
            }
            true => (),
            false => {
                self.failed_by_sender.remove(&file);
            }
        }
        Ok(())
    }

    /// The receiver says that nothing is left to do.
    pub(super) fn on_complete(&mut self) -> Result<(), ProtocolRule> {
        let is_done = self.is_told && self.answered == self.told && self.open.is_empty();
        require(is_done, ProtocolRule::Unfinished)
    }
}

fn name_length(entry: &Entry) -> usize {
    let target = match &entry.kind {
        Kind::Link(target) => target.len(),
        _ => 0,
    };
    entry.name.as_bytes().len() + target
}

fn check_parts(file: FileId, size: u64, parts: &[(u64, u64)]) -> Result<(), ProtocolRule> {
    let mut from = 0;
    let is_next = |(start, length): &(u64, u64)| {
        let end = start.checked_add(*length);
        let fits = *start >= from && *length > 0 && end.is_some_and(|end| end <= size);
        from = end.unwrap_or(u64::MAX);
        fits
    };
    // None where every piece is there and only the name is missing.
    let fits = parts.len() <= PARTS_MAX && parts.iter().all(is_next);
    require(fits, ProtocolRule::Parts(file))
}
