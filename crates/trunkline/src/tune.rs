//! The operating point: how many streams, which window, and why.

use record::Document;

use crate::progress::Watcher;
use crate::{Cancel, Error, OnProgress, Target, origin};

pub use ::tune::{
    Advice, Answer, Axis, Budget, Confirmation, Controls, Cost, Ended, FailedSample, Objective,
    Purpose, Recommended, Remembered, Request, Sample, TunePlan, Tuning,
};

/// A search and what it found.
#[derive(Debug)]
pub struct Tuned {
    /// Every sample, the recommendation, and how the search ended.
    pub tuning: Tuning,
    /// The document of it.
    pub document: Document<record::Tune>,
}

impl Tuned {
    /// What is recommended; `None` where the search was cancelled, or failed with only one setting
    /// seen.
    pub fn answer(&self) -> Option<&Answer> {
        self.tuning.answer()
    }
}

/// Searches for the setting that `plan` asks for. What earlier searches found is tried first where
/// it is in the plan; [`History::remembered`](crate::history::History::remembered) has it.
///
/// ```
/// use trunkline::tune::TunePlan;
/// use trunkline::{Cancel, Target, tune};
///
/// let mut target = Target::open("sim:slac-cern", 1)?;
/// let tuned = tune(&mut target, &TunePlan::default(), &Cancel::new(), &mut |_| {})?;
/// let setting = &tuned.answer().unwrap().recommended.setting;
/// // One stream of reno loses too much there. Cottrell's group needed many; one of bbr is enough.
/// assert_eq!(setting.congestion.as_deref(), Some("bbr"));
/// assert!(tuned.document.to_json().contains("trunkline/tune"));
/// # Ok::<(), trunkline::Error>(())
/// ```
///
/// # Errors
/// When the first sample fails, or nothing arrives in any. A search that ended early is no error:
/// [`Tuning::ended`] says so.
pub fn tune(
    target: &mut Target,
    plan: &TunePlan,
    cancel: &Cancel,
    on_progress: &mut OnProgress<'_>,
) -> Result<Tuned, Error> {
    let mut watcher = Watcher::new(cancel, on_progress);
    let tuning = ::tune::tune(&mut *target.observed, plan, &mut watcher)?;
    let mut body = record::Tune::new(&target.describe(), &tuning);
    body.target = target.shape();
    let document = Document::new(origin(Some(target.seed)), body);
    Ok(Tuned { tuning, document })
}
