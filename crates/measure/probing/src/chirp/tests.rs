use observe::{Passage, Stamped};

use super::*;

fn mbps(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate * 1_000_000)
}

/// The chirp from 1 to 20 Mbit/s with the delay of each packet in microseconds.
fn chirp(delay: impl Fn(usize, f64) -> f64) -> Passages {
    let train = train(mbps(1), mbps(20));
    let packet = |(number, left): (usize, &Span)| Passage {
        left: *left,
        arrived: Some(*left + Span::from_secs_f64(delay(number, left.as_secs_f64()) * 1e-6)),
    };
    Passages {
        packets: train.departures.iter().enumerate().map(packet).collect(),
        stamped: Stamped::Exactly,
        clocks: None,
    }
}

#[test]
fn gaps_shrink_by_a_fifth() {
    let train = train(mbps(1), mbps(20));
    // 8 ms / 1.2^16 is the last above 0.4 ms: 17 gaps, 18 packets.
    assert_eq!(train.departures.len(), 18);
    let gap =
        |at: usize| train.departures[at + 1].as_secs_f64() - train.departures[at].as_secs_f64();
    for at in 1..17 {
        assert!((gap(at - 1) / gap(at) - 1.2).abs() < 1e-4, "{at}");
    }
}

#[test]
fn a_path_with_room_for_all_gives_the_fastest() {
    let found = estimate(&chirp(|_, _| 5_000.0)).unwrap();
    // The last gap is 8 ms / 1.2^16 = 0.4327 ms: 18.49 Mbit/s.
    assert!((found.as_f64() - 18.49e6).abs() < 0.01e6, "{found}");
}

#[test]
fn the_rate_at_which_delay_begins_to_grow_for_good_is_taken() {
    // From packet 10 on, each waits longer: the gap behind it is 8 ms / 1.2^10, 6.19 Mbit/s.
    let found = estimate(&chirp(|number, _| {
        5_000.0 + number.saturating_sub(10) as f64 * 300.0
    }));
    let found = found.unwrap().as_f64();
    assert!((found - 6.19e6).abs() < 0.01e6, "{found}");
}

#[test]
fn an_excursion_that_ended_counts_with_its_own_rates() {
    // Packets 2 to 9 are on a hill; then delay grows for good from 14 on.
    let delay = |number: usize, _: f64| match number {
        2..=6 => 5_000.0 + (number - 2) as f64 * 500.0,
        7..=9 => 7_000.0 - (number - 6) as f64 * 650.0,
        14.. => 5_000.0 + (number - 14) as f64 * 400.0,
        _ => 5_000.0,
    };
    let found = estimate(&chirp(delay)).unwrap().as_f64();
    // Below the 12.84 Mbit/s of packet 14, since the hill was at 1.4 to 3 Mbit/s; above those.
    assert!(found > 3e6 && found < 12.84e6, "{found}");
}

#[test]
fn drifting_clocks_are_no_excursion() {
    let drifting = estimate(&chirp(|_, left| 5_000.0 + left * 500.0)).unwrap();
    assert_eq!(drifting, estimate(&chirp(|_, _| 5_000.0)).unwrap());
}

#[test]
fn a_chirp_with_a_hole_says_nothing() {
    let mut lossy = chirp(|_, _| 5_000.0);
    lossy.packets[3].arrived = None;
    assert_eq!(estimate(&lossy), None);
    let none = Passages {
        packets: Vec::new(),
        stamped: Stamped::Exactly,
        clocks: None,
    };
    assert_eq!(estimate(&none), None);
}
