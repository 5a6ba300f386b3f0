//! What every request has at hand, and who may write.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use tokio::sync::{Semaphore, watch};

use crate::Live;
use crate::ask::Ask;
use crate::page::forecast;
use crate::problem::Problem;
use crate::stores::Stores;

/// What every request has at hand.
pub struct Site {
    /// The database.
    pub stores: Stores,
    /// What there is beside it.
    pub live: Arc<dyn Live>,
    /// Who knows it may write.
    pub token: Option<String>,
    /// Counts changes.
    pub changed: watch::Receiver<u64>,
    /// Whether the server ends.
    pub stop: watch::Receiver<bool>,
    /// Forecasts of pairs.
    pub forecasts: forecast::Kept,
    /// Open pages that may follow changes.
    pub listeners: Arc<Semaphore>,
    /// Pages that are made at once.
    pub turns: Arc<Semaphore>,
    /// Answers with visits that are made or read.
    pub streams: Arc<Semaphore>,
    /// Metrics have a turn of their own: who scrapes them waits for no page.
    pub metrics_turn: Arc<Semaphore>,
}

impl Site {
    /// Whether the token is there, in the header `Authorization: Bearer` or in the form.
    pub fn check_token(&self, headers: &HeaderMap, form: &Ask) -> Result<(), Problem> {
        let Some(token) = &self.token else {
            let hint = "start the server with a token to allow it";
            return Err(Problem::forbidden("this server only reads", hint));
        };
        let header = headers.get(header::AUTHORIZATION);
        let header = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let given = header.or(form.text("token")).unwrap_or_default();
        // Hashes of BLAKE3 are compared in constant time.
        match blake3::hash(given.as_bytes()) == blake3::hash(token.as_bytes()) {
            true => Ok(()),
            false => {
                let hint = "give the server's token in the form, or as `Authorization: Bearer`";
                Err(Problem::forbidden(
                    "the token is missing or another one",
                    hint,
                ))
            }
        }
    }
}
