//! Visits that fill the path.

use observe::{Limit, Observation, SamplePlan, Setting, Target as _, TargetError, TargetKind, Way};
use record::Document;
use tune::{Budget, Controls, Objective, TunePlan};
use units::Span;

use super::paced::Paced;
use super::{Deadline, Order, Part, route, running_time, share};
use trunkline::{Target, origin};

/// Goodput at the tuned setting; before there is one, a search for it in the same time.
pub(super) fn throughput(
    target: &mut Target,
    order: &Order<'_>,
    part: &mut Part,
    deadline: &mut Deadline<'_>,
) -> Result<(), TargetError> {
    let Some(setting) = &order.setting else {
        return search(target, order, part, deadline);
    };
    trace(target, part, deadline);
    let plan = SamplePlan::lasting(running_time(order.duration, deadline));
    let setting = Setting {
        direction: order.direction,
        ..setting.clone()
    };
    let seen = paced(target, order).observe(&setting, &plan, deadline)?;
    let limit = judged(target).then(|| inference::verdict(&seen).limit);
    note(part, &seen, limit);
    Ok(())
}

/// A search for the setting.
pub(super) fn search(
    target: &mut Target,
    order: &Order<'_>,
    part: &mut Part,
    deadline: &mut Deadline<'_>,
) -> Result<(), TargetError> {
    trace(target, part, deadline);
    let usual = TunePlan::default();
    let plan = TunePlan {
        base: Setting {
            direction: order.direction,
            ..usual.base.clone()
        },
        objective: match order.is_gentle {
            true => Objective::GENTLE,
            false => Objective::KNEE,
        },
        budget: Budget {
            time: Some(running_time(order.duration, deadline)),
            bytes: order
                .rate_max
                .map(|rate| super::bytes_in(rate, order.duration)),
            ..Budget::default()
        },
        // Visits that come back all day take no more from others than the hosts' own control.
        controls: Controls::Kept,
        ..usual
    };
    let tuning = match tune::tune(&mut paced(target, order), &plan, deadline) {
        Ok(tuning) => tuning,
        Err(tune::TuneError::Target(error)) => return Err(error),
        Err(error) => return Err(super::failed(error.to_string(), None)),
    };
    let limit = tuning.answer().map(|answer| answer.limit_recommended.limit);
    let best = tuning.answer().map(|answer| answer.recommended.clone());
    if let Some(best) = &best {
        if let Some(sample) = tuning.samples.get(best.sample) {
            note(part, &sample.observation, limit);
            part.shown.visit.goodput = Some(sample.goodput().mean);
        }
        // Only the first samples probe the idle path.
        let mut samples = tuning.samples.iter().map(|sample| &sample.observation);
        if let Some(idle) = samples.find_map(|seen| seen.round_trips.unloaded.as_ref()) {
            part.probed(idle);
        }
        part.found = Some(best.setting.clone());
    }
    let mut body = record::Tune::new(&target.describe(), &tuning);
    body.target = target.shape();
    part.shown.document = Some(Document::new(origin(Some(target.seed())), body).to_json());
    match best {
        Some(_) => Ok(()),
        None => Err(super::failed(
            "the search was ended before it knew a setting",
            None,
        )),
    }
}

/// Round trips while the path is full.
pub(super) fn responsiveness(
    target: &mut Target,
    order: &Order<'_>,
    part: &mut Part,
    deadline: &mut Deadline<'_>,
) -> Result<(), TargetError> {
    trace(target, part, deadline);
    let plan = probing::responsiveness::Plan {
        ways: vec![Way::Forward],
        duration_max: running_time(order.duration, deadline),
    };
    let measured = probing::responsiveness::measure(&mut paced(target, order), &plan, deadline)?;
    let visit = &mut part.shown.visit;
    if let Some(way) = measured.ways.first() {
        visit.goodput = Some(way.goodput);
        let loaded: Vec<f64> = way
            .intervals
            .iter()
            .flat_map(|one| one.foreign.clone())
            .collect();
        visit.loaded = stats::median(&loaded).map(Span::from_secs_f64);
        if let Some(idle) = &way.idle {
            part.probed(idle);
        }
    }
    let body = record::Responsiveness::new(target.shape(), plan.duration_max, &measured);
    part.shown.document = Some(Document::new(origin(Some(target.seed())), body).to_json());
    Ok(())
}

/// Takes note of what a run showed.
fn note(part: &mut Part, seen: &Observation, limit: Option<Limit>) {
    let summary = seen.summary();
    if let Some(idle) = &seen.round_trips.unloaded {
        part.probed(idle);
    }
    let visit = &mut part.shown.visit;
    visit.goodput = Some(summary.goodput().mean);
    visit.resent = share(summary.main().and_then(|way| way.tcp.retransmitted_share));
    visit.loaded = summary.rtt_loaded;
    visit.limit = limit;
    let rates = seen.rates();
    part.shown.rates = (!rates.is_empty()).then_some(rates);
}

/// Whether it is worth a tenth of a second to say what limits a visit: in virtual time a month of
/// them passes in a minute.
fn judged(target: &Target) -> bool {
    target.describe().kind != TargetKind::Simulated
}

/// Looks for the route first, on the idle path. Without one the visit goes on. In virtual time
/// there are no routers to ask.
pub(super) fn trace(target: &mut Target, part: &mut Part, deadline: &mut Deadline<'_>) {
    if target.describe().kind == TargetKind::Simulated {
        return;
    }
    if let Ok(mut probes) = target.observed.probes(deadline) {
        part.shown.visit.route = route::route(&mut *probes, deadline);
    }
}

/// The target, as fast as the visit may be.
fn paced<'a>(target: &'a mut Target, order: &Order<'_>) -> Paced<'a> {
    Paced {
        target: &mut *target.observed,
        rate_max: order.rate_max,
    }
}
