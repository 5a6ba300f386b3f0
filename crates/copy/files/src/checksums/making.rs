//! Making lists: the checksums of a file, read once, and its line.

use std::fs::File;
use std::io::{self, Read, Write};

use nix::fcntl::OFlag;
use nix::sys::stat::{SFlag, fstat};

use super::Algorithm;
use super::hasher::Hasher;
use crate::root::{Root, open_to_read};

/// What is read at once; a stop is noticed after it.
const BUFFER: usize = 256 << 10;

/// What one reading of a file showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDigests {
    /// Its bytes.
    pub bytes: u64,
    /// Its BLAKE3.
    pub blake3: [u8; 32],
    /// The checksums that were asked for, in that order.
    pub asked: Vec<Vec<u8>>,
}

/// Reads a file of this host to its end; `None` when it was stopped. Its time of access stays as it
/// was where the system allows that.
///
/// # Errors
/// When it cannot be read, or is no regular file.
pub fn digests(
    path: &[u8],
    asked: &[Algorithm],
    is_stopped: &dyn Fn() -> bool,
) -> io::Result<Option<FileDigests>> {
    let root = Root::own();
    // A pipe in its place must not keep us waiting for its other end.
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let fd = open_to_read(true, flags, |flags| root.open(path, flags))?;
    let kind = SFlag::from_bits_truncate(fstat(&fd)?.st_mode) & SFlag::S_IFMT;
    if kind != SFlag::S_IFREG {
        return Err(io::Error::other("it is no file any more"));
    }
    let mut file = File::from(fd);
    let mut blake3 = blake3::Hasher::new();
    // The BLAKE3 is computed in any case.
    let own = |one: &Algorithm| (*one != Algorithm::Blake3).then(|| Hasher::new(*one));
    let mut hashers: Vec<Option<Hasher>> = asked.iter().map(own).collect();
    let (mut buffer, mut bytes) = (vec![0; BUFFER], 0);
    loop {
        if is_stopped() {
            return Ok(None);
        }
        let length = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let block = &buffer[..length];
        blake3.update(block);
        for hasher in hashers.iter_mut().flatten() {
            hasher.update(block);
        }
        bytes += length as u64;
    }
    let blake3: [u8; 32] = blake3.finalize().into();
    let finish = |one: Option<Hasher>| one.map_or_else(|| blake3.to_vec(), Hasher::finish);
    Ok(Some(FileDigests {
        bytes,
        blake3,
        asked: hashers.into_iter().map(finish).collect(),
    }))
}

/// A line as `sha256sum` and `b3sum` write it, with its end: names with a backslash or a line break
/// are escaped, behind a backslash at the beginning of the line.
///
/// ```
/// use files::checksums::line;
/// assert_eq!(line(&[9, 0x1e, 1, 0xde], b"run7/a b"), b"091e01de  run7/a b\n");
/// assert_eq!(line(&[255], b"a\nb\\"), b"\\ff  a\\nb\\\\\n");
/// ```
pub fn line(digest: &[u8], name: &[u8]) -> Vec<u8> {
    let is_escaped = |byte: &u8| matches!(byte, b'\\' | b'\n' | b'\r');
    let mut line = Vec::with_capacity(digest.len() * 2 + name.len() + 4);
    if name.iter().any(is_escaped) {
        line.push(b'\\');
    }
    for byte in digest {
        // A vector takes all.
        let _ = write!(line, "{byte:02x}");
    }
    line.extend_from_slice(b"  ");
    for byte in name {
        match byte {
            b'\\' => line.extend_from_slice(b"\\\\"),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            byte => line.push(*byte),
        }
    }
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::super::list;
    use super::*;

    #[test]
    fn a_line_is_read_back_whatever_the_name() {
        for name in [&b"a"[..], b" a  b", b"a\\n\nb\r", b"\xff\xfe", b"*a"] {
            let written = line(&[1, 2, 3, 4], name);
            let written = written.strip_suffix(b"\n").unwrap();
            let read = list::read(written).unwrap().unwrap();
            assert_eq!((&*read.name, &*read.digest), (name, &[1, 2, 3, 4][..]));
        }
    }

    #[test]
    fn one_reading_gives_all_checksums() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let bytes = b"123456789".repeat(100_000);
        std::fs::write(&file, &bytes).unwrap();
        let path = file.as_os_str().as_encoded_bytes();
        let asked = [Algorithm::Crc32c, Algorithm::Blake3];
        let found = digests(path, &asked, &|| false).unwrap().unwrap();
        assert_eq!(found.bytes, bytes.len() as u64);
        assert_eq!(found.blake3, *blake3::hash(&bytes).as_bytes());
        let crc = crc32c::crc32c(&bytes).to_be_bytes().to_vec();
        assert_eq!(found.asked, [crc, found.blake3.to_vec()]);
        assert_eq!(digests(path, &asked, &|| true).unwrap(), None);
        assert!(
            digests(
                folder.path().as_os_str().as_encoded_bytes(),
                &asked,
                &|| false
            )
            .is_err()
        );
    }
}
