//! Copies over multipath TCP, on the one link of the loopback device.

use super::meddled::Proxy;
use super::*;
use observe::Multipath;
use sockets::{OptionError, StreamOptions};
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
    match asked.try_here() {
        Err(error @ OptionError::Multipath(_)) => {
            testkit::skip(&error.to_string());
            return None;
        }
        tried => tried.unwrap(),
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
        let unchanged = Arc::new(|_: usize, _: usize, _: &mut [u8]| true);
        address.port = Proxy::start(server.port, unchanged).port;
    }
    let mut log = Log(Vec::new());
    let outcome = copy(&spec, &CopyControl::default(), &mut log).unwrap();
    assert!(fs::read(to).unwrap() == bytes);
    assert_eq!((outcome.files, outcome.reconnects), (1, 0));
    Some((outcome.multipath.unwrap(), log.0))
}

#[test]
fn what_streams_go_over_is_told_and_plain_tcp_once() {
    let (put, get) = (CopyDirection::Put, CopyDirection::Get);
    for (direction, through_plain) in [(put, false), (get, false), (put, true), (get, true)] {
        let Some((seen, events)) = copied(direction, through_plain) else {
            return;
        };
        let says_plain = |event: &&CopyEvent| match event {
            CopyEvent::Steered { why, .. } => why.contains("plain TCP"),
            _ => false,
        };
        let told = events.iter().filter(says_plain).count();
        assert_eq!(told, usize::from(through_plain), "{direction:?}");
        assert!(seen.connections >= 1, "{seen:?}");
        match (&seen.subflows[..], through_plain) {
            ([], true) => assert_eq!(seen.plain_connections, seen.connections),
            ([subflow], false) => {
                assert_eq!(
                    (seen.plain_connections, subflow.far.is_loopback()),
                    (0, true)
                );
                assert!(subflow.carried_bytes > 1_000_000, "{direction:?}: {seen:?}");
            }
            _ => panic!("{direction:?}: {seen:?}"),
        }
    }
}
