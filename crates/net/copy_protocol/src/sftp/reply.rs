//! What a server answers.

use super::{Fields, HANDLE_MAX, SFTP_DATA_MAX, SFTP_DATA_MIN, SFTP_VERSION, SftpMistake, Stat};

/// Characters of a server's text that are kept.
const TEXT_MAX: usize = 200;
/// Open files and folders of a server that does not say how many it allows.
const HANDLES: u32 = 128;
/// More than that brings nothing.
const HANDLES_MOST: u32 = 1024;

/// A reply to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It was done, or not.
    Status(Status),
    /// A file or folder is open.
    Handle(Vec<u8>),
    /// Bytes of a file.
    Data(Vec<u8>),
    /// Names in a folder, or the one of a link or a path.
    Names(Vec<Listed>),
    /// Attributes.
    Stat(Stat),
    /// The reply of an extension.
    Extended(Vec<u8>),
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Its kind.
    pub code: StatusCode,
    /// In the server's words; may be empty, and may have any characters.
    pub text: String,
}

/// Kind of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusCode {
    /// It was done.
    Ok,
    /// The file or folder has ended.
    End,
    /// There is nothing of that name.
    Missing,
    /// It is not allowed.
    Denied,
    /// It could not be done; a full disk is told so, too.
    Failure,
    /// The server does not know the request.
    Unsupported,
    /// Any other.
    Other(u32),
}

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// One component, as far as the server is honest.
    pub name: Vec<u8>,
    /// What it is.
    pub stat: Stat,
}

/// What a server can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Server {
    /// It renames over what is there.
    pub posix_rename: bool,
    /// It flushes files.
    pub fsync: bool,
    /// It says how much may be asked at once.
    pub limits: bool,
    /// It sets times of links.
    pub lsetstat: bool,
    /// It says how much room there is.
    pub statvfs: bool,
    /// It tells digests of files.
    pub check_file: bool,
    /// Most bytes of one read.
    pub read_max: u32,
    /// Most bytes of one write.
    pub write_max: u32,
    /// Most files and folders that are open at once.
    pub handles_max: u32,
}

/// Room of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes that this user may still write.
    pub free: u64,
    /// Files that may still be made; `None` where the file system does not count them.
    pub files: Option<u64>,
    /// The number of the file system; `None` where it has none, as over NFS.
    pub filesystem: Option<u64>,
}

impl Server {
    /// One without extensions.
    pub const OLDEST: Server = Server {
        posix_rename: false,
        fsync: false,
        limits: false,
        lsetstat: false,
        statvfs: false,
        check_file: false,
        read_max: SFTP_DATA_MIN,
        write_max: SFTP_DATA_MIN,
        handles_max: HANDLES,
    };

    /// Reads the first packet of a server.
    ///
    /// # Errors
    /// When it is none, or of an older version.
    pub fn decode(packet: &[u8]) -> Result<Self, SftpMistake> {
        let mut fields = Fields(packet);
        match fields.byte()? {
            2 => {}
            other => return Err(SftpMistake::Type(other)),
        }
        let version = fields.word()?;
        if version < SFTP_VERSION {
            return Err(SftpMistake::Version(version));
        }
        let mut server = Server::OLDEST;
        while !fields.0.is_empty() {
            let (name, version) = (fields.string()?, fields.string()?);
            match (name, version) {
                (b"posix-rename@openssh.com", b"1") => server.posix_rename = true,
                (b"fsync@openssh.com", b"1") => server.fsync = true,
                (b"limits@openssh.com", b"1") => server.limits = true,
                (b"lsetstat@openssh.com", b"1") => server.lsetstat = true,
                (b"statvfs@openssh.com", b"2") => server.statvfs = true,
                (b"check-file" | b"check-file-name", _) => server.check_file = true,
                _ => {}
            }
        }
        Ok(server)
    }

