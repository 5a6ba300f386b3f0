//! An emulated path with our own server at its far end.

mod probes;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use emu::EmuError;
use endpoints::{BindError, Client, Runs, Server, ServerLimits};
use netpath::{Hosts, PathSpec};
use observe::{
    DatagramPlan, Datagrams, Fault, Observation, Probes, ProbesError, Punctuality, RunObserver,
    SamplePlan, Setting, Target, TargetError, TargetInfo, TargetKind, Transport,
};
use sockets::BufferLimit;
use units::{Address, PORT_DEFAULT};

use crate::{EmulatedNetwork, OpenError, limits};
use probes::NearProbes;

/// A target whose both ends are on this host, with an emulated path between them.
#[derive(Debug)]
pub struct EmulatedPath {
    path: PathSpec,
    // Dropped before the server, which they end at.
    runs: Runs,
    // Dropped before the network that it serves on.
    _server: FarServer,
    network: EmulatedNetwork,
}

impl EmulatedPath {
    /// Brings up `path` and the server at its far end; `seed` decides which packets are lost.
    ///
    /// # Errors
    /// When the user lacks a right or the kernel lacks a part.
    pub fn up(path: &PathSpec, seed: u64) -> Result<Self, OpenError> {
        let network = EmulatedNetwork::up(path, seed)?;
        let client = Client::new(far_server(&path.hosts)).with_buffers(BufferLimit::Lifted);
        Ok(EmulatedPath {
            path: path.clone(),
            runs: Runs::new(client),
            _server: FarServer::start(&network, &path.hosts)?,
            network,
        })
    }

    /// That of the path's hosts, then what this kernel has besides.
    fn congestion(&self) -> Vec<String> {
        let own = self.path.hosts.congestion.clone();
        let mut others = sockets::host::congestion_controls();
        others.retain(|name| *name != own);
        std::iter::once(own).chain(others).collect()
    }

    /// The setting with what the path says where the setting leaves it open.
    fn complete(&self, setting: &Setting) -> Setting {
        if setting.transport == Transport::Udp {
            return setting.clone();
        }
        let congestion = setting.congestion.clone();
        Setting {
            congestion: congestion.or_else(|| Some(self.path.hosts.congestion.clone())),
            ..setting.clone()
        }
    }
}

