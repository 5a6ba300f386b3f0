//! Sparse files: what is a hole at the source is one in the copy, and costs neither bytes on the
//! way nor room.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::meddled::{Hit, Proxy};
use super::*;

const MIB: u64 = 1 << 20;
const KIB: u64 = 1 << 10;
/// What a file may take more than its source: where it lies on the disk is noted in blocks too.
const ROOM: u64 = 64 * KIB;

/// Start and length of each part that is data.
type Parts = Vec<(u64, u64)>;

fn sparse(path: &Path, size: u64, data: &[(u64, u64)]) {
    let file = File::create(path).unwrap();
    file.set_len(size).unwrap();
    for (start, length) in data {
        let bytes = noise(*length as usize);
        file.write_all_at(&bytes, *start).unwrap();
    }
    // What is not on the disk yet may not have its blocks.
    file.sync_all().unwrap();
}

fn blocks(path: &Path) -> u64 {
    fs::metadata(path).unwrap().blocks() * 512
}

/// Whether temporary files can have holes here.
fn holes_are_possible() -> bool {
    let folder = tempfile::tempdir().unwrap();
    sparse(&folder.path().join("s"), MIB, &[]);
    let possible = blocks(&folder.path().join("s")) < MIB;
    if !possible {
        eprintln!("skipped: temporary files have no holes");
    }
    possible
}

fn assert_same(from: &Path, to: &Path, what: &str) {
    let (one, other) = (fs::read(from).unwrap(), fs::read(to).unwrap());
    assert!(one == other, "{what}: another content");
    let (room, had) = (blocks(to), blocks(from));
    assert!(
        room <= had + ROOM,
        "{what}: {room} bytes of room, the source has {had}"
    );
}

fn layouts() -> Vec<(&'static str, u64, Parts)> {
    vec![
        ("begins with one", 9 * MIB, vec![(6 * MIB, 3 * MIB)]),
        ("one in the middle", 9 * MIB, vec![(0, MIB), (8 * MIB, MIB)]),
        ("ends with one", 9 * MIB + 5, vec![(0, MIB)]),
        ("nothing else", 30 * MIB + 1, vec![]),
        ("less than a block", 10, vec![]),
        (
            "edges anywhere",
            20 * MIB + 77,
            vec![(3 * MIB + 1, 5), (7 * MIB - 1, 100_001), (20 * MIB + 70, 7)],
        ),
        (
            "many small ones",
            4 * MIB,
            (0..64)
                .map(|at| (at * 64 * KIB + 16 * KIB, 4 * KIB))
                .collect(),
        ),
        ("none", 2 * MIB, vec![(0, 2 * MIB)]),
    ]
}

/// A folder of them goes this way. Returns what it came to.
fn folder_goes(
    direction: CopyDirection,
    change: &dyn Fn(&mut CopySpec),
    files: &[(String, u64, Parts)],
) -> Outcome {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (near, far) = (near.path(), far.path());
    let (from, to): (PathBuf, PathBuf) = match direction {
        CopyDirection::Put => (near.join("d"), far.join("d")),
        CopyDirection::Get => (far.join("d"), near.join("d")),
    };
    fs::create_dir(&from).unwrap();
    for (name, size, data) in files {
        sparse(&from.join(name), *size, data);
    }
    let source = if direction == CopyDirection::Put {
        near.join("d")
    } else {
        near.to_owned()
    };
    let far_name = if direction == CopyDirection::Put {
        ""
    } else {
        "d"
    };
    let outcome = run_as(change, direction, &source, far, far_name).unwrap();
    assert_eq!(
        (outcome.files, outcome.failed.len()),
        (files.len() as u64, 0)
    );
    for (name, ..) in files {
        assert_same(&from.join(name), &to.join(name), name);
    }
    outcome
}

fn named() -> Vec<(String, u64, Parts)> {
    let named = |(name, size, data): (&str, u64, Parts)| (name.to_owned(), size, data);
    layouts().into_iter().map(named).collect()
}

