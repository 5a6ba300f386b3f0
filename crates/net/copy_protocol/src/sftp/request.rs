//! What a server is asked.

use super::{SFTP_VERSION, Stat};

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Open {
    /// To read what is there.
    Read,
    /// To write what is there.
    Write,
    /// To write; made where it is missing, and what is in it stays.
    Make,
}

impl Open {
    fn flags(self) -> u32 {
        match self {
            Open::Read => 0x01,
            Open::Write => 0x02,
            Open::Make => 0x02 | 0x08,
        }
    }
}

/// One request. Names are as the server's shell would have them, relative ones from where it
/// begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    /// Opens a file; answered by a handle.
    Open(&'a [u8], Open, Stat),
    /// Closes a handle.
    Close(&'a [u8]),
    /// So many bytes at an offset; answered by at most as many.
    Read(&'a [u8], u64, u32),
    /// These bytes at an offset.
    Write(&'a [u8], u64, &'a [u8]),
    /// Attributes of a name, of the link where it is one.
    LStat(&'a [u8]),
    /// Attributes of what a name leads to.
    Stat(&'a [u8]),
    /// Attributes of an open file.
    FStat(&'a [u8]),
    /// Sets attributes of what a name leads to.
    SetStat(&'a [u8], Stat),
    /// Sets attributes of an open file.
    FSetStat(&'a [u8], Stat),
    /// Sets attributes of a name, of the link where it is one (`lsetstat@openssh.com`).
    LSetStat(&'a [u8], Stat),
    /// Opens a folder; answered by a handle.
    OpenFolder(&'a [u8]),
    /// The next names of an open folder.
    ReadFolder(&'a [u8]),
    /// Removes a file or link.
    Remove(&'a [u8]),
    /// Removes an empty folder.
    RemoveFolder(&'a [u8]),
    /// Makes a folder.
    MakeFolder(&'a [u8], Stat),
    /// The whole name of what a name leads to.
    RealPath(&'a [u8]),
    /// What a link says.
    ReadLink(&'a [u8]),
    /// Makes a link that says the first, under the second name.
    MakeLink(&'a [u8], &'a [u8]),
    /// Renames; what has the new name stays, and that is an error.
    Rename(&'a [u8], &'a [u8]),
    /// Renames over what has the new name (`posix-rename@openssh.com`).
    PosixRename(&'a [u8], &'a [u8]),
    /// Flushes an open file to its disk (`fsync@openssh.com`).
    FSync(&'a [u8]),
    /// How much may be asked at once (`limits@openssh.com`).
    Limits,
    /// The room of the file system that a name is on (`statvfs@openssh.com`).
    Space(&'a [u8]),
    /// SHA-256 of a whole file (`check-file-name`).
    CheckFile(&'a [u8]),
}

/// The first packet of a client.
pub fn hello() -> Vec<u8> {
    let mut packet = 5_u32.to_be_bytes().to_vec();
    packet.push(1);
    packet.extend(SFTP_VERSION.to_be_bytes());
    packet
}

impl Request<'_> {
    /// Appends the packet with this number.
    pub fn encode(&self, number: u32, into: &mut Vec<u8>) {
        let start = into.len();
        into.extend([0; 4]);
        into.push(self.code());
        into.extend(number.to_be_bytes());
        self.encode_fields(into);
        let length = u32::try_from(into.len() - start - 4).unwrap_or(u32::MAX);
        into[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn code(&self) -> u8 {
        match self {
            Request::Open(..) => 3,
            Request::Close(_) => 4,
            Request::Read(..) => 5,
            Request::Write(..) => 6,
            Request::LStat(_) => 7,
            Request::FStat(_) => 8,
            Request::SetStat(..) => 9,
            Request::FSetStat(..) => 10,
            Request::OpenFolder(_) => 11,
            Request::ReadFolder(_) => 12,
            Request::Remove(_) => 13,
            Request::MakeFolder(..) => 14,
            Request::RemoveFolder(_) => 15,
            Request::RealPath(_) => 16,
            Request::Stat(_) => 17,
            Request::Rename(..) => 18,
            Request::ReadLink(_) => 19,
            Request::MakeLink(..) => 20,
            Request::LSetStat(..)
            | Request::PosixRename(..)
            | Request::FSync(_)
            | Request::Limits
            | Request::Space(_)
            | Request::CheckFile(_) => 200,
        }
    }

    /// What an extended request begins with.
    fn extension(&self) -> Option<&'static [u8]> {
        Some(match self {
            Request::LSetStat(..) => b"lsetstat@openssh.com",
            Request::PosixRename(..) => b"posix-rename@openssh.com",
            Request::FSync(_) => b"fsync@openssh.com",
            Request::Limits => b"limits@openssh.com",
            Request::Space(_) => b"statvfs@openssh.com",
            Request::CheckFile(_) => b"check-file-name",
            _ => return None,
        })
    }

    fn encode_fields(&self, into: &mut Vec<u8>) {
        if let Some(name) = self.extension() {
            string(name, into);
        }
        match *self {
            Request::Open(path, open, stat) => {
                string(path, into);
                into.extend(open.flags().to_be_bytes());
                stat.encode(into);
            }
            Request::Read(handle, offset, length) => {
                string(handle, into);
                into.extend(offset.to_be_bytes());
                into.extend(length.to_be_bytes());
            }
            Request::Write(handle, offset, bytes) => {
                string(handle, into);
                into.extend(offset.to_be_bytes());
                string(bytes, into);
            }
            Request::Close(name)
            | Request::LStat(name)
            | Request::Stat(name)
            | Request::FStat(name)
            | Request::OpenFolder(name)
            | Request::ReadFolder(name)
            | Request::Remove(name)
            | Request::RemoveFolder(name)
            | Request::RealPath(name)
            | Request::ReadLink(name)
            | Request::FSync(name)
            | Request::Space(name) => string(name, into),
            Request::SetStat(name, stat)
            | Request::FSetStat(name, stat)
            | Request::LSetStat(name, stat)
            | Request::MakeFolder(name, stat) => {
                string(name, into);
                stat.encode(into);
            }
            Request::MakeLink(one, other)
            | Request::Rename(one, other)
            | Request::PosixRename(one, other) => {
                string(one, into);
                string(other, into);
            }
            Request::Limits => {}
            Request::CheckFile(name) => {
                string(name, into);
                string(b"sha256", into);
                // From the start to the end, as one block.
                into.extend([0; 8 + 8 + 4]);
            }
        }
    }
}

pub(super) fn string(bytes: &[u8], into: &mut Vec<u8>) {
    // Names and data are far shorter than 4 GiB: a longer one would not fit the packet either.
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    into.extend(length.to_be_bytes());
    into.extend_from_slice(bytes);
}
