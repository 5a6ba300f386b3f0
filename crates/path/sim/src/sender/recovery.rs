//! Losses, marks and timers of a sender: into recovery and out of it.

use units::{Span, Time};

use super::{Phase, Repair, Sender};
use crate::packet::Packet;
use crate::prr::Prr;
use crate::scoreboard::{DUPLICATES, LossRule};
use crate::tail::{self, Wait};

impl Sender {
    /// How long to wait from now on before the timer goes off.
    #[inline]
    pub(crate) fn patience(&self) -> Span {
        let timeout = self.round_trip.timeout(self.rules.timeout_floor);
        let smoothed = self.round_trip.smoothed().unwrap_or(timeout);
        match self.waits_for() {
            Wait::Answer => timeout,
            Wait::Probe => {
                let least = self.rules.timeout_floor.least();
                tail::probe_after(smoothed, self.outstanding(), least, timeout)
            }
            Wait::Late => tail::late_after(self.round_trip.min, smoothed).min(timeout),
        }
    }

    /// What the timer is for: hosts as Linux have one for three purposes.
    #[inline]
    pub(super) fn waits_for(&self) -> Wait {
        if !self.rules.kernel || self.phase != Phase::Open || !self.is_selective() {
            return Wait::Answer;
        }
        match self.tainted {
            true if self.rules.by_time && self.rare.board.has_arrivals() => Wait::Late,
            false if !self.rare.tail.is_probing() => Wait::Probe,
            _ => Wait::Answer,
        }
    }

    #[inline]
    fn is_selective(&self) -> bool {
        matches!(self.repair, Repair::Selective(_))
    }

    /// Keeps the scoreboard; tells how many segments were delivered and how many more are lost.
    #[inline]
    pub(super) fn read_selective(
        &mut self,
        ack: &Packet,
        before: u32,
        rule: LossRule,
        now: Time,
    ) -> (u32, u32) {
        let (mut delivered, mut lost) = (self.una - before, 0);
        let certain = self.phase != Phase::Open || self.rare.tail.has_arrived(ack);
        self.control.on_delivered(before..self.una, now);
        if self.tainted && delivered > 0 {
            delivered -= self.rare.board.acknowledge(before, self.una);
            self.tainted = !self.rare.board.is_clear(self.una);
        }
        let forgetful = self.phase == Phase::Loss && self.rules.timeout_forgets;
        if ack.block_count > 0 && !forgetful {
            let control = &mut self.control;
            let blocks = ack.sacked();
            let newly = self
                .rare
                .board
                .sack(self.una, self.highest, blocks, |part| {
                    control.on_delivered(part, now)
                });
            if newly > 0 {
                self.tainted = true;
                lost = match (rule, self.rules.by_time) {
                    (LossRule::ThirdAbove, true) => {
                        self.rare.board.judge_by_time(self.una, certain)
                    }
                    _ => self.rare.board.judge(self.una, rule),
                };
            }
            delivered += newly;
        }
        if self.tainted && self.rules.watches_repairs {
            lost += self.rare.board.lose_repairs(self.una);
        }
        (delivered, lost)
    }

    /// RFC 6675 section 5: into recovery and out of it.
    #[inline]
    pub(super) fn proceed_selective(&mut self, now: Time) {
        if self.phase != Phase::Open && self.una >= self.recover {
            self.phase = Phase::Open;
            if let Some(prr) = self.rare.prr.take() {
                self.window.size = prr.target();
            }
        }
        if self.tainted && self.phase == Phase::Open && self.rare.board.has_lost(self.una) {
            self.enter_recovery(now);
        }
    }

    /// Counts duplicates where nothing tells more (RFC 5681 section 3.2, RFC 6582).
    pub(super) fn proceed_by_duplicates(&mut self, advanced: u32, repeats: bool, now: Time) {
        if advanced > 0 {
            self.duplicates = 0;
            self.on_progress(advanced);
        } else if repeats && self.next > self.una {
            self.duplicates += 1;
            self.inflation += 1;
            if self.duplicates == DUPLICATES && self.is_fresh() {
                self.enter_recovery(now);
            }
        }
    }

