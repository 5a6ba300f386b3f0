//! The last results of a watch as OpenMetrics text, and a Grafana dashboard of them.
//!
//! [`text`] writes what is known already: no scrape starts a measurement, so none can time out on
//! one. Each pair and task has the time of its last visit beside the figures. [`grafana_dashboard`]
//! makes a dashboard of the same names; packaging/grafana has it as a file.
//!
//! Reading order: `metric.rs` for the names, `text.rs`, `dashboard.rs`.

mod dashboard;
mod metric;
mod text;

pub use dashboard::grafana_dashboard;
pub use metric::{METRICS, Metric};
pub use text::{AgentFigures, CONTENT_TYPE, GridFigures, Input, text};
