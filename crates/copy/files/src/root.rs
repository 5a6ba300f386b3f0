//! From names to files: the user's own paths, or nothing outside one folder.
//!
//! A copy that was started by the user, here or through ssh, has the user's rights and takes paths
//! as any program does. A standing server gives away one folder: there every name is resolved by
//! the kernel with `openat2` and `RESOLVE_BENEATH`, so that neither `..` nor an absolute name nor a
//! link, whenever it was put there, leads out of it (openat2(2), Linux 5.6). Links that stay inside
//! work.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use copy_protocol::{Name, Problem, ProblemKind};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::{Mode, fstat};

use crate::problems::{failed, problem, with_hint};

/// Retries of a name while another program renames folders on its path (openat2(2), `EAGAIN`).
const TRIES_MAX: usize = 128;

/// Where names begin, and what may be done there. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Root {
    base: Arc<Base>,
    read: bool,
    write: bool,
    links: bool,
    removes: bool,
}

#[derive(Debug)]
enum Base {
    Own,
    Beneath(OwnedFd),
}

impl Root {
    /// The user's own paths, relative ones from the current folder.
    pub fn own() -> Self {
        Root {
            base: Arc::new(Base::Own),
            read: true,
            write: true,
            links: true,
            removes: true,
        }
    }

    /// Nothing but what is in `folder`.
    ///
    /// # Errors
    /// When it is no folder, or the kernel has no `openat2` to keep names inside it.
    pub fn beneath(folder: &Path) -> Result<Self, Problem> {
        let name = folder.display();
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let opened = openat(AT_FDCWD, folder, flags, Mode::empty());
        let fd = opened.map_err(|errno| failed("serve", name, &errno.into()))?;
        let how = OpenHow::new()
            .flags(flags)
            .resolve(ResolveFlag::RESOLVE_BENEATH);
        openat2(&fd, ".", how).map_err(|errno| no_openat2(folder, errno))?;
        Ok(Root {
            base: Arc::new(Base::Beneath(fd)),
            read: true,
            write: true,
            links: true,
            removes: true,
        })
    }

    /// Nothing but what is in `folder` below here, with the same rights.
    ///
    /// # Errors
    /// When there is no such folder, or the name leads out of this one.
    pub fn below(&self, folder: &Name) -> Result<Self, Problem> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY;
        let opened = self.open(folder.as_bytes(), flags);
        let fd = opened.map_err(|error| failed("serve", folder, &error))?;
        Ok(Root {
            base: Arc::new(Base::Beneath(fd)),
            ..self.clone()
        })
    }

    /// The same with these rights, and no more than before.
    #[must_use]
    pub fn restricted(&self, read: bool, write: bool) -> Self {
        Root {
            base: Arc::clone(&self.base),
            read: self.read && read,
            write: self.write && write,
            links: self.links,
            removes: self.removes,
        }
    }

    /// The same, but links that come are refused: other programs of this host would follow them
    /// anywhere.
    #[must_use]
    pub fn without_links(&self) -> Self {
        Root {
            links: false,
            ..self.clone()
        }
    }

    /// The same, but copies to here remove nothing.
    #[must_use]
    pub fn without_removing(&self) -> Self {
        Root {
            removes: false,
            ..self.clone()
        }
    }

    /// Whether what a source does not have may be removed.
    pub fn may_remove(&self) -> bool {
        self.removes
    }

    /// Whether links may be made.
    pub fn may_link(&self) -> bool {
        self.links
    }

    /// Whether names are the user's own, and not below a folder that is served.
    pub fn is_own(&self) -> bool {
        matches!(*self.base, Base::Own)
    }

    /// Whether a folder is the very one that is served.
    pub fn is_base(&self, folder: &OwnedFd) -> bool {
        let Base::Beneath(base) = &*self.base else {
            return false;
        };
        let of = |fd: &OwnedFd| fstat(fd).map(|stat| (stat.st_dev, stat.st_ino));
        matches!((of(base), of(folder)), (Ok(base), Ok(folder)) if base == folder)
    }

    /// Whether files may be read.
    pub fn may_read(&self) -> bool {
        self.read
    }

    /// Whether files may be written.
    pub fn may_write(&self) -> bool {
        self.write
    }

    /// Opens what a user named; links on the way are followed as far as the root allows.
    pub fn open(&self, path: &[u8], flags: OFlag) -> io::Result<OwnedFd> {
        match &*self.base {
            Base::Own => {
                let path = if path.is_empty() { b"." } else { path };
                let flags = flags | OFlag::O_CLOEXEC;
                Ok(openat(
                    AT_FDCWD,
                    OsStr::from_bytes(path),
                    flags,
                    Mode::empty(),
                )?)
            }
            Base::Beneath(fd) => {
                let path = path.trim_ascii_start_of(b'/');
                let path = if path.is_empty() { b"." } else { path };
                let beneath = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS;
                open_how(fd.as_fd(), path, flags, Mode::empty(), beneath)
            }
        }
    }
}

