//! `trunkline watch export`: results as tables for other programs.

use std::io;
use std::process::ExitCode;

use trunkline_watch::{Export, Format, Selection};

use crate::args::WatchExport;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::stop;

pub(super) fn run(arguments: &WatchExport) -> Result<ExitCode, Failure> {
    let export = Export {
        database: arguments.database.clone(),
        table: arguments.table,
        format: format(arguments)?,
        selection: Selection {
            from_host: arguments.from.clone(),
            to_host: arguments.to.clone(),
            task: arguments.task.clone(),
            from: arguments.since.unwrap_or(Selection::ALL.from),
            to: arguments.until.unwrap_or(Selection::ALL.to),
        },
    };
    let cancel = stop::listen()?;
    let Some(file) = &arguments.file else {
        export.to_output(io::stdout(), &cancel)?;
        return Ok(ExitCode::SUCCESS);
    };
    let rows = export.to_file(file, &cancel, &mut output::count_so_far("rows"))?;
    tell!(
        "wrote {rows} rows of {} to {}",
        export.table,
        file.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// What was asked for, or what the name of the file ends in.
fn format(arguments: &WatchExport) -> Result<Format, Failure> {
    if let Some(format) = arguments.format {
        return Ok(format);
    }
    let Some(file) = &arguments.file else {
        return Ok(Format::Ndjson);
    };
    let ending = file.extension().unwrap_or_default().to_string_lossy();
    ending.parse().map_err(|error| {
        let what = format!("{}: {error}", file.display());
        Failure::wrong_request(&what, "end its name in .csv or .ndjson, or say `--format`")
    })
}
