//! `trunkline campaign`: millions of files in shards that any engine runs.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{ArgGroup, Args, Subcommand, value_parser};
use trunkline::units::Span;
use trunkline_campaign::{LinkName, ShardId};

use trunkline::ask::copy::patience;

/// Copy millions of files between many hosts, in shards that Slurm, Dask or a shell loop can run
///
/// A plan says which folders go where and over which links. `plan` walks them and cuts what they
/// have into shards of some thousand files; `run` copies one shard, or all of them. What became of
/// each is in the campaign's folder, for `status` and `verify`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline campaign plan july.toml july\n  \
    trunkline campaign run july\n  trunkline campaign status july\n  \
    trunkline campaign verify july\n\n\
Exit status of `run`: 0 all is done, 1 some files failed, 2 the request was wrong, 75 not \
finished: run the same command again.")]
pub(crate) struct Campaign {
    #[command(subcommand)]
    pub command: CampaignCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CampaignCommand {
    Plan(CampaignPlan),
    Run(CampaignRun),
    Status(CampaignStatus),
    /// Start nothing until `resume`, and end what runs within a second
    Pause(CampaignFolder),
    /// End a pause; `run` goes on
    Resume(CampaignFolder),
    /// Have the files that failed be tried again by the next `run`
    Retry(CampaignFolder),
    /// Start nothing any more, and end what runs; what has arrived stays
    Cancel(CampaignFolder),
    Verify(CampaignVerify),
    Slurm(CampaignSlurm),
}

/// List what is to be copied, and cut it into shards
///
/// A second plan in the same folder has only what is new or changed since.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  trunkline campaign plan july.toml july --host slac")]
pub(crate) struct CampaignPlan {
    /// The plan, in TOML; docs/guide/campaigns.md describes it
    #[arg(value_name = "PLAN.toml")]
    pub plan: PathBuf,

    /// The campaign's folder; made where it is not there
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,

    #[command(flatten)]
    pub host: OwnHost,

    /// Folders that are listed at once; more help where they are on a network
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = at_once())]
    pub threads: u16,

    /// Print the figures as one JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// Copy one shard, or all that are left
///
/// A shard that was interrupted goes on where it stopped; one that is done is not copied again.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("which").args(["shard", "task"])),
    after_help = "Examples:\n  trunkline campaign run july\n  \
    trunkline campaign run july raw-1-00001\n  \
    trunkline campaign run july --link wan --task 3 --of 40\n\n\
Exit status: 0 all is done, 1 some files failed, 2 the request was wrong, 75 not finished: run \
the same command again."
)]
pub(crate) struct CampaignRun {
    #[command(flatten)]
    pub folder: CampaignFolder,

    /// The shard: its name, or a manifest of it such as `failed.ndjson`; all that are left without
    #[arg(value_name = "SHARD", value_parser = shard)]
    pub shard: Option<Shard>,

    #[command(flatten)]
    pub host: OwnHost,

    /// Only shards of this link
    #[arg(long, value_name = "LINK", conflicts_with = "shard")]
    pub link: Option<LinkName>,

    /// Only the shards of this task, from 0; shards are dealt to tasks in turn
    #[arg(long, value_name = "NUMBER", requires = "of")]
    pub task: Option<u32>,

    /// How many tasks there are
    #[arg(long, value_name = "COUNT", requires = "task", value_parser = at_least_one())]
    pub of: Option<u32>,

    /// Wait for another process that runs the same shard
    #[arg(long)]
    pub wait: bool,

    /// How long to go on trying when the far end is gone
    #[arg(long, value_name = "TIME", default_value = "2min", value_parser = patience)]
    pub patience: Span,

    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Show where a campaign stands
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline campaign status july\n  \
    trunkline campaign status july --web 127.0.0.1:5280")]
pub(crate) struct CampaignStatus {
    #[command(flatten)]
    pub folder: CampaignFolder,

    /// Serve the page of it, which renews itself, until a signal ends this; anyone who reaches the
    /// address can read it
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "json")]
    pub web: Option<SocketAddr>,

    /// Print one JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// Have both ends read every file that was copied, and compare
///
/// Writes `verified/GROUP.b3`, which `b3sum --check` takes at either end, and
/// `verified/report.json`.
#[derive(Debug, Args)]
pub(crate) struct CampaignVerify {
    #[command(flatten)]
    pub folder: CampaignFolder,

    #[command(flatten)]
    pub host: OwnHost,

    /// How long to go on trying when the far end is gone
    #[arg(long, value_name = "TIME", default_value = "2min", value_parser = patience)]
    pub patience: Span,

    /// Print one JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// Print a script for `sbatch` that runs the shards of a link as an array
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    trunkline campaign slurm july --link wan --licence wan | sbatch")]
pub(crate) struct CampaignSlurm {
    #[command(flatten)]
    pub folder: CampaignFolder,

    /// The link
    #[arg(long, value_name = "LINK", default_value = "default")]
    pub link: LinkName,

    #[command(flatten)]
    pub host: OwnHost,

    /// The partition of the transfer nodes
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,

    /// Each task takes one of these licences, which Slurm counts over all jobs
    #[arg(long, visible_alias = "license", value_name = "NAME")]
    pub licence: Option<String>,

    /// The longest time of a task, as Slurm takes it: `4:00:00`
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,

    /// Most tasks; Slurm's own bound is 1001 unless its administrator changed it
    #[arg(long, value_name = "COUNT", default_value_t = 1_000, value_parser = at_least_one())]
    pub tasks: u32,
}

// No documentation: it would take the place of that of the commands.
#[derive(Debug, Args)]
pub(crate) struct CampaignFolder {
    /// The campaign's folder
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// Which host this is.
#[derive(Debug, Args)]
pub(crate) struct OwnHost {
    /// The host of the plan that this machine is; none without this
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
}

/// A shard as it was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shard {
    Id(ShardId),
    Manifest(PathBuf),
}

fn at_once() -> impl TypedValueParser<Value = u16> {
    value_parser!(u16).range(1..=256)
}

fn at_least_one() -> impl TypedValueParser<Value = u32> {
    value_parser!(u32).range(1..)
}

/// A name has neither a slash nor the ending of a manifest.
fn shard(text: &str) -> Result<Shard, String> {
    match text.contains('/') || text.ends_with(".ndjson") {
        true => Ok(Shard::Manifest(PathBuf::from(text))),
        false => text.parse().map(Shard::Id),
    }
}
