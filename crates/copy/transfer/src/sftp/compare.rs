//! Contents at the far end, for a copy that compares them: by the digests that the server tells
//! (`check-file-name`), or read over the connection and hashed here.

use std::collections::BTreeSet;

use copy_protocol::sftp::{FarKind, Open, Reply, Request, Stat, checked_sha256};
use copy_protocol::{Entry, FileId, Kind};
use files::checksums::{Algorithm, Checksum};
use files::source::Source;

use super::talk::{Halt, Talk, open_max};

/// Longest file whose digest a server is asked for: ProFTPD cuts longer ones off at 32 bits.
pub(super) const CHECKED_MAX: u64 = u32::MAX as u64;

/// Files that are open together.
const TOGETHER: usize = 64;
/// Bytes that are asked for together.
const BYTES: usize = 16 << 20;
/// Bytes that are read here at once.
const BLOCK: u64 = 1 << 20;

/// The digest of a far file.
#[derive(Debug)]
pub(super) struct Digest {
    algorithm: Algorithm,
    bytes: Vec<u8>,
}

impl Digest {
    /// What the server tells; `None` where it tells none.
    pub fn told(reply: &Reply) -> Option<Self> {
        checked_sha256(reply).map(|bytes| Digest {
            algorithm: Algorithm::Sha256,
            bytes: bytes.to_vec(),
        })
    }

    /// Whether a file here has it.
    ///
    /// * `read`: fills the buffer from this offset on, or cannot.
    pub fn is_of(
        &self,
        size: u64,
        read: &dyn Fn(u64, &mut [u8]) -> bool,
        is_stopped: &dyn Fn() -> bool,
    ) -> bool {
        let mut sum = Checksum::new(self.algorithm);
        let mut buffer = vec![0; BLOCK.min(size) as usize];
        let mut at = 0;
        while at < size {
            let length = BLOCK.min(size - at) as usize;
            if is_stopped() || !read(at, &mut buffer[..length]) {
                return false;
            }
            sum.update(&buffer[..length]);
            at += length as u64;
        }
        sum.finish() == self.bytes
    }
}

/// A part of a far file.
struct Block {
    /// Which of the files.
    of: usize,
    offset: u64,
    length: usize,
}

/// The path of a file at the far end.
pub(super) type PathOf<'a> = &'a dyn Fn(&Entry) -> Vec<u8>;

