//! Copies of one host at one server, at the same time.

use super::*;

/// What one copy needed alone.
const ALONE: u16 = 40;

/// More than twice what the streams of one begin with (256 KiB each): those of them that are too
/// many are seen to end.
const LENGTH: usize = 24_000_000;

/// The second is stopped then.
const ENOUGH: u64 = 16_000_000;

fn has_enough(event: &CopyEvent) -> bool {
    matches!(event, CopyEvent::Progress(progress) if progress.done.get() > ENOUGH)
}

/// As much as takes some seconds.
fn spec_of(direction: CopyDirection, near: &Path, server: &Server, far: &str) -> CopySpec {
    let mut spec = spec(direction, near, server, far);
    spec.options.rate_max = Some("32Mbit/s".parse().unwrap());
    spec.options.remembered = Some(observe::StreamCount::new(ALONE.into()).unwrap());
    spec
}

/// Streams that were seen while it copied.
fn streams(log: &Log) -> Vec<u16> {
    let reading = |event: &CopyEvent| match event {
        CopyEvent::Progress(progress) => Some(progress.streams),
        _ => None,
    };
    log.0.iter().filter_map(reading).collect()
}

/// Two at once; the second is stopped after some time, as a kill would.
fn two(direction: CopyDirection) -> (Log, Log) {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (is_put, data) = (direction == CopyDirection::Put, noise(LENGTH));
    let from = if is_put { near.path() } else { far.path() };
    fs::write(from.join("data"), &data).unwrap();
    let server = Server::start(far.path());
    let spec_of = |number: u16| {
        let name = format!("copied{number}");
        match is_put {
            true => spec_of(direction, &near.path().join("data"), &server, &name),
            false => spec_of(direction, &near.path().join(&name), &server, "data"),
        }
    };
    let (first, second) = (spec_of(1), spec_of(2));
    let stopped = CopyControl::default();
    let logs = thread::scope(|scope| {
        let first = scope.spawn(|| {
            let mut log = Log(Vec::new());
            copy(&first, &CopyControl::default(), &mut log).unwrap();
            log
        });
        let mut at = At {
            log: Log(Vec::new()),
            when: &has_enough,
            what: Some(Box::new(|| stopped.stop())),
        };
        let end = copy(&second, &stopped, &mut at);
        assert!(matches!(end, Err(CopyError::Cancelled { .. })), "{end:?}");
        (first.join().unwrap(), at.log)
    });
    let to = if is_put { far.path() } else { near.path() };
    assert!(fs::read(to.join("copied1")).unwrap() == data);
    logs
}

/// Numbers of streams that the copy was given.
fn parts(log: &Log) -> Vec<u16> {
    let part = |event: &CopyEvent| match event {
        CopyEvent::Steered { streams, .. } => Some(*streams),
        _ => None,
    };
    log.0.iter().filter_map(part).collect()
}

#[test]
fn two_puts_share_the_streams_of_one() {
    let (first, second) = two(CopyDirection::Put);
    assert_eq!(parts(&first), [ALONE / 2, ALONE], "the second, and its end");
    assert_eq!(parts(&second), [ALONE / 2]);
}

/// The server steers here, and tells how many there are. Those that are too many end what they
/// have begun first.
#[test]
fn two_gets_share_the_streams_of_one() {
    let (first, second) = two(CopyDirection::Get);
    for log in [&first, &second] {
        let seen = streams(log);
        assert!(
            seen.iter().any(|streams| (1..ALONE - 4).contains(streams)),
            "{seen:?}"
        );
        assert!(seen.iter().all(|streams| *streams <= ALONE), "{seen:?}");
    }
}

/// As a campaign does, whose copies are steered in its folder.
#[test]
fn a_number_that_was_fixed_holds_before_the_part_of_a_copy() {
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let is_put = direction == CopyDirection::Put;
        let from = if is_put { near.path() } else { far.path() };
        fs::write(from.join("data"), noise(6_000_000)).unwrap();
        let server = Server::start(far.path());
        let seen = thread::scope(|scope| {
            let runs: Vec<_> = (0..2)
                .map(|number| {
                    let name = format!("copied{number}");
                    let spec = match is_put {
                        true => spec_of(direction, &near.path().join("data"), &server, &name),
                        false => spec_of(direction, &near.path().join(&name), &server, "data"),
                    };
                    scope.spawn(move || {
                        let (control, mut log) = (CopyControl::default(), Log(Vec::new()));
                        control.set_streams(observe::StreamCount::new(50).ok());
                        copy(&spec, &control, &mut log).unwrap();
                        streams(&log)
                    })
                })
                .collect();
            let joined = runs.into_iter().map(|run| run.join().unwrap());
            joined.collect::<Vec<_>>()
        });
        for streams in seen {
            assert_eq!(streams.iter().max(), Some(&50), "{streams:?}");
        }
    }
}