impl Target for EmulatedPath {
    fn describe(&self) -> TargetInfo {
        let hosts = &self.path.hosts;
        TargetInfo {
            name: format!("emu:{}", self.path.name),
            kind: TargetKind::Emulated,
            limits: Some(limits(hosts)),
            congestion: self.congestion(),
            mover: None,
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        let setting = self.complete(setting);
        let near = self.network.network().near();
        let observed = near.run(|| self.runs.observe(&setting, plan, watch));
        match observed.map_err(namespace_lost)? {
            Err(_) if !self.network.network().is_carrying() => Err(path_down()),
            other => Ok(other?),
        }
    }

    fn datagrams(
        &mut self,
        plan: &DatagramPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Datagrams, TargetError> {
        let near = self.network.network().near();
        let client = Client::new(far_server(&self.path.hosts));
        let seen = near.run(|| client.datagrams(plan, watch));
        match seen.map_err(namespace_lost)? {
            Err(_) if !self.network.network().is_carrying() => Err(path_down()),
            other => Ok(other?),
        }
    }

    fn punctuality(&self) -> Option<Punctuality> {
        self.network.punctuality(&self.path)
    }

    fn stop(&mut self) {
        self.runs.stop();
    }

    fn probes(&mut self, watch: &mut dyn RunObserver) -> Result<Box<dyn Probes>, ProbesError> {
        let near = self.network.network().near().clone();
        Ok(Box::new(NearProbes::connect(
            near,
            &far_server(&self.path.hosts),
            watch,
        )?))
    }
}

/// Where the server at the far end listens.
fn far_server(hosts: &Hosts) -> Address {
    let [_, far] = emu::addresses(hosts);
    Address::new(far.to_string(), PORT_DEFAULT)
}

fn path_down() -> TargetError {
    TargetError {
        fault: Fault::Run,
        what: "the emulated path has stopped carrying packets: one of its devices failed"
            .to_owned(),
        hint: Some("try again; if it happens again, please report it".to_owned()),
        source: None,
    }
}

fn namespace_lost(error: EmuError) -> TargetError {
    TargetError {
        fault: Fault::Run,
        what: "the near host of the path could not be entered".to_owned(),
        hint: None,
        source: Some(Box::new(error)),
    }
}

/// A trunkline server in the far namespace, until dropped.
#[derive(Debug)]
struct FarServer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl FarServer {
    fn start(network: &EmulatedNetwork, hosts: &Hosts) -> Result<Self, OpenError> {
        let far = network.network().far();
        let server = far.run(|| bind(hosts))??;
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        // What goes wrong in a session shows at the client, which is ours.
        let thread = far.spawn("server", move || server.run(&asked, &|_| {}))?;
        Ok(FarServer {
            stop,
            thread: Some(thread),
        })
    }
}

fn bind(hosts: &Hosts) -> Result<Server, BindError> {
    let [_, far] = emu::addresses(hosts);
    let address = SocketAddr::from((far, PORT_DEFAULT));
    let limits = ServerLimits {
        buffers: BufferLimit::Lifted,
        // This process is the only client.
        sessions_per_address: ServerLimits::default().sessions,
        ..ServerLimits::default()
    };
    Server::bind(address, limits)
}

impl Drop for FarServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netpath::Way;
    use observe::{StreamCount, Then, Window};
    use units::{Rate, Span};

    #[test]
    fn streams_join_on_an_emulated_path() {
        streams_join("");
    }

    #[test]
    fn streams_join_over_ipv6() {
        streams_join("[hosts]\nipv6 = true\n");
    }

    #[test]
    fn datagrams_cross_an_emulated_path() {
        if !testkit::can_emulate() {
            return;
        }
        let link = "[forward]\nrate = \"10Mbit/s\"\ndelay = \"2ms\"\n\
                    queue = { kind = \"drop-tail\", limit = \"20packets\" }\n";
        let path = PathSpec::from_toml("mine", link).unwrap();
        let mut target = EmulatedPath::up(&path, 1).unwrap();
        for (mbit, carried) in [(2, true), (40, false)] {
            let rate = Rate::from_bits_per_second(mbit * 1_000_000);
            let plan = DatagramPlan::new(Some(rate), Span::from_secs(1));
            let seen = target.datagrams(&plan, &mut ()).unwrap();
            let totals = seen.totals(Way::Forward).unwrap();
            assert!(totals.arrived > 50, "{totals:?}");
            // A busy host sends less of 40 Mbit/s, and still more than passes.
            assert!(totals.goodput.as_f64() < 10.5e6, "{totals:?}");
            assert_eq!(totals.lost_on_path() > 0, !carried, "{totals:?}");
        }
    }

    fn streams_join(hosts: &str) {
        if !testkit::can_emulate() {
            return;
        }
        let link = "[forward]\nrate = \"20Mbit/s\"\ndelay = \"2ms\"\n\
                    queue = { kind = \"drop-tail\", limit = \"60packets\" }\n";
        let path = PathSpec::from_toml("mine", &format!("{link}{hosts}")).unwrap();
        let mut target = EmulatedPath::up(&path, 1).unwrap();
        assert_eq!(target.describe().congestion[0], path.hosts.congestion);
        let plan = SamplePlan {
            unloaded: Span::ZERO,
            then: Then::KeepRunning,
            ..SamplePlan::lasting(Span::from_secs(1))
        };
        let mut grown_from = None;
        for streams in [1, 4] {
            let streams = StreamCount::new(streams).unwrap();
            let setting = Setting::new(streams, Window::Auto);
            let seen = target.observe(&setting, &plan, &mut ()).unwrap();
            assert_eq!(seen.grown_from, grown_from);
            assert_eq!(seen.streams.len(), usize::from(streams.get()));
            grown_from = Some(streams);
        }
        let seen = target.punctuality().unwrap();
        assert!(seen.packets > 1000 && seen.late <= seen.packets, "{seen:?}");
        target.stop();
    }
}
