//! Changes of a network path in the results of repeated visits, and what the next hours will
//! bring.
//!
//! A [`Detector`] takes the visits to one path, one after another, and reports [`Event`]s: a step
//! from one level to another, a drift over days, flapping, another route, no data. Each has its
//! size with an interval, the first visit that showed it and the candidate [`Cause`]s that the
//! visits hold. A [`Forecast`] gives goodput for the next hours and the end of a copy, with
//! intervals.
//!
//! How a step is found: each value loses the season that the hours of the day show (`profile.rs`).
//! The median of the latest three, six or sixteen values is compared with the local level before
//! them, and the distance with the distances of the ten days before (`usual.rs`). It has to be
//! several times the usual one and agree between the visits (`series.rs`). A route or a far host
//! that changed with the same visit lowers the bar (`detector/judge.rs`).
//! docs/decisions/014-watching-paths.md has the figures.
//!
//! What is usual is learned from the sixth visit on, with wider bounds until 44 visits are known.
//! It is counted in visits, whatever their distance.
//!
//! Left out: holidays and other seasons than day and weekend, one-way delays, and comparisons
//! between paths.
//!
//! Reading order: `visit.rs`, `event.rs`, `metric.rs`, then `usual.rs`, `series.rs`,
//! `detector.rs`, `causes.rs`, `forecast.rs`; `sequence.rs`,
//! `pinger.rs` and `months.rs` for PingER's figures.

mod causes;
mod detector;
mod drift;
mod event;
mod forecast;
mod metric;
mod months;
mod one_way;
mod order;
mod outage;
mod pinger;
mod profile;
mod sequence;
mod series;
mod severity;
#[cfg(test)]
mod testing;
mod time;
mod usual;
mod visit;

pub use causes::{Cause, CauseKind};
pub use detector::Detector;
pub use event::{End, Event, EventKind, Moved};
pub use forecast::{Finish, Forecast, Hour, TooLong};
pub use metric::Metric;
pub use months::{OfPairs, PingFigure, Trend, mean_of_pairs, trend, trend_of_pairs};
pub use observe::LossPattern;
pub use one_way::{Delay, OneWay, Unknown, WayDelay};
pub use pinger::{Derived, Pings, unpredictability};
pub use probing::{NoSlope, SizeSlope, SlowestLink};
pub use sequence::ProbeSequence;
pub use severity::Severity;
pub use time::UnixTime;
pub use visit::{Failure, FarHost, ProbeCount, RoundTrips, Route, Share, Visit, VisitKind};
