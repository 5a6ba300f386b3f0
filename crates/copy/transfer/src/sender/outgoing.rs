//! A piece on its way out.

use std::ops;
use std::sync::Arc;

use copy_protocol::{Coding, PieceHeader, Range};

use files::Layout;
use files::PieceHasher;
use files::source::Reader;

/// What a stream knows of the piece that it sends.
pub(super) struct OutgoingPiece {
    pub piece: Range,
    /// Its bytes.
    pub length: u32,
    /// `None` where the file cannot be read.
    pub reader: Option<Arc<Reader>>,
    /// What of it is data.
    pub layout: Layout,
}

impl OutgoingPiece {
    /// Bytes of it that are no holes.
    pub fn data(&self) -> u64 {
        match &self.layout {
            Layout::Data => self.piece.length,
            Layout::Hole { .. } => 0,
            Layout::Mixed(map) => map.data_length().into(),
        }
    }

    /// The map as it goes over the stream; nothing where there is none.
    pub fn map(&self) -> &[u8] {
        match &self.layout {
            Layout::Mixed(map) => map.as_bytes(),
            Layout::Data | Layout::Hole { .. } => &[],
        }
    }

    /// The file's bytes from the start of the piece to its end, and which of them are data.
    pub fn runs(&self) -> Vec<(ops::Range<u64>, bool)> {
        let start = self.piece.start;
        let all = start..start + self.piece.length;
        match &self.layout {
            Layout::Data => vec![(all, true)],
            Layout::Hole { .. } => vec![(all, false)],
            Layout::Mixed(map) => {
                let place =
                    |run: ops::Range<u32>| start + u64::from(run.start)..start + u64::from(run.end);
                map.runs()
                    .map(|(run, is_data)| (place(run), is_data))
                    .collect()
            }
        }
    }

    /// How its data lie on the stream.
    pub fn coding(&self, is_packed: bool) -> Coding {
        match (&self.layout, is_packed) {
            (Layout::Hole { .. }, _) => Coding::Hole,
            (Layout::Data, false) => Coding::Raw,
            (Layout::Data, true) => Coding::Zstd,
            (Layout::Mixed(_), false) => Coding::Sparse,
            (Layout::Mixed(_), true) => Coding::SparseZstd,
        }
    }

    /// * `bytes`: on the stream, without the map. No more than the piece has.
    pub fn header(&self, coding: Coding, bytes: usize) -> PieceHeader {
        let wire_length = u32::try_from(self.map().len() + bytes).unwrap_or(self.length);
        PieceHeader {
            file: self.piece.file,
            offset: self.piece.start,
            length: self.length,
            wire_length,
            coding,
        }
    }

    pub fn hasher(&self) -> PieceHasher {
        let size = self.reader.as_ref().map_or(0, |reader| reader.size());
        PieceHasher::new(size, self.piece.start, self.piece.length)
    }
}
