//! What an end makes of the request that opens a copy.

use copy_protocol::{CongestionChoice, Opening};
use observe::StreamCount;
use steer::Scavenger;
use steer::online::{Online, OnlinePlan};
use units::Span;

/// The number that a peer said; one that no copy may have is none.
pub(crate) fn stream_count(said: Option<u16>) -> Option<StreamCount> {
    StreamCount::new(said?.into()).ok()
}

/// The plan by which the sender's streams are steered.
///
/// * `rtt`: the smallest round trip so far.
pub(crate) fn plan(opening: &Opening, rtt: Option<Span>) -> OnlinePlan {
    OnlinePlan {
        objective: opening.objective(),
        streams: stream_count(opening.streams),
        remembered: stream_count(opening.remembered),
        found: stream_count(opening.remembered).filter(|_| has_found_control(opening)),
        window: opening.window(),
        streams_min: StreamCount::new(opening.pairs.max(1).into()).unwrap_or(StreamCount::ONE),
        rtt,
        ..OnlinePlan::default()
    }
}

/// Whether the remembered streams are those of a search, with a congestion control that this host
/// may use, too.
fn has_found_control(opening: &Opening) -> bool {
    let choice = opening.congestion.as_ref();
    choice.is_some_and(|one| one.if_allowed && congestion_of(one).is_some())
}

/// The congestion control that an end sends with, where it is not its own.
pub(crate) fn congestion_of(choice: &CongestionChoice) -> Option<String> {
    let may_use = || {
        let allowed = sockets::host::congestion_controls();
        allowed.contains(&choice.name)
    };
    (!choice.if_allowed || may_use()).then(|| choice.name.clone())
}

/// Number of streams that a copy begins with.
pub(crate) fn first_streams(opening: &Opening, rtt: Option<Span>) -> u16 {
    let gentle = opening.gentle_nanoseconds.map(Span::from_nanos);
    match (gentle, opening.streams) {
        (Some(budget), None) => Scavenger::new(budget, None).allowance().streams.get(),
        _ => Online::new(plan(opening, rtt)).streams().get(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use copy_protocol::{CopyDirection, CopyOptions};
    use models::Objective;

    /// As the command line makes it where nothing else is said.
    pub(crate) fn opening_of(direction: CopyDirection, paths: &[&str]) -> Opening {
        let options = CopyOptions {
            objective: Objective::Max,
            ..CopyOptions::default()
        };
        let paths: Vec<Vec<u8>> = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        Opening {
            into_folder: paths.len() > 1,
            ..Opening::new(direction, paths, &options)
        }
    }
}
