//! The names, units and meanings of all metrics. All are gauges: they say what is, and none counts.
//!
//! Rates are in bytes, as Prometheus wants base units; the dashboard shows them in bits.

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// The whole name, with the unit at its end.
    pub name: &'static str,
    /// The unit, where there is one.
    pub unit: Option<&'static str>,
    /// What it says.
    pub help: &'static str,
    /// The labels of a sample.
    pub labels: &'static [&'static str],
}

const PAIR: &[&str] = &["from", "to", "task"];
const AGENT: &[&str] = &["host"];

macro_rules! metrics {
    ($($id:ident $name:literal $unit:expr, $labels:expr, $help:literal;)*) => {
        $(pub(crate) const $id: Metric = Metric {
            name: $name,
            unit: $unit,
            help: $help,
            labels: $labels,
        };)*

        /// All metrics, in the order of the text.
        pub const METRICS: &[Metric] = &[$($id),*];
    };
}

metrics! {
    GOODPUT "trunkline_watch_goodput_bytes_per_second" Some("bytes_per_second"), PAIR,
        "Goodput of the last visit";
    SHOWN "trunkline_watch_shown_bytes_per_second" Some("bytes_per_second"), PAIR,
        "95th percentile of goodput over the 30 days before, what the pair has been shown to carry";
    SHARE "trunkline_watch_share_of_shown_ratio" Some("ratio"), PAIR,
        "Goodput of the last visit as a share of what the pair has been shown to carry";
    ROUND_TRIP_MIN "trunkline_watch_round_trip_min_seconds" Some("seconds"), PAIR,
        "Shortest round trip of the last visit";
    ROUND_TRIP_MEDIAN "trunkline_watch_round_trip_median_seconds" Some("seconds"), PAIR,
        "Median round trip of the last visit";
    LOSS "trunkline_watch_loss_ratio" Some("ratio"), PAIR,
        "Probes of the last visit that were lost, as a share";
    LAST_VISIT "trunkline_watch_last_visit_timestamp_seconds" Some("seconds"), PAIR,
        "When the last visit began, in seconds since 1970-01-01 UTC";
    FAILED "trunkline_watch_last_visit_failed" None, PAIR,
        "1 where the last visit has no result, else 0";
    OPEN_INCIDENTS "trunkline_watch_open_incidents" None, &["severity"],
        "Incidents that are not over: what one cause did to any number of pairs";
    OPEN_EVENTS "trunkline_watch_open_events" None, &["kind"],
        "Events that are not over";
    AGENT_SEEN "trunkline_watch_agent_last_seen_timestamp_seconds" Some("seconds"), AGENT,
        "When the agent was last heard of, in seconds since 1970-01-01 UTC";
    AGENT_WAITING "trunkline_watch_agent_waiting_results" None, AGENT,
        "Results that wait on the agent's disk";
    AGENT_CLOCK "trunkline_watch_agent_clock_ahead_seconds" Some("seconds"), AGENT,
        "How far the agent's clock is ahead of the collector's, negative where it is behind";
    LEFT_OUT "trunkline_watch_left_out_series" None, &[],
        "Pairs and tasks that this text has no room for";
}
