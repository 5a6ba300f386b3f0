//! A simulated path: packets in virtual time, reproducible to the last of them.
//!
//! A run that is to keep running stands still between two observations: virtual time passes only
//! during an observation.

mod buffers;
mod datagrams;
mod probes;
mod readings;
mod run;
mod stage;

use netpath::PathSpec;
use observe::{
    DatagramPlan, Datagrams, Direction, Fault, Observation, Probes, ProbesError, RunObserver,
    SamplePlan, Setting, Target, TargetError, TargetInfo, TargetKind, Then, Transport,
};
use sim::{Scenario, Variant};
use units::{Bytes, Span};

use crate::limits;
use buffers::StreamBuffers;
use probes::SimulatedProbes;
use run::Run;
use stage::Stage;

/// TCP header without options: beside IP's, what `TCP_MAXSEG` leaves of a packet.
const TCP_HEADER: u16 = 20;
/// UDP, QUIC's short header with a connection's identity of 8 and a number of 2 bytes (RFC 9000,
/// section 17.3.1), a STREAM frame's head (section 19.8) and the tag of AES-GCM.
const HEADERS_UDP: u16 = 8 + 11 + 11 + 16;

/// A target that is calculated. Each run has a seed of its own, which follows from the target's.
#[derive(Debug)]
pub struct SimulatedPath {
    path: PathSpec,
    seed: u64,
    runs: u64,
    /// The run whose streams were left sending.
    kept: Option<Run>,
}

impl SimulatedPath {
    /// The path `path`; `seed` decides all that is left to chance.
    pub fn new(path: &PathSpec, seed: u64) -> Self {
        SimulatedPath {
            path: path.clone(),
            seed,
            runs: 0,
            kept: None,
        }
    }

    /// The setting with what the path says where the setting leaves it open.
    fn complete(&self, setting: &Setting) -> Setting {
        let own = || self.path.hosts.congestion.clone();
        let is_tcp = setting.transport == Transport::Tcp;
        Setting {
            congestion: setting.congestion.clone().or(is_tcp.then(own)),
            ..setting.clone()
        }
    }

    /// What a run of `setting` simulates, its times left at their defaults: for runs of other
    /// lengths, which the crate `campaign` can keep.
    ///
    /// # Errors
    /// When the setting asks for something that is not simulated.
    ///
    /// ```
    /// use observe::{Setting, StreamCount, Window};
    /// use units::Bytes;
    /// let path = netpath::PathSpec::load("lan").unwrap();
    /// let lan = target::SimulatedPath::new(&path, 1);
    /// let setting = Setting::new(StreamCount::ONE, Window::Fixed(Bytes::from_kib(64)));
    /// // Of a buffer of 64 KiB, which the kernel doubles, 80 KiB are offered as window.
    /// assert_eq!(lan.scenario(&setting, 7).unwrap().window, Some(Bytes::from_kib(80)));
    /// ```
    pub fn scenario(&self, setting: &Setting, seed: u64) -> Result<Scenario, TargetError> {
        let setting = self.complete(setting);
        let mut scenario = self.unbounded(&setting)?;
        scenario.seed = seed;
        scenario.window = Some(buffers_of(&setting, &scenario).window());
        Ok(scenario)
    }

    /// The scenario of the next run, without the bound that its buffers set.
    fn next_scenario(&mut self, setting: &Setting) -> Result<Scenario, TargetError> {
        let mut scenario = self.unbounded(setting)?;
        scenario.seed = seed_of_run(self.seed, self.runs);
        self.runs += 1;
        Ok(scenario)
    }

    /// A run from its beginning.
    fn begin(&mut self, setting: &Setting, plan: &SamplePlan) -> Result<Run, TargetError> {
        let scenario = self.next_scenario(setting)?;
        let buffers = buffers_of(setting, &scenario);
        Run::new(scenario, buffers, setting, plan)
    }

    fn unbounded(&self, setting: &Setting) -> Result<Scenario, TargetError> {
        if let Some(option) = setting.only_of_tcp() {
            return Err(refusal(
                format!("`{option}` is for TCP, and this run goes over UDP"),
                "leave out one of the two".to_owned(),
            ));
        }
        let path = self.path_for(setting)?;
        let mut scenario = match setting.transport {
            Transport::Tcp => Scenario::of(path, variant(setting)?),
            Transport::Udp => over_udp(path),
        };
        scenario.streams = setting.streams.get().into();
        scenario.pacing = setting.pacing;
        Ok(scenario)
    }

