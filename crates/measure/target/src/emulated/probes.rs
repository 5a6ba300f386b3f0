//! Small packets that are sent at the near host of an emulated path.

use emu::Namespace;
use endpoints::PathProbes;
use observe::{
    Flow, FlowPlan, Passages, PathMtu, ProbeSeries, Probes, ProbesError, RunObserver, SizedEcho,
    SizedHop, SizedPlan, TargetError, Trace, TracePlan, Train, Way,
};
use units::{Address, Span};

use super::namespace_lost;

/// Probes whose every call goes to the near host, whichever thread makes it.
#[derive(Debug)]
pub(super) struct NearProbes {
    near: Namespace,
    probes: PathProbes,
}

impl NearProbes {
    /// Looks for the server at `address` from there.
    pub(super) fn connect(
        near: Namespace,
        address: &Address,
        watch: &mut dyn RunObserver,
    ) -> Result<Self, ProbesError> {
        let probes = near.run(|| PathProbes::connect(address, watch));
        let probes = probes.map_err(namespace_lost)?.map_err(TargetError::from)?;
        Ok(NearProbes { near, probes })
    }

    fn there<T: Send>(
        &mut self,
        work: impl FnOnce(&mut PathProbes) -> Result<T, ProbesError> + Send,
    ) -> Result<T, ProbesError> {
        let probes = &mut self.probes;
        self.near.run(|| work(probes)).map_err(namespace_lost)?
    }
}

impl Probes for NearProbes {
    fn round_trips(
        &mut self,
        lasting: Span,
        watch: &mut dyn RunObserver,
    ) -> Result<ProbeSeries, ProbesError> {
        self.there(|probes| probes.round_trips(lasting, watch))
    }

    fn train(
        &mut self,
        way: Way,
        train: &Train,
        watch: &mut dyn RunObserver,
    ) -> Result<Passages, ProbesError> {
        self.there(|probes| probes.train(way, train, watch))
    }

    fn pause(&mut self, span: Span) {
        self.probes.pause(span);
    }

    fn trace(
        &mut self,
        plan: &TracePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Trace, ProbesError> {
        self.there(|probes| probes.trace(plan, watch))
    }

    fn sized_hops(
        &mut self,
        plan: &SizedPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Vec<SizedHop>, ProbesError> {
        self.there(|probes| probes.sized_hops(plan, watch))
    }

    fn sized_echoes(
        &mut self,
        sizes: &[u16],
        watch: &mut dyn RunObserver,
    ) -> Result<Vec<SizedEcho>, ProbesError> {
        self.there(|probes| probes.sized_echoes(sizes, watch))
    }

    fn flows(
        &mut self,
        plan: &FlowPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Vec<Flow>, ProbesError> {
        self.there(|probes| probes.flows(plan, watch))
    }

    fn trace_back(&mut self, watch: &mut dyn RunObserver) -> Result<Trace, ProbesError> {
        self.there(|probes| probes.trace_back(watch))
    }

    fn path_mtu(&mut self, watch: &mut dyn RunObserver) -> Result<PathMtu, ProbesError> {
        self.there(|probes| probes.path_mtu(watch))
    }
}
