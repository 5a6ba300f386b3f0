//! What the copies of a link tell each other through its folder: how each fares, and how
//! many streams each is to have.
//!
//! These files are a second old and worth nothing after the next one: they are replaced by renaming
//! and not flushed to the disk.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::StoreError;

/// How a copy of a link fares, by its holder of a slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopyReport {
    /// Of this copy alone: the slot may have another one next.
    pub copy: u64,
    /// Parts of the link's streams that it gets.
    pub weight: u16,
    /// Bytes that the receiver has confirmed; those that were there before count too.
    pub done: u64,
    /// Streams that carry data.
    pub streams: u16,
    /// Their mean smoothed round trip.
    pub rtt_nanoseconds: Option<u64>,
    /// Bytes sent again as a share of those sent.
    pub retransmitted_share: Option<f64>,
    /// What binds, by its name.
    pub limited_by: Option<String>,
}

/// The files of one link.
#[derive(Debug, Clone)]
pub struct LinkReports {
    folder: PathBuf,
}

impl LinkReports {
    pub(crate) fn within(folder: PathBuf) -> Self {
        LinkReports { folder }
    }

    /// Tells how the copy in a slot fares.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn tell(&self, slot: u16, report: &CopyReport) -> Result<(), StoreError> {
        write(&self.report(slot), report)
    }

    /// What was told of the copy in a slot; `None` where nothing was, or nothing that can be read.
    pub fn told(&self, slot: u16) -> Option<CopyReport> {
        read(&self.report(slot))
    }

    /// The copy in a slot ends.
    pub fn end(&self, slot: u16) {
        // The next holder of the slot replaces it otherwise.
        let _ = fs::remove_file(self.report(slot));
    }

    /// Tells how many streams the copy in each slot is to have.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn share(&self, streams: &BTreeMap<u16, u16>) -> Result<(), StoreError> {
        write(&self.shares_file(), streams)
    }

    /// Streams of the copy in each slot as they were told last.
    pub fn shares(&self) -> BTreeMap<u16, u16> {
        read(&self.shares_file()).unwrap_or_default()
    }

    /// Removes stale shares: the copies that they are for have all ended.
    pub fn forget(&self) {
        let _ = fs::remove_file(self.shares_file());
    }

    fn report(&self, slot: u16) -> PathBuf {
        self.folder.join(format!("slot-{slot}.json"))
    }

    fn shares_file(&self) -> PathBuf {
        self.folder.join("streams.json")
    }
}

fn write<T: Serialize>(file: &Path, value: &T) -> Result<(), StoreError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let write = || -> io::Result<()> {
        let new = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(new.as_file(), value)?;
        new.persist(file).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(StoreError::file("write", file))
}

fn read<T: for<'a> Deserialize<'a>>(file: &Path) -> Option<T> {
    serde_json::from_reader(File::open(file).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_and_shares_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let reports = LinkReports::within(folder.path().to_owned());
        assert_eq!(reports.told(3), None);
        assert!(reports.shares().is_empty());
        let report = CopyReport {
            copy: 7,
            weight: 5,
            done: 1 << 40,
            streams: 12,
            rtt_nanoseconds: Some(80_000_000),
            retransmitted_share: Some(0.01),
            limited_by: Some("network".to_owned()),
        };
        reports.tell(3, &report).unwrap();
        assert_eq!(reports.told(3), Some(report));
        let shares: BTreeMap<u16, u16> = [(0, 4), (3, 8)].into();
        reports.share(&shares).unwrap();
        assert_eq!(reports.shares(), shares);
        reports.forget();
        assert!(reports.shares().is_empty());
        reports.end(3);
        assert_eq!(reports.told(3), None);
    }

    #[test]
    fn a_broken_file_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("slot-0.json"), b"{\"copy\": 1").unwrap();
        fs::write(folder.path().join("streams.json"), b"[]").unwrap();
        let reports = LinkReports::within(folder.path().to_owned());
        assert_eq!(reports.told(0), None);
        assert!(reports.shares().is_empty());
    }
}
