//! Datagrams of several sizes that die at each hop, for the slope of round trips over sizes.
//!
//! Each hop has its own pace: slower after a probe without an answer, down to the rate at which
//! routers ration their messages, and faster again with each answer. The sizes come in an order
//! that chance decides, so that neither rationing nor others' traffic meets one size more often.

use std::collections::BTreeMap;
use std::net::IpAddr;

use observe::{HopAnswer, RunObserver, SizedHop, SizedPlan, SizedProbe};
use sockets::Clock;
use units::{Span, Time};

use super::{TICK, TraceError};
use crate::mtu::is_too_long;
use crate::probe_flow::{Said, SizedProbeFlow};

/// Between two probes to one hop, while it answers.
const APART: Span = Span::from_millis(50);
/// And where it answers none: a Linux router tells one host of one packet a second.
const APART_MAX: Span = Span::from_secs(1);
/// An answer takes this part off the distance of probes.
const QUICKER: u64 = 8;

/// Sends what `plan` asks for over `flow` and gathers the answers.
///
/// * `order`: decides in which order sizes come.
pub(super) fn send(
    flow: &mut dyn SizedProbeFlow,
    plan: &SizedPlan,
    order: u64,
    clock: Clock,
    watch: &dyn RunObserver,
) -> Result<Vec<SizedHop>, TraceError> {
    let mut schedule = Schedule::new(plan, order, clock.now());
    loop {
        if watch.is_cancelled() {
            return Err(TraceError::Cancelled);
        }
        match schedule.next(clock.now()) {
            Step::Over => return Ok(schedule.hops()),
            Step::Wait(until) => flow.wait(clock.until(until).min(TICK)),
            Step::Send { number, hops, size } => {
                flow.limit_hops(hops)?;
                let at = clock.now();
                match flow.send_sized(number, size) {
                    Ok(()) => {}
                    // A lost one: the kernel has learnt of a smaller limit meanwhile.
                    Err(error) if is_too_long(&error) => {}
                    Err(error) => return Err(error.into()),
                }
                schedule.on_sent(at);
            }
        }
        while let Some(answer) = flow.receive() {
            let at = clock.now() - answer.age;
            if let (Some(number), Said::Passing(from) | Said::Arrived(from)) =
                (answer.probe, answer.said)
            {
                schedule.on_answer(number, from, at);
            }
        }
    }
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Send this one, and say [`Schedule::on_sent`].
    Send { number: u64, hops: u8, size: u16 },
    /// Nothing before this moment, unless an answer comes.
    Wait(Time),
    /// All has been asked.
    Over,
}

/// Which probe goes when.
#[derive(Debug)]
struct Schedule {
    lines: Vec<Line>,
    spacing: Span,
    patience: Span,
    /// Nothing is sent before.
    not_before: Time,
    /// Nor after.
    end: Time,
    count: u64,
    /// The line whose turn it was last.
    last: Option<usize>,
    /// Probes that may still be answered.
    open: BTreeMap<u64, Sent>,
}

/// One hop.
#[derive(Debug)]
struct Line {
    /// Sizes that are left, the next one last.
    left: Vec<u16>,
    next_at: Time,
    apart: Span,
    seen: SizedHop,
}

/// A probe on its way.
#[derive(Debug, Clone, Copy)]
struct Sent {
    line: usize,
    place: usize,
    at: Time,
}

impl Schedule {
    fn new(plan: &SizedPlan, order: u64, now: Time) -> Self {
        let line = |(number, distance): (u64, &u8)| Line {
            left: shuffled(plan, order.wrapping_add(number)),
            next_at: now,
            apart: APART,
            seen: SizedHop {
                distance: *distance,
                probes: Vec::new(),
            },
        };
        Schedule {
            lines: (0..).zip(&plan.distances).map(line).collect(),
            spacing: plan.spacing,
            patience: plan.patience,
            not_before: now,
            end: now + plan.lasting,
            count: 0,
            last: None,
            open: BTreeMap::new(),
        }
    }

    fn next(&mut self, now: Time) -> Step {
        self.give_up(now);
        if now >= self.end {
            self.lines.iter_mut().for_each(|line| line.left.clear());
        }
        let waiting = self.lines.iter().enumerate();
        let waiting = waiting.filter(|(_, line)| !line.left.is_empty());
        let Some((number, line)) = waiting.min_by_key(|(_, line)| line.next_at) else {
            let first_over = self.open.values().map(|sent| sent.at + self.patience).min();
            return first_over.map_or(Step::Over, Step::Wait);
        };
        let due = line.next_at.max(self.not_before);
        match line.left.last() {
            Some(size) if due <= now => {
                self.last = Some(number);
                Step::Send {
                    number: self.count,
                    hops: line.seen.distance,
                    size: *size,
                }
            }
            _ => Step::Wait(due.min(self.end)),
        }
    }

