//! The first plan of an agent that was started without one.

use changes::{FarHost, UnixTime};
use copy_protocol::Token;
use units::Address;

use crate::link::{AgentLink, LINK_VERSION, LinkError, PlanText, PlanWish, Refused, Report};

/// Asks the collector for its plan, once.
///
/// * `software`: the program of this agent, for the collector.
/// * `is_given_up`: asked ten times a second while nothing answers.
///
/// # Errors
/// When no collector answers, or it has no plan to give.
pub fn first_plan(
    collector: &Address,
    token: &Token,
    (software, now): (&str, UnixTime),
    is_given_up: &dyn Fn() -> bool,
) -> Result<PlanText, LinkError> {
    let mut link = AgentLink::connect(collector, token, is_given_up)?;
    let reply = link.report(&Report {
        version: LINK_VERSION,
        software: software.to_owned(),
        hosts: Vec::new(),
        host: FarHost::default(),
        plan: None,
        plan_wish: Some(PlanWish::default()),
        now,
        waiting: 0,
        running: None,
        visits: Vec::new(),
    })?;
    reply.plan_text.ok_or_else(|| {
        LinkError::Refused(Refused {
            what: "it gives no plan".to_owned(),
            hint: "use the same version of trunkline at both ends, or give the agent the file"
                .to_owned(),
        })
    })
}
