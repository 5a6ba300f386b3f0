use observe::{Amount, Limit, Precision, Snapshot, StreamCount, StreamDirection, Window};
use units::{Rate, Span, Time};

use super::*;

fn target(path: &str) -> SimulatedPath {
    SimulatedPath::new(&PathSpec::load(path).unwrap(), 1)
}

fn made(text: &str) -> SimulatedPath {
    SimulatedPath::new(&PathSpec::from_toml("made", text).unwrap(), 1)
}

fn setting(streams: u64, window: Window) -> Setting {
    Setting::new(StreamCount::new(streams).unwrap(), window)
}

fn default_stream() -> Setting {
    setting(1, Window::Auto)
}

fn lasting(seconds: u64) -> SamplePlan {
    SamplePlan::lasting(Span::from_secs(seconds))
}

fn seen(path: &str, setting: &Setting, seconds: u64) -> Observation {
    target(path)
        .observe(setting, &lasting(seconds), &mut ())
        .unwrap()
}

fn limit(observation: &Observation) -> Limit {
    inference::verdict(observation).limit
}

fn mbit(observation: &Observation) -> f64 {
    let summary = observation.summary();
    summary.main().unwrap().goodput.mean.as_f64() / 1e6
}

#[test]
fn one_seed_gives_one_series_of_runs_and_no_run_is_like_another() {
    let runs = |seed| {
        let mut target = SimulatedPath::new(&PathSpec::load("slac-cern").unwrap(), seed);
        let run = || target.observe(&setting(2, Window::Auto), &lasting(5), &mut ());
        std::iter::repeat_with(run)
            .take(2)
            .map(Result::unwrap)
            .collect::<Vec<_>>()
    };
    let (first, again, other) = (runs(7), runs(7), runs(8));
    assert_eq!(first, again);
    assert_ne!(first[0], first[1]);
    assert_ne!(first[0], other[0]);
}

#[test]
fn a_window_limits_where_it_is_smaller_than_the_path() {
    let observation = seen(
        "oc12-100ms",
        &setting(1, Window::Fixed(Bytes::from_kib(64))),
        5,
    );
    assert_eq!(limit(&observation), Limit::ReceiveBuffer);
    // 56 segments of 1448 bytes each 100.1 ms; the kernel's, over the emulated path, were 6.44.
    assert!(
        (6.4..6.5).contains(&mbit(&observation)),
        "{}",
        mbit(&observation)
    );
    let stream = &observation.streams[0];
    assert_eq!(stream.buffers.unwrap().send.granted, Bytes::from_kib(128));
    assert!(!stream.buffers.unwrap().receive.is_clamped());
    assert_eq!(stream.tcp.last().unwrap().unacked_segments, Some(56));
}

#[test]
fn a_small_send_buffer_limits_under_its_own_name() {
    let mut target = made(
        "[forward]\nrate = \"400Mbit/s\"\ndelay = \"25ms\"\n\
         queue = { kind = \"drop-tail\", limit = \"8MiB\" }\n\
         [hosts]\nsend_buffer_max = \"256KiB\"",
    );
    let observation = target.observe(&default_stream(), &lasting(5), &mut ());
    assert_eq!(limit(&observation.unwrap()), Limit::SendBuffer);
}

#[test]
fn loss_limits_a_lossy_path_and_the_link_a_clean_one() {
    // Losses every few hundred packets: the window goes up and down ten times in the run.
    let mut target = made(
        "[forward]\nrate = \"100Mbit/s\"\ndelay = \"20ms\"\n\
         queue = { kind = \"drop-tail\", limit = \"1MiB\" }\n\
         loss = { kind = \"random\", rate = 0.003 }",
    );
    let lossy = target.observe(&default_stream(), &lasting(20), &mut ());
    assert_eq!(limit(&lossy.unwrap()), Limit::Loss);
    let clean = seen("lan", &default_stream(), 5);
    assert_eq!(limit(&clean), Limit::Link);
    // 1448 of 1500 bytes, and a little less where CUBIC drops a packet.
    assert!((940.0..965.4).contains(&mbit(&clean)), "{}", mbit(&clean));
}

#[test]
fn a_stream_over_udp_keeps_its_rate_under_losses() {
    let mut target = made(
        "[forward]\nrate = \"100Mbit/s\"\ndelay = \"50ms\"\n\
         queue = { kind = \"drop-tail\", limit = \"1.25MB\" }\n\
         loss = { kind = \"random\", rate = 0.01 }",
    );
    let over = |transport| Setting {
        transport,
        ..default_stream()
    };
    let udp = target.observe(&over(Transport::Udp), &lasting(10), &mut ());
    let tcp = target.observe(&over(Transport::Tcp), &lasting(10), &mut ());
    let (udp, tcp) = (udp.unwrap(), tcp.unwrap());
    // 1434 of 1500 bytes, 1 % of them lost, and less until the path is full.
    assert!((75.0..94.7).contains(&mbit(&udp)), "{}", mbit(&udp));
    assert!(mbit(&tcp) < 10.0, "{}", mbit(&tcp));
    assert_eq!(udp.congestion_used.as_deref(), Some("path-model"));
}

