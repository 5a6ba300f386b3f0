//! Every packet of one run, as lines of text.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use sim::{Scenario, ScenarioError, Simulation};
use thiserror::Error;
use units::{Span, Time};

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

/// Runs `scenario` and writes a line to `out` for everything that happened to a packet; the guide
/// `docs/guide/simulating.md` says what is in a line.
///
/// # Errors
/// When the scenario cannot be run, a line cannot be written, or `cancel` is set.
pub fn log(scenario: &Scenario, cancel: &AtomicBool, out: &mut dyn Write) -> Result<(), LogError> {
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
        for event in simulation.take_events() {
            writeln!(out, "{event}")?;
        }
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenario;
    use super::*;

    fn short() -> Scenario {
        Scenario {
            duration: Span::from_secs(2),
            ..scenario()
        }
    }

    #[test]
    fn lines_are_in_order_of_time_and_say_what_was_sent_and_received() {
        let mut text = Vec::new();
        log(&short(), &AtomicBool::new(false), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let times: Vec<f64> = text
            .lines()
            .map(|line| line.split(' ').next().unwrap().parse().unwrap())
            .collect();
        assert!(times.is_sorted() && times.len() > 100, "{}", times.len());
        assert!(
            text.contains(" sent ") && text.contains(" received "),
            "{text:.300}"
        );
    }

    #[test]
    fn a_log_that_was_stopped_says_where() {
        let error = log(&short(), &AtomicBool::new(true), &mut Vec::new()).unwrap_err();
        assert!(matches!(error, LogError::Cancelled { at: Span::ZERO }));
    }
}
