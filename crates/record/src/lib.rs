//! Result documents: versioned JSON, saved and read again.
//!
//! The structs here *are* the JSON: one field, one key, in base units of the SI; the unit ends the name.
//! They are apart from the types that the algorithms work with, so that either can change alone;
//! `From` and `new` lead from those to these. All raw readings are kept. What was not seen is
//! absent, never zero or `null`. `docs/reference/json.md` and `docs/reference/schema.json` are made from
//! these structs and their comments (`tests/reference.rs`).
//!
//! What is left out: the way back from a document to an `Observation`, so an old run is shown as it
//! was judged then and is not judged anew.
//!
//! Reading order: [`document`] (the envelope), [`measure`] with [`direction`], [`stream`],
//! [`round_trip`] and [`cpu`], then [`tune`](mod@tune), [`demo`], [`simulate`](mod@simulate) with [`path`](mod@path), and
//! [`copy`](mod@copy), [`file`](mod@file) for the disk, [`archive`] for many of them,
//! [`iperf3`] for what another program recorded.

pub mod archive;
mod brief;
pub mod characteristics;
pub mod copy;
pub mod cpu;
pub mod demo;
pub mod direction;
pub mod document;
mod earlier;
pub mod emulation;
pub mod file;
pub mod fit;
pub mod host;
pub mod iperf3;
mod layout;
pub mod limit;
pub mod measure;
pub mod path;
pub mod points;
pub mod predict;
pub mod responsiveness;
pub mod round_trip;
pub mod setting;
pub mod simulate;
pub mod stream;
pub mod sweep;
pub mod sweep_analysis;
pub mod sweep_comparison;
#[cfg(any(test, feature = "synthetic"))]
pub mod synthetic;
pub mod tune;

pub use archive::{Archive, ArchiveError};
pub use characteristics::Characteristics;
pub use copy::{Copy, CopyEventLine, CopyLog, Request as CopyRequest};
pub use cpu::{Cpu, CpuSample, Near, Shares};
pub use demo::{Demo, LabelledRun, Published};
pub use direction::{DirectionFigures, TcpFigures};
pub use document::{AnyDocument, Body, Document, Origin, SCHEMA_VERSION, Schema, now};
pub use emulation::{Count, DuplexCounters, Emulation, LinkCounters, LoadCounters};
pub use file::{LoadError, SaveError, check_target, load, parse, save};
pub use fit::{Fit, FitModel, FitOptimum, FitSpread};
pub use host::Host;
pub use limit::{Cause, Limit};
pub use measure::{Interval, Measure, Peer, Run, Steady, Unsettled};
pub use path::Path;
pub use points::{PointsError, load_points};
pub use predict::{Predict, PredictedPoint};
pub use responsiveness::Responsiveness;
pub use round_trip::{Method, Probe, RoundTrips, Series};
pub use setting::{Direction, HostLimits, Kind, Setting, Target, Window};
pub use simulate::{Campaign, Simulate};
pub use stream::{
    Buffer, Buffers, Counted, Delivery, Progress, Stream, StreamDirection, TcpSample,
};
pub use sweep::{Sweep, SweepCell, SweepPlan};
pub use sweep_analysis::SweepAnalysis;
pub use sweep_comparison::SweepComparison;
pub use tune::{
    Answer, Cost, Doubt, End, Objective, Purpose, Recommended, Sample, Sysctl, ToolSetting, Tune,
};
/// Which characters of a document may not reach a terminal.
pub use wire::copying::steers;
