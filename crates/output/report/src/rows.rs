//! Documents as comma-separated values (RFC 4180): what is unknown is empty, numbers stand in full.

mod history;
mod simulated;
mod sweep;

use archive::Essence;
use record::{AnyDocument, Direction};

pub use history::csv as history;
pub use sweep::visits_csv as visits;

/// The rows of a document that has some: one for a measurement, one for each simulated setting, one
/// for each visit of a sweep. `None` of other kinds.
pub fn rows(document: &AnyDocument) -> Option<String> {
    match document {
        AnyDocument::Measure(_) => Some(history::run_csv(&Essence::of(document)?)),
        AnyDocument::Simulate(document) => Some(simulated::simulate(&document.body)),
        AnyDocument::Campaign(document) => Some(simulated::campaign(&document.body)),
        AnyDocument::Fluid(document) => Some(simulated::fluid(&document.body)),
        AnyDocument::Sweep(document) => Some(visits(&document.body)),
        _ => None,
    }
}

/// What is unknown is empty.
pub(crate) fn known(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
        Direction::Both => "both",
    }
}

/// The text of a table with `names` in its first line.
fn table(names: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut writer = csv::WriterBuilder::new()
        .flexible(true)
        .from_writer(Vec::new());
    // Writing to memory cannot fail.
    let _ = writer.write_record(names);
    for row in rows {
        let _ = writer.write_record(row);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use record::synthetic::{self, Case, SweepCase};

    use super::*;

    fn lines(document: impl Into<AnyDocument>) -> Vec<String> {
        let text = rows(&document.into()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_row_has_as_many_cells_as_there_are_names() {
        let tables = [
            lines(synthetic::measure(&Case::streams(8, 1))),
            lines(synthetic::simulate(8)),
            lines(synthetic::campaign()),
            lines(synthetic::sweep(&SweepCase::windows_against_streams(1))),
        ];
        for lines in tables {
            let width = |line: &String| line.split(',').count();
            let names = width(&lines[0]);
            assert!(lines.len() > 1);
            assert!(lines.iter().all(|line| width(line) == names), "{lines:?}");
        }
    }

    #[test]
    fn a_campaign_has_a_row_for_each_setting() {
        let lines = lines(synthetic::campaign());
        assert_eq!(lines.len(), 37);
        assert!(lines[0].starts_with("path,streams,window_bytes,variant,"));
        assert!(lines[2].starts_with("toy,1,65536,sack,") || lines[2].contains(",65536,"));
    }

    #[test]
    fn a_cell_with_commas_and_quotes_is_quoted() {
        let text = table(&["a", "b"], [vec!["x, \"y\"".to_owned(), String::new()]]);
        assert_eq!(text, "a,b\n\"x, \"\"y\"\"\",\n");
    }
}
