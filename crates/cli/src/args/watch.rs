//! `trunkline watch`: the health of many paths over months.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use trunkline::target::Address;
use trunkline::units::{Bytes, Span};
use trunkline_watch::{COLLECTOR_PORT, DatabaseName, Format, Name, Table, UnixTime, when};

use super::port;

/// Watch many paths over months, with the cause beside every change
///
/// A plan says which hosts visit which, with what, and when. `run` makes the visits of one host and
/// is their far end; `serve` collects the results of all.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline watch check plan.toml\n  \
    trunkline watch serve plan.toml --tokens agents.tokens\n  \
    trunkline watch run plan.toml --host slac --collector mon.example.org --token-file slac.token")]
pub(crate) struct Watch {
    #[command(subcommand)]
    pub command: WatchCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WatchCommand {
    Check(WatchCheck),
    Run(WatchRun),
    Serve(Box<WatchServe>),
    TestAlerts(TestAlerts),
    Forecast(WatchForecast),
    Months(WatchMonths),
    Flows(WatchFlows),
    Export(WatchExport),
    Demo(WatchDemo),
}

/// Read a plan, and show what it costs and what comes next
#[derive(Debug, Args)]
pub(crate) struct WatchCheck {
    #[command(flatten)]
    pub plan: PlanName,

    /// Print one JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// Make the visits of this host, and be the far end of others'
///
/// Results wait in the folder of `--state` until the collector has them, over reboots and full
/// disks. Each is stored once.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  trunkline watch run plan.toml --host slac \
    --collector mon.example.org --token-file /etc/trunkline/slac.token")]
pub(crate) struct WatchRun {
    /// The plan: TOML, or a psconfig file of perfSONAR; the collector's, and each new one, without
    #[arg(value_name = "PLAN")]
    pub plan: Option<PathBuf>,

    /// The host of the plan that this machine is; its own name without this
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,

    /// Where results go: `HOST[:PORT]` of `trunkline watch serve`
    #[arg(long, value_name = "HOST[:PORT]", value_parser = collector)]
    pub collector: Address,

    /// The file with the token that the collector knows this host by
    #[arg(long, value_name = "FILE")]
    pub token_file: PathBuf,

    /// The folder for results that wait, settings and test files
    #[arg(long, value_name = "DIR", default_value = "/var/lib/trunkline/watch")]
    pub state: PathBuf,

    /// TCP and UDP port for the visits of others, and of hosts that the plan names without one
    #[arg(short, long, default_value_t = trunkline::PORT_DEFAULT, value_parser = port)]
    pub port: u16,

    /// The tokens of the hosts whose test files are taken (tasks of kind `copy`); none without
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
}

/// Collect the results of all agents
///
/// Finds changes of paths and their causes. The database is a SQLite file unless `--database`
/// names a PostgreSQL server.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    trunkline serve --tokens agents.tokens --new-token slac --write-only > slac.token\n  \
    trunkline watch serve plan.toml --tokens agents.tokens\n  \
    trunkline watch serve plan.toml --tokens agents.tokens --database postgres:///watch")]
pub(crate) struct WatchServe {
    #[command(flatten)]
    pub plan: PlanName,

    /// Where results are stored: a file, or `postgres://[USER@]HOST/DATABASE`
    #[arg(long, value_name = "DATABASE", default_value = "watch.db")]
    pub database: DatabaseName,

    /// The file with the tokens of the agents, each named after its host in the plan;
    /// `trunkline serve --tokens FILE --new-token HOST --write-only` makes one
    ///
    /// SIGHUP has the file read again.
    #[arg(long, value_name = "FILE")]
    pub tokens: PathBuf,

    /// TCP port for agents
    #[arg(short, long, default_value_t = COLLECTOR_PORT, value_parser = port)]
    pub port: u16,

    /// How long raw round trips, rates and documents are kept; figures stay for ever
    #[arg(long, value_name = "TIME", default_value = "2160h", value_parser = keep)]
    pub keep_raw: Span,

    /// Serve the pages here: the grid, each path over time, events with their causes. They need
    /// no password: keep to this host, or put a proxy with TLS and users in front
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub web: Option<SocketAddr>,

    /// The file with the word that allows notes, acknowledgements and silences on the pages;
    /// without it they are read-only
    #[arg(long, value_name = "FILE", requires = "web")]
    pub web_token_file: Option<PathBuf>,

    /// Receivers of alerts; docs/reference/watch-alerts.md describes the file
    #[arg(long, value_name = "FILE")]
    pub alerts: Option<PathBuf>,

    /// The file that notes which alerts were sent
    #[arg(
        long,
        value_name = "FILE",
        default_value = "watch-alerts.json",
        requires = "alerts"
    )]
    pub alerts_state: PathBuf,
}

/// Send a test message to everyone in a file of alerts
#[derive(Debug, Args)]
pub(crate) struct TestAlerts {
    /// The file of alerts
    #[arg(value_name = "FILE")]
    pub alerts: PathBuf,
}

/// Say when a copy that starts now will end, from what a path has carried
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  trunkline watch forecast slac cern goodput 2TB")]
pub(crate) struct WatchForecast {
    /// The host that sends
    pub from: String,

    /// The host that receives
    pub to: String,

    /// The task of the plan whose visits are used
    pub task: String,

    /// The size of the copy
    #[arg(value_name = "SIZE")]
    pub size: Bytes,

