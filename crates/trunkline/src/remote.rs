//! Files of a server, one by one: information, listings, ranges, small files, changes of names.
//!
//! [`Remote`] holds the connections to one server and is used by any number of threads. Single
//! files and ranges come over them, and small files are stored ([`Remote::store`]); larger ones are
//! got and put by [`copy()`](crate::copy()), which finds the number of streams and goes on where it
//! was interrupted.
//!
//! ```no_run
//! use trunkline::Cancel;
//! use trunkline::remote::{Remote, RemoteOptions};
//!
//! let token = std::fs::read_to_string("token")?.parse()?;
//! let cancel = Cancel::new();
//! let url = "trunkline://dtn.example.org/run7";
//! let remote = Remote::open(url, token, RemoteOptions::default(), &cancel)?;
//! let info = remote.info("hits.parquet", &cancel)?;
//! let end = info.identity.size;
//! let footer = remote.read("hits.parquet", end.saturating_sub(8)..end, &cancel)?;
//! assert_eq!(footer.bytes.get(4..), Some(&b"PAR1"[..]));
//! # Ok::<(), trunkline::Error>(())
//! ```

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use copy_protocol::remote::Listed;
use copy_protocol::{CopyDirection, Name, Rights, Token};
use observe::StreamCount;
use remote_files::{RemoteError, RemoteFiles};
use units::Address;

use crate::copy::{
    self, Access, Copied, CopyControl, CopyObserver, CopyOptions, CopyRequest, Place,
};
use crate::history::History;
use crate::{Cancel, Error};

pub use copy_protocol::remote::{
    FailureKind, FileAttributes, FileIdentity, FileInfo, FileKind, Removing, STORE_MAX,
};
pub use remote_files::{ReadBytes, ReadRange, RemoteOptions, SmallFile};

/// Bytes that are read of a file whose size is not known: little is lost where it is a large one.
const FIRST: u64 = 64 << 10;

/// Where a name begins: `trunkline://HOST[:PORT]/PATH` in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Base {
    address: Address,
    path: Name,
}

/// Files below a folder of a server. Clones share its connections.
///
/// Names are relative to that folder: components parted by `/`, a `/` in front or behind is left
/// out, and `..` is none. The empty name is the folder itself.
#[derive(Debug, Clone)]
pub struct Remote {
    files: RemoteFiles,
    base: Base,
    token: Token,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, from the folder that was listed.
    pub name: Vec<u8>,
    /// What it is.
    pub info: FileInfo,
}

impl Remote {
    /// Connects to the server of `url`, `trunkline://HOST[:PORT]/PATH`.
    ///
    /// # Errors
    /// When that is no such place, the server cannot be reached or does not know the token, or it
    /// is older than access to files.
    pub fn open(
        url: &str,
        token: Token,
        options: RemoteOptions,
        cancel: &Cancel,
    ) -> Result<Self, Error> {
        let base = Base::parse(url)?;
        let stop = || cancel.is_cancelled();
        let files = RemoteFiles::open(base.address.clone(), token.clone(), options, &stop)?;
        Ok(Remote { files, base, token })
    }

    /// How many streams copies from the server of `url` needed, for [`RemoteOptions::remembered`];
    /// nothing where the archive cannot say.
    pub fn remembered(url: &str, history: &History) -> Option<StreamCount> {
        let base = Base::parse(url).ok()?;
        history.streams_of(&base.address.to_string(), CopyDirection::Get)
    }

    /// What the token allows.
    ///
    /// # Errors
    /// When the server is gone.
    pub fn rights(&self, cancel: &Cancel) -> Result<Rights, Error> {
        Ok(self.files.rights(&|| cancel.is_cancelled())?)
    }

    /// What a name is. A link is what it points to, where that can be reached.
    ///
    /// # Errors
    /// When there is no such name, or it may not be looked at.
    pub fn info(&self, path: impl AsRef<[u8]>, cancel: &Cancel) -> Result<FileInfo, Error> {
        let path = self.name(path)?;
        Ok(self.files.info(&path, &|| cancel.is_cancelled())?)
    }

