use netpath::PathSpec;
use observe::{Target, Train, Way};
use probing::available::Known;
use units::{Bytes, Rate, Span};

use crate::SimulatedPath;

const MTU: Bytes = Bytes::new(1500);

fn path(text: &str) -> PathSpec {
    PathSpec::from_toml("test", text).unwrap()
}

fn probes(path: &PathSpec, seed: u64) -> Box<dyn observe::Probes> {
    SimulatedPath::new(path, seed).probes(&mut ()).unwrap()
}

fn one_link(rate: &str, load: &str) -> PathSpec {
    path(&format!(
        r#"
        [forward]
        rate = "{rate}"
        delay = "5ms"
        queue = {{ kind = "drop-tail", limit = "2MB" }}
        {load}
        "#
    ))
}

#[test]
fn a_pair_is_pulled_apart_by_the_narrow_link_to_the_nanosecond() {
    let mut probes = probes(&one_link("10Mbit/s", ""), 1);
    let pair = Train::back_to_back(2, MTU);
    let seen = probes.train(Way::Forward, &pair, &mut ()).unwrap();
    let arrived: Vec<Span> = seen
        .packets
        .iter()
        .map(|packet| packet.arrived.unwrap())
        .collect();
    // 1.2 ms each at 10 Mbit/s, and 5 ms.
    assert_eq!(
        arrived,
        [Span::from_micros(6_200), Span::from_micros(7_400)]
    );
}

#[test]
fn each_way_has_its_own_links() {
    let asymmetric = path(
        r#"
        [forward]
        rate = "10Mbit/s"
        delay = "5ms"
        queue = { kind = "drop-tail", limit = "100kB" }
        [reverse]
        rate = "1Mbit/s"
        delay = "20ms"
        queue = { kind = "drop-tail", limit = "100kB" }
        "#,
    );
    let mut probes = probes(&asymmetric, 1);
    let one = Train::back_to_back(1, MTU);
    let arrived = |way, probes: &mut dyn observe::Probes| {
        probes.train(way, &one, &mut ()).unwrap().packets[0]
            .arrived
            .unwrap()
    };
    assert_eq!(
        arrived(Way::Forward, &mut *probes),
        Span::from_micros(6_200)
    );
    assert_eq!(
        arrived(Way::Reverse, &mut *probes),
        Span::from_micros(32_000)
    );
    // 60 B: 48 us and 480 us, and 25 ms.
    let series = probes.round_trips(Span::from_secs(1), &mut ()).unwrap();
    assert_eq!(series.probes.len(), 20);
    for probe in &series.probes {
        assert_eq!(probe.rtt, Some(Span::from_micros(25_528)));
    }
}

#[test]
fn what_does_not_fit_or_find_room_is_lost() {
    let mut probes = probes(
        &path(
            r#"
        [forward]
        rate = "10Mbit/s"
        delay = "5ms"
        mtu = 1400
        queue = { kind = "drop-tail", limit = "4 packets" }
        "#,
        ),
        1,
    );
    assert_eq!(probes.path_mtu(&mut ()).unwrap().bytes, Bytes::new(1400));
    let lost = |size, probes: &mut dyn observe::Probes| {
        let train = Train::back_to_back(10, Bytes::new(size));
        let seen = probes.train(Way::Forward, &train, &mut ()).unwrap();
        seen.packets
            .iter()
            .filter(|packet| packet.arrived.is_none())
            .count()
    };
    assert_eq!(lost(1500, &mut *probes), 10);
    // One is being sent, four wait.
    assert_eq!(lost(1400, &mut *probes), 5);
    // The queue has drained meanwhile.
    assert_eq!(lost(1400, &mut *probes), 5);
}

#[test]
fn the_same_seed_gives_the_same_and_another_one_does_not() {
    let loaded = one_link("10Mbit/s", r#"load = { rate = "5Mbit/s" }"#);
    let run = |seed| {
        let mut probes = probes(&loaded, seed);
        let train = Train::spaced(100, MTU, Span::from_millis(2));
        probes.pause(Span::from_secs(3));
        probes.train(Way::Forward, &train, &mut ()).unwrap()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn what_is_not_simulated_is_said_with_what_to_do() {
    let crossed = path(
        r#"
        [forward]
        rate = "10Mbit/s"
        delay = "5ms"
        queue = { kind = "drop-tail", limit = "100kB" }
        [[cross]]
        kind = "streams"
        streams = 2
        window = "64KiB"
        "#,
    );
    let Err(error) = SimulatedPath::new(&crossed, 1).probes(&mut ()) else {
        panic!("cross traffic is not simulated beside probes");
    };
    assert!(error.to_string().contains("cross traffic"), "{error}");
    let plan = observe::TracePlan {
        protocol: observe::TraceProtocol::Udp,
        rounds: 1,
        hops_max: 30,
        patience: Span::from_secs(1),
    };
    let error = probes(&one_link("10Mbit/s", ""), 1)
        .trace(&plan, &mut ())
        .unwrap_err();
    assert!(error.to_string().contains("no routers"), "{error}");
}

#[test]
fn capacity_and_available_bandwidth_of_three_links() {
    let spec = PathSpec::load("three-links").unwrap();
    let mut inside = 0;
    for seed in 0..5 {
        let mut probes = probes(&spec, seed);
        let capacity =
            probing::capacity::measure(&mut *probes, Way::Forward, MTU, &mut ()).unwrap();
        let error = capacity.rate.as_f64() / 100e6 - 1.0;
        assert!(error.abs() < 0.05, "seed {seed}: {error}");
        let known = Known {
            mtu: MTU,
            capacity: capacity.rate,
            rtt: Span::from_millis(23),
        };
        let found =
            probing::available::measure(&mut *probes, Way::Forward, &known, &mut ()).unwrap();
        let range = found.range.unwrap();
        let width = range.width_of(Rate::from_bits_per_second(100_000_000));
        assert!(width < 0.16, "seed {seed}: {width}");
        inside += usize::from(range.low.as_f64() < 70e6 && range.high.as_f64() > 70e6);
    }
    assert!(inside >= 4, "{inside} of 5");
}

#[test]
fn echoes_take_longer_by_their_size_on_both_ways() {
    let mut probes = probes(&one_link("10Mbit/s", ""), 1);
    let seen = probes.sized_echoes(&[100, 1_000, 9_001], &mut ()).unwrap();
    // 80 us and 800 us each way, and 10 ms; the last is larger than the MTU.
    let trips: Vec<Option<Span>> = seen.iter().map(|echo| echo.rtt).collect();
    let of = |micros| Some(Span::from_micros(micros));
    assert_eq!(trips, [of(10_160), of(11_600), None]);
}
