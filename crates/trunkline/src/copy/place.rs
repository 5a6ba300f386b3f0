//! Names of files here and elsewhere, as scp's users write them.
//!
//! `HOST:PATH` is elsewhere when no `/` stands before the colon, so `./a:b` is a file here. Names
//! are bytes: only those of another host have to be UTF-8 as far as the host's name goes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use units::{Address, AddressError, Bytes, PORT_DEFAULT};

/// Where files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On this host.
    Here(PathBuf),
    /// On a host that ssh reaches, below the user's home unless absolute.
    Ssh {
        /// `[user@]host`, without brackets.
        destination: String,
        /// The name there.
        path: Vec<u8>,
    },
    /// Below the root of a standing server.
    Server {
        /// Where it listens.
        address: Address,
        /// The name there, without the first `/`.
        path: Vec<u8>,
    },
}

/// A request that names no copy, with the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceError {
    /// What is wrong.
    pub what: String,
    /// The next step.
    pub hint: String,
}

pub(super) fn wrong<T>(what: impl Into<String>, hint: impl Into<String>) -> Result<T, PlaceError> {
    Err(PlaceError {
        what: what.into(),
        hint: hint.into(),
    })
}

impl From<AddressError> for PlaceError {
    fn from(error: AddressError) -> Self {
        PlaceError {
            what: error.to_string(),
            hint: "write a server's place like trunkline://dtn.example.org:5201/store/run7"
                .to_owned(),
        }
    }
}

impl Place {
    /// Reads one place.
    ///
    /// ```
    /// use trunkline::copy::Place;
    /// let (destination, path) = ("ana@dtn".to_owned(), b"/store".to_vec());
    /// let place = Place::parse("ana@dtn:/store".as_ref());
    /// assert_eq!(place, Ok(Place::Ssh { destination, path }));
    /// assert_eq!(Place::parse("./a:b".as_ref()), Ok(Place::Here("./a:b".into())));
    /// ```
    ///
    /// # Errors
    /// When it names nothing.
    pub fn parse(text: &OsStr) -> Result<Self, PlaceError> {
        let bytes = text.as_bytes();
        if bytes.is_empty() {
            return wrong("a place is empty", "write `.` for the current folder");
        }
        if let Some(rest) = bytes.strip_prefix(b"trunkline://") {
            return server(rest);
        }
        if let Some(scheme) = scheme(bytes) {
            return wrong(
                format!("`{scheme}://` is not a way to reach a host"),
                "write HOST:PATH for a host that ssh reaches, or trunkline://HOST/PATH for one that runs `trunkline serve`",
            );
        }
        match colon(bytes) {
            Some(at) => over_ssh(&bytes[..at], &bytes[at + 1..]),
            None => Ok(Place::Here(PathBuf::from(text))),
        }
    }

    pub(super) fn here(&self) -> Option<PathBuf> {
        match self {
            Place::Here(path) => Some(path.clone()),
            _ => None,
        }
    }

    pub(super) fn is_here(&self) -> bool {
        matches!(self, Place::Here(_))
    }

    /// Whether both are on one host, reached the same way.
    pub(super) fn is_beside(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::Ssh { destination, .. }, Place::Ssh { destination: b, .. }) => destination == b,
            (Place::Server { address, .. }, Place::Server { address: b, .. }) => address == b,
            _ => false,
        }
    }

    /// The name on the other host.
    pub fn path(&self) -> Vec<u8> {
        match self {
            Place::Here(path) => path.as_os_str().as_bytes().to_vec(),
            Place::Ssh { path, .. } | Place::Server { path, .. } => path.clone(),
        }
    }
}

/// `rsync` of `rsync://host/module`.
fn scheme(bytes: &[u8]) -> Option<String> {
    let end = bytes.windows(3).position(|three| three == b"://")?;
    let name = std::str::from_utf8(&bytes[..end]).ok()?;
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_name.then(|| name.to_owned())
}

/// Where the colon behind a host's name is; those within brackets are of its address.
fn colon(bytes: &[u8]) -> Option<usize> {
    let mut within = false;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'/' => return None,
            b'[' => within = true,
            b']' => within = false,
            b':' if !within => return (at > 0).then_some(at),
            _ => {}
        }
    }
    None
}

fn over_ssh(host: &[u8], path: &[u8]) -> Result<Place, PlaceError> {
    let shown = String::from_utf8_lossy(host).into_owned();
    let destination: String = shown.chars().filter(|c| !['[', ']'].contains(c)).collect();
    let name = destination
        .rsplit_once('@')
        .map_or(&*destination, |(_, name)| name);
    // ssh would take such a word for an option, and options of ssh run programs.
    if name.is_empty() || destination.starts_with('-') || name.starts_with('-') {
        return wrong(
            format!("`{shown}` names no host"),
            "write it like user@dtn.example.org:/store; a file here with a colon in its name is \
             written ./a:b",
        );
    }
    Ok(Place::Ssh {
        destination,
        path: below_home(path)?,
    })
}

/// The far end begins in the user's home, as a login does.
fn below_home(path: &[u8]) -> Result<Vec<u8>, PlaceError> {
    match path {
        b"" | b"~" | b"~/" => Ok(b".".to_vec()),
        _ => match (path.strip_prefix(b"~/"), path.first()) {
            (Some(rest), _) => Ok(rest.to_vec()),
            (None, Some(b'~')) => wrong(
                format!(
                    "`{}` is another user's home, which only a shell would find",
                    String::from_utf8_lossy(path)
                ),
                "write the whole path; a file whose name begins with ~ is written ./~name",
            ),
            _ => Ok(path.to_vec()),
        },
    }
}

fn server(rest: &[u8]) -> Result<Place, PlaceError> {
    let end = rest
        .iter()
        .position(|byte| *byte == b'/')
        .unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let host = String::from_utf8_lossy(host);
    if let Some((user, _)) = host.split_once('@') {
        return wrong(
            format!("a server knows no user `{user}`"),
            "who may copy is in the token: leave out everything up to `@`, and give `--token-file`",
        );
    }
    if let Some(host) = host.strip_suffix(':') {
        let path = String::from_utf8_lossy(path);
        return wrong(
            format!("`{host}:` has a colon and no port behind it"),
            format!("write it without the last colon: trunkline://{host}{path}"),
        );
    }
    let path = decoded(path.strip_prefix(b"/").unwrap_or(path))?;
    let is_long = path.len() > copy_protocol::PATH_MAX;
    match is_long {
        true => wrong(
            format!(
                "a name of {} is longer than {}",
                Bytes::new(path.len() as u64),
                Bytes::new(copy_protocol::PATH_MAX as u64)
            ),
            "no file can have that name",
        ),
        false => Ok(Place::Server {
            address: Address::parse_with(&host, PORT_DEFAULT)?,
            path,
        }),
    }
}

/// `%20` is a space (RFC 3986, section 2.1). Nothing else is special: `?` and `#` are parts of
/// names here.
fn decoded(path: &[u8]) -> Result<Vec<u8>, PlaceError> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = behind
            .get(..2)
            .and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match byte {
            Some(byte) if byte != 0 => bytes.push(byte),
            _ => {
                return wrong(
                    format!(
                        "`{}` has a % that two hexadecimal digits do not follow",
                        String::from_utf8_lossy(path)
                    ),
                    "write %25 for a percent sign",
                );
            }
        }
        rest = &behind[2..];
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
