//! The vocabulary of a measurement: what a run is asked for, what it showed, and who runs it.
//!
//! A [`Target`] carries bulk data under a [`RunObserver`]: a live host, an emulated path, a
//! simulated one. It is asked for a [`Setting`] under a [`SamplePlan`] and
//! answers with an [`Observation`]. The tuner, the reports and the documents know only these types.
//!
//! What is left out: file transfer, and settings that change while data flows, but for streams that
//! join ([`Then::KeepRunning`]). What a target could not see is absent (`None` or an empty series),
//! never zero.
//!
//! Reading order: [`transport`], [`setting`], [`observation`], [`tcp`], [`round_trip`], [`target`],
//! [`probes`], [`datagrams`]; then what is derived from them: [`analysis`], [`limit`].

pub mod analysis;
pub mod datagrams;
mod least_delays;
pub mod limit;
mod losses;
mod multipath;
pub mod observation;
pub mod probes;
pub mod round_trip;
mod run_observer;
pub mod setting;
pub mod target;
mod target_error;
pub mod tcp;
pub mod thinned;
pub mod transport;

pub use analysis::{
    DirectionSummary, Goodput, Lacking, RateInterval, Steadiness, SteadyWindow, StreamGoodput,
    Summary, TcpSummary, Unsettled,
};
pub use datagrams::{DatagramPlan, DatagramStream, DatagramTotals, Datagrams};
pub use errors::Fault;
pub use least_delays::LeastDelays;
pub use limit::{Limit, Verdict};
pub use losses::LossPattern;
pub use multipath::{Multipath, MultipathConnection, Subflow};
pub use observation::{
    Buffer, Buffers, Counted, CpuSample, Delivery, Observation, Peer, Progress, Stream,
    StreamDirection, TerminalCpu,
};
pub use probes::{
    Clocks, Flow, FlowPlan, Hop, HopAnswer, HopProbe, Passage, Passages, PathMtu, Probes,
    ProbesError, SizedEcho, SizedHop, SizedPlan, SizedProbe, Stamped, Trace, TracePlan,
    TraceProtocol, Train,
};
pub use round_trip::{Probe, ProbeMethod, ProbeSeries, RoundTrips};
pub use run_observer::{RunObserver, Snapshot};
pub use setting::{Amount, Moving, Precision, SamplePlan, Setting, StreamCount, Then, Window};
pub use target::{
    HostLimits, MoverAxes, MoverCommand, Punctuality, Target, TargetInfo, TargetKind,
};
pub use target_error::TargetError;
pub use tcp::TcpSample;
pub use thinned::Thinned;
pub use transport::{Transport, UDP_CONTROL};
pub use units::{Direction, Way};
