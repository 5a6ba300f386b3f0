//! Random scenarios: whatever is asked for, the books balance and the same seed shows the same.
//!
//! A test build checks after every event that no packet vanished, and that nothing was acknowledged
//! that had not been sent; what is tested here is that such a run ends, twice the same way.

use netpath::{PathSpec, Variation, Way};
use proptest::prelude::*;
use sim::{Scenario, Simulation, TcpSettings, Variant, Work};
use units::{Bytes, Span};

fn queue() -> impl Strategy<Value = String> {
    let packets = 1..200u32;
    prop_oneof![
        packets
            .clone()
            .prop_map(|limit| format!("kind = \"drop-tail\", limit = \"{limit}packets\"")),
        (5..40u32, any::<bool>()).prop_map(|(min, ecn)| format!(
            "kind = \"red\", limit = \"200packets\", min = \"{min}packets\", max = \"{}packets\", \
                ecn = {ecn}",
            min * 3
        )),
        any::<bool>()
            .prop_map(|ecn| format!("kind = \"codel\", limit = \"200packets\", ecn = {ecn}")),
        packets.prop_map(|limit| format!("kind = \"strict\", limit = \"{limit}packets\"")),
        Just(
            "kind = \"weighted\", limit = \"100packets\", scavenger = 0.01, priority = 0.3"
                .to_owned()
        ),
    ]
}

fn loss() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        (0.0..0.3f64).prop_map(|rate| format!("loss = {{ kind = \"random\", rate = {rate} }}")),
        Just("loss = { kind = \"gilbert-elliott\", enter = 0.01, leave = 0.3 }".to_owned()),
    ]
}

fn cross() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        (1..4u32).prop_map(|streams| format!(
            "[[cross]]\nstreams = {streams}\nwindow = \"64KiB\"\nextra_delay = \"3ms\"\nclass = \
                \"scavenger\""
        )),
        Just(
            "[[cross]]\nkind = \"on-off\"\nsources = 3\nrate = \"100kbit/s\"\non = \"200ms\"\noff \
                = \"300ms\""
                .to_owned()
        ),
        Just(
            "[[cross]]\nkind = \"transfers\"\nper_second = 2\nmean_size = \"20kB\"\nshape = \
                1.3\nwindow = \"64KiB\""
                .to_owned()
        ),
    ]
}

/// What else a link may do to packets, with the rate that stands in the middle.
fn extras(kilobits: u64) -> impl Strategy<Value = String> {
    let constant = format!("rate = \"{kilobits}kbit/s\"");
    let varying = format!(
        "rate = {{ low = \"{kilobits}kbit/s\", high = \"{}kbit/s\", every = \"100ms\" }}",
        3 * kilobits
    );
    let policer = format!("policer = {{ rate = \"{kilobits}kbit/s\", bucket = \"9kB\" }}");
    let reorder = "reorder = { rate = 0.05, delay = \"4ms\" }";
    prop_oneof![
        3 => Just(constant.clone()),
        1 => Just(varying),
        1 => Just(format!("{constant}\n{policer}")),
        1 => Just(format!("{constant}\n{reorder}")),
        1 => Just(format!("{constant}\n{policer}\n{reorder}")),
    ]
}

/// Further links around the main one, and load.
fn row() -> impl Strategy<Value = String> {
    let link = |kind, rate| {
        format!(
            "[[{kind}]]\nrate = \"{rate}kbit/s\"\ndelay = \"1ms\"\n\
             queue = {{ kind = \"drop-tail\", limit = \"30packets\" }}\n"
        )
    };
    let load = "load = { rate = \"300kbit/s\" }\nmtu = 1000\n";
    prop_oneof![
        2 => Just(String::new()),
        1 => (1_000..50_000u32).prop_map(move |rate| link("before", rate) + load),
        1 => (1_000..50_000u32, 1_000..50_000u32).prop_map(move |(near, far)| {
            link("before", near) + &link("beyond", far) + load + &link("beyond", near)
        }),
    ]
}

