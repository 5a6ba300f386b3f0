use super::*;

const RTT: Span = Span::from_millis(20);

/// A path in virtual time.
struct Path {
    /// What the interface takes, and whether it names that.
    interface: u16,
    /// What the narrowest link takes.
    narrowest: u16,
    /// Whether its router says so.
    tells: bool,
    /// Whether the far end answers.
    answers: bool,
    /// Every so many-th probe is lost; 0 for none.
    lost_every: u64,
}

impl Default for Path {
    fn default() -> Self {
        Path {
            interface: 1_500,
            narrowest: 1_500,
            tells: true,
            answers: true,
            lost_every: 0,
        }
    }
}

impl Path {
    /// What was found, with how many probes, and when.
    fn search(&self) -> (Outcome, usize, Time) {
        let (search, sent, now) = self.searched();
        (search.outcome(), sent, now)
    }

    fn searched(&self) -> (Search, usize, Time) {
        let mut search = Search::new(576, false);
        let (mut now, mut sent) = (Time::ZERO, 0);
        let mut coming: Vec<(Time, u64)> = Vec::new();
        loop {
            while let Some(index) = coming.iter().position(|(at, _)| *at <= now) {
                let (at, number) = coming.remove(index);
                search.on_arrived(Some(number), at);
            }
            match search.next(now) {
                Step::Over(_) => return (search, sent, now),
                Step::Wait(until) => {
                    let first = coming.iter().map(|(at, _)| *at).min();
                    now = first.map_or(until, |first| first.min(until));
                }
                Step::Send { size, .. } if size > self.interface => {
                    search.on_refused();
                    search.on_too_big(self.interface.into());
                }
                Step::Send { number, size } => {
                    sent += 1;
                    search.on_sent(now);
                    let lost = self.lost_every > 0 && number % self.lost_every == 1;
                    if size > self.narrowest {
                        if self.tells && !lost {
                            search.on_too_big(self.narrowest.into());
                        }
                    } else if self.answers && !lost {
                        coming.push((now + RTT, number));
                    }
                }
            }
        }
    }
}

#[test]
fn the_size_of_the_interface_takes_two_probes() {
    let (outcome, sent, _) = Path::default().search();
    assert_eq!((outcome, sent), (Outcome::Passes(1_500), 2));
    let jumbo = Path {
        interface: 9_000,
        narrowest: 9_000,
        ..Path::default()
    };
    assert_eq!(jumbo.search().0, Outcome::Passes(9_000));
}

#[test]
fn a_router_that_tells_takes_three() {
    for narrowest in [1_499, 1_400, 1_280, 576] {
        let path = Path {
            narrowest,
            ..Path::default()
        };
        let (outcome, sent, _) = path.search();
        assert_eq!(outcome, Outcome::Passes(narrowest));
        assert!(sent <= 3, "{sent}");
    }
}

#[test]
fn packets_that_vanish_in_silence_are_found_out() {
    for (interface, narrowest) in [(1_500, 1_499), (1_500, 1_400), (1_500, 577), (9_000, 1_476)] {
        let path = Path {
            interface,
            narrowest,
            tells: false,
            ..Path::default()
        };
        let (outcome, sent, over) = path.search();
        assert_eq!(outcome, Outcome::Passes(narrowest), "of {interface}");
        assert!(sent < PROBES_MAX, "{sent}");
        // Thirteen halvings at most, each 160 ms a probe, and the last again.
        assert!(over < Time::ZERO + Span::from_secs(8), "{over:?}");
    }
}

#[test]
fn only_silence_makes_a_black_hole() {
    for (narrowest, tells, vanishing) in [
        (1_400, false, Some(1_500)),
        (1_400, true, None),
        (1_500, false, None),
    ] {
        let path = Path {
            narrowest,
            tells,
            ..Path::default()
        };
        let (search, ..) = path.searched();
        assert_eq!(search.vanishing(1_500), vanishing, "{narrowest} {tells}");
        // A kernel that learned of it sends no larger ones.
        assert_eq!(search.vanishing(narrowest.into()), None);
    }
}

#[test]
fn a_lossy_path_is_no_narrow_one() {
    for lost_every in [2, 3, 4, 5, 7] {
        for narrowest in [1_500, 1_400] {
            for tells in [true, false] {
                let path = Path {
                    lost_every,
                    narrowest,
                    tells,
                    ..Path::default()
                };
                let found = path.search().0;
                assert_eq!(found, Outcome::Passes(narrowest), "{lost_every} {tells}");
            }
        }
    }
}

#[test]
fn what_was_lost_by_chance_is_tried_again_in_the_end() {
    let mut search = Search::new(576, false);
    search.on_too_big(1_500);
    let mut now = Time::ZERO;
    let mut lost = 0;
    let outcome = loop {
        match search.next(now) {
            Step::Over(outcome) => break outcome,
            Step::Wait(until) => now = until,
            Step::Send { number, size } => {
                search.on_sent(now);
                // The first three of full size are lost, by chance; everything up to there passes.
                match size == 1_500 && lost < 3 {
                    true => lost += 1,
                    false => search.on_arrived(Some(number), now + RTT),
                }
            }
        }
    };
    assert_eq!((outcome, lost), (Outcome::Passes(1_500), 3));
}

#[test]
fn silence_leaves_the_size_open() {
    let path = Path {
        answers: false,
        ..Path::default()
    };
    let (outcome, sent, over) = path.search();
    assert_eq!(outcome, Outcome::Unanswered);
    // Three small ones and three of the size that the interface names.
    assert_eq!((sent, over), (6, Time::ZERO + Span::from_secs(6)));
}

#[test]
fn nonsense_from_routers_is_passed_over() {
    let mut search = Search::new(576, false);
    for mtu in [0, 1, 68, 575, 65_536, u32::MAX] {
        search.on_too_big(mtu);
    }
    assert_eq!((search.named, search.high), (SIZE_MAX, SIZE_MAX));
    search.on_arrived(Some(99), Time::ZERO);
    search.on_arrived(None, Time::ZERO);
    assert_eq!(search.low, None);
}

#[test]
fn an_interface_that_names_nothing_is_found_by_halving() {
    let mut search = Search::new(576, false);
    let mut now = Time::ZERO;
    let outcome = loop {
        match search.next(now) {
            Step::Over(outcome) => break outcome,
            Step::Wait(until) => now = until,
            Step::Send { size, .. } if size > 4_470 => search.on_refused(),
            Step::Send { number, .. } => {
                search.on_sent(now);
                search.on_arrived(Some(number), now + RTT);
            }
        }
    };
    assert_eq!(outcome, Outcome::Passes(4_470));
}
