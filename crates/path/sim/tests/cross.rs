//! Others' traffic, end to end, and what is refused of it.

use netpath::PathSpec;
use sim::{Fate, PacketKind, Scenario, Simulation, Variant, Work, run};
use units::{Bytes, Rate, Span};

/// 10 Mbit/s, 20 ms, a queue of 50 packets, and what else the file says.
fn scenario(queue: &str, hosts: &str, cross: &str) -> Scenario {
    let text = format!(
        "[forward]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\nqueue = {{ {queue} \
            }}\n[hosts]\n{hosts}\n{cross}"
    );
    let path = PathSpec::from_toml("test", &text).unwrap_or_else(|error| panic!("{error}"));
    Scenario {
        duration: Span::from_secs(10),
        ..Scenario::new(path).unwrap()
    }
}

const DROP_TAIL: &str = "kind = \"drop-tail\", limit = \"50packets\"";
const ON_OFF: &str = "[[cross]]\nkind = \"on-off\"\nsources = 8\nrate = \"1Mbit/s\"\non = \
    \"200ms\"\noff = \"400ms\"";

fn cross_goodput(scenario: &Scenario) -> f64 {
    run(scenario).unwrap().cross[0].goodput.as_f64()
}

fn refused(scenario: &Scenario) -> String {
    run(scenario).unwrap_err().to_string()
}

#[test]
fn every_seed_has_its_own_cross_traffic() {
    let with_seed = |seed| Scenario {
        seed,
        ..scenario(DROP_TAIL, "", ON_OFF)
    };
    let mut goodputs: Vec<f64> = (8..16)
        .map(|seed| cross_goodput(&with_seed(seed)))
        .collect();
    goodputs.sort_by(f64::total_cmp);
    goodputs.dedup();
    assert_eq!(goodputs.len(), 8, "{goodputs:?}");
}

#[test]
fn cross_streams_are_as_the_hosts_unless_they_say_otherwise() {
    let streams = "[[cross]]\nstreams = 2\nwindow = \"1MiB\"\n";
    let as_hosts = scenario(DROP_TAIL, "congestion = \"bbr\"", streams);
    let said = format!("{streams}congestion = \"bbr\"");
    let explicit = scenario(DROP_TAIL, "congestion = \"bbr\"", &said);
    assert_eq!(cross_goodput(&as_hosts), cross_goodput(&explicit));
}

#[test]
fn tiny_transfers_count_what_they_carry() {
    let cross = "[[cross]]\nkind = \"transfers\"\nper_second = 1000\nmean_size = \"100B\"\nshape = \
        5.0\nwindow = \"64KiB\"";
    let goodput = cross_goodput(&scenario(DROP_TAIL, "", cross));
    // 1000 times 800 bits; sizes deviate by a quarter of the mean each, 10,000 of them by nothing.
    assert!((goodput / 800_000.0 - 1.0).abs() < 0.05, "{goodput}");
}

#[test]
fn transfers_that_never_end_have_a_bound() {
    let cross = "[[cross]]\nkind = \"transfers\"\nclass = \"scavenger\"\nper_second = \
        2000\nmean_size = \"200B\"\nshape = 5.0\nwindow = \"64KiB\"\n[[cross]]\nstreams = \
        4\nwindow = \"1MiB\"";
    let strict = "kind = \"strict\", limit = \"50packets\"";
    let shown = run(&scenario(strict, "", cross)).unwrap();
    assert!(shown.cross[0].turned_away > 0, "{:?}", shown.cross);
}

#[test]
fn transfers_whose_headers_fill_the_link_are_refused() {
    let cross = "[[cross]]\nkind = \"transfers\"\nper_second = 10000\nmean_size = \"100B\"\nshape \
        = 5.0\nwindow = \"64KiB\"";
    let problem = refused(&scenario(DROP_TAIL, "", cross));
    assert!(problem.contains("ask for 20."), "{problem}");
}

#[test]
fn an_ensemble_is_nothing_that_others_traffic_is() {
    let cross = "[[cross]]\nstreams = 2\nwindow = \"1MiB\"\ncongestion = \"ensemble\"";
    let problem = refused(&scenario(DROP_TAIL, "", cross));
    assert_eq!(
        problem,
        "cross traffic 1 asks for `ensemble`, which is not simulated"
    );
}

#[test]
fn an_ensemble_does_not_share_with_cross_traffic() {
    let cross = "[[cross]]\nkind = \"transfers\"\nper_second = 5\nmean_size = \"20kB\"\nshape = \
        2.0\nwindow = \"64KiB\"";
    let ensemble = Scenario {
        variant: Variant::Ensemble,
        streams: 4,
        ..scenario(DROP_TAIL, "", cross)
    };
    let shown = run(&ensemble).unwrap();
    let goodput: f64 = shown
        .streams
        .iter()
        .map(|stream| stream.goodput.as_f64())
        .sum();
    // The transfers ask for 0.8 Mbit/s of 10.
    assert!(goodput > 6e6, "{goodput}");
}

