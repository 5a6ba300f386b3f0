//! Copies that come, look and go at the same time.

use shuttle::{check_random, thread};

use super::*;

/// Orders that are drawn; of a failure the order is printed.
const ORDERS: usize = 10_000;

/// A copy that looks twice. Returns its number, and what it was given in the end.
fn copy(budget: &Arc<Budget>, holder: &str, now: Instant) -> (u32, u64) {
    let name = KeyName::new(holder).unwrap();
    let mut user = budget.user(Use::Copy, name, CopyDirection::Put);
    for look in 1..=2 {
        user.look(now + LOOK * look, Bytes::new(1_000_000), 4);
        let users = budget.users();
        let rate = |user: &User| user.share.rate.map_or(0.0, Rate::as_f64);
        let given: f64 = users.all.values().map(rate).sum();
        assert!(given <= 1e9 + 1.0, "{given} of 1 Gbit/s are given");
    }
    let share = user.told().rate.unwrap();
    (user.number, share.bits_per_second())
}

fn copies() {
    let whole = CopyBounds {
        rate: Some(Rate::from_bits_per_second(1_000_000_000)),
        ..CopyBounds::default()
    };
    let budget = Arc::new(Budget::new(None).with_whole(whole));
    let now = Instant::now();
    let others = Arc::clone(&budget);
    let other = thread::spawn(move || copy(&others, "bob", now));
    let (own, share) = copy(&budget, "ana", now);
    let (others, other_share) = other.join().unwrap();
    assert_ne!(own, others, "each has a number of its own");
    let all = 500_000_000..=1_000_000_000;
    assert!(all.contains(&share) && all.contains(&other_share));
    assert!(budget.users().all.is_empty(), "who is gone has no part");
}

/// Two copies of two users.
pub fn copies_at_the_same_time_have_the_whole_at_most_and_leave_it_when_they_go() {
    check_random(copies, ORDERS);
}
