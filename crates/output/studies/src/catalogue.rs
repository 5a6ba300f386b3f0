//! The studies by name.

use errors::{Fault, Hint};
use thiserror::Error;

use crate::part::SetUpError;
use crate::study::Study;
use crate::{buffers, lecture, striping, taiwan, windows};

/// The names of all studies, in the order of [`named`].
pub const NAMES: [&str; 5] = ["windows", "lecture", "buffers", "taiwan", "striping"];

/// A study that cannot be had.
#[derive(Debug, Error)]
pub enum StudyError {
    /// It cannot be set up.
    #[error(transparent)]
    SetUp(#[from] SetUpError),
    /// There is none of that name.
    #[error("there is no study `{0}`; known: {known}", known = NAMES.join(", "))]
    Unknown(String),
}

impl Hint for StudyError {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        Some("`trunkline study` lists them, `trunkline study all` makes all".to_owned())
    }
}

/// The study called `name`.
///
/// # Errors
/// When there is none.
pub fn named(name: &str) -> Result<Study, StudyError> {
    match name {
        "windows" => Ok(windows::study()?),
        "lecture" => Ok(lecture::study()?),
        "buffers" => Ok(buffers::study()?),
        "taiwan" => Ok(taiwan::study()?),
        "striping" => Ok(striping::study()?),
        _ => Err(StudyError::Unknown(name.to_owned())),
    }
}

#[cfg(test)]
mod tests;
