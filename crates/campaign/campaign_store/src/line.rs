//! Manifests: one name a line, as JSON (NDJSON), behind a first line that says what it is.
//!
//! Names that are UTF-8 are text; others are in base64 under another key, so that every name comes
//! back as it was.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use copy_protocol::{FilePart, ProblemKind};
use serde::{Deserialize, Serialize};

use crate::{Entry, Kind, ShardId, StoreError};

const VERSION: u32 = 1;
const BUFFER: usize = 64 << 10;
/// No name and no message is longer.
const LINE_MAX: u64 = 64 << 10;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    trunkline_shard: u32,
    shard: ShardId,
}

/// A line of a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Line {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name_base64: Option<String>,
    /// Bytes of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link_base64: Option<String>,
    modified_nanoseconds: i64,
    /// BLAKE3 in hexadecimal digits, as `b3sum` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// Which part of the file, from 0, and the bytes of each part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part_bytes: Option<u64>,
    /// What became of it, in results.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub fate: Option<Fate>,
}

/// Why something was not copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fate {
    /// The kind of cause.
    pub cause: ProblemKind,
    /// What happened.
    pub what: String,
    /// The next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Text where the bytes are some, base64 where not.
fn told(bytes: &[u8]) -> (Option<String>, Option<String>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Some(text.to_owned()), None),
        Err(_) => (None, Some(STANDARD.encode(bytes))),
    }
}

fn meant(text: Option<String>, base64: Option<&str>) -> Result<Option<Vec<u8>>, String> {
    match (text, base64) {
        (Some(text), None) => Ok(Some(text.into_bytes())),
        (None, Some(base64)) => {
            let bytes = STANDARD.decode(base64);
            bytes.map(Some).map_err(|error| format!("base64: {error}"))
        }
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err("a name is there twice".to_owned()),
    }
}

impl Line {
    /// The line of an entry.
    pub fn of(entry: &Entry, fate: Option<Fate>) -> Line {
        let (name, name_base64) = told(&entry.name);
        let (link, link_base64) = match &entry.kind {
            Kind::Link(target) => told(target),
            _ => (None, None),
        };
        let hex = |digest: [u8; 32]| blake3::Hash::from_bytes(digest).to_hex().to_string();
        Line {
            name,
            name_base64,
            size: match entry.kind {
                Kind::File(bytes) => Some(bytes),
                Kind::Link(_) | Kind::Folder => None,
            },
            link,
            link_base64,
            modified_nanoseconds: entry.modified_nanoseconds,
            digest: entry.digest.map(hex),
            part: entry.part.map(|part| part.index),
            part_bytes: entry.part.map(|part| part.length),
            fate,
        }
    }

    /// The entry of a line; a line with neither size nor link is a folder.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn entry(self) -> Result<Entry, String> {
        let name = meant(self.name, self.name_base64.as_deref())?;
        let name = name.ok_or("there is no `name`")?;
        copy_protocol::Name::new(name.clone()).map_err(|error| error.to_string())?;
        let link = meant(self.link, self.link_base64.as_deref())?;
        let kind = match (self.size, link) {
            (Some(size), None) => Kind::File(size),
            (None, Some(target)) => Kind::Link(target),
            (None, None) => Kind::Folder,
            (Some(_), Some(_)) => return Err("it is a file and a link".to_owned()),
        };
        let digest = self.digest.map(blake3::Hash::from_hex);
        let digest = digest
            .transpose()
            .map_err(|error| format!("digest: {error}"))?;
        let part = match (self.part, self.part_bytes) {
            (None, None) => None,
            (Some(index), Some(length)) => Some(FilePart { index, length }),
            _ => return Err("`part` and `part_bytes` go together".to_owned()),
        };
        if part.is_some_and(|part| !part.is_legal() || !matches!(kind, Kind::File(_))) {
            return Err("no file has such a part".to_owned());
        }
        Ok(Entry {
            part,
            name,
            kind,
            modified_nanoseconds: self.modified_nanoseconds,
            digest: digest.map(|hash| *hash.as_bytes()),
        })
    }
}

/// Why something that was found is in no shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A pipe, a socket or a device.
    NoContent,
    /// A temporary file of a copy that goes on or was interrupted.
    Temporary,
    /// The name equals another one after case folding or normalisation.
    Clash,
    /// A folder that leads back into itself.
    Loop,
    /// A name that no copy takes.
    Name,
    /// It could not be read.
    Unread,
}