    /// What is in a folder, by name.
    ///
    /// # Errors
    /// When it is no folder, or cannot be read.
    pub fn list(&self, path: impl AsRef<[u8]>, cancel: &Cancel) -> Result<Vec<Entry>, Error> {
        let mut all = Vec::new();
        let mut each = |batch: Vec<Listed>| {
            all.extend(batch.into_iter().map(Entry::from));
            Ok(())
        };
        let path = self.name(path)?;
        self.files
            .list(&path, false, &mut each, &|| cancel.is_cancelled())?;
        all.sort_unstable_by(|one: &Entry, other| one.name.cmp(&other.name));
        Ok(all)
    }

    /// All that is in a folder and below it, some at a time, in no order but folders before what is
    /// in them. The server waits for `each`, so a tree of any size takes little memory.
    ///
    /// # Errors
    /// When it is no folder, cannot be read to its end, or the connection was lost behind the first
    /// entries. The first error of `each`.
    pub fn inventory(
        &self,
        path: impl AsRef<[u8]>,
        each: &mut dyn FnMut(Vec<Entry>) -> Result<(), Error>,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let path = self.name(path)?;
        let mut failed = None;
        let mut give = |batch: Vec<Listed>| {
            let batch = batch.into_iter().map(Entry::from).collect();
            each(batch).map_err(|error| {
                failed = Some(error);
                RemoteError::Cancelled
            })
        };
        let stop = || cancel.is_cancelled();
        let done = self.files.list(&path, true, &mut give, &stop);
        match (failed, done) {
            (Some(error), _) => Err(error),
            (None, done) => Ok(done?),
        }
    }

    /// Bytes of a file; what lies beyond its end does not come.
    ///
    /// # Errors
    /// When there is no such file, it cannot be read, or it changed meanwhile.
    pub fn read(
        &self,
        path: impl AsRef<[u8]>,
        range: Range<u64>,
        cancel: &Cancel,
    ) -> Result<ReadBytes, Error> {
        let range = self.range(path, range.start, Some(range.end))?;
        Ok(self.files.read(range, &|| cancel.is_cancelled())?)
    }

    /// All of a file.
    ///
    /// # Errors
    /// As [`Remote::read`].
    pub fn read_whole(&self, path: impl AsRef<[u8]>, cancel: &Cancel) -> Result<ReadBytes, Error> {
        let range = self.range(path, 0, None)?;
        Ok(self.files.read(range, &|| cancel.is_cancelled())?)
    }

    /// All of a file that [`Remote::store`] would take, `None` of a larger one: by one request
    /// where it has 64 KiB at most, else by two.
    ///
    /// # Errors
    /// As [`Remote::read`].
    pub fn read_small(
        &self,
        path: impl AsRef<[u8]>,
        cancel: &Cancel,
    ) -> Result<Option<ReadBytes>, Error> {
        let path = path.as_ref();
        let mut read = self.read(path, 0..FIRST, cancel)?;
        let (came, size) = (read.bytes.len() as u64, read.identity.size);
        if size > STORE_MAX.into() {
            return Ok(None);
        }
        if came < size {
            let rest = ReadRange {
                expected: Some(read.identity),
                ..self.range(path, came, Some(size))?
            };
            let rest = self.files.read(rest, &|| cancel.is_cancelled())?;
            read.bytes.extend(rest.bytes);
        }
        Ok(Some(read))
    }

    /// A range for [`Remote::read_many`]: up to the end of the file without `end`.
    ///
    /// # Errors
    /// When the name is none.
    pub fn range(
        &self,
        path: impl AsRef<[u8]>,
        start: u64,
        end: Option<u64>,
    ) -> Result<ReadRange, Error> {
        Ok(ReadRange {
            path: self.name(path)?,
            start,
            end,
            expected: None,
        })
    }