#[test]
fn sizes_beyond_all_bounds_are_refused() {
    let base = || scenario(DROP_TAIL, "", "");
    let huge = Bytes::new(6_219_112_644_608);
    let problem = refused(&Scenario {
        work: Work::PerStream(huge),
        ..base()
    });
    assert!(
        problem.contains("4294967296 segments, more than 4000000000"),
        "{problem}"
    );
    let problem = refused(&Scenario {
        window: Some(Bytes::from_mib(1500)),
        ..base()
    });
    assert!(problem.contains("more than TCP can tell"), "{problem}");
    let large = scenario(DROP_TAIL, "mtu = 65535\nsend_buffer_max = \"8KiB\"", "");
    assert!(refused(&large).contains("smaller than one segment"));
    let slow = Scenario {
        pacing: Some(Rate::from_bits_per_second(1)),
        ..base()
    };
    assert!(refused(&slow).contains("1bit/s"), "{}", refused(&slow));
}

#[test]
fn marks_take_the_place_of_drops_and_what_is_sent_again_carries_none() {
    let red = "kind = \"red\", limit = \"200packets\", min = \"5packets\", max = \"100packets\", \
        ecn = true";
    let mut base = scenario(red, "", "");
    base.tcp.ecn = true;
    base.streams = 2;
    base.log = true;
    let without = run(&Scenario {
        tcp: sim::TcpSettings {
            ecn: false,
            ..base.tcp
        },
        ..base.clone()
    });
    let mut simulation = Simulation::new(&base).unwrap();
    simulation.advance(simulation.end());
    let events = simulation.take_events();
    let shown = simulation.finish();
    assert!(shown.marks > 20, "{}", shown.marks);
    assert!(
        shown.drops.total() * 5 < without.unwrap().drops.total(),
        "{:?}",
        shown.drops
    );
    let data = events.iter().filter(|event| event.kind == PacketKind::Data);
    let again_marked =
        data.filter(|event| event.again && event.marked && event.fate == Fate::Received);
    assert_eq!(again_marked.count(), 0);
}

#[test]
fn hosts_with_ecn_are_marked_where_others_are_dropped() {
    let codel = "kind = \"codel\", limit = \"200packets\", ecn = true";
    let with = run(&scenario(codel, "ecn = true", "")).unwrap();
    let without = run(&scenario(codel, "", "")).unwrap();
    assert!(with.marks > 5 && with.drops.sojourn == 0, "{with:?}");
    assert!(
        without.marks == 0 && without.drops.sojourn > 5,
        "{without:?}"
    );
}

/// Mbit/s of 20 streams over 100 Mbit/s and 40 ms, RED with thresholds of 50 and 150 packets of
/// 333, mean of three seeds of 20 s, set up as in the comparison with ns-2.
fn red_goodput(fields: &str, ecn: bool) -> f64 {
    let text = format!(
        "[forward]\nrate = \"100Mbit/s\"\ndelay = \"20ms\"\nqueue = {{ kind = \"red\", \
         limit = \"333packets\", min = \"50packets\", max = \"150packets\", \
         ecn = {ecn}{fields} }}\n\
         [hosts]\nmtu = 1500\nsend_buffer_max = \"64MiB\"\nreceive_buffer_max = \"64MiB\"\n"
    );
    let path = PathSpec::from_toml("red", &text).unwrap();
    let mut base = Scenario::of(path.clone(), Variant::Sack);
    base.tcp = sim::TcpSettings {
        ecn,
        ..sim::TcpSettings::ns2(&path)
    };
    base.streams = 20;
    base.duration = Span::from_secs(20);
    base.warmup = Span::from_secs(6);
    let mut goodput = |seed| {
        base.seed = seed;
        let shown = run(&base).unwrap();
        shown
            .streams
            .iter()
            .map(|s| s.goodput.as_f64() / 1e6)
            .sum::<f64>()
    };
    (1..=3).map(&mut goodput).sum::<f64>() / 3.0
}

#[test]
fn red_carries_with_marks_and_without_what_ns2_carries() {
    // ns-2, mean of three seeds of 60 s: bench/ns/dumbbell.tcl with the settings above. Its seeds
    // and ours stray by 0.4 %, so a mean of three by 0.25 %; with two reductions for a mark, as
    // there once were, the second is 2.6 % lower.
    for (fields, ecn, ns2) in [
        ("", false, 94.6),
        ("", true, 93.1),
        (", wait = true", false, 97.0),
        (", wait = true", true, 96.9),
    ] {
        let seen = red_goodput(fields, ecn);
        assert!((seen / ns2 - 1.0).abs() < 0.013, "{fields} {ecn}: {seen}");
    }
}
