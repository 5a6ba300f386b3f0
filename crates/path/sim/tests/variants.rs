//! Each variant end to end: 20 Mbit/s, 40 ms, a queue of one bandwidth-delay product (67 packets).

use netpath::PathSpec;
use sim::{RunResult, Scenario, Simulation, Variant, Work, run};
use units::{Bytes, Rate, Span, Time};

const RATE: f64 = 20e6;
/// One bandwidth-delay product.
const QUEUE: u32 = 67;

fn scenario(variant: Variant, queue_packets: u32, cross: &str) -> Scenario {
    let text = format!(
        "[forward]\nrate = \"20Mbit/s\"\ndelay = \"20ms\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"{queue_packets} packets\" }}\n\
         [hosts]\nsend_buffer_max = \"64MiB\"\nreceive_buffer_max = \"64MiB\"\n{cross}"
    );
    let path = PathSpec::from_toml("table", &text).unwrap();
    let mut scenario = Scenario::new(path).unwrap();
    scenario.variant = variant;
    scenario.duration = Span::from_secs(60);
    scenario.warmup = Span::from_secs(10);
    scenario
}

const ONE_SACK_STREAM: &str =
    "[[cross]]\nkind = \"streams\"\nstreams = 1\nwindow = \"64MiB\"\ncongestion = \"reno\"\n";

fn goodput(result: &RunResult) -> f64 {
    result.streams.iter().map(|s| s.goodput.as_f64()).sum()
}

/// The streams' part of what all got.
fn share(result: &RunResult) -> f64 {
    let cross: f64 = result.cross.iter().map(|c| c.goodput.as_f64()).sum();
    goodput(result) / (goodput(result) + cross)
}

/// Least utilisation and largest mean queue, in packets.
fn expectation(variant: Variant) -> (f64, f64) {
    match variant {
        // Back to one segment at each loss.
        Variant::Tahoe => (0.88, 40.0),
        // Several losses in one window cost it a timeout.
        Variant::Reno => (0.90, 40.0),
        // A halved window still fills the pipe, and the queue swings between empty and full.
        Variant::NewReno | Variant::Sack | Variant::Fack | Variant::Ensemble => (0.98, 45.0),
        // The window falls by less: the queue never empties.
        Variant::Cubic | Variant::HighSpeed => (0.98, 58.0),
        Variant::Scalable => (0.98, 65.0),
        // Between two and four segments.
        Variant::Vegas => (0.98, 4.0),
        // Twenty segments.
        Variant::Fast => (0.98, 21.0),
        // The queue of 40 ms is below the target of 60: losses rule, at a third of Reno's growth,
        // and a tenth of the time is given to slowdowns.
        Variant::LedbatPlusPlus => (0.88, 40.0),
        // A quarter of the pipe is added for one round trip in eight, and taken away again; every
        // ten seconds 200 ms are given to the measurement of the delay; the pace is a hundredth
        // slower.
        Variant::Bbr => (0.95, 10.0),
        Variant::PathModel => (0.93, 25.0),
        Variant::Udt => (0.9, 60.0),
        // As fast as the link, and no faster.
        Variant::Rbudp | Variant::Netblt => (0.98, 3.0),
    }
}

#[test]
fn every_variant_fills_the_link_and_keeps_the_queue_that_it_should() {
    for variant in Variant::ALL {
        let result = run(&scenario(variant, QUEUE, "")).unwrap();
        let (least, queue) = expectation(variant);
        let seen = (result.utilisation, result.queue.mean_packets);
        assert!(seen.0 >= least && seen.1 <= queue, "{variant}: {seen:?}");
        let timeouts = result.streams[0].timeouts;
        assert!(timeouts == 0 || variant == Variant::Reno, "{variant}");
    }
}

