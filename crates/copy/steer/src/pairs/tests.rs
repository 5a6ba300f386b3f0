use super::*;

/// Numbers of one history, from its own number.
struct Draw(u64);

impl Draw {
    fn new(history: u64) -> Self {
        Draw(88_172_645_463_325_252 ^ history.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

fn at(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

/// Streams on their way and connected, by pair, as they should be.
#[derive(Default)]
struct Expected {
    coming: Vec<usize>,
    present: Vec<usize>,
    carried: u64,
}

impl Expected {
    fn check(&self, pairs: &Pairs, now: Time, history: u64) {
        let count = |all: &[usize], at| all.iter().filter(|one| **one == at).count() as u32;
        for (at, pair) in pairs.0.iter().enumerate() {
            assert_eq!(pair.coming, count(&self.coming, at), "history {history}");
            assert_eq!(pair.streams, count(&self.present, at), "history {history}");
            let is_gone = pair.gone.is_some();
            assert!(!is_gone || pair.streams == 0, "history {history}");
            let pause = pair.until.map_or(Span::ZERO, |until| until.since(now));
            assert!(pause <= PAUSE.times(64), "history {history}: {pause}");
        }
        let carried: u64 = pairs.carried().map(|(bytes, _)| bytes.get()).sum();
        assert_eq!(carried, self.carried, "history {history}");
    }

    fn dealt(&mut self, pairs: &Pairs, before: &Pairs, at: Option<usize>, now: Time, history: u64) {
        let open = |pair: &Pair| pair.is_open(now);
        let Some(at) = at else {
            assert!(!before.0.iter().any(open), "history {history}");
            return;
        };
        let is_empty = |pair: &Pair| open(pair) && pair.is_empty();
        let chosen = before.0.get(at).unwrap();
        assert!(open(chosen), "history {history}: it is left out");
        assert!(
            chosen.is_empty() || !before.0.iter().any(is_empty),
            "history {history}: another one has no stream"
        );
        assert_eq!(pairs.0.get(at).unwrap().coming, chosen.coming + 1);
        self.coming.push(at);
    }
}

fn take(all: &mut Vec<usize>, draw: &mut Draw) -> Option<usize> {
    let count = all.len() as u64;
    (count > 0).then(|| all.swap_remove(draw.below(count) as usize))
}

#[test]
fn drawn_histories_keep_count_and_use_no_pair_that_is_left_out() {
    for history in 0..10_000 {
        let mut draw = Draw::new(history);
        let count = 1 + draw.below(4) as usize;
        let mut pairs = Pairs::new(count);
        let mut expected = Expected::default();
        let mut now = Time::ZERO;
        for _ in 0..draw.below(60) {
            now += Span::from_millis(draw.below(2_000));
            let before = pairs.clone();
            match draw.below(8) {
                0 | 1 => {
                    let dealt = pairs.deal(now);
                    expected.dealt(&pairs, &before, dealt, now, history);
                }
                2 => {
                    if let Some(tried) = pairs.retry(now) {
                        let pair = before.0.get(tried).unwrap();
                        assert!(pair.is_empty() && pair.failures > 0, "history {history}");
                        expected.dealt(&pairs, &before, Some(tried), now, history);
                    }
                }
                3 | 4 => {
                    if let Some(at) = take(&mut expected.coming, &mut draw) {
                        let was_gone = before.0.get(at).unwrap().gone.is_some();
                        assert_eq!(pairs.on_joined(at, now), was_gone, "history {history}");
                        expected.present.push(at);
                    }
                }
                5 => {
                    if let Some(at) = take(&mut expected.coming, &mut draw) {
                        pairs.on_not_joined(at, now);
                        assert!(!pairs.0.get(at).unwrap().is_open(now), "history {history}");
                    }
                }
                6 => {
                    if let Some(at) = take(&mut expected.present, &mut draw) {
                        pairs.on_over(at, draw.below(2) == 0, now);
                    }
                }
                _ if draw.below(20) == 0 => {
                    pairs.begin();
                    expected.coming.clear();
                    expected.present.clear();
                }
                _ => {
                    let moved: Vec<u64> = (0..count).map(|_| draw.below(3) * 1_000).collect();
                    expected.carried += moved.iter().sum::<u64>();
                    let moved: Vec<Bytes> = moved.into_iter().map(Bytes::new).collect();
                    let hang = pairs.on_look(now, Span::from_millis(250), &moved);
                    let some = hang.iter().all(|at| pairs.0.get(*at).unwrap().streams > 0);
                    assert!(some && hang.len() < count, "history {history}: {hang:?}");
                }
            }
            expected.check(&pairs, now, history);
        }
    }
}

/// Links of which each stream fills a part: megabit per second of both.
struct Links(Vec<(f64, f64)>);

impl Links {
    fn drawn(draw: &mut Draw) -> Self {
        let count = 2 + draw.below(3);
        Links(
            (0..count)
                .map(|_| {
                    let each = 1.0 + draw.below(50) as f64;
                    (each, each * (1.0 + draw.below(12) as f64))
                })
                .collect(),
        )
    }

    fn carried(&self, at: usize, streams: u32) -> f64 {
        let (each, whole) = self.0[at];
        (each * f64::from(streams)).min(whole)
    }

    /// The most that so many streams carry.
    fn best(&self, streams: u32) -> f64 {
        let mut split = vec![0; self.0.len()];
        for _ in 0..streams {
            let gain = |at: usize| self.carried(at, split[at] + 1) - self.carried(at, split[at]);
            let best = (0..split.len()).max_by(|a, b| gain(*a).total_cmp(&gain(*b)));
            split[best.unwrap()] += 1;
        }
        (0..split.len()).map(|at| self.carried(at, split[at])).sum()
    }

    fn look(&self, pairs: &mut Pairs, now: &mut Time) {
        let second = Span::from_secs(1);
        for _ in 0..60 {
            *now += second;
            let rate = |at: usize| self.carried(at, pairs.0[at].streams) * 1e6 / 8.0;
            let moved: Vec<Bytes> = (0..self.0.len())
                .map(|at| Bytes::new(rate(at) as u64))
                .collect();
            assert_eq!(pairs.on_look(*now, second, &moved), [0; 0]);
        }
    }
}

/// A stream for each link at first, and one in vain at each that is full: the others are where they
/// carry the most.
#[test]
fn streams_go_where_they_bring_the_most() {
    for history in 0..1_000 {
        let mut draw = Draw::new(history);
        let links = Links::drawn(&mut draw);
        let count = links.0.len();
        let (mut pairs, mut now) = (Pairs::new(count), Time::ZERO);
        let streams = count as u32 * 2 + draw.below(40) as u32;
        for _ in 0..streams {
            let at = pairs.deal(now).unwrap();
            pairs.on_joined(at, now);
            links.look(&mut pairs, &mut now);
        }
        let carried: f64 = (0..count)
            .map(|at| links.carried(at, pairs.0[at].streams))
            .sum();
        let least = links.best(streams - count as u32 * 2);
        assert!(
            carried >= 0.999 * least,
            "history {history}: {carried} of {least} Mbit/s over {:?}",
            links.0
        );
    }
}

#[test]
fn a_pair_that_fails_is_tried_again_after_pauses_that_double() {
    let mut pairs = Pairs::new(2);
    for _ in 0..2 {
        let pair = pairs.deal(at(0)).unwrap();
        pairs.on_joined(pair, at(0));
    }
    assert!(pairs.on_over(0, true, at(1)), "it is gone");
    assert_eq!((pairs.retry(at(1)), pairs.deal(at(1))), (None, Some(1)));
    let mut now = 1;
    for pause in [1, 2, 4, 8, 16, 32, 64, 64] {
        assert_eq!(pairs.retry(at(now + pause - 1)), None, "after {pause} s");
        now += pause;
        assert_eq!(pairs.retry(at(now)), Some(0), "after {pause} s");
        assert_eq!(pairs.retry(at(now)), None, "one at a time");
        assert!(!pairs.on_not_joined(0, at(now)), "it was gone before");
    }
    now += 64;
    assert_eq!(pairs.retry(at(now)), Some(0));
    assert!(pairs.on_joined(0, at(now)), "it is back");
    let gone: Vec<Option<Time>> = pairs.carried().map(|(_, gone)| gone).collect();
    assert_eq!(gone, [None, None]);
}

/// What connecting moves is no sign that it carries.
#[test]
fn a_pair_that_connects_and_breaks_at_once_is_held_back_longer_each_time() {
    let mut pairs = Pairs::new(2);
    for _ in 0..2 {
        let pair = pairs.deal(at(0)).unwrap();
        pairs.on_joined(pair, at(0));
    }
    pairs.on_over(0, true, at(1));
    let mut now = 1;
    let moved = [Bytes::new(100), Bytes::new(1_000_000)];
    for pause in [1, 2, 4, 8, 16, 32] {
        now += pause;
        assert_eq!(pairs.retry(at(now)), Some(0), "after {pause} s");
        pairs.on_joined(0, at(now));
        pairs.on_look(at(now), Span::from_secs(1), &moved);
        pairs.on_over(0, true, at(now));
        assert_eq!(
            pairs.retry(at(now + 2 * pause - 1)),
            None,
            "after {pause} s"
        );
    }
}

#[test]
fn a_pair_that_is_given_up_is_not_tried_again_unless_it_is_the_last() {
    let mut pairs = Pairs::new(2);
    for (pair, left) in [(0, Some(1)), (1, Some(1))] {
        pairs.deal(at(0));
        pairs.give_up(pair);
        pairs.on_not_joined(pair, at(0));
        assert_eq!(pairs.deal(at(1000)), left);
    }
    pairs.begin();
    assert_eq!(pairs.deal(at(2000)), Some(0), "a session later");
}

#[test]
fn a_pair_hangs_that_carries_nothing_while_another_does() {
    let mut pairs = Pairs::new(2);
    for _ in 0..2 {
        let pair = pairs.deal(at(0)).unwrap();
        pairs.on_joined(pair, at(0));
    }
    let second = Span::from_secs(1);
    let (some, none) = (Bytes::new(1), Bytes::ZERO);
    for now in 1..=10 {
        assert_eq!(pairs.on_look(at(now), second, &[none, none]), [0; 0]);
    }
    assert_eq!(pairs.on_look(at(11), second, &[some, some]), [0; 0]);
    for now in 12..=19 {
        assert_eq!(pairs.on_look(at(now), second, &[none, some]), [0; 0]);
    }
    assert_eq!(pairs.on_look(at(20), second, &[none, some]), [0]);
}

#[test]
fn one_pair_loses_its_newest_streams() {
    let streams: Vec<(u32, u8, f64)> = (1..=5).map(|number| (number, 0, 1.0)).collect();
    assert_eq!(surplus(&streams, 3), [5, 4]);
    assert_eq!(surplus(&streams, 5), [0; 0]);
    assert_eq!(surplus(&streams, 9), [0; 0]);
}
