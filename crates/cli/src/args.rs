//! What can be written after `trunkline`. Flags mean what iperf3's users expect.

mod campaign;
mod copy;
mod copy_far;
mod examine;
mod far;
mod foreign;
mod history;
mod limit;
mod login;
mod manual;
mod pipe;
mod predict;
mod serve;
mod simulate;
mod study;
mod sweep;
mod tune;
mod verify;
mod watch;

use std::ffi::OsString;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand};
use trunkline::ask::{block, bytes, datagram_rate, duration, pacing, window};
use trunkline::datagrams::DatagramRate;
use trunkline::log::LogFile;
use trunkline::login::Login;
use trunkline::measure::{StreamCount, Window};
use trunkline::units::{Bytes, Dscp, Family, Rate, Source, Span, Via};
use trunkline::{Error, TargetName};

use crate::failure::Failure;

pub(crate) use campaign::{
    Campaign, CampaignCommand, CampaignPlan, CampaignRun, CampaignSlurm, CampaignStatus,
    CampaignVerify, Shard,
};
pub(crate) use copy::{Connect, Copy, Transport};
pub(crate) use copy_far::CopyFar;
pub(crate) use far::{Far, FarClean, FarCommand};
pub(crate) use foreign::{Refused, parse};

pub(crate) use examine::{PathOf, Responsiveness};
pub(crate) use history::{History, Keep};
pub(crate) use limit::{Limit, LimitOf};
pub(crate) use login::{LoginOptions, log_in, password};
pub(crate) use manual::{Completion, Man};
pub(crate) use pipe::Pipe;
pub(crate) use predict::Predict;
pub(crate) use serve::Serve;
pub(crate) use simulate::{Compat, Simulate};
pub(crate) use study::Study;
pub(crate) use sweep::Sweep;
pub(crate) use tune::{Axis, Objective, Tune};
pub(crate) use verify::Verify;
pub(crate) use watch::{
    TestAlerts, Watch, WatchCheck, WatchCommand, WatchDemo, WatchExport, WatchFlows, WatchForecast,
    WatchMonths, WatchRun, WatchServe,
};

/// Finds how bulk data moves fastest over a long, fat network, and what limits it.
///
/// A TARGET is a host that runs `trunkline serve` or `iperf3 -s`, as `HOST`, `HOST:PORT` or
/// `[V6]:PORT`, an emulated path on this host, as `emu:NAME` or `emu:FILE`, or a simulated one, as
/// `sim:NAME` or `sim:FILE`. `measure`, `tune` and `sweep` also run the clients of other programs:
/// `gridftp://HOST/FILE`, `root://HOST//FILE`, `scp://HOST/FILE`, `sftp+rclone:REMOTE:FILE`,
/// `iperf2://HOST`, `nuttcp://HOST`.
#[derive(Debug, Parser)]
#[command(
    name = "trunkline",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Arguments {
    /// Log what connections and sessions do, at `debug` or the level named: error, warn, info,
    /// debug, trace
    #[arg(
        long,
        global = true,
        value_name = "FILE[=LEVEL]",
        value_parser = LogFile::parse,
        display_order = 900
    )]
    pub log_file: Option<LogFile>,

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
    Pipe(Box<Pipe>),
    Far(Far),
    Limit(Limit),
    Campaign(Campaign),
    Verify(Verify),
    Tune(Tune),
    Measure(Measure),
    Sweep(Box<Sweep>),
    Path(PathOf),
    Responsiveness(Responsiveness),
    Watch(Watch),
    Emulate(Emulate),
    Simulate(Box<Simulate>),
    Predict(Predict),
    Study(Study),
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

/// What streams go over.
#[derive(Debug, Args)]
pub(crate) struct Carrier {
    /// What carries the streams, `tcp` or `udp`: UDP fills paths that lose packets without `bbr` in
    /// the sender's kernel, and needs `trunkline serve` at the far end
    #[arg(long, value_enum, default_value = "tcp", hide_possible_values = true)]
    pub transport: Transport,
}

/// Measure one setting in detail
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  trunkline measure emu:slac-cern -P 8 -w 64k\n  \
    trunkline measure dtn.example.org -P 4 -t 30s -R --json\n  \
    trunkline measure dtn.example.org --transport udp\n  \
    trunkline measure dtn.example.org --udp 50M\n  \
    trunkline measure dtn.example.org --udp find -R"
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

    #[command(flatten)]
    pub carrier: Carrier,

    /// Connections of multipath TCP: the kernel sends each stream over all links that
    /// `ip mptcp endpoint` names
    #[arg(long)]
    pub mptcp: bool,

    /// Send datagrams at this rate, of all streams together, in place of bulk data, and tell loss,
    /// jitter and order; `find` looks for the highest rate that loses no more than 1 %
    #[arg(long, value_name = "RATE|find", value_parser = datagram_rate)]
    pub udp: Option<DatagramRate>,

    /// Data of each datagram of `--udp` in bytes, 16 to 65507 [default: 1400]
    #[arg(short = 'l', long, value_name = "BYTES", value_parser = whole(16..=65507u16))]
    pub length: Option<u16>,

    /// How long to send: `10`, `10s`, `2min`
    #[arg(short = 't', long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub duration: Span,

    /// How much to send over all streams together, instead of how long: `500M`
    #[arg(short = 'n', long, value_name = "SIZE", conflicts_with = "duration", value_parser = bytes)]
    pub bytes: Option<Bytes>,

    /// Upper bound on each stream's rate: `100M`
    #[arg(long, value_name = "RATE", visible_alias = "fq-rate", value_parser = pacing)]
    pub pacing: Option<Rate>,

    /// Requests that another program has without an answer, where it has an option for that
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    pub requests: Option<u16>,

    /// Data of one request, read or write of another program: `1M`
    #[arg(long, value_name = "SIZE", value_parser = block)]
    pub block: Option<Bytes>,

    #[command(flatten)]
    pub mover: MoverOptions,
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
    /// `HOST[:PORT]`, `emu:PATH` or `sim:PATH` with a named path or a path file, or the far end of
    /// another program, as `gridftp://HOST/FILE`
    #[arg(value_name = "TARGET")]
    pub name: String,

    /// The server's port, where the target names none
    #[arg(short, long, default_value_t = trunkline::PORT_DEFAULT, value_parser = port)]
    pub port: u16,

    #[command(flatten)]
    pub leaving: Leaving,

    #[command(flatten)]
    pub login: LoginOptions,

    #[command(flatten)]
    pub seed: Seed,
}

