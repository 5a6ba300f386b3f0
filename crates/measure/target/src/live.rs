//! A host on the network.

use endpoints::{Client, ClientError, Login, PathProbes, Runs};
use observe::{
    DatagramPlan, Datagrams, Observation, Probes, ProbesError, RunObserver, SamplePlan, Setting,
    Target, TargetError, TargetInfo, TargetKind,
};
use units::Address;

/// A host that runs `trunkline serve` or `iperf3 -s`.
#[derive(Debug)]
pub struct LiveHost {
    address: Address,
    login: Option<Login>,
    runs: Runs,
}

impl LiveHost {
    /// The server at `address`; nothing is sent yet.
    pub fn new(address: Address) -> Self {
        LiveHost::for_user(address, None)
    }

    /// The same, as one of the server's users.
    pub fn for_user(address: Address, login: Option<Login>) -> Self {
        LiveHost {
            runs: Runs::new(Client::new(address.clone()).with_login(login.clone())),
            address,
            login,
        }
    }
}

impl Target for LiveHost {
    fn describe(&self) -> TargetInfo {
        TargetInfo {
            name: self.address.to_string(),
            kind: TargetKind::Live,
            limits: sockets::host::limits(),
            congestion: sockets::host::congestion_controls(),
            mover: None,
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        self.runs.observe(setting, plan, watch).map_err(told)
    }

    fn datagrams(
        &mut self,
        plan: &DatagramPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Datagrams, TargetError> {
        let client = Client::new(self.address.clone()).with_login(self.login.clone());
        client.datagrams(plan, watch).map_err(told)
    }

    fn stop(&mut self) {
        self.runs.stop();
    }

    fn probes(&mut self, watch: &mut dyn RunObserver) -> Result<Box<dyn Probes>, ProbesError> {
        let probes =
            PathProbes::connect_as(&self.address, self.login.clone(), watch).map_err(told)?;
        Ok(Box::new(probes))
    }
}

/// The error for the user. A host with the name of a path is mostly that path without its prefix.
fn told(error: ClientError) -> TargetError {
    let path = match &error {
        ClientError::UnknownHost { host, .. } => {
            netpath::presets::names().find(|name| name == host)
        }
        _ => None,
    };
    let hint = path.map(|name| format!("a named path: `sim:{name}` or `emu:{name}`"));
    let error = TargetError::from(error);
    TargetError {
        hint: hint.or(error.hint),
        ..error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_host_with_the_name_of_a_path_is_told_what_it_may_be() {
        let hint = |host: &str| {
            let source = std::io::ErrorKind::NotFound.into();
            let host = host.to_owned();
            told(ClientError::UnknownHost { host, source }).hint
        };
        assert_eq!(
            hint("slac-cern").as_deref(),
            Some("a named path: `sim:slac-cern` or `emu:slac-cern`")
        );
        assert!(hint("dtn").is_some_and(|hint| hint.contains("spelling")));
    }
}
