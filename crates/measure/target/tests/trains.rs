//! Trains over emulated paths. These need root; without it they are skipped.

use netpath::PathSpec;
use observe::{Passages, ProbeMethod, Stamped, Target, Train, Way};
use target::EmulatedPath;
use units::{Bytes, Rate, Span};

const FULL: Bytes = Bytes::new(1_500);

fn path(rate: &str, more: &str) -> PathSpec {
    let link = |way: &str| {
        format!(
            "[{way}]\nrate = \"{rate}\"\ndelay = \"5ms\"\n{more}\n\
             queue = {{ kind = \"drop-tail\", limit = \"1000packets\" }}\n"
        )
    };
    let mut path = PathSpec::from_toml("mine", &(link("forward") + &link("reverse"))).unwrap();
    path.hosts.ipv6 = testkit::is_ipv6(testkit::turn());
    path
}

/// What the link sends between the first and the last packet, over the time between them.
fn dispersion_rate(seen: &Passages) -> Option<Rate> {
    let arrived: Vec<Span> = seen.packets.iter().filter_map(|p| p.arrived).collect();
    let (first, last) = (arrived.first()?, arrived.last()?);
    let bytes = FULL.times(arrived.len() as u64 - 1);
    Some(Rate::of(bytes, *last - *first))
}

fn median(mut rates: Vec<Rate>) -> Rate {
    rates.sort();
    rates[rates.len() / 2]
}

#[test]
fn the_spread_of_a_bulk_shows_the_rate_of_the_link_both_ways() {
    if !testkit::can_emulate() {
        return;
    }
    let mut target = EmulatedPath::up(&path("100Mbit/s", ""), 1).unwrap();
    let mut probes = target.probes(&mut ()).unwrap();
    for way in Way::BOTH {
        let bulk = Train::back_to_back(500, FULL);
        let mut rate = |_| {
            let seen = probes.train(way, &bulk, &mut ()).unwrap();
            assert_eq!(seen.stamped, Stamped::ByKernel);
            assert!(seen.packets.iter().all(|packet| packet.arrived.is_some()));
            dispersion_rate(&seen).unwrap()
        };
        // 499 packets of 120 us take 60 ms. A machine whose processors are taken hands packets over
        // some milliseconds late; stamps that were taken when the program reads would be off by a
        // factor.
        let seen = median((0..7).map(&mut rate).collect());
        let megabits = seen.as_f64() / 1e6;
        assert!((80.0..125.0).contains(&megabits), "{way:?}: {megabits}");
    }
}

#[test]
fn echoes_of_several_sizes_bound_the_slowest_link() {
    if !testkit::can_emulate() {
        return;
    }
    let mut target = EmulatedPath::up(&path("2Mbit/s", ""), 1).unwrap();
    let mut probes = target.probes(&mut ()).unwrap();
    let sizes = probing::size_slope::sizes();
    let seen = probes.sized_echoes(&sizes, &mut ()).unwrap();
    assert_eq!(seen.len(), sizes.len());
    // 900 bytes more take 7.2 ms both ways, of which a busy machine hides little in four rounds.
    let bound = probing::size_slope::slowest_link(&seen).at_least();
    let megabits = bound.map(|rate| rate.as_f64() / 1e6);
    assert!(
        megabits.is_some_and(|bound| (0.4..1.1).contains(&bound)),
        "{megabits:?} of {seen:?}"
    );
}

#[test]
fn lost_packets_are_counted_on_another_thread_too() {
    if !testkit::can_emulate() {
        return;
    }
    let lossy = path("100Mbit/s", "loss = { kind = \"random\", rate = 0.1 }");
    let mut target = EmulatedPath::up(&lossy, 7).unwrap();
    let mut probes = target.probes(&mut ()).unwrap();
    let losses = std::thread::spawn(move || {
        let series = probes.round_trips(Span::from_millis(100), &mut ()).unwrap();
        assert_eq!(series.method, ProbeMethod::UdpEcho);
        Way::BOTH.map(|way| {
            let train = Train::spaced(1_000, Bytes::new(100), Span::from_micros(100));
            let seen = probes.train(way, &train, &mut ()).unwrap();
            seen.packets
                .iter()
                .filter(|packet| packet.arrived.is_none())
                .count()
        })
    });
    // 100 of 1,000 with a deviation of 9.5: outside once in a million million.
    for lost in losses.join().unwrap() {
        assert!((32..=168).contains(&lost), "{lost}");
    }
}
