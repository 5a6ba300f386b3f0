//! The one interface behind which a live, an emulated and a simulated path look alike.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Span};

use crate::{
    DatagramPlan, Datagrams, Fault, Observation, Probes, ProbesError, RunObserver, SamplePlan,
    Setting, TargetError,
};

/// Whatever can carry bulk data under a [`RunObserver`]: a live host, an emulated path, a simulated
/// one.
pub trait Target {
    /// What it is, as far as is known without sending anything.
    fn describe(&self) -> TargetInfo;

    /// Runs one setting and tells what was seen.
    ///
    /// # Errors
    /// When the run could not be carried out: no answer, refused, busy, cancelled.
    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError>;

    /// Ends streams that a run left sending, see [`crate::Then::KeepRunning`], and removes what
    /// runs have left anywhere.
    fn stop(&mut self) {}

    /// What could not be removed from the far end by [`Target::stop`]: a sentence for people
    /// without a full stop.
    fn left_behind(&self) -> Option<String> {
        None
    }

    /// How punctual the path has been since it was opened; `None` where this host does not emulate
    /// it.
    fn punctuality(&self) -> Option<Punctuality> {
        None
    }

    /// How the program behind this target is told to use a setting; `None` where that is trunkline
    /// itself.
    fn command(&self, setting: &Setting) -> Option<MoverCommand> {
        let _ = setting;
        None
    }

    /// What chance decides in the next run follows from `run` and the target's seed alone, and no
    /// longer from how many runs there were before: a series that was interrupted goes on with
    /// draws of its own. A target where nothing is drawn for a run ignores it.
    fn draw_from(&mut self, run: u64) {
        let _ = run;
    }

    /// Sends datagrams at a steady rate and tells what arrived.
    ///
    /// # Errors
    /// As [`Target::observe`], and where the target cannot send any.
    fn datagrams(
        &mut self,
        plan: &DatagramPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Datagrams, TargetError> {
        let _ = (plan, watch);
        Err(TargetError {
            fault: Fault::Run,
            what: format!("{} carries no datagrams at a rate", self.describe().name),
            hint: Some("name a host that runs `trunkline serve` or `iperf3 -s`".to_owned()),
            source: None,
        })
    }

    /// The longest time for which [`Target::datagrams`] takes the rate and size of `plan`; `None`
    /// where there is no bound.
    fn datagrams_time_max(&self, plan: &DatagramPlan) -> Option<Span> {
        let _ = plan;
        None
    }

    /// Small packets through the same path. They can be sent on another thread while
    /// [`Target::observe`] runs.
    ///
    /// # Errors
    /// When the target cannot send any, or does not answer.
    fn probes(&mut self, watch: &mut dyn RunObserver) -> Result<Box<dyn Probes>, ProbesError> {
        let _ = watch;
        Err(ProbesError::Unsupported {
            why: format!(
                "{} takes no small packets beside its streams",
                self.describe().name
            ),
            hint: None,
        })
    }
}

/// What a target is.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetInfo {
    /// The name under which the user gave it.
    pub name: String,
    /// Which way it runs.
    pub kind: TargetKind,
    /// Limits on buffers, where they can be read: this host's of a live target, those of both hosts
    /// of an emulated or simulated one (the smaller, where the two differ).
    pub limits: Option<HostLimits>,
    /// Congestion controls that a run may ask for by this name, the default first; empty where
    /// they are unknown.
    pub congestion: Vec<String>,
    /// What the program behind the target lets its user set; `None` where that is trunkline itself,
    /// which sets everything.
    pub mover: Option<MoverAxes>,
}

/// What a program that moves data lets its user set, and how far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoverAxes {
    /// The most streams that it takes.
    pub streams_max: crate::StreamCount,
    /// Whether it takes a window.
    pub window: bool,
    /// The window that several streams should have from the start: of a program that writes its
    /// streams in turn, so that a full buffer of one holds up the others.
    pub window_in_turn: Option<Bytes>,
    /// Whether it paces its streams.
    pub pacing: bool,
    /// Files at once that are worth trying, in the order in which to try them.
    pub concurrency: Vec<u16>,
    /// The same of requests without an answer.
    pub pipelining: Vec<u16>,
    /// The same of the data of one request, read or write.
    pub block: Vec<Bytes>,
}

/// How a program is told to use a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoverCommand {
    /// The program.
    pub program: String,
    /// A command for a shell; words in capitals are the user's to fill in.
    pub line: String,
    /// What to know about it.
    pub note: Option<String>,
}

/// Which way a target runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A host on the network.
    Live,
    /// A path between two namespaces of this host.
    Emulated,
    /// A path in virtual time.
    Simulated,
}

/// The bounds that a Linux host sets on socket buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostLimits {
    /// `net.core.wmem_max`: the most that `SO_SNDBUF` gives, before doubling.
    #[serde(rename = "send_fixed_max_bytes")]
    pub send_fixed_max: Bytes,
    /// `net.core.rmem_max`: the most that `SO_RCVBUF` gives, before doubling.
    #[serde(rename = "receive_fixed_max_bytes")]
    pub receive_fixed_max: Bytes,
    /// `net.ipv4.tcp_wmem[2]`: how far the kernel grows a send buffer by itself.
    #[serde(rename = "send_auto_max_bytes")]
    pub send_auto_max: Bytes,
    /// `net.ipv4.tcp_rmem[2]`: how far the kernel grows a receive buffer by itself.
    #[serde(rename = "receive_auto_max_bytes")]
    pub receive_auto_max: Bytes,
}

/// How punctually this host handed the packets of an emulated path over: whether it had the time to
/// emulate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Punctuality {
    /// Packets that came out of the path, both ways.
    pub packets: u64,
    /// Those of them that came out later than the bound.
    pub late: u64,
    /// So much after its time a packet counts as late: 1 ms, or 2 % of the path's round trip where
    /// that is more.
    #[serde(rename = "bound_seconds")]
    pub bound: Span,
    /// How late the latest one was, to within a fifth.
    #[serde(rename = "worst_seconds")]
    pub worst: Span,
}

impl Punctuality {
    /// Where more of the packets are late, figures may be this host's and not the path's.
    pub const LATE_SHARE_MAX: f64 = 0.01;

    /// From when on a packet counts as late.
    pub fn bound(base_rtt: Span) -> Span {
        Span::from_millis(1).max(Span::from_nanos(base_rtt.as_nanos() / 50))
    }

    /// Packets that were late, as a share of all.
    pub fn late_share(&self) -> f64 {
        self.late as f64 / self.packets.max(1) as f64
    }

    /// Whether the host was too busy to emulate the path.
    ///
    /// ```
    /// # use observe::Punctuality;
    /// # use units::Span;
    /// let bound = Punctuality::bound(Span::from_millis(100));
    /// assert_eq!(bound, Span::from_millis(2));
    /// let worst = Span::from_millis(38);
    /// assert!(Punctuality { packets: 1000, late: 11, bound, worst }.host_was_busy());
    /// assert!(!Punctuality { packets: 1000, late: 10, bound, worst }.host_was_busy());
    /// ```
    pub fn host_was_busy(&self) -> bool {
        self.late_share() > Self::LATE_SHARE_MAX
    }
}
