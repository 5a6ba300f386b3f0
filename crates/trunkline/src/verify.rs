//! Whether files are as a list of checksums, or a BagIt bag, says.
//!
//! ```no_run
//! use trunkline::{Cancel, verify, verify::VerifyRequest};
//!
//! let request = VerifyRequest::new("SHA256SUMS");
//! let verified = verify(&request, &Cancel::new(), &mut |_| {})?;
//! assert!(verified.is_right());
//! # Ok::<(), trunkline::Error>(())
//! ```

mod result;
pub mod told;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use files::checksums::{self, Checking, Listed, bag};
use files::shown;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::{Cancel, Error};

pub use files::checksums::{Account, Algorithm, Found, Trouble, TroubleKind};
pub use result::{TROUBLES_MAX, Verified};
pub use told::VerifyEvent;

/// How soon a cancellation is noticed while a list comes from a pipe.
const TICK_MILLISECONDS: u16 = 100;

/// What is to be checked.
#[derive(Debug, Clone)]
pub struct VerifyRequest {
    /// A list of checksums, `-` for one on standard input, or the folder of a BagIt bag.
    pub list: PathBuf,
    /// The folder below which the names of a list are; the current one without.
    pub folder: Option<PathBuf>,
    /// The algorithm of lines that do not say it.
    pub algorithm: Option<Algorithm>,
}

impl VerifyRequest {
    /// A list with names from the current folder, or a bag.
    pub fn new(list: impl Into<PathBuf>) -> Self {
        VerifyRequest {
            list: list.into(),
            folder: None,
            algorithm: None,
        }
    }
}

/// Reads all files that a list or a bag names, on all processors, and compares their checksums.
///
/// * `on_found`: is told of each trouble, and ten times a second how far it is.
///
/// # Errors
/// When there is no such list, it is none, or its checksums could be of several algorithms; when it
/// was cancelled. Files that are not right are no error.
pub fn verify(
    request: &VerifyRequest,
    cancel: &Cancel,
    on_found: &mut dyn FnMut(Found<'_>),
) -> Result<Verified, Error> {
    let (begun, stop) = (Instant::now(), cancel.flag());
    let mut troubles = Vec::new();
    let mut noting = |found: Found<'_>| {
        if let Found::Trouble(trouble) = &found
            && troubles.len() < TROUBLES_MAX
        {
            troubles.push((*trouble).clone());
        }
        on_found(found);
    };
    let is_bag = request.list.is_dir();
    let (checking, account) = match is_bag {
        true => check_bag(request, &stop, &mut noting)?,
        false => check_list(request, &stop, &mut noting)?,
    };
    if cancel.is_cancelled() {
        let Account { right, wrong, .. } = account;
        return Err(Error::cancelled(&format!(
            "ended before all was checked: of what was, {right} were right and {wrong} were not"
        )));
    }
    troubles.sort_by(|one, other| (one.line, &one.name).cmp(&(other.line, &other.name)));
    Ok(Verified {
        list: as_read(&request.list),
        folder: request.folder.as_deref().map(as_read),
        is_bag,
        algorithms: checking
            .algorithms()
            .into_iter()
            .map(Algorithm::name)
            .collect(),
        account,
        took: begun.elapsed().into(),
        troubles,
    })
}

/// A path as people read it.
fn as_read(path: &Path) -> String {
    shown(path.as_os_str().as_bytes())
}

fn check_bag(
    request: &VerifyRequest,
    stop: &AtomicBool,
    on_found: &mut dyn FnMut(Found<'_>),
) -> Result<(Checking, Account), Error> {
    let shown = request.list.display();
    if let Some(folder) = &request.folder {
        return Err(Error::wrong_request(
            format!(
                "`{shown}` is a folder, and so is `{}`: a bag has its own names",
                folder.display()
            ),
            "name the bag alone, or a list and the folder that its names are in",
        ));
    }
    if let Some(algorithm) = request.algorithm {
        return Err(Error::wrong_request(
            format!("`--algorithm {algorithm}` is for lists, and `{shown}` is a folder"),
            "leave it out: the manifests of a bag have their algorithm in their names",
        ));
    }
    let bag = bag::open(&request.list, stop)?;
    let tallies = bag.tallies.into_iter().map(Ok);
    let account = checksums::check(tallies, &bag.checking, stop, on_found)?;
    Ok((bag.checking, account))
}

fn check_list(
    request: &VerifyRequest,
    stop: &Arc<AtomicBool>,
    on_found: &mut dyn FnMut(Found<'_>),
) -> Result<(Checking, Account), Error> {
    let list = &request.list;
    let folder = match &request.folder {
        Some(folder) if !folder.is_dir() => {
            return Err(Error::wrong_request(
                format!("`{}` is no folder", folder.display()),
                "name the folder that the names of the list are in",
            ));
        }
        folder => folder.as_ref().map(|folder| folder.as_os_str().as_bytes()),
    };
    let stop_of_list = Arc::clone(stop);
    let file = open(list).map_err(|error| Error::unreadable(list, error))?;
    let input = Stoppable {
        file,
        stop: stop_of_list,
    };
    let name = as_read(list);
    let listed = Listed::new(BufReader::new(input), &name, request.algorithm);
    let checking = Checking::listed(folder.unwrap_or_default());
    let account = checksums::check(listed, &checking, stop, on_found)?;
    Ok((checking, account))
}

fn open(list: &Path) -> io::Result<File> {
    match list.as_os_str() == "-" {
        true => Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?)),
        false => File::open(list),
    }
}

/// A list that may come from a pipe, and ends when it is cancelled.
struct Stoppable {
    file: File,
    stop: Arc<AtomicBool>,
}

impl Read for Stoppable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(0);
            }
            let mut waiting = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
            match poll(&mut waiting, PollTimeout::from(TICK_MILLISECONDS)) {
                Ok(0) | Err(nix::errno::Errno::EINTR) => {}
                Ok(_) => return self.file.read(buffer),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}
