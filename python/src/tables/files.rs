//! The files of a copy.

use serde::{Deserialize, Serialize};
use trunkline::copy::CopyEvent;

use super::Columns;

/// What became of one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FileRow {
    name: String,
    outcome: String,
    bytes: Option<u64>,
    blake3: Option<[u8; 32]>,
    at_seconds: Option<f64>,
    because: Option<String>,
}

impl FileRow {
    /// The row of an event; `None` of one that is about no file.
    pub fn of(event: &CopyEvent) -> Option<Self> {
        let mut row = FileRow {
            name: String::new(),
            outcome: "published".to_owned(),
            bytes: None,
            blake3: None,
            at_seconds: None,
            because: None,
        };
        match event {
            CopyEvent::Published {
                at,
                name,
                bytes,
                digest,
            } => {
                row.name = name.to_string();
                row.bytes = Some(bytes.get());
                row.blake3 = *digest;
                row.at_seconds = Some(at.as_secs_f64());
            }
            CopyEvent::Skipped { at, name, bytes } => {
                row.name = name.to_string();
                "skipped".clone_into(&mut row.outcome);
                row.bytes = Some(bytes.get());
                row.at_seconds = Some(at.as_secs_f64());
            }
            CopyEvent::WouldCopy { name, bytes } => {
                row.name = name.to_string();
                "would-copy".clone_into(&mut row.outcome);
                row.bytes = Some(bytes.get());
            }
            CopyEvent::Removed { at, name } => {
                row.name.clone_from(name);
                "removed".clone_into(&mut row.outcome);
                row.at_seconds = Some(at.as_secs_f64());
            }
            CopyEvent::LeftOut { at, problem } | CopyEvent::Failed { at, problem } => {
                row.name.clone_from(&problem.name);
                row.outcome = match event {
                    CopyEvent::LeftOut { .. } => "left-out",
                    _ => "failed",
                }
                .to_owned();
                row.at_seconds = Some(at.as_secs_f64());
                row.because = Some(problem.what.clone());
            }
            _ => return None,
        }
        Some(row)
    }
}

fn hexadecimal(digest: [u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A row for each file.
pub fn files(rows: &[FileRow]) -> Columns {
    let mut columns = Columns::default();
    columns.text("name", rows, |row| Some(row.name.clone()));
    columns.text("outcome", rows, |row| Some(row.outcome.clone()));
    columns.u64("bytes", rows, |row| row.bytes);
    columns.text("blake3", rows, |row| row.blake3.map(hexadecimal));
    columns.f64("at_seconds", rows, |row| row.at_seconds);
    columns.text("because", rows, |row| row.because.clone());
    columns
}