    /// Reads many ranges of many files at once. Each has a result of its own, in their order.
    ///
    /// # Errors
    /// When it was cancelled, or the server was gone for too long.
    pub fn read_many(
        &self,
        ranges: &[ReadRange],
        cancel: &Cancel,
    ) -> Result<Vec<Result<ReadBytes, Error>>, Error> {
        let all = self.files.read_many(ranges, &|| cancel.is_cancelled())?;
        Ok(all
            .into_iter()
            .map(|one| one.map_err(Error::from))
            .collect())
    }

    /// Makes a folder; one that is there already is as good.
    ///
    /// # Errors
    /// When something else has the name, the folder that it is in is missing, or it may not be
    /// made.
    pub fn make_folder(
        &self,
        path: impl AsRef<[u8]>,
        with_parents: bool,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let path = self.name(path)?;
        let stop = || cancel.is_cancelled();
        Ok(self.files.make_folder(&path, with_parents, &stop)?)
    }

    /// A file for [`Remote::store`], which replaces what has its name.
    ///
    /// # Errors
    /// When the name is none.
    pub fn small_file(
        &self,
        path: impl AsRef<[u8]>,
        content: impl Into<Arc<[u8]>>,
    ) -> Result<SmallFile, Error> {
        Ok(SmallFile {
            path: self.name(path)?,
            content: content.into(),
            attributes: None,
            replaces: true,
        })
    }

    /// Stores whole files of at most [`STORE_MAX`] bytes, all at once, and makes the folders that
    /// they are in. Each has a result of its own, in their order. At any moment a name stands for
    /// what was there or for all of its file.
    ///
    /// # Errors
    /// When it was cancelled, or the server was gone for too long.
    pub fn store(
        &self,
        files: &[SmallFile],
        cancel: &Cancel,
    ) -> Result<Vec<Result<(), Error>>, Error> {
        let all = self.files.store_many(files, &|| cancel.is_cancelled())?;
        Ok(all
            .into_iter()
            .map(|one| one.map_err(Error::from))
            .collect())
    }

    /// Removes a name. It is never asked for twice: where the connection is lost meanwhile, the
    /// error says that it is not known whether it was done.
    ///
    /// # Errors
    /// When there is no such name, it is something else, or may not be removed.
    pub fn remove(
        &self,
        path: impl AsRef<[u8]>,
        what: Removing,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let path = self.name(path)?;
        Ok(self.files.remove(&path, what, &|| cancel.is_cancelled())?)
    }

    /// Gives a name another place, and replaces what has that where it `replaces`. As with
    /// [`Remote::remove`], it is never asked for twice.
    ///
    /// # Errors
    /// When there is no such name, or the other one is taken.
    pub fn rename(
        &self,
        from: impl AsRef<[u8]>,
        to: impl AsRef<[u8]>,
        replaces: bool,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let (from, to) = (self.name(from)?, self.name(to)?);
        let stop = || cancel.is_cancelled();
        Ok(self.files.rename(&from, &to, replaces, &stop)?)
    }

    /// Copies files and folders from the server to a place here, as `trunkline copy` does.
    ///
    /// # Errors
    /// As [`copy()`](crate::copy()).
    pub fn get(
        &self,
        paths: &[impl AsRef<[u8]>],
        to: &Path,
        options: CopyOptions,
        control: &CopyControl,
        observer: &mut dyn CopyObserver,
    ) -> Result<Copied, Error> {
        let mut places = Vec::new();
        for path in paths {
            places.push(self.base.place(&self.name(path)?));
        }
        places.push(here(to));
        self.copy(&places, options, control, observer)
    }

    /// Copies files and folders from here to a name on the server, as `trunkline copy` does.
    ///
    /// # Errors
    /// As [`copy()`](crate::copy()).
    pub fn put(
        &self,
        sources: &[impl AsRef<Path>],
        to: impl AsRef<[u8]>,
        options: CopyOptions,
        control: &CopyControl,
        observer: &mut dyn CopyObserver,
    ) -> Result<Copied, Error> {
        let mut places: Vec<_> = sources.iter().map(|path| here(path.as_ref())).collect();
        places.push(self.base.place(&self.name(to)?));
        self.copy(&places, options, control, observer)
    }