#[test]
fn options_of_tcp_are_refused_over_udp() {
    let windowed = Setting {
        transport: Transport::Udp,
        ..setting(1, Window::Fixed(Bytes::from_kib(64)))
    };
    let seen = target("lan").observe(&windowed, &lasting(1), &mut ());
    let error = seen.unwrap_err();
    let told = "`--window` is for TCP, and this run goes over UDP";
    assert_eq!(error.to_string(), told);
}

#[test]
fn round_trips_are_those_of_the_path_and_its_queue() {
    let observation = seen(
        "slac-caltech",
        &setting(8, Window::Fixed(Bytes::from_kib(64))),
        10,
    );
    let trips = &observation.round_trips;
    let unloaded = trips.unloaded.as_ref().unwrap();
    // Twenty a second, and each sees 15 ms and two times 480 bits at 67 Mbit/s; 2.8 in 1000 are
    // lost.
    assert!(unloaded.probes.len() == 20 && unloaded.loss_ratio() < Some(0.2));
    let idle = unloaded.mean().unwrap();
    assert!(
        idle >= Span::from_millis(15) && idle < Span::from_micros(15_100),
        "{idle}"
    );
    let loaded = trips.loaded.as_ref().unwrap();
    assert!(loaded.probes.len() >= 195, "{}", loaded.probes.len());
    // The queue of 128 KiB adds up to 15.7 ms.
    assert!((0.001..0.016).contains(&trips.added_seconds().unwrap()));
}

#[test]
fn the_far_end_sends_over_the_exchanged_links() {
    let path = "[forward]\nrate = \"50Mbit/s\"\ndelay = \"5ms\"\n\
                queue = { kind = \"drop-tail\", limit = \"128KiB\" }\n\
                [reverse]\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\n\
                queue = { kind = \"drop-tail\", limit = \"64KiB\" }\n";
    let reverse = Setting {
        direction: Direction::Reverse,
        ..default_stream()
    };
    let run = |setting: &Setting| made(path).observe(setting, &lasting(5), &mut ()).unwrap();
    let (there, back) = (run(&default_stream()), run(&reverse));
    assert_eq!(back.streams[0].direction, StreamDirection::Receiving);
    assert!((46.0..48.3).contains(&mbit(&there)), "{}", mbit(&there));
    assert!((9.0..9.7).contains(&mbit(&back)), "{}", mbit(&back));
    let crossed = format!("{path}[[cross]]\nstreams = 1\nwindow = \"8KiB\"");
    let error = made(&crossed)
        .observe(&reverse, &lasting(5), &mut ())
        .unwrap_err();
    assert_eq!(error.fault, Fault::Request);
    assert!(error.hint.unwrap().contains("`emu:made`"));
}

#[test]
fn what_cannot_be_simulated_is_refused_with_the_way_out() {
    let refused = |setting: &Setting| {
        let error = target("lan")
            .observe(setting, &lasting(1), &mut ())
            .unwrap_err();
        assert_eq!(error.fault, Fault::Request);
        assert!(error.hint.unwrap().contains("`emu:"));
        error.what
    };
    let base = default_stream();
    let both = refused(&Setting {
        direction: Direction::Both,
        ..base.clone()
    });
    assert!(both.contains("one way at a time"), "{both}");
    let congestion = refused(&Setting {
        congestion: Some("westwood".to_owned()),
        ..base
    });
    assert!(
        congestion.starts_with("`westwood` is not a TCP variant; known: "),
        "{congestion}"
    );
}

#[test]
fn the_simulators_own_names_of_congestion_controls_do_too() {
    for name in ["reno", "cubic", "fack", "ledbat++"] {
        let own = Setting {
            congestion: Some(name.to_owned()),
            ..default_stream()
        };
        let observation = seen("lan", &own, 1);
        assert_eq!(observation.congestion_used.as_deref(), Some(name));
        assert!(observation.bytes_delivered() > Bytes::ZERO, "{name}");
    }
}

#[test]
fn a_number_of_bytes_is_carried_to_the_last() {
    let wanted = Bytes::new(3_000_001);
    let plan = SamplePlan {
        amount: Amount::Bytes(wanted),
        ..lasting(1)
    };
    let mut target = target("lan");
    let observation = target
        .observe(&setting(4, Window::Auto), &plan, &mut ())
        .unwrap();
    assert_eq!(observation.bytes_delivered(), wanted);
    // 24 Mbit at 1 Gbit/s, less headers, and what starting takes.
    let took = observation.duration;
    assert!(
        took > Span::from_millis(24) && took < Span::from_millis(120),
        "{took}"
    );
    for stream in &observation.streams {
        assert_eq!(stream.tcp.last().unwrap().not_sent, Some(Bytes::ZERO));
    }
}

