//! Decisions after a look: trials, their results, rests.

use observe::{StreamCount, Window};
use units::Span;

use super::super::look::{Look, gain_wanted, loss_allowed, streams_for_packets};
use super::{Change, LOOK_ROUND_TRIPS, Online, Phase, REST, REST_BEGINS, Steer};
use models::Objective;

/// A rest is twice as long after each trial in vain, up to this.
const REST_MAX: Span = Span::from_secs(600);
/// A rate that falls by this share for two looks is another state of the path.
const DRIFT: f64 = 0.2;
const DRIFT_LOOKS: u32 = 2;

/// A rate that falls by this share while streams are added was that of a start.
const START_FALLS: f64 = 0.1;

/// Least size of an explicit buffer, which does not grow any more, as a multiple of what the
/// kernel's own has grown to.
const WINDOW_GAINS: u64 = 4;

impl Online {
    /// What is to be changed after a look; `None` where nothing is.
    pub(super) fn decide(&mut self, look: Look) -> Option<Steer> {
        if let Some(fewer) = self.fewer_for_packets(&look) {
            self.phase = REST_BEGINS;
            let why = format!(
                "{} streams have too few packets on the way at {}",
                look.streams,
                look.rate.human()
            );
            return self.change(fewer, why);
        }
        if let Phase::Trying(before, Change::Down) = self.phase
            && let Some(lost) = look.path_loss(&before, self.plan.objective, self.rtt_min)
        {
            self.path_loss = self.path_loss.max(lost);
            return self.take_back(before, look);
        }
        if self.harms(&look) && look.streams > StreamCount::ONE {
            self.next_change = Change::Down;
            return self.attempt(look, Change::Down);
        }
        match self.phase {
            Phase::Climbing(before) => self.climb(before, look),
            Phase::Trying(before, change) => self.judge(before, change, look),
            Phase::Resting {
                base,
                since,
                fallen,
            } => self.rest(base.unwrap_or(look), since, fallen, look),
        }
    }

    /// Number of streams for which there are enough packets in flight, where there are too few. The
    /// most that were ever in flight count: a path that pauses needs no fewer streams.
    fn fewer_for_packets(&mut self, look: &Look) -> Option<StreamCount> {
        self.packets_most = self.packets_most.max(look.packets()?);
        let most = streams_for_packets(self.packets_most).max(self.plan.streams_min);
        let too_many = most < look.streams;
        if too_many || self.packets_max.is_some() {
            self.packets_max = Some(most);
        }
        too_many.then_some(most)
    }

    fn harms(&self, look: &Look) -> bool {
        look.harms(self.plan.objective, self.rtt_min, self.path_loss)
    }

    fn climb(&mut self, before: Option<Look>, look: Look) -> Option<Steer> {
        if let Some(before) = before
            && !self.is_worth_it(&before, &look)
            && !self.was_a_start(&before, &look)
        {
            return self.take_back(before, look);
        }
        match (self.is_full(&look), self.more()) {
            (false, Some(more)) => {
                self.phase = Phase::Climbing(Some(look));
                self.change(more, self.room(&look))
            }
            _ => {
                self.phase = REST_BEGINS;
                self.larger_window(&look)
            }
        }
    }

    /// Larger buffers for streams that their buffers limit, where no more streams are allowed and
    /// the hosts grant more.
    fn larger_window(&mut self, look: &Look) -> Option<Steer> {
        let largest = self.plan.window_max.filter(|_| look.buffer_binds)?;
        let gains = largest.times(2) >= look.peer_window?.times(WINDOW_GAINS);
        if !gains || self.window != Window::Auto {
            return None;
        }
        self.window = Window::Fixed(largest);
        let why = format!("socket buffers hold {} streams back", look.streams);
        self.change(self.streams, why)
    }

    /// Whether more streams carry clearly less: the look before then fell into a slow start and
    /// says nothing.
    fn was_a_start(&self, before: &Look, look: &Look) -> bool {
        look.gain_over(before, Objective::Max) < -START_FALLS && !look.queue_stands(self.rtt_min)
    }

