//! Copies that use what they are given, and some that cannot.

use copy_protocol::{Rights, Secret, Token};
use proptest::prelude::*;

use super::*;

const MBIT: f64 = 1e6;

fn name(text: &str) -> KeyName {
    KeyName::new(text).unwrap()
}

fn bounds(rate: u64, streams: u16) -> CopyBounds {
    CopyBounds {
        copies: None,
        streams: (streams > 0).then_some(streams),
        rate: (rate > 0).then(|| Rate::from_bits_per_second(rate * 1_000_000)),
    }
}

/// A budget with these words behind the tokens of `ana` and `bob`.
fn budget(whole: CopyBounds, ana: &str, bob: &str) -> Arc<Budget> {
    let line = |holder: &str, words: &str| {
        let token = Token {
            name: name(holder),
            secret: Secret::new([1; 32]),
        };
        let line = Tokens::line(&token, Rights::ALL);
        format!("{} {words}\n", line.trim_end())
    };
    let text = line("ana", ana) + &line("bob", bob);
    let tokens = Arc::new(RwLock::new(Tokens::parse(&text).unwrap()));
    Arc::new(Budget::new(Some(tokens)).with_whole(whole))
}

/// A copy whose path carries so much.
struct Running {
    user: BudgetUser,
    share: CopyShare,
    /// Mbit/s and streams that it could use.
    able: (f64, u16),
    moved: f64,
}

impl Running {
    fn new(budget: &Arc<Budget>, holder: &str, able: (f64, u16)) -> Self {
        Running::to(budget, holder, able, CopyDirection::Put)
    }

    fn to(budget: &Arc<Budget>, holder: &str, able: (f64, u16), to: CopyDirection) -> Self {
        Running {
            user: budget.user(Use::Copy, name(holder), to),
            share: CopyShare::default(),
            able,
            moved: 0.0,
        }
    }

    fn mbit(&self) -> f64 {
        let share = self.share.rate.map(Rate::as_f64);
        share.map_or(self.able.0, |share| self.able.0.min(share / MBIT))
    }

    fn streams(&self) -> u16 {
        let most = self.share.streams.map(StreamCount::get);
        most.map_or(self.able.1, |most| self.able.1.min(most))
    }
}

/// Lets all of them run for so many seconds.
fn run(copies: &mut [Running], now: &mut Instant, seconds: u32) {
    for _ in 0..4 * seconds {
        *now += LOOK;
        for one in copies.iter_mut() {
            one.moved += one.mbit() * MBIT / 8.0 * LOOK.as_secs_f64();
            let streams = one.streams();
            let moved = Bytes::new(one.moved as u64);
            if let Some(share) = one.user.look(*now, moved, streams) {
                one.share = share;
            }
        }
    }
}

fn mbits(copies: &[Running]) -> Vec<f64> {
    copies.iter().map(|one| one.mbit().round()).collect()
}

#[test]
fn without_bounds_copies_are_told_nothing() {
    let budget = budget(CopyBounds::default(), "", "");
    let mut copies = [Running::new(&budget, "ana", (900.0, 64))];
    run(&mut copies, &mut Instant::now(), 3);
    assert_eq!(copies[0].share, CopyShare::default());
    assert_eq!(budget.copies_max(&name("ana")), None);
}

#[test]
fn tokens_share_equally_however_many_copies_each_has() {
    let budget = budget(bounds(120, 0), "", "");
    let of = |holder| Running::new(&budget, holder, (1_000.0, 4));
    let mut copies = [of("ana"), of("bob"), of("bob"), of("bob")];
    run(&mut copies, &mut Instant::now(), 5);
    assert_eq!(mbits(&copies), [60.0, 20.0, 20.0, 20.0]);
}

#[test]
fn what_one_cannot_use_goes_to_the_others_and_comes_back() {
    let budget = budget(bounds(100, 0), "", "");
    let mut now = Instant::now();
    let mut copies = [
        Running::new(&budget, "ana", (10.0, 4)),
        Running::new(&budget, "bob", (1_000.0, 4)),
    ];
    run(&mut copies, &mut now, 10);
    assert_eq!(copies[0].mbit().round(), 10.0);
    assert!(
        (86.0..=88.0).contains(&copies[1].mbit()),
        "{:?}",
        mbits(&copies)
    );
    copies[0].able.0 = 1_000.0;
    run(&mut copies, &mut now, 10);
    assert_eq!(mbits(&copies), [50.0, 50.0]);
    let [ana, bob] = copies;
    drop(ana);
    let mut copies = [bob];
    run(&mut copies, &mut now, 3);
    assert_eq!(mbits(&copies), [100.0]);
}

#[test]
fn the_bound_of_a_token_holds_within_that_of_the_server() {
    let budget = budget(bounds(100, 0), "rate=20M", "");
    let of = |holder| Running::new(&budget, holder, (1_000.0, 4));
    let mut copies = [of("ana"), of("ana"), of("bob")];
    run(&mut copies, &mut Instant::now(), 5);
    assert_eq!(mbits(&copies), [10.0, 10.0, 80.0]);
}

#[test]
fn each_direction_has_the_rate_and_both_share_the_streams() {
    let budget = budget(bounds(100, 12), "", "");
    let to = |to| Running::to(&budget, "ana", (1_000.0, 64), to);
    let mut copies = [to(CopyDirection::Put), to(CopyDirection::Get)];
    run(&mut copies, &mut Instant::now(), 5);
    assert_eq!(mbits(&copies), [100.0, 100.0]);
    let streams: Vec<u16> = copies.iter().map(Running::streams).collect();
    assert_eq!(streams, [6, 6]);
}

