//! Why a path was refused.

use std::io;

use errors::{Fault, Hint};
use thiserror::Error;

/// A path that cannot be used.
#[derive(Debug, Error)]
pub enum PathError {
    /// Neither a preset nor a readable file.
    #[error("`{name}` is neither a named path nor a readable file")]
    Unreadable {
        /// What was asked for.
        name: String,
        /// The names that would have been known.
        presets: String,
        /// Why the file could not be read.
        source: io::Error,
    },
    /// The text is not TOML.
    #[error("{message}\n  at {file}:{line}")]
    Syntax {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What the TOML reader says.
        message: String,
    },
    /// A field is missing, unknown, or has a value that makes no sense.
    #[error("{problem}\n  at {file}:{line}, field `{field}`")]
    Field {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The field with its section: `forward.queue.limit`.
        field: String,
        /// The value and the bound.
        problem: String,
        /// The next step.
        hint: String,
    },
    /// Several of these; each part of a file is read whatever is wrong in the others.
    #[error("{} mistakes:\n{}", .0.len(), listed(.0))]
    Several(Vec<PathError>),
}

impl Hint for PathError {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            PathError::Unreadable { presets, .. } => {
                format!("give a file, or one of {presets}")
            }
            PathError::Syntax { .. } => "path files are TOML: `key = \"value\"` lines under \
                `[forward]`, `[reverse]`, `[[before]]`, `[[beyond]]`, `[hosts]`, \
                `[[cross]]`"
                .to_owned(),
            PathError::Field { hint, .. } => hint.clone(),
            PathError::Several(_) => "mend them all; a part with several mistakes shows its \
                first"
                .to_owned(),
        };
        Some(hint)
    }
}

/// Each error on its lines, its hint behind it.
fn listed(errors: &[PathError]) -> String {
    let line =
        |error: &PathError| format!("- {error}\n  hint: {}", error.hint().unwrap_or_default());
    errors.iter().map(line).collect::<Vec<_>>().join("\n")
}

impl PathError {
    /// One error of all those of a file, of which there is at least one.
    pub(crate) fn several(mut errors: Vec<PathError>) -> Self {
        match errors.len() {
            1 => errors.remove(0),
            _ => PathError::Several(errors),
        }
    }
}
