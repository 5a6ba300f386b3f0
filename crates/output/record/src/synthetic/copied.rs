//! A made-up copy: some minutes at 165 ms, with a cut cable in the middle.

use copy_protocol::{
    Connect, CopyDirection, CopyEvent, CopyOptions, CopyPhase, CopySpec, EndShares, FarHost,
    FarProgram, FileProblem, LimitedBy, Name, NearEnd, Outcome, Patience, Place, ProblemKind,
    Reading, TimePart,
};
use observe::{Limit, StreamCount, Transport};
use units::{Bytes, Rate, Span, Time};

use super::origin;
use crate::{Copy, CopyLog, CopyRequest, Document};

/// Half seconds of the copy, and those in which the far end is gone.
const READINGS: u64 = 240;
const GONE: std::ops::Range<u64> = 120..140;

/// A copy of 1,204 files with 12 streams, two of which failed.
pub fn copy() -> Document<Copy> {
    let mut log = CopyLog::default();
    events().iter().for_each(|event| log.on_event(event));
    let spec = copy_spec();
    let request = CopyRequest {
        spec: &spec,
        sources: &["run7".to_owned(), "calibration.db".to_owned()],
        destination: "dtn@dtn1.example.org:/store/2026",
    };
    let body = Copy::new(&request, log, &copy_outcome(), None);
    let words = "trunkline copy -r run7 calibration.db dtn@dtn1.example.org:/store/2026";
    let mut origin = origin(words, 1);
    origin.seed = None;
    Document::new(origin, body)
}

/// What it was asked for.
pub fn copy_spec() -> CopySpec {
    CopySpec {
        direction: CopyDirection::Put,
        near: NearEnd::Here(vec!["run7".into(), "calibration.db".into()]),
        far: Place {
            host: FarHost::Ssh {
                destination: "dtn@dtn1.example.org".to_owned(),
                client: "ssh".to_owned(),
                options: Vec::new(),
                program: FarProgram::default(),
                via: units::Via::default(),
            },
            paths: vec![b"/store/2026".to_vec()],
        },
        options: CopyOptions {
            recursive: true,
            objective: tune::Objective::Max,
            remembered: StreamCount::new(4).ok(),
            ..CopyOptions::default()
        },
        connect: Connect::ToFar(None),
        transport: Transport::Tcp,
        pairs: Vec::new(),
        all_addresses: false,
        patience: Patience::default(),
    }
}

/// One of each kind.
pub fn events() -> Vec<CopyEvent> {
    let at = |halves: u64| Time::from_nanos(halves * 500_000_000);
    let steered = |halves, streams, why: &str| CopyEvent::Steered {
        at: at(halves),
        streams,
        why: why.to_owned(),
    };
    let lost = |halves, seconds| CopyEvent::Lost {
        at: at(halves),
        why: "nothing was heard of it for 10 s".to_owned(),
        retry_in: Span::from_secs(seconds),
    };
    vec![
        CopyEvent::Connected {
            at: Time::from_nanos(340_000_000),
            peer: "192.0.2.7:40123".to_owned(),
            rtt: Some(Span::from_millis(165)),
        },
        CopyEvent::Planned {
            at: at(3),
            files: 1_204,
            folders: 31,
            links: 4,
            bytes: Bytes::new(9_140_000_000),
            present: Bytes::new(1_100_000_000),
        },
        CopyEvent::Skipped {
            at: at(3),
            name: name(b"run7/\xff.json"),
            bytes: Bytes::new(1_100_000_000),
        },
        steered(8, 8, "4 streams carried 96 % more than 2"),
        steered(20, 12, "8 streams carried 71 % more than 4"),
        CopyEvent::Progress(copy_protocol::CopyProgress {
            at: at(40),
            done: Bytes::new(2_400_000_000),
            total: Bytes::new(9_140_000_000),
            total_is_known: true,
            files_done: 300,
            files_total: 1_204,
            rate: reading(40).rate,
            streams: reading(40).streams,
            rtt: reading(40).rtt,
            retransmitted_share: reading(40).retransmitted_share,
            limited_by: reading(40).limited_by,
            rate_max: None,
            rate_max_until: None,
            left: Some(Span::from_secs(75)),
        }),
        CopyEvent::Published {
            at: at(41),
            name: name(b"run7/hits-0001.root"),
            bytes: Bytes::new(21_000_000),
            digest: Some([7; 32]),
        },
        CopyEvent::Published {
            at: at(42),
            name: name("run7/\u{202E}toor.root".as_bytes()),
            bytes: Bytes::new(21_000_000),
            digest: None,
        },
        CopyEvent::Stalled {
            at: at(80),
            still: Span::from_secs(30),
            here: "waits for the far end to confirm 12 pieces, and has nothing that it may send"
                .to_owned(),
            there: "waits for its disk to write".to_owned(),
        },
        CopyEvent::Moving {
            at: at(92),
            still: Span::from_secs(42),
        },
        lost(120, 1),
        lost(122, 2),
        CopyEvent::Resumed {
            at: at(140),
            left: Bytes::new(4_000_000_000),
        },
        CopyEvent::Failed {
            at: at(150),
            problem: problems().remove(0),
        },
        CopyEvent::Removed {
            at: at(160),
            name: "run7/old/".to_owned(),
        },
        CopyEvent::LeftOut {
            at: at(3),
            problem: no_content(),
        },
        CopyEvent::Checksum {
            name: name(b"run7/hits\x1b.root"),
            bytes: Bytes::new(21_000_000),
            algorithm: "adler32".to_owned(),
            digest: "091e01de".to_owned(),
        },
        CopyEvent::WouldCopy {
            name: name(b"run7/hits\x1b.root"),
            bytes: Bytes::new(21_000_000),
        },
    ]
}

