use super::*;

fn delays(trend: Trend) -> Showing {
    Showing::Delays(Delays {
        trend,
        slope: 0.1,
        unseen: 0.0,
        rate: 50e6,
        coarse: false,
    })
}

fn tally(showings: &[Showing]) -> Tally {
    let mut tally = Tally::default();
    showings.iter().for_each(|showing| tally.add(*showing));
    tally
}

const ASKED: Rate = Rate::from_bits_per_second(50_000_000);
const CAPACITY: Rate = Rate::from_bits_per_second(100_000_000);

#[test]
fn four_too_fast_or_five_slow_enough_decide_at_once() {
    use Trend::{Increasing, NotIncreasing};
    assert!(!tally(&[delays(Increasing); 3]).is_done());
    assert_eq!(tally(&[delays(Increasing); 4]).trend(), Some(Increasing));
    assert!(!tally(&[delays(NotIncreasing); 4]).is_done());
    assert_eq!(
        tally(&[delays(NotIncreasing); 5]).trend(),
        Some(NotIncreasing)
    );
}

#[test]
fn otherwise_eight_of_twelve_do() {
    use Trend::{Grey, Increasing, NotIncreasing};
    let mut showings = vec![delays(NotIncreasing)];
    showings.extend([delays(Increasing); 7]);
    assert_eq!(tally(&showings).trend(), None);
    showings.push(delays(Increasing));
    let tally_of = tally(&showings);
    assert_eq!(tally_of.trend(), Some(Increasing));
    assert!(!tally_of.verdict(ASKED, CAPACITY).unwrap().unanimous);
    // Five against five: neither can have eight any more.
    let mut undecided = vec![delays(NotIncreasing); 5];
    undecided.extend([delays(Increasing); 5]);
    assert_eq!(tally(&undecided).trend(), Some(Grey));
}

#[test]
fn loss_decides() {
    let verdict = tally(&[Showing::Lost]).verdict(ASKED, CAPACITY).unwrap();
    assert_eq!(verdict.trend, Trend::Increasing);
    assert_eq!((verdict.streams, verdict.increasing), (1, 1));
    assert_eq!(tally(&[Showing::Lossy; 4]).trend(), Some(Trend::Increasing));
}

#[test]
fn the_slope_says_where_to_go_on() {
    let verdict = tally(&[delays(Trend::Increasing); 4]).verdict(ASKED, CAPACITY);
    // A queue that grows by 0.1 s/s at 100 Mbit/s gets 10 Mbit/s too much of 50.
    assert_eq!(verdict.unwrap().hint, Some(40e6));
}

#[test]
fn unfit_streams_say_nothing() {
    let few = tally(&[Showing::Batched, Showing::Blurred]);
    assert!(!few.is_done());
    let unfit = tally(&[Showing::Batched; 3]);
    assert!(unfit.is_done() && unfit.verdict(ASKED, CAPACITY).is_none());
    let long = Plan::new(ASKED, CAPACITY, Bytes::new(1500), 8);
    assert!(!long.may_be_longer());
    let why = unfit.unmeasurable(ASKED, &long).unwrap();
    assert!(why.contains("batches"), "{why}");
    // Shorter ones are tried longer first.
    let short = Plan::new(ASKED, CAPACITY, Bytes::new(1500), 1);
    assert_eq!(unfit.unmeasurable(ASKED, &short), None);
}

#[test]
fn a_sender_that_is_slower_is_noticed() {
    let asked = Rate::from_bits_per_second(60_000_000);
    let verdict = tally(&[delays(Trend::NotIncreasing); 5]).verdict(asked, CAPACITY);
    assert!(verdict.unwrap().slow_sender);
}
