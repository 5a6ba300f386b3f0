//! `trunkline far`.

use clap::{Args, Subcommand};
use trunkline::ask::copy::{Words, ssh_host, words};

/// See to the programs that copies have sent to far ends
///
/// Where a host has no trunkline, or another version, `trunkline copy` sends this one through ssh
/// and keeps it there for the next copy.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline far clean dtn.example.org\n  \
    trunkline far clean -e 'ssh -p 2222' ana@dtn.example.org")]
pub(crate) struct Far {
    #[command(subcommand)]
    pub command: FarCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FarCommand {
    Clean(FarClean),
}

/// Remove what copies have sent to a host
#[derive(Debug, Args)]
pub(crate) struct FarClean {
    /// `[USER@]HOST`, as ssh takes it
    #[arg(value_parser = ssh_host)]
    pub host: String,

    /// The ssh client with its options, as for `copy`
    #[arg(
        short = 'e',
        long,
        visible_alias = "rsh",
        value_name = "COMMAND",
        default_value = "ssh",
        value_parser = words
    )]
    pub ssh: Words,
}
