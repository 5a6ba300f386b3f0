//! The text of a scrape.

use std::fmt;

use changes::{EventKind, Severity, UnixTime};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use watch_store::{GridCell, Incident, Name};

use crate::metric::{
    AGENT_CLOCK, AGENT_SEEN, AGENT_WAITING, FAILED, GOODPUT, LAST_VISIT, LEFT_OUT, LOSS, Metric,
    OPEN_EVENTS, OPEN_INCIDENTS, ROUND_TRIP_MEDIAN, ROUND_TRIP_MIN, SHARE, SHOWN,
};

/// The `Content-Type` of [`text`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// As many pairs and tasks as a text has: 10,000 take about 12 MB.
const SERIES_MAX: usize = 10_000;

/// What a scrape shows.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The last visits of each task.
    pub grids: &'a [GridFigures],
    /// The incidents that go on.
    pub incidents: &'a [Incident],
    /// The agents.
    pub agents: &'a [AgentFigures],
}

/// The last visit of each pair of a task, as [`watch_store::Store::grid`] has it.
#[derive(Debug, Clone, PartialEq)]
pub struct GridFigures {
    /// The task.
    pub task: Name,
    /// Its pairs.
    pub cells: Vec<GridCell>,
}

/// What the collector knows of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentFigures {
    /// Its host.
    pub host: Name,
    /// When it was last heard of.
    pub last_seen: Option<UnixTime>,
    /// Results that wait on its disk.
    pub waiting_results: Option<u64>,
    /// How far its clock is ahead, in seconds; negative where it is behind.
    pub clock_ahead_seconds: Option<i64>,
}

/// All samples as OpenMetrics text. The same input gives the same text.
///
/// A figure that a visit does not have has no sample. Of more than 10,000 pairs and tasks the rest
/// is left out, and counted.
pub fn text(input: &Input) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Samples::of(input)));
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
    text
}

/// All samples of all metrics, in their order.
#[derive(Debug)]
struct Samples(Vec<(Metric, Vec<Sample>)>);

/// The labels and the value.
type Sample = (Vec<(&'static str, String)>, f64);

impl Samples {
    fn of(input: &Input) -> Samples {
        let cells = input.grids.iter().flat_map(|grid| {
            let labelled = |cell| (&grid.task, cell);
            grid.cells.iter().map(labelled)
        });
        let (all, cells) = (cells.clone().count(), cells.take(SERIES_MAX));
        let cells: Vec<(&Name, &GridCell)> = cells.collect();
        let mut samples = of_pairs(&cells);
        samples.push((OPEN_INCIDENTS, open_incidents(input.incidents)));
        samples.push((OPEN_EVENTS, open_events(input.incidents)));
        samples.extend(of_agents(input.agents));
        let left_out = all.saturating_sub(SERIES_MAX);
        samples.push((LEFT_OUT, vec![(Vec::new(), left_out as f64)]));
        Samples(samples)
    }
}

fn of_pairs(cells: &[(&Name, &GridCell)]) -> Vec<(Metric, Vec<Sample>)> {
    type Figure = fn(&GridCell) -> Option<f64>;
    let figures: [(Metric, Figure); 8] = [
        (GOODPUT, |cell| Some(cell.goodput?.as_f64() / 8.0)),
        (SHOWN, |cell| Some(cell.shown?.as_f64() / 8.0)),
        (SHARE, GridCell::share_of_shown),
        (ROUND_TRIP_MIN, |cell| Some(cell.rtt_min?.as_secs_f64())),
        (ROUND_TRIP_MEDIAN, |cell| {
            Some(cell.rtt_median?.as_secs_f64())
        }),
        (LOSS, |cell| cell.loss),
        (LAST_VISIT, |cell| Some(cell.at.seconds() as f64)),
        (FAILED, |cell| Some(f64::from(cell.failure.is_some()))),
    ];
    let samples = |figure: Figure| {
        let with = cells.iter().filter_map(|(task, cell)| {
            let values = [&cell.pair.from, &cell.pair.to, task].map(Name::to_string);
            Some((values, figure(cell)?))
        });
        with.map(|(values, value)| (labelled(&GOODPUT, values), value))
            .collect()
    };
    figures
        .map(|(metric, figure)| (metric, samples(figure)))
        .into()
}

fn labelled<const N: usize>(metric: &Metric, values: [String; N]) -> Vec<(&'static str, String)> {
    metric.labels.iter().copied().zip(values).collect()
}

/// How many incidents of each severity are open; those for the better have one, too.
fn open_incidents(incidents: &[Incident]) -> Vec<Sample> {
    let better = (None, "better");
    let severities = Severity::ALL.map(|severity| (Some(severity), severity.name()));
    let sample = |(severity, name): (Option<Severity>, &str)| {
        let open = incidents.iter().filter(|one| one.severity() == severity);
        let labels = labelled(&OPEN_INCIDENTS, [name.to_owned()]);
        (labels, open.count() as f64)
    };
    severities.into_iter().chain([better]).map(sample).collect()
}

/// How many events of each kind are open; kinds without one have zero.
fn open_events(incidents: &[Incident]) -> Vec<Sample> {
    let kinds = [
        (EventKind::Step, "step"),
        (EventKind::Drift, "drift"),
        (EventKind::Flapping, "flapping"),
        (EventKind::Route, "route"),
        (EventKind::NoData, "no-data"),
    ];
    let open = |kind| {
        let members = incidents.iter().flat_map(Incident::members);
        let open = members.filter(|one| one.event.is_open());
        open.filter(|one| one.event.kind == kind).count()
    };
    let sample = |(kind, name): (EventKind, &str)| {
        (labelled(&OPEN_EVENTS, [name.to_owned()]), open(kind) as f64)
    };
    kinds.map(sample).into()
}

fn of_agents(agents: &[AgentFigures]) -> Vec<(Metric, Vec<Sample>)> {
    type Figure = fn(&AgentFigures) -> Option<f64>;
    let figures: [(Metric, Figure); 3] = [
        (AGENT_SEEN, |agent| Some(agent.last_seen?.seconds() as f64)),
        (AGENT_WAITING, |agent| Some(agent.waiting_results? as f64)),
        (AGENT_CLOCK, |agent| Some(agent.clock_ahead_seconds? as f64)),
    ];
    let samples = |figure: Figure| {
        let with = agents
            .iter()
            .filter_map(|agent| Some((agent, figure(agent)?)));
        with.map(|(agent, value)| (labelled(&AGENT_SEEN, [agent.host.to_string()]), value))
            .collect()
    };
    figures
        .map(|(metric, figure)| (metric, samples(figure)))
        .into()
}

impl Collector for Samples {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        for (metric, samples) in &self.0 {
            let unit = metric.unit.map(|unit| Unit::Other(unit.to_owned()));
            let name = base_name(metric);
            let mut family =
                encoder.encode_descriptor(name, metric.help, unit.as_ref(), MetricType::Gauge)?;
            for (labels, value) in samples {
                // The library writes braces around no labels.
                match labels.is_empty() {
                    true => family.encode_gauge(value)?,
                    false => family.encode_family(labels)?.encode_gauge(value)?,
                }
            }
        }
        Ok(())
    }
}

/// The name without its unit, which the encoder adds.
fn base_name(metric: &Metric) -> &'static str {
    let unit = metric.unit.unwrap_or_default();
    let base = metric.name.strip_suffix(unit).unwrap_or(metric.name);
    base.trim_end_matches('_')
}

#[cfg(test)]
mod tests;
