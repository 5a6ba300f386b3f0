//! Contents at the far end, for a copy that compares them: read over the connection and hashed
//! here, since the server tells no digests.

use std::collections::BTreeSet;

use blake3::Hasher;
use copy_protocol::sftp::{FarKind, Open, Reply, Request, Stat};
use copy_protocol::{Entry, FileId, HASH_LENGTH, Kind};
use files::source::Source;

use super::talk::{Halt, Talk, open_max};

type Digest = [u8; HASH_LENGTH];

/// Files that are open together.
const TOGETHER: usize = 64;
/// Bytes that are asked for together.
const BYTES: usize = 16 << 20;
/// Bytes that are read here at once.
const BLOCK: u64 = 1 << 20;

/// A part of a far file.
struct Block {
    /// Which of the files.
    of: usize,
    offset: u64,
    length: usize,
}

/// The files here whose very content is at the far end.
///
/// * `looks`: what is there under the name of each.
pub(super) fn equal(
    talk: &mut Talk,
    source: &Source,
    entries: &[(FileId, Entry)],
    (looks, path): (&[Option<Stat>], &dyn Fn(&Entry) -> Vec<u8>),
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
        if digest.is_some() && digest == here(source, id, *size, is_stopped) {
            equal.insert(id);
        }
    }
    Ok(equal)
}

/// The digest of a file here; `None` where it cannot be read, which is told when it is sent.
fn here(source: &Source, id: FileId, size: u64, is_stopped: &dyn Fn() -> bool) -> Option<Digest> {
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; usize::try_from(BLOCK.min(size)).ok()?];
    let mut at = 0;
    while at < size {
        if is_stopped() {
            return None;
        }
        let length = usize::try_from(BLOCK.min(size - at)).ok()?;
        source.read(id, at, &mut buffer[..length]).ok()?;
        hasher.update(&buffer[..length]);
        at += length as u64;
    }
    source.finished(id).ok()?;
    Some(hasher.finalize().into())
}

/// Digests of far files of these lengths; `None` for one that cannot be read so far.
pub(super) fn digests(
    talk: &mut Talk,
    files: &[(Vec<u8>, u64)],
) -> Result<Vec<Option<Digest>>, Halt> {
    let mut all = Vec::with_capacity(files.len());
    for some in files.chunks(open_max(&talk.channel).min(TOGETHER)) {
        all.extend(digests_of_some(talk, some)?);
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
    let mut hashers: Vec<Option<Hasher>> = handles
        .iter()
        .map(|it| it.as_ref().map(|_| Hasher::new()))
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
                (Some(bytes), Some(hasher)) => drop(hasher.update(&bytes)),
                (_, hasher) => *hasher = None,
            }
        }
    }
    for handle in handles.iter().flatten() {
        talk.channel.send_unheard(&Request::Close(handle));
    }
    let digests = hashers
        .into_iter()
        .map(|it| it.map(|it| it.finalize().into()));
    Ok(digests.collect())
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
