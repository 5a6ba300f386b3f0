//! Copies over multipath TCP, on the one link of the loopback device.

use super::meddled::Proxy;
use super::*;
use observe::Multipath;
use sockets::StreamOptions;
use units::Via;

/// What 3 MB went over, through a proxy of plain TCP or straight there; `None` where the kernel has
/// no multipath TCP.
fn copied(direction: CopyDirection, through_plain: bool) -> Option<(Multipath, Vec<CopyEvent>)> {
    let asked = StreamOptions {
        via: Via {
            multipath: true,
            ..Via::default()
        },
        ..StreamOptions::default()
    };
    if let Err(error) = asked.try_here() {
        testkit::skip(&error.to_string());
        return None;
    }
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bytes = noise(3_000_000);
    let (here, there) = (near.path().join("a"), far.path().join("b"));
    let (from, to) = match direction {
        CopyDirection::Put => (&here, &there),
        CopyDirection::Get => (&there, &here),
    };
    fs::write(from, &bytes).unwrap();
    let server = Server::start(far.path());
    let mut spec = spec(direction, &here, &server, "b");
    // So that streams are seen while they carry data.
    spec.options.rate_max = Some("24Mbit/s".parse().unwrap());
    spec.options.streams = Some(observe::StreamCount::new(2).unwrap());
    let FarHost::Server { address, .. } = &mut spec.far.host else {
        unreachable!()
    };
    address.via = asked.via;
    if through_plain {
        address.port = Proxy::start(server.port, Arc::new(|_, _, _: &mut [u8]| true)).port;
    }
    let mut log = Log(Vec::new());
    let outcome = copy(&spec, &CopyControl::default(), &mut log).unwrap();
    assert!(fs::read(to).unwrap() == bytes);
    assert_eq!((outcome.files, outcome.reconnects), (1, 0));
    Some((outcome.multipath.unwrap(), log.0))
}

fn says_plain(events: &[CopyEvent]) -> usize {
    let is_told = |event: &&CopyEvent| matches!(event, CopyEvent::Steered { why, .. } if why.contains("plain TCP"));
    events.iter().filter(is_told).count()
}

#[test]
fn subflows_are_told_with_what_they_carried() {
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let Some((seen, events)) = copied(direction, false) else {
            return;
        };
        assert!(seen.connections >= 1, "{seen:?}");
        assert_eq!((seen.plain_connections, says_plain(&events)), (0, 0));
        let [subflow] = &seen.subflows[..] else {
            panic!("{direction:?}: {seen:?}");
        };
        assert_eq!(subflow.far.to_string(), "127.0.0.1");
        assert!(subflow.carried_bytes > 1_000_000, "{direction:?}: {seen:?}");
    }
}

#[test]
fn connections_that_are_plain_are_told_once() {
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let Some((seen, events)) = copied(direction, true) else {
            return;
        };
        assert!(seen.connections >= 1, "{seen:?}");
        assert_eq!(seen.plain_connections, seen.connections);
        assert!(seen.subflows.is_empty(), "{seen:?}");
        assert_eq!(says_plain(&events), 1, "{direction:?}");
    }
}
