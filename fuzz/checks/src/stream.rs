//! Any pieces on two streams, one after the other, some of them packed, cut or with another seal:
//! what gets its final name has the digest that is told for it, and only bytes that a sealed piece
//! brought.

use std::fs;
use std::path::Path;

use copy_protocol::{Coding, DataMap, NO_HASH, PieceHeader};
use files::{PieceHasher, legal_piece};
use tempfile::TempDir;
use transfer::fuzzing::Arrivals;

use crate::words::Words;

/// Bytes of both files; no larger than what a socket takes without anybody who reads.
const SIZES: [u64; 2] = [3 * (64 << 10) + 5, 40];
/// Bytes of one stream, likewise.
const STREAM_MAX: usize = 160 << 10;

/// The check of this target.
pub fn check(bytes: &[u8]) {
    let Ok(folder) = folder() else {
        return;
    };
    let mut words = Words::new(bytes);
    let choice = words.byte();
    let arrivals = Arrivals::open(folder.path(), &SIZES).expect("the folder is new");
    if choice & 1 == 1 {
        arrivals.are_read();
    }
    for number in 1..=2 {
        let stream = stream(&mut words);
        if arrivals.stream(number, &stream).is_err() {
            // The socket takes less than it mostly does.
            return;
        }
    }
    arrivals.are_read();
    for (file, digest) in arrivals.end() {
        let content = fs::read(folder.path().join(file.to_string())).expect("it has its name");
        assert_eq!(content.len() as u64, SIZES[file as usize]);
        assert_eq!(*blake3::hash(&content).as_bytes(), digest, "file {file}");
    }
}

/// In memory where the host has that.
fn folder() -> std::io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => tempfile::tempdir_in(memory),
        false => tempfile::tempdir(),
    }
}

/// Pieces until the input says otherwise; then what it holds as it is.
fn stream(words: &mut Words<'_>) -> Vec<u8> {
    let mut stream = Vec::new();
    while !words.is_empty() {
        let choice = words.byte();
        match choice & 7 {
            0 => break,
            1 => stream.extend(words.some(64)),
            _ => stream.extend(piece(choice, words)),
        }
    }
    stream.truncate(STREAM_MAX);
    stream
}

/// A piece, mostly a right one. Its bytes are all the same, so that an input stays small.
fn piece(choice: u8, words: &mut Words<'_>) -> Vec<u8> {
    let place = words.byte();
    let file = u32::from(choice >> 3 & 1);
    let size = SIZES[file as usize];
    let offset = u64::from(place & 3) << 16;
    let length = match choice >> 4 & 3 {
        0 => 64 << 10,
        1 => 128 << 10,
        2 => size.saturating_sub(offset),
        _ => u64::from(words.byte()),
    };
    let content = vec![words.byte(); length as usize];
    let header = PieceHeader {
        file,
        offset,
        length: length as u32,
        wire_length: 0,
        coding: match place & 0x1C {
            0x00 => Coding::Raw,
            0x08 => Coding::Hole,
            0x10 => Coding::Sparse,
            0x14 => Coding::SparseZstd,
            _ => Coding::Zstd,
        },
    };
    let mut piece = sealed(header, size, content, words);
    if place & 0x80 != 0 {
        let at = usize::from(words.byte()) << (words.byte() & 15);
        let at = at % piece.len();
        piece[at] ^= words.byte();
    }
    piece
}

/// The piece with what its coding asks for; where that has a map, the blocks of the content that
/// the map leaves out are zeros.
fn sealed(
    mut header: PieceHeader,
    size: u64,
    mut content: Vec<u8>,
    words: &mut Words<'_>,
) -> Vec<u8> {
    let (mut wire, mut data) = (Vec::new(), content.clone());
    if header.coding == Coding::Hole {
        content.fill(0);
    }
    if header.coding.has_map() {
        let mut map = DataMap::holes(header.length);
        let start = u32::from(words.byte()) << 10;
        map.set_data(start..start + (u32::from(words.byte()) << 10));
        wire.extend(map.as_bytes());
        data.truncate(map.data_length() as usize);
        for (run, _) in map.runs().filter(|(_, is_data)| !is_data) {
            content[run.start as usize..run.end as usize].fill(0);
        }
    }
    match header.coding {
        Coding::Hole | Coding::Older | Coding::Moved => (),
        Coding::Raw | Coding::Sparse => wire.extend(data),
        Coding::Zstd | Coding::SparseZstd => wire.extend(packed(&data, words)),
    }
    header.wire_length = wire.len() as u32;
    let seal = seal(&header, size, &content);
    [&header.encode()[..], &wire, &seal].concat()
}

/// The content packed, or any bytes in place of that.
fn packed(content: &[u8], words: &mut Words<'_>) -> Vec<u8> {
    match words.byte() & 1 {
        0 => zstd::bulk::compress(content, 1).unwrap_or_default(),
        _ => words.some(32).to_vec(),
    }
}

fn seal(header: &PieceHeader, size: u64, content: &[u8]) -> [u8; 32] {
    if !legal_piece(size, header.offset, header.length.into()) {
        return [0; 32];
    }
    let mut hasher = PieceHasher::new(size, header.offset, header.length.into());
    hasher.update(content);
    let hash = match header.coding {
        Coding::Hole => NO_HASH,
        _ => hasher.finish().unwrap_or_default(),
    };
    header.seal(&hash)
}

#[cfg(test)]
mod tests;
