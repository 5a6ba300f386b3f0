//! How many copies of a link run, on all hosts that see its folder.
//!
//! Each copy holds the lock of one of the link's slots. The kernel releases it when the process
//! ends, however it ends, so none is lost. Locks of flock(2) hold over NFS since Linux 2.6.12.
//!
//! Hosts have equal parts of the slots: one that waits holds the lock `waits-HOST`, and no host
//! takes a slot, or keeps one for its next copy, while one that has fewer waits.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;

use campaign_plan::LinkName;
use nix::fcntl::Flock;

use crate::folder::{is_locked, lock_for, lock_host, this_host};
use crate::{CampaignFolder, LinkReports, StoreError};

/// The slots of one link.
#[derive(Debug, Clone)]
pub struct Slots {
    folder: PathBuf,
    link: String,
    count: u16,
    host: String,
}

/// A slot that is held; dropping it gives it back.
#[derive(Debug)]
pub struct Slot {
    number: u16,
    _lock: Flock<File>,
}

/// This host waits for a slot, which other hosts see until this is dropped.
#[derive(Debug)]
pub struct SlotWait {
    _lock: Flock<File>,
}

const WAITS: &str = "waits-";

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
            host: this_host(),
        }
    }

    fn file(&self, number: u16) -> PathBuf {
        self.folder.join(format!("slot-{number}"))
    }

    /// A free slot; `None` while all are held, or a host that has fewer waits.
    ///
    /// # Errors
    /// When the folder cannot be made, or locks do not work there.
    pub fn take(&self) -> Result<Option<Slot>, StoreError> {
        fs::create_dir_all(&self.folder).map_err(StoreError::file("make", &self.folder))?;
        if self.others_are_first(0) {
            return Ok(None);
        }
        let files = (0..self.count).map(|number| (number, self.file(number)));
        for (number, file) in files.filter(|(_, file)| !is_locked(file)) {
            let what = format!("a copy runs on link `{}`", self.link);
            match lock_for(&self.host, &file, &what) {
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

    /// The slot for one more copy; it is given back where a host waits that would then have fewer.
    pub fn keep(&self, slot: Slot) -> Option<Slot> {
        (!self.others_are_first(1)).then_some(slot)
    }

    /// Tells other hosts that this one waits. `None` where another copy of this host does already.
    ///
    /// # Errors
    /// When locks do not work in the link's folder.
    pub fn wait(&self) -> Result<Option<SlotWait>, StoreError> {
        let name: String = self.host.chars().map(file_character).collect();
        let file = self.folder.join(format!("{WAITS}{name}"));
        if is_locked(&file) {
            return Ok(None);
        }
        match lock_for(&self.host, &file, "a copy waits") {
            Ok(lock) => Ok(Some(SlotWait { _lock: lock })),
            Err(StoreError::Busy { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a host waits that has fewer slots than this one without `less` of its own.
    fn others_are_first(&self, less: usize) -> bool {
        let waiting = self.waiting_hosts();
        if waiting.iter().all(|host| *host == self.host) {
            return false;
        }
        let mut held: BTreeMap<String, usize> = BTreeMap::new();
        for host in (0..self.count).filter_map(|number| lock_host(&self.file(number))) {
            *held.entry(host).or_default() += 1;
        }
        let of = |host: &String| held.get(host).copied().unwrap_or(0);
        let own = of(&self.host).saturating_sub(less);
        waiting.iter().any(|host| of(host) < own)
    }

    fn waiting_hosts(&self) -> Vec<String> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let files = files.filter(|file| file.file_name().to_string_lossy().starts_with(WAITS));
        files.filter_map(|file| lock_host(&file.path())).collect()
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

/// What a host's name has beyond letters, digits, `-` and `.` is `_` in a file's name.
fn file_character(character: char) -> char {
    match character {
        '-' | '.' => character,
        _ if character.is_ascii_alphanumeric() => character,
        _ => '_',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng;
    use rand_pcg::Pcg64Mcg;

    const HOSTS: usize = 3;

    /// A host with copies that run and copies that wait.
    struct Host {
        slots: Slots,
        held: Vec<Slot>,
        wait: Option<SlotWait>,
    }

    impl Host {
        /// One that waits tries once more; one of those that run begins its next copy.
        fn step(&mut self, wants: usize, dice: &mut Pcg64Mcg) {
            if !self.held.is_empty() && below(dice, 2) == 0 {
                let slot = self.held.swap_remove(below(dice, self.held.len()));
                if self.held.len() < wants {
                    self.held.extend(self.slots.keep(slot));
                }
            }
            if self.held.len() < wants {
                self.held.extend(self.slots.take().unwrap());
            }
            match self.held.len() < wants {
                true if self.wait.is_none() => self.wait = self.slots.wait().unwrap(),
                true => {}
                false => self.wait = None,
            }
        }
    }

    fn below(dice: &mut Pcg64Mcg, bound: usize) -> usize {
        dice.next_u32() as usize % bound
    }

    /// However the moments fall, each host that wants slots gets as many as any other, within one,
    /// and none stays free that is wanted.
    #[test]
    fn hosts_that_wait_have_equal_parts() {
        for seed in 0..200_u64 {
            let mut dice = Pcg64Mcg::new(seed.into());
            let folder = tempfile::tempdir().unwrap();
            let count = 1 + u16::try_from(below(&mut dice, 5)).unwrap();
            let host = |number: usize| Host {
                slots: Slots {
                    host: format!("dtn{number}"),
                    ..Slots::within(folder.path().to_owned(), "wan", count)
                },
                held: Vec::new(),
                wait: None,
            };
            let mut hosts: Vec<Host> = (0..HOSTS).map(host).collect();
            let wants: Vec<usize> = hosts.iter().map(|_| below(&mut dice, 6)).collect();
            for _ in 0..400 {
                let at = below(&mut dice, HOSTS);
                hosts[at].step(wants[at], &mut dice);
            }
            let held: Vec<usize> = hosts.iter().map(|host| host.held.len()).collect();
            let told = format!("seed {seed}: {count} slots, wanted {wants:?}, held {held:?}");
            let all: usize = held.iter().sum();
            assert!(
                all >= usize::from(count).min(wants.iter().sum()) - 1,
                "{told}"
            );
            for (at, one) in held.iter().enumerate() {
                let short = (0..HOSTS).filter(|other| held[*other] < wants[*other]);
                assert!(
                    short.into_iter().all(|other| *one <= held[other] + 1),
                    "{at}: {told}"
                );
            }
        }
    }

    #[test]
    fn a_host_alone_keeps_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::within(folder.path().to_owned(), "wan", 2);
        let first = slots.take().unwrap().unwrap();
        let _second = slots.take().unwrap().unwrap();
        let _wait = slots.wait().unwrap().unwrap();
        assert!(slots.wait().unwrap().is_none());
        assert!(slots.take().unwrap().is_none());
        assert!(slots.keep(first).is_some());
    }
}
