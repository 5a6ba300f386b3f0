//! Measured points from a file: CSV, or one of our own documents.
//!
//! CSV has a line of names first, two of which are `streams` and `throughput` (with its unit in each value, as
//! `45Mbit/s`) or `throughput_bits_per_second`. Other columns, empty lines and lines that begin with `#` are passed
//! over. Quoted values are left out: numbers need none.
//!
//! Of a tune document the samples count that have the recommended window; of a campaign its cells, which must
//! then differ in nothing but their streams.

use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;
use units::Rate;

use crate::{AnyDocument, Campaign, LoadError, Tune, parse};

/// Why a file gives no points.
#[derive(Debug, Error)]
pub enum PointsError {
    /// The file cannot be read or is a broken document.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A document without samples of several numbers of streams.
    #[error("{}: {problem}", file.display())]
    Document {
        /// Which file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The line of names lacks a column.
    #[error("{}:{line}: there is no column `{column}` among {found}", file.display())]
    Column {
        /// Which file.
        file: PathBuf,
        /// Which line.
        line: usize,
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
        line: usize,
        /// What stands there.
        value: String,
        /// What should.
        expected: &'static str,
    },
    /// No line follows the names.
    #[error("{}: there are no points", file.display())]
    Empty {
        /// Which file.
        file: PathBuf,
    },
}

impl PointsError {
    /// The next step.
    pub fn hint(&self) -> &'static str {
        match self {
            PointsError::Load(error) => error.hint(),
            PointsError::Document { .. } => {
                "give a saved `tune` or a campaign of `simulate` with one window and one variant, or a CSV file \
                 with the columns `streams` and `throughput`"
            }
            PointsError::Column { .. } => {
                "begin the file with the line `streams,throughput`, or name the second column \
                 `throughput_bits_per_second`"
            }
            PointsError::Value { .. } => {
                "write lines like `8,45Mbit/s`; in a column `throughput_bits_per_second` like `8,45000000`"
            }
            PointsError::Empty { .. } => {
                "write one line for each measurement below the names, like `8,45Mbit/s`"
            }
        }
    }
}

/// Reads points of (streams, aggregate throughput) from `file`.
///
/// # Errors
/// When the file cannot be read, or a line or a document gives no points; see [`PointsError`].
pub fn load_points(file: &Path) -> Result<Vec<(u32, Rate)>, PointsError> {
    let text = fs::read_to_string(file).map_err(|source| LoadError::Read {
        path: file.to_owned(),
        source,
    })?;
    match text.trim_start().starts_with('{') {
        true => of_document(file, &parse(file, &text)?),
        false => of_csv(file, &text),
    }
}

fn of_document(file: &Path, document: &AnyDocument) -> Result<Vec<(u32, Rate)>, PointsError> {
    let points = match document {
        AnyDocument::Tune(document) => Ok(of_tune(&document.body)),
        AnyDocument::Demo(document) => Ok(of_tune(&document.body.tune)),
        AnyDocument::Campaign(document) => of_campaign(&document.body),
        _ => Err("the document has no samples of several numbers of streams".to_owned()),
    };
    points.map_err(|problem| PointsError::Document {
        file: file.to_owned(),
        problem,
    })
}

fn of_tune(tune: &Tune) -> Vec<(u32, Rate)> {
    let alike = tune.samples.iter().filter(|sample| {
        let setting = &sample.run.setting;
        Some(setting.window) == tune.window() && setting.pacing_bits_per_second.is_none()
    });
    let point = |sample: &crate::Sample| {
        let rate = Rate::from_bits_per_second(sample.run.goodput_bits_per_second);
        (u32::from(sample.run.setting.streams), rate)
    };
    alike.map(point).collect()
}

fn of_campaign(campaign: &Campaign) -> Result<Vec<(u32, Rate)>, String> {
    let first = campaign.cells.first().map(|cell| &cell.setting);
    let differs = campaign
        .cells
        .iter()
        .map(|cell| &cell.setting)
        .find(|setting| {
            first.is_some_and(|first| {
                first.window != setting.window || first.variant != setting.variant
            })
        });
    if let (Some(first), Some(other)) = (first, differs) {
        return Err(format!(
            "the cells differ in more than their streams: {} with window {:?}, and {} with {:?}",
            first.variant, first.window, other.variant, other.window
        ));
    }
    let point = |cell: &crate::simulate::Cell| {
        let rate = cell.figures.aggregate.goodput_bits_per_second;
        (cell.setting.streams, Rate::from_bits_per_second(rate))
    };
    Ok(campaign.cells.iter().map(point).collect())
}

/// Where the two columns are, and whether the second has a unit in each value.
struct Columns {
    streams: usize,
    throughput: usize,
    plain_bits: bool,
}