#[test]
fn holes_stay_holes() {
    if !holes_are_possible() {
        return;
    }
    let files = named();
    let all: u64 = files.iter().map(|(_, size, _)| size).sum();
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let outcome = folder_goes(direction, &|_| (), &files);
        let (sent, holes) = (outcome.sent.get(), outcome.holes.get());
        assert!(
            holes > 70 * MIB && sent < 10 * MIB,
            "{direction:?}: {sent} sent, {holes} holes"
        );
        assert!(
            outcome.on_wire.get() < 10 * MIB,
            "{direction:?}: {}",
            outcome.on_wire
        );
        assert_eq!(sent + holes, all, "{direction:?}");
    }
}

#[test]
fn holes_stay_holes_in_the_clear_compressed_and_read_again() {
    if !holes_are_possible() {
        return;
    }
    let change = |spec: &mut CopySpec| {
        (
            spec.options.plain,
            spec.options.compress,
            spec.options.verify,
        ) = (true, true, true);
        // Compression is tried only where the path is slow.
        slowly(spec);
    };
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        folder_goes(direction, &change, &named());
    }
}

#[test]
fn whatever_is_a_hole_the_content_is_the_same() {
    if !holes_are_possible() {
        return;
    }
    let drawn = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .subsec_nanos();
    let seed = std::env::var("TRUNKLINE_SEED").map_or(u64::from(drawn), |it| it.parse().unwrap());
    eprintln!("TRUNKLINE_SEED={seed}");
    let mut state = seed | 1;
    let mut draw = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 8) % below
    };
    let files: Vec<(String, u64, Parts)> = (0..24)
        .map(|number| {
            let most = 1 << (12 + draw(13));
            let size = 1 + draw(most);
            let part = |_| {
                let start = draw(size);
                let most = 1 << (1 + draw(20));
                (start, 1 + draw((size - start).min(most)))
            };
            let data = (0..number % 9).map(part).collect();
            (format!("f{number}"), size, data)
        })
        .collect();
    let pieces =
        |spec: &mut CopySpec| spec.options.streams = Some(observe::StreamCount::new(3).unwrap());
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        folder_goes(direction, &pieces, &files);
    }
}

#[test]
fn nothing_of_the_file_before_shows_through_a_hole() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (source, target) = (near.path().join("a"), far.path().join("a"));
    sparse(&source, 5 * MIB, &[(2 * MIB, 100)]);
    fs::write(&target, noise(7 << 20)).unwrap();
    let outcome = run(CopyDirection::Put, &source, far.path(), "a");
    assert_eq!(outcome.files, 1);
    assert!(fs::read(&source).unwrap() == fs::read(&target).unwrap());
}

/// 300 MiB of which 25 are data, scattered, and stopped in the middle.
#[test]
fn a_stopped_copy_of_a_sparse_file_goes_on_with_the_next() {
    if !holes_are_possible() {
        return;
    }
    for verify in [false, true] {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (source, target) = (near.path().join("a"), far.path().join("b"));
        let data: Parts = (0..50)
            .map(|at| (at * 6 * MIB + 3 * KIB, 512 * KIB))
            .collect();
        sparse(&source, 300 * MIB + 3, &data);
        let server = Server::start(far.path());
        let mut spec = spec(CopyDirection::Put, &source, &server, "b");
        slowly(&mut spec);
        spec.options.verify = verify;
        let control = CopyControl::default();
        let reins = control.clone();
        let is_half = |event: &CopyEvent| match event {
            CopyEvent::Progress(at) => at.done.get() > 100 * MIB,
            _ => false,
        };
        let mut at = At {
            log: Log(Vec::new()),
            when: &is_half,
            what: Some(Box::new(move || reins.stop())),
        };
        let Err(CopyError::Cancelled { so_far }) = copy(&spec, &control, &mut at) else {
            panic!("it was stopped")
        };
        let part = far.path().join(".b.trunkline-part");
        let room = blocks(&part);
        assert!(
            room < 30 * MIB,
            "{room} bytes of room for what is not there yet"
        );
        spec.options.rate_max = None;
        let outcome = copy(&spec, &CopyControl::default(), &mut Log(Vec::new())).unwrap();
        assert_same(&source, &target, "resumed");
        let both = so_far.sent.get() + outcome.sent.get();
        assert!(both < 34 * MIB, "{so_far:?} {outcome:?}");
        assert!(
            outcome.holes.get() < 250 * MIB,
            "what was told is not told again"
        );
    }
}

