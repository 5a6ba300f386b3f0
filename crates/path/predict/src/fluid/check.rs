//! What the model takes.

use netpath::{CrossTraffic, Extra, Loss, PathSpec};
use units::Span;

use super::{FlowClass, FluidQuestion};
use crate::PredictError;

/// The most flows of a class: more than any link serves.
pub const FLOWS_MAX: u64 = 100_000_000;

/// The most round trips of a run: with fewer flows followed than that takes, little is left.
const ROUNDS_MAX: u64 = 20_000;
/// The fewest of the longest round trip: before, its flows have hardly begun.
const ROUNDS_MIN: u64 = 10;
/// The fewest of them before anything counts: half of the shortest run.
const WARMUP_ROUNDS_MIN: u64 = ROUNDS_MIN / 2;
/// The most bytes of an acknowledgement: headers of IPv6 and TCP with what was acknowledged
/// selectively.
const ACKNOWLEDGEMENT_MAX: f64 = 100.0;
/// The most classes, those of cross traffic included.
const CLASSES_MAX: usize = 64;
const MINUTE: Span = Span::from_secs(60);
/// Shorter round trips are those of one host.
const RTT_MIN: Span = Span::from_micros(100);

/// One link each way, nothing on it but streams.
pub(super) fn path(path: &PathSpec) -> Result<(), PredictError> {
    let refused = |field, value| Err(PredictError::NotOneLink { field, value });
    if let Some(Extra { field, value }) = path.extra().or_else(|| path.beyond_formulas()) {
        return refused(field, value);
    }
    let streams = |traffic: &CrossTraffic| matches!(traffic, CrossTraffic::Streams { .. });
    if let Some(other) = path.cross.iter().find(|cross| !streams(&cross.traffic)) {
        return refused("cross", other.traffic.kind().to_owned());
    }
    if path.forward.variation.is_some() {
        return refused("forward.variation", path.forward.rate.to_string());
    }
    if path.hosts.ecn {
        return refused("hosts.ecn", "true".to_owned());
    }
    if matches!(path.forward.loss, Loss::GilbertElliott { .. }) {
        return refused("forward.loss", "in bursts".to_owned());
    }
    way_back(path)
}

/// Acknowledgements are neither lost nor wait.
fn way_back(path: &PathSpec) -> Result<(), PredictError> {
    let refused = |field, value| Err(PredictError::NotOneLink { field, value });
    let back = &path.reverse;
    let most = path.forward.rate.as_f64() * ACKNOWLEDGEMENT_MAX / f64::from(path.hosts.mtu);
    if !back.loss.is_none() {
        refused("reverse.loss", back.loss.mean_rate().to_string())
    } else if back.variation.is_some() {
        refused("reverse.variation", back.rate.to_string())
    } else if back.rate.as_f64() < most {
        refused("reverse.rate", back.rate.to_string())
    } else {
        Ok(())
    }
}

/// What does not count of a run of `duration`.
pub(super) fn warmup(
    question: &FluidQuestion,
    classes: &[FlowClass],
    duration: Span,
) -> Result<Span, PredictError> {
    let Some(warmup) = question.warmup else {
        return Ok(Span::from_nanos(duration.as_nanos() / 2));
    };
    let own = question.path.base_rtt();
    let rtts = classes.iter().map(|class| class.rtt.unwrap_or(own));
    let least = rtts.max().unwrap_or(own).times(WARMUP_ROUNDS_MIN);
    if warmup >= duration {
        return refused(format!(
            "a warm-up of {warmup} leaves nothing of a run of {duration}"
        ));
    }
    if warmup < least {
        return refused(format!(
            "a warm-up of {warmup} is below {WARMUP_ROUNDS_MIN} of the longest round trip, {least}"
        ));
    }
    Ok(warmup)
}

/// How long the run is, once `classes`, those of cross traffic included, are found in order.
pub(super) fn duration(
    question: &FluidQuestion,
    classes: &[FlowClass],
) -> Result<Span, PredictError> {
    let own = question.path.base_rtt();
    let rtts = || classes.iter().map(|class| class.rtt.unwrap_or(own));
    let (shortest, longest) = (rtts().min().unwrap_or(own), rtts().max().unwrap_or(own));
    let (least, most) = (longest.times(ROUNDS_MIN), shortest.times(ROUNDS_MAX));
    let duration = question.duration.unwrap_or(MINUTE.min(most));
    if classes.len() > CLASSES_MAX {
        let count = classes.len();
        return refused(format!(
            "{count} classes, streams of the path's cross traffic included, are more than \
                {CLASSES_MAX}"
        ));
    }
    if shortest < RTT_MIN {
        return refused(format!("a round trip of {shortest} is below {RTT_MIN}"));
    }
    if duration > most || duration == Span::ZERO {
        return refused(format!(
            "a duration of {duration} is not above 0 and up to {ROUNDS_MAX} of the shortest round \
                trip, {most}"
        ));
    }
    for class in classes {
        check_class(class, duration)?;
    }
    if duration < least {
        return refused(format!(
            "a duration of {duration} is below {ROUNDS_MIN} of the longest round trip, {least}"
        ));
    }
    Ok(duration)
}

fn check_class(class: &FlowClass, duration: Span) -> Result<(), PredictError> {
    if !(1..=FLOWS_MAX).contains(&class.flows) {
        return refused(format!(
            "{} flows are not between 1 and {FLOWS_MAX}",
            class.flows
        ));
    }
    if !(0.0..=0.5).contains(&class.loss) {
        return refused(format!("a loss of {} is not between 0 and 0.5", class.loss));
    }
    let stop = class.stop.unwrap_or(duration);
    if class.start >= stop || stop > duration {
        let start = class.start;
        return refused(format!(
            "flows that start at {start} and stop at {stop} do not run within {duration}"
        ));
    }
    Ok(())
}

fn refused<T>(problem: String) -> Result<T, PredictError> {
    Err(PredictError::Class { problem })
}