    /// The path as the data of `setting` goes.
    fn path_for(&self, setting: &Setting) -> Result<PathSpec, TargetError> {
        let mut path = match setting.direction {
            Direction::Forward => self.path.clone(),
            Direction::Reverse => self.reversed()?,
            Direction::Both => {
                return Err(refusal(
                    "a simulated path carries data one way at a time".to_owned(),
                    self.emulate("carries both"),
                ));
            }
        };
        if let Some(size) = setting.mss {
            let headers = path.hosts.ip_header() + TCP_HEADER;
            path.hosts.mtu = path.hosts.mtu.min(size.saturating_add(headers));
        }
        Ok(path)
    }

    /// The path with its links exchanged.
    fn reversed(&self) -> Result<PathSpec, TargetError> {
        match self.path.cross.is_empty() {
            true => Ok(self.path.exchanged()),
            false => Err(refusal(
                "the cross traffic of a simulated path goes the way of the data, and not against it"
                    .to_owned(),
                self.emulate("keeps it on the forward link"),
            )),
        }
    }

    fn emulate(&self, does: &str) -> String {
        format!("`emu:{}` {does}", self.path.name)
    }
}

impl Target for SimulatedPath {
    fn describe(&self) -> TargetInfo {
        let hosts = &self.path.hosts;
        TargetInfo {
            name: format!("sim:{}", self.path.name),
            kind: TargetKind::Simulated,
            limits: Some(limits(hosts)),
            congestion: congestion_controls(&hosts.congestion),
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
        let kept = self.kept.take();
        let mut run = match kept.and_then(|run| run.grown(&setting, plan)) {
            Some(grown) => grown,
            None => self.begin(&setting, plan)?,
        };
        let observation = Stage::of(&mut run, plan, watch).observe()?;
        self.kept = (plan.then == Then::KeepRunning).then_some(run);
        Ok(observation)
    }

    fn datagrams(
        &mut self,
        plan: &DatagramPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Datagrams, TargetError> {
        let seed = seed_of_run(self.seed, self.runs);
        self.runs += 1;
        let probes = SimulatedProbes::new(&self.path, seed).map_err(datagrams::told)?;
        datagrams::datagrams(&self.path, probes, plan, watch)
    }

    fn datagrams_time_max(&self, plan: &DatagramPlan) -> Option<Span> {
        datagrams::time_max(plan)
    }

    fn stop(&mut self) {
        self.kept = None;
    }

    fn draw_from(&mut self, run: u64) {
        self.runs = run;
    }

    fn probes(&mut self, _watch: &mut dyn RunObserver) -> Result<Box<dyn Probes>, ProbesError> {
        let seed = seed_of_run(self.seed, self.runs);
        self.runs += 1;
        Ok(Box::new(SimulatedProbes::new(&self.path, seed)?))
    }
}

/// The path's own first, then the others that a Linux host would have under these names.
fn congestion_controls(own: &str) -> Vec<String> {
    let others = Variant::KERNEL_NAMES.into_iter();
    let others = others.filter(|name| *name != own);
    std::iter::once(own)
        .chain(others)
        .map(str::to_owned)
        .collect()
}

/// Streams over UDP on this path.
fn over_udp(path: PathSpec) -> Scenario {
    let header = path.hosts.ip_header() + HEADERS_UDP;
    let mut scenario = Scenario::of(path, Variant::PathModel);
    scenario.tcp.header = Bytes::new(header.into());
    scenario
}

fn buffers_of(setting: &Setting, scenario: &Scenario) -> StreamBuffers {
    let segment = Bytes::new(scenario.path.mtu().into()) - scenario.tcp.header;
    match setting.transport {
        Transport::Tcp => StreamBuffers::of(setting, &scenario.path.hosts, segment),
        Transport::Udp => StreamBuffers::over_udp(),
    }
}

/// By the kernel's name or the simulator's own.
fn variant(setting: &Setting) -> Result<Variant, TargetError> {
    let name = setting.congestion.as_deref().unwrap_or_default();
    let found = Variant::of_kernel(name).map_or_else(|| name.parse(), Ok);
    found.map_err(|error: sim::VariantError| {
        refusal(
            error.to_string(),
            "an emulated path (`emu:PATH`) takes whatever this kernel has".to_owned(),
        )
    })
}

/// Vigna's SplitMix64: seeds that differ by one give generators that have nothing in common.
pub(crate) fn seed_of_run(seed: u64, run: u64) -> u64 {
    let mut mixed = seed.wrapping_add((run + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn refusal(what: String, hint: String) -> TargetError {
    failure(Fault::Request, what, Some(hint))
}

fn failure(fault: Fault, what: String, hint: Option<String>) -> TargetError {
    TargetError {
        fault,
        what,
        hint,
        source: None,
    }
}

#[cfg(test)]
mod tests;
