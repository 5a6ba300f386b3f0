//! What can be written after `trunkline`. Flags mean what iperf3's users expect.

mod campaign;
mod copy;
mod copy_far;
mod examine;
mod foreign;
mod history;
mod limit;
mod manual;
mod predict;
mod serve;
mod simulate;
mod sweep;
mod tune;
mod watch;

use std::ffi::OsString;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgGroup, Args, Parser, Subcommand};
use trunkline::measure::{StreamCount, Window};
use trunkline::units::{Bytes, Rate, Span};
use trunkline::{Error, TargetName};

pub(crate) use campaign::{
    Campaign, CampaignCommand, CampaignPlan, CampaignRun, CampaignSlurm, CampaignStatus,
    CampaignVerify, Shard,
};
pub(crate) use copy::{Attribute, Connect, Copy, Objective as CopyObjective};
pub(crate) use copy_far::CopyFar;
pub(crate) use foreign::{Refused, parse};

pub(crate) use examine::{PathOf, Responsiveness};
pub(crate) use history::{History, Keep};
pub(crate) use limit::{Limit, LimitOf};
pub(crate) use manual::{Completion, Man};
pub(crate) use predict::Predict;
pub(crate) use serve::Serve;
pub(crate) use simulate::{Compat, Simulate};
pub(crate) use sweep::Sweep;
pub(crate) use tune::{Axis, Objective, Tune};
pub(crate) use watch::{
    TestAlerts, Watch, WatchCheck, WatchCommand, WatchDemo, WatchForecast, WatchRun, WatchServe,
};

/// Finds how bulk data moves fastest over a long, fat network, and what limits it.
///
/// A TARGET is a host that runs `trunkline serve` or `iperf3 -s`, as `HOST`, `HOST:PORT` or
/// `[V6]:PORT`, an emulated path on this host, as `emu:NAME` or `emu:FILE`, or a simulated one, as
/// `sim:NAME` or `sim:FILE`.
#[derive(Debug, Parser)]
#[command(
    name = "trunkline",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(Demo),
    Serve(Serve),
    Copy(Box<Copy>),
    /// What ssh starts at the far end of a copy
    #[command(name = trunkline::copy::FAR_COMMAND, hide = true)]
    CopyFar(CopyFar),
    Limit(Limit),
    Campaign(Campaign),
    Tune(Tune),
    Measure(Measure),
    Sweep(Box<Sweep>),
    Path(PathOf),
    Responsiveness(Responsiveness),
    Watch(Watch),
    Emulate(Emulate),
    Simulate(Box<Simulate>),
    Predict(Predict),
    Report(Report),
    History(History),
    Completion(Completion),
    Man(Man),
}

/// See it work on this machine alone
///
/// Emulates SLAC to CERN as it was in 2000, shows one default stream, the two settings published
/// then, and the one that the tuner finds, with the kernel's real TCP.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    #[command(flatten)]
    pub seed: Seed,

    /// Print one JSON document on standard output; text goes to standard error
    #[arg(long)]
    pub json: bool,

    /// Save the JSON document
    #[arg(long, value_name = "FILE.json")]
    pub save: Option<PathBuf>,

    /// Where to write the page; it opens in any browser, without a network
    #[arg(
        long,
        visible_alias = "html",
        value_name = "FILE.html",
        default_value = "demo.html"
    )]
    pub report: PathBuf,

    #[command(flatten)]
    pub keep: Keep,
}

impl Demo {
    /// Where the result goes: a page always.
    pub(crate) fn output(&self) -> Output {
        Output {
            json: self.json,
            brief: false,
            save: self.save.clone(),
            report: Some(self.report.clone()),
        }
    }
}

/// Measure one setting in detail
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  trunkline measure emu:slac-cern -P 8 -w 64k\n  \
    trunkline measure dtn.example.org -P 4 -t 30s -R --json"
)]
pub(crate) struct Measure {
    #[command(flatten)]
    pub target: Target,

