use observe::Stamped;
use units::Span;

use super::*;

const PACKET: Bytes = Bytes::new(1500);

/// Bulks by the arrivals of their packets, in microseconds after their departure; all of a bulk
/// leave at once, one bulk every 7.3 ms.
fn train(bulks: &[&[f64]]) -> Passages {
    let mut packets = Vec::new();
    for (number, bulk) in bulks.iter().enumerate() {
        let left = Span::from_micros(7_300 * number as u64 + 17 * (number * number) as u64);
        for delay in *bulk {
            packets.push(Passage {
                left,
                arrived: Some(left + Span::from_nanos((delay * 1e3) as u64)),
            });
        }
    }
    Passages {
        packets,
        stamped: Stamped::Exactly,
        clocks: None,
    }
}

#[test]
fn the_pair_without_cross_traffic_is_believed() {
    // 120 us apart is 100 Mbit/s; one pair had others between, one waited behind others, one was
    // compressed.
    let pairs: &[&[f64]] = &[
        &[900.0, 1140.0],
        &[1000.0, 1120.0],
        &[900.0, 1020.0],
        &[960.0, 1020.0],
    ];
    let found = judge(&train(pairs), 2, PACKET).unwrap();
    assert!((found.rate - 100e6).abs() < 1.0, "{found:?}");
    assert_eq!(found.doubt, None);
    assert!(found.excess.abs() < 1e-9);
    // The others say 50, 100 and 200 Mbit/s.
    let estimates: Vec<f64> = found
        .estimates
        .iter()
        .map(|rate| rate.as_f64() / 1e6)
        .collect();
    assert_eq!(estimates.len(), 4);
    assert!((estimates[0] - 50.0).abs() < 0.01 && (estimates[3] - 200.0).abs() < 0.01);
}

#[test]
fn minima_of_different_pairs_are_no_proof() {
    // The smallest first delay and the smallest second one never met: 60 us of 180 apart.
    let pairs: &[&[f64]] = &[&[900.0, 1080.0], &[960.0, 1020.0]];
    let found = judge(&train(pairs), 2, PACKET).unwrap();
    assert!(
        matches!(found.doubt, Some(Doubt::Disturbed(share)) if share > 0.3),
        "{found:?}"
    );
}

#[test]
fn a_clock_that_differs_does_not_matter() {
    let pairs: &[&[f64]] = &[&[900.0, 1020.0], &[930.0, 1090.0]];
    let far: Vec<Vec<f64>> = pairs
        .iter()
        .map(|pair| pair.iter().map(|at| at + 5e6).collect())
        .collect();
    let far: Vec<&[f64]> = far.iter().map(Vec::as_slice).collect();
    let (near, far) = (
        judge(&train(pairs), 2, PACKET),
        judge(&train(&far), 2, PACKET),
    );
    assert!((near.unwrap().rate - far.unwrap().rate).abs() < 1e3);
}

#[test]
fn what_arrives_in_another_order_or_not_at_all_is_left_out() {
    let mut passages = train(&[&[900.0, 1020.0], &[900.0, 880.0], &[900.0, 1020.0]]);
    passages.packets[5].arrived = None;
    let found = judge(&passages, 2, PACKET).unwrap();
    assert_eq!(found.estimates.len(), 1);
    assert_eq!(judge(&train(&[&[900.0, 900.0]]), 2, PACKET), None);
    assert_eq!(judge(&train(&[]), 2, PACKET), None);
}

#[test]
fn others_inside_every_bulk_are_noticed_by_uneven_gaps() {
    // Three packets and a stranger: 20, 20 and 40 us, in each bulk the same.
    let bulk: &[f64] = &[900.0, 920.0, 940.0, 980.0];
    let found = judge(&train(&[bulk, bulk]), 4, PACKET).unwrap();
    assert!(
        matches!(found.doubt, Some(Doubt::Disturbed(_))),
        "{found:?}"
    );
}

#[test]
fn batches_are_noticed() {
    let bulk: &[f64] = &[900.0, 901.0, 902.0, 950.0, 951.0, 952.0];
    let found = judge(&train(&[bulk, bulk]), 6, PACKET).unwrap();
    // Two batches of three.
    assert_eq!(found.doubt, Some(Doubt::Batched(3.0)));
}

#[test]
fn a_slow_sender_is_no_measure() {
    // The second leaves 119 us after the first and arrives 120 us after it.
    let packet = |left, arrived| Passage {
        left: Span::from_micros(left),
        arrived: Some(Span::from_micros(arrived)),
    };
    let passages = Passages {
        packets: vec![packet(0, 900), packet(119, 1020)],
        stamped: Stamped::Exactly,
        clocks: None,
    };
    let found = judge(&passages, 2, PACKET).unwrap();
    assert_eq!(found.doubt, Some(Doubt::SenderTooSlow));
}

#[test]
fn a_ticking_clock_is_noticed() {
    let ticking = |tick: f64| -> Passages {
        let mut passages = train(&[&[900.0, 1020.0][..]; 20]);
        for packet in &mut passages.packets {
            let ticks = (packet.arrived.unwrap().as_secs_f64() * 1e6 / tick).floor();
            packet.arrived = Some(Span::from_secs_f64(ticks * tick * 1e-6));
        }
        passages
    };
    let tick = |passages: &Passages| judge(passages, 2, PACKET).unwrap().tick;
    assert!((tick(&ticking(100.0)) - 100e-6).abs() < 1e-9);
    assert!((tick(&ticking(50.0)) - 50e-6).abs() < 1e-9);
    // Departures at whole microseconds are the finest here.
    assert!(tick(&ticking(0.25)) < 2e-6);
}
