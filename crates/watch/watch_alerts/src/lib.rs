//! Alerts of a watch: which events are told, when, to whom, and how they are sent.
//!
//! [`Alerts`] takes the events of all detectors and groups them into incidents: one route change
//! that ten pairs show is one incident, and so is a host that sends nothing. An incident is told
//! once, after a hold time, and its end is told once, after it has lasted. `Alerts` is a value
//! that can be stored; it has no clock and sends nothing.
//!
//! [`send`] sends what is due, one delivery per call: a webhook, a mail command, or Alertmanager.
//! The caller owns the threads and the file with the state:
//!
//! ```
//! use changes::UnixTime;
//! use watch_alerts::{Alerting, Alerts, Situation};
//!
//! let text = "[[alertmanager]]\nurl = \"http://localhost:9093\"\n";
//! let alerting = Alerting::parse(text, "alerts.toml").unwrap();
//! let mut alerts = Alerts::default();
//! let now = UnixTime::from_seconds(1_795_543_200);
//! let situation = Situation { alerting: &alerting, pairs: &[], now };
//! // For each event of a detector: alerts.insert(&event, &situation), then:
//! let told = alerts.advance(&situation);
//! let stored = serde_json::to_string(&alerts).unwrap(); // before anything is sent
//! for delivery in alerts.due(&situation) {
//!     let result = watch_alerts::send(&delivery, &alerting, now); // on a thread of its own
//!     alerts.delivered(&delivery, &result, now);
//! }
//! # assert!(told.is_empty() && stored.len() > 2);
//! ```
//!
//! After a start, insert the events of the last 30 days that the store has: repeats change nothing,
//! and none is lost that was stored just before a crash.
//!
//! A crash between sending and storing sends one notification again, with the same identity:
//! receivers know it by `id`, by `Message-ID` or, at Alertmanager, by its labels.
//!
//! Left out: escalation, on-call rotas and acknowledgement, which Alertmanager's users have
//! already.
//!
//! Reading order: `config.rs`, `silence.rs`, `situation.rs`, `incident.rs`, `alerts.rs`,
//! `notification.rs`, `report.rs`, `words.rs`, `receiver.rs`, `outbox.rs`, then `send.rs`.

mod alerts;
mod config;
mod incident;
mod notification;
mod outbox;
mod receiver;
mod report;
mod send;
mod send_error;
mod silence;
mod situation;
mod words;

pub use alerts::{Alerts, SILENCES_MAX};
pub use changes::Severity;
pub use config::{
    Address, Alerting, Alertmanager, Header, Mail, Place, Receivers, Rules, Secret, Url, Webhook,
};
pub use notification::{CauseNote, Change, Notification, State};
pub use outbox::{Delivery, Firing, Message, Outbox, Unsent};
pub use receiver::Receiver;
pub use send::{TestResult, send, send_test};
pub use send_error::SendError;
pub use silence::Silence;
pub use situation::Situation;
