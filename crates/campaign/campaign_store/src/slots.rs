//! How many copies of a link run, on all hosts that see its folder.
//!
//! Each copy holds the lock of one of the link's slots. The kernel releases it when the process
//! ends, however it ends, so none is lost. Locks of flock(2) hold over NFS since Linux 2.6.12.

use std::fs::{self, File};
use std::path::PathBuf;

use campaign_plan::LinkName;
use nix::fcntl::Flock;

use crate::folder::{is_locked, lock};
use crate::{CampaignFolder, LinkReports, StoreError};

/// The slots of one link.
#[derive(Debug, Clone)]
pub struct Slots {
    folder: PathBuf,
    link: String,
    count: u16,
}

/// A slot that is held; dropping it gives it back.
#[derive(Debug)]
pub struct Slot {
    number: u16,
    _lock: Flock<File>,
}

impl Slots {
    /// * `count`: copies at a time.
    pub fn of(campaign: &CampaignFolder, link: &LinkName, count: u16) -> Self {
        let folder = campaign.path().join("links").join(link.as_str());
        Slots::within(folder, link.as_str(), count)
    }

    /// The same in a folder of the link's own.
    pub fn within(folder: PathBuf, link: &str, count: u16) -> Self {
        Slots {
            folder,
            link: link.to_owned(),
            count,
        }
    }

    fn file(&self, number: u16) -> PathBuf {
        self.folder.join(format!("slot-{number}"))
    }

    /// A free slot; `None` while all are held.
    ///
    /// # Errors
    /// When the folder cannot be made, or locks do not work there.
    pub fn take(&self) -> Result<Option<Slot>, StoreError> {
        fs::create_dir_all(&self.folder).map_err(StoreError::file("make", &self.folder))?;
        for number in 0..self.count {
            let what = format!("a copy runs on link `{}`", self.link);
            match lock(&self.file(number), &what) {
                Ok(lock) => {
                    return Ok(Some(Slot {
                        number,
                        _lock: lock,
                    }));
                }
                Err(StoreError::Busy { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// How many are held.
    pub fn held(&self) -> u16 {
        u16::try_from(self.held_numbers().len()).unwrap_or(u16::MAX)
    }

    /// Which are held, in order.
    pub fn held_numbers(&self) -> Vec<u16> {
        let held = (0..self.count).filter(|number| is_locked(&self.file(*number)));
        held.collect()
    }

    /// What the copies in these slots tell each other.
    pub fn reports(&self) -> LinkReports {
        LinkReports::within(self.folder.clone())
    }
}

impl Slot {
    /// Its number among those of the link.
    pub fn number(&self) -> u16 {
        self.number
    }
}