    /// RFC 6582 section 3.2 step 2: duplicates tell of a new loss only once more is acknowledged
    /// than was outstanding at the one before; until then they may come from what was repeated
    /// needlessly.
    fn is_fresh(&self) -> bool {
        self.phase == Phase::Open && (self.una > self.recover || self.recover == 0)
    }

    fn on_progress(&mut self, advanced: u32) {
        let repaired = self.una >= self.recover;
        match (self.phase, self.repair) {
            (Phase::Loss, _) if repaired => self.phase = Phase::Open,
            (Phase::Recovery, Repair::NewReno) if !repaired => {
                // RFC 6582 section 3.2 step 3: a partial acknowledgement.
                self.must_repair = true;
                self.inflation = self.inflation.saturating_sub(advanced) + 1;
            }
            (Phase::Recovery, _) => self.phase = Phase::Open,
            _ => {}
        }
    }

    fn enter_recovery(&mut self, now: Time) {
        self.recover = self.highest;
        self.must_repair = true;
        self.rare.tail.clear();
        // RFC 3168 section 6.1.2: once for all marks and losses of a window.
        if self.una >= self.reduced_at {
            let before = self.window.size;
            self.reduce(now);
            if self.rules.kernel && self.is_selective() && self.control.reduces_in_proportion() {
                self.rare.prr = Some(Prr::new(before, self.window.size));
            }
        }
        if self.repair == Repair::Tahoe {
            self.window.size = 1.0;
            self.next = self.una;
            self.phase = Phase::Loss;
            self.must_repair = false;
        } else {
            self.phase = Phase::Recovery;
            self.inflation = DUPLICATES;
        }
    }

    /// RFC 3168 section 6.1.2: a mark counts as a loss, once a round trip. The segment that tells
    /// the receiver of a reduction is the first one sent after it, so an acknowledgement of all
    /// before that one still echoes the old mark; what is beyond tells of a new one.
    pub(super) fn on_mark(&mut self, now: Time) {
        let is_new = self.una > self.reduced_at || self.reduced_at == 0;
        if self.phase == Phase::Open && is_new {
            self.control.on_mark(&mut self.window, now);
            self.has_reduced();
        }
    }

    pub(super) fn reduce(&mut self, now: Time) {
        self.control.on_congestion(&mut self.window, now);
        self.has_reduced();
    }

    fn has_reduced(&mut self) {
        self.tells_reduction = true;
        self.reduced_at = self.highest;
    }

    /// The timer went off.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        match self.waits_for() {
            Wait::Answer => self.on_no_answer(now),
            Wait::Probe => self.rare.tail.begin(),
            Wait::Late => {
                self.rare.board.judge_by_time(self.una, true);
                self.proceed_selective(now);
                let pipe = self.pipe();
                if let Some(prr) = &mut self.rare.prr {
                    self.window.size = prr.on_ack(1, pipe, false);
                }
            }
        }
    }

    /// Nothing was acknowledged for too long (RFC 6298 section 5, RFC 5681 section 3.1).
    fn on_no_answer(&mut self, now: Time) {
        self.rare.tally.timeouts += 1;
        self.round_trip.back_off();
        if self.phase == Phase::Connecting {
            // RFC 5681 section 3.1: one segment when the request or its answer was lost.
            self.window.size = 1.0;
            return;
        }
        self.tells_reduction = true;
        self.reduced_at = self.highest;
        self.rare.tail.clear();
        let prr = self.rare.prr.take();
        match (self.phase == Phase::Loss && self.una < self.recover, prr) {
            // Held when the same data times out again.
            (true, _) => self.window.size = 1.0,
            (false, None) => self.control.on_timeout(&mut self.window, now),
            (false, Some(prr)) => {
                // The loss that is being repaired has set the threshold (`tcp_enter_loss`).
                self.window.size = prr.target();
                self.control.on_timeout(&mut self.window, now);
                self.window.threshold = prr.target();
            }
        }
        self.phase = Phase::Loss;
        self.timed_end = None;
        self.recover = self.highest;
        self.duplicates = 0;
        if matches!(self.repair, Repair::Selective(_)) && !self.rules.timeout_forgets {
            self.rare.board.lose_all(self.una, self.next);
            (self.tainted, self.must_repair) = (true, true);
        } else {
            self.rare.board.clear(self.una, self.highest);
            (self.tainted, self.must_repair) = (false, false);
            self.next = self.una;
        }
    }
}