/// Something that was found and is in no shard.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftOut {
    /// The group.
    #[serde(default)]
    pub group: String,
    /// Its name for people.
    pub name: String,
    /// Why.
    pub reason: Reason,
    /// The same in words.
    pub what: String,
}

/// Writes a manifest.
#[derive(Debug)]
pub struct ManifestWriter {
    file: BufWriter<File>,
    path: PathBuf,
    hasher: blake3::Hasher,
    line: Vec<u8>,
}

impl ManifestWriter {
    /// A new file, which must not exist.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Path, shard: &ShardId) -> Result<Self, StoreError> {
        let file = File::create_new(path).map_err(StoreError::file("write", path))?;
        let mut writer = ManifestWriter {
            file: BufWriter::with_capacity(BUFFER, file),
            path: path.to_owned(),
            hasher: blake3::Hasher::new(),
            line: Vec::new(),
        };
        writer.write(&Header {
            trunkline_shard: VERSION,
            shard: shard.clone(),
        })?;
        Ok(writer)
    }

    /// Adds a line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn push(&mut self, line: &Line) -> Result<(), StoreError> {
        self.write(line)
    }

    fn write<T: Serialize>(&mut self, value: &T) -> Result<(), StoreError> {
        self.line.clear();
        let written = serde_json::to_writer(&mut self.line, value).map_err(std::io::Error::from);
        self.line.push(b'\n');
        self.hasher.update(&self.line);
        let written = written.and_then(|()| self.file.write_all(&self.line));
        written.map_err(StoreError::file("write", &self.path))
    }

    /// Writes the last bytes. Returns BLAKE3 of the file, and the file, which may still have to be
    /// flushed to disk.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn finish(self) -> Result<(String, File), StoreError> {
        let failed = StoreError::file("write", &self.path);
        let file = self.file.into_inner().map_err(|error| error.into_error());
        Ok((
            self.hasher.finalize().to_hex().to_string(),
            file.map_err(failed)?,
        ))
    }
}

/// Reads a manifest, line by line.
#[derive(Debug)]
pub struct Manifest {
    file: BufReader<File>,
    path: PathBuf,
    shard: ShardId,
    at: u64,
    hasher: blake3::Hasher,
}

impl Manifest {
    /// Opens one and reads its first line.
    ///
    /// # Errors
    /// When it cannot be read, is none, or one of another version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::file("read", path))?;
        let mut manifest = Manifest {
            file: BufReader::with_capacity(BUFFER, file),
            path: path.to_owned(),
            shard: ShardId::unknown(),
            at: 0,
            hasher: blake3::Hasher::new(),
        };
        let first = manifest.text()?.unwrap_or_default();
        let header = serde_json::from_slice::<Header>(&first);
        let header = header.map_err(|_| {
            StoreError::line(
                path,
                1,
                "this is no manifest of a shard: its first line says nothing",
            )
        })?;
        if header.trunkline_shard != VERSION {
            let why = format!(
                "a manifest of version {}; this program reads version {VERSION}",
                header.trunkline_shard
            );
            return Err(StoreError::line(path, 1, why));
        }
        manifest.shard = header.shard;
        Ok(manifest)
    }

    /// Which shard its names are of.
    pub fn shard(&self) -> &ShardId {
        &self.shard
    }

    /// BLAKE3 of what was read so far: of the file, once it is read to the end.
    pub fn digest(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }

    fn text(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let mut text = Vec::new();
        let read = std::io::Read::take(&mut self.file, LINE_MAX).read_until(b'\n', &mut text);
        read.map_err(StoreError::file("read", &self.path))?;
        self.at += 1;
        self.hasher.update(&text);
        match text.last() {
            None => Ok(None),
            Some(b'\n') => Ok(Some(text)),
            Some(_) => Err(StoreError::line(
                &self.path,
                self.at,
                "it ends within the line",
            )),
        }
    }

    /// The next line, with the entry that it tells of.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(&mut self) -> Result<Option<(Entry, Option<Fate>)>, StoreError> {
        let Some(text) = self.text()? else {
            return Ok(None);
        };
        let line = serde_json::from_slice::<Line>(&text);
        let entry = line
            .map_err(|error| error.to_string())
            .and_then(|mut line| {
                let fate = line.fate.take();
                line.entry().map(|entry| (entry, fate))
            });
        let told = |why| StoreError::line(&self.path, self.at, why);
        entry.map(Some).map_err(told)
    }
}

impl Iterator for Manifest {
    type Item = Result<(Entry, Option<Fate>), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
