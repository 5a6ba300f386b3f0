//! Bytes that an older version of a file has at another place.
//!
//! Both ends cut at places that the content decides (FastCDC), so that what was inserted or removed
//! moves the cuts behind it along. The end with the older version tells its chunks. The other one
//! cuts its newer version around a piece, looks its chunks up, and makes a *recipe*: runs of the
//! older version, and the bytes between. What is put together counts only once its hash is that of
//! the piece, so nothing here has to be right for a copy to be right.
//!
//! A recipe, numbers with their most significant byte first:
//!
//! | bytes | what |
//! |---|---|
//! | 0..2 | number of runs |
//! | 8 and 4 each | its place in the older version, all ones where its bytes follow; its length |
//! | then | those bytes, one behind the other |
//!
//! Source: Xia et al., "FastCDC: a fast and efficient content-defined chunking approach for data
//! deduplication", USENIX ATC 2016; the gear table and masks are those of the crate `fastcdc`,
//! version 2020 of the algorithm, and so part of the copy protocol.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;

use copy_protocol::{CHUNK_HASH_LENGTH, Chunk, FileId};
use fastcdc::v2020::{FastCDC, Normalization};

/// Mean length of chunks; longer older versions have longer ones, so that lists stay short.
const MEAN_MIN: u32 = 16 << 10;
const MEAN_MAX: u32 = 256 << 10;
/// Most chunks of mean length in an older version.
const CHUNKS: u64 = 1 << 18;
/// Chunks of all files together that are kept to be looked up.
const KNOWN_MAX: usize = 1 << 19;
/// Bytes that are read and cut at a time: a message of a few hundred chunks.
const READ: usize = 4 << 20;
/// A chunk in a list, encoded.
const LISTED: u64 = 3 + CHUNK_HASH_LENGTH as u64;
/// Most runs of a recipe, and the bytes of each.
const RUNS_MAX: usize = 1024;
const RUN_LENGTH: usize = 12;
/// In the place of a place: the bytes follow.
const FOLLOWS: u64 = u64::MAX;

/// Where both ends cut, for an older version of some length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cuts {
    mean: u32,
}

/// A piece in terms of an older version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// As it goes over the stream.
    pub wire: Vec<u8>,
    /// Bytes of the piece that are in it.
    pub sent: u64,
}

impl Cuts {
    /// For an older version of so many bytes; `None` where its list would be too long.
    pub fn of(older: u64) -> Option<Self> {
        let mut mean = MEAN_MIN;
        while mean <= MEAN_MAX && u64::from(mean) * CHUNKS < older {
            mean *= 2;
        }
        (mean <= MEAN_MAX).then_some(Cuts { mean })
    }

    /// About how many bytes the list of such an older version has.
    pub fn list_length(self, older: u64) -> u64 {
        older / u64::from(self.mean) * LISTED
    }

    fn longest(self) -> u32 {
        4 * self.mean
    }

    /// What has to be known of a file of `size` bytes to cut it where `piece` is. It begins eight
    /// chunks before: after a few cuts it no longer matters where the first one was.
    pub fn around(self, piece: Range<u64>, size: u64) -> Range<u64> {
        let start = piece.start.saturating_sub(8 * u64::from(self.mean));
        let end = piece.end.saturating_add(self.longest().into());
        start..end.min(size)
    }

    /// Where chunks of these bytes end, as far as what is behind them does not matter.
    ///
    /// * `is_end`: nothing is behind them.
    fn ends(self, bytes: &[u8], is_end: bool) -> Vec<usize> {
        // Without normalisation a cut depends on nothing but the last bytes, unless it is too near
        // to the one before: two ends that began at different places soon cut at the same ones.
        let level = Normalization::Level0;
        let (least, most) = (self.mean / 4, self.longest());
        let cutter = FastCDC::with_level(bytes, least, self.mean, most, level);
        let mut ends = Vec::new();
        let mut at = 0;
        while at < bytes.len() && (is_end || bytes.len() - at >= most as usize) {
            at = cutter.cut(at, bytes.len() - at).1;
            ends.push(at);
        }
        ends
    }

