use super::*;

use crate::DropCause;

#[derive(Debug, PartialEq)]
struct Marked {
    class: Class,
    size: u64,
}

impl Packet for Marked {
    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }

    fn class(&self) -> Class {
        self.class
    }
}

fn offer(queue: &mut Classes<Marked>, class: Class, size: u64) -> Admission {
    queue.offer(Marked { class, size })
}

#[test]
fn strict_sends_the_best_first_and_in_order_within_a_class() {
    let mut queue = Classes::strict(QueueLimit::Packets(9));
    let arrivals = [
        (Class::Scavenger, 1),
        (Class::BestEffort, 2),
        (Class::Priority, 3),
        (Class::BestEffort, 4),
        (Class::Priority, 5),
    ];
    for (class, size) in arrivals {
        assert_eq!(offer(&mut queue, class, size), Admission::Accepted);
    }
    assert_eq!((queue.packets(), queue.bytes()), (5, Bytes::new(15)));
    let sizes = std::iter::from_fn(|| queue.poll()).map(|packet| packet.size);
    assert_eq!(sizes.collect::<Vec<_>>(), [3, 5, 2, 4, 1]);
}

#[test]
fn a_full_class_leaves_the_others_their_room() {
    let mut queue = Classes::strict(QueueLimit::Packets(1));
    let full = Admission::Dropped(DropCause::QueueFull);
    for class in Class::ALL {
        assert_eq!(offer(&mut queue, class, 1500), Admission::Accepted);
        assert_eq!(offer(&mut queue, class, 1500), full);
    }
}

/// The share of bytes that each class gets when those with a size here always have packets waiting.
fn shares(scavenger: f64, priority: f64, sizes: [Option<u64>; 3]) -> [f64; 3] {
    let mut queue = Classes::weighted(QueueLimit::Packets(4), scavenger, priority);
    let mut sent = [0u64; 3];
    for _ in 0..300_000 {
        for (class, size) in Class::ALL.into_iter().zip(sizes) {
            if let Some(size) = size {
                let _ = offer(&mut queue, class, size);
            }
        }
        let packet = queue.poll().unwrap();
        sent[packet.class as usize] += packet.size;
    }
    let all: u64 = sent.iter().sum();
    sent.map(|bytes| bytes as f64 / all as f64)
}

fn assert_shares(seen: [f64; 3], expected: [f64; 3]) {
    for (seen, expected) in seen.into_iter().zip(expected) {
        // 1 % of the share; half a per mille of all for the shares that are zero.
        let tolerance = (0.01 * expected).max(0.0005);
        assert!(
            (seen - expected).abs() <= tolerance,
            "{seen}, not {expected}"
        );
    }
}

#[test]
fn under_saturation_each_class_gets_its_share() {
    let all = |size| [Some(size); 3];
    assert_shares(shares(0.01, 0.30, all(1500)), [0.01, 0.69, 0.30]);
    assert_shares(shares(0.2, 0.2, all(1500)), [0.2, 0.6, 0.2]);
    assert_shares(shares(0.3, 0.6, all(576)), [0.3, 0.1, 0.6]);
}

#[test]
fn shares_count_bytes_whatever_the_packets() {
    let mixed = [Some(40), Some(9000), Some(1500)];
    assert_shares(shares(0.1, 0.3, mixed), [0.1, 0.6, 0.3]);
    let large = [Some(65_535), Some(65_535), Some(40)];
    assert_shares(shares(0.25, 0.25, large), [0.25, 0.5, 0.25]);
}

#[test]
fn what_a_class_leaves_goes_to_the_others_by_their_shares() {
    let without_priority = [Some(1500), Some(1500), None];
    assert_shares(
        shares(0.1, 0.6, without_priority),
        [0.25, 0.75, 0.0], // 0.1 and 0.3 of 0.4
    );
    let scavenger_alone = [Some(1500), None, None];
    assert_shares(shares(0.01, 0.3, scavenger_alone), [1.0, 0.0, 0.0]);
}

#[test]
fn a_class_saves_nothing_up_while_it_is_silent() {
    let mut queue = Classes::weighted(QueueLimit::Packets(1000), 0.25, 0.25);
    for _ in 0..500 {
        let _ = offer(&mut queue, Class::BestEffort, 1500);
        queue.poll();
    }
    for _ in 0..200 {
        let _ = offer(&mut queue, Class::Priority, 1500);
        let _ = offer(&mut queue, Class::BestEffort, 1500);
    }
    let first: Vec<_> = (0..30).filter_map(|_| queue.poll()).collect();
    let priority = first
        .iter()
        .filter(|packet| packet.class == Class::Priority)
        .count();
    // A third of those who send; saved turns would give it all thirty.
    assert!((8..=12).contains(&priority), "{priority} of 30");
}
