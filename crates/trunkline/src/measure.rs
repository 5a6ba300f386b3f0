//! One setting in detail.

use record::{Document, Run};

use crate::progress::Watcher;
use crate::{Cancel, Error, OnProgress, Target, origin};

pub use measure_protocol::WINDOW_MAX;
pub use observe::{
    Amount, Direction, Moving, Observation, Precision, SamplePlan, Setting, Snapshot, StreamCount,
    Summary, Transport, Verdict, Window,
};

/// One run of one setting.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Everything that was seen.
    pub observation: Observation,
    /// Goodput, round trips and losses of the settled part.
    pub summary: Summary,
    /// What limited it.
    pub verdict: Verdict,
    /// The document of it.
    pub document: Document<record::Measure>,
}

impl Measured {
    /// The run as a part of another document.
    pub fn run(&self) -> Run {
        Run::new(&self.observation, &self.summary, Some(&self.verdict))
    }
}

/// Sends as `setting` says for as long as `plan` says, and finds what limited it.
///
/// ```
/// use trunkline::measure::{SamplePlan, Setting, StreamCount, Window};
/// use trunkline::units::{Bytes, Span};
/// use trunkline::{Cancel, Target, measure};
///
/// let mut target = Target::open("sim:oc12-100ms", 1)?;
/// let setting = Setting::new(StreamCount::ONE, Window::Fixed(Bytes::from_kib(64)));
/// let plan = SamplePlan::lasting(Span::from_secs(20));
/// let measured = measure(&mut target, &setting, &plan, &Cancel::new(), &mut |_| {})?;
/// // Of a buffer of 64 KiB, which kernels double, 80 KiB are offered as window: 56 segments of
/// // 1448 bytes in each round trip of 100 ms are 6.5 Mbit/s.
/// let goodput = measured.summary.goodput().mean.as_f64() / 1e6;
/// assert!((6.3..6.5).contains(&goodput), "{goodput}");
/// # Ok::<(), trunkline::Error>(())
/// ```
///
/// # Errors
/// When the far end does not answer, the setting cannot be had, the run failed or was cancelled.
pub fn measure(
    target: &mut Target,
    setting: &Setting,
    plan: &SamplePlan,
    cancel: &Cancel,
    on_progress: &mut OnProgress<'_>,
) -> Result<Measured, Error> {
    let mut watcher = Watcher::new(cancel, on_progress);
    let observation = target.observed.observe(setting, plan, &mut watcher)?;
    let summary = observation.summary();
    let verdict = inference::verdict(&observation);
    let mut body = record::Measure::new(&target.describe(), &observation, &summary, &verdict);
    body.target = target.shape();
    let document = Document::new(origin(Some(target.seed)), body);
    Ok(Measured {
        observation,
        summary,
        verdict,
        document,
    })
}
