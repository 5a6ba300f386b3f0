//! The scavenger on a path that does as it is told: what was allowed a round trip ago arrives now.

use observe::TcpSample;
use units::{Bytes, Span, Time};

use super::*;

const RTT: Span = Span::from_millis(40);
const SEGMENT: f64 = 1_448.0;

/// A copy with so many even streams.
struct Copy {
    scavenger: Scavenger,
    at: Time,
    streams: u32,
    /// What was allowed, and from when on, in bits per second.
    allowed: Vec<(Time, f64)>,
    queueing: Span,
    /// Until streams send at a new rate.
    hears: Span,
    bits: f64,
    lost: u32,
}

impl Copy {
    fn new(streams: u32) -> Self {
        let scavenger = Scavenger::new(Span::from_millis(10), Some(RTT));
        let begins = scavenger.allowance().rate.as_f64();
        Copy {
            scavenger,
            at: Time::ZERO,
            streams,
            allowed: vec![(Time::ZERO, begins)],
            queueing: Span::ZERO,
            hears: Span::ZERO,
            bits: 0.0,
            lost: 0,
        }
    }

    fn rate(&self) -> f64 {
        self.scavenger.rate
    }

    /// Bits per second that arrive now.
    fn arrives(&self) -> f64 {
        let sent = self.allowed.iter().rev();
        let mut sent = sent.filter(|(from, _)| *from + self.hears + RTT <= self.at);
        sent.next().map_or(0.0, |(_, rate)| *rate)
    }

    /// A reading `passed` after the one before.
    fn read(&mut self, passed: Span) {
        self.at += passed;
        self.bits += self.arrives() * passed.as_secs_f64();
        let bytes = Bytes::new((self.bits / 8.0) as u64 / u64::from(self.streams));
        let tcp = TcpSample {
            rtt: Some(RTT + self.queueing),
            rtt_min: Some(RTT),
            mss: Some(Bytes::new(SEGMENT as u64)),
            bytes_acked: Some(bytes),
            bytes_sent: Some(bytes),
            ..TcpSample::default()
        };
        // The first stream loses them all.
        let readings: Vec<StreamReading> = (1..=self.streams)
            .map(|stream| StreamReading {
                stream,
                tcp: TcpSample {
                    retransmits: Some(if stream == 1 { self.lost } else { 0 }),
                    ..tcp
                },
            })
            .collect();
        let allowance = self.scavenger.on_reading(self.at, &readings);
        self.allowed.push((self.at, allowance.rate.as_f64()));
    }

    fn read_for(&mut self, span: Span) {
        let until = self.at + span;
        while self.at < until {
            self.read(PERIOD);
        }
    }
}

#[test]
fn readings_that_came_late_decide_nothing_for_a_while() {
    let mut copy = Copy::new(4);
    copy.read_for(Span::from_secs(2));
    let before = copy.rate();
    copy.queueing = Span::from_millis(20);
    for _ in 0..4 {
        copy.read(Span::from_millis(50));
    }
    assert_eq!(copy.rate(), before);
    // In time, the same readings are a queue.
    copy.read_for(Span::from_millis(150));
    assert!(copy.rate() < 0.6 * before, "{} of {before}", copy.rate());
}

#[test]
fn losses_of_streams_that_begin_are_their_own_doing() {
    let mut copy = Copy::new(4);
    copy.read_for(Span::from_millis(50));
    copy.lost = 10;
    copy.read_for(Span::from_millis(950));
    assert!(copy.rate() > 2.0 * law::RATE_START, "{}", copy.rate());
    assert_eq!(copy.scavenger.phase, Phase::Start);
    copy.lost = 20;
    copy.read_for(PERIOD);
    assert_eq!(copy.scavenger.phase, Phase::Cruise);
    // Streams that join later get the same grace.
    copy.read_for(Span::from_millis(500));
    let before = copy.rate();
    copy.streams = 8;
    copy.bits *= 2.0;
    copy.read_for(PERIOD);
    copy.lost = 30;
    copy.read_for(PERIOD);
    assert_eq!(copy.rate(), before);
}

#[test]
fn a_slowdown_is_not_taken_for_a_path_that_carries_less() {
    let mut copy = Copy::new(12);
    copy.read_for(Span::from_millis(500));
    copy.queueing = Span::from_millis(20);
    copy.read_for(Span::from_millis(200));
    // Pairs of packets of one stream lie so far apart.
    copy.hears = Span::from_millis(100);
    // A queue at which the rate stays where it is.
    copy.queueing = Span::from_micros(2_200);
    copy.read_for(Span::from_secs(5));
    let (before, since) = (copy.rate(), copy.at);
    copy.read_for(Span::from_secs(30));
    let later = copy.allowed.iter().filter(|(at, _)| *at > since);
    let rates: Vec<f64> = later.map(|(_, rate)| *rate).collect();
    let is_slowed = |rate: &&f64| **rate < 0.5 * before;
    let slowed = rates.iter().filter(is_slowed).count();
    // Two round trips and a reading each, of ten seconds.
    assert!((8..=20).contains(&slowed), "{slowed} readings");
    let kept = copy.rate() / before;
    assert!((0.85..1.0).contains(&kept), "{kept}");
}

#[test]
fn a_queue_that_is_gone_at_once_was_a_host() {
    for (fall, is_host) in [(PERIOD, true), (Span::from_millis(5), false)] {
        let mut copy = Copy::new(4);
        copy.read_for(Span::from_secs(2));
        let before = copy.rate();
        // There was no trial just before, so it is cross traffic.
        copy.scavenger.phase = Phase::Cruise;
        copy.scavenger.path_rate.level = 1.1 * before;
        copy.scavenger.path_rate.ceiling = 1.1 * before;
        copy.queueing = Span::from_millis(20);
        copy.read_for(Span::from_millis(100));
        assert!(copy.rate() < 0.9 * before);
        while copy.queueing > Span::ZERO {
            copy.queueing = copy.queueing - fall;
            copy.read(PERIOD);
        }
        let kept = copy.rate() / before;
        assert_eq!(kept == 1.0, is_host, "{kept}");
    }
}

#[test]
fn a_start_that_ended_too_soon_is_made_up_for() {
    let mut copy = Copy::new(4);
    copy.read_for(Span::from_secs(1));
    copy.queueing = Span::from_millis(20);
    copy.read_for(Span::from_millis(300));
    copy.queueing = Span::ZERO;
    let end = copy.scavenger.path_rate.end;
    copy.read_for(Span::from_secs(8));
    let times = copy.rate() / end;
    assert!(
        times > 100.0,
        "{times} times what was thought to be the end"
    );
}
