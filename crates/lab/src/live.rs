//! A host on the network.

use net::{Address, Client, PathProbes, Runs};
use observe::{
    Observation, Probes, ProbesError, SamplePlan, Setting, Target, TargetError, TargetInfo,
    TargetKind, Watch,
};

/// A host that runs `trunkline serve` or `iperf3 -s`.
#[derive(Debug)]
pub struct LiveHost {
    address: Address,
    runs: Runs,
}

impl LiveHost {
    /// The server at `address`; nothing is sent yet.
    pub fn new(address: Address) -> Self {
        LiveHost {
            runs: Runs::new(Client::new(address.clone())),
            address,
        }
    }
}

impl Target for LiveHost {
    fn describe(&self) -> TargetInfo {
        TargetInfo {
            name: self.address.to_string(),
            kind: TargetKind::Live,
            limits: net::host::limits(),
            congestion: net::host::congestion_controls(),
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn Watch,
    ) -> Result<Observation, TargetError> {
        Ok(self.runs.observe(setting, plan, watch)?)
    }

    fn stop(&mut self) {
        self.runs.stop();
    }

    fn probes(&mut self) -> Result<Box<dyn Probes>, ProbesError> {
        Ok(Box::new(PathProbes::connect(&self.address)?))
    }
}
