//! Runs that streams join while data flows.

mod support;

use endpoints::{Client, ClientError, Runs, ServerEvent, ServerLimits};
use observe::{
    Amount, Counted, Direction, Observation, Peer, RunObserver, SamplePlan, Setting, Snapshot,
    Stream, StreamCount, StreamDirection, Then, Window,
};
use support::{Iperf3Server, Running};
use units::{Bytes, Rate, Span, Time};

const DIRECTIONS: [Direction; 3] = [Direction::Forward, Direction::Reverse, Direction::Both];

/// Paced, so that many tests at once leave each other some of the processor.
fn setting(streams: u64, direction: Direction) -> Setting {
    Setting {
        direction,
        pacing: Some(Rate::from_bits_per_second(40_000_000)),
        ..Setting::new(StreamCount::new(streams).unwrap(), Window::Auto)
    }
}

fn keeping() -> SamplePlan {
    SamplePlan {
        unloaded: Span::from_millis(100),
        then: Then::KeepRunning,
        ..SamplePlan::lasting(Span::from_secs(1))
    }
}

fn runs(server: &Running) -> Runs {
    Runs::new(Client::new(server.target()))
}

fn observe(runs: &mut Runs, setting: &Setting) -> Observation {
    runs.observe(setting, &keeping(), &mut ()).unwrap()
}

fn grown_from(seen: &Observation) -> Option<u16> {
    seen.grown_from.map(StreamCount::get)
}

/// The streams of each test that was started, until `count` were.
fn started(server: &Running, count: usize) -> Vec<u16> {
    let mut streams = Vec::new();
    while streams.len() < count {
        if let ServerEvent::Started { request, .. } = server.next_event() {
            streams.push(request.streams);
        }
    }
    streams
}

fn assert_begins_anew(stream: &Stream) {
    let progress = &stream.delivery.progress;
    let first = progress.first().unwrap();
    assert_eq!(first.bytes, Bytes::ZERO);
    assert!(progress.is_sorted_by_key(|reading| (reading.at, reading.bytes)));
    assert!(progress.len() >= 3, "{}", progress.len());
    assert_eq!(stream.delivery.counted, Counted::ByReceiver);
    let last = progress.last().unwrap().bytes;
    assert!(last > Bytes::ZERO && last <= stream.delivery.total());
    assert!(stream.tcp.len() >= 3, "{}", stream.tcp.len());
    assert!(stream.retransmits.is_some() && stream.thread_cpu.is_some());
    assert!(stream.buffers_far.is_some());
}

#[test]
fn streams_join_those_that_run() {
    for direction in DIRECTIONS {
        let server = Running::start();
        let mut runs = runs(&server);
        let one = observe(&mut runs, &setting(1, direction));
        assert_eq!(grown_from(&one), None);
        assert!(one.round_trips.unloaded.is_some());
        let three = observe(&mut runs, &setting(3, direction));
        assert_eq!(grown_from(&three), Some(1));
        assert_eq!(three.setting, setting(3, direction));
        assert!(three.round_trips.unloaded.is_none() && three.round_trips.loaded.is_some());
        assert!(three.elapsed >= three.duration && three.congestion_used.is_some());
        let both = usize::from(direction == Direction::Both);
        assert_eq!(three.streams.len(), 3 << both);
        three.streams.iter().for_each(assert_begins_anew);
        let numbers = three.streams.iter().map(|stream| stream.number);
        assert!(numbers.eq(1..=(3 << both)));
        let again = observe(&mut runs, &setting(3, direction));
        assert_eq!(grown_from(&again), Some(3));
        again.streams.iter().for_each(assert_begins_anew);
        runs.stop();
        assert_eq!(started(&server, 2), [1, 2], "{direction:?}");
    }
}

#[test]
fn the_kernels_counters_run_on_and_the_server_counts_all() {
    let server = Running::start();
    let mut runs = runs(&server);
    let forward = Direction::Forward;
    let seen = [1, 2, 4].map(|streams| observe(&mut runs, &setting(streams, forward)));
    let acked = |stream: &Stream| stream.tcp.last().and_then(|sample| sample.bytes_acked);
    let (before, after) = (&seen[0].streams[0], &seen[1].streams[0]);
    assert!(after.tcp[0].bytes_acked >= acked(before));
    assert!(after.delivery.total() < acked(after).unwrap());
    runs.stop();
    let ends = [0; 3].map(|_| server.next_end().unwrap());
    let received: Bytes = ends.iter().map(|end| end.received).sum();
    let shown: Bytes = seen.iter().map(Observation::bytes_delivered).sum();
    assert!(received >= shown, "{received} of {shown}");
}

#[test]
fn another_setting_ends_the_streams_and_starts_new_ones() {
    let server = Running::start();
    let mut runs = runs(&server);
    let reverse = Direction::Reverse;
    observe(&mut runs, &setting(2, reverse));
    let others = [
        setting(1, reverse),
        setting(1, Direction::Forward),
        Setting {
            window: Window::Fixed(Bytes::from_kib(64)),
            ..setting(2, Direction::Forward)
        },
    ];
    for other in others {
        assert_eq!(grown_from(&observe(&mut runs, &other)), None, "{other:?}");
        assert!(server.next_end().unwrap().duration > Span::ZERO);
    }
    runs.stop();
    server.next_end().unwrap();
}