    /// How a piece can be put together; `None` where that would not save half of it.
    ///
    /// * `bytes`: what is [around](Cuts::around) it.
    /// * `piece`: its place in these.
    /// * `is_end`: the file ends with them.
    /// * `place`: where the older version has a chunk.
    pub fn recipe(
        self,
        bytes: &[u8],
        piece: Range<usize>,
        is_end: bool,
        place: impl Fn(&Chunk) -> Option<u64>,
    ) -> Option<Recipe> {
        let mut runs: Vec<Run> = Vec::new();
        let mut start = 0_usize;
        // What is behind the last cut cannot be looked up.
        for end in self.ends(bytes, is_end).into_iter().chain([bytes.len()]) {
            let within = start.max(piece.start)..end.min(piece.end);
            if !within.is_empty() {
                let found = place(&chunk(bytes.get(start..end)?));
                let skipped = (within.start - start) as u64;
                let place = found.and_then(|found| found.checked_add(skipped));
                append(&mut runs, place, within);
            }
            start = end;
        }
        let recipe = encode(&runs, bytes)?;
        (recipe.wire.len() <= piece.len() / 2).then_some(recipe)
    }
}

/// Bytes of a piece, by their place in what is around it.
struct Run {
    /// Where the older version has them.
    place: Option<u64>,
    bytes: Range<usize>,
}

/// Neighbours become one.
fn append(runs: &mut Vec<Run>, place: Option<u64>, bytes: Range<usize>) {
    if let Some(last) = runs.last_mut() {
        let length = last.bytes.len() as u64;
        if last.place.and_then(|last| last.checked_add(length)) == place
            && last.place.is_some() == place.is_some()
        {
            last.bytes.end = bytes.end;
            return;
        }
    }
    runs.push(Run { place, bytes });
}

fn encode(runs: &[Run], bytes: &[u8]) -> Option<Recipe> {
    let count = u16::try_from(runs.len()).ok()?;
    if runs.len() > RUNS_MAX {
        return None;
    }
    let mut wire = count.to_be_bytes().to_vec();
    for run in runs {
        wire.extend(run.place.unwrap_or(FOLLOWS).to_be_bytes());
        wire.extend(u32::try_from(run.bytes.len()).ok()?.to_be_bytes());
    }
    let mut sent = 0;
    for run in runs.iter().filter(|run| run.place.is_none()) {
        wire.extend_from_slice(bytes.get(run.bytes.clone())?);
        sent += run.bytes.len() as u64;
    }
    Some(Recipe { wire, sent })
}

/// The `length` bytes of a piece, and how many of them were in its recipe. `None` where it is no
/// recipe of so many bytes, or the older version has not what it says.
///
/// * `read`: reads from a place of the older version; whether that succeeded.
pub fn assemble(
    wire: &[u8],
    length: u32,
    mut read: impl FnMut(u64, &mut [u8]) -> bool,
) -> Option<(Vec<u8>, u64)> {
    let (count, rest) = wire.split_first_chunk::<2>()?;
    let count = usize::from(u16::from_be_bytes(*count));
    let (runs, mut follows) = rest.split_at_checked(count * RUN_LENGTH)?;
    let runs = runs.chunks_exact(RUN_LENGTH).map(decode_run);
    let runs = runs.collect::<Option<Vec<(u64, u32)>>>()?;
    let sum = |all: u64, (_, length): &(u64, u32)| all + u64::from(*length);
    let all = runs.iter().fold(0, sum);
    let sent = runs.iter().filter(|(place, _)| *place == FOLLOWS);
    let sent = sent.fold(0, sum);
    let is_empty = |(_, length): &(u64, u32)| *length == 0;
    let fits = all == u64::from(length) && sent == follows.len() as u64;
    if count > RUNS_MAX || !fits || runs.iter().any(is_empty) {
        return None;
    }
    let mut bytes = vec![0; length as usize];
    let mut room = bytes.as_mut_slice();
    for (place, length) in runs {
        let (now, later) = mem::take(&mut room).split_at_mut_checked(length as usize)?;
        room = later;
        if place == FOLLOWS {
            let (these, others) = follows.split_at_checked(now.len())?;
            now.copy_from_slice(these);
            follows = others;
        } else if !read(place, now) {
            return None;
        }
    }
    Some((bytes, sent))
}

