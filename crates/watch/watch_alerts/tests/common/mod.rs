//! Events, and a server of HTTP that notes what it was sent.

#![allow(dead_code)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use changes::{Event, EventKind, Metric, Moved, UnixTime};
use units::Span;
use watch_alerts::{Alerting, Alerts, Situation};
use watch_store::{Pair, StoredEvent};

pub fn alerting(text: &str) -> Alerting {
    Alerting::parse(text, "alerts.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// A third of the goodput from `from` to `to` is lost since `first`.
pub fn slower(from: &str, to: &str, first: UnixTime) -> StoredEvent {
    StoredEvent {
        pair: Pair {
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
        },
        task: "goodput".parse().unwrap(),
        event: Event {
            id: 0,
            revision: 0,
            kind: EventKind::Step,
            first_visit: first,
            previous_visit: None,
            confirmed: first,
            recovered: None,
            end: None,
            shifts: vec![Moved {
                metric: Metric::Goodput,
                before: 90e6,
                after: 60e6,
                size: -1.0 / 3.0,
                size_low: None,
                size_high: None,
                strength: 9.0,
                recovered: None,
            }],
            causes: Vec::new(),
            failures: BTreeMap::new(),
        },
    }
}

/// The same event, over.
pub fn over(mut stored: StoredEvent, at: UnixTime) -> StoredEvent {
    stored.event.revision += 1;
    stored.event.recovered = Some(at);
    stored
}

/// Alerts that have told one event, begun an hour ago.
pub fn with_one_event(alerting: &Alerting, now: UnixTime) -> Alerts {
    let mut alerts = Alerts::default();
    let first = UnixTime::from_seconds(now.seconds() - 3600);
    let before = Situation {
        alerting,
        pairs: &[],
        now: first,
    };
    alerts.insert(&slower("b\u{f6}nn", "cern", first), &before);
    assert_eq!(alerts.advance(&Situation { now, ..before }).len(), 1);
    alerts
}

/// Sends all that is due and gives the errors.
pub fn send_due(alerts: &mut Alerts, alerting: &Alerting, now: UnixTime) -> Vec<String> {
    let situation = Situation {
        alerting,
        pairs: &[],
        now,
    };
    let mut errors = Vec::new();
    for delivery in alerts.due(&situation) {
        let result = watch_alerts::send(&delivery, alerting, now);
        alerts.delivered(&delivery, &result, now);
        errors.extend(result.err().map(|error| error.to_string()));
    }
    errors
}

pub fn later(at: UnixTime, seconds: u64) -> UnixTime {
    at + Span::from_secs(seconds)
}

/// A server that gives each request the next of its answers, and then none.
pub struct Server {
    pub port: u16,
    requests: Receiver<Request>,
}

pub struct Request {
    pub line: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Server {
    pub fn start(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = channel();
        thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().unwrap();
                let request = serve(stream, &answer);
                if sender.send(request).is_err() {
                    return;
                }
            }
        });
        Server { port, requests }
    }

    pub fn request(&self) -> Request {
        self.requests
            .recv_timeout(Duration::from_secs(60))
            .expect("a request")
    }

    /// Whether there was no further request.
    pub fn is_quiet(&self) -> bool {
        self.requests.try_recv().is_err()
    }
}

/// An answer of HTTP.
pub fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

fn serve(stream: TcpStream, answer: &str) -> Request {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut stream = stream;
    stream.write_all(answer.as_bytes()).unwrap();
    Request {
        line: line.trim_end().to_owned(),
        headers,
        body: String::from_utf8(body).unwrap(),
    }
}
