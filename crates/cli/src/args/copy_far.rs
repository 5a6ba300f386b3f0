//! `trunkline copy-far`: what a key in `authorized_keys` may reach.

use std::path::PathBuf;

use clap::Args;

/// The far end of a copy, which ssh starts
///
/// Alone it has the rights of its user. As the forced command of a key it is bound to one folder,
/// whatever the client asks for.
#[derive(Debug, Args)]
#[command(after_help = "Example, a line of authorized_keys:\n  \
    command=\"trunkline copy-far --root /store --read-only\",restrict ssh-ed25519 AAAA... ana")]
pub(crate) struct CopyFar {
    /// Files below this folder, and nothing outside it
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,

    /// Files may only be taken away
    #[arg(long, conflicts_with = "write_only")]
    pub read_only: bool,

    /// Files may only be put there
    #[arg(long)]
    pub write_only: bool,

    /// Run the programs that `trunkline pipe` names; it asks for this itself, so that a forced
    /// command without it runs none
    #[arg(long, conflicts_with_all = ["root", "read_only", "write_only"])]
    pub run_programs: bool,
}
