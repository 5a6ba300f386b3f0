//! Files as they arrive: a temporary name, writes at offsets, then the final name.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use wire::copying::{Entry, FileEnd, FileId, Kind, Problem, Want};

use super::source::trouble;

/// Where files of one copy go.
pub(crate) struct Store {
    root: PathBuf,
    files: Mutex<HashMap<FileId, Arc<Mutex<Arriving>>>>,
    known: Condvar,
    next: Mutex<FileId>,
}

struct Arriving {
    path: PathBuf,
    part: PathBuf,
    size: u64,
    missing: u64,
    file: Option<File>,
    ended: Option<FileEnd>,
    modified: SystemTime,
    mode: u32,
}

impl Store {
    pub(crate) fn new(root: PathBuf) -> Self {
        Store {
            root,
            files: Mutex::default(),
            known: Condvar::new(),
            next: Mutex::new(0),
        }
    }

    /// Takes the next entry; a file is wanted whole or not at all.
    pub(crate) fn expect(&self, id: FileId, entry: &Entry) -> Result<Want, Problem> {
        let path = self.root.join(Path::new(std::ffi::OsStr::from_bytes(
            entry.name.as_bytes(),
        )));
        let about = |error: std::io::Error| trouble(&path, &error);
        let want = match &entry.kind {
            Kind::Folder => {
                fs::create_dir_all(&path).map_err(about)?;
                Want::Nothing(id)
            }
            Kind::Link(target) => {
                let _ = fs::remove_file(&path);
                symlink(std::ffi::OsStr::from_bytes(target), &path).map_err(about)?;
                Want::Nothing(id)
            }
            Kind::File(size) => self.expect_file(id, entry, *size, path.clone()),
        };
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = id + 1;
        self.known.notify_all();
        Ok(want)
    }

    fn expect_file(&self, id: FileId, entry: &Entry, size: u64, path: PathBuf) -> Want {
        let nanos = u64::try_from(entry.modified_nanoseconds).unwrap_or(0);
        let modified = SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos);
        let there = fs::metadata(&path).ok();
        let is_same =
            |meta: &fs::Metadata| meta.size() == size && meta.modified().ok() == Some(modified);
        if there.as_ref().is_some_and(is_same) {
            return Want::Nothing(id);
        }
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let part = path.with_file_name(format!(".{name}.trunkline-part"));
        let arriving = Arriving {
            path,
            part,
            size,
            missing: size,
            file: None,
            ended: None,
            modified,
            mode: entry.mode,
        };
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(id, Arc::new(Mutex::new(arriving)));
        Want::Whole(id)
    }

    /// Waits until the file was announced.
    fn find(&self, id: FileId) -> Option<Arc<Mutex<Arriving>>> {
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = self
            .known
            .wait_timeout_while(next, Duration::from_secs(30), |next| *next <= id);
        drop(wait);
        self.files
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            .cloned()
    }

    /// Writes part of a file; whether there is such a file.
    pub(crate) fn write(&self, id: FileId, offset: u64, bytes: &[u8]) -> Result<bool, Problem> {
        let Some(arriving) = self.find(id) else {
            return Ok(false);
        };
        let mut arriving = arriving.lock().unwrap_or_else(PoisonError::into_inner);
        let part = arriving.part.clone();
        let about = |error: std::io::Error| trouble(&part, &error);
        arriving
            .file()
            .map_err(about)?
            .write_all_at(bytes, offset)
            .map_err(about)?;
        Ok(true)
    }

    /// So many bytes are there now. Returns whether the file has its final name with that.
    pub(crate) fn arrived(&self, id: FileId, bytes: u64) -> Result<bool, Problem> {
        let Some(arriving) = self.find(id) else {
            return Ok(false);
        };
        let mut arriving = arriving.lock().unwrap_or_else(PoisonError::into_inner);
        arriving.missing -= bytes;
        self.publish(id, &mut arriving)
    }

    /// All was read. Returns whether the file has its final name with that.
    pub(crate) fn ended(&self, end: FileEnd) -> Result<bool, Problem> {
        let id = end.file;
        let Some(arriving) = self.find(id) else {
            return Ok(false);
        };
        let mut arriving = arriving.lock().unwrap_or_else(PoisonError::into_inner);
        arriving.ended = Some(end);
        self.publish(id, &mut arriving)
    }

    fn publish(&self, id: FileId, arriving: &mut Arriving) -> Result<bool, Problem> {
        if arriving.missing > 0 || arriving.ended.is_none() {
            return Ok(false);
        }
        let part = arriving.part.clone();
        let about = |error: std::io::Error| trouble(&part, &error);
        let modified = arriving.modified;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(arriving.mode);
        let size = arriving.size;
        let file = arriving.file().map_err(about)?;
        file.set_len(size).map_err(about)?;
        file.set_modified(modified).map_err(about)?;
        file.set_permissions(mode).map_err(about)?;
        arriving.file = None;
        fs::rename(&arriving.part, &arriving.path).map_err(about)?;
        self.files
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id);
        Ok(true)
    }
}

impl Arriving {
    fn file(&mut self) -> std::io::Result<&mut File> {
        if self.file.is_none() {
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(&self.part)?;
            self.file = Some(file);
        }
        self.file
            .as_mut()
            .ok_or_else(|| std::io::Error::other("no file"))
    }
}
