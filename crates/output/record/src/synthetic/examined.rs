//! A made-up path, examined: three links in a row, the second of which is narrow and queues.

use std::net::{IpAddr, Ipv4Addr};

use ::probing::available::Fleet;
use ::probing::characterise::{self as seen, BufferAdvice, Buffers, Load, PartCost, Variation};
use ::probing::hops::QueueAt;
use ::probing::responsiveness::{self, Confidence, Formula, Growth, Interval, Measured, Trimmed};
use ::probing::trend::Trend;
use ::probing::way_back::{Compared, WayBack};
use ::probing::{
    Available, AvailableRange, Branch, Branches, Capacity, CapacityMethod, Cost, HopBranches,
    HopCapacity, LeftOut, SizeTrip,
};
use models::{BufferRule, PathFacts};
use observe::{
    Hop, HopAnswer, Passage, Passages, PathMtu, Peer, ProbeSeries, Stamped, StreamCount, Trace,
    TraceProtocol, Way,
};
use units::{Bytes, Rate, Span, Time};

use super::{Case, on_path, origin, run, target};
use crate::{Characteristics, Document, Responsiveness, Target};

const CAPACITY: u64 = 45_000_000;

/// A path document with everything in it.
pub fn characteristics() -> Document<Characteristics> {
    let found = seen::Characteristics {
        round_trips: Some(series(165.0, 100)),
        variations: Way::BOTH.map(variation).to_vec(),
        mtu: Some(PathMtu {
            bytes: Bytes::new(1500),
            confirmed: true,
            vanishing: None,
        }),
        traces: vec![trace(0.0)],
        way_back: Some(way_back()),
        branches: Some(branches()),
        hop_capacities: (1..=3).map(hop_capacity).collect(),
        capacities: Way::BOTH.map(capacity).to_vec(),
        available: vec![
            available(Way::Forward, true),
            available(Way::Reverse, false),
        ],
        loads: vec![load()],
        buffers: vec![buffers()],
        left_out: vec![left_out("hops by TCP")],
        costs: vec![
            cost("round trips", None),
            cost("capacity forward", Some(Bytes::new(1_620_000))),
            cost("one stream forward", Some(Bytes::new(33_500_000))),
        ],
    };
    let mut body = Characteristics::new(on_path(Target::from(&target())), &found);
    body.path_file = Some("[forward]\nrate = \"45Mbit/s\"\n".to_owned());
    Document::new(origin("trunkline path emu:slac-cern", 7), body)
}

/// A responsiveness document with one direction in it.
pub fn responsiveness() -> Document<Responsiveness> {
    let intervals: Vec<Interval> = (1..=12).map(interval).collect();
    let formula = Formula {
        foreign: Trimmed::of(&intervals[11].foreign),
        loaded: Trimmed::of(&intervals[11].loaded),
    };
    let way = responsiveness::Responsiveness {
        way: Way::Forward,
        peer: Peer::Trunkline,
        formula: Some(formula),
        confidence: Confidence::High,
        saturated_after: Some(9),
        stable: true,
        growth: Growth::OneBySecond,
        goodput: Rate::from_bits_per_second(40_100_000),
        idle: Some(series(165.0, 40)),
        intervals,
        delivered: Bytes::new(51_000_000),
        elapsed: Span::from_secs(18),
        cut_because: None,
    };
    let measured = Measured {
        ways: vec![way],
        left_out: vec![left_out("responsiveness reverse")],
    };
    let shape = on_path(Target::from(&target()));
    let body = Responsiveness::new(shape, Span::from_secs(20), &measured);
    Document::new(origin("trunkline responsiveness emu:slac-cern", 7), body)
}

fn series(ms: f64, count: u64) -> ProbeSeries {
    let probe = |number: u64| observe::Probe {
        sent: Time::ZERO + ProbeSeries::INTERVAL.times(number),
        rtt: (number != 7).then(|| Span::from_secs_f64((ms + (number % 5) as f64 * 0.1) / 1e3)),
    };
    ProbeSeries {
        method: observe::ProbeMethod::UdpEcho,
        duplicated: 0,
        probes: (0..count).map(probe).collect(),
    }
}

fn variation(way: Way) -> Variation {
    let packet = |number: u64| Passage {
        left: Span::from_millis(20).times(number),
        arrived: (number != 5).then(|| Span::from_millis(20 * number + 500 + number % 3)),
    };
    Variation {
        way,
        passages: Passages {
            packets: (0..20).map(packet).collect(),
            stamped: Stamped::ByKernel,
            clocks: None,
        },
    }
}

/// `queued_ms`: what the second link adds, as seen at the second hop and behind it.
fn trace(queued_ms: f64) -> Trace {
    let answer = |distance: u8, round: u16| HopAnswer {
        from: IpAddr::V4(Ipv4Addr::new(198, 18, 0, distance)),
        rtt: Span::from_secs_f64(
            (0.4 + f64::from(distance - 1) * 82.0
                + f64::from(round % 3) * 0.05
                + if distance > 1 { queued_ms } else { 0.0 })
                / 1e3,
        ),
    };
    let hop = |distance: u8| Hop {
        distance,
        probes: (0..10)
            .map(|round| (round != 4).then(|| answer(distance, round)))
            .collect(),
    };
    Trace {
        protocol: TraceProtocol::Udp,
        one_flow: true,
        hops: (1..=3).map(hop).collect(),
        reached: true,
    }
}