    fn copy(
        &self,
        places: &[std::path::PathBuf],
        options: CopyOptions,
        control: &CopyControl,
        observer: &mut dyn CopyObserver,
    ) -> Result<Copied, Error> {
        let access = Access {
            token: Some(self.token.clone()),
            ..Access::default()
        };
        let request = CopyRequest::new(places, options, access)?;
        copy::copy(&request, control, observer)
    }

    /// Connections that are open.
    pub fn connections(&self) -> usize {
        self.files.connections()
    }

    fn name(&self, path: impl AsRef<[u8]>) -> Result<Name, Error> {
        let path = path.as_ref().trim_ascii_slashes();
        match (self.base.path.is_empty(), path.is_empty()) {
            (true, _) => parsed(path),
            (false, true) => Ok(self.base.path.clone()),
            (false, false) => {
                // Each half is a name by itself, so that `..` cannot lead out of the first.
                let path = parsed(path)?;
                parsed(&[self.base.path.as_bytes(), b"/", path.as_bytes()].concat())
            }
        }
    }
}

/// Why an operation with files of a server has no result, where they or the server are the reason.
pub fn kind_of(error: &Error) -> Option<FailureKind> {
    error.cause().downcast_ref::<RemoteError>()?.kind()
}

/// Whether it is not known if a name was removed, changed or newly stored: the connection was lost
/// meanwhile.
pub fn is_unsure(error: &Error) -> bool {
    let cause = error.cause().downcast_ref::<RemoteError>();
    matches!(cause, Some(RemoteError::Unsure { .. }))
}

impl Base {
    fn parse(url: &str) -> Result<Self, Error> {
        match Place::parse(url.as_ref())? {
            Place::Server { address, path } => Ok(Base {
                address,
                path: parsed(path.trim_ascii_slashes())?,
            }),
            Place::Here(_) | Place::Ssh { .. } => Err(Error::wrong_request(
                format!("`{url}` is no place on a trunkline:// server"),
                "write it like trunkline://dtn.example.org:5201/store/run7",
            )),
        }
    }

    /// A name as a copy takes it.
    fn place(&self, name: &Name) -> std::path::PathBuf {
        let mut text = format!("trunkline://{}/", self.address);
        for byte in name.as_bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' => {
                    text.push(char::from(*byte));
                }
                byte => text.push_str(&format!("%{byte:02X}")),
            }
        }
        text.into()
    }
}

/// A file here whose name has a colon is no host.
fn here(path: &Path) -> std::path::PathBuf {
    match path.is_absolute() {
        true => path.to_owned(),
        false => Path::new(".").join(path),
    }
}

fn parsed(path: &[u8]) -> Result<Name, Error> {
    Name::new(path.to_vec()).map_err(|error| {
        Error::wrong_request(
            error.to_string(),
            "name files as they are below the folder that is served, like run7/hits.root",
        )
    })
}

trait TrimSlashes {
    fn trim_ascii_slashes(&self) -> &[u8];
}

impl TrimSlashes for [u8] {
    fn trim_ascii_slashes(&self) -> &[u8] {
        let is_other = |byte: &u8| *byte != b'/';
        let start = self.iter().position(is_other).unwrap_or(self.len());
        let end = self.iter().rposition(is_other).map_or(start, |at| at + 1);
        &self[start..end]
    }
}

impl From<Listed> for Entry {
    fn from(listed: Listed) -> Self {
        Entry {
            name: listed.name.into(),
            info: listed.info,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_names_of_a_server_and_back() {
        let base = Base::parse("trunkline://[::1]:5202/run%207/").unwrap();
        assert_eq!(base.path.as_bytes(), b"run 7");
        let name = Name::new(b"run 7/a*\xFF".to_vec()).unwrap();
        let place = base.place(&name);
        let parsed = Place::parse(place.as_os_str()).unwrap();
        assert_eq!(parsed.path(), name.as_bytes());
        for wrong in [
            "dtn:/store",
            "/store",
            "trunkline://dtn/../x",
            "trunkline://dtn/a/./b",
        ] {
            assert!(Base::parse(wrong).is_err(), "{wrong}");
        }
    }
}
