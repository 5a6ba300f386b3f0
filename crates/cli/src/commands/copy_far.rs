//! The far end of a copy that ssh has started. People never type it, but may write it before a key
//! in `authorized_keys`: what the client asked sshd for (`SSH_ORIGINAL_COMMAND`) is then never
//! looked at.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use copy_net::{AcceptLimits, serve_ssh_child};
use transfer::Root;
use transfer::far::{FarEnd, Keys};
use units::Span;

use crate::args::CopyFar;
use crate::failure::Failure;
use crate::stop::Stop;

/// The variable in which sshd says who connected to whom.
const CONNECTION: &str = "SSH_CONNECTION";
/// How long it waits for a near end that vanished without a word: longer than anybody waits for it
/// by default.
const PATIENCE: Span = Span::from_secs(900);

pub(crate) fn run(arguments: &CopyFar) -> Result<ExitCode, Failure> {
    let root = root(arguments)?;
    let stop = Stop::listen()?;
    let connection = std::env::var(CONNECTION).ok();
    // What is worth knowing is told at the near end; here only errors would reach its terminal.
    let nothing = Box::new(|_: &_| ());
    let limits = AcceptLimits::default();
    serve_ssh_child(
        io::stdin(),
        io::stdout(),
        connection.as_deref(),
        limits,
        PATIENCE,
        |token, back| {
            let far = FarEnd::new(Keys::One(token), root, stop.shared(), nothing);
            Arc::new(far.calling(back))
        },
    )?;
    Ok(ExitCode::SUCCESS)
}

/// What the key may reach: all that its user may, unless the words say less.
fn root(arguments: &CopyFar) -> Result<Root, Failure> {
    let root = match &arguments.root {
        Some(folder) => Root::beneath(folder)?,
        None => Root::own(),
    };
    Ok(root.restricted(!arguments.write_only, !arguments.read_only))
}