fn path() -> impl Strategy<Value = PathSpec> {
    let rates = 1_000u64..50_000;
    let parts = (
        rates.prop_flat_map(extras),
        0u64..60_000,
        queue(),
        loss(),
        cross(),
        row(),
    );
    parts.prop_map(|(rate, micros, queue, loss, cross, row)| {
        let text = format!(
            "[forward]\n{rate}\ndelay = \"{micros}us\"\nqueue = {{ {queue} \
                }}\n{loss}\n{row}{cross}\n"
        );
        PathSpec::from_toml("random", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    })
}

prop_compose! {
    fn scenario()(
        path in path(),
        streams in 1..12u32,
        window in prop_oneof![Just(None), (2_000u64..500_000).prop_map(|bytes| Some(Bytes::new(bytes)))],
        variant in prop::sample::select(&Variant::ALL[..]),
        work in prop_oneof![
            Just(Work::Endless),
            (50_000u64..500_000).prop_map(|bytes| Work::Striped(Bytes::new(bytes))),
            (1u64..100_000).prop_map(|bytes| Work::PerStream(Bytes::new(bytes))),
        ],
        ns2 in any::<bool>(),
        ecn in any::<bool>(),
        seed in 1..1_000u64,
    ) -> Scenario {
        let mut scenario = Scenario::new(path).expect("the default congestion control is \
            simulated");
        let roomy = scenario.path.forward.delay >= Span::from_millis(2);
        if ns2 && roomy {
            scenario.tcp = TcpSettings::ns2(&scenario.path);
        }
        scenario.tcp.ecn = ecn;
        scenario.duration = Span::from_millis(1_500);
        scenario.warmup = Span::from_millis(300);
        Scenario { streams, window, variant, work, seed, log: true, ..scenario }
    }
}

/// Everything that a run shows, as text.
fn everything(scenario: &Scenario) -> (String, Vec<sim::Event>) {
    let mut simulation = Simulation::new(scenario).expect("the scenario is within its bounds");
    let mut events = Vec::new();
    let mut at = simulation.now();
    while !simulation.advance(at) {
        events.append(&mut simulation.take_events());
        simulation.probe();
        at += Span::from_millis(100);
    }
    events.append(&mut simulation.take_events());
    (format!("{:?}", simulation.finish()), events)
}

/// The same with streams that join after so many milliseconds each, and an end that is put off.
fn grown(scenario: &Scenario, joins: &[(u64, u32)]) -> (String, Vec<sim::Event>) {
    let mut simulation = Simulation::new(scenario).expect("the scenario is within its bounds");
    for (millis, streams) in joins {
        let at = simulation.now() + Span::from_millis(*millis);
        simulation.last_until(at).expect("it has not come so far");
        assert!(simulation.advance(at));
        simulation.join(*streams).expect("their data has no end");
    }
    simulation
        .last_until(simulation.now() + Span::from_millis(500))
        .expect("it ends later");
    simulation.advance(simulation.end());
    let events = simulation.take_events();
    (format!("{:?}", simulation.finish()), events)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_seed_shows_the_same_and_the_books_balance(scenario in scenario()) {
        let (result, events) = everything(&scenario);
        let (result_again, events_again) = everything(&scenario);
        prop_assert_eq!(&result, &result_again);
        prop_assert!(events == events_again);
        let in_order = events.windows(2).all(|pair| pair[0].at <= pair[1].at);
        prop_assert!(in_order, "time went back");
        let (unlogged, none) = everything(&Scenario { log: false, ..scenario });
        prop_assert!(none.is_empty());
        prop_assert_eq!(&result, &unlogged);
    }

    #[test]
    fn streams_that_join_leave_the_books_balanced(
        scenario in scenario(),
        joins in prop::collection::vec((301..800u64, 0..6u32), 1..4),
    ) {
        let scenario = Scenario { work: Work::Endless, ..scenario };
        let (result, events) = grown(&scenario, &joins);
        let (result_again, events_again) = grown(&scenario, &joins);
        prop_assert_eq!(&result, &result_again);
        prop_assert!(events == events_again);
        let in_order = events.windows(2).all(|pair| pair[0].at <= pair[1].at);
        prop_assert!(in_order, "time went back");
    }

    #[test]
    fn no_path_carries_more_than_its_rate(scenario in scenario()) {
        // Without a warm-up nothing can stand in a queue when counting begins.
        let scenario = Scenario { warmup: Span::ZERO, ..scenario };
        let result = sim::run(&scenario).unwrap();
        let forward = &scenario.path.forward;
        // Cross traffic does not pass the other links.
        let rate = match &forward.variation {
            Some(Variation::Drawn(drawn)) => drawn.high.as_f64(),
            _ => forward.rate.as_f64(),
        };
        let narrowest = scenario.path.narrowest(Way::Forward).rate;
        let streams: f64 = result.streams.iter().map(|stream| stream.goodput.as_f64()).sum();
        let cross: f64 = result.cross.iter().map(|group| group.goodput.as_f64()).sum();
        prop_assert!(streams + cross <= rate * 1.001, "{streams} + {cross} of {rate}");
        // A packet counts as sent when its sending begins.
        let packet = narrowest.time_to_send(Bytes::new(1500)).as_secs_f64();
        let edges = 2.0 * packet / result.measured.as_secs_f64().max(packet);
        // It is a share of the mean rate, which a rate that varies exceeds at times.
        let most = (1.001 + edges) * rate / forward.rate.as_f64();
        prop_assert!(result.utilisation <= most, "{} of {most}", result.utilisation);
        if let (Work::Striped(bytes), Some(_)) = (scenario.work, result.completion) {
            let acknowledged: Bytes = result.streams.iter().map(|stream| stream.acknowledged).sum();
            prop_assert_eq!(acknowledged, bytes);
        }
    }
}
