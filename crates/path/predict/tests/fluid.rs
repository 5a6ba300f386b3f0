//! The fluid model beside the packet simulator, and what it refuses.

use errors::Hint;
use netpath::{Loss, PathSpec, QueueLimit, QueueSpec};
use predict::{FlowClass, Fluid, FluidQuestion, fluid, fluid_unbounded};
use sim::{Scenario, Variant};
use units::{Bytes, Rate, Span};

fn path(congestion: &str) -> PathSpec {
    let mut path = PathSpec::load("lan").unwrap();
    path.hosts.congestion = congestion.to_owned();
    path.hosts.mtu = 1500;
    for link in [&mut path.forward, &mut path.reverse] {
        link.rate = Rate::from_bits_per_second(50_000_000);
        link.delay = Span::from_millis(20);
        link.queue = QueueSpec::DropTail(QueueLimit::Packets(160));
    }
    path
}

fn question(path: PathSpec, class: FlowClass) -> FluidQuestion {
    FluidQuestion {
        path,
        classes: vec![class],
        duration: Some(Span::from_secs(20)),
        warmup: None,
        seed: 1,
    }
}

/// Both bounds are those that the guide promises.
#[test]
fn fifty_flows_share_a_link_as_packets_do() {
    for congestion in ["reno", "cubic"] {
        let path = path(congestion);
        let said = fluid(&question(path.clone(), FlowClass::of(50))).unwrap();
        let mut scenario = Scenario::of(path, Variant::of_path(congestion).unwrap());
        scenario.streams = 50;
        scenario.duration = Span::from_secs(20);
        scenario.warmup = Span::from_secs(10);
        let run = sim::run(&scenario).unwrap();
        let goodput: f64 = run.streams.iter().map(|one| one.goodput.as_f64()).sum();
        let ratio = said.goodput.unwrap().as_f64() / goodput;
        assert!((0.95..1.05).contains(&ratio), "{congestion}: {ratio}");
        let ratio = said.queue_packets.unwrap() / run.queue.mean_packets;
        assert!((0.95..1.05).contains(&ratio), "{congestion}: {ratio}");
        assert_eq!(said.loss, None);
        assert!(
            said.outside
                .iter()
                .any(|reason| reason.starts_with("no loss"))
        );
    }
}

/// The round trip was checked there, not the queue: neither its packets nor its time are given.
#[test]
fn a_short_queue_has_a_round_trip_and_no_mean() {
    let mut short = path("reno");
    short.forward.queue = QueueSpec::DropTail(QueueLimit::Packets(30));
    let said = fluid(&question(short, FlowClass::of(10))).unwrap();
    assert_eq!((said.queue_packets, said.wait), (None, None));
    assert!(said.classes[0].rtt.is_some(), "{:?}", said.outside);
}

#[test]
fn a_million_flows_are_one_class() {
    let mut wide = path("cubic");
    for link in [&mut wide.forward, &mut wide.reverse] {
        link.rate = Rate::from_bits_per_second(1_000_000_000_000);
        link.queue = QueueSpec::DropTail(QueueLimit::Packets(3_000_000));
    }
    let said = fluid(&question(wide, FlowClass::of(1_000_000))).unwrap();
    // All of the link but headers: 1448 of 1500 bytes.
    let share = said.goodput.unwrap().as_f64() / 1e12 / (1448.0 / 1500.0);
    assert!((0.99..1.001).contains(&share), "{share}");
}

#[test]
fn the_same_question_has_the_same_answer() {
    let ask = || fluid_unbounded(&question(path("reno"), FlowClass::of(300))).unwrap();
    assert_eq!(ask(), ask());
}

#[test]
fn a_class_that_stops_leaves_the_link_to_the_others() {
    let half = FlowClass {
        stop: Some(Span::from_secs(5)),
        window: Some(Bytes::from_kib(64)),
        ..FlowClass::of(20)
    };
    let both = FluidQuestion {
        classes: vec![half, FlowClass::of(20)],
        ..question(path("reno"), FlowClass::of(1))
    };
    let said: Fluid = fluid_unbounded(&both).unwrap();
    assert_eq!(said.classes[0].goodput, Some(Rate::ZERO));
    assert!(said.classes[1].goodput.unwrap().as_f64() > 40e6);
}