#[test]
fn a_dead_path_ends_a_number_of_bytes_and_says_so() {
    let plan = SamplePlan {
        amount: Amount::Bytes(Bytes::from_mib(1)),
        ..lasting(1)
    };
    let mut target = made(
        "[forward]\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\n\
         queue = { kind = \"drop-tail\", limit = \"64KiB\" }\n\
         loss = { kind = \"random\", rate = 0.9999 }",
    );
    let error = target
        .observe(&default_stream(), &plan, &mut ())
        .unwrap_err();
    assert_eq!(
        (error.fault, error.what.as_str()),
        (Fault::Run, "no data moved for 30s")
    );
}

#[test]
fn a_run_stops_when_its_goodput_is_known() {
    let plan = SamplePlan {
        precision: Some(Precision {
            relative_half_width: 0.05,
            steady_min: Span::from_secs(1),
        }),
        unloaded: Span::ZERO,
        ..lasting(60)
    };
    let observation = target("lan")
        .observe(&default_stream(), &plan, &mut ())
        .unwrap();
    assert!(
        observation.duration < Span::from_secs(20),
        "{}",
        observation.duration
    );
    assert_eq!(observation.round_trips.unloaded, None);
    let progress = &observation.streams[0].delivery.progress;
    assert!(progress.windows(2).all(|two| two[0].at < two[1].at));
}

#[test]
fn segments_are_as_large_as_asked_and_the_readings_are_those_of_a_kernel() {
    let small = Setting {
        mss: Some(1_200),
        ..default_stream()
    };
    let observation = seen("lan", &small, 2);
    let stream = &observation.streams[0];
    assert_eq!(stream.tcp.len(), 21);
    let last = stream.tcp.last().unwrap();
    // 12 bytes of each segment are its timestamps.
    assert_eq!(last.mss, Some(Bytes::new(1_188)));
    assert_eq!(last.at, Time::ZERO + Span::from_secs(2));
    assert!(last.rtt_min >= Some(Span::from_micros(300)) && last.rtt >= last.rtt_min);
    assert!(last.bytes_acked.unwrap() <= stream.delivery.total());
    assert!(last.bytes_sent.unwrap() >= stream.delivery.total());
    assert!(last.busy.unwrap() > Span::from_millis(1_900));
    assert!(last.delivery_rate.unwrap() > Rate::from_bits_per_second(800_000_000));
}

#[test]
fn a_paced_stream_keeps_to_its_rate_and_no_buffer_is_blamed() {
    let paced = Setting {
        pacing: Some(Rate::from_bits_per_second(10_000_000)),
        ..default_stream()
    };
    let observation = seen("lan", &paced, 5);
    // Headers count: 1448 of 1500 bytes are payload.
    assert!(
        (9.4..9.7).contains(&mbit(&observation)),
        "{}",
        mbit(&observation)
    );
    let last = observation.streams[0].tcp.last().unwrap();
    assert_eq!(last.receive_window_limited, Some(Span::ZERO));
}

#[test]
fn a_watch_follows_a_run_and_may_end_it() {
    struct Impatient(Vec<Snapshot>);
    impl RunObserver for Impatient {
        fn on_progress(&mut self, snapshot: &Snapshot) {
            self.0.push(*snapshot);
        }
        fn is_cancelled(&self) -> bool {
            self.0.len() == 7
        }
    }
    let mut watch = Impatient(Vec::new());
    let error = target("lan").observe(&default_stream(), &lasting(10), &mut watch);
    assert_eq!(error.unwrap_err().fault, Fault::Cancelled);
    assert_eq!(watch.0[6].at, Time::ZERO + Span::from_millis(600));
    assert!(watch.0[6].bytes > watch.0[5].bytes);
}

#[test]
fn cross_traffic_takes_its_share_from_the_beginning() {
    let path = "[forward]\nrate = \"20Mbit/s\"\ndelay = \"5ms\"\n\
                queue = { kind = \"drop-tail\", limit = \"64KiB\" }\n\
                [[cross]]\nstreams = 4\nwindow = \"64KiB\"";
    let observation = made(path)
        .observe(&default_stream(), &lasting(10), &mut ())
        .unwrap();
    // Five streams share 19.3 Mbit/s of payload.
    assert!(
        (1.0..9.0).contains(&mbit(&observation)),
        "{}",
        mbit(&observation)
    );
    // They stand in the queue before our stream does.
    let idle = observation.round_trips.unloaded.unwrap().mean().unwrap();
    assert!(idle > Span::from_millis(15), "{idle}");
}

mod datagrams;
mod growth;
mod intervals;