/// One hop longer than the way there.
fn way_back() -> WayBack {
    let mut trace = trace(0.0);
    let last = trace.hops.last().map(|hop| Hop {
        distance: 4,
        ..hop.clone()
    });
    trace.hops.extend(last);
    WayBack {
        trace,
        compared: Compared::From(2),
    }
}

/// Two ways by the second hop, one of which loses.
fn branches() -> Branches {
    let name = |last: u8| Ipv4Addr::new(198, 18, 0, last).to_string();
    let branch = |last: u8, lost: u32| Branch {
        hops: vec![name(1), name(last), name(3)],
        ports: (0..4).map(|flow| 40_000 + u16::from(last) + flow).collect(),
        sent: 200,
        lost,
        median_seconds: Some(0.165),
    };
    let hop = |distance: u8| HopBranches {
        distance,
        addresses: match distance {
            2 => vec![name(2), name(12)],
            distance => vec![name(distance)],
        },
        within_a_flow: false,
    };
    Branches {
        flows: 8,
        hops: (1..=3).map(hop).collect(),
        branches: vec![branch(2, 0), branch(12, 9)],
    }
}

/// The last hop is faster than those before it can tell.
fn hop_capacity(distance: u8) -> HopCapacity {
    let known = match distance {
        1 => Some(1_000_000_000),
        2 => Some(CAPACITY),
        _ => None,
    };
    let rate = |tenths: u64| known.map(|rate| Rate::from_bits_per_second(rate * tenths / 10));
    let why = "round trips do not grow by more than to hop 2, as far as they tell";
    let trip = |step: u16| SizeTrip {
        packet_bytes: 576 + step * 60,
        rtt: Span::from_micros(u64::from(distance) * 55_000 + u64::from(step) * 12),
    };
    HopCapacity {
        distance,
        address: Some(Ipv4Addr::new(198, 18, 0, distance).to_string()),
        rate: rate(10),
        low: rate(9),
        high: rate(11),
        unknown_because: rate(10).is_none().then(|| why.to_owned()),
        probes: 320,
        answers: 318,
        shortest: (0..16).map(trip).collect(),
    }
}

fn capacity(way: Way) -> Capacity {
    Capacity {
        way,
        rate: Rate::from_bits_per_second(CAPACITY),
        method: CapacityMethod::Pairs,
        doubt: (way == Way::Reverse).then(|| "the trains did not agree".to_owned()),
        estimates: vec![Rate::from_bits_per_second(CAPACITY); 3],
        cost: Cost {
            bytes: Bytes::new(1_620_000),
            trains: 9,
        },
    }
}

fn available(way: Way, is_measurable: bool) -> Available {
    let range = AvailableRange {
        low: Rate::from_bits_per_second(28_000_000),
        high: Rate::from_bits_per_second(33_000_000),
    };
    Available {
        way,
        range: match is_measurable {
            true => Ok(range),
            false => Err("the receiver batches its interrupts".to_owned()),
        },
        chirps: is_measurable.then_some(Rate::from_bits_per_second(31_500_000)),
        fleets: vec![Fleet {
            rate: Rate::from_bits_per_second(47_000_000),
            streams: 4,
            increasing: 4,
            trend: Trend::Increasing,
        }],
        cost: Cost {
            bytes: Bytes::new(6_100_000),
            trains: 40,
        },
    }
}

fn load() -> Load {
    Load {
        way: Way::Forward,
        one: run::make(&Case::streams(1, 7)).observation,
        several: Some(run::make(&Case::streams(8, 7)).observation),
        trace: Some(trace(24.0)),
        queue: Some(QueueAt {
            after: 1,
            hop: 2,
            rise: Span::from_millis(24),
        }),
    }
}

fn buffers() -> Buffers {
    let rate = Rate::from_bits_per_second;
    let facts = PathFacts {
        capacity: rate(CAPACITY),
        available: Some(rate(30_500_000)),
        rtt_min: Span::from_millis(165),
        rtt_max: Some(Span::from_millis(190)),
        rtt_mean: Some(Span::from_millis(170)),
        bulk_transfer_capacity: Some(rate(5_000_000)),
        largest: None,
    };
    let advice = |rule: BufferRule| {
        let total = rule.per_stream(&facts, 1)?;
        let window = rule.per_stream(&facts, 5)?;
        Some(BufferAdvice {
            rule,
            total,
            streams: StreamCount::new(5).unwrap_or(StreamCount::ONE),
            window,
            granted: window.times(2),
            automatic: Some(true),
        })
    };
    let rules = BufferRule::ALL.into_iter().take(5);
    Buffers {
        way: Way::Forward,
        facts,
        advice: rules.filter_map(advice).collect(),
    }
}

fn left_out(part: &str) -> LeftOut {
    let hint = "run as root, or give the program CAP_NET_RAW".to_owned();
    LeftOut::new(part, "raw sockets are not for this user", Some(hint))
}

fn cost(part: &str, bytes: Option<Bytes>) -> PartCost {
    PartCost {
        part: part.to_owned(),
        time: Some(Span::from_millis(5_100)),
        bytes,
    }
}

fn interval(number: u16) -> Interval {
    let streams = u64::from(number);
    let queue = f64::from(number.saturating_sub(5)) * 0.002;
    Interval {
        streams: StreamCount::new(streams).unwrap_or(StreamCount::ONE),
        goodput: Rate::from_bits_per_second((streams * 6_000_000).min(40_100_000)),
        foreign: vec![0.165 + queue; 20],
        foreign_lost: 0,
        loaded: vec![0.166 + queue; 10 * usize::from(number)],
    }
}
