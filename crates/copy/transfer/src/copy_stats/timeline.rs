//! Where the time of a copy goes, over all of its conversations.

use std::collections::BTreeMap;

use copy_protocol::{CopyEvent, CopyPhase, LimitedBy, TimePart};
use observe::Limit;
use units::{Span, Time};

/// Share of the time in which data flowed for which a part must bind to be named.
const NAMED: f64 = 0.5;

/// The time of one copy: what it waits for outside of conversations, and what bound within them.
#[derive(Debug, Clone, Default)]
pub(super) struct Timeline {
    spent: BTreeMap<CopyPhase, Span>,
    reasons: BTreeMap<Limit, Reason>,
    /// Time in which data flowed.
    flowed: Span,
    /// The one that runs.
    conversation: Option<Conversation>,
    /// What the copy does where none runs.
    waits: Waits,
    /// Since when it does what it does now.
    since: Time,
}

/// What a copy does outside of conversations.
#[derive(Debug, Clone, Copy, Default)]
enum Waits {
    #[default]
    Connects,
    ForPlace,
    ForFarEnd,
    ForFiles,
}

/// One conversation with the far end.
#[derive(Debug, Clone, Default)]
struct Conversation {
    /// When data first and last arrived.
    data: Option<(Time, Time)>,
    /// What its sender told last, and when.
    told: Option<(Time, copy_protocol::Limited)>,
}

/// Why a part bound.
#[derive(Debug, Clone, Default)]
struct Reason {
    /// In all conversations.
    time: Span,
    /// In the one that gave the reason, which is the one with the longest.
    longest: Span,
    why: String,
    advice: Option<String>,
}

impl Timeline {
    /// A conversation begins, or the copy has to wait.
    pub(super) fn on_event(&mut self, event: &CopyEvent) {
        let (at, waits) = match event {
            CopyEvent::Connected { at, .. } => (*at, Waits::Connects),
            CopyEvent::Queued { at, .. } => (*at, Waits::ForPlace),
            CopyEvent::Lost { at, .. } => (*at, Waits::ForFarEnd),
            CopyEvent::Following { at, .. } => return self.pass_ends(*at),
            _ => return,
        };
        self.leave(at, waits.phase());
        self.waits = waits;
        let begins = matches!(event, CopyEvent::Connected { .. });
        self.conversation = begins.then(Conversation::default);
    }

    /// All that was finished is copied. What came after the last data was its flush.
    fn pass_ends(&mut self, at: Time) {
        self.leave(at, CopyPhase::Ending);
        self.waits = Waits::ForFiles;
    }

    /// Bytes arrived.
    pub(super) fn on_data(&mut self, at: Time) {
        let conversation = self.conversation();
        let first = conversation.data.map_or(at, |(first, _)| first);
        conversation.data = Some((first, at));
    }

    /// What has limited this conversation so far.
    pub(super) fn on_limited(&mut self, at: Time, limited: copy_protocol::Limited) {
        self.conversation().told = Some((at, limited));
    }

    /// What the sender of this conversation told last.
    pub(super) fn told(&self) -> Option<&copy_protocol::Limited> {
        let (_, limited) = self.conversation.as_ref()?.told.as_ref()?;
        Some(limited)
    }