/// The files here whose very content is at the far end.
///
/// * `looks`: what is there under the name of each.
pub(super) fn equal(
    talk: &mut Talk,
    source: &Source,
    entries: &[(FileId, Entry)],
    (looks, path): (&[Option<Stat>], PathOf<'_>),
    is_stopped: &dyn Fn() -> bool,
) -> Result<BTreeSet<FileId>, Halt> {
    let mut ids = Vec::new();
    let mut files = Vec::new();
    for ((id, entry), look) in entries.iter().zip(looks) {
        if let (Kind::File(size), Some(stat)) = (&entry.kind, look)
            && stat.kind().unwrap_or(FarKind::File) == FarKind::File
            && stat.size == Some(*size)
        {
            ids.push(*id);
            files.push((path(entry), *size));
        }
    }
    let theirs = digests(talk, &files)?;
    let mut equal = BTreeSet::new();
    for ((id, (_, size)), digest) in ids.into_iter().zip(&files).zip(theirs) {
        let read = |at, into: &mut [u8]| source.read(id, at, into).is_ok();
        // One that changes meanwhile is told when it is sent.
        let is_equal = digest.is_some_and(|digest| digest.is_of(*size, &read, is_stopped));
        if is_equal && source.finished(id).is_ok() {
            equal.insert(id);
        }
    }
    Ok(equal)
}

/// Digests of far files of these lengths; `None` for one that cannot be read so far.
pub(super) fn digests(
    talk: &mut Talk,
    files: &[(Vec<u8>, u64)],
) -> Result<Vec<Option<Digest>>, Halt> {
    let mut all = told(talk, files)?;
    let is_left = |at: &usize| all[*at].is_none();
    let left: Vec<usize> = (0..files.len()).filter(is_left).collect();
    for some in left.chunks(open_max(&talk.channel).min(TOGETHER)) {
        let asked: Vec<_> = some.iter().map(|at| files[*at].clone()).collect();
        for (at, digest) in some.iter().zip(digests_of_some(talk, &asked)?) {
            all[*at] = digest;
        }
    }
    Ok(all)
}

/// Those that the server tells.
fn told(talk: &mut Talk, files: &[(Vec<u8>, u64)]) -> Result<Vec<Option<Digest>>, Halt> {
    let mut all: Vec<Option<Digest>> = files.iter().map(|_| None).collect();
    if !talk.channel.server().check_file {
        return Ok(all);
    }
    let may_ask = |at: &usize| (1..=CHECKED_MAX).contains(&files[*at].1);
    let asked: Vec<usize> = (0..files.len()).filter(may_ask).collect();
    let requests: Vec<_> = asked
        .iter()
        .map(|at| Request::CheckFile(&files[*at].0))
        .collect();
    for (at, reply) in asked.iter().zip(talk.ask_all(&requests)?) {
        all[*at] = Digest::told(&reply);
    }
    Ok(all)
}

fn digests_of_some(talk: &mut Talk, files: &[(Vec<u8>, u64)]) -> Result<Vec<Option<Digest>>, Halt> {
    let opens = files
        .iter()
        .map(|(path, _)| Request::Open(path, Open::Read, Stat::default()));
    let opened = talk.ask_all(&opens.collect::<Vec<_>>())?;
    let handles: Vec<Option<Vec<u8>>> = opened
        .into_iter()
        .map(|reply| match reply {
            Reply::Handle(handle) => Some(handle),
            _ => None,
        })
        .collect();
    let mut hashers: Vec<Option<Checksum>> = handles
        .iter()
        .map(|it| it.as_ref().map(|_| Checksum::new(Algorithm::Blake3)))
        .collect();
    let most = talk.channel.server().read_max.max(1);
    let mut blocks = files.iter().enumerate().flat_map(|(of, (_, size))| {
        let offsets = (0..*size).step_by(most as usize);
        offsets.map(move |offset| {
            let length = u64::from(most).min(*size - offset) as usize;
            Block { of, offset, length }
        })
    });
    let together = (BYTES / most as usize).max(1);
    loop {
        let some: Vec<Block> = blocks.by_ref().take(together).collect();
        if some.is_empty() {
            break;
        }
        let some: Vec<Block> = some
            .into_iter()
            .filter(|block| hashers[block.of].is_some())
            .collect();
        for (block, bytes) in some.iter().zip(read(talk, &handles, &some)?) {
            match (bytes, &mut hashers[block.of]) {
                (Some(bytes), Some(hasher)) => hasher.update(&bytes),
                (_, hasher) => *hasher = None,
            }
        }
    }
    for handle in handles.iter().flatten() {
        talk.channel.send_unheard(&Request::Close(handle));
    }
    let digest = |sum: Checksum| Digest {
        algorithm: Algorithm::Blake3,
        bytes: sum.finish(),
    };
    Ok(hashers.into_iter().map(|sum| sum.map(digest)).collect())
}

/// The bytes of these blocks, however short the answers are; `None` where one cannot be read.
fn read(
    talk: &mut Talk,
    handles: &[Option<Vec<u8>>],
    blocks: &[Block],
) -> Result<Vec<Option<Vec<u8>>>, Halt> {
    let mut got: Vec<Option<Vec<u8>>> = blocks.iter().map(|_| Some(Vec::new())).collect();
    loop {
        let mut open = Vec::new();
        let mut requests = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            let Some(handle) = &handles[block.of] else {
                got[at] = None;
                continue;
            };
            let have = got[at].as_ref().map_or(block.length, Vec::len);
            if have < block.length {
                let left = block.length - have;
                open.push((at, left));
                requests.push(Request::Read(
                    handle,
                    block.offset + have as u64,
                    left as u32,
                ));
            }
        }
        if open.is_empty() {
            return Ok(got);
        }
        for ((at, left), reply) in open.into_iter().zip(talk.ask_all(&requests)?) {
            match (reply, &mut got[at]) {
                (Reply::Data(bytes), Some(have)) if (1..=left).contains(&bytes.len()) => {
                    have.extend(bytes);
                }
                (_, have) => *have = None,
            }
        }
    }
}