#[test]
fn every_variant_delivers_all_of_a_transfer_through_losses() {
    let lossy = "loss = { kind = \"random\", rate = 0.01 }\n[hosts]";
    for variant in Variant::ALL {
        let mut scenario = scenario(variant, QUEUE, "");
        let text = "[forward]\nrate = \"20Mbit/s\"\ndelay = \"20ms\"\n\
                    queue = { kind = \"drop-tail\", limit = \"67 packets\" }\n"
            .to_owned();
        scenario.path = PathSpec::from_toml("lossy", &(text + lossy)).unwrap();
        scenario.streams = 3;
        scenario.work = Work::Striped(Bytes::new(5_000_001));
        scenario.warmup = Span::ZERO;
        scenario.duration = Span::from_secs(120);
        let result = run(&scenario).unwrap();
        assert!(result.completion.is_some(), "{variant}: {result:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for variant in Variant::ALL {
        let mut scenario = scenario(variant, 20, ONE_SACK_STREAM);
        scenario.streams = 2;
        scenario.duration = Span::from_secs(12);
        assert_eq!(run(&scenario), run(&scenario), "{variant}");
    }
}

#[test]
fn no_stream_exceeds_its_pacing_rate() {
    for variant in Variant::ALL {
        let mut scenario = scenario(variant, QUEUE, "");
        scenario.streams = 2;
        scenario.pacing = Some(Rate::from_bits_per_second(4_000_000));
        let result = run(&scenario).unwrap();
        // 1448 of 1500 bytes are payload, and nothing is lost on the way.
        let bound = 4e6 * 1448.0 / 1500.0;
        for stream in &result.streams {
            let share = stream.goodput.as_f64() / bound;
            assert!((0.95..1.001).contains(&share), "{variant}: {share}");
        }
        assert!(result.queue.mean_packets < 2.0, "{variant}");
    }
}

#[test]
fn a_pacing_rate_that_sends_nothing_is_refused() {
    let mut scenario = scenario(Variant::Sack, QUEUE, "");
    scenario.pacing = Some(Rate::ZERO);
    let error = run(&scenario).unwrap_err();
    assert_eq!(error.problem, "a pacing rate of 0bit/s is below 1kbit/s");
}

#[test]
fn an_ensemble_of_eight_takes_the_share_of_one_and_eight_streams_take_more() {
    let among_sack = |variant, streams| {
        let mut scenario = scenario(variant, QUEUE, ONE_SACK_STREAM);
        scenario.streams = streams;
        scenario.duration = Span::from_secs(120);
        share(&run(&scenario).unwrap())
    };
    let one = among_sack(Variant::Sack, 1);
    let ensemble = among_sack(Variant::Ensemble, 8);
    assert!((ensemble / one - 1.0).abs() < 0.35, "{ensemble} and {one}");
    // Eight of nine would be 0.89.
    let eight = among_sack(Variant::Sack, 8);
    assert!(eight > 0.8, "{eight}");
}

#[test]
fn an_ensemble_of_one_is_a_stream_with_sack() {
    // The window that streams share is cut at once, and not in proportion to what arrives.
    let goodput = |variant| {
        let mut scenario = scenario(variant, QUEUE, ONE_SACK_STREAM);
        scenario.tcp.kernel_hosts = false;
        goodput(&run(&scenario).unwrap())
    };
    let ratio = goodput(Variant::Ensemble) / goodput(Variant::Sack);
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// A queue of four bandwidth-delay products, 160 ms, leaves room for the target of 60 ms.
#[test]
fn ledbat_gives_way_to_a_sack_stream_and_keeps_to_its_target_alone() {
    let ledbat = Variant::LedbatPlusPlus;
    let beside = run(&scenario(ledbat, 4 * QUEUE, ONE_SACK_STREAM)).unwrap();
    assert!(share(&beside) < 0.05, "{}", share(&beside));
    let alone = run(&scenario(ledbat, 4 * QUEUE, "")).unwrap();
    // A tenth of the time is given to slowdowns.
    assert!(alone.utilisation > 0.9, "{}", alone.utilisation);
    // 60 ms are 100 packets.
    let queue = alone.queue.mean_packets;
    assert!((60.0..100.0).contains(&queue), "{queue}");
}

/// The other is there for half of the time, at 19 of 20 Mbit/s.
#[test]
fn ledbat_takes_the_rate_back_when_the_other_has_gone() {
    let cross = "[[cross]]\nkind = \"on-off\"\nsources = 1\nrate = \"19Mbit/s\"\non = \"20s\"\noff \
        = \"20s\"\n";
    let mut scenario = scenario(Variant::LedbatPlusPlus, 4 * QUEUE, cross);
    scenario.duration = Span::from_secs(300);
    scenario.series_interval = Some(Span::from_secs(5));
    let result = run(&scenario).unwrap();
    let steps = result.series.windows(2).map(|pair| {
        let own = (pair[1].acknowledged - pair[0].acknowledged).as_f64() * 8.0 / 5.0;
        let other = (pair[1].cross_delivered - pair[0].cross_delivered).as_f64() * 8.0 / 5.0;
        (own / RATE, other / RATE)
    });
    let steps: Vec<(f64, f64)> = steps.collect();
    let (mut beside, mut alone) = (Vec::new(), Vec::new());
    for pair in steps[2..].windows(2) {
        let [(_, before), (own, other)] = pair else {
            continue;
        };
        match (*before, *other) {
            (before, other) if before > 0.9 && other > 0.9 => beside.push(*own),
            (0.0, 0.0) => alone.push(*own),
            _ => {}
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    assert!(beside.len() >= 5 && alone.len() >= 5, "{steps:?}");
    assert!(mean(&beside) < 0.1, "{beside:?}");
    assert!(mean(&alone) > 0.8, "{alone:?}");
}

#[test]
fn bbr_keeps_its_rate_under_random_loss_where_sack_does_not() {
    let lossy = |variant| {
        let mut scenario = scenario(variant, QUEUE, "");
        let text = "[forward]\nrate = \"20Mbit/s\"\ndelay = \"20ms\"\n\
                    queue = { kind = \"drop-tail\", limit = \"67 packets\" }\n\
                    loss = { kind = \"random\", rate = 0.01 }\n";
        scenario.path = PathSpec::from_toml("lossy", text).unwrap();
        run(&scenario).unwrap().utilisation
    };
    // Mathis gives SACK 1.22 / 0.1 segments each 40 ms: 3.5 Mbit/s.
    let (bbr, sack) = (lossy(Variant::Bbr), lossy(Variant::Sack));
    assert!(bbr > 0.95 && sack < 0.25, "{bbr} and {sack}");
}

/// A measurement of the delay lasts 50 round trips of 4 ms here, and the rate counts for ten.
#[test]
fn bbr_does_not_forget_its_rate_on_a_short_path() {
    let mut scenario = scenario(Variant::Bbr, QUEUE, "");
    scenario.path.forward.delay = Span::from_millis(2);
    scenario.path.reverse.delay = Span::from_millis(2);
    let result = run(&scenario).unwrap();
    assert!(result.utilisation > 0.95, "{}", result.utilisation);
    assert_eq!(result.streams[0].retransmitted, 0);
}

#[test]
fn two_bbr_streams_share_evenly_in_a_deep_queue_and_hold_one_more_pipe() {
    let mut scenario = scenario(Variant::Bbr, 1000, "");
    scenario.streams = 2;
    let result = run(&scenario).unwrap();
    let [a, b] = [0, 1].map(|stream| result.streams[stream].goodput.as_f64());
    assert!((a / b - 1.0).abs() < 0.3, "{a} and {b}");
    // Windows of twice the pipe (section 4.2.3): a second pipe stands in the queue.
    let queue = result.queue.mean_packets;
    assert!((50.0..90.0).contains(&queue), "{queue}");
}

/// A queue of a quarter of what the path holds, where version 1 of BBR leaves others next to
/// nothing.
#[test]
fn the_path_model_leaves_a_cubic_stream_its_part_of_a_short_queue() {
    let cross = "[[cross]]\nstreams = 1\nwindow = \"8MiB\"\ncongestion = \"cubic\"\n";
    let share_of = |variant| {
        let mut scenario = scenario(variant, QUEUE / 4, cross);
        scenario.duration = Span::from_secs(120);
        share(&run(&scenario).unwrap())
    };
    let (ours, bbr) = (share_of(Variant::PathModel), share_of(Variant::Bbr));
    assert!((0.3..0.65).contains(&ours), "{ours}");
    assert!(bbr > ours + 0.1, "{bbr} and {ours}");
}

/// What a CUBIC stream keeps beside the path model, over what it keeps beside a second CUBIC;
/// each of them is there first in turn.
#[test]
fn beside_the_path_model_cubic_keeps_about_what_a_second_cubic_leaves() {
    let seed = 42_u64;
    println!("seed {seed}");
    let mut state = seed;
    let mut draw = |low: f64, high: f64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        low * (high / low).powf((state >> 40) as f64 / f64::from(1 << 24))
    };
    let mut ratios = Vec::new();
    for queue in [0.25, 0.5, 1.0, 2.0] {
        let (rate, millis) = (draw(10.0, 40.0), draw(20.0, 60.0));
        let beside = |first, second| {
            let mut scenario = scenario(first, (queue * rate * millis / 12.0) as u32 + 2, "");
            scenario.path.forward.rate = Rate::from_f64(rate * 1e6);
            scenario.path.forward.delay = Span::from_secs_f64(millis * 5e-4);
            scenario.path.reverse.delay = scenario.path.forward.delay;
            let mut simulation = Simulation::new(&scenario).unwrap();
            simulation.advance(Time::ZERO + Span::from_secs(15));
            let before = simulation.stream(0).unwrap().arrived;
            simulation.join_as(1, second, None).unwrap();
            simulation.advance(simulation.end());
            let of = |stream| simulation.stream(stream).unwrap().arrived;
            [of(0) - before, of(1)].map(Bytes::as_f64)
        };
        let two = beside(Variant::Cubic, Variant::Cubic);
        ratios.push(beside(Variant::Cubic, Variant::PathModel)[0] / two[0]);
        ratios.push(beside(Variant::PathModel, Variant::Cubic)[1] / two[1]);
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(mean > 0.85, "seed {seed}: {ratios:?}");
}

#[test]
fn netblt_slows_down_to_what_arrives() {
    // 15 of the 20 Mbit/s belong to others, who do not give way: what is dropped is shared, so that
    // the rest of 5 is the least that is left, and the first blocks still arrive at nearly 7/8.
    let cross = "[[cross]]\nkind = \"on-off\"\nsources = 1\nrate = \"15Mbit/s\"\non = \
        \"1000s\"\noff = \"10ms\"\n";
    let result = run(&scenario(Variant::Netblt, QUEUE, cross)).unwrap();
    let own = goodput(&result) / RATE;
    assert!((0.2..0.75).contains(&own), "{own}");
    assert!(result.utilisation > 0.95, "{}", result.utilisation);
}