    /// What was not answered in time makes its hop slower.
    fn give_up(&mut self, now: Time) {
        let Schedule {
            lines,
            open,
            patience,
            ..
        } = self;
        open.retain(|_, sent| {
            let is_open = now < sent.at + *patience;
            if !is_open && let Some(line) = lines.get_mut(sent.line) {
                line.apart = line.apart.times(2).min(APART_MAX);
            }
            is_open
        });
    }

    /// The probe of the last [`Step::Send`] has left.
    fn on_sent(&mut self, at: Time) {
        let Some(number) = self.last.take() else {
            return;
        };
        let Some(line) = self.lines.get_mut(number) else {
            return;
        };
        let Some(size) = line.left.pop() else { return };
        let sent = Sent {
            line: number,
            place: line.seen.probes.len(),
            at,
        };
        line.seen.probes.push(SizedProbe { size, answer: None });
        line.next_at = at + line.apart;
        self.open.insert(self.count, sent);
        self.count += 1;
        self.not_before = at + self.spacing;
    }

    fn on_answer(&mut self, number: u64, from: IpAddr, at: Time) {
        let Some(sent) = self.open.remove(&number) else {
            return;
        };
        let Some(line) = self.lines.get_mut(sent.line) else {
            return;
        };
        let quicker = Span::from_nanos(line.apart.as_nanos() / QUICKER);
        line.apart = (line.apart - quicker).max(APART);
        if let Some(probe) = line.seen.probes.get_mut(sent.place) {
            let rtt = at.since(sent.at);
            probe.answer = Some(HopAnswer { from, rtt });
        }
    }

    fn hops(self) -> Vec<SizedHop> {
        self.lines.into_iter().map(|line| line.seen).collect()
    }
}

/// All sizes of a hop, each round in an order of its own.
fn shuffled(plan: &SizedPlan, seed: u64) -> Vec<u16> {
    let mut all = Vec::new();
    for round in 0..u64::from(plan.rounds) {
        let mut sizes = plan.sizes.clone();
        sizes.sort_by_key(|size| mixed(seed.wrapping_add(round << 32) ^ u64::from(*size)));
        all.extend(sizes);
    }
    all
}

/// The last step of Vigna's SplitMix64.
fn mixed(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn plan() -> SizedPlan {
        SizedPlan {
            distances: vec![1, 3],
            sizes: vec![600, 1_000, 1_500],
            rounds: 4,
            spacing: Span::from_millis(4),
            lasting: Span::from_secs(60),
            patience: Span::from_secs(1),
        }
    }

    /// Runs it to its end: `rtt` of each probe that is answered. Gives when each left.
    fn run(plan: &SizedPlan, rtt: impl Fn(u8) -> Option<Span>) -> (Vec<Time>, Vec<SizedHop>) {
        let mut now = Time::ZERO;
        let mut schedule = Schedule::new(plan, 7, now);
        let (mut left, mut answers) = (Vec::new(), BTreeSet::new());
        loop {
            while let Some((at, number)) = answers.first().copied()
                && at <= now
            {
                answers.remove(&(at, number));
                schedule.on_answer(number, [192, 0, 2, 1].into(), at);
            }
            match schedule.next(now) {
                Step::Over => return (left, schedule.hops()),
                Step::Send { number, hops, .. } => {
                    schedule.on_sent(now);
                    left.push(now);
                    if let Some(rtt) = rtt(hops) {
                        answers.insert((now + rtt, number));
                    }
                }
                Step::Wait(until) => {
                    let next = answers.first().map_or(until, |(at, _)| *at);
                    now = until.min(next).max(now + Span::from_nanos(1));
                }
            }
        }
    }

    #[test]
    fn each_hop_gets_each_size_as_often() {
        let (left, hops) = run(&plan(), |_| Some(Span::from_millis(20)));
        assert_eq!(left.len(), 24);
        for hop in &hops {
            for size in [600, 1_000, 1_500] {
                let of_size = hop.probes.iter().filter(|probe| probe.size == size);
                assert_eq!(of_size.count(), 4);
            }
            let rtts = hop.probes.iter().map(|probe| probe.answer.unwrap().rtt);
            assert!(rtts.into_iter().all(|rtt| rtt == Span::from_millis(20)));
        }
        assert!(
            left.windows(2)
                .all(|two| two[1].since(two[0]) >= Span::from_millis(4))
        );
        // Twelve to each hop, 50 ms apart.
        assert!(*left.last().unwrap() < Time::ZERO + Span::from_millis(600));
    }

    #[test]
    fn a_hop_that_does_not_answer_is_asked_once_a_second() {
        let plan = SizedPlan {
            rounds: 40,
            ..plan()
        };
        let (_, hops) = run(&plan, |hops| (hops == 1).then_some(Span::from_millis(20)));
        assert_eq!(hops[0].probes.len(), 120);
        // A second's worth at the first pace, which the patience takes, and then slower.
        assert!(
            (65..=95).contains(&hops[1].probes.len()),
            "{}",
            hops[1].probes.len()
        );
        assert!(hops[1].probes.iter().all(|probe| probe.answer.is_none()));
    }
}
