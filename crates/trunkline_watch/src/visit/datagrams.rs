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
    let plan = DatagramPlan {
        way: match order.direction {
            Direction::Reverse => Way::Reverse,
            Direction::Forward | Direction::Both => Way::Forward,
        },
        rate: order.rate_max.map_or(rate, |most| rate.min(most)),
        duration: running_time(order.duration, deadline),
    };
    let seen = target.observed.datagrams(&plan, deadline)?;
    let visit = &mut part.shown.visit;
    visit.goodput = Some(seen.goodput());
    visit.jitter = Some(seen.jitter);
    visit.probes = Some(ProbeCount {
        sent: seen.sent,
        lost: seen.lost,
        duplicated: 0,
        reordered: seen.reordered,
    });
    part.shown.rates = (!seen.rates.is_empty()).then_some(seen.rates);
    Ok(())
}
