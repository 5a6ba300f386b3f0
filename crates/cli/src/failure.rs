//! How failures are told: the error, what caused it, the next step, and the exit code.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use emu::EmuError;
use path::PathError;

/// Whose fault it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// The thing measured or moved failed.
    Failed = 1,
    /// The request was wrong.
    WrongRequest = 2,
}

/// A failure on its way to the user.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    causes: Vec<String>,
    hint: Option<String>,
}

impl Failure {
    fn new(exit: Exit, error: &(dyn Error + 'static), hint: Option<String>) -> Self {
        let mut causes = vec![error.to_string()];
        let mut cause = error.source();
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        Failure { exit, causes, hint }
    }

    /// Writes it to standard error and gives the exit code.
    pub(crate) fn tell(&self) -> ExitCode {
        for (depth, cause) in self.causes.iter().enumerate() {
            let label = if depth == 0 { "error" } else { "  caused by" };
            eprintln!("{label}: {cause}");
        }
        if let Some(hint) = &self.hint {
            eprintln!("\nhint: {hint}");
        }
        ExitCode::from(self.exit as u8)
    }
}

impl From<PathError> for Failure {
    fn from(error: PathError) -> Self {
        Failure::new(Exit::WrongRequest, &error, Some(error.hint()))
    }
}

impl From<EmuError> for Failure {
    fn from(error: EmuError) -> Self {
        Failure::new(Exit::Failed, &error, error.hint().map(str::to_owned))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::new(Exit::Failed, &error, None)
    }
}
