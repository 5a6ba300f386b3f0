//! Which size is tried next.
//!
//! First the smallest that every path carries, which shows whether answers come and how fast; then
//! the largest that the interface or a router names; and where packets vanish in silence, halves of
//! what is left. A size counts as too large after three losses, and the one that decides is tried
//! three more times at the end: lossy paths carry large packets too.

use units::{Span, Time};

/// The largest packet that IP has a length for.
const SIZE_MAX: u16 = u16::MAX;
const TRIES: u32 = 3;
/// In all: three times what halving from [`SIZE_MAX`] takes when every size is lost.
const PROBES_MAX: usize = 150;
/// How long a first answer is waited for.
const TIMEOUT: Span = Span::from_secs(1);
/// Added to thrice the round trip, for a host that is busy.
const SLACK: Span = Span::from_millis(100);
/// Hosts that ration their answers give one in this time (`icmp_ratelimit` of Linux).
const RATION: Span = Span::from_millis(1_100);

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Send one of `size` and say [`Search::on_sent`] or [`Search::on_refused`].
    Send { number: u64, size: u16 },
    /// Nothing before this moment, unless an answer comes.
    Wait(Time),
    /// All is known that can be.
    Over(Outcome),
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The largest that was answered.
    Passes(u16),
    /// Nothing was answered.
    Unanswered,
}

/// A search as far as it has come.
#[derive(Debug)]
pub(super) struct Search {
    floor: u16,
    rate_limited: bool,
    /// What was answered.
    low: Option<u16>,
    /// Upper bound from routers' messages.
    named: u16,
    /// What may pass, as far as silence says too.
    high: u16,
    /// Whether `high` itself is likely.
    is_likely: bool,
    /// The least size that was lost each time, and whether it was tried again.
    lost: Option<(u16, bool)>,
    current: Option<Trying>,
    rtt: Option<Span>,
    /// Each probe: its size, and when it left.
    sent: Vec<(u16, Time)>,
}

#[derive(Debug, Clone, Copy)]
struct Trying {
    size: u16,
    left: u32,
    until: Time,
}

impl Search {
    /// * `floor`: a size that every path carries.
    /// * `rate_limited`: whether answers come about once a second only.
    pub(super) fn new(floor: u16, rate_limited: bool) -> Self {
        Search {
            floor,
            rate_limited,
            low: None,
            named: SIZE_MAX,
            high: SIZE_MAX,
            is_likely: true,
            lost: None,
            current: Some(trying(floor)),
            rtt: None,
            sent: Vec::new(),
        }
    }

    /// What to do now.
    pub(super) fn next(&mut self, now: Time) -> Step {
        loop {
            let Some(current) = self.current else {
                match self.candidate() {
                    Some(size) if self.sent.len() < PROBES_MAX => self.current = Some(trying(size)),
                    _ => return Step::Over(self.outcome()),
                }
                continue;
            };
            if now < current.until {
                return Step::Wait(current.until);
            }
            if current.left > 0 {
                return Step::Send {
                    number: self.sent.len() as u64,
                    size: current.size,
                };
            }
            self.current = None;
            self.on_silence(current.size);
        }
    }

    /// The probe of the last [`Step::Send`] has left.
    pub(super) fn on_sent(&mut self, at: Time) {
        let wait = self.wait();
        if let Some(current) = &mut self.current {
            self.sent.push((current.size, at));
            current.left = current.left.saturating_sub(1);
            current.until = at + wait;
        }
    }

    /// The interface does not take that size. It mostly names its own, see [`Search::on_too_big`].
    pub(super) fn on_refused(&mut self) {
        if let Some(current) = self.current.take() {
            self.named = self.named.min(current.size.saturating_sub(1));
            self.high = self.high.min(self.named);
            self.is_likely = false;
        }
    }

    /// A router reported that at most `mtu` fits.
    pub(super) fn on_too_big(&mut self, mtu: u32) {
        let Ok(mtu) = u16::try_from(mtu) else {
            return;
        };
        // Old routers name none, and what is smaller than what passed is a mistake or an attack.
        if mtu < self.low.unwrap_or(self.floor) || mtu > self.named {
            return;
        }
        self.named = mtu;
        self.high = self.high.min(mtu);
        self.is_likely = self.high == mtu;
        self.lost = self.lost.filter(|(lost, _)| *lost <= mtu);
        self.current = self.current.filter(|current| current.size <= mtu);
    }

    /// Probe `number` was answered.
    pub(super) fn on_arrived(&mut self, number: Option<u64>, at: Time) {
        let index = number.and_then(|number| usize::try_from(number).ok());
        let Some((size, sent)) = index.and_then(|index| self.sent.get(index)).copied() else {
            return;
        };
        self.rtt = self.rtt.max(Some(at.since(sent)));
        self.low = self.low.max(Some(size));
        if self.high < size {
            // Losses were taken for a limit; larger ones may pass too.
            self.high = self.named.max(size);
            self.is_likely = true;
        }
        self.lost = self.lost.filter(|(lost, _)| *lost > size);
        self.current = self.current.filter(|current| current.size > size);
    }

    fn on_silence(&mut self, size: u16) {
        match self.low {
            Some(_) => {
                let again = self.lost.is_some_and(|(lost, _)| lost == size);
                self.lost = Some((size, again));
                self.high = self.high.min(size.saturating_sub(1));
                self.is_likely = false;
            }
            // No answers at all: what remains is what routers say about large packets.
            None if size == self.floor => {}
            None => self.high = self.floor,
        }
    }

    /// The size to try next; `None` when all is known.
    fn candidate(&self) -> Option<u16> {
        let low = self.low.unwrap_or(self.floor);
        match self.lost {
            _ if low < self.high && self.is_likely => Some(self.high),
            _ if low < self.high => Some(self.high - (self.high - low) / 2),
            Some((lost, false)) => Some(lost),
            _ => None,
        }
    }

    /// The largest that this host sends, `believed` to pass, where the largest that passes is
    /// smaller and no router said so.
    pub(super) fn vanishing(&self, believed: u32) -> Option<u16> {
        let sends = u16::try_from(believed).unwrap_or(SIZE_MAX).min(self.named);
        self.low.filter(|low| *low < sends).map(|_| sends)
    }

    fn outcome(&self) -> Outcome {
        self.low.map_or(Outcome::Unanswered, Outcome::Passes)
    }

    fn wait(&self) -> Span {
        match self.rtt {
            Some(rtt) if self.rate_limited => RATION.max(rtt + SLACK),
            Some(rtt) => TIMEOUT.min(rtt.times(3) + SLACK).max(rtt + SLACK),
            None => TIMEOUT,
        }
    }
}

fn trying(size: u16) -> Trying {
    Trying {
        size,
        left: TRIES,
        until: Time::ZERO,
    }
}

#[cfg(test)]
mod tests;
