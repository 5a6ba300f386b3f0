//! Files that are there in an older version: only what differs is sent, wherever the rest was.

use super::*;

const SIZE: usize = 8 << 20;
/// Bytes that a piece has at most where it may be offered.
const PIECE: u64 = 128 << 10;

/// A newer version and an older one, and how many bytes of the newer one are sent.
struct Versions {
    newer: Vec<u8>,
    older: Vec<u8>,
    sent: std::ops::RangeInclusive<u64>,
}

fn other_noise(length: usize) -> Vec<u8> {
    let mut bytes = noise(length);
    bytes.reverse();
    bytes
}

/// Bytes here and there, and some behind the end of the older version.
fn changed_in_places() -> Versions {
    let older = noise(SIZE);
    let mut newer = older.clone();
    for at in [0, 3_000_000, SIZE - 1] {
        newer[at] ^= 1;
    }
    newer.extend_from_slice(&other_noise(300_000));
    Versions {
        newer,
        older,
        // The last one may lie within one piece with what is behind the older version.
        sent: 300_003..=4 * PIECE + 300_000,
    }
}

/// A byte in front moves all the others: nothing is at its place.
fn moved() -> Versions {
    let older = noise(SIZE);
    Versions {
        newer: [&[7], &older[..]].concat(),
        sent: 1..=4 * PIECE,
        older,
    }
}

fn halves_swapped() -> Versions {
    let older = noise(SIZE);
    let half = SIZE / 2 - 777;
    Versions {
        newer: [&older[half..], &older[..half]].concat(),
        sent: 1..=6 * PIECE,
        older,
    }
}

/// What is behind the end of the older version may be sent before the chunks are known.
fn longer() -> Versions {
    let older = noise(SIZE);
    Versions {
        newer: [&other_noise(300_000)[..], &older[4321..]].concat(),
        sent: 300_000..=600_000 + 6 * PIECE,
        older,
    }
}

fn shorter() -> Versions {
    let older = noise(SIZE);
    Versions {
        newer: older[..SIZE / 2 + 5].to_vec(),
        older,
        sent: 0..=0,
    }
}

/// Kernels date files by their ticks: of one size and written in one of them, two would be taken
/// for one version and skipped.
fn write_older(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
}

#[test]
fn only_what_differs_is_sent_both_ways() {
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let versions = [
            changed_in_places(),
            moved(),
            shorter(),
            halves_swapped(),
            longer(),
        ];
        for versions in versions {
            let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let (from, to) = match direction {
                CopyDirection::Put => (near.path().join("a"), far.path().join("b")),
                CopyDirection::Get => (far.path().join("b"), near.path().join("a")),
            };
            write_older(&to, &versions.older);
            fs::write(&from, &versions.newer).unwrap();
            let delta = |spec: &mut CopySpec| {
                spec.options.delta = true;
                // Others would repeat its last pieces where this host is slow.
                spec.options.streams = Some(observe::StreamCount::ONE);
            };
            let here = near.path().join("a");
            let outcome = run_as(&delta, direction, &here, far.path(), "b").unwrap();
            assert!(fs::read(&to).unwrap() == versions.newer, "{direction:?}");
            let (sent, all) = (outcome.sent.get(), versions.newer.len() as u64);
            assert_eq!(sent + outcome.unchanged.get(), all, "{outcome:?}");
            assert!(versions.sent.contains(&sent), "{sent}: {outcome:?}");
            // Hashes and recipes.
            let wire = outcome.on_wire.get();
            assert!(wire < sent + 100_000, "{wire}: {outcome:?}");
            assert_eq!((outcome.files, &outcome.failed[..]), (1, &[][..]));
        }
    }
}

/// It is stopped in the middle and goes on: neither what was sent nor what was kept is sent again.
#[test]
fn a_delta_that_was_stopped_goes_on() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (source, target) = (near.path().join("a"), far.path().join("b"));
    let older = noise(4 * SIZE);
    // The second half differs all over.
    let mut newer = older.clone();
    newer[2 * SIZE..].reverse();
    fs::write(&source, &newer).unwrap();
    write_older(&target, &older);
    let server = Server::start(far.path());
    let mut spec = spec(CopyDirection::Put, &source, &server, "b");
    slowly(&mut spec);
    spec.options.delta = true;
    let control = CopyControl::default();
    let stopping = control.clone();
    let is_within = |event: &CopyEvent| {
        let half = 2 * SIZE as u64;
        matches!(event, CopyEvent::Progress(it) if it.done.get() > half + 9_000_000)
    };
    let mut at = At {
        log: Log(Vec::new()),
        when: &is_within,
        what: Some(Box::new(move || stopping.stop())),
    };
    let Err(CopyError::Cancelled { so_far }) = copy(&spec, &control, &mut at) else {
        panic!("it was stopped")
    };
    assert!(
        fs::read(&target).unwrap() == older,
        "the older version stays"
    );
    assert!(so_far.unchanged.get() > SIZE as u64, "{so_far:?}");
    spec.options.rate_max = None;
    let outcome = copy(&spec, &CopyControl::default(), &mut Log(Vec::new())).unwrap();
    assert!(fs::read(&target).unwrap() == newer);
    let both = so_far.sent.get() + outcome.sent.get();
    assert!(both < 2 * SIZE as u64 + 8_000_000, "{so_far:?} {outcome:?}");
}

#[test]
fn without_the_option_all_is_sent() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let Versions { newer, older, .. } = changed_in_places();
    fs::write(near.path().join("a"), &newer).unwrap();
    write_older(&far.path().join("b"), &older);
    let outcome = run(CopyDirection::Put, &near.path().join("a"), far.path(), "b");
    assert_eq!(outcome.sent.get(), newer.len() as u64);
    assert_eq!(outcome.unchanged.get(), 0);
}
