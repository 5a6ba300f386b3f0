//! Measured points from a file: CSV, or one of our own documents.
//!
//! CSV has a line of names first, one of them `streams` and one `goodput` or `throughput`: with the
//! unit in each value (`45Mbit/s`), with the unit in the name (`goodput [Mbit/s]`), or as
//! `goodput_bits_per_second`. So what `trunkline history --csv` prints and `--csv` of other
//! commands can be read; its copies, and rows without a goodput, are passed over, as are other
//! columns, empty lines and lines that begin with `#`.
//!
//! Of documents the samples of a search, the cells of a campaign and the visits of a sweep are
//! points. All must have one window, or the one that is asked for; of a search it is the
//! recommended one unless another is asked for.

mod csv_file;
mod documents;

use std::fs;
use std::path::{Path, PathBuf};

use errors::{Fault, Hint};
use thiserror::Error;
use units::Rate;

use crate::{LoadError, Window, parse};

/// Why a file gives no points.
#[derive(Debug, Error)]
pub enum PointsError {
    /// The file cannot be read or is a broken document.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A document without samples of several numbers of streams.
    #[error("{}: a {kind} document has no samples of several numbers of streams", file.display())]
    Kind {
        /// Which file.
        file: PathBuf,
        /// What it holds.
        kind: &'static str,
    },
    /// The points differ in more than their streams.
    #[error("{}: the points are of several {what}: {found}", file.display())]
    Several {
        /// Which file.
        file: PathBuf,
        /// What they differ in: `windows` or `paths or kinds of TCP`.
        what: &'static str,
        /// The values.
        found: String,
    },
    /// No point has the window that was asked for.
    #[error("{}: no point has the window {asked}; there are {found}", file.display())]
    NoWindow {
        /// Which file.
        file: PathBuf,
        /// What was asked for.
        asked: String,
        /// What there is.
        found: String,
    },
    /// The line of names lacks a column.
    #[error("{}:{line}: there is no column `{column}` among {found}", file.display())]
    Column {
        /// Which file.
        file: PathBuf,
        /// Which line.
        line: u64,
        /// The missing name.
        column: &'static str,
        /// The line as it stands.
        found: String,
    },
    /// A value cannot be read.
    #[error("{}:{line}: `{value}` is no {expected}", file.display())]
    Value {
        /// Which file.
        file: PathBuf,
        /// Which line.
        line: u64,
        /// What stands there.
        value: String,
        /// What should.
        expected: &'static str,
    },
    /// No line follows the names, or none with figures.
    #[error("{}: there are no points", file.display())]
    Empty {
        /// Which file.
        file: PathBuf,
    },
}

impl Hint for PointsError {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            PointsError::Load(error) => return error.hint(),
            PointsError::Kind { .. } => {
                "give a saved `tune`, `sweep` or campaign of `simulate`, or a CSV file with the \
                    columns `streams` and `goodput`"
            }
            PointsError::Several {
                what: documents::WINDOWS,
                ..
            }
            | PointsError::NoWindow { .. } => "pick one with `--window SIZE` or `--window auto`",
            PointsError::Several { .. } => {
                "give the rows of one: `trunkline history --target sim:slac-cern --csv`, or one \
                    `--variant`"
            }
            PointsError::Column { .. } => {
                "begin the file with the line `streams,goodput`, or name the second column \
                 `goodput [Mbit/s]` or `goodput_bits_per_second`"
            }
            PointsError::Value { .. } => {
                "write lines like `8,45Mbit/s`; in a column `goodput [Mbit/s]` like `8,45`, in a \
                    column `goodput_bits_per_second` like `8,45000000`"
            }
            PointsError::Empty { .. } => {
                "write one line for each measurement below the names, like `8,45Mbit/s`"
            }
        };
        Some(hint.to_owned())
    }
}

/// One point as the file has it.
#[derive(Debug, Clone, PartialEq)]
struct Point {
    streams: u32,
    /// `None` where the file does not say.
    window: Option<Window>,
    /// What must be the same of all points beside the window: path, kind of TCP, direction.
    series: String,
    rate: Rate,
}

/// Reads points of (streams, aggregate goodput) from `file`.
///
/// * `window`: which points count; `None` where all have the same.
///
/// # Errors
/// When the file cannot be read, or a line or a document gives no points; see [`PointsError`].
pub fn load_points(file: &Path, window: Option<Window>) -> Result<Vec<(u32, Rate)>, PointsError> {
    let text = fs::read_to_string(file).map_err(|source| LoadError::Read {
        path: file.to_owned(),
        source,
    })?;
    let (points, usual) = match text.trim_start().starts_with('{') {
        true => documents::points(file, &parse(file, &text)?)?,
        false => (csv_file::points(file, &text)?, None),
    };
    alike(file, points, window.or(usual))
}

/// The points of one window, where they differ in nothing else.
fn alike(
    file: &Path,
    mut points: Vec<Point>,
    window: Option<Window>,
) -> Result<Vec<(u32, Rate)>, PointsError> {
    let file = || file.to_owned();
    let windows = distinct(&points, window_text);
    if points.is_empty() {
        return Err(PointsError::Empty { file: file() });
    }
    if let Some(asked) = window {
        points.retain(|point| point.window == Some(asked));
        if points.is_empty() {
            return Err(PointsError::NoWindow {
                file: file(),
                asked: asked.to_string(),
                found: windows,
            });
        }
    }
    let found = [
        (documents::WINDOWS, distinct(&points, window_text)),
        (
            documents::SERIES,
            distinct(&points, |point| point.series.clone()),
        ),
    ];
    for (what, found) in found {
        if found.contains(", ") {
            return Err(PointsError::Several {
                file: file(),
                what,
                found,
            });
        }
    }
    if points.is_empty() {
        return Err(PointsError::Empty { file: file() });
    }
    Ok(points
        .iter()
        .map(|point| (point.streams, point.rate))
        .collect())
}

fn window_text(point: &Point) -> String {
    point
        .window
        .map_or_else(String::new, |window| window.to_string())
}

fn distinct(points: &[Point], value: impl Fn(&Point) -> String) -> String {
    let mut values: Vec<String> = Vec::new();
    for value in points.iter().map(value) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values.join(", ")
}

#[cfg(test)]
mod tests;
