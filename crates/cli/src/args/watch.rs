//! `trunkline watch`: the health of many paths over months.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use trunkline::target::Address;
use trunkline::units::Span;
use trunkline::watch::{COLLECTOR_PORT, DatabaseName};

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
    #[command(flatten)]
    pub plan: PlanName,

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
    #[arg(short, long, default_value_t = trunkline::PORT_DEFAULT)]
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
    #[arg(short, long, default_value_t = COLLECTOR_PORT)]
    pub port: u16,

    /// How long raw round trips, rates and documents are kept; figures stay for ever
    #[arg(long, value_name = "TIME", default_value = "2160h", value_parser = keep)]
    pub keep_raw: Span,
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
