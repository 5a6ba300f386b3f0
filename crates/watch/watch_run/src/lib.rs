//! Both ends of a watch.
//!
//! - [`agent`]: visits at their times, on each machine of the plan; results on disk until
//!   delivered.
//! - [`link`]: what an agent and the collector say to each other.
//! - [`collector`]: reports into the database; detectors of all series.

pub mod agent;
pub mod collector;
pub mod link;
