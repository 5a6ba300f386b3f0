//! What a path is like, and how round trips grow under load.

use ::target::UnderLoad;
use inference::Posterior;
use observe::{Direction, Observation, Setting, StreamCount, TargetInfo, Window};
use probing::Examined;
use probing::characterise::PartCost;
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
/// * `infers`: the document is to have the path that explains it all as a path file. A search in
///   the first wanted direction takes the samples for that.
///
/// # Errors
/// When the far end does not answer, or nothing at all could be found.
pub fn examine(
    target: Target,
    wanted: &Wanted,
    infers: bool,
    cancel: &Cancel,
    on_progress: &mut OnProgress<'_>,
) -> Result<Document<record::Characteristics>, Error> {
    let Target {
        name,
        seed,
        mut observed,
        ..
    } = target;
    let mut watcher = Watcher::new(cancel, on_progress);
    let way = wanted.ways.first().filter(|_| infers);
    let searched = way
        .map(|way| search(&mut *observed, *way, &mut watcher))
        .transpose()?;
    let mut path = UnderLoad::new(observed);
    let found = probing::characterise(&mut path, wanted, &mut watcher)?;
    let mut body = record::Characteristics::new(shape(path.target(), &name), &found);
    if let Some(searched) = searched {
        let loads = found.loads.iter().filter(|load| Some(&load.way) == way);
        let loads = loads.flat_map(|load| std::iter::once(&load.one).chain(&load.several));
        let samples = searched.samples.iter().map(|sample| &sample.observation);
        body.path_file = path_file(samples.chain(loads), &path.target().describe());
        let cost = PartCost {
            part: "search".to_owned(),
            time: path.elapsed().map(|_| searched.cost.elapsed),
            bytes: Some(searched.cost.bytes),
        };
        body.costs.insert(0, cost);
    }
    Ok(Document::new(origin(Some(seed)), body))
}

/// A search in this direction, for its samples.
fn search(
    target: &mut dyn observe::Target,
    way: Way,
    watcher: &mut Watcher<'_, '_>,
) -> Result<tune::Tuning, Error> {
    let plan = tune::TunePlan {
        base: Setting {
            direction: match way {
                Way::Forward => Direction::Forward,
                Way::Reverse => Direction::Reverse,
            },
            ..Setting::new(StreamCount::ONE, Window::Auto)
        },
        ..tune::TunePlan::default()
    };
    Ok(tune::tune(target, &plan, watcher)?)
}

/// The path that explains what was seen of `target`, as a path file.
fn path_file<'a>(
    seen: impl IntoIterator<Item = &'a Observation>,
    target: &TargetInfo,
) -> Option<String> {
    let congestion = target.congestion.first().map(String::as_str);
    let posterior = Posterior::explaining(seen, target.limits, congestion)?;
    Some(posterior.path_file(congestion.unwrap_or("cubic")))
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