fn decode_run(run: &[u8]) -> Option<(u64, u32)> {
    let place = u64::from_be_bytes(*run.first_chunk::<8>()?);
    let length = u32::from_be_bytes(*run.last_chunk::<4>()?);
    Some((place, length))
}

fn chunk(bytes: &[u8]) -> Chunk {
    let mut hash = [0; CHUNK_HASH_LENGTH];
    let digest = blake3::hash(bytes);
    hash.copy_from_slice(&digest.as_bytes()[..CHUNK_HASH_LENGTH]);
    Chunk {
        length: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        hash,
    }
}

/// Cuts an older version from its beginning to its end.
#[derive(Debug)]
pub struct Cutter {
    cuts: Cuts,
    size: u64,
    /// What was read and not cut, and where it begins.
    rest: Vec<u8>,
    at: u64,
}

impl Cutter {
    /// For an older version of `size` bytes; `None` where its list would be too long.
    pub fn new(size: u64) -> Option<Self> {
        Some(Cutter {
            cuts: Cuts::of(size)?,
            size,
            rest: Vec::new(),
            at: 0,
        })
    }

    /// Where the next chunks begin, and these. `None` at the end, and where it cannot be read.
    ///
    /// * `read`: reads from a place of the older version; whether that succeeded.
    pub fn advance(
        &mut self,
        read: impl FnOnce(u64, &mut [u8]) -> bool,
    ) -> Option<(u64, Vec<Chunk>)> {
        let kept = self.rest.len();
        let from = self.at + kept as u64;
        let left = self.size.saturating_sub(from).min(READ as u64);
        self.rest.resize(kept + usize::try_from(left).ok()?, 0);
        if self.rest.is_empty() || !read(from, &mut self.rest[kept..]) {
            return None;
        }
        let is_end = from + left == self.size;
        let (start, mut last) = (self.at, 0);
        let mut chunks = Vec::new();
        for end in self.cuts.ends(&self.rest, is_end) {
            chunks.push(chunk(self.rest.get(last..end)?));
            last = end;
        }
        self.rest.drain(..last);
        // It may take long until it goes on.
        self.rest.shrink_to_fit();
        self.at += last as u64;
        Some((start, chunks))
    }

    /// Where the chunks end that it gave.
    pub fn end(&self) -> u64 {
        self.at
    }
}

/// Where chunks of older versions are, of the files of a copy.
#[derive(Debug, Default)]
pub struct KnownChunks {
    files: BTreeMap<FileId, Places>,
    count: usize,
}

#[derive(Debug)]
struct Places {
    cuts: Cuts,
    places: BTreeMap<[u8; CHUNK_HASH_LENGTH], (u64, u32)>,
}

impl KnownChunks {
    /// The older version of a file, which has `older` bytes, has these chunks from `start` on. More
    /// than can be kept are left out.
    pub fn insert(&mut self, file: FileId, older: u64, start: u64, chunks: &[Chunk]) {
        let Some(cuts) = Cuts::of(older) else {
            return;
        };
        let known = self.files.entry(file).or_insert_with(|| Places {
            cuts,
            places: BTreeMap::new(),
        });
        let before = known.places.len();
        let mut at = start;
        for chunk in chunks {
            if self.count + known.places.len() - before >= KNOWN_MAX {
                break;
            }
            known.places.entry(chunk.hash).or_insert((at, chunk.length));
            at = at.saturating_add(chunk.length.into());
        }
        self.count += known.places.len() - before;
    }

    /// Where the file is to be cut; `None` where nothing of an older version is known.
    pub fn cuts(&self, file: FileId) -> Option<Cuts> {
        self.files.get(&file).map(|known| known.cuts)
    }

    /// Where the older version of a file has a chunk.
    pub fn place(&self, file: FileId, chunk: &Chunk) -> Option<u64> {
        let (place, length) = self.files.get(&file)?.places.get(&chunk.hash)?;
        (*length == chunk.length).then_some(*place)
    }

    /// The file is done with.
    pub fn forget(&mut self, file: FileId) {
        let known = self.files.remove(&file);
        self.count -= known.map_or(0, |known| known.places.len());
    }
}

#[cfg(test)]
mod tests;
