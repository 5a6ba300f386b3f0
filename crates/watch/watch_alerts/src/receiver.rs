//! Receivers by their number.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A receiver: the number of its table among those of its kind, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receiver {
    /// A `[[webhook]]`.
    Webhook(usize),
    /// A `[[mail]]`.
    Mail(usize),
    /// An `[[alertmanager]]`.
    Alertmanager(usize),
}

impl fmt::Display for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, index) = match self {
            Receiver::Webhook(index) => ("webhook", index),
            Receiver::Mail(index) => ("mail", index),
            Receiver::Alertmanager(index) => ("alertmanager", index),
        };
        write!(f, "{kind} {}", index + 1)
    }
}