impl Target {
    /// The name, read; a path file is read with it.
    pub(crate) fn parse(&self) -> Result<TargetName, Error> {
        let name = TargetName::parse(&self.name, self.port)?;
        Ok(name.leaving(self.leaving.via()?)?)
    }

    /// Opens what the name was read as.
    pub(crate) fn open(
        &self,
        name: TargetName,
        login: Option<Login>,
    ) -> Result<trunkline::Target, Error> {
        trunkline::Target::open_as(name, self.seed.seed, login)
    }
}

/// One version of the internet protocol.
#[derive(Debug, Args)]
pub(crate) struct OneFamily {
    /// Only over IPv4
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,

    /// Only over IPv6
    #[arg(short = '6', long)]
    pub ipv6: bool,
}

impl OneFamily {
    pub(crate) fn family(&self) -> Option<Family> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(Family::V4),
            (_, true) => Some(Family::V6),
            _ => None,
        }
    }

    /// What `--bind` says, of this family.
    pub(crate) fn source(&self, bind: Option<&Source>) -> Result<Source, Error> {
        let source = bind.cloned().unwrap_or_default();
        match source.check(self.family()) {
            Ok(()) => Ok(source),
            Err(clash) => Err(Error::wrong_request(
                clash.to_string(),
                format!(
                    "leave out `-4` and `-6`, or bind to an address of {}",
                    clash.family
                ),
            )),
        }
    }
}

/// How packets leave this host.
#[derive(Debug, Args)]
pub(crate) struct Leaving {
    #[command(flatten)]
    pub family: OneFamily,

    /// Send from this address, this device, or both: `192.0.2.7`, `%eth1`, `192.0.2.7%eth1`
    #[arg(long, value_name = "ADDRESS%DEVICE")]
    pub bind: Option<Source>,

    /// How routers are to treat what this host sends: `LE`, `CS0` to `CS7`, `AF11` to `AF43`, `EF`,
    /// or a number from 0 to 63 (DSCP)
    #[arg(long, value_name = "CLASS")]
    pub dscp: Option<Dscp>,
}

impl Leaving {
    pub(crate) fn via(&self) -> Result<Via, Error> {
        Ok(Via {
            family: self.family.family(),
            source: self.family.source(self.bind.as_ref())?,
            dscp: self.dscp,
            multipath: false,
        })
    }
}

/// What another program is told beside the setting.
#[derive(Debug, Args)]
pub(crate) struct MoverOptions {
    /// A word to pass to the client of another program as it stands, such as `-nodcau`; may be
    /// repeated
    #[arg(long = "mover-option", value_name = "WORD", allow_hyphen_values = true)]
    pub words: Vec<String>,
}

impl MoverOptions {
    /// The name with these words, which only other programs take.
    pub(crate) fn of(&self, name: TargetName) -> Result<TargetName, Failure> {
        match (name, self.words.first()) {
            (TargetName::Mover { far, .. }, _) => Ok(TargetName::Mover {
                far,
                options: self.words.clone(),
            }),
            (_, Some(word)) => Err(Failure::wrong_request(
                &format!("`--mover-option {word}` is for another program, and this target is none"),
                "leave it out, or name a target like `gridftp://HOST/FILE`",
            )),
            (name, None) => Ok(name),
        }
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
    #[arg(short = 'M', long = "set-mss", value_name = "BYTES", value_parser = whole(88..=32767u16))]
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

/// Reads a whole number between the bounds.
fn whole<T>(bounds: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: TryFrom<i128> + PartialOrd + Display + Clone + Send + Sync,
{
    move |text| {
        let number: i128 = text
            .parse()
            .map_err(|_| format!("`{text}` is no whole number"))?;
        let value = T::try_from(number).ok();
        value.filter(|value| bounds.contains(value)).ok_or_else(|| {
            let (first, last) = (bounds.start(), bounds.end());
            format!("{number} is not between {first} and {last}")
        })
    }
}

/// Reads a port, 0 to 65535.
fn port(text: &str) -> Result<u16, String> {
    whole(0..=u16::MAX)(text)
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