    /// Parallel streams, 1 to 128
    #[arg(short = 'P', long, value_name = "COUNT", default_value_t = StreamCount::ONE)]
    pub streams: StreamCount,

    /// Socket buffers: `auto` leaves them to the kernel, a size like `512k` or `4M` fixes them
    #[arg(short, long, value_name = "SIZE", default_value = "auto", value_parser = window)]
    pub window: Window,

    /// How long to send: `10`, `10s`, `2min`
    #[arg(short = 't', long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub duration: Span,

    /// How much to send over all streams together, instead of how long: `500M`
    #[arg(short = 'n', long, value_name = "SIZE", conflicts_with = "duration", value_parser = bytes)]
    pub bytes: Option<Bytes>,

    /// Upper bound on each stream's rate: `100M`
    #[arg(long, value_name = "RATE", visible_alias = "fq-rate", value_parser = pacing)]
    pub pacing: Option<Rate>,

    #[command(flatten)]
    pub way: Way,
    #[command(flatten)]
    pub tcp: Tcp,
    #[command(flatten)]
    pub output: RowsOutput,
    #[command(flatten)]
    pub keep: Keep,
}

/// Run any program across an emulated path
///
/// The program finds the far host under the name `far` (198.18.0.2) and is itself on `near`
/// (198.18.0.1). When it ends, everything that was started ends with it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    trunkline emulate slac-cern --far 'iperf3 -s -1' -- iperf3 -c far -P 8 -t 10")]
pub(crate) struct Emulate {
    /// A named path or a path file; `emu:` before it is taken, too
    pub path: String,

    /// Shell command to run on the far host; started first
    #[arg(long, value_name = "COMMAND")]
    pub far: Option<String>,

    #[command(flatten)]
    pub seed: Seed,

    /// Print the counters of both directions as one JSON document on standard output; what the
    /// programs print goes to standard error
    #[arg(long)]
    pub json: bool,

    /// Write a page that opens in any browser, without a network
    #[arg(long, visible_alias = "html", value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// The program to run on the near host, with its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Show a saved document again, as text or as a page
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A document saved with `--save` or printed with `--json`
    pub file: PathBuf,

    /// Write a page that opens in any browser, without a network
    #[arg(long, visible_alias = "html", value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Write the plots of the document as SVG files into this folder
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
}

/// Where to send, and what chance decides on the way.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// `HOST[:PORT]`, or `emu:PATH` or `sim:PATH` with a named path or a path file
    #[arg(value_name = "TARGET")]
    pub name: String,

    /// The server's port, where the target names none
    #[arg(short, long, default_value_t = trunkline::PORT_DEFAULT)]
    pub port: u16,

    #[command(flatten)]
    pub seed: Seed,
}

impl Target {
    /// The name, read; a path file is read with it.
    pub(crate) fn parse(&self) -> Result<TargetName, Error> {
        Ok(TargetName::parse(&self.name, self.port)?)
    }

    /// Opens what the name was read as.
    pub(crate) fn open(&self, name: TargetName) -> Result<trunkline::Target, Error> {
        trunkline::Target::open_named(name, self.seed.seed)
    }
}

/// Which end sends.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("way")))]
pub(crate) struct Way {
    /// The far end sends
    #[arg(short = 'R', long, group = "way")]
    pub reverse: bool,

    /// Both ends send at once
    #[arg(long, group = "way")]
    pub bidir: bool,
}

/// What the kernel is asked to use.
#[derive(Debug, Args)]
pub(crate) struct Tcp {
    /// Congestion control by its kernel name: `cubic`, `reno`, `bbr`; on a simulated path also by
    /// the simulator's
    #[arg(short = 'C', long, value_name = "NAME")]
    pub congestion: Option<String>,

    /// Maximum segment size in bytes
    #[arg(short = 'M', long = "set-mss", value_name = "BYTES", value_parser = clap::value_parser!(u16).range(88..=32767))]
    pub mss: Option<u16>,
}

