//! The far end of a copy that ssh has started. People never type it, but may write it before a key
//! in `authorized_keys`: what the client asked sshd for (`SSH_ORIGINAL_COMMAND`) is then never
//! looked at.

use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;

use trunkline::serve::{Root, SshPipes, SshRights, serve_one_over_ssh};

use crate::args::CopyFar;
use crate::failure::Failure;
use crate::stop;

/// The variable in which sshd says who connected to whom.
const CONNECTION: &str = "SSH_CONNECTION";

pub(crate) fn run(arguments: &CopyFar) -> Result<ExitCode, Failure> {
    let root = root(arguments)?;
    let cancel = stop::listen()?;
    let connection = std::env::var(CONNECTION).ok();
    let is_bound = arguments.root.is_some() || arguments.read_only || arguments.write_only;
    serve_one_over_ssh(
        root,
        SshPipes {
            input: io::stdin(),
            output: io::stdout(),
            errors: io::stderr().as_fd(),
        },
        connection.as_deref(),
        SshRights {
            send_anywhere: !is_bound,
            run_programs: arguments.run_programs,
        },
        &cancel,
    )?;
    Ok(ExitCode::SUCCESS)
}

/// What the key may reach: all that its user may, unless the words say less.
fn root(arguments: &CopyFar) -> Result<Root, Failure> {
    let root = match &arguments.root {
        Some(folder) => Root::beneath(folder).map_err(trunkline::Error::from)?,
        None => Root::own(),
    };
    Ok(root.restricted(!arguments.write_only, !arguments.read_only))
}