    /// Where the time until `at` went, the largest part first, and what limited the copy.
    pub(super) fn conclude(&self, at: Time) -> (Vec<TimePart>, Option<LimitedBy>) {
        let mut ended = self.clone();
        ended.leave(at, CopyPhase::Ending);
        let some = ended.spent.iter().filter(|(_, time)| **time > Span::ZERO);
        let mut parts: Vec<TimePart> = some
            .map(|(phase, time)| TimePart {
                phase: *phase,
                time: *time,
            })
            .collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.time));
        (parts, ended.limited(at.since(Time::ZERO)))
    }

    /// The one that runs; a far end is told of none before.
    fn conversation(&mut self) -> &mut Conversation {
        self.conversation.get_or_insert_default()
    }

    /// Accounts for what the copy did until `at`; what follows is `next`.
    fn leave(&mut self, at: Time, next: CopyPhase) {
        let since = std::mem::replace(&mut self.since, at);
        match self.conversation.take() {
            Some(conversation) => self.account(&conversation, since, at, next),
            None => self.add(self.waits.phase(), at.since(since)),
        }
    }

    /// A conversation begins before its data flows, and ends after it: with the last flush, or with
    /// the silence by which the loss of the far end was noticed.
    fn account(&mut self, of: &Conversation, since: Time, at: Time, next: CopyPhase) {
        let told_since = |(told, limited): &(Time, copy_protocol::Limited)| {
            *told - Span::from_nanos(limited.nanoseconds)
        };
        let data_since = of.data.map(|(first, _)| first);
        let Some(first) = of.told.as_ref().map(told_since).or(data_since) else {
            let before = match next {
                CopyPhase::Ending => CopyPhase::Starting,
                waits => waits,
            };
            return self.add(before, at.since(since));
        };
        let first = first.clamp(since, at);
        let told = of.told.as_ref().map_or(Span::ZERO, |(_, limited)| {
            Span::from_nanos(limited.nanoseconds)
        });
        let last = of.data.map_or(first, |(_, last)| last).clamp(first, at);
        let flowed = told.max(last.since(first)).min(at.since(first));
        self.add(CopyPhase::Starting, first.since(since));
        let bound = self.add_parts(of, flowed);
        self.add(CopyPhase::Unclear, flowed - bound);
        self.add(next, at.since(first) - flowed);
        self.flowed += flowed;
    }

    /// The last report may be half a second old: what bound until then bound until the end.
    fn add_parts(&mut self, of: &Conversation, flowed: Span) -> Span {
        let mut bound = Span::ZERO;
        for part in of.told.iter().flat_map(|(_, limited)| &limited.parts) {
            // One that this end does not know is left out.
            let (Some(by), Some((_, limited))) = (part.limit(), &of.told) else {
                continue;
            };
            let share = part.nanoseconds as f64 / limited.nanoseconds.max(1) as f64;
            let time = Span::from_secs_f64(share * flowed.as_secs_f64()).min(flowed - bound);
            bound += time;
            self.add(CopyPhase::Bound(by), time);
            let reason = self.reasons.entry(by).or_default();
            reason.time += time;
            if time >= reason.longest {
                reason.longest = time;
                (reason.why, reason.advice) = (part.why.clone(), part.advice.clone());
            }
        }
        bound
    }

    fn add(&mut self, phase: CopyPhase, time: Span) {
        *self.spent.entry(phase).or_default() += time;
    }

    fn limited(&self, took: Span) -> Option<LimitedBy> {
        let (by, reason) = self.reasons.iter().max_by_key(|(_, reason)| reason.time)?;
        let share = reason.time.as_secs_f64() / took.as_secs_f64();
        let is_named = reason.time.as_secs_f64() >= NAMED * self.flowed.as_secs_f64();
        let named = || LimitedBy {
            by: *by,
            share,
            why: reason.why.clone(),
            advice: reason.advice.clone(),
        };
        let several = || LimitedBy {
            by: Limit::Several,
            share,
            why: "none of its parts bound for half of the time in which data flowed".to_owned(),
            advice: None,
        };
        (took > Span::ZERO).then(|| if is_named { named() } else { several() })
    }
}

