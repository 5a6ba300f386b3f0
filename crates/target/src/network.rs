//! An emulated path together with the traffic that shares it.

use std::net::SocketAddr;

use emu::{FAR_ADDRESS, Network};
use endpoints::{Background, BackgroundSpec};
use netpath::{Class, Cross, CrossTraffic, PathSpec};
use sockets::BufferLimit;
use units::Span;

use crate::OpenError;

/// A path as its file describes it: the network, and others' streams on it.
#[derive(Debug)]
pub struct EmulatedNetwork {
    // Dropped before the network, which the streams run on.
    _cross: Vec<Background>,
    network: Network,
}

impl EmulatedNetwork {
    /// Brings up `path`; `seed` decides which packets are lost on the wire.
    ///
    /// # Errors
    /// When the user lacks a right or the kernel lacks a part.
    pub fn up(path: &PathSpec, seed: u64) -> Result<Self, OpenError> {
        let streams = path.cross.iter().map(|cross| streams_of(path, cross));
        let streams = streams.collect::<Result<Vec<_>, _>>()?;
        emu::enter_user_namespace()?;
        let network = Network::up(path, seed)?;
        let start = |spec| start_cross(&network, spec);
        let cross = streams.iter().map(start).collect::<Result<_, _>>()?;
        Ok(EmulatedNetwork {
            _cross: cross,
            network,
        })
    }

    /// The namespaces and the books.
    pub fn network(&self) -> &Network {
        &self.network
    }
}

/// The streams of a group of others.
///
/// # Errors
/// When only a simulation can send what the group sends.
fn streams_of(path: &PathSpec, cross: &Cross) -> Result<BackgroundSpec, OpenError> {
    let refuse = |field, value: &dyn ToString| OpenError::NotEmulated {
        path: path.name.clone(),
        field,
        value: value.to_string(),
    };
    let CrossTraffic::Streams { streams, window } = cross.traffic else {
        return Err(refuse("cross.kind", &cross.traffic.kind()));
    };
    // They would go from host to host, and load the other links too.
    if path.hops() > 1 {
        return Err(OpenError::CrossOfRow {
            path: path.name.clone(),
            hops: path.hops(),
        });
    }
    if cross.class != Class::BestEffort {
        return Err(refuse("cross.class", &cross.class));
    }
    if cross.extra_delay != Span::ZERO {
        return Err(refuse("cross.extra_delay", &cross.extra_delay));
    }
    let congestion = cross.congestion.as_ref();
    Ok(BackgroundSpec {
        streams,
        window,
        limit: BufferLimit::Lifted,
        congestion: congestion.unwrap_or(&path.hosts.congestion).clone(),
    })
}

fn start_cross(network: &Network, spec: &BackgroundSpec) -> Result<Background, OpenError> {
    let any_port = SocketAddr::from((FAR_ADDRESS, 0));
    let listener = network.far().run(|| Background::listen(any_port))?;
    let listener = listener.map_err(OpenError::CrossListener)?;
    let background = network.near().run(|| Background::start(&listener, spec))?;
    Ok(background?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(group: &str) -> OpenError {
        let link = "[forward]\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n\
                    queue = { kind = \"drop-tail\", limit = \"9packets\" }\n";
        let path = PathSpec::from_toml("mine", &format!("{link}[[cross]]\n{group}")).unwrap();
        EmulatedNetwork::up(&path, 1).unwrap_err()
    }

    #[test]
    fn what_only_a_simulation_can_send_is_refused_by_name() {
        let streams = "streams = 1\nwindow = \"64KiB\"\n";
        for (group, field) in [
            (
                "kind = \"on-off\"\nsources = 1\nrate = \"9kbit/s\"\non = \"1s\"\noff = \"1s\""
                    .to_owned(),
                "`cross.kind` of `on-off`",
            ),
            (
                "kind = \"transfers\"\nper_second = 1\nmean_size = \"1kB\"\nshape = 2\n\
                 window = \"64KiB\""
                    .to_owned(),
                "`cross.kind` of `transfers`",
            ),
            (
                format!("{streams}class = \"scavenger\""),
                "`cross.class` of `scavenger`",
            ),
            (
                format!("{streams}extra_delay = \"30ms\""),
                "`cross.extra_delay` of `30ms`",
            ),
        ] {
            let error = refusal(&group);
            assert_eq!(
                error.to_string(),
                format!("path `mine` cannot be emulated with a {field}")
            );
            assert!(error.is_wrong_request());
            assert!(
                error
                    .hint()
                    .unwrap()
                    .contains("`sim:PATH` in place of `emu:PATH`")
            );
        }
    }
}
