use super::*;

fn sample() -> TcpSample {
    let micros = |value| Some(Span::from_micros(value));
    let bytes = |value| Some(Bytes::new(value));
    TcpSample {
        bytes_arrived: Some(Bytes::new(1_234)),
        at: Time::ZERO + Span::from_millis(100),
        rtt: micros(1),
        rtt_min: micros(2),
        cwnd_segments: Some(3),
        ssthresh_segments: Some(4),
        mss: bytes(5),
        unacked_segments: Some(6),
        peer_window: bytes(7),
        bytes_acked: bytes(8),
        bytes_received: bytes(9),
        bytes_sent: bytes(10),
        bytes_retransmitted: bytes(11),
        retransmits: Some(12),
        not_sent: bytes(13),
        delivery_rate: Some(Rate::from_bits_per_second(14)),
        busy: micros(15),
        receive_window_limited: micros(16),
        send_buffer_limited: micros(17),
        reorderings: Some(18),
        duplicates_reported: Some(19),
        mark_echoed: Some(20),
        ecn: Some(true),
        window_scaling: Some(false),
    }
}

fn table(sample: &TcpSample, role: Role) -> Telemetry {
    let names = [TIME, BYTES].into_iter();
    let names = names.chain(COLUMNS.iter().map(|(name, ..)| *name));
    let mut table = Telemetry::new(names.map(str::to_owned).collect());
    let row = vec![Some(100_000), Some(4_242)];
    table.streams.push(StreamTelemetry {
        id: 1,
        role,
        send_buffer: Some(21),
        receive_buffer: Some(22),
        rows: vec![with_tcp((row, sample))],
    });
    table
}

#[test]
fn every_field_survives_the_table() {
    let json = serde_json::to_string(&table(&sample(), Role::Sender)).unwrap();
    let table: Telemetry = serde_json::from_str(&json).unwrap();
    let read = read(&table, 0, StreamDirection::Receiving).unwrap();
    assert_eq!(read.tcp, [sample()]);
    assert_eq!(read.progress[0].bytes, Bytes::new(4_242));
    assert_eq!(read.buffers, Some((Bytes::new(21), Bytes::new(22))));
}

#[test]
fn what_is_missing_stays_missing() {
    let empty = TcpSample {
        at: sample().at,
        ..TcpSample::default()
    };
    let table = table(&empty, Role::Sender);
    let read = read(&table, 0, StreamDirection::Receiving).unwrap();
    assert_eq!(read.tcp, [empty]);
}

#[test]
fn a_receivers_rows_are_progress_only() {
    let table = table(&sample(), Role::Receiver);
    let read = read(&table, 0, StreamDirection::Sending).unwrap();
    assert!(read.tcp.is_empty());
    assert_eq!(read.progress.len(), 1);
}

#[test]
fn a_crooked_table_gives_what_it_can() {
    let mut crooked = table(&sample(), Role::Sender);
    crooked.streams[0].rows = vec![vec![], vec![None, Some(1)], vec![Some(5)]];
    let read = read(&crooked, 0, StreamDirection::Receiving).unwrap();
    assert_eq!((read.progress.len(), read.tcp.len()), (0, 1));
    crooked.columns.clear();
    assert!(super::read(&crooked, 0, StreamDirection::Receiving).is_none());
    assert!(super::read(&crooked, 7, StreamDirection::Receiving).is_none());
}

fn ending_at(ends: &[u64]) -> Read {
    let at = |millis: &u64| Time::ZERO + Span::from_millis(*millis);
    let progress = |millis| Progress {
        at: at(millis),
        bytes: Bytes::new(*millis),
    };
    let sample = |millis| TcpSample {
        at: at(millis),
        ..TcpSample::default()
    };
    Read {
        progress: ends.iter().map(progress).collect(),
        tcp: ends.iter().map(sample).collect(),
        buffers: None,
    }
}

#[test]
fn what_was_counted_late_is_moved_and_what_goes_on_is_cut() {
    let times = |read: &Read| -> Vec<u64> {
        let at = read.progress.iter().map(|reading| reading.at);
        assert!(read.tcp.iter().map(|sample| sample.at).eq(at.clone()));
        at.map(|at| at.since(Time::ZERO).as_nanos() / 1_000_000)
            .collect()
    };
    let second = Span::from_secs(1);
    assert_eq!(
        times(&ending_at(&[0, 100, 700]).fitted(second)),
        [300, 400, 1_000]
    );
    assert_eq!(times(&ending_at(&[0, 1_000]).fitted(second)), [0, 1_000]);
    assert_eq!(
        times(&ending_at(&[0, 1_100, 1_200]).fitted(second)),
        [0, 1_100]
    );
    assert!(times(&ending_at(&[]).fitted(second)).is_empty());
}
