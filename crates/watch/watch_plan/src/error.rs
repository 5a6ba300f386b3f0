//! Why a plan was refused, and what was noticed in one that was not.

use std::fmt;

use errors::{Fault, Hint};
use serde::Serialize;
use thiserror::Error;

/// One mistake of a plan, or of another file of a watch: where it stands, the value and its bound,
/// the next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The key with its tables: `tasks.throughput.every`; empty for the whole file.
    pub field: String,
    /// The value and the bound.
    pub problem: String,
    /// The next step.
    pub hint: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  at {}:{}", self.problem, self.file, self.line)?;
        if !self.field.is_empty() {
            write!(f, ", field `{}`", self.field)?;
        }
        write!(f, "\n  hint: {}", self.hint)
    }
}

/// A plan, or another file of a watch, that cannot be used, with all mistakes that were found, in
/// the order of files and lines.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", listed(.mistakes))]
pub struct PlanError {
    mistakes: Vec<Mistake>,
}

impl Hint for PlanError {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        None
    }
}

impl PlanError {
    pub(crate) fn of(mut mistakes: Vec<Mistake>) -> PlanError {
        mistakes.dedup();
        PlanError { mistakes }
    }

    /// All mistakes, in the order of their lines.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }
}

fn listed(mistakes: &[Mistake]) -> String {
    let lines: Vec<String> = mistakes.iter().map(Mistake::to_string).collect();
    match lines.as_slice() {
        [one] => one.clone(),
        _ => format!("{} mistakes:\n- {}", lines.len(), lines.join("\n- ")),
    }
}

/// What a reader should know of a plan that was accepted: something of the file has no counterpart
/// here, or cannot be checked before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// The file, where it is one that the first includes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    pub line: usize,
    /// Further lines of which the same is to be said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<usize>,
    /// The key with its tables.
    pub field: String,
    /// What it says, and what becomes of it.
    pub text: String,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}, ")?;
        }
        match self.more.as_slice() {
            [] => write!(f, "line {}, `{}`: {}", self.line, self.field, self.text),
            more => write!(f, "{}: {}", lines(self.line, more), self.text),
        }
    }
}

/// `lines 3, 9, 14 and 20 more`.
fn lines(first: usize, more: &[usize]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = more.iter().take(SHOWN).map(usize::to_string).collect();
    let rest = match more.len().saturating_sub(SHOWN) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    format!("lines {first}, {}{rest}", shown.join(", "))
}
