//! Result documents: versioned JSON, saved and read again.
//!
//! One field, one key, in base units of the SI; the unit ends the name. Readings and words are
//! types of `observe`, `netpath` and other crates, which derive their keys; the structs here add
//! what only a document has, and `From` and `new` make them. All raw readings are kept. What was
//! not seen is absent, never zero or `null`. `docs/reference/json.md` and
//! `docs/reference/schema.json` are made from the types and their comments (`tests/reference.rs`).
//!
//! What is left out: the way back from a document to an `Observation`, so an old run is shown as it
//! was judged then and is not judged anew.
//!
//! Reading order: [`document`] (the envelope), [`measure`] with [`direction`], [`stream`],
//! [`round_trip`] and [`cpu`], then [`tune`](mod@tune), [`demo`], [`simulate`](mod@simulate) with
//! [`path`](mod@path), and [`copy`](mod@copy), [`file`](mod@file) for the disk, [`iperf3`] for what
//! another program recorded. The crate `archive` keeps many of them.

pub mod beside;
mod brief;
pub mod characteristics;
pub mod copy;
pub mod cpu;
pub mod datagrams;
pub mod demo;
pub mod direction;
pub mod document;
mod earlier;
pub mod emulation;
pub mod file;
pub mod fit;
pub mod host;
pub mod iperf3;
pub mod layout;
pub mod measure;
mod optional;
pub mod path;
pub mod points;
pub mod predict;
pub mod responsiveness;
pub mod round_trip;
pub mod simulate;
pub mod steady;
pub mod stream;
pub mod sweep;
pub mod sweep_comparison;
#[cfg(any(test, feature = "synthetic"))]
pub mod synthetic;
mod target;
pub mod tune;

pub use ::sweep::SweepAnalysis;
pub use ::tune::advice::{End, SysctlLine as Sysctl};
pub use ::tune::{Cost, Objective, Purpose};
pub use beside::{Beside, BesideSetting};
pub use characteristics::Characteristics;
pub use copy::{Copy, CopyLog, Request as CopyRequest};
pub use cpu::{Cpu, Near, Shares};
pub use datagrams::Datagrams;
pub use demo::{Demo, LabelledRun, Published};
pub use direction::DirectionFigures;
pub use document::{AnyDocument, Body, Document, Origin, SCHEMA_VERSION, Schema, now};
pub use emulation::{DuplexCounters, Emulation, LinkCounters, LoadCounters};
pub use file::{LoadError, SaveError, check_target, load, parse, save};
pub use fit::{Fit, FitModel};
pub use host::Host;
pub use link::Count;
pub use measure::{Measure, Run};
pub use observe::{
    Buffer, Buffers, Counted, CpuSample, Delivery, Direction, HostLimits, Limit, Multipath, Peer,
    Probe, ProbeMethod as Method, Progress, Punctuality, RateInterval as Interval, Setting,
    StreamCount, StreamDirection, Subflow, TargetKind as Kind, TcpSample, TcpSummary, Transport,
    Verdict as Cause, Window,
};
pub use path::Path;
pub use points::{PointsError, load_points};
pub use predict::Predict;
pub use responsiveness::Responsiveness;
pub use round_trip::{RoundTrips, Series};
pub use simulate::{Campaign, FluidSimulation, Simulate};
pub use steady::{Steady, Unsettled};
pub use stream::Stream;
pub use sweep::{Sweep, SweepCell, SweepPlan};
pub use sweep_comparison::SweepComparison;
pub use target::Target;
pub use tune::{
    Answer, Confirmation, Doubt, FailedSample, Promise, Recommended, Sample, ToolSetting, Tune,
};
