//! Whether files on this host are what was planned.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use campaign_store::{Entry, Fate, Kind};
use copy_protocol::ProblemKind;
use files::shown;

/// What is wrong with what stands under the name of an entry; `None` where it is the same kind,
/// size and time.
pub(super) fn difference(folder: &Path, entry: &Entry) -> Option<Fate> {
    let path = folder.join(OsStr::from_bytes(&entry.name));
    let found = match fs::symlink_metadata(&path) {
        Ok(found) => found,
        Err(error) => return Some(unread(entry, &error)),
    };
    let kind = found.file_type();
    let seconds = found.mtime().saturating_mul(1_000_000_000);
    let modified = seconds.saturating_add(found.mtime_nsec());
    let why = match &entry.kind {
        Kind::File(_) if !kind.is_file() => Some("it is no file any more".to_owned()),
        Kind::File(size) if found.len() != *size => {
            Some(format!("it has {} bytes and had {size}", found.len()))
        }
        Kind::File(_) if modified != entry.modified_nanoseconds => {
            Some("it was written to since".to_owned())
        }
        Kind::Link(target) => {
            let now = fs::read_link(&path);
            let is_same = now.is_ok_and(|now| now.as_os_str().as_bytes() == target);
            (!is_same).then(|| "it is no link to the same place any more".to_owned())
        }
        Kind::Folder if !kind.is_dir() => Some("it is no folder any more".to_owned()),
        Kind::File(_) | Kind::Folder => None,
    };
    why.map(|why| changed(entry, &why))
}

/// What became of an entry that is another one now.
pub(super) fn changed(entry: &Entry, why: &str) -> Fate {
    Fate {
        cause: ProblemKind::SourceChanged,
        what: format!(
            "`{}` changed since it was planned: {why}",
            shown(&entry.name)
        ),
        hint: Some("plan again: the next plan has what it is now".to_owned()),
    }
}

/// What the next step is for a name that its source does not have.
pub(super) fn gone_hint() -> Option<String> {
    Some("plan again: the next plan knows what is gone from the source".to_owned())
}

fn unread(entry: &Entry, error: &io::Error) -> Fate {
    let name = shown(&entry.name);
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Fate {
            cause: ProblemKind::NotFound,
            what: format!("`{name}` is there no more"),
            hint: gone_hint(),
        },
        io::ErrorKind::PermissionDenied => Fate {
            cause: ProblemKind::Permission,
            what: format!("cannot look at `{name}`: {error}"),
            hint: Some("give the user that copies the right to it".to_owned()),
        },
        _ => Fate {
            cause: ProblemKind::Disk,
            what: format!("cannot look at `{name}`: {error}"),
            hint: None,
        },
    }
}
