//! The health of many paths over months, with the cause beside every change.
//!
//! A plan ([`load_plan`]) says which hosts visit which. An agent on each host ([`run`]) makes the
//! visits and reports them. A collector ([`CollectorServer`]) stores them and finds changes.

mod agent;
mod alerting;
mod archive;
mod collector;
mod collector_event;
pub mod demo;
mod explain;
mod export;
mod flow_listener;
mod flows;
mod forecast;
mod live;
mod months;
mod plan;
mod rejections;
mod settings;
mod visit;
mod words;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

pub use agent::{RunOptions, run};
pub use alerting::test_alerts;
pub use archive::{Archived, archive_documents, named_database};
pub use changes::UnixTime;
pub use collector::{AlertFiles, CollectOptions, CollectorServer, PageServer};
pub use collector_event::{CollectorEvent, OnCollectorEvent};
pub use explain::Explained;
pub use export::{Export, read_rows, when};
pub use flows::{FlowsReport, flows};
pub use forecast::{CopyForecast, forecast};
pub use months::{
    GroupMonth, GroupMonths, Months, MonthsAsked, PairMonths, PingMonth, Trends, months,
};
pub use plan::{PlanFile, load_plan};
pub use watch_plan;
pub use watch_run::agent::AgentEvent;
pub use watch_run::link::COLLECTOR_PORT;
pub use watch_store::{
    Cell, Column, DatabaseName, Format, Kind, Name, NameError, Selection, Table,
};

use copy_protocol::Token;

use trunkline::Error;

/// Writes a file that is there whole or as it was before, also after a loss of power.
fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut whole = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    whole.write_all(bytes)?;
    whole.as_file().sync_all()?;
    whole.persist(file)?;
    Ok(())
}

/// Reads a file that holds a token and nothing else.
///
/// # Errors
/// When it cannot be read or is no token. What stands in it is not shown.
pub fn read_token(file: &Path) -> Result<Token, Error> {
    let text = File::open(file).and_then(|open| read_short(&open));
    let text = text.map_err(|error| Error::unreadable(file, error))?;
    Ok(text.trim().parse::<Token>()?)
}

/// The beginning of a file that should have a token or a password: plans may name any file.
fn read_short(file: &File) -> io::Result<String> {
    /// More than either has.
    const LENGTH_MAX: u64 = 4_096;
    let mut text = String::new();
    file.take(LENGTH_MAX).read_to_string(&mut text)?;
    Ok(text)
}
