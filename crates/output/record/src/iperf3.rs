//! Results of `iperf3 -J` as measure documents.
//!
//! iperf3's readings become an [`observe::Observation`] and go through the same analysis as our
//! own, so that a goodput means the same wherever it came from. What iperf3 does not tell is
//! absent: idle round trips, the far end's buffers, and of a client that only receives all that the
//! sender's kernel knew.
//!
//! Two things are coarser. Where the client sent, its intervals count bytes as they were written,
//! which is up to a send buffer before they arrive; the receiver's totals correct the sum, not the
//! course. And intervals are a second long unless `-i` said otherwise: fewer than twenty of them
//! carry no interval.
//!
//! Left out: UDP and SCTP, whose rates are set and not found; the server's own output; warm-up that
//! `-O` had left out.
//!
//! Reading order: `shape.rs` for iperf3's keys, [`read`], `convert.rs`.

mod convert;
mod shape;

use std::path::{Path, PathBuf};

use errors::{Fault, Hint};
use serde_json::{Value, from_str, from_value};
use thiserror::Error;

use crate::{Document, Measure};

/// Why a file is not a result of iperf3 that can be taken over.
#[derive(Debug, Error)]
pub enum Iperf3Error {
    /// A key is missing or holds something else.
    #[error("{}: not a complete result of iperf3", path.display())]
    Shape {
        /// Which file.
        path: PathBuf,
        /// Which key.
        source: serde_json::Error,
    },
    /// iperf3 itself had failed.
    #[error("{}: iperf3 reported `{said}`", path.display())]
    Failed {
        /// Which file.
        path: PathBuf,
        /// What it said.
        said: String,
    },
    /// A test of another kind.
    #[error("{}: {what}", path.display())]
    Unlike {
        /// Which file.
        path: PathBuf,
        /// What it is, and what is wanted.
        what: String,
    },
}

impl Hint for Iperf3Error {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        let hint = "give what `iperf3 -c HOST -J` prints of a finished TCP test";
        Some(hint.to_owned())
    }
}

/// Whether `text` looks like the output of `iperf3 -J`.
pub fn is_iperf3(text: &str) -> bool {
    let value: Option<Value> = from_str(text).ok();
    let version = value
        .as_ref()
        .and_then(|value| value.pointer("/start/version"));
    let version = version.and_then(Value::as_str);
    version.is_some_and(|version| version.starts_with("iperf"))
}

/// Reads `text`, the output of `iperf3 -J`; `path` is for the messages.
///
/// # Errors
/// When a key is missing, iperf3 had failed, or it was no TCP test seen by its client.
pub fn read(path: &Path, text: &str) -> Result<Document<Measure>, Iperf3Error> {
    let shape = |source| Iperf3Error::Shape {
        path: path.to_owned(),
        source,
    };
    // By way of a value, because iperf3 writes some keys once for each stream.
    let value: Value = from_str(text).map_err(shape)?;
    if let Some(said) = value.get("error") {
        let said = said
            .as_str()
            .map_or_else(|| said.to_string(), str::to_owned);
        return Err(Iperf3Error::Failed {
            path: path.to_owned(),
            said: said.chars().take(120).collect(),
        });
    }
    let result: shape::Result = from_value(value).map_err(shape)?;
    convert::document(&result).map_err(|what| Iperf3Error::Unlike {
        path: path.to_owned(),
        what,
    })
}

#[cfg(test)]
mod tests;