impl Waits {
    fn phase(self) -> CopyPhase {
        match self {
            Waits::Connects => CopyPhase::Starting,
            Waits::ForPlace => CopyPhase::Queued,
            Waits::ForFarEnd => CopyPhase::Away,
            Waits::ForFiles => CopyPhase::Following,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn connected(millis: u64) -> CopyEvent {
        CopyEvent::Connected {
            at: at(millis),
            peer: "192.0.2.1:7".to_owned(),
            rtt: None,
        }
    }

    fn lost(millis: u64) -> CopyEvent {
        CopyEvent::Lost {
            at: at(millis),
            why: "gone".to_owned(),
            retry_in: Span::ZERO,
        }
    }

    fn limited(millis: u64, parts: &[(Limit, u64)]) -> copy_protocol::Limited {
        let nanoseconds = |millis: u64| Span::from_millis(millis).as_nanos();
        let part = |(by, millis): &(Limit, u64)| copy_protocol::LimitedPart {
            by: by.name().to_owned(),
            nanoseconds: nanoseconds(*millis),
            why: format!("{by} for {millis} ms"),
            advice: None,
        };
        copy_protocol::Limited {
            nanoseconds: nanoseconds(millis),
            parts: parts.iter().map(part).collect(),
        }
    }

    fn told(parts: &[TimePart]) -> Vec<(CopyPhase, u64)> {
        let millis = |part: &TimePart| (part.time.as_secs_f64() * 1e3).round() as u64;
        parts.iter().map(|one| (one.phase, millis(one))).collect()
    }

    #[test]
    fn two_conversations_and_an_outage_share_one_clock() {
        let mut timeline = Timeline::default();
        timeline.on_event(&connected(200));
        timeline.on_data(at(700));
        timeline.on_data(at(5_600));
        let first = limited(5_000, &[(Limit::Link, 1_000), (Limit::RateLimit, 4_000)]);
        timeline.on_limited(at(5_500), first);
        // Two tries in vain belong to one outage.
        timeline.on_event(&lost(6_000));
        timeline.on_event(&lost(7_000));
        timeline.on_event(&connected(9_000));
        timeline.on_data(at(9_500));
        timeline.on_data(at(19_500));
        timeline.on_limited(at(19_500), limited(10_000, &[(Limit::Link, 9_000)]));
        let (parts, limit) = timeline.conclude(at(20_000));
        let sum: u64 = told(&parts).iter().map(|(_, millis)| millis).sum();
        assert_eq!(sum, 20_000);
        let expected = [
            (CopyPhase::Bound(Limit::Link), 9_000 + 1_020),
            (CopyPhase::Bound(Limit::RateLimit), 4_080),
            (CopyPhase::Away, 3_400),
            (CopyPhase::Starting, 200 + 300 + 500),
            (CopyPhase::Unclear, 1_000),
            (CopyPhase::Ending, 500),
        ];
        assert_eq!(told(&parts), expected);
        let limit = limit.unwrap();
        assert_eq!((limit.by, limit.share), (Limit::Link, 0.501));
        assert_eq!(limit.why, "link for 9000 ms");
    }

    #[test]
    fn a_short_copy_was_mostly_starting() {
        let mut timeline = Timeline::default();
        timeline.on_event(&connected(800));
        timeline.on_limited(at(1_000), limited(150, &[(Limit::Host, 150)]));
        let (parts, limit) = timeline.conclude(at(1_030));
        let expected = [
            (CopyPhase::Starting, 850),
            (CopyPhase::Bound(Limit::Host), 150),
            (CopyPhase::Ending, 30),
        ];
        assert_eq!(told(&parts), expected);
        assert_eq!(limit.unwrap().by, Limit::Host);
    }

    #[test]
    fn a_place_that_is_waited_for_and_a_far_end_that_never_came_are_named() {
        let mut timeline = Timeline::default();
        timeline.on_event(&connected(100));
        timeline.on_event(&CopyEvent::Queued {
            at: at(200),
            why: "full".to_owned(),
            ahead: 0,
            place_in: None,
            retry_in: Span::ZERO,
        });
        timeline.on_event(&lost(4_200));
        let (parts, limit) = timeline.conclude(at(5_000));
        let expected = [
            (CopyPhase::Queued, 4_100),
            (CopyPhase::Away, 800),
            (CopyPhase::Starting, 100),
        ];
        assert_eq!((told(&parts), limit), (expected.to_vec(), None));
    }

    #[test]
    fn a_wait_for_files_is_no_part_of_a_pass() {
        let mut timeline = Timeline::default();
        let following = |millis| CopyEvent::Following {
            at: at(millis),
            files: 1,
            bytes: units::Bytes::ZERO,
            waiting: 0,
        };
        timeline.on_event(&connected(100));
        timeline.on_data(at(300));
        timeline.on_data(at(900));
        timeline.on_event(&following(1_000));
        timeline.on_event(&following(6_000));
        timeline.on_event(&connected(11_000));
        timeline.on_event(&following(11_050));
        let (parts, _) = timeline.conclude(at(16_050));
        let expected = [
            (CopyPhase::Following, 15_000),
            (CopyPhase::Unclear, 600),
            (CopyPhase::Starting, 350),
            (CopyPhase::Ending, 100),
        ];
        assert_eq!(told(&parts), expected);
    }

    /// Whatever a far end says, and in whatever order: the parts add up to the whole.
    #[test]
    fn the_parts_of_any_history_add_up() {
        let mut random = 88_172_645_463_325_252_u64;
        let mut draw = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        for history in 0..20_000 {
            let (mut timeline, mut now) = (Timeline::default(), 0);
            for _ in 0..draw(12) {
                now += draw(3_000);
                match draw(6) {
                    0 => timeline.on_event(&connected(now)),
                    1 => timeline.on_event(&lost(now)),
                    2 | 3 => timeline.on_data(at(now)),
                    _ => {
                        let all = draw(9_000);
                        let (link, disk) = (draw(all + 1), draw(9_000));
                        let parts = [(Limit::Link, link), (Limit::SenderDisk, disk)];
                        timeline.on_limited(at(now), limited(all, &parts));
                    }
                }
            }
            now += draw(3_000);
            let (parts, limit) = timeline.conclude(at(now));
            let sum: Span = parts.iter().fold(Span::ZERO, |sum, part| sum + part.time);
            assert_eq!(sum, Span::from_millis(now), "history {history}");
            assert!(limit.is_none_or(|limit| (0.0..=1.0).contains(&limit.share)));
        }
    }
}
