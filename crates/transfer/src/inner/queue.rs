//! What is still to be sent.

use std::collections::{HashMap, VecDeque};

use wire::copying::{FileId, Range};

/// Ranges to send, and who sends what.
#[derive(Default)]
pub(crate) struct Queue {
    todo: VecDeque<Range>,
    owed: HashMap<u32, Vec<Range>>,
    unread: HashMap<FileId, u64>,
}

impl Queue {
    pub(crate) fn add(&mut self, file: FileId, start: u64, length: u64) {
        *self.unread.entry(file).or_default() += length;
        self.todo.push_back(Range {
            file,
            start,
            length,
        });
    }

    pub(crate) fn take(&mut self, stream: u32, wish: u64) -> Option<Range> {
        let front = self.todo.front_mut()?;
        let end = (front.start / wish + 1) * wish;
        let length = front.length.min(end - front.start);
        let piece = Range { length, ..*front };
        front.start += length;
        front.length -= length;
        if front.length == 0 {
            self.todo.pop_front();
        }
        self.owed.entry(stream).or_default().push(piece);
        Some(piece)
    }

    /// Whether that was the last of its file.
    pub(crate) fn read(&mut self, piece: &Range) -> bool {
        let Some(unread) = self.unread.get_mut(&piece.file) else {
            return false;
        };
        *unread = unread.saturating_sub(piece.length);
        let is_last = *unread == 0;
        if is_last {
            self.unread.remove(&piece.file);
        }
        is_last
    }

    pub(crate) fn acked(&mut self, piece: &Range) {
        for owed in self.owed.values_mut() {
            owed.retain(|one| one != piece);
        }
    }

    pub(crate) fn damaged(&mut self, piece: Range) {
        self.acked(&piece);
        self.todo.push_front(piece);
    }

    pub(crate) fn died(&mut self, stream: u32) -> u64 {
        let owed = self.owed.remove(&stream).unwrap_or_default();
        let bytes = owed.iter().map(|one| one.length).sum();
        self.todo.extend(owed);
        bytes
    }

    pub(crate) fn forget(&mut self, file: FileId) {
        self.todo.retain(|one| one.file != file);
        self.owed
            .values_mut()
            .for_each(|owed| owed.retain(|one| one.file != file));
        self.unread.remove(&file);
    }
}
