use super::*;
use crate::accounts::Entry;

use crate::random::{Purpose, Random};
use netpath::QueueLimit;

const SPEC: CoDelSpec = CoDelSpec {
    limit: QueueLimit::Packets(100_000),
    target: CoDelSpec::TARGET,
    interval: CoDelSpec::INTERVAL,
    ecn: false,
};

#[derive(Debug, Default)]
struct Plain {
    capable: bool,
    marked: bool,
}

impl Packet for Plain {
    fn size(&self) -> Bytes {
        Bytes::new(1500)
    }

    fn ecn_capable(&self) -> bool {
        self.capable
    }

    fn mark_congestion(&mut self) {
        self.marked = true;
    }
}

fn millis(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn filled(ecn: bool, packets: usize) -> CoDel<Plain> {
    let mut codel = CoDel::new(CoDelSpec { ecn, ..SPEC });
    for _ in 0..packets {
        let packet = Plain {
            capable: true,
            marked: false,
        };
        assert_eq!(codel.offer(packet, Time::ZERO), Admission::Accepted);
    }
    codel
}

/// Takes one packet each millisecond; tells in which milliseconds packets were dropped.
fn drops_at(codel: &mut CoDel<Plain>, span: std::ops::Range<u64>) -> Vec<u64> {
    let mut accounts = Accounts::new();
    (0..codel.packets()).for_each(|_| accounts.admit(Entry::of(&Plain::default())));
    let mut drops = Vec::new();
    for ms in span {
        let before = accounts.counters.dropped_sojourn.packets;
        codel.poll(millis(ms), &mut accounts);
        let dropped = accounts.counters.dropped_sojourn.packets - before;
        drops.extend((0..dropped).map(|_| ms));
    }
    drops
}

/// All packets came at 0 and have waited 10 ms when the first is taken, so the interval begins
/// there. The law then asks for drops at 110, +100, +100/sqrt(2) = 280.7, +100/sqrt(3) = 338.4, +50
/// = 388.4, +100/sqrt(5) = 433.2, +40.8 = 474.0, +37.8 = 511.8; each falls on the next millisecond.
const LAW: [u64; 8] = [110, 210, 281, 339, 389, 434, 474, 512];

#[test]
fn drops_come_closer_with_the_square_root_of_their_count() {
    let mut codel = filled(false, 2000);
    assert_eq!(drops_at(&mut codel, 10..513), LAW);
}

#[test]
fn marks_come_when_drops_would() {
    let mut codel = filled(true, 2000);
    let mut accounts = Accounts::new();
    let mut marked = Vec::new();
    for ms in 10..513 {
        let packet = codel.poll(millis(ms), &mut accounts).unwrap();
        marked.extend(packet.marked.then_some(ms));
    }
    assert_eq!(marked, LAW);
    assert_eq!(accounts.counters.dropped_sojourn.packets, 0);
    assert_eq!(accounts.counters.marked.packets, 8);
}

#[test]
fn a_wait_below_the_target_is_never_punished() {
    let mut codel = CoDel::new(SPEC);
    let mut accounts = Accounts::new();
    for ms in 0..10_000 {
        let _ = codel.offer(Plain::default(), millis(ms));
        if ms >= 4 {
            assert!(codel.poll(millis(ms), &mut accounts).is_some());
        }
    }
    assert_eq!(accounts.counters.dropped_sojourn.packets, 0);
}

#[test]
fn a_burst_that_drains_within_the_interval_is_not_punished() {
    let mut codel = filled(false, 100);
    assert_eq!(drops_at(&mut codel, 1..500), Vec::<u64>::new());
}

#[test]
fn the_last_packets_are_sent_however_long_they_waited() {
    let mut codel = filled(false, 2);
    assert_eq!(drops_at(&mut codel, 10_000..10_500), Vec::<u64>::new());
}

#[test]
fn a_second_overload_soon_after_begins_at_the_rate_of_the_first() {
    let mut codel = filled(false, 2000);
    let first = drops_at(&mut codel, 10..513);
    // The queue is emptied, and filled again at once.
    while codel.waiting.poll().is_some() {}
    let mut accounts = Accounts::new();
    assert!(codel.poll(millis(513), &mut accounts).is_none());
    for _ in 0..2000 {
        let _ = codel.offer(Plain::default(), millis(600));
    }
    let second = drops_at(&mut codel, 610..800);
    // Eight drops were seven more than at the entry: the count begins at 7, so after the first at
    // 710 come 100/sqrt(7) = 37.8 and 100/sqrt(8) = 35.4 ms, not 100 and 70.7.
    assert_eq!(first.len(), 8);
    assert_eq!(second, [710, 748, 784]);
}

/// The steps of RFC 8289, section 5, in the RFC's own order and on plain numbers.
#[derive(Default)]
struct Reference {
    /// Arrival times.
    queue: std::collections::VecDeque<u64>,
    first_above_time: u64,
    drop_next: u64,
    count: u32,
    last_count: u32,
    dropping: bool,
    dropped: u64,
}

impl Reference {
    const TARGET: u64 = 5_000_000;
    const INTERVAL: u64 = 100_000_000;
    const MAX_PACKET: usize = 1500;

    fn control_law(t: u64, count: u32) -> u64 {
        t + (Self::INTERVAL as f64 / f64::from(count).sqrt()).round() as u64
    }

    fn dodequeue(&mut self, now: u64) -> (Option<u64>, bool) {
        let packet = self.queue.pop_front();
        let mut ok_to_drop = false;
        match packet {
            None => self.first_above_time = 0,
            Some(arrived) => {
                if now - arrived < Self::TARGET || self.queue.len() * 1500 <= Self::MAX_PACKET {
                    self.first_above_time = 0;
                } else if self.first_above_time == 0 {
                    self.first_above_time = now + Self::INTERVAL;
                } else if now >= self.first_above_time {
                    ok_to_drop = true;
                }
            }
        }
        (packet, ok_to_drop)
    }

    fn deque(&mut self, now: u64) -> Option<u64> {
        let mut r = self.dodequeue(now);
        if self.dropping {
            if !r.1 {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.dropped += 1;
                self.count += 1;
                r = self.dodequeue(now);
                if !r.1 {
                    self.dropping = false;
                } else {
                    self.drop_next = Self::control_law(self.drop_next, self.count);
                }
            }
        } else if r.1 {
            self.dropped += 1;
            r = self.dodequeue(now);
            self.dropping = true;
            let delta = self.count - self.last_count;
            self.count = 1;
            if delta > 1 && (now as i64 - self.drop_next as i64) < 16 * Self::INTERVAL as i64 {
                self.count = delta;
            }
            self.drop_next = Self::control_law(now, self.count);
            self.last_count = self.count;
        }
        r.0
    }
}

#[test]
fn overloads_and_pauses_go_as_in_the_pseudo_code_of_the_rfc() {
    for seed in 0..20 {
        let mut random = Random::new(seed, Purpose::WireLoss);
        let mut codel = CoDel::new(SPEC);
        let mut accounts = Accounts::new();
        let mut reference = Reference::default();
        for step in 0..20_000u64 {
            // Half milliseconds; the load swings between too much and too little every 2 s.
            let now = 500_000 * (step + 1);
            let load = if step / 4000 % 2 == 0 { 0.8 } else { 0.3 };
            if random.chance(load) {
                let _ = codel.offer(Plain::default(), Time::from_nanos(now));
                accounts.admit(Entry::of(&Plain::default()));
                reference.queue.push_back(now);
            }
            if random.chance(0.6) {
                let ours = codel.poll(Time::from_nanos(now), &mut accounts).is_some();
                assert_eq!(ours, reference.deque(now).is_some(), "seed {seed}, {step}");
            }
            assert_eq!(
                codel.packets(),
                reference.queue.len(),
                "seed {seed}, {step}"
            );
        }
        assert_eq!(accounts.counters.dropped_sojourn.packets, reference.dropped);
        assert!(reference.dropped > 50, "seed {seed}: {}", reference.dropped);
    }
}
