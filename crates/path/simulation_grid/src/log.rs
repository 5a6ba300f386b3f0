//! Every packet of one run, as lines of text or as a capture.

mod capture;
mod headers;

use errors::{Fault, Hint};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sim::{Event, Scenario, ScenarioError, Simulation};
use thiserror::Error;
use units::{Span, Time};

use capture::Capture;

/// Simulated time between two writes; the packets of that time are held in memory.
const STEP: Span = Span::from_millis(50);

/// Why a log was not written to its end.
#[derive(Debug, Error)]
pub enum LogError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A line could not be written.
    #[error("the log could not be written")]
    Write(#[from] io::Error),
    /// It was cancelled.
    #[error("the log ends where it was stopped, at {at}")]
    Cancelled {
        /// How far it goes, in simulated time.
        at: Span,
    },
}

impl Hint for LogError {
    fn fault(&self) -> Fault {
        match self {
            LogError::Scenario(error) => error.fault(),
            LogError::Write(_) => Fault::Run,
            LogError::Cancelled { .. } => Fault::Cancelled,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            LogError::Scenario(error) => error.hint(),
            LogError::Write(_) | LogError::Cancelled { .. } => None,
        }
    }
}

/// What a log looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogForm {
    /// A line for everything that happened to a packet; the guide `docs/guide/simulating.md` says
    /// what is in it.
    Text,
    /// What `tcpdump` would have seen on the sending hosts, for Wireshark (pcapng).
    Capture,
}

impl LogForm {
    /// The form that a file's name asks for.
    ///
    /// ```
    /// use simulation_grid::LogForm;
    /// use std::path::Path;
    /// assert_eq!(LogForm::of(Path::new("run.pcapng")), LogForm::Capture);
    /// assert_eq!(LogForm::of(Path::new("run.log")), LogForm::Text);
    /// ```
    pub fn of(file: &Path) -> LogForm {
        let ending = file.extension();
        match ending.is_some_and(|ending| ending.eq_ignore_ascii_case("pcapng")) {
            true => LogForm::Capture,
            false => LogForm::Text,
        }
    }
}

/// Runs `scenario` and writes to `out` what happened to its packets.
///
/// # Errors
/// When the scenario cannot be run, `out` cannot be written to, or `cancel` is set.
pub fn log(
    scenario: &Scenario,
    form: LogForm,
    cancel: &AtomicBool,
    out: &mut dyn Write,
) -> Result<(), LogError> {
    match form {
        LogForm::Text => {
            each_event(scenario, cancel, &mut |event| writeln!(out, "{event}"))?;
            Ok(out.flush()?)
        }
        LogForm::Capture => {
            let mut capture = Capture::new(scenario, out)?;
            each_event(scenario, cancel, &mut |event| capture.add(event))?;
            Ok(capture.finish()?)
        }
    }
}

/// Runs `scenario` and shows every event to `see` while it goes.
fn each_event(
    scenario: &Scenario,
    cancel: &AtomicBool,
    see: &mut dyn FnMut(&Event) -> io::Result<()>,
) -> Result<(), LogError> {
    let mut simulation = Simulation::new(&Scenario {
        log: true,
        ..scenario.clone()
    })?;
    let end = simulation.end();
    let mut until = Time::ZERO;
    let mut done = false;
    while !done {
        if cancel.load(Ordering::Relaxed) {
            let at = until.since(Time::ZERO);
            return Err(LogError::Cancelled { at });
        }
        until = (until + STEP).min(end);
        done = simulation.advance(until) || until == end;
        simulation.take_events().iter().try_for_each(&mut *see)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