/// Opens to read. Where `keeps` is set, reading leaves the time of access as it is, if the system
/// allows that: it does to the owner and to root (open(2), `O_NOATIME`).
pub(crate) fn open_to_read(
    keeps: bool,
    flags: OFlag,
    mut open: impl FnMut(OFlag) -> io::Result<OwnedFd>,
) -> io::Result<OwnedFd> {
    if !keeps {
        return open(flags);
    }
    match open(flags | OFlag::O_NOATIME) {
        Err(error) if error.raw_os_error() == Some(Errno::EPERM as i32) => open(flags),
        opened => opened,
    }
}

/// Opens `path` below `folder` without following any link, not even one that was put there a moment
/// ago.
pub fn open_below(
    folder: BorrowedFd,
    path: &[u8],
    flags: OFlag,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let strict = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS;
    match open_how(folder, path, flags, mode, strict) {
        Err(error) if error.raw_os_error() == Some(Errno::ENOSYS as i32) => {
            open_stepwise(folder, path, flags, mode)
        }
        other => other,
    }
}

/// What [`open_below`] does where the kernel has no `openat2`: one component after the other, none
/// of them a link.
fn open_stepwise(folder: BorrowedFd, path: &[u8], flags: OFlag, mode: Mode) -> io::Result<OwnedFd> {
    let (parent, last) = match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&path[..0], path),
    };
    let step = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut held: Option<OwnedFd> = None;
    for component in parent.split(|byte| *byte == b'/') {
        if component == b".." {
            return Err(Errno::EXDEV.into());
        }
        if !component.is_empty() {
            let at = held.as_ref().map_or(folder, |fd| fd.as_fd());
            held = Some(openat(
                at,
                OsStr::from_bytes(component),
                step,
                Mode::empty(),
            )?);
        }
    }
    if last == b".." {
        return Err(Errno::EXDEV.into());
    }
    let at = held.as_ref().map_or(folder, |fd| fd.as_fd());
    let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    Ok(openat(at, OsStr::from_bytes(last), flags, mode)?)
}

fn open_how(
    folder: BorrowedFd,
    path: &[u8],
    flags: OFlag,
    mode: Mode,
    resolve: ResolveFlag,
) -> io::Result<OwnedFd> {
    // openat2 refuses a mode where nothing is created, and bits that are none.
    let mode = match flags.contains(OFlag::O_CREAT) {
        true => mode,
        false => Mode::empty(),
    };
    let how = OpenHow::new()
        .flags(flags | OFlag::O_CLOEXEC)
        .mode(mode)
        .resolve(resolve);
    let mut last = Errno::EAGAIN;
    for _ in 0..TRIES_MAX {
        match openat2(folder, OsStr::from_bytes(path), how) {
            Ok(fd) => return Ok(fd),
            Err(Errno::EAGAIN) => std::thread::yield_now(),
            Err(Errno::EINTR) => last = Errno::EINTR,
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(last.into())
}

fn no_openat2(folder: &Path, errno: Errno) -> Problem {
    let what = format!(
        "cannot keep names inside `{}`: openat2 fails with: {}",
        folder.display(),
        errno.desc()
    );
    let hint = "a served folder needs Linux 5.6 or later, and a container that allows openat2; \
        over ssh neither is needed";
    with_hint(problem(ProblemKind::Request, what), hint)
}

trait TrimStart {
    fn trim_ascii_start_of(&self, byte: u8) -> &[u8];
}

impl TrimStart for [u8] {
    fn trim_ascii_start_of(&self, byte: u8) -> &[u8] {
        let start = self.iter().position(|one| *one != byte);
        &self[start.unwrap_or(self.len())..]
    }
}
