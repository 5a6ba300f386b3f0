//! The search at a target.

use observe::{DatagramPlan, Datagrams, Direction, Fault, RunObserver, Target, TargetError, Way};
use units::{Rate, Span};

use super::{Ceiling, RateSearch, Step, Try};

/// What was found of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct RateFound {
    /// The plan of the run that confirmed the rate, and what it showed.
    pub confirmed: Option<(DatagramPlan, Datagrams, Ceiling)>,
    /// What was tried, in order.
    pub tries: Vec<Try>,
    /// The last run, where none was confirmed.
    pub last: Option<(DatagramPlan, Datagrams)>,
}

/// Looks for the highest rate in the direction of `plan`, whose rate is not looked at.
///
/// # Errors
/// When the target cannot send datagrams, or both directions are asked for.
pub fn search(
    target: &mut dyn Target,
    plan: &DatagramPlan,
    loss_max: f64,
    watch: &mut dyn crate::PartObserver,
) -> Result<RateFound, TargetError> {
    let way = match plan.direction {
        Direction::Forward => Way::Forward,
        Direction::Reverse => Way::Reverse,
        Direction::Both => {
            return Err(TargetError {
                fault: Fault::Request,
                what: "the highest rate is looked for in one direction at a time".to_owned(),
                hint: Some("leave out `--bidir`, and add `-R` for the other one".to_owned()),
                source: None,
            });
        }
    };
    let mut search = RateSearch::new(loss_max, plan.duration, plan.size);
    let mut last = None;
    loop {
        match search.next() {
            Step::Try(purpose, rate, time) => {
                let plan = at_most(target, plan, rate, time);
                watch.on_part(&format!("{} for {}", rate.human(), plan.duration.human()));
                let seen = target.datagrams(&plan, as_run(watch))?;
                let totals = seen.totals(way);
                last = Some((plan, seen));
                // A run without a stream would be asked for again and again.
                let Some(totals) = totals else {
                    break;
                };
                search.on_result(purpose, rate, &totals);
            }
            Step::Found(ceiling) => {
                let confirmed = last.map(|(plan, seen)| (plan, seen, ceiling));
                return Ok(RateFound {
                    confirmed,
                    tries: search.tries().to_vec(),
                    last: None,
                });
            }
            Step::Nothing => break,
        }
    }
    Ok(RateFound {
        confirmed: None,
        tries: search.tries().to_vec(),
        last,
    })
}

/// A run at `rate`, as long as the target makes one of at most `time`.
fn at_most(target: &dyn Target, plan: &DatagramPlan, rate: Rate, time: Span) -> DatagramPlan {
    let plan = DatagramPlan {
        rate: Some(rate),
        duration: time,
        ..*plan
    };
    let most = target.datagrams_time_max(&plan);
    DatagramPlan {
        duration: most.map_or(time, |most| most.min(time)),
        ..plan
    }
}

fn as_run(watch: &mut dyn crate::PartObserver) -> &mut dyn RunObserver {
    watch
}
