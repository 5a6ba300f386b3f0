//! Named paths with random changes: refused with a hint, or within every bound; never a panic.

use errors::Hint;
use units::{Bytes, Rate, Span};

use crate::{
    CrossTraffic, LinkSpec, Loss, PathError, PathSpec, QueueLimit, QueueSpec, Thresholds,
    Variation, Way, presets,
};

const RUNS: usize = 20_000;

/// Pieces that make a file wrong in interesting ways, or right in another.
const PIECES: [&str; 45] = [
    "0",
    "-1",
    "1e300",
    "nan",
    "inf",
    "0x7fffffffffffffff",
    "9223372036854775807",
    "1000000000packets",
    "0packets",
    "99999999999999999999T",
    "\"\"",
    "\"",
    "[",
    "]]",
    "{",
    "=",
    "\n",
    "#",
    "\u{0}",
    "\u{1f4a5}",
    "true",
    "1979-05-27",
    "\"0ms\"",
    "\"1TiB\"",
    "\"1packets\"",
    "kind = \"codel\"\n",
    "queue = { kind = \"red\", limit = \"9packets\", min = \"1packets\", max = \"9packets\" }\n",
    "queue = { kind = \"wred\", limit = \"9packets\", scavenger = { min = \"1packets\", max = \
        \"5packets\" }, best-effort = { min = \"2packets\", max = \"9packets\" } }\n",
    "queue = { kind = \"weighted\", limit = \"9packets\", scavenger = 0.5, priority = 0.4 }\n",
    "loss = { kind = \"gilbert-elliott\", enter = 1, leave = 1 }\n",
    "[hosts]\n",
    "[reverse]\n",
    "\n[[cross]]\nkind = \"on-off\"\nsources = 3\nrate = \"1Mbit/s\"\non = \"1s\"\noff = \"1s\"\n",
    "\n[[cross]]\nkind = \"transfers\"\nper_second = 3\nmean_size = \"9kB\"\nshape = 2\nwindow = \
        \"64KiB\"\n",
    "\n[[before]]\nrate = \"9Mbit/s\"\ndelay = \"1ms\"\nqueue = { kind = \"drop-tail\", limit = \
        \"9packets\" }\n",
    "\n[[beyond]]\nmtu = 576\n",
    "load = { rate = \"1Mbit/s\", arrivals = \"constant\" }\n",
    "packets = [{ size = \"40B\", share = 0.999 }, { size = \"576B\", share = 0.001 }]\n",
    "cut = [{ at = \"1s\", for = \"9ms\" }]\n",
    "corruption = 0.5\n",
    "rate = { low = \"1Mbit/s\", high = \"9Mbit/s\", every = \"1s\" }\n",
    "rate = { trace = \"src/lib.rs\" }\n",
    "policer = { rate = \"1Mbit/s\", bucket = \"90kB\" }\n",
    "reorder = { rate = 0.5, delay = \"3ms\" }\n",
    "class = \"scavenger\"\nextra_delay = \"9ms\"\n",
];

#[test]
fn changed_files_are_refused_with_a_hint_or_within_every_bound() {
    let texts: Vec<&str> = presets::names().filter_map(presets::text).collect();
    testkit::read_changed(20_260_819, RUNS, &texts, &PIECES, |text| {
        let read = PathSpec::from_toml("changed", text);
        match &read {
            Ok(path) => assert_within_bounds(path),
            Err(error) => assert_helpful(error, text.lines().count()),
        }
        read.is_ok()
    });
}

fn assert_helpful(error: &PathError, lines: usize) {
    assert!(!error.hint().unwrap().is_empty());
    match error {
        PathError::Field { line, field, .. } => {
            assert!((1..=lines + 1).contains(line), "{error}");
            assert!(!field.is_empty());
        }
        PathError::Syntax { line, .. } => assert!((1..=lines + 1).contains(line), "{error}"),
        PathError::Several(errors) => {
            assert!(errors.len() > 1);
            errors.iter().for_each(|error| assert_helpful(error, lines));
        }
        PathError::Unreadable { .. } => panic!("nothing was to be read: {error}"),
    }
}

