//! Made-up datagrams: a path that loses some, and a host that drops others.

use observe::{DatagramPlan, DatagramStream, Datagrams as Seen, Direction, Peer, Way};
use probing::datagram_rate::{Ceiling, LOSS_MAX, RateFound, Try, TryPurpose};
use units::{Bytes, Rate, Span};

use super::{on_path, origin, target};
use crate::{Datagrams, Document, Target};

/// A document of datagrams both ways, or of a search for the highest rate.
pub fn datagrams(searched: bool) -> Document<Datagrams> {
    let shape = on_path(Target::from(&target()));
    let rate = Rate::from_bits_per_second(43_000_000);
    let plan = DatagramPlan::new(Some(rate), Span::from_secs(10));
    if searched {
        let found = RateFound {
            tries: tries(),
            confirmed: Some((plan, seen(&[Way::Forward], 12), Ceiling::Path)),
            last: None,
        };
        let body = Datagrams::searched(shape, LOSS_MAX, &found);
        let words = "trunkline measure emu:slac-cern --udp find";
        return Document::new(origin(words, 7), body.expect("a run was confirmed"));
    }
    let plan = DatagramPlan {
        direction: Direction::Both,
        ..plan
    };
    let body = Datagrams::new(shape, &plan, &seen(&Way::BOTH, 1_190));
    let words = "trunkline measure emu:slac-cern --udp 43M --bidir";
    Document::new(origin(words, 7), body)
}

fn seen(ways: &[Way], lost: u64) -> Seen {
    let stream = |way: &Way| {
        let sent = 38_400;
        let arrived = sent - lost;
        DatagramStream {
            way: *way,
            sent,
            sent_bytes: Bytes::new(1_400).times(sent),
            sending: Span::from_secs(10),
            arrived,
            arrived_bytes: Bytes::new(1_400).times(arrived),
            receiving: Some(Span::from_millis(10_020)),
            lost,
            not_sent: Some(0),
            dropped_by_receiver: (*way == Way::Forward).then_some(lost / 7),
            reordered: Some(3),
            duplicates: Some(0),
            jitter: Span::from_micros(140),
            delay_growth: (*way == Way::Forward).then_some(Span::ZERO),
            rates: vec![Rate::from_bits_per_second(42_900_000); 100],
        }
    };
    Seen {
        peer: Peer::Trunkline,
        streams: ways.iter().map(stream).collect(),
    }
}

fn tries() -> Vec<Try> {
    let made = |(purpose, mbit, goodput): (TryPurpose, u64, u64)| Try {
        purpose,
        asked: Rate::from_bits_per_second(mbit * 1_000_000),
        sent: Rate::from_bits_per_second(mbit * 1_000_000),
        goodput: Rate::from_bits_per_second(goodput * 1_000_000),
        loss_ratio: (mbit - goodput) as f64 / mbit as f64,
        delay_growth: Some(Span::ZERO),
        carried: mbit == goodput,
    };
    let tries = [
        (TryPurpose::Bounds, 10, 10),
        (TryPurpose::Bounds, 40, 40),
        (TryPurpose::Bounds, 160, 43),
        (TryPurpose::Between, 43, 43),
        (TryPurpose::Between, 44, 43),
        (TryPurpose::Confirm, 43, 43),
    ];
    tries.map(made).to_vec()
}
