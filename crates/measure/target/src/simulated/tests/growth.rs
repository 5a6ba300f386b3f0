//! Runs that are kept and that streams join, and watches that have seen enough.

use observe::Then;

use super::*;

fn kept(seconds: u64) -> SamplePlan {
    SamplePlan {
        then: Then::KeepRunning,
        ..lasting(seconds)
    }
}

/// A clean path on which a window of 64 KiB keeps 56 segments of 1448 bytes going each 100.1 ms.
fn small_windows(streams: u64) -> Setting {
    setting(streams, Window::Fixed(Bytes::from_kib(64)))
}

fn grown_from(observation: &Observation) -> Option<u16> {
    observation.grown_from.map(StreamCount::get)
}

#[test]
fn streams_join_a_run_that_was_kept_and_no_other_starts_anew() {
    let mut target = target("oc12-100ms");
    let mut seen = |streams| target.observe(&small_windows(streams), &kept(3), &mut ());
    let (one, four) = (seen(1).unwrap(), seen(4).unwrap());
    assert_eq!((grown_from(&one), grown_from(&four)), (None, Some(1)));
    assert_eq!(four.streams.len(), 4);
    // A round trip of connecting, and no second look at the idle path.
    assert_eq!(four.elapsed - four.duration, Span::from_millis(100));
    assert_eq!(
        (four.duration, &four.round_trips.unloaded),
        (Span::from_secs(3), &None)
    );
    let probes = &four.round_trips.loaded.as_ref().unwrap().probes;
    assert!((55..=60).contains(&probes.len()), "{}", probes.len());
    assert_eq!(probes[0].sent, Time::ZERO);
    for stream in &four.streams {
        let progress = &stream.delivery.progress;
        assert_eq!(
            (progress[0].at, progress[0].bytes),
            (Time::ZERO, Bytes::ZERO)
        );
        assert_eq!(progress.last().unwrap().bytes, stream.delivery.total());
    }
    // The first sends on at its full rate, 0.81 MB/s, and its kernel counts on. The others begin
    // with 10, 20 and 40 segments instead of 56: 0.14 MB less.
    let total = |index: usize| four.streams[index].delivery.total().as_f64();
    assert!((total(0) / 2.43e6 - 1.0).abs() < 0.02, "{}", total(0));
    assert!(total(3) < total(0) - 1.3e5, "{}", total(3));
    let acked = |index: usize| four.streams[index].tcp[0].bytes_acked.unwrap();
    assert!(acked(0) > Bytes::new(2_000_000) && acked(3) == Bytes::ZERO);
}

#[test]
fn an_equal_setting_looks_on_for_longer() {
    let mut target = target("oc12-100ms");
    let mut seen = || {
        target
            .observe(&small_windows(2), &kept(2), &mut ())
            .unwrap()
    };
    let (first, second) = (seen(), seen());
    assert_eq!(grown_from(&second), Some(2));
    assert_eq!(second.elapsed, second.duration);
    assert!(second.bytes_delivered() > first.bytes_delivered());
    let rates = |seen: &Observation| seen.streams[0].tcp[0].delivery_rate;
    assert_eq!(rates(&second), None);
}

#[test]
fn other_settings_fewer_streams_byte_counts_and_stop_end_a_kept_run() {
    let paced = Setting {
        pacing: Some(Rate::from_bits_per_second(1_000_000)),
        ..small_windows(2)
    };
    let bytes = SamplePlan {
        amount: Amount::Bytes(Bytes::from_mib(1)),
        ..kept(1)
    };
    for (next, plan) in [
        (small_windows(1), kept(1)),
        (setting(2, Window::Auto), kept(1)),
        (paced, kept(1)),
        (small_windows(4), bytes),
    ] {
        let mut target = target("oc12-100ms");
        target
            .observe(&small_windows(2), &kept(1), &mut ())
            .unwrap();
        let seen = target.observe(&next, &plan, &mut ()).unwrap();
        assert_eq!(grown_from(&seen), None, "{next:?}");
    }
    let mut target = target("oc12-100ms");
    let mut seen = |plan| grown_from(&target.observe(&small_windows(2), &plan, &mut ()).unwrap());
    assert_eq!(
        [
            seen(lasting(1)),
            seen(kept(1)),
            seen(lasting(1)),
            seen(kept(1))
        ],
        [None, None, Some(2), None]
    );
    target.stop();
    let seen = target
        .observe(&small_windows(2), &kept(1), &mut ())
        .unwrap();
    assert_eq!(grown_from(&seen), None);
}

