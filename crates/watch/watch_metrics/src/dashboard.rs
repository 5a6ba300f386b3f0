//! A Grafana dashboard of the metrics, for a Prometheus data source.

use serde_json::{Value, json};

use crate::metric::{
    AGENT_CLOCK, AGENT_SEEN, AGENT_WAITING, FAILED, GOODPUT, LAST_VISIT, LOSS, Metric, OPEN_EVENTS,
    OPEN_INCIDENTS, ROUND_TRIP_MEDIAN, ROUND_TRIP_MIN, SHARE, SHOWN,
};

/// The dashboard as the JSON that Grafana imports: the matrix of a task, the pair of two hosts,
/// incidents and agents.
pub fn grafana_dashboard() -> String {
    let panels = [
        matrix(),
        round_trips(),
        throughput(),
        failures(),
        incidents(),
        agents(),
    ];
    let panels: Vec<Value> = (1_u64..)
        .zip(panels)
        .map(|(id, panel)| panel.json(id))
        .collect();
    let dashboard = json!({
        "uid": "trunkline-watch",
        "title": "trunkline watch",
        "description": "Last results of a watch. The pages of trunkline have causes and history.",
        "tags": ["trunkline", "network"],
        "schemaVersion": 39,
        "version": 1,
        "refresh": "1m",
        "time": {"from": "now-2d", "to": "now"},
        "timezone": "utc",
        "editable": true,
        "templating": {"list": variables()},
        "panels": panels,
    });
    format!("{dashboard:#}\n")
}

/// What a reader chooses: the data source, a task, and the two hosts of a pair.
fn variables() -> Vec<Value> {
    let source = json!({
        "name": "source", "label": "Data source", "type": "datasource", "query": "prometheus",
    });
    let of = |name: &str, label: &str, filter: &str| {
        let query = format!("label_values({}{filter}, {name})", LAST_VISIT.name);
        json!({
            "name": name, "label": label, "type": "query", "refresh": 2, "sort": 1,
            "datasource": data_source(), "definition": query,
            "query": {"query": query, "refId": name},
        })
    };
    vec![
        source,
        of("task", "Task", ""),
        of("from", "From", "{task=\"$task\"}"),
        of("to", "To", "{task=\"$task\",from=\"$from\"}"),
    ]
}

fn data_source() -> Value {
    json!({"type": "prometheus", "uid": "${source}"})
}

