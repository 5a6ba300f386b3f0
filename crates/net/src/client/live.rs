//! A host on the network as a target.

use observe::{
    Observation, SamplePlan, Setting, Target, TargetError, TargetInfo, TargetKind, Watch,
};

use super::Client;
use crate::host;

impl Target for Client {
    fn describe(&self) -> TargetInfo {
        TargetInfo {
            name: self.address.to_string(),
            kind: TargetKind::Live,
            limits: host::limits(),
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn Watch,
    ) -> Result<Observation, TargetError> {
        Ok(self.run(setting, plan, watch)?)
    }
}