#[test]
fn a_kept_run_shows_the_same_with_the_same_seed() {
    let stages = |seed| {
        let mut target = SimulatedPath::new(&PathSpec::load("slac-caltech").unwrap(), seed);
        let mut seen = |streams| target.observe(&setting(streams, Window::Auto), &kept(2), &mut ());
        [1, 2, 8, 8].map(|streams| seen(streams).unwrap())
    };
    assert_eq!(stages(3), stages(3));
    assert_ne!(stages(3), stages(4));
}

/// Before what arrived was a bound, 12 of 1000 such runs showed up to 0.6 % more than fits: what
/// had waited behind a hole was read within the window.
#[test]
fn no_goodput_is_more_than_the_link_carries() {
    for path in ["oc3-80ms", "lossy-wifi", "shallow-queue"] {
        let spec = PathSpec::load(path).unwrap();
        // Payload in full packets, and one packet that was on its way.
        let most = spec.forward.rate.as_f64() / 1e6 * 1_448.0 / 1_500.0 * 1.0002;
        for seed in 1..=12 {
            let mut target = SimulatedPath::new(&spec, seed);
            for streams in [4, 16, 16] {
                let seen = target.observe(&setting(streams, Window::Auto), &kept(3), &mut ());
                let goodput = mbit(&seen.unwrap());
                assert!(goodput <= most, "{path}, seed {seed}, {streams}: {goodput}");
            }
        }
    }
}

/// Keeps what it sees, and has enough after so many looks.
struct Satisfied {
    seen: Vec<Snapshot>,
    enough: usize,
}

impl RunObserver for Satisfied {
    fn on_progress(&mut self, snapshot: &Snapshot) {
        self.seen.push(*snapshot);
    }
    fn has_enough(&self) -> bool {
        self.seen.len() >= self.enough
    }
}

#[test]
fn who_has_seen_enough_ends_a_run_and_what_it_showed_counts() {
    let mut watch = Satisfied {
        seen: Vec::new(),
        enough: 21,
    };
    let mut target = target("slac-caltech");
    let seen = target
        .observe(&setting(8, Window::Auto), &kept(30), &mut watch)
        .unwrap();
    assert_eq!(seen.duration, Span::from_secs(2));
    assert_eq!(seen.bytes_delivered(), watch.seen[20].bytes);
    let after = target
        .observe(&setting(16, Window::Auto), &kept(1), &mut ())
        .unwrap();
    assert_eq!(grown_from(&after), Some(8));
}

#[test]
fn a_snapshot_tells_the_latest_probe_and_what_was_sent_again() {
    let mut watch = Satisfied {
        seen: Vec::new(),
        enough: 30,
    };
    let mut target = target("slac-caltech");
    target
        .observe(&setting(8, Window::Auto), &lasting(30), &mut watch)
        .unwrap();
    // Nothing was answered and nothing compared when the streams started.
    assert_eq!(
        (watch.seen[0].probe_rtt, watch.seen[0].retransmitted_share),
        (None, None)
    );
    for snapshot in &watch.seen[2..] {
        let rtt = snapshot.probe_rtt.unwrap();
        // 15 ms of path, and a queue of 128 KiB that adds up to 15.7 ms.
        assert!((0.015..0.031).contains(&rtt.as_secs_f64()), "{rtt}");
        assert!((0.0..1.0).contains(&snapshot.retransmitted_share.unwrap()));
    }
    assert!(
        watch
            .seen
            .iter()
            .any(|snapshot| snapshot.retransmitted_share > Some(0.0))
    );
}

#[test]
fn the_paths_own_congestion_control_comes_first_then_the_others_of_linux() {
    let names = |target: &SimulatedPath| target.describe().congestion;
    assert_eq!(names(&target("lan"))[..2], ["cubic", "reno"]);
    let own = made(
        "[forward]\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n\
         queue = { kind = \"drop-tail\", limit = \"64KiB\" }\n[hosts]\ncongestion = \"newreno\"",
    );
    let all = [
        "newreno",
        "cubic",
        "reno",
        "bbr",
        "vegas",
        "highspeed",
        "scalable",
    ];
    assert_eq!(names(&own), all);
}
