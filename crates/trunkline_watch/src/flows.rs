//! Traffic across the border by application, in and out.

use changes::UnixTime;
use draw::format::lasting;
use draw::page::{Block, Page};
use serde_json::json;
use watch_store::{Border, DatabaseName, Store};
use watch_web::{minute, traffic_blocks};

use trunkline::Error;

/// Seconds before now that are shown, where nothing else is asked for.
const DAY: u64 = 86_400;
/// Steps of what is read: whole sums alone are shown.
const STEP: u64 = 1800;

/// Traffic of some time by application.
#[derive(Debug, Clone)]
pub struct FlowsReport {
    range: (UnixTime, UnixTime),
    border: Border,
}

/// Traffic across the border, from the results of a watch: of the last day, or since then and until
/// then. The database is only read.
///
/// # Errors
/// When the database cannot be read, or has no flow records of that time.
pub fn flows(
    database: &DatabaseName,
    since: Option<UnixTime>,
    until: Option<UnixTime>,
) -> Result<FlowsReport, Error> {
    // What is stored in this second counts.
    let next = || UnixTime::from_seconds(super::collector_event::now().seconds() + 1);
    let to = until.unwrap_or_else(next);
    let day_before = UnixTime::from_seconds(to.seconds().saturating_sub(DAY));
    let range = (since.unwrap_or(day_before), to);
    let border = Store::open_to_read(database)?.border(range, STEP)?;
    if border.covered.is_empty() && border.routers.is_empty() {
        return Err(Error::wrong_request(
            "no flow records of this time are stored",
            "ask for another time with `--since` and `--until`; a collector takes records where \
             its plan has `[flows]`, and stores them within seconds",
        ));
    }
    Ok(FlowsReport { range, border })
}

impl FlowsReport {
    /// As people read it.
    pub fn page(&self) -> Page {
        let (from, to) = self.range;
        let covered = lasting(self.border.seconds() as f64);
        let asked = lasting(to.since(from).as_secs_f64());
        let minutes = [from, to].map(minute);
        let [from, to] = minutes;
        let words = format!("{from} to {to} UTC; there are records of {covered} of {asked}.");
        let mut blocks = vec![Block::Sentences(vec![words])];
        blocks.extend(traffic_blocks(&self.border));
        Page::new("watch-flows", "Traffic across the border", blocks)
    }

    /// As other programs read it, with a line break at the end.
    pub fn json(&self) -> String {
        let border = &self.border;
        let names = border.applications();
        let of = |name: &String| border.of_application(name, |other| other == name);
        let applications: Vec<_> = names.iter().map(of).collect();
        let (from, to) = self.range;
        let document = json!({
            "from_unix_seconds": from,
            "to_unix_seconds": to,
            "covered_seconds": border.seconds(),
            "applications": applications,
            "routers": border.routers,
        });
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}