#[test]
fn the_last_run_ends_all_streams() {
    let server = Running::start();
    let mut runs = runs(&server);
    observe(&mut runs, &setting(1, Direction::Both));
    let last = SamplePlan {
        then: Then::Stop,
        ..keeping()
    };
    let seen = runs.observe(&setting(2, Direction::Both), &last, &mut ());
    assert_eq!(grown_from(&seen.unwrap()), Some(1));
    server.next_end().unwrap();
    server.next_end().unwrap();
}

#[test]
fn a_count_of_bytes_neither_grows_nor_goes_on() {
    let server = Running::start();
    let mut runs = runs(&server);
    observe(&mut runs, &setting(1, Direction::Forward));
    let counted = SamplePlan {
        amount: Amount::Bytes(Bytes::new(1_000_001)),
        ..keeping()
    };
    let two = setting(2, Direction::Forward);
    let seen = runs.observe(&two, &counted, &mut ()).unwrap();
    assert_eq!(grown_from(&seen), None);
    assert_eq!(seen.bytes_delivered(), Bytes::new(1_000_001));
    assert_eq!(grown_from(&observe(&mut runs, &two)), None);
}

#[test]
fn a_server_that_takes_no_further_test_gets_a_new_run() {
    let server = Running::with(ServerLimits {
        sessions: 1,
        ..ServerLimits::default()
    });
    let mut runs = runs(&server);
    observe(&mut runs, &setting(1, Direction::Forward));
    let seen = observe(&mut runs, &setting(2, Direction::Forward));
    assert_eq!((grown_from(&seen), seen.streams.len()), (None, 2));
    assert!(seen.round_trips.unloaded.is_some());
}

#[test]
fn a_foreign_server_gets_a_new_run() {
    if !testkit::has_program("iperf3") {
        return;
    }
    for direction in [Direction::Forward, Direction::Reverse] {
        let server = Iperf3Server::lasting();
        let mut runs = Runs::new(Client::new(server.target.clone()));
        for streams in [1, 2] {
            let seen = observe(&mut runs, &setting(streams, direction));
            assert_eq!((grown_from(&seen), seen.peer), (None, Peer::Iperf3));
            assert_eq!(seen.streams.len(), usize::try_from(streams).unwrap());
        }
    }
}

#[test]
fn dropping_it_ends_the_streams_at_both_ends() {
    let server = Running::start();
    let mut runs = runs(&server);
    observe(&mut runs, &setting(1, Direction::Forward));
    observe(&mut runs, &setting(2, Direction::Forward));
    drop(runs);
    for _ in 0..2 {
        let end = server.next_end().unwrap_err();
        assert_eq!(end.to_string(), "the client was stopped");
    }
}

struct Cancelling(usize);

impl RunObserver for Cancelling {
    fn on_progress(&mut self, snapshot: &Snapshot) {
        assert!(snapshot.at < Time::ZERO + Span::from_secs(60));
        self.0 += 1;
    }

    fn is_cancelled(&self) -> bool {
        self.0 >= 3
    }
}

#[test]
fn a_cancelled_run_leaves_no_streams() {
    let server = Running::start();
    let mut runs = runs(&server);
    observe(&mut runs, &setting(1, Direction::Forward));
    let minute = SamplePlan {
        amount: Amount::Time(Span::from_secs(60)),
        ..keeping()
    };
    let two = setting(2, Direction::Forward);
    let cancelled = runs.observe(&two, &minute, &mut Cancelling(0));
    assert!(matches!(cancelled, Err(ClientError::Cancelled)));
    assert!(server.next_end().is_err() && server.next_end().is_err());
    assert_eq!(grown_from(&observe(&mut runs, &two)), None);
}

#[test]
fn a_server_that_stopped_between_two_runs_is_missed_in_the_next() {
    let server = Running::start();
    let mut runs = runs(&server);
    observe(&mut runs, &setting(1, Direction::Forward));
    drop(server);
    let two = setting(2, Direction::Forward);
    let error = runs.observe(&two, &keeping(), &mut ()).unwrap_err();
    assert!(matches!(error, ClientError::Refused { .. }), "{error}");
}

#[test]
fn as_many_streams_as_there_may_be_join_within_the_bound() {
    sockets::host::raise_open_files();
    let server = Running::start();
    let mut runs = runs(&server);
    let slow = |streams| Setting {
        pacing: Some(Rate::from_bits_per_second(1_000_000)),
        ..setting(streams, Direction::Reverse)
    };
    let mut before = None;
    for streams in [8, 32, 128] {
        let seen = observe(&mut runs, &slow(streams));
        assert_eq!(grown_from(&seen), before);
        assert_eq!(seen.streams.len(), usize::try_from(streams).unwrap());
        let receives = |stream: &Stream| stream.direction == StreamDirection::Receiving;
        assert!(seen.streams.iter().all(receives));
        let told = |stream: &Stream| !stream.tcp.is_empty();
        assert!(seen.streams.iter().all(told));
        before = u16::try_from(streams).ok();
    }
    runs.stop();
}
