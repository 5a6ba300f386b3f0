//! Visits of datagrams at a steady rate.

use changes::ProbeCount;
use observe::{DatagramPlan, TargetError, Way};
use units::{Direction, Rate};

use super::throughput::trace;
use super::{Deadline, Order, Part, running_time};
use trunkline::Target;

/// What arrives of datagrams that are sent at `rate`, or as fast as the budget of the visit allows.
pub(super) fn datagrams(
    target: &mut Target,
    order: &Order<'_>,
    rate: Rate,
    part: &mut Part,
    deadline: &mut Deadline<'_>,
) -> Result<(), TargetError> {
    trace(target, part, deadline);
    let rate = order.rate_max.map_or(rate, |most| rate.min(most));
    let way = match order.direction {
        Direction::Reverse => Way::Reverse,
        Direction::Forward | Direction::Both => Way::Forward,
    };
    let plan = DatagramPlan {
        direction: match way {
            Way::Forward => Direction::Forward,
            Way::Reverse => Direction::Reverse,
        },
        ..DatagramPlan::new(Some(rate), running_time(order.duration, deadline))
    };
    let seen = target.observed.datagrams(&plan, deadline)?;
    let Some(totals) = seen.totals(way) else {
        return Ok(());
    };
    let visit = &mut part.shown.visit;
    visit.goodput = Some(totals.goodput);
    visit.jitter = Some(totals.jitter);
    let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    visit.probes = Some(ProbeCount {
        sent: count(totals.sent),
        lost: count(totals.lost),
        duplicated: count(totals.duplicates.unwrap_or(0)),
        reordered: count(totals.reordered.unwrap_or(0)),
    });
    let rates = seen.streams.into_iter().next().map(|stream| stream.rates);
    part.shown.rates = rates.filter(|rates| !rates.is_empty());
    Ok(())
}
