use std::collections::BTreeSet;

use super::*;

const SIZE: Bytes = Bytes::new(100);

/// Marsaglia's xorshift: a number below `below`.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// What the definitions say of a history, without a window.
#[derive(Debug, Default, PartialEq)]
struct Model {
    seen: BTreeSet<u64>,
    highest: u64,
    reordered: u64,
    duplicates: u64,
}

impl Model {
    fn take(&mut self, number: u64) {
        match (self.seen.insert(number), number > self.highest) {
            (false, _) => self.duplicates += 1,
            (true, true) => self.highest = number,
            (true, false) => self.reordered += 1,
        }
    }
}

/// Datagrams 1 to `sent`, some lost, some twice, some out of their place.
fn history(drawn: &mut Drawn, from: u64) -> Vec<u64> {
    let sent = drawn.below(40) + 1;
    let mut history = Vec::new();
    for number in from + 1..=from + sent {
        match drawn.below(10) {
            0 | 1 => {}
            2 => history.extend([number, number]),
            _ => history.push(number),
        }
    }
    for _ in 0..drawn.below(8) {
        if history.len() > 1 {
            let from = drawn.below(history.len() as u64) as usize;
            let moved = history.remove(from);
            let to = drawn.below(history.len() as u64 + 1) as usize;
            history.insert(to, moved);
        }
    }
    history
}

#[test]
fn a_hundred_thousand_drawn_histories_count_as_a_set_counts_them() {
    let seed = 0x5eed_0041_u64;
    let mut drawn = Drawn(seed);
    for run in 0..100_000 {
        let counter = [Counter::Narrow, Counter::Wide][run % 2];
        // Half of the narrow ones wrap on the way.
        let start = [0, 0, u64::from(u32::MAX) - 10, 1 << 20][run % 4];
        let mut seen = Receipts::new(counter);
        let mut model = Model::default();
        if start > 0 {
            seen.highest = start;
            seen.arrived = start;
            model.highest = start;
        }
        let came = history(&mut drawn, start);
        for number in &came {
            let on_the_wire = match counter {
                Counter::Narrow => number & u64::from(u32::MAX),
                Counter::Wide => *number,
            };
            seen.take(on_the_wire, SIZE);
            model.take(*number);
        }
        let missing = model.highest - start - model.seen.len() as u64;
        let counted = (seen.highest, seen.lost(), seen.reordered, seen.duplicates);
        let expected = (model.highest, missing, model.reordered, model.duplicates);
        assert_eq!(counted, expected, "seed {seed:#x}, run {run}: {came:?}");
        assert_eq!(seen.bytes, SIZE.times(came.len() as u64));
    }
}

#[test]
fn what_is_older_than_the_window_is_late_and_no_copy() {
    let mut seen = Receipts::new(Counter::Wide);
    seen.take(1, SIZE);
    seen.take(WINDOW + 1, SIZE);
    assert_eq!(seen.take(1, SIZE), Receipt::Reordered);
    assert_eq!(seen.take(2, SIZE), Receipt::Reordered);
    assert_eq!(seen.take(2, SIZE), Receipt::Duplicate);
    // Its place is that of a number of one window before.
    assert_eq!(seen.take(WINDOW + 2, SIZE), Receipt::InOrder { gap: 0 });
}

#[test]
fn numbers_of_no_test_count_nothing() {
    let mut seen = Receipts::new(Counter::Wide);
    for number in [0, u64::MAX, AHEAD_MAX + 1] {
        assert_eq!(seen.take(number, SIZE), Receipt::Strange);
    }
    assert_eq!((seen.highest(), seen.lost(), seen.bytes.get()), (0, 0, 0));
    let mut narrow = Receipts::new(Counter::Narrow);
    // Before the first one.
    assert_eq!(narrow.take(u64::from(u32::MAX), SIZE), Receipt::Strange);
    assert_eq!(narrow.take(0, SIZE), Receipt::Strange);
}

/// By hand: delays of 10, 10, 26 and 10 ms. |D| is 0, 16 and 16 ms, so J is 0, 1 and
/// 1 + 15 / 16 ms.
#[test]
fn jitter_is_that_of_the_standard_whatever_the_clocks_show() {
    let mut jitter = Jitter::default();
    let mut after = Vec::new();
    for (number, delay) in (0_u64..).zip([10, 10, 26, 10]) {
        let sent = Span::from_millis(number * 20);
        // The receiver's clock is far behind the sender's.
        let arrived = i128::from(number * 20 + delay) * 1_000_000 - 1_000_000_000_000_000;
        jitter.take(sent, arrived);
        after.push(jitter.value().as_nanos());
    }
    assert_eq!(after, [0, 0, 1_000_000, 1_937_500]);
}