#[test]
fn streams_are_whole_and_one_at_least() {
    let budget = budget(bounds(0, 8), "streams=2", "");
    assert_eq!(budget.copies_max(&name("ana")), Some(2));
    let of = |holder, able| Running::new(&budget, holder, (1.0, able));
    let mut copies = [of("ana", 9), of("ana", 9), of("bob", 3), of("bob", 64)];
    run(&mut copies, &mut Instant::now(), 10);
    let streams: Vec<u16> = copies.iter().map(Running::streams).collect();
    assert_eq!(streams, [1, 1, 3, 3]);
}

#[test]
fn access_to_files_shares_the_rate_and_takes_no_streams_of_copies() {
    let budget = budget(bounds(100, 8), "", "");
    let mut copies = [Running::to(
        &budget,
        "ana",
        (1_000.0, 64),
        CopyDirection::Get,
    )];
    let mut files = budget.user(Use::Files, name("bob"), CopyDirection::Get);
    let now = Instant::now();
    let rate = Some(Rate::from_bits_per_second(50_000_000));
    let share = CopyShare {
        rate,
        streams: None,
    };
    assert_eq!(files.look(now, Bytes::ZERO, 0), Some(share));
    run(&mut copies, &mut now.clone(), 1);
    assert_eq!(copies[0].streams(), 8);
}

/// A session stays open for minutes in which its program asks for nothing.
#[test]
fn a_session_that_moves_nothing_leaves_its_part_to_copies() {
    let budget = budget(bounds(100, 0), "", "");
    let mut now = Instant::now();
    let mut files = budget.user(Use::Files, name("bob"), CopyDirection::Put);
    let mut copies = [Running::new(&budget, "ana", (1_000.0, 4))];
    run(&mut copies, &mut now, 2);
    assert_eq!(mbits(&copies), [100.0], "nothing was moved yet");
    files.look(now, Bytes::ZERO, 0);
    run(&mut copies, &mut now, 2);
    assert_eq!(mbits(&copies), [50.0]);
    run(&mut copies, &mut now, 10);
    assert_eq!(mbits(&copies), [100.0]);
    let rate = Some(Rate::from_bits_per_second(50_000_000));
    files.look(now, Bytes::new(1), 0);
    assert_eq!(files.told().rate, rate);
}

#[test]
fn of_two_servers_the_lower_bounds_hold() {
    let share = |rate: Option<u64>, streams: Option<u16>| CopyShare::told(rate, streams);
    let both = share(Some(5), Some(9)).lower(share(Some(7), None));
    assert_eq!(both, share(Some(5), Some(9)));
    assert_eq!(both.lower(share(None, Some(2))), share(Some(5), Some(2)));
    assert_eq!(
        CopyShare::default().lower(CopyShare::default()),
        CopyShare::default()
    );
}

#[test]
fn bounds_that_are_read_anew_hold_at_the_next_look() {
    let budget = budget(CopyBounds::default(), "rate=50M", "");
    let mut now = Instant::now();
    let mut copies = [Running::new(&budget, "ana", (1_000.0, 4))];
    run(&mut copies, &mut now, 2);
    assert_eq!(mbits(&copies), [50.0]);
    *budget.tokens.as_ref().unwrap().write().unwrap() = Tokens::default();
    run(&mut copies, &mut now, 1);
    assert_eq!(copies[0].share, CopyShare::default());
}

proptest! {
    /// Copies come, go and use anything. What is divided never exceeds the bounds; what the copies
    /// were told does for a look or two, since each is told at its own.
    #[test]
    fn parts_together_keep_to_the_bounds(
        steps in proptest::collection::vec((0_u8..4, 0.0..2_000.0_f64, 1_u16..200), 1..200),
    ) {
        let budget = budget(bounds(100, 64), "rate=30M streams=10", "");
        let (mut copies, mut now) = (Vec::<Running>::new(), Instant::now());
        for (what, mbit, streams) in steps {
            match what {
                0 if copies.len() < 8 => {
                    let holder = if streams % 2 == 0 { "ana" } else { "bob" };
                    copies.push(Running::new(&budget, holder, (mbit, streams)));
                }
                1 if !copies.is_empty() => {
                    copies.swap_remove(usize::from(streams) % copies.len());
                }
                _ => {}
            }
            for _ in 0..3 {
                run(&mut copies, &mut now, 1);
                let divided = budget.users().all.values().map(|user| user.share).collect();
                within_the_bounds(divided, 1.0)?;
            }
            within_the_bounds(copies.iter().map(|one| one.share).collect(), 1.0 + 2.0 * CHANGE)?;
        }
    }
}

/// Whether these are not more than 100 Mbit/s, times `slack`, and 64 streams.
fn within_the_bounds(shares: Vec<CopyShare>, slack: f64) -> Result<(), TestCaseError> {
    let rates = shares.iter().filter_map(|share| share.rate);
    let rate: f64 = rates.map(Rate::as_f64).sum();
    // Each is rounded to whole bits.
    prop_assert!(rate <= 100.0 * MBIT * slack + shares.len() as f64, "{rate}");
    let streams = shares.iter().filter_map(|share| share.streams);
    let streams: usize = streams.map(|one| usize::from(one.get())).sum();
    prop_assert!(streams <= 64.max(shares.len()), "{streams}");
    Ok(())
}
