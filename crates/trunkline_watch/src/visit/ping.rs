//! Visits of small packets.

use changes::{NoSlope, SlowestLink};
use observe::{Fault, ProbeSeries, Probes, ProbesError, TargetError, Train, Way};
use probing::characterise::{Characteristics, Wanted};
use probing::size_slope;
use record::Document;
use target::UnderLoad;
use units::{Bytes, Span};

use super::{Deadline, Order, Part, count, failed, route};
use trunkline::{Target, origin};

/// PingER sends packets of two sizes; the large ones have 1000 bytes of data.
const LARGE: Bytes = Bytes::new(1028);
/// Large packets each way, and their distance.
const LARGE_COUNT: usize = 10;
const LARGE_APART: Span = Span::from_millis(100);
/// One direction after the other.
const BOTH: [Way; 2] = [Way::Forward, Way::Reverse];
/// What the route behind the echoes takes where hops do not answer.
const ROUTE: Span = Span::from_secs(3);
const UNANSWERED: &str = "no probe was answered";
/// Twenty round trips, as SmokePing has them.
const SMALL_COUNT: usize = 20;
const SMALL: Span = ProbeSeries::INTERVAL.times(SMALL_COUNT as u64);

/// Small and large packets, as PingER sends them: round trips of the small ones, losses of both.
/// Then what echoes of sizes between them say of the slowest link.
pub(super) fn ping(
    target: &mut Target,
    order: &Order<'_>,
    part: &mut Part,
    deadline: &mut Deadline<'_>,
) -> Result<(), TargetError> {
    small(target, order, part, deadline, |probes, part, deadline| {
        large(probes, part, deadline);
        part.shown.visit.slowest_link = Some(slowest_link(probes, deadline));
    })
}

/// Round trips of small packets, then `more` of other packets, then the route.
pub(super) fn small(
    target: &mut Target,
    order: &Order<'_>,
    part: &mut Part,
    deadline: &mut Deadline<'_>,
    more: impl FnOnce(&mut dyn Probes, &mut Part, &mut Deadline<'_>),
) -> Result<(), TargetError> {
    let mut probes = target.observed.probes(deadline).map_err(told)?;
    let half = Span::from_secs_f64(order.duration.as_secs_f64() / 2.0);
    let series = probes.round_trips(SMALL.min(half), deadline).map_err(told);
    if let Err(error) = &series
        && is_unanswered(error)
    {
        part.unanswered(count(SMALL_COUNT));
    }
    let series = series?;
    part.probed(&series);
    more(&mut *probes, part, deadline);
    part.shown.visit.route = route::route(&mut *probes, deadline);
    match series.probes.iter().all(|probe| probe.rtt.is_none()) {
        true => Err(failed(UNANSWERED, None)),
        false => Ok(()),
    }
}

/// Adds the losses of large packets in both directions, where the far end counts them.
fn large(probes: &mut dyn Probes, part: &mut Part, deadline: &mut Deadline<'_>) {
    let train = Train::spaced(LARGE_COUNT, LARGE, LARGE_APART);
    for way in BOTH {
        let Ok(seen) = probes.train(way, &train, deadline) else {
            return;
        };
        part.counted(&seen);
    }
}

/// What the slowest link carries, by echoes that no other figure of the visit counts.
fn slowest_link(probes: &mut dyn Probes, deadline: &mut Deadline<'_>) -> SlowestLink {
    let sizes = size_slope::sizes();
    let needed = ProbeSeries::INTERVAL.times(sizes.len() as u64) + ROUTE;
    if deadline.left().is_some_and(|left| left < needed) {
        return SlowestLink::Unknown(NoSlope::NoTime);
    }
    match probes.sized_echoes(&sizes, deadline) {
        Ok(echoes) => size_slope::slowest_link(&echoes),
        Err(_) if deadline.has_to_end() => SlowestLink::Unknown(NoSlope::NoTime),
        Err(_) => SlowestLink::Unknown(NoSlope::NoEchoes),
    }
}

/// `trunkline path --quick`: round trips, losses, capacity, hops, path MTU.
pub(super) fn path(
    target: &mut Target,
    part: &mut Part,
    deadline: &mut Deadline<'_>,
) -> Result<(), TargetError> {
    let wanted = Wanted {
        ways: BOTH.to_vec(),
        trains: true,
        load: None,
        hop_capacity: false,
        flows: None,
        way_back: false,
    };
    // The examination wants the target for itself.
    let opened = target.again();
    let opened = opened.map_err(|error| failed(error.what(), error.hint().map(str::to_owned)))?;
    let mut examined = UnderLoad::new(opened.observed);
    let found = match probing::characterise(&mut examined, &wanted, deadline) {
        // The search for hops may have taken the rest of the time, which is not the reason.
        Err(error) if error.fault != Fault::Cancelled => {
            if is_unanswered(&error) {
                part.unanswered(count(SMALL_COUNT));
            }
            part.fail(error.to_string());
            return Ok(());
        }
        found => found?,
    };
    if let Some(series) = &found.round_trips {
        part.probed(series);
    }
    part.shown.visit.route = found.traces.iter().find_map(route::of);
    let body = record::Characteristics::new(target.shape(), &found);
    part.shown.document = Some(Document::new(origin(Some(target.seed())), body).to_json());
    if !is_answered(&found) {
        // Routers answered, so the host was looked for.
        if found.round_trips.is_none() {
            part.unanswered(count(SMALL_COUNT));
        }
        let why = found.left_out.first().map(|left| left.why.clone());
        part.fail(why.unwrap_or_else(|| UNANSWERED.to_owned()));
    }
    Ok(())
}

/// Whether an error of round trips says that no kind of probe was answered: a name without an
/// address and a lost namespace have a failure underneath, and what was ended is cancelled.
pub(super) fn is_unanswered(error: &TargetError) -> bool {
    error.fault == Fault::Run && error.source.is_none()
}

/// Whether the far end answered; routers on the way do not say that it is there.
fn is_answered(found: &Characteristics) -> bool {
    let round_trip = found.round_trips.as_ref().and_then(ProbeSeries::min);
    round_trip.is_some() || found.traces.iter().any(|trace| trace.reached)
}

fn told(error: ProbesError) -> TargetError {
    match error {
        ProbesError::Failed(error) => error,
        ProbesError::Unsupported { why, hint } => TargetError {
            fault: Fault::Run,
            what: why,
            hint,
            source: None,
        },
    }
}
