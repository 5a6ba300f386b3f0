//! What is below `data`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::{SFlag, fstat, fstatat};

use crate::checksums::check::{Tally, Trouble, TroubleKind};
use crate::problems::shown;
use crate::root::Root;
use crate::source::look::{Listing, kind_of};

/// Payload files with their sizes.
pub type Present = BTreeMap<Vec<u8>, u64>;

/// What there is of the payload.
#[derive(Debug, Default)]
pub struct Walked {
    /// Its files; one whose size is not known counts as empty.
    pub present: Present,
    /// Whether all folders were listed and all sizes are known.
    pub is_whole: bool,
}

/// All payload files; what cannot be listed becomes a trouble.
pub fn walk(root: &Root, stop: &AtomicBool, tallies: &mut Vec<Tally>) -> Walked {
    let mut walked = Walked {
        is_whole: true,
        ..Walked::default()
    };
    let mut folders = vec![b"data".to_vec()];
    while let Some(folder) = folders.pop() {
        if stop.load(Ordering::Relaxed) {
            walked.is_whole = false;
            break;
        }
        if let Err(error) = list(root, &folder, &mut folders, &mut walked) {
            walked.is_whole = false;
            tallies.push(Tally::Trouble(Trouble {
                kind: match error.kind() {
                    io::ErrorKind::NotFound => TroubleKind::Missing,
                    _ => TroubleKind::Unreadable,
                },
                name: format!("{}/", shown(&folder)),
                what: format!("its files cannot be listed: {error}"),
                line: None,
            }));
        }
    }
    walked
}

fn list(
    root: &Root,
    folder: &[u8],
    folders: &mut Vec<Vec<u8>>,
    walked: &mut Walked,
) -> io::Result<()> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
    let fd = root.open(folder, flags)?;
    let mut listing = Listing::of(&fd)?;
    while let Some(last) = listing.pop() {
        let name = [folder, &b"/"[..], &last].concat();
        let size = match size_of(root, &fd, &last, &name) {
            Ok(Some(size)) => size,
            Ok(None) => {
                folders.push(name);
                continue;
            }
            // It is there; that it cannot be read is told when that is tried.
            Err(_) => {
                walked.is_whole = false;
                0
            }
        };
        walked.present.insert(name, size);
    }
    Ok(())
}

/// `None` for a folder. A link is the file that it points to.
fn size_of(root: &Root, fd: &OwnedFd, last: &[u8], name: &[u8]) -> io::Result<Option<u64>> {
    let stat = fstatat(fd, OsStr::from_bytes(last), AtFlags::AT_SYMLINK_NOFOLLOW)?;
    let size = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    Ok(match kind_of(&stat) {
        SFlag::S_IFDIR => None,
        SFlag::S_IFLNK => {
            let stat = fstat(root.open(name, OFlag::O_PATH)?)?;
            match kind_of(&stat) {
                SFlag::S_IFREG => Some(size(stat.st_size)),
                _ => return Err(io::Error::other("it is a link to no file")),
            }
        }
        _ => Some(size(stat.st_size)),
    })
}
