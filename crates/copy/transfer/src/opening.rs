//! The request to the far end: a copy's options as its opening message.

use copy_protocol::{CongestionChoice, CopyDirection, CopyOptions, CopySpec, Opening, Selection};
use models::Objective;
use observe::Transport;
use observe::{StreamCount, Window};
use steer::Scavenger;
use steer::online::{Online, OnlinePlan};
use units::{Bytes, Rate, Span};

/// Delay and loss that a gentle objective may add when only its name is known.
const GENTLE: Objective = Objective::Gentle {
    added_rtt_max: Span::from_millis(30),
    loss_max: 0.01,
};

/// The opening message of a copy.
pub(crate) fn opening(spec: &CopySpec, copy: [u8; 16], into_folder: bool) -> Opening {
    Opening {
        direction: spec.direction,
        copy,
        paths: spec.far.paths.clone(),
        recursive: spec.options.recursive,
        attributes: spec.options.attributes,
        filter: spec.options.filter,
        selection: selection(spec),
        delete: spec.options.delete,
        into_folder,
        plain: spec.options.plain,
        verify: spec.options.verify,
        fresh: false,
        dry_run: spec.options.dry_run,
        compress: spec.options.compress,
        rate_max_bits_per_second: spec.options.rate_max.map(Rate::bits_per_second),
        gentle_nanoseconds: spec.options.gentle.map(Span::as_nanos),
        objective: name(&spec.options.objective),
        streams: streams(spec).map(|streams| streams.get()),
        remembered: spec.options.remembered.map(|streams| streams.get()),
        congestion: spec.options.congestion.clone(),
        window_bytes: match spec.options.window {
            Window::Auto => None,
            Window::Fixed(bytes) => Some(bytes.get()),
        },
    }
}

/// Over UDP one stream fills the path, so that none are searched for.
fn streams(spec: &CopySpec) -> Option<StreamCount> {
    match spec.transport {
        Transport::Tcp => spec.options.streams,
        Transport::Udp => spec.options.streams.or(Some(StreamCount::ONE)),
    }
}

/// A list of names at this end is of no use to the far one.
fn selection(spec: &CopySpec) -> Selection {
    let listed = spec.options.selection.listed.clone();
    Selection {
        rules: spec.options.selection.rules.clone(),
        listed: listed.filter(|_| spec.direction == CopyDirection::Get),
    }
}

fn name(objective: &Objective) -> String {
    match objective {
        Objective::Knee { share } => format!("knee-{}", (share * 1000.0).round()),
        Objective::Max => "max".to_owned(),
        Objective::Power => "power".to_owned(),
        Objective::Gentle { .. } => "gentle".to_owned(),
    }
}

/// What the sender aims at; the tuner's own default for a name that it does not know.
/// The inverse of what [`opening`] writes: the share of a knee in thousandths.
fn objective(name: &str) -> Objective {
    let mut words = name.split('-');
    match (words.next(), words.next().map(str::parse::<u16>)) {
        (Some("max"), _) => Objective::Max,
        (Some("power"), _) => Objective::Power,
        (Some("gentle"), _) => GENTLE,
        (Some("knee"), Some(Ok(share @ 1..=1000))) => Objective::Knee {
            share: f64::from(share) / 1000.0,
        },
        _ => CopyOptions::KNEE,
    }
}

/// The number that a peer said; one that no copy may have is none.
pub(crate) fn stream_count(said: Option<u16>) -> Option<StreamCount> {
    StreamCount::new(said?.into()).ok()
}

/// The plan by which the sender's streams are steered.
///
/// * `rtt`: the smallest round trip so far.
pub(crate) fn plan(opening: &Opening, rtt: Option<Span>) -> OnlinePlan {
    OnlinePlan {
        objective: objective(&opening.objective),
        streams: stream_count(opening.streams),
        remembered: stream_count(opening.remembered),
        found: stream_count(opening.remembered).filter(|_| has_found_control(opening)),
        window: window(opening.window_bytes),
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

/// Socket buffers as they were asked for.
fn window(bytes: Option<u64>) -> Window {
    bytes.map_or(Window::Auto, |bytes| Window::Fixed(Bytes::new(bytes)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use copy_protocol::{Attributes, Filter};

    /// As the command line makes it where nothing else is said.
    pub(crate) fn opening_of(direction: CopyDirection, paths: &[&str]) -> Opening {
        Opening {
            direction,
            copy: [0; 16],
            paths: paths.iter().map(|path| path.as_bytes().to_vec()).collect(),
            recursive: false,
            attributes: Attributes {
                permissions: true,
                times: true,
                links: true,
            },
            filter: Filter::Changed,
            selection: Selection::default(),
            delete: false,
            into_folder: paths.len() > 1,
            plain: false,
            verify: false,
            fresh: false,
            dry_run: false,
            compress: false,
            rate_max_bits_per_second: None,
            gentle_nanoseconds: None,
            objective: "max".to_owned(),
            streams: None,
            remembered: None,
            congestion: None,
            window_bytes: None,
        }
    }

    #[test]
    fn objectives_arrive_as_they_were_meant() {
        for meant in [Objective::Max, Objective::Power, Objective::KNEE] {
            assert_eq!(objective(&name(&meant)), meant);
        }
        assert_eq!(objective("something new"), CopyOptions::KNEE);
        assert_eq!(objective("knee-7000"), CopyOptions::KNEE);
    }
}