fn of_csv(file: &Path, text: &str) -> Result<Vec<(u32, Rate)>, PointsError> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let mut lines = lines
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let empty = || PointsError::Empty {
        file: file.to_owned(),
    };
    let (line, names) = lines.next().ok_or_else(empty)?;
    let columns = columns(file, line, names)?;
    let points: Result<Vec<_>, _> = lines
        .map(|(line, text)| point(file, line, text, &columns))
        .collect();
    points.and_then(|points| {
        if points.is_empty() {
            Err(empty())
        } else {
            Ok(points)
        }
    })
}

fn columns(file: &Path, line: usize, names: &str) -> Result<Columns, PointsError> {
    let place = |column: &str| cells(names).position(|name| name.eq_ignore_ascii_case(column));
    let missing = |column| PointsError::Column {
        file: file.to_owned(),
        line,
        column,
        found: shortened(names),
    };
    let bits = place("throughput_bits_per_second").or_else(|| place("goodput_bits_per_second"));
    let throughput = bits.or_else(|| place("throughput"));
    Ok(Columns {
        streams: place("streams").ok_or_else(|| missing("streams"))?,
        throughput: throughput.ok_or_else(|| missing("throughput"))?,
        plain_bits: bits.is_some(),
    })
}

fn point(
    file: &Path,
    line: usize,
    text: &str,
    columns: &Columns,
) -> Result<(u32, Rate), PointsError> {
    let cell = |index: usize| cells(text).nth(index).unwrap_or("");
    let wrong = |value: &str, expected| PointsError::Value {
        file: file.to_owned(),
        line,
        value: shortened(value),
        expected,
    };
    let (streams, throughput) = (cell(columns.streams), cell(columns.throughput));
    let count = streams.parse::<u32>().ok().filter(|count| *count > 0);
    let rate = match columns.plain_bits {
        true => throughput.parse().ok().map(Rate::from_bits_per_second),
        false => throughput.parse::<Rate>().ok(),
    };
    let rate = rate.filter(|rate| *rate > Rate::ZERO);
    let expected = match columns.plain_bits {
        true => "whole number of bits per second above 0",
        false => "throughput with its unit above 0",
    };
    Ok((
        count.ok_or_else(|| wrong(streams, "number of streams above 0"))?,
        rate.ok_or_else(|| wrong(throughput, expected))?,
    ))
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(str::trim)
}

/// What a message quotes of somebody's file.
fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    fn csv(text: &str) -> Result<Vec<(u32, Rate)>, PointsError> {
        of_csv(Path::new("points.csv"), text)
    }

    fn complaint(text: &str) -> String {
        csv(text).unwrap_err().to_string()
    }

    #[test]
    fn lines_become_points() {
        let points =
            csv("# SLAC\nname, Streams ,throughput\na,1,9.45Mbit/s\n\nb,8,50 Mbit/s\n").unwrap();
        assert_eq!(
            points,
            [
                (1, Rate::from_bits_per_second(9_450_000)),
                (8, Rate::from_bits_per_second(50_000_000)),
            ]
        );
        let bits = csv("throughput_bits_per_second,streams\r\n45000000,4\r\n").unwrap();
        assert_eq!(bits, [(4, Rate::from_bits_per_second(45_000_000))]);
    }

    #[test]
    fn a_wrong_line_is_named_with_its_value() {
        let line = "streams,throughput\n1,5Mbit/s\n";
        assert_eq!(
            complaint(&format!("{line}x,5Mbit/s")),
            "points.csv:3: `x` is no number of streams above 0"
        );
        assert_eq!(
            complaint(&format!("{line}0,5Mbit/s")),
            "points.csv:3: `0` is no number of streams above 0"
        );
        assert_eq!(
            complaint(&format!("{line}2,5")),
            "points.csv:3: `5` is no throughput with its unit above 0"
        );
        assert_eq!(
            complaint(&format!("{line}2")),
            "points.csv:3: `` is no throughput with its unit above 0"
        );
        assert_eq!(
            complaint("n,throughput\n"),
            "points.csv:1: there is no column `streams` among n,throughput"
        );
        assert_eq!(
            complaint("streams,rate\n"),
            "points.csv:1: there is no column `throughput` among streams,rate"
        );
        assert_eq!(
            complaint("\n# nothing\n"),
            "points.csv: there are no points"
        );
        assert_eq!(
            complaint("streams,throughput\n"),
            "points.csv: there are no points"
        );
    }

    #[test]
    fn a_search_gives_the_samples_of_its_window() {
        let document = AnyDocument::from(synthetic::tune(1));
        let points = of_document(Path::new("tune.json"), &document).unwrap();
        assert!(points.len() >= 4, "{points:?}");
        assert!(points.iter().any(|(streams, _)| *streams == 8));
    }

    #[test]
    fn documents_without_a_curve_are_refused() {
        let several = AnyDocument::from(synthetic::campaign());
        let error = of_document(Path::new("c.json"), &several)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("c.json: the cells differ in more than their streams"),
            "{error}"
        );
        let one = AnyDocument::from(synthetic::simulate(8));
        assert!(of_document(Path::new("s.json"), &one).is_err());
    }
}
