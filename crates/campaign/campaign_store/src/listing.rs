//! All names of a group as they were planned last, in order, for the next plan to compare with.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::entry::encode;
use crate::sort::Records;
use crate::{Entry, StoreError};

/// The fastest; listings shrink to a sixth all the same.
const LEVEL: i32 = 1;

/// Writes a listing.
pub(crate) struct ListingWriter {
    file: zstd::Encoder<'static, BufWriter<File>>,
    path: PathBuf,
    record: Vec<u8>,
}

impl ListingWriter {
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let failed = || StoreError::file("write", path);
        let file = BufWriter::new(File::create_new(path).map_err(failed())?);
        Ok(ListingWriter {
            file: zstd::Encoder::new(file, LEVEL).map_err(failed())?,
            path: path.to_owned(),
            record: Vec::new(),
        })
    }

    pub fn push(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.record.clear();
        let encoded = encode(entry, &mut self.record).map_err(io::Error::other);
        let written = encoded.and_then(|()| self.file.write_all(&self.record));
        written.map_err(StoreError::file("write", &self.path))
    }

    pub fn finish(self) -> Result<(), StoreError> {
        let file = self.file.finish().and_then(|mut file| file.flush());
        file.map_err(StoreError::file("write", &self.path))
    }
}

/// Reads a listing; one that is not there has no names.
pub(crate) struct Listing(Option<Records<zstd::Decoder<'static, BufReader<File>>>>);

impl Listing {
    pub fn open(path: Option<&Path>) -> Result<Self, StoreError> {
        let Some(path) = path else {
            return Ok(Listing(None));
        };
        let failed = || StoreError::file("read", path);
        let file = File::open(path).map_err(failed())?;
        let file = zstd::Decoder::new(file).map_err(failed())?;
        Ok(Listing(Some(Records::new(file, path))))
    }

    pub fn next(&mut self) -> Result<Option<Entry>, StoreError> {
        self.0.as_mut().map_or(Ok(None), Records::next)
    }
}
