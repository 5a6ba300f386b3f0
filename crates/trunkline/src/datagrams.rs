//! Datagrams at a steady rate: loss, jitter, order; and the highest rate that a path carries.

use probing::datagram_rate::{self, LOSS_MAX};
use record::Document;

use crate::progress::Watcher;
use crate::{Cancel, Error, OnProgress, Target, origin};

pub use observe::DatagramPlan;
use observe::TargetError;
use units::Rate;

/// How fast datagrams are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatagramRate {
    /// At this rate, of all streams of a direction together.
    At(Rate),
    /// As fast as the path carries with a loss of at most 1 %, which is looked for.
    Find,
}

/// Sends datagrams as `plan` says, at `rate` in place of its own, and tells what arrived. Gives the
/// document.
///
/// ```
/// use trunkline::datagrams::{DatagramPlan, DatagramRate};
/// use trunkline::units::{Rate, Span};
/// use trunkline::{Cancel, Target, datagrams};
///
/// let mut target = Target::open("sim:slac-cern", 1)?;
/// let plan = DatagramPlan::new(None, Span::from_secs(5));
/// let rate = DatagramRate::At(Rate::from_bits_per_second(90_000_000));
/// let document = datagrams(&mut target, &plan, rate, &Cancel::new(), &mut |_| {})?;
/// // The link carries 45 Mbit/s, 44.1 of which are data: about half is lost.
/// let forward = &document.body.ways[0];
/// assert!((0.4..0.55).contains(&forward.loss_ratio), "{}", forward.loss_ratio);
/// # Ok::<(), trunkline::Error>(())
/// ```
///
/// # Errors
/// When the far end does not answer, the run failed or was cancelled, or the highest rate is to be
/// found in both directions at once.
pub fn datagrams(
    target: &mut Target,
    plan: &DatagramPlan,
    rate: DatagramRate,
    cancel: &Cancel,
    on_progress: &mut OnProgress<'_>,
) -> Result<Document<record::Datagrams>, Error> {
    let mut watcher = Watcher::new(cancel, on_progress);
    let body = match rate {
        DatagramRate::At(rate) => {
            let plan = DatagramPlan {
                rate: Some(rate),
                ..*plan
            };
            let seen = target.observed.datagrams(&plan, &mut watcher)?;
            record::Datagrams::new(target.shape(), &plan, &seen)
        }
        DatagramRate::Find => {
            let observed = &mut *target.observed;
            let found = datagram_rate::search(observed, plan, LOSS_MAX, &mut watcher)?;
            let body = record::Datagrams::searched(target.shape(), LOSS_MAX, &found);
            body.ok_or_else(nothing_ran)?
        }
    };
    Ok(Document::new(origin(Some(target.seed)), body))
}

/// A search tries at least one rate.
fn nothing_ran() -> TargetError {
    TargetError {
        fault: observe::Fault::Run,
        what: "no datagrams were sent".to_owned(),
        hint: None,
        source: None,
    }
}
