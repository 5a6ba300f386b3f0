//! What `offline.py` wrote.

use std::error::Error;
use std::path::Path;

use crate::score::Outcome;
use crate::series::Fault;

/// One outcome for each line.
///
/// # Errors
/// When the file is missing or a line is not one of `offline.py`.
pub fn read(file: &Path) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let mut lines = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_path(file)?;
    let mut outcomes = Vec::new();
    for line in lines.records() {
        let line = line?;
        let field = |index: usize| line.get(index).unwrap_or_default();
        let fault = Fault::ALL.into_iter().find(|one| one.name() == field(1));
        outcomes.push(Outcome {
            method: field(0).to_owned(),
            fault: fault.ok_or_else(|| format!("fault `{}` is unknown", field(1)))?,
            size: field(4).parse()?,
            delay: field(5).parse().ok(),
            cause: None,
            kind: None,
            hours: 0.0,
            false_first_day: 0,
            first_days: 0.0,
            false_alarms: field(6).parse()?,
            months: field(7).parse()?,
        });
    }
    Ok(outcomes)
}
