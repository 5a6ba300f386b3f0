//! An emulated path together with the traffic that shares it.

use std::net::SocketAddr;

use emu::{FAR_ADDRESS, Network};
use net::{Background, BackgroundSpec, BufferLimit};
use path::{Cross, PathSpec};

use crate::LabError;

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
    pub fn up(path: &PathSpec, seed: u64) -> Result<Self, LabError> {
        emu::enter_user_namespace()?;
        let network = Network::up(path, seed)?;
        let start = |cross| start_cross(&network, path, cross);
        let cross = path.cross.iter().map(start).collect::<Result<_, _>>()?;
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

fn start_cross(network: &Network, path: &PathSpec, cross: &Cross) -> Result<Background, LabError> {
    let any_port = SocketAddr::from((FAR_ADDRESS, 0));
    let listener = network.far().run(|| Background::listen(any_port))?;
    let listener = listener.map_err(LabError::CrossListener)?;
    let spec = BackgroundSpec {
        streams: cross.streams,
        window: cross.window,
        limit: BufferLimit::Lifted,
        congestion: path.hosts.congestion.clone(),
    };
    let background = network.near().run(|| Background::start(&listener, &spec))?;
    Ok(background?)
}