    /// Takes the reply to [`super::Request::Limits`]; one that says nothing of use changes nothing.
    pub fn set_limits(&mut self, reply: &Reply) {
        let Reply::Extended(bytes) = reply else {
            return;
        };
        let mut fields = Fields(bytes);
        let mut next = || fields.long().ok().filter(|most| *most > 0);
        let (_packet, read, write, handles) = (next(), next(), next(), next());
        let within = |most: u64| {
            let most = u32::try_from(most).unwrap_or(u32::MAX);
            most.clamp(SFTP_DATA_MIN, SFTP_DATA_MAX)
        };
        self.read_max = read.map_or(self.read_max, within);
        self.write_max = write.map_or(self.write_max, within);
        self.handles_max = handles.map_or(self.handles_max, |most| {
            u32::try_from(most.min(HANDLES_MOST.into())).unwrap_or(HANDLES_MOST)
        });
    }
}

impl Space {
    /// Reads the reply to [`super::Request::Space`]; `None` where it is none.
    pub fn decode(reply: &Reply) -> Option<Self> {
        let Reply::Extended(bytes) = reply else {
            return None;
        };
        let mut fields = Fields(bytes);
        let numbers: Vec<u64> = std::iter::from_fn(|| fields.long().ok()).take(9).collect();
        // Block size, fragment size, blocks, free, available; files, free, available; number.
        let [
            _,
            fragment,
            _,
            _,
            available,
            files,
            _,
            files_available,
            number,
        ] = numbers[..]
        else {
            return None;
        };
        Some(Space {
            free: fragment.saturating_mul(available),
            files: (files > 0).then_some(files_available),
            filesystem: (number > 0).then_some(number),
        })
    }
}

/// The digest in the reply to [`super::Request::CheckFile`]; `None` where there is none. The draft
/// has the name of the extension before it, and ProFTPD does not.
pub fn checked_sha256(reply: &Reply) -> Option<[u8; 32]> {
    let Reply::Extended(bytes) = reply else {
        return None;
    };
    let mut fields = Fields(bytes);
    let mut algorithm = fields.string().ok()?;
    if algorithm == b"check-file" {
        algorithm = fields.string().ok()?;
    }
    let digest = fields.0.try_into().ok()?;
    (algorithm == b"sha256").then_some(digest)
}

impl StatusCode {
    fn of(code: u32) -> Self {
        match code {
            0 => StatusCode::Ok,
            1 => StatusCode::End,
            2 => StatusCode::Missing,
            3 => StatusCode::Denied,
            4 => StatusCode::Failure,
            8 => StatusCode::Unsupported,
            other => StatusCode::Other(other),
        }
    }
}

impl Reply {
    /// Reads a packet: the number of the request, and the reply.
    ///
    /// # Errors
    /// When it is no reply.
    pub fn decode(packet: &[u8]) -> Result<(u32, Self), SftpMistake> {
        let mut fields = Fields(packet);
        let code = fields.byte()?;
        let number = fields.word()?;
        let reply = match code {
            101 => Reply::Status(status(&mut fields)?),
            102 => Reply::Handle(match fields.string()? {
                handle if handle.len() > HANDLE_MAX => {
                    return Err(SftpMistake::Handle(handle.len()));
                }
                handle => handle.to_vec(),
            }),
            103 => Reply::Data(fields.string()?.to_vec()),
            104 => Reply::Names(names(&mut fields)?),
            105 => Reply::Stat(Stat::decode(&mut fields)?),
            201 => Reply::Extended(fields.0.to_vec()),
            other => return Err(SftpMistake::Type(other)),
        };
        Ok((number, reply))
    }
}

/// Old servers leave out the text.
fn status(fields: &mut Fields<'_>) -> Result<Status, SftpMistake> {
    let code = StatusCode::of(fields.word()?);
    let text = fields.string().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    Ok(Status {
        code,
        text: text.chars().take(TEXT_MAX).collect(),
    })
}

fn names(fields: &mut Fields<'_>) -> Result<Vec<Listed>, SftpMistake> {
    let count = fields.word()?;
    let mut names = Vec::new();
    // Each takes some bytes, so the packet ends before a count that is made up does.
    for _ in 0..count {
        let name = fields.string()?.to_vec();
        let _shown = fields.string()?;
        let stat = Stat::decode(fields)?;
        names.push(Listed { name, stat });
    }
    Ok(names)
}
