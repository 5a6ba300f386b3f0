//! The last results of a watch as OpenMetrics text, and a Grafana dashboard of them.
