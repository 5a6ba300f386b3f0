//! Modes and times of folders, set at the end of a copy.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use copy_protocol::{Attributes, FileId, Problem, ProblemKind};
use nix::sys::stat::{Mode, fchmod, fstat, futimens};
use nix::sys::time::TimeSpec;
use nix::unistd::{fsync, syncfs};

use super::Destination;
use crate::problems::{failed, problem};
use crate::store::finalize::{TOGETHER_MIN, fsync_all, time_of};

impl Destination {
    /// Modes and times of folders, the innermost first; then all is flushed, as a whole where they
    /// are many.
    pub fn set_folder_attributes(&self, attributes: &Attributes) -> Vec<Problem> {
        let folders = std::mem::take(&mut self.state().folders);
        let mut troubles = Vec::new();
        let (mut disks, mut each) = (BTreeMap::new(), Vec::new());
        for file in folders.iter().rev() {
            let dressed = self.set_attributes_of(*file, attributes);
            let flushed = dressed.and_then(|(name, fd)| match folders.len() < TOGETHER_MIN {
                true => {
                    each.push((*file, name, fd));
                    Ok(())
                }
                false => {
                    let stat = fstat(&fd).map_err(|errno| self.failed(&name, &errno.into()))?;
                    disks.entry(stat.st_dev).or_insert((name, fd));
                    Ok(())
                }
            });
            troubles.extend(flushed.err().map(|trouble| Problem {
                file: Some(*file),
                ..trouble
            }));
        }
        let flushed = fsync_all(&each, |(_, _, fd)| fd.as_fd());
        for ((file, name, _), outcome) in each.iter().zip(flushed) {
            troubles.extend(outcome.err().map(|errno| Problem {
                file: Some(*file),
                ..self.failed(name, &errno.into())
            }));
        }
        if let Some(base) = self.state().base() {
            disks.entry(u64::MAX).or_insert((Vec::new(), base));
        }
        for (device, (name, fd)) in disks {
            let flushed = match device {
                u64::MAX => fsync(&fd),
                _ => syncfs(&fd),
            };
            troubles.extend(flushed.err().map(|errno| self.failed(&name, &errno.into())));
        }
        troubles
    }

    fn set_attributes_of(
        &self,
        file: FileId,
        attributes: &Attributes,
    ) -> Result<(Vec<u8>, Arc<OwnedFd>), Problem> {
        let mut state = self.state();
        let record = state.records.get(file as usize).copied();
        let known = state.names.get(file).zip(record);
        let (name, record) =
            known.ok_or_else(|| problem(ProblemKind::Protocol, format!("no entry {file}")))?;
        let opened = state.open_folder(&name);
        drop(state);
        let dressed = opened.and_then(|fd| {
            if self.root.is_base(&fd) {
                return Ok(fd);
            }
            self.set_inode(file, &fd, attributes.kept)?;
            if attributes.permissions {
                let old = fstat(&fd)?.st_mode;
                let mode = match name.is_empty() && attributes.kept.owners.is_none() {
                    // The user's own destination is not opened to others for writing because the
                    // source is.
                    true => record.mode & !(0o022 & !old),
                    false => record.mode,
                };
                let special = match attributes.kept.owners {
                    Some(_) => 0,
                    None => old & 0o7000,
                };
                fchmod(&fd, Mode::from_bits_truncate(mode | special))?;
            }
            if attributes.times {
                let modified = time_of(record.modified_nanoseconds);
                futimens(&fd, &TimeSpec::UTIME_OMIT, &modified)?;
            }
            Ok(fd)
        });
        match dressed {
            Ok(fd) => Ok((name, fd)),
            Err(error) => Err(self.failed(&name, &error)),
        }
    }

    fn failed(&self, folder: &[u8], error: &io::Error) -> Problem {
        failed("set mode and time of", self.shown_below(folder), error)
    }
}
