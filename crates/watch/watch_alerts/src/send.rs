//! Sends what is due. Each call takes as long as the receiver, up to a bound; threads are the
//! caller's.

mod alertmanager;
mod http;
mod mail;

use std::time::Duration;
use std::{env, fs};

use changes::UnixTime;
use units::Span;

use crate::config::{Alerting, Mail, Place, Secret, Url};
use crate::outbox::{Delivery, Firing, Message};
use crate::{Notification, Receiver, SendError, words};

/// A receiver gets so long to take a message.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The alert of a test ends by itself at Alertmanager.
const TEST_LASTS: Span = Span::from_secs(300);

/// Sends one message.
///
/// # Errors
/// When the receiver did not take it.
pub fn send(delivery: &Delivery, alerting: &Alerting, now: UnixTime) -> Result<(), SendError> {
    let receivers = &alerting.receivers;
    let gone = || SendError::Gone(delivery.receiver);
    match (delivery.receiver, &delivery.message) {
        (Receiver::Webhook(index), Message::Notification(notification)) => {
            let webhook = receivers.webhooks.get(index).ok_or_else(gone)?;
            let (url, secret) = url_of(&webhook.url)?;
            http::post(
                &url,
                secret,
                webhook.header.as_ref(),
                &webhook_body(notification)?,
            )
        }
        (Receiver::Mail(index), Message::Notification(notification)) => {
            let mail = receivers.mails.get(index).ok_or_else(gone)?;
            send_mail(mail, notification, now)
        }
        (Receiver::Alertmanager(index), Message::Firing(firing)) => {
            let manager = receivers.alertmanagers.get(index).ok_or_else(gone)?;
            let url = alertmanager::url(&manager.url)?;
            let body = alertmanager::body(firing, now)?;
            http::post(&url, None, manager.header.as_ref(), &body)
        }
        _ => Err(gone()),
    }
}

/// The notification, and all of it as text beside it, which chat services show.
fn webhook_body(notification: &Notification) -> Result<String, SendError> {
    #[derive(serde::Serialize)]
    struct Body<'a> {
        #[serde(flatten)]
        notification: &'a Notification,
        text: String,
    }
    json(&Body {
        notification,
        text: notification.text(),
    })
}

fn json(value: &impl serde::Serialize) -> Result<String, SendError> {
    serde_json::to_string(value).map_err(|error| SendError::Message(error.to_string()))
}

fn send_mail(mail: &Mail, notification: &Notification, now: UnixTime) -> Result<(), SendError> {
    mail::run(mail, &mail::text(mail, notification, now)?, TIME_LIMIT)
}

/// A URL, and the secret that it is where it is one.
fn url_of(place: &Place) -> Result<(Url, Option<String>), SendError> {
    match place {
        Place::Url(url) => Ok((url.clone(), None)),
        Place::Secret(secret) => {
            let text = read(secret)?;
            let url = text.parse().map_err(|problem| SendError::Secret {
                place: secret.to_string(),
                problem,
            })?;
            Ok((url, Some(text)))
        }
    }
}

/// Reads a secret.
fn read(secret: &Secret) -> Result<String, SendError> {
    let text = match secret {
        Secret::File(file) => fs::read_to_string(file).map_err(|error| error.to_string()),
        Secret::Environment(name) => env::var(name).map_err(|error| error.to_string()),
    };
    let text = text.map(|text| text.trim_end_matches(['\r', '\n']).to_owned());
    let text = text.and_then(|text| match text.is_empty() {
        true => Err("it is empty".to_owned()),
        false => Ok(text),
    });
    text.map_err(|problem| SendError::Secret {
        place: secret.to_string(),
        problem,
    })
}

/// What a test of one receiver gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    /// Whom it concerns.
    pub receiver: Receiver,
    /// Whether the receiver took it.
    pub is_sent: bool,
    /// The result as a sentence.
    pub sentence: String,
}

/// Sends a test message to every receiver, one after another.
pub fn send_test(alerting: &Alerting, now: UnixTime) -> Vec<TestResult> {
    let test = |receiver| {
        let result = send(&test_delivery(receiver, now), alerting, now);
        TestResult {
            receiver,
            is_sent: result.is_ok(),
            sentence: match result {
                Ok(()) => format!("{receiver} took the test message of {}.", words::time(now)),
                Err(error) => format!("{receiver} got no test message: {error}."),
            },
        }
    };
    alerting.receivers.all().into_iter().map(test).collect()
}

fn test_delivery(receiver: Receiver, now: UnixTime) -> Delivery {
    let test = Notification::test(now);
    let message = match receiver {
        Receiver::Alertmanager(_) => Message::Firing(vec![Firing {
            first: test,
            ended: Some(now + TEST_LASTS),
        }]),
        _ => Message::Notification(Box::new(test)),
    };
    Delivery { receiver, message }
}

#[cfg(test)]
mod tests;
