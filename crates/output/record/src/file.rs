//! Documents on disk: written whole or not at all, and read with care.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use errors::{Fault, Hint};
use serde_json::error::Category;
use serde_json::{Value, from_str, from_value};
use thiserror::Error;

use crate::{AnyDocument, SCHEMA_VERSION, Schema, earlier};

/// Why a document could not be saved.
#[derive(Debug, Error)]
#[error("cannot write {}", path.display())]
pub struct SaveError {
    /// Where to.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl Hint for SaveError {
    fn fault(&self) -> Fault {
        Fault::Run
    }

    fn hint(&self) -> Option<String> {
        let hint =
            "name a file in a directory that exists, that you may write to and that has room";
        Some(hint.to_owned())
    }
}

/// Why a file is not a document that can be shown.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The text ends in the middle of the document.
    #[error("{}: the document breaks off at line {line}", path.display())]
    Truncated {
        /// Which file.
        path: PathBuf,
        /// Its last line.
        line: usize,
    },
    /// The text is not JSON.
    #[error("{}: not JSON", path.display())]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// What is wrong, and where.
        source: serde_json::Error,
    },
    /// The JSON is that of another program.
    #[error("{}: {found}, not one of {}", path.display(), known_schemas())]
    Schema {
        /// Which file.
        path: PathBuf,
        /// What stands where the schema should.
        found: FoundSchema,
    },
    /// A later trunkline wrote it.
    #[error("{}: schema version {found} is newer than {SCHEMA_VERSION}", path.display())]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// A key is missing or holds something else.
    #[error("{}: not a complete {} document", path.display(), schema.name())]
    Shape {
        /// Which file.
        path: PathBuf,
        /// What it says it is.
        schema: Schema,
        /// Which key.
        source: serde_json::Error,
    },
}

impl Hint for LoadError {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            LoadError::Read { .. } => "check the name, and that you may read the file",
            LoadError::Truncated { .. } => {
                "the file was cut short, perhaps by a full disk or a copy that ended early; run \
                    the measurement again with `--json` or copy the file again"
            }
            LoadError::Syntax { .. } | LoadError::Schema { .. } => {
                "give a file that trunkline wrote with `--json`, such as the output of `trunkline \
                    measure TARGET --json`"
            }
            LoadError::Newer { .. } => {
                "show it with the trunkline that wrote it, or update this one"
            }
            LoadError::Shape { .. } => {
                "the file was changed by hand or by another program; run the measurement again"
            }
        };
        Some(hint.to_owned())
    }
}

/// What stands where the schema should.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FoundSchema {
    /// No schema at all.
    #[error("there is no key `schema`")]
    Missing,
    /// Another one.
    #[error("the schema is `{0}`")]
    Other(String),
}

fn known_schemas() -> String {
    Schema::ALL.map(Schema::name).join(", ")
}

/// Writes `text` to `path` so that a reader sees the old file or the whole new one.
///
/// A link stays a link, and a device or pipe such as `/dev/stdout` is written to and not replaced.
///
/// # Errors
/// When the directory is missing, closed to us or full; nothing is left behind then.
pub fn save(path: &Path, text: impl AsRef<[u8]>) -> Result<(), SaveError> {
    let text = text.as_ref();
    let end = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let written = match fs::metadata(&end) {
        Ok(there) if !there.is_file() => fs::write(&end, text),
        _ => replace(&end, text),
    };
    written.map_err(|source| SaveError {
        path: path.to_owned(),
        source,
    })
}

/// Whether [`save`] could write to `path`, to be known before hours are spent on what is to be
/// saved. What is there stays as it is.
///
/// # Errors
/// When the directory is missing or closed to us, or `path` is a directory itself.
pub fn check_target(path: &Path) -> Result<(), SaveError> {
    let end = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let writable = match fs::metadata(&end) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => Ok(()),
        _ => {
            let beside = name_beside(&end);
            File::create(&beside).and_then(|_| fs::remove_file(&beside))
        }
    };
    writable.map_err(|source| SaveError {
        path: path.to_owned(),
        source,
    })
}

fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let beside = name_beside(path);
    let written = write_through(&beside, text).and_then(|()| fs::rename(&beside, path));
    written.inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// A name in the same directory, because a rename does not cross file systems.
fn name_beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", process::id()));
    path.with_file_name(name)
}

fn write_through(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text)?;
    file.sync_all()
}

/// Reads the document in the file `path`.
///
/// # Errors
/// When the file cannot be read or is not a document of this version; see [`LoadError`].
pub fn load(path: &Path) -> Result<AnyDocument, LoadError> {
    let text = fs::read_to_string(path).map_err(|source| LoadError::Read {
        path: path.to_owned(),
        source,
    })?;
    parse(path, &text)
}

/// Reads a document from `text`; `path` is for the messages.
///
/// # Errors
/// As [`load`].
pub fn parse(path: &Path, text: &str) -> Result<AnyDocument, LoadError> {
    let mut value: Value = from_str(text).map_err(|error| broken(path, error))?;
    let schema = schema(path, &value)?;
    check_version(path, &value)?;
    earlier::bring_up_to_date(&mut value);
    AnyDocument::read(schema, value).map_err(|source| LoadError::Shape {
        path: path.to_owned(),
        schema,
        source,
    })
}

fn broken(path: &Path, source: serde_json::Error) -> LoadError {
    let path = path.to_owned();
    match source.classify() {
        Category::Eof => LoadError::Truncated {
            path,
            line: source.line(),
        },
        _ => LoadError::Syntax { path, source },
    }
}

fn schema(path: &Path, value: &Value) -> Result<Schema, LoadError> {
    let name = value.get("schema");
    let known = name.and_then(|name| from_value(name.clone()).ok());
    known.ok_or_else(|| LoadError::Schema {
        path: path.to_owned(),
        found: name.map_or(FoundSchema::Missing, other_schema),
    })
}

fn other_schema(name: &Value) -> FoundSchema {
    let text = name
        .as_str()
        .map_or_else(|| name.to_string(), str::to_owned);
    FoundSchema::Other(text.chars().take(60).collect())
}

fn check_version(path: &Path, value: &Value) -> Result<(), LoadError> {
    match value.get("schema_version").and_then(Value::as_u64) {
        Some(found) if found > u64::from(SCHEMA_VERSION) => Err(LoadError::Newer {
            path: path.to_owned(),
            found,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
