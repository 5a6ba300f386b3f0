//! The seam between the search and what drives it.
//!
//! A [`Strategy`] sees everything that was found so far and says what to do next. It keeps no state
//! of its own, so the driver may stop at any time and still ask for the best so far, and another
//! strategy can take its place without a change to the driver.

use observe::{SamplePlan, Setting};

use crate::history::History;
use crate::tuning::Purpose;

/// Decides what to sample and what to recommend.
pub trait Strategy {
    /// The next sample to take; `None` when the recommendation would not change any more.
    fn next(&self, history: &History) -> Option<Request>;

    /// The best of what was sampled; `None` when nothing arrived in any sample.
    fn choose(&self, history: &History) -> Option<Choice>;

    /// The same among the settings that `may` be used: without pacing, with the host's own
    /// congestion control; `None` of a strategy that varies neither.
    fn choose_where(&self, history: &History, may: &dyn Fn(&Setting) -> bool) -> Option<Choice> {
        let _ = (history, may);
        None
    }
}

/// A sample to take.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// With which setting.
    pub setting: Setting,
    /// For how long.
    pub plan: SamplePlan,
    /// What for.
    pub purpose: Purpose,
    /// Why, as a sentence for people without a full stop.
    pub why: String,
}

/// A sample to recommend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Its index in [`History::samples`].
    pub sample: usize,
    /// Why, as a sentence for people without a full stop.
    pub because: String,
}