fn assert_within_bounds(path: &PathSpec) {
    assert!(!path.to_string().is_empty());
    assert!((1..=8).contains(&path.hops()));
    for way in Way::BOTH {
        assert_eq!(path.links(way).len(), path.hops());
        assert!(
            path.available(way) > Rate::ZERO && path.available(way) <= path.narrowest(way).rate
        );
        for link in path.links(way) {
            assert_link(link, path.hosts.mtu);
        }
    }
    assert!((576..=65_535).contains(&path.hosts.mtu));
    for host in [path.hosts.near(), path.hosts.far()] {
        assert_buffer(host.send);
        assert_buffer(host.receive);
    }
    let mut load = 0.0;
    for group in &path.cross {
        assert!(group.extra_delay <= Span::from_secs(10));
        assert_traffic(&group.traffic);
        load += group.traffic.mean_load().map_or(0.0, Rate::as_f64);
    }
    assert!(load < path.forward.available().as_f64() || path.cross.is_empty());
}

fn assert_link(link: &LinkSpec, hosts_mtu: u16) {
    let mtu = link.mtu.unwrap_or(hosts_mtu);
    assert!((576..=hosts_mtu).contains(&mtu));
    if let Some(load) = &link.load {
        assert!(load.rate < link.rate && load.packets_per_second() > 0.0);
        let sizes = Bytes::new(28)..=Bytes::new(mtu.into());
        assert!(
            load.packets
                .iter()
                .all(|packet| sizes.contains(&packet.size))
        );
        let shares: f64 = load.packets.iter().map(|packet| packet.share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    }
    assert!((300..=1_000_000_000_000).contains(&link.rate.bits_per_second()));
    assert!(link.delay <= Span::from_secs(10));
    match &link.variation {
        Some(Variation::Drawn(drawn)) => {
            assert!(drawn.low < link.rate && link.rate <= drawn.high);
            assert!(drawn.every > Span::ZERO);
        }
        Some(Variation::Recorded(trace)) => assert!(trace.period > Span::ZERO),
        None => {}
    }
    if let Some(policer) = &link.policer {
        assert!(policer.rate > Rate::ZERO && policer.bucket >= Bytes::new(mtu.into()));
    }
    if let Some(reorder) = &link.reorder {
        assert!((0.0..=1.0).contains(&reorder.rate) && reorder.delay > Span::ZERO);
    }
    match link.queue.limit() {
        QueueLimit::Bytes(limit) => {
            assert!((u64::from(mtu)..=4 << 30).contains(&limit.get()));
        }
        QueueLimit::Packets(limit) => assert!((1..=3_000_000).contains(&limit)),
    }
    match link.queue {
        QueueSpec::DropTail(_) | QueueSpec::Strict { .. } => {}
        QueueSpec::Red(red) => {
            assert_thresholds(red.thresholds());
            assert!(red.weight > 0.0 && red.weight <= 1.0);
        }
        QueueSpec::Wred(wred) => {
            wred.thresholds().into_iter().for_each(assert_thresholds);
            assert!(wred.weight > 0.0 && wred.weight <= 1.0);
        }
        QueueSpec::CoDel(codel) => {
            assert!(Span::ZERO < codel.target && codel.target < codel.interval);
        }
        QueueSpec::Weighted {
            scavenger,
            priority,
            ..
        } => assert!(scavenger > 0.0 && priority > 0.0 && scavenger + priority < 1.0),
    }
    match link.loss {
        Loss::None => {}
        Loss::Random { rate } => assert!((0.0..1.0).contains(&rate)),
        Loss::GilbertElliott {
            enter,
            leave,
            loss_bad,
            loss_good,
        } => {
            assert!(enter > 0.0 && leave > 0.0 && link.loss.mean_rate() < 1.0);
            for probability in [enter, leave, loss_bad, loss_good] {
                assert!((0.0..=1.0).contains(&probability), "{probability}");
            }
        }
    }
}

fn assert_thresholds(of_class: Thresholds) {
    assert!(1 <= of_class.min && of_class.min < of_class.max);
    assert!(of_class.probability > 0.0 && of_class.probability <= 1.0);
}

fn assert_traffic(traffic: &CrossTraffic) {
    match *traffic {
        CrossTraffic::Streams { streams, window } => {
            assert!((1..=128).contains(&streams));
            assert_buffer(window);
        }
        CrossTraffic::OnOff {
            sources, on, off, ..
        } => {
            assert!((1..=1000).contains(&sources));
            assert!(on > Span::ZERO && off > Span::ZERO);
        }
        CrossTraffic::Transfers {
            per_second,
            mean_size,
            shape,
            window,
        } => {
            assert!(per_second > 0.0 && mean_size > Bytes::ZERO);
            assert!(shape > 1.0 && shape <= 10.0);
            assert_buffer(window);
        }
    }
}

fn assert_buffer(size: Bytes) {
    assert!((4096..1 << 31).contains(&size.get()), "{size}");
}
