//! Traffic across the border by application, in and out.

mod page;

use changes::UnixTime;
use serde::Serialize;
use watch_store::{Border, Crossing, DatabaseName, RouterHour, Store, Volume};

use trunkline::Error;

/// Seconds before now that are shown, where nothing else is asked for.
const DAY: u64 = 86_400;
/// Steps of a table: whole sums alone are shown.
const STEP: u64 = 1800;

/// Which traffic is asked for.
#[derive(Debug, Clone)]
pub struct FlowsAsked {
    /// Where the results are; it is only read.
    pub database: DatabaseName,
    /// From then on; a day before the end without.
    pub since: Option<UnixTime>,
    /// Before then; now without.
    pub until: Option<UnixTime>,
}

/// Traffic of some time by application.
#[derive(Debug, Clone, Serialize)]
pub struct FlowsReport {
    /// From then on.
    #[serde(rename = "from_unix_seconds")]
    pub from: UnixTime,
    /// Before then.
    #[serde(rename = "to_unix_seconds")]
    pub to: UnixTime,
    /// Seconds of it of which there are records.
    pub covered_seconds: u64,
    /// Those with the most bytes in and out first.
    pub applications: Vec<ApplicationFlows>,
    /// How the records of each router came.
    pub routers: Vec<RouterFlows>,
}

/// Traffic of an application; rates are means over the seconds with records.
#[derive(Debug, Clone, Serialize)]
pub struct ApplicationFlows {
    /// Its name, by its ports.
    pub application: String,
    /// From elsewhere to addresses inside.
    #[serde(rename = "in")]
    pub into: Volume,
    /// From addresses inside to elsewhere.
    pub out: Volume,
    /// Between addresses inside.
    pub within: Volume,
    /// Between addresses elsewhere.
    pub through: Volume,
    /// Mean rate in.
    pub in_bits_per_second: f64,
    /// Mean rate out.
    pub out_bits_per_second: f64,
}

/// How the records of a router came.
#[derive(Debug, Clone, Serialize)]
pub struct RouterFlows {
    /// Counts.
    #[serde(flatten)]
    pub counts: RouterHour,
    /// Of what the router sent, the share that did not come; `None` where nothing says.
    pub lost_ratio: Option<f64>,
}

/// Traffic across the border, from the results of a watch.
///
/// # Errors
/// When the database cannot be read, or has no flow records of that time.
pub fn flows(asked: &FlowsAsked) -> Result<FlowsReport, Error> {
    let to = asked.until.unwrap_or_else(super::collector_event::now);
    let day_before = UnixTime::from_seconds(to.seconds().saturating_sub(DAY));
    let from = asked.since.unwrap_or(day_before);
    let border = Store::open_to_read(&asked.database)?.border((from, to), STEP)?;
    if border.covered.is_empty() && border.routers.is_empty() {
        return Err(Error::wrong_request(
            "no flow records of this time are stored",
            "ask for another time with `--since` and `--until`; a collector takes records where \
             its plan has `[flows]`, and stores them within seconds",
        ));
    }
    Ok(FlowsReport::of(&border, (from, to)))
}

impl FlowsReport {
    fn of(border: &Border, (from, to): (UnixTime, UnixTime)) -> Self {
        let application = |application: String| {
            let is_own = |name: &str| name == application;
            let rate = |way| border.mean_rate(way, is_own).unwrap_or(0.0);
            ApplicationFlows {
                into: border.volume(Crossing::In, is_own),
                out: border.volume(Crossing::Out, is_own),
                within: border.volume(Crossing::Within, is_own),
                through: border.volume(Crossing::Through, is_own),
                in_bits_per_second: rate(Crossing::In),
                out_bits_per_second: rate(Crossing::Out),
                application: application.clone(),
            }
        };
        let router = |counts: &RouterHour| RouterFlows {
            counts: counts.clone(),
            lost_ratio: counts.lost_share(),
        };
        FlowsReport {
            from,
            to,
            covered_seconds: border.seconds(),
            applications: border.applications().into_iter().map(application).collect(),
            routers: border.routers.iter().map(router).collect(),
        }
    }

    /// As other programs read it, with a line break at the end.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
