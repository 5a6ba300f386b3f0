//! What a path is like, and how round trips grow under load.

use ::target::UnderLoad;
use probing::Examined;
use record::Document;

use crate::progress::Watcher;
use crate::target::shape;
use crate::{Cancel, Error, OnProgress, Target, origin};

pub use observe::Way;
pub use probing::characterise::Wanted;
pub use probing::responsiveness::Plan;

/// Small packets, trains of them and streams: capacity, available bandwidth, hops, path MTU and
/// buffers of the path to `target`. Gives the document, with what could be found.
///
/// Cancelled, it gives what was found until then.
///
/// # Errors
/// When the far end does not answer, or nothing at all could be found.
pub fn examine(
    target: Target,
    wanted: &Wanted,
    cancel: &Cancel,
    on_progress: &mut OnProgress<'_>,
) -> Result<Document<record::Characteristics>, Error> {
    let Target {
        name,
        seed,
        observed,
    } = target;
    let mut path = UnderLoad::new(observed);
    let mut watcher = Watcher::new(cancel, on_progress);
    let found = probing::characterise(&mut path, wanted, &mut watcher)?;
    let shape = shape(path.target(), &name);
    let body = record::Characteristics::new(shape, &found);
    Ok(Document::new(origin(Some(seed)), body))
}

/// Round trips per minute while the path to `target` is full (the working conditions of
/// draft-ietf-ippm-responsiveness). Gives the document.
///
/// Cancelled, it gives what was found until then.
///
/// # Errors
/// When the far end does not answer, or the streams failed.
pub fn responsiveness(
    target: &mut Target,
    plan: &Plan,
    cancel: &Cancel,
    on_progress: &mut OnProgress<'_>,
) -> Result<Document<record::Responsiveness>, Error> {
    let mut watcher = Watcher::new(cancel, on_progress);
    let measured = probing::responsiveness::measure(&mut *target.observed, plan, &mut watcher)?;
    let body = record::Responsiveness::new(target.shape(), plan.duration_max, &measured);
    Ok(Document::new(origin(Some(target.seed)), body))
}
