//! What limited the copy, in words.

use std::collections::BTreeMap;

use units::{Rate, Span};

use super::Interval;
use super::activity::Bound;
use super::pool::Pool;
use super::steer::Online;

/// What limited a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct Limited {
    /// What bound for most of its time.
    pub by: Bound,
    /// Share of the copy's time for which it did.
    pub share: f64,
    /// Why, as a sentence for people without a full stop.
    pub why: String,
    /// What can be done about it.
    pub advice: Option<String>,
}

/// What was seen over the whole copy.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    time: Span,
    bound: BTreeMap<Bound, Span>,
    all: Pool,
}

impl Record {
    pub fn add(&mut self, interval: &Interval, binds: Option<Bound>) {
        self.time += interval.length;
        self.all.add(interval, Span::from_secs(1));
        if let Some(binds) = binds {
            *self.bound.entry(binds).or_default() += interval.length;
        }
    }

    pub fn limited(&self, _online: &Online) -> Option<Limited> {
        let (by, span) = self.bound.iter().max_by_key(|(_, span)| **span)?;
        let share = span.as_secs_f64() / self.time.as_secs_f64();
        let rate: Rate = self.all.rate();
        let why = match by {
            Bound::Network => format!("the path carried {}", rate.human()),
            Bound::SenderDisk => "the sender's threads mostly waited for its disk".to_owned(),
            Bound::ReceiverDisk => "the receiver's threads mostly waited for its disk".to_owned(),
            Bound::SenderProcessor => "the sender's processors had no time left".to_owned(),
            Bound::ReceiverProcessor => "the receiver's processors had no time left".to_owned(),
            Bound::RateLimit => "the rate limit was reached".to_owned(),
        };
        Some(Limited {
            by: *by,
            share,
            why,
            advice: None,
        })
    }
}