/// Where the result goes.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Print one JSON document on standard output; text goes to standard error
    #[arg(long)]
    pub json: bool,

    /// Leave the raw readings out of the document of `--json` and `--save`: it is much smaller, and
    /// pages made of it have no plots over time
    #[arg(long)]
    pub brief: bool,

    /// Save the JSON document
    #[arg(long, value_name = "FILE.json")]
    pub save: Option<PathBuf>,

    /// Write a page that opens in any browser, without a network
    #[arg(long, visible_alias = "html", value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// The same for results that are rows.
#[derive(Debug, Args)]
pub(crate) struct RowsOutput {
    #[command(flatten)]
    pub output: Output,

    /// Print comma-separated values, one line for each setting or visit
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Seed {
    /// Decides which packets an emulated path loses, and everything that chance does on a simulated
    /// one
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// A time; a bare number means seconds, as for iperf3.
fn duration(text: &str) -> Result<Span, String> {
    // iperf3 counts in whole seconds, and no figure means anything for less; a day is its bound.
    let bounds = Span::from_secs(1)..=Span::from_secs(86_400);
    let seconds = text.parse::<u32>().map(|seconds| format!("{seconds}s"));
    within(seconds.as_deref().unwrap_or(text), bounds)
}

/// A window from one page up to the largest that servers take.
fn window(text: &str) -> Result<Window, String> {
    match text {
        "auto" => Ok(Window::Auto),
        size => {
            within(size, Bytes::from_kib(4)..=trunkline::measure::WINDOW_MAX).map(Window::Fixed)
        }
    }
}

/// A number of bytes to send: something, and less than a day carries at 100 Gbit/s.
fn bytes(text: &str) -> Result<Bytes, String> {
    within(text, Bytes::new(1)..=Bytes::new(1_000_000_000_000_000))
}

/// A rate that a packet can still be sent at within a few seconds, and that no host reaches.
fn pacing(text: &str) -> Result<Rate, String> {
    let bounds = Rate::from_bits_per_second(10_000)..=Rate::from_bits_per_second(1_000_000_000_000);
    in_bits(text, within(text, bounds))
}

/// The refusal of a rate, where it counts bytes with what to write instead.
fn in_bits(text: &str, rate: Result<Rate, String>) -> Result<Rate, String> {
    rate.map_err(|refusal| {
        let size = text.strip_suffix("/s").or(text.strip_suffix("ps"));
        let size = size.unwrap_or(text);
        let bytes = size.parse::<Bytes>().ok().filter(|_| size.ends_with('B'));
        let rate = bytes.map(|bytes| Rate::of(bytes, Span::from_secs(1)).to_string());
        match rate {
            None => refusal,
            Some(rate) => format!(
                "rates are bits per second: {size} a second is written `{}`",
                rate.trim_end_matches("bit/s")
            ),
        }
    })
}

fn within<T>(text: &str, bounds: RangeInclusive<T>) -> Result<T, String>
where
    T: FromStr<Err = trunkline::units::ParseError> + PartialOrd + Display,
{
    let value: T = text.parse().map_err(|error: T::Err| error.to_string())?;
    match bounds.contains(&value) {
        true => Ok(value),
        false => Err(format!(
            "{value} is not between {} and {}",
            bounds.start(),
            bounds.end()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_bare_duration_is_seconds() {
        assert_eq!(duration("10"), Ok(Span::from_secs(10)));
        assert_eq!(duration("1500ms"), Ok(Span::from_millis(1500)));
    }

    #[test]
    fn windows_that_no_server_takes_are_refused_here() {
        assert_eq!(
            window("512M"),
            Ok(Window::Fixed(trunkline::measure::WINDOW_MAX))
        );
        assert!(window("513M").unwrap_err().contains("512MiB"));
    }

    #[test]
    fn absurd_durations_are_refused_with_their_bounds() {
        assert_eq!(
            duration("0").unwrap_err(),
            "0ns is not between 1s and 86400s"
        );
        assert!(duration("-1").unwrap_err().contains("is not a time"));
        assert!(duration("99999999999").is_err());
    }
}