fn name(bytes: &[u8]) -> Name {
    Name::new(bytes.to_vec()).expect("a relative name")
}

/// Something without content.
fn no_content() -> FileProblem {
    FileProblem {
        name: "run7/control".to_owned(),
        kind: ProblemKind::NoContent,
        what: "`run7/control` is a pipe and is left out".to_owned(),
        hint: None,
        below: 0,
    }
}

fn problems() -> Vec<FileProblem> {
    let problem = |name: &str, kind, what: &str, hint: Option<&str>| FileProblem {
        name: name.to_owned(),
        kind,
        what: what.to_owned(),
        hint: hint.map(str::to_owned),
        below: 0,
    };
    vec![
        problem(
            "run7/private.key",
            ProblemKind::Permission,
            "no right to read it",
            Some("run as its owner, or ask for read access"),
        ),
        problem(
            "run7/daq.log",
            ProblemKind::SourceChanged,
            "it grew from 81920 to 86016 bytes while it was read",
            None,
        ),
    ]
}

/// How it ended.
fn copy_outcome() -> Outcome {
    Outcome {
        took: Span::from_secs(120),
        time: time_parts(),
        files: 1_201,
        folders: 31,
        links: 4,
        skipped: 1,
        bytes: Bytes::new(9_139_000_000),
        sent: Bytes::new(8_040_000_000),
        holes: Bytes::new(1_000_000_000),
        unchanged: Bytes::ZERO,
        linked: 12,
        on_wire: Bytes::new(8_042_000_000),
        sent_again: Bytes::new(21_000_000),
        failed: problems(),
        left_out: Vec::new(),
        removed: 0,
        waiting: 0,
        reconnects: 1,
        streams_replaced: 2,
        pairs: Vec::new(),
        multipath: None,
        streams: 12,
        limit: Some(LimitedBy {
            by: Limit::Link,
            share: 0.855,
            why: "four more streams brought 1 % and the round trip rose by 22 ms".to_owned(),
            advice: Some(
                "nothing here makes it faster; a link with a higher rate would".to_owned(),
            ),
        }),
        readings: (1..=READINGS).map(reading).collect(),
        processor: Span::from_millis(14_200),
    }
}

fn shares(disk_ratio: f64, network_ratio: f64) -> EndShares {
    EndShares {
        disk_ratio,
        network_ratio,
        processor_ratio: 0.1,
    }
}

fn time_parts() -> Vec<TimePart> {
    let part = |phase, millis| TimePart {
        phase,
        time: Span::from_millis(millis),
    };
    vec![
        part(CopyPhase::Bound(Limit::Link), 102_600),
        part(CopyPhase::Away, 10_000),
        part(CopyPhase::Bound(Limit::SenderDisk), 4_800),
        part(CopyPhase::Starting, 2_200),
        part(CopyPhase::Ending, 400),
    ]
}

fn reading(halves: u64) -> Reading {
    let streams = match halves {
        0..8 => 4,
        8..20 => 8,
        _ => 12,
    };
    let gone = GONE.contains(&halves);
    // A slow start of two seconds, and a rate that goes to and fro by a tenth.
    let full = u64::from(streams) * 54_000_000;
    let wave = 90 + (halves * 7) % 20;
    let rate = full * halves.min(4) / 4 * wave / 100;
    Reading {
        at: Time::from_nanos(halves * 500_000_000),
        rate: Rate::from_bits_per_second(if gone { 0 } else { rate }),
        streams: if gone { 0 } else { streams },
        rtt: (!gone).then(|| Span::from_millis(165 + u64::from(streams) * 2)),
        retransmitted_share: (!gone).then_some(0.0004),
        mark_echoed_share: None,
        ecn: Some(false),
        limited_by: (!gone).then_some(Limit::Network),
        files: halves * 5,
        sender: (!gone).then_some(shares(0.08, 0.78)),
        receiver: (!gone).then_some(shares(0.05, 0.81)),
    }
}