/// One panel with its queries, each with a legend.
struct Panel {
    kind: &'static str,
    title: &'static str,
    /// x, y, width and height on Grafana's 24 columns.
    place: [u64; 4],
    queries: Vec<(String, &'static str)>,
    /// Of tables: the last value alone.
    is_instant: bool,
    field_config: Value,
    transformations: Value,
}

impl Panel {
    fn json(self, id: u64) -> Value {
        let [x, y, w, h] = self.place;
        let is_instant = self.is_instant;
        let target = |(index, (query, legend)): (u8, (String, &str))| {
            json!({
                "refId": char::from(b'A' + index).to_string(),
                "datasource": data_source(), "expr": query, "legendFormat": legend,
                "instant": is_instant, "range": !is_instant,
                "format": if is_instant { "table" } else { "time_series" },
            })
        };
        let targets: Vec<Value> = (0_u8..).zip(self.queries).map(target).collect();
        json!({
            "id": id, "type": self.kind, "title": self.title, "datasource": data_source(),
            "gridPos": {"x": x, "y": y, "w": w, "h": h},
            "targets": targets,
            "fieldConfig": self.field_config,
            "transformations": self.transformations,
        })
    }
}

/// A metric of the chosen task.
fn of_task(metric: &Metric) -> String {
    format!("{}{{task=\"$task\"}}", metric.name)
}

/// A metric of the chosen pair, whatever its task: pings have round trips, throughput has goodput.
fn of_pair(metric: &Metric) -> String {
    format!("{}{{from=\"$from\",to=\"$to\"}}", metric.name)
}

fn matrix() -> Panel {
    Panel {
        kind: "table",
        title: "$task: goodput as a share of what the pair has been shown to carry",
        place: [0, 0, 24, 9],
        queries: vec![(of_task(&SHARE), "")],
        is_instant: true,
        field_config: json!({
            "defaults": {
                "unit": "percentunit",
                "decimals": 0,
                "thresholds": {"mode": "absolute", "steps": [
                    {"color": "dark-red", "value": null},
                    {"color": "dark-orange", "value": 0.5},
                    {"color": "dark-yellow", "value": 0.75},
                    {"color": "dark-green", "value": 0.9},
                ]},
                "custom": {"cellOptions": {"type": "color-background", "mode": "basic"}},
            },
            "overrides": [{
                "matcher": {"id": "byName", "options": "from\\to"},
                "properties": [{"id": "custom.cellOptions", "value": {"type": "auto"}}],
            }],
        }),
        transformations: json!([{
            "id": "groupingToMatrix",
            "options": {
                "rowField": "from", "columnField": "to", "valueField": "Value",
                "emptyValue": "null",
            },
        }]),
    }
}

fn round_trips() -> Panel {
    let band = json!({
        "matcher": {"id": "byRegexp", "options": "/median/"},
        "properties": [
            {"id": "custom.lineWidth", "value": 2},
            {"id": "custom.fillOpacity", "value": 15},
        ],
    });
    let loss = json!({
        "matcher": {"id": "byRegexp", "options": "/loss/"},
        "properties": [
            {"id": "unit", "value": "percentunit"},
            {"id": "custom.drawStyle", "value": "bars"},
            {"id": "custom.axisPlacement", "value": "right"},
            {"id": "color", "value": {"mode": "fixed", "fixedColor": "red"}},
            {"id": "min", "value": 0},
        ],
    });
    Panel {
        kind: "timeseries",
        title: "$from to $to: round trips and loss",
        place: [0, 9, 12, 9],
        queries: vec![
            (of_pair(&ROUND_TRIP_MIN), "{{task}} min"),
            (of_pair(&ROUND_TRIP_MEDIAN), "{{task}} median"),
            (of_pair(&LOSS), "{{task}} loss"),
        ],
        is_instant: false,
        field_config: json!({"defaults": {"unit": "s"}, "overrides": [band, loss]}),
        transformations: json!([]),
    }
}

fn throughput() -> Panel {
    Panel {
        kind: "timeseries",
        title: "$from to $to: goodput, and what has been shown",
        place: [12, 9, 12, 9],
        queries: vec![
            (format!("8 * {}", of_pair(&GOODPUT)), "{{task}}"),
            (format!("8 * {}", of_pair(&SHOWN)), "{{task}} shown"),
        ],
        is_instant: false,
        field_config: json!({"defaults": {"unit": "bps", "min": 0}, "overrides": []}),
        transformations: json!([]),
    }
}

fn failures() -> Panel {
    let age = format!("max by (task) (time() - {})", LAST_VISIT.name);
    Panel {
        kind: "timeseries",
        title: "Pairs whose last visit failed, and the longest time since a visit",
        place: [0, 18, 8, 8],
        queries: vec![
            (
                format!("sum by (task) ({})", FAILED.name),
                "{{task}} failed",
            ),
            (age, "{{task}} age"),
        ],
        is_instant: false,
        field_config: json!({
            "defaults": {"min": 0},
            "overrides": [{
                "matcher": {"id": "byRegexp", "options": "/age/"},
                "properties": [
                    {"id": "unit", "value": "s"},
                    {"id": "custom.axisPlacement", "value": "right"},
                ],
            }],
        }),
        transformations: json!([]),
    }
}

fn incidents() -> Panel {
    Panel {
        kind: "timeseries",
        title: "Open incidents, and events of each kind",
        place: [8, 18, 8, 8],
        queries: vec![
            (OPEN_INCIDENTS.name.to_owned(), "{{severity}}"),
            (OPEN_EVENTS.name.to_owned(), "events: {{kind}}"),
        ],
        is_instant: false,
        field_config: json!({"defaults": {"min": 0, "decimals": 0}, "overrides": []}),
        transformations: json!([]),
    }
}

fn agents() -> Panel {
    let unit = |column: &str, unit: &str| {
        json!({
            "matcher": {"id": "byName", "options": column},
            "properties": [{"id": "unit", "value": unit}],
        })
    };
    Panel {
        kind: "table",
        title: "Agents",
        place: [16, 18, 8, 8],
        queries: vec![
            (format!("time() - {}", AGENT_SEEN.name), ""),
            (AGENT_WAITING.name.to_owned(), ""),
            (AGENT_CLOCK.name.to_owned(), ""),
        ],
        is_instant: true,
        field_config: json!({
            "defaults": {},
            "overrides": [unit("Last seen", "s"), unit("Clock ahead", "s")],
        }),
        transformations: json!([
            {"id": "joinByField", "options": {"byField": "host", "mode": "outer"}},
            {
                "id": "filterFieldsByName",
                "options": {"include": {"names": ["host", "Value #A", "Value #B", "Value #C"]}},
            },
            {
                "id": "organize",
                "options": {"renameByName": {
                    "Value #A": "Last seen", "Value #B": "Waiting", "Value #C": "Clock ahead",
                }},
            },
        ]),
    }
}