#[test]
fn few_flows_on_a_long_fat_path_have_no_figure() {
    let mut long = path("reno");
    for link in [&mut long.forward, &mut long.reverse] {
        link.rate = Rate::from_bits_per_second(10_000_000_000);
    }
    long.hosts.send_buffer_max = Bytes::from_mib(256);
    long.hosts.receive_buffer_max = Bytes::from_mib(256);
    let said = fluid(&question(long, FlowClass::of(4))).unwrap();
    assert_eq!(
        (said.goodput, said.loss, said.queue_packets),
        (None, None, None)
    );
    assert!(
        said.outside[0].contains("segments for each flow"),
        "{:?}",
        said.outside
    );
}

#[test]
fn what_it_does_not_describe_is_refused_by_name() {
    let refusal = |path, class| fluid(&question(path, class)).unwrap_err();
    let bbr = refusal(path("bbr"), FlowClass::of(10));
    assert_eq!(
        bbr.to_string(),
        "the fluid model does not describe `bbr`; it has reno and cubic"
    );
    assert!(bbr.hint().unwrap().contains("congestion=reno"));
    let late = FlowClass {
        start: Span::from_secs(30),
        ..FlowClass::of(10)
    };
    let late = refusal(path("reno"), late).to_string();
    assert!(late.contains("start at 30s and stop at 20s"), "{late}");
    let short = FlowClass {
        rtt: Some(Span::from_micros(200)),
        ..FlowClass::of(10)
    };
    let short = refusal(path("reno"), short).to_string();
    assert!(
        short.contains("20000 of the shortest round trip, 4s"),
        "{short}"
    );
    let long = FlowClass {
        rtt: Some(Span::from_secs(5)),
        ..FlowClass::of(10)
    };
    let long = refusal(path("reno"), long).to_string();
    assert!(
        long.contains("20s is below 10 of the longest round trip, 50s"),
        "{long}"
    );
    let narrow = FlowClass {
        window: Some(Bytes::new(100)),
        ..FlowClass::of(10)
    };
    let narrow = refusal(path("reno"), narrow).to_string();
    assert!(narrow.contains("below one segment of"), "{narrow}");
    let many = FluidQuestion {
        classes: vec![FlowClass::of(1); 65],
        ..question(path("reno"), FlowClass::of(1))
    };
    let many = fluid(&many).unwrap_err().to_string();
    assert!(many.contains("65 classes") && many.contains("64"), "{many}");
}

/// What is refused, and how a path gets it.
type Refused = (&'static str, fn(&mut PathSpec, Loss));

#[test]
fn losses_in_bursts_and_a_way_back_that_matters_are_refused_by_name() {
    let bursts = Loss::GilbertElliott {
        enter: 0.002,
        leave: 0.25,
        loss_bad: 1.0,
        loss_good: 0.0,
    };
    let changes: [Refused; 3] = [
        ("`forward.loss` (in bursts)", |path, bursts| {
            path.forward.loss = bursts;
        }),
        ("`reverse.loss` (0.01)", |path, _| {
            path.reverse.loss = Loss::Random { rate: 0.01 };
        }),
        ("`reverse.rate` (1Mbit/s, below the ", |path, _| {
            path.reverse.rate = Rate::from_bits_per_second(1_000_000);
        }),
    ];
    for (part, change) in changes {
        let mut path = path("reno");
        change(&mut path, bursts);
        let error = fluid(&question(path, FlowClass::of(10))).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn a_warm_up_leaves_out_the_slow_start_and_something_of_the_run() {
    let asked = |warmup| FluidQuestion {
        warmup: Some(warmup),
        ..question(path("reno"), FlowClass::of(50))
    };
    let half = fluid(&asked(Span::from_secs(10))).unwrap();
    assert_eq!(
        half,
        fluid(&question(path("reno"), FlowClass::of(50))).unwrap()
    );
    let refusal = |warmup| fluid(&asked(warmup)).unwrap_err().to_string();
    let early = refusal(Span::from_millis(100));
    assert!(
        early.contains("100ms is below 5 of the longest round trip, 200ms"),
        "{early}"
    );
    let late = refusal(Span::from_millis(19_900));
    assert!(
        late.contains("19.9s leaves 100ms of a run of 20s, below 5 of"),
        "{late}"
    );
}
