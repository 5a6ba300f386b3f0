//! Rejected connections in a log: a few a minute one by one, the others as a count.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::collector_event::CollectorEvent;

/// So many are told one by one in each [`MINUTE`].
const TOLD_MAX: u32 = 5;
const MINUTE: Duration = Duration::from_secs(60);

/// What was told of the rejected connections of this minute, and what was not.
#[derive(Debug, Default)]
pub(super) struct Rejections {
    began: Option<Instant>,
    told: u32,
    held: u32,
    latest: Option<(SocketAddr, String)>,
}

impl Rejections {
    /// Takes one; what is told at once.
    pub fn take(&mut self, now: Instant, peer: SocketAddr, reason: &str) -> Vec<CollectorEvent> {
        let mut events = Vec::from_iter(self.flush(now));
        self.began.get_or_insert(now);
        if self.told < TOLD_MAX {
            self.told += 1;
            events.push(CollectorEvent::Rejected {
                peer,
                reason: reason.to_owned(),
            });
        } else {
            self.held += 1;
            self.latest = Some((peer, reason.to_owned()));
        }
        events
    }

    /// The count of those that were not told, once the minute is over.
    pub fn flush(&mut self, now: Instant) -> Option<CollectorEvent> {
        let began = self.began?;
        if now.saturating_duration_since(began) < MINUTE {
            return None;
        }
        self.summary()
    }

    /// The same at once.
    pub fn summary(&mut self) -> Option<CollectorEvent> {
        let Rejections { held, latest, .. } = std::mem::take(self);
        let (peer, reason) = latest?;
        Some(CollectorEvent::RejectedMore {
            count: held,
            peer,
            reason,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 803 in half a minute, five are told at once and 798 as a count; the next minute begins
    /// anew, and nothing is lost or told twice.
    #[test]
    fn a_flood_is_told_as_a_count() {
        let peer: SocketAddr = "192.0.2.1:9".parse().unwrap();
        let begin = Instant::now();
        let mut rejections = Rejections::default();
        let mut told = Vec::new();
        for number in 0..803_u32 {
            let at = begin + Duration::from_millis(37) * number;
            told.extend(rejections.take(at, peer, &format!("reason {number}")));
        }
        assert_eq!(told.len(), TOLD_MAX as usize);
        assert_eq!(rejections.flush(begin + Duration::from_secs(59)), None);
        let more = rejections.flush(begin + Duration::from_secs(61));
        let expected = CollectorEvent::RejectedMore {
            count: 798,
            peer,
            reason: "reason 802".to_owned(),
        };
        assert_eq!(more, Some(expected));
        assert_eq!(rejections.flush(begin + Duration::from_secs(200)), None);
        let next = rejections.take(begin + Duration::from_secs(201), peer, "again");
        assert_eq!(next.len(), 1);
        assert_eq!(rejections.summary(), None);
    }
}