/// What was written where a hole is to be, by a piece that was damaged or by another program, is
/// not there in the end.
#[test]
fn what_lies_in_a_hole_of_an_unfinished_file_is_taken_away() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (source, target) = (near.path().join("a"), far.path().join("a"));
    let data: Parts = (0..20).map(|at| (at * 3 * MIB, 512 * KIB)).collect();
    sparse(&source, 60 * MIB, &data);
    let server = Server::start(far.path());
    let mut spec = spec(CopyDirection::Put, &source, &server, "a");
    slowly(&mut spec);
    let control = CopyControl::default();
    let reins = control.clone();
    let mut at = At {
        log: Log(Vec::new()),
        when: &has_moved,
        what: Some(Box::new(move || reins.stop())),
    };
    copy(&spec, &control, &mut at).unwrap_err();
    let part = fs::OpenOptions::new()
        .write(true)
        .open(far.path().join(".a.trunkline-part"));
    let part = part.unwrap();
    for place in (0..20).map(|at| at * 3 * MIB + 2 * MIB) {
        part.write_all_at(&noise(5000), place).unwrap();
    }
    drop(part);
    spec.options.rate_max = None;
    let outcome = copy(&spec, &CopyControl::default(), &mut Log(Vec::new())).unwrap();
    assert_eq!(outcome.files, 1);
    assert_same(&source, &target, "mended");
}

#[test]
fn flipped_bits_of_sparse_pieces_are_noticed() {
    // Bytes 48 to 72 are the first header, behind them lie maps, bytes, seals and headers.
    for place in [48 + 3, 48 + 18, 48 + 25, 48 + 60, 400, 5_000] {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let source = near.path().join("a");
        let data: Parts = (0..160).map(|at| (at * 48 * KIB, 8 * KIB)).collect();
        sparse(&source, 20 * MIB, &data);
        let server = Server::start(far.path());
        let hit = Hit::at(place);
        let meddle = move |number: usize, at: usize, bytes: &mut [u8]| {
            if let Some(place) = hit.within(number, at, bytes.len()) {
                bytes[place] ^= 0x01;
            }
            true
        };
        let proxy = Proxy::start(server.port, Arc::new(meddle));
        let mut spec = spec(CopyDirection::Put, &source, &server, "b");
        spec.options.plain = true;
        spec.options.streams = Some(observe::StreamCount::new(3).unwrap());
        let FarHost::Server { address, .. } = &mut spec.far.host else {
            unreachable!()
        };
        address.port = proxy.port;
        let outcome = copy(&spec, &CopyControl::default(), &mut Log(Vec::new())).unwrap();
        assert_eq!((outcome.files, outcome.failed.len()), (1, 0), "{place}");
        assert!(
            fs::read(&source).unwrap() == fs::read(far.path().join("b")).unwrap(),
            "{place}"
        );
    }
}

#[test]
fn names_that_share_a_file_are_counted() {
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (from, near, name) = match direction {
            CopyDirection::Put => (near.path().join("d"), near.path().join("d"), ""),
            CopyDirection::Get => (far.path().join("d"), near.path().to_owned(), "d"),
        };
        fs::create_dir(&from).unwrap();
        for (file, links) in [("a", 2), ("b", 1), ("c", 0)] {
            fs::write(from.join(file), file).unwrap();
            for link in 0..links {
                fs::hard_link(from.join(file), from.join(format!("{file}{link}"))).unwrap();
            }
        }
        // Its other name is not copied.
        fs::write(far.path().join("elsewhere"), "x").unwrap();
        fs::hard_link(far.path().join("elsewhere"), from.join("alone")).unwrap();
        let outcome = run(direction, &near, far.path(), name);
        assert_eq!((outcome.files, outcome.linked), (7, 5), "{direction:?}");
    }
}
