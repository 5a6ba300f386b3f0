//! What is said.

use serde::{Deserialize, Serialize};

use crate::Name;

/// Most characters of a text for people.
const TEXT_CHARACTERS: usize = 400;

/// A request with the number that its answers carry: 1 for the first of a connection, and one more
/// for each that follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The number.
    pub id: u32,
    /// What is asked for.
    pub ask: Ask,
}

/// What is asked for. Names are relative to the folder that the token opens; the empty one is that
/// folder itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// What that name is, [`Told::Info`]. Links are followed as far as they stay inside.
    Info {
        /// The name.
        path: Name,
    },
    /// What is in a folder, [`Told::Listed`], in no order; folders come before what is in them.
    /// Links in it are not entered.
    List {
        /// The folder.
        path: Name,
        /// With all that is below.
        is_recursive: bool,
    },
    /// Bytes of a file, [`Told::Data`].
    Read {
        /// The file.
        path: Name,
        /// The first byte.
        offset: u64,
        /// How many, at most [`READ_MAX`](super::READ_MAX). Those beyond the file's end do not
        /// come.
        length: u32,
        /// Nothing comes of another version of the file.
        expected: Option<FileIdentity>,
    },
    /// Makes a folder; one that is there already is as good.
    MakeFolder {
        /// The folder.
        path: Name,
        /// With the folders that it is in.
        with_parents: bool,
    },
    /// Removes a name.
    Remove {
        /// The name.
        path: Name,
        /// What it may be.
        what: Removing,
    },
    /// Gives a file, a folder or a link another name.
    Rename {
        /// The name that it has.
        from: Name,
        /// The name that it gets.
        to: Name,
        /// What has that name is replaced: a file, a link, or a folder with nothing in it.
        replaces: bool,
    },
    /// Stores a whole file; its content follows the request.
    Store(NewFile),
}

/// A file that is stored whole, in place of what has its name. The folders that it is in are made
/// where they are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFile {
    /// Its name.
    pub path: Name,
    /// Bytes of its content, at most [`STORE_MAX`](super::STORE_MAX).
    pub length: u32,
    /// BLAKE3 of the content.
    pub digest: [u8; 32],
    /// Those of its source; without, those of a file that is written to there.
    pub attributes: Option<FileAttributes>,
    /// A file or a link of that name is replaced.
    pub replaces: bool,
}

/// What a file keeps of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileAttributes {
    /// Permission bits.
    pub mode: u32,
    /// Nanoseconds since 1970.
    pub modified_nanoseconds: i64,
}

/// What may be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Removing {
    /// A file or a link, not what it points to.
    File,
    /// A folder with nothing in it.
    EmptyFolder,
    /// Anything, with all that is in it.
    Tree,
}

/// An answer with the number of its request; bytes of a file follow behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The number; 0 for [`Told::Welcome`].
    pub id: u32,
    /// The answer.
    pub told: Told,
    /// Bytes of a file, of [`Told::Data`] alone.
    pub data: Vec<u8>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    /// The first answer on the connection that authenticates, unasked.
    Welcome(Welcome),
    /// What a name is.
    Info(FileInfo),
    /// Some of what is in a folder; more follows.
    Listed(Vec<Listed>),
    /// That was all.
    ListEnd {
        /// How many were told.
        count: u64,
    },
    /// Some of the bytes that were asked for, from where those before them ended.
    Data {
        /// Of which version.
        identity: FileIdentity,
        /// Permission bits of the file.
        mode: u32,
        /// BLAKE3 of the bytes.
        hash: [u8; 32],
        /// All that was asked for, up to the end of the file, has come with these.
        is_last: bool,
    },
    /// It is done.
    Done,
    /// It takes longer.
    Working {
        /// Names that it has dealt with so far; of a file that is stored, bytes that have come.
        count: u64,
    },
    /// It cannot be done, or not any further.
    Failed(Failure),
}

/// What the far end says of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The number that the greetings of its streams carry.
    pub session: u64,
    /// Most streams of it.
    pub streams_max: u16,
    /// Names may be removed and changed, where the rights of the token allow it.
    pub removes: bool,
}

/// Which version of a file something is of. A file that was written to or replaced has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified_nanoseconds: i64,
    /// Of inode and times of modification and of change.
    pub version: u64,
}

/// What a name is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileInfo {
    /// The kind; that of what a link points to, where that can be reached.
    pub kind: FileKind,
    /// Size, time and version of the same.
    pub identity: FileIdentity,
    /// Permission bits of the same.
    pub mode: u32,
    /// Where the name is a link: what it says.
    pub link: Option<Vec<u8>>,
}

/// What can have a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FileKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link to nothing, or out of what is served.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Relative to the folder that was asked for.
    pub name: Name,
    /// What it is.
    pub info: FileInfo,
}

/// Why something cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Kind of it.
    pub kind: FailureKind,
    /// What happened, for people.
    pub what: String,
    /// The next step.
    pub hint: Option<String>,
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FailureKind {
    /// The request makes no sense.
    Request,
    /// There is no such name.
    NotFound,
    /// The token, or the server, does not allow it to anybody.
    Rights,
    /// The file system does not allow it to the server.
    Permission,
    /// The name is taken.
    Exists,
    /// Something is no folder.
    NotAFolder,
    /// Something is a folder.
    IsAFolder,
    /// A folder has something in it.
    NotEmpty,
    /// The file is not the one that it was.
    Changed,
    /// No room, or no quota.
    DiskFull,
    /// The disk, or another trouble of the far host.
    Disk,
    /// Too much at once.
    Busy,
    /// The other end broke the rules.
    Protocol,
}

impl Ask {
    /// The name that it is about.
    pub fn path(&self) -> &Name {
        match self {
            Ask::Info { path }
            | Ask::List { path, .. }
            | Ask::Read { path, .. }
            | Ask::MakeFolder { path, .. }
            | Ask::Remove { path, .. } => path,
            Ask::Rename { from, .. } => from,
            Ask::Store(file) => &file.path,
        }
    }

    /// Whether asking once more does the same as asking once.
    pub fn is_idempotent(&self) -> bool {
        match self {
            Ask::Info { .. } | Ask::List { .. } | Ask::Read { .. } | Ask::MakeFolder { .. } => true,
            Ask::Store(file) => file.replaces,
            Ask::Remove { .. } | Ask::Rename { .. } => false,
        }
    }
}

impl Failure {
    /// A failure without a next step.
    pub fn new(kind: FailureKind, what: impl Into<String>) -> Self {
        Failure {
            kind,
            what: what.into(),
            hint: None,
        }
    }

    /// The same with the next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Short and fit to be printed.
    pub(super) fn shown(self) -> Self {
        let printable = |text: String| units::printable(&text, TEXT_CHARACTERS);
        Failure {
            kind: self.kind,
            what: printable(self.what),
            hint: self.hint.map(printable),
        }
    }
}

impl FileInfo {
    /// Whether it is a folder, or a link to one.
    pub fn is_folder(&self) -> bool {
        self.kind == FileKind::Folder
    }

    /// Whether it is a file, or a link to one.
    pub fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }
}
