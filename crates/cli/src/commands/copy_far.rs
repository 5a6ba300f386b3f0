//! The far end of a copy that ssh has started. People never type it.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use net::copying::{DoorLimits, attend};
use transfer::Root;
use transfer::far::{FarEnd, Keys};
use units::Span;

use crate::failure::Failure;
use crate::stop::Stop;

/// The variable in which sshd says who connected to whom.
const CONNECTION: &str = "SSH_CONNECTION";
/// How long it waits for a near end that vanished without a word: longer than anybody waits for it by default.
const PATIENCE: Span = Span::from_secs(900);

pub(crate) fn run() -> Result<ExitCode, Failure> {
    let stop = Stop::listen()?;
    let connection = std::env::var(CONNECTION).ok();
    // What is worth knowing is told at the near end; here only errors would reach its terminal.
    let nothing = Box::new(|_: &_| ());
    let limits = DoorLimits::default();
    attend(
        io::stdin(),
        io::stdout(),
        connection.as_deref(),
        limits,
        PATIENCE,
        |token, back| {
            let far = FarEnd::new(Keys::One(token), Root::own(), stop.shared(), nothing);
            Arc::new(far.calling(back))
        },
    )?;
    Ok(ExitCode::SUCCESS)
}