    /// Where the results are
    #[arg(long, value_name = "DATABASE", default_value = "watch.db")]
    pub database: DatabaseName,

    /// Print one JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// Show months of round trips and losses, as PingER does
///
/// By group of paths and by path: round trips, losses, their variation, what one TCP stream would
/// carry, how a call would sound, and what the years changed. A month without visits is not there.
/// The database is only read.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline watch months trips\n  \
    trunkline watch months trips --plan plan.toml --since 2025-01-01\n  \
    trunkline watch months trips --from slac --to cern\n\n\
    As a table for other programs: `trunkline watch export months FILE`.")]
pub(crate) struct WatchMonths {
    /// The task of the plan whose visits are used
    pub task: Name,

    /// Where the results are
    #[arg(long, value_name = "DATABASE", default_value = "watch.db")]
    pub database: DatabaseName,

    /// Show the groups of this plan, too
    #[arg(long, value_name = "PLAN")]
    pub plan: Option<PathBuf>,

    /// Show all months of each path in place of the groups
    #[arg(long, conflicts_with = "plan")]
    pub by_path: bool,

    /// Only paths from this host
    #[arg(long, value_name = "HOST")]
    pub from: Option<Name>,

    /// Only paths to this host
    #[arg(long, value_name = "HOST")]
    pub to: Option<Name>,

    /// Only months that begin from then on: `2026-01-01` (UTC), `365d`
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub since: Option<UnixTime>,

    /// Only months that begin before then
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub until: Option<UnixTime>,

    /// Print one JSON document on standard output
    #[arg(long, conflicts_with = "by_path")]
    pub json: bool,
}

/// Show traffic across the border by application, as routers tell it
///
/// Bytes and mean rates in and out, and how much of the routers' records was lost on the way here.
/// A collector takes records of NetFlow, IPFIX and sFlow where its plan has `[flows]`. The database
/// is only read.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline watch flows\n  \
    trunkline watch flows --since 7d\n  \
    trunkline watch flows --since 2026-11-22T08:00:00Z --until 2026-11-22T09:00:00Z --json\n\n\
    Each interval as a table for other programs: `trunkline watch export flows FILE`.")]
pub(crate) struct WatchFlows {
    /// Where the results are
    #[arg(long, value_name = "DATABASE", default_value = "watch.db")]
    pub database: DatabaseName,

    /// From then on: `2026-11-22` (UTC), `7d`, `12h`; one day without
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub since: Option<UnixTime>,

    /// Before then; now without
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub until: Option<UnixTime>,

    /// Print one JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// Write results as tables for other programs
///
/// One row for each visit, raw round trip, tenth of a second, event, incident or month of a path,
/// and for each interval of the traffic across the border.
/// The database is only read, also while a collector writes to it. There is never a part of a table
/// under the name of FILE.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  trunkline watch export visits visits.csv\n  \
    trunkline watch export round-trips --since 7d > trips.ndjson\n  \
    trunkline watch export rates rates.parquet --from slac --to cern\n  \
    trunkline watch export events --database postgres:///watch --format csv"
)]
pub(crate) struct WatchExport {
    /// Which: `visits`, `round-trips`, `rates`, `events`, `incidents`, `months` or `flows`
    #[arg(value_name = "TABLE")]
    pub table: Table,

    /// A file that does not exist yet; standard output without one
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// `ndjson`, `csv` or `parquet`; without this what the name of FILE ends in, or ndjson
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// Where the results are
    #[arg(long, value_name = "DATABASE", default_value = "watch.db")]
    pub database: DatabaseName,

    /// Only visits from this host
    #[arg(long, value_name = "HOST")]
    pub from: Option<Name>,

    /// Only visits to this host
    #[arg(long, value_name = "HOST")]
    pub to: Option<Name>,

    /// Only visits of this task of the plan
    #[arg(long, value_name = "TASK")]
    pub task: Option<Name>,

    /// Only what began since then: `2026-11-22` (UTC), `7d`, `12h`
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub since: Option<UnixTime>,

    /// Only what began before then
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub until: Option<UnixTime>,
}

/// See it work on this machine alone: a month of six laboratories in virtual time
///
/// Each visit is simulated packet by packet, with troubles that are known. Shows what was found of
/// them, and serves the pages on this host until Ctrl-C.
#[derive(Debug, Args)]
pub(crate) struct WatchDemo {
    /// Where the pages are served
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub web: SocketAddr,

    /// Chooses the troubles
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,

    /// Keep the results in this file, which must not exist yet; a temporary one without
    #[arg(long, value_name = "FILE")]
    pub database: Option<PathBuf>,

    /// End when the month is done, without serving pages
    #[arg(long)]
    pub no_pages: bool,
}

/// A plan on disk.
#[derive(Debug, Args)]
pub(crate) struct PlanName {
    /// The plan: TOML, or a psconfig file of perfSONAR
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
}

fn collector(text: &str) -> Result<Address, String> {
    Address::parse_with(text, COLLECTOR_PORT).map_err(|error| error.to_string())
}

fn keep(text: &str) -> Result<Span, String> {
    const LEAST: Span = Span::from_secs(86_400);
    let span: Span = text.parse().map_err(|error| format!("{error}"))?;
    match span < LEAST {
        true => Err(format!(
            "{text} is less than 24h, the least that can be kept"
        )),
        false => Ok(span),
    }
}
