//! Holes that a hostile sender may tell of: none changes what counts already, and none makes more
//! than zeros.

use super::*;

const SIZE: u64 = 256 << 10;

/// What stands in the only file after these streams; `None` where it never got its name.
fn after(size: u64, streams: &[Vec<u8>]) -> Option<Vec<u8>> {
    let folder = folder().unwrap();
    let arrivals = Arrivals::open(folder.path(), &[size]).unwrap();
    arrivals.are_read();
    for (number, bytes) in streams.iter().enumerate() {
        arrivals.stream(number as u32, bytes).unwrap();
    }
    let published = arrivals.end();
    let content = fs::read(folder.path().join("0")).ok()?;
    assert_eq!(published, [(0, *blake3::hash(&content).as_bytes())]);
    Some(content)
}

fn header(offset: u64, length: u32, coding: Coding, wire_length: u32) -> PieceHeader {
    PieceHeader {
        file: 0,
        offset,
        length,
        wire_length,
        coding,
    }
}

fn hole(offset: u64, length: u32) -> Vec<u8> {
    let header = header(offset, length, Coding::Hole, 0);
    [&header.encode()[..], &header.seal(&NO_HASH)].concat()
}

fn raw(size: u64, offset: u64, bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as u32;
    let header = header(offset, length, Coding::Raw, length);
    [&header.encode()[..], bytes, &seal(&header, size, bytes)].concat()
}

/// The first block of 64 KiB is data, by a map.
fn sparse(map: &[u8], came: usize, content: &[u8]) -> Vec<u8> {
    let wire_length = (map.len() + came) as u32;
    let header = header(0, content.len() as u32, Coding::Sparse, wire_length);
    let seal = seal(&header, SIZE, content);
    [&header.encode()[..], map, &content[..came], &seal].concat()
}

#[test]
fn a_hole_and_data_make_up_a_file() {
    let half = SIZE as usize / 2;
    let content = after(
        SIZE,
        &[hole(0, 128 << 10), raw(SIZE, 128 << 10, &vec![7; half])],
    );
    assert_eq!(content, Some([vec![0; half], vec![7; half]].concat()));
    assert_eq!(
        after(SIZE, &[hole(0, 256 << 10)]),
        Some(vec![0; SIZE as usize])
    );
}

#[test]
fn a_hole_over_what_counts_changes_nothing() {
    let bytes = vec![7; SIZE as usize / 2];
    let stream = [
        raw(SIZE, 0, &bytes),
        hole(0, 128 << 10),
        hole(0, 64 << 10),
        hole(128 << 10, 128 << 10),
    ];
    let content = after(SIZE, &[stream.concat()]).unwrap();
    assert!(content.starts_with(&bytes) && content.ends_with(&vec![0; bytes.len()]));
}

#[test]
fn data_over_a_hole_that_counts_changes_nothing() {
    let stream = [
        hole(0, 128 << 10),
        raw(SIZE, 0, &vec![7; 128 << 10]),
        hole(128 << 10, 128 << 10),
    ];
    assert_eq!(
        after(SIZE, &[stream.concat()]),
        Some(vec![0; SIZE as usize])
    );
}

#[test]
fn what_an_unsealed_piece_wrote_is_zeros_after_the_hole() {
    let mut damaged = raw(SIZE, 0, &vec![7; 128 << 10]);
    *damaged.last_mut().unwrap() ^= 1;
    let stream = [damaged, hole(0, 128 << 10), hole(128 << 10, 128 << 10)];
    assert_eq!(
        after(SIZE, &[stream.concat()]),
        Some(vec![0; SIZE as usize])
    );
}

#[test]
fn holes_that_cannot_be_end_their_stream() {
    for wrong in [
        hole(128 << 10, 256 << 10),
        hole(64 << 10, 128 << 10),
        hole(1 << 62, 4 << 20),
        hole(0, 8 << 20),
        hole(0, 0),
    ] {
        assert_eq!(after(SIZE, &[[wrong, hole(0, 256 << 10)].concat()]), None);
    }
    let mut unsealed = hole(0, 256 << 10);
    unsealed[40] ^= 1;
    assert_eq!(after(SIZE, &[unsealed]), None);
}

#[test]
fn a_file_of_eight_exbibytes_of_holes_costs_what_its_pieces_cost() {
    // More than most file systems take; where it is taken, one piece is hashed, and the file never
    // gets its name.
    for size in [1 << 60, i64::MAX as u64] {
        assert_eq!(after(size, &[hole(0, 4 << 20)]), None);
        let last = size / (4 << 20) * (4 << 20) - (4 << 20);
        assert_eq!(after(size, &[hole(last, 4 << 20)]), None);
    }
}

#[test]
fn a_map_that_does_not_fit_what_came_does_not_count() {
    let (data, block) = (64 << 10, 4096_usize);
    let content = [vec![7; data], vec![0; SIZE as usize - data]].concat();
    // A bit for each of 64 blocks: 16 of data.
    let right = [0xFF, 0xFF, 0, 0, 0, 0, 0, 0];
    assert_eq!(
        after(SIZE, &[sparse(&right, data, &content)]).as_ref(),
        Some(&content)
    );
    for (map, came) in [
        ([0xFF, 0xFE, 0, 0, 0, 0, 0, 0], data),
        ([0; 8], data),
        ([0xFF; 8], data),
        (right, data - block),
        (right, data + block),
        ([0xFF, 0, 0xFF, 0, 0, 0, 0, 0], data),
    ] {
        let wrong = sparse(&map, came, &content);
        assert_eq!(
            after(SIZE, std::slice::from_ref(&wrong)),
            None,
            "{map:x?}, {came} bytes"
        );
        // The stream goes on behind it.
        let both = [wrong, sparse(&right, data, &content)].concat();
        assert_eq!(
            after(SIZE, &[both]).as_ref(),
            Some(&content),
            "{map:x?}, {came} bytes"
        );
    }
}