    fn room(&self, look: &Look) -> String {
        let carried = format!("{} streams carried {}", look.streams, look.rate.human());
        match look.buffer_binds {
            true => format!("{carried}, each held back by a socket buffer"),
            false => format!("{carried} without a queue"),
        }
    }

    fn is_worth_it(&self, before: &Look, look: &Look) -> bool {
        look.gain_over(before, self.plan.objective) >= self.wanted(before)
    }

    /// The gain over an earlier look that the streams which came since must bring.
    pub(super) fn wanted(&self, before: &Look) -> f64 {
        let times = f64::from(self.streams.get()) / f64::from(before.streams.get());
        gain_wanted(self.plan.objective, times)
    }

    fn judge(&mut self, before: Look, change: Change, look: Look) -> Option<Steer> {
        let objective = self.plan.objective;
        let gave_way = self.harms(&before);
        let keeps = match change {
            Change::Up => self.is_worth_it(&before, &look),
            Change::Down => {
                gave_way || look.gain_over(&before, objective) >= -loss_allowed(objective)
            }
        };
        if !keeps {
            return self.take_back(before, look);
        }
        self.rest = REST;
        match gave_way || change == Change::Up && self.is_full(&look) {
            true => self.begin_rest(),
            false => self.attempt(look, change),
        }
    }

    /// Whether a queue shows that more streams are in vain. Only the highest goodput asks for a
    /// larger share of a queue that others fill.
    fn is_full(&self, look: &Look) -> bool {
        look.queue_stands(self.rtt_min) && self.plan.objective != Objective::Max
    }

    fn begin_rest(&mut self) -> Option<Steer> {
        self.phase = REST_BEGINS;
        None
    }

    fn take_back(&mut self, before: Look, look: Look) -> Option<Steer> {
        self.phase = REST_BEGINS;
        self.rest = self.rest.times(2).min(REST_MAX);
        let why = format!(
            "{} streams carried {}, {} carried {}",
            before.streams,
            before.rate.human(),
            look.streams,
            look.rate.human()
        );
        self.change(before.streams, why)
    }

    fn rest(&mut self, base: Look, since: Span, fallen: u32, look: Look) -> Option<Steer> {
        let objective = self.plan.objective;
        let has_fallen = look.gain_over(&base, objective) < -DRIFT;
        let fallen = if has_fallen { fallen + 1 } else { 0 };
        let since = since + self.round_trips(LOOK_ROUND_TRIPS).max(self.look_min);
        if fallen >= DRIFT_LOOKS {
            return self.attempt(look, Change::Up);
        }
        if since >= self.rest {
            let change = self.next_change;
            self.next_change = change.other();
            return self.attempt(look, change);
        }
        self.phase = Phase::Resting {
            base: Some(base),
            since,
            fallen,
        };
        None
    }

    /// Tries another number that way; rests where there is none.
    fn attempt(&mut self, look: Look, change: Change) -> Option<Steer> {
        let other = match change {
            Change::Up => self.more(),
            Change::Down => self.fewer(),
        };
        match other {
            Some(other) => {
                self.phase = Phase::Trying(look, change);
                let why = format!(
                    "a trial: {} streams carried {}",
                    look.streams,
                    look.rate.human()
                );
                self.change(other, why)
            }
            None => self.begin_rest(),
        }
    }

    /// Half as many more, as far as that is allowed; `None` at the bound.
    fn more(&self) -> Option<StreamCount> {
        let now = u64::from(self.streams.get());
        let wanted = StreamCount::new(now + now.div_ceil(2)).unwrap_or(StreamCount::MAX);
        let bounds = [Some(self.plan.streams_max), self.packets_max];
        let wanted = bounds.into_iter().flatten().fold(wanted, StreamCount::min);
        (wanted > self.streams).then_some(wanted)
    }

    /// A quarter fewer; `None` with as few as there may be.
    fn fewer(&self) -> Option<StreamCount> {
        let now = u64::from(self.streams.get());
        let wanted = StreamCount::new(now - now.div_ceil(4)).ok()?;
        let wanted = wanted.max(self.plan.streams_min);
        (wanted < self.streams).then_some(wanted)
    }
}
