//! The file of alerts: who is told, when, and what is silenced.

mod read;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use units::Span;
use ureq::http::Uri;
use watch_plan::PlanError;

use crate::{Receiver, Severity, Silence};

/// The file of alerts.
#[derive(Debug, Clone, PartialEq)]
pub struct Alerting {
    /// Where the pages of the watch are, for links.
    pub base_url: Option<Url>,
    /// Notification rules.
    pub rules: Rules,
    /// Where alerts are sent.
    pub receivers: Receivers,
    /// Events that are not sent.
    pub silences: Vec<Silence>,
}

/// Notification rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How long an event has to be known before it is sent, and its end as well.
    pub hold: Span,
    /// Lowest severity that is sent.
    pub severity: Severity,
}

/// Who is told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Receivers {
    /// `[[webhook]]`.
    pub webhooks: Vec<Webhook>,
    /// `[[mail]]`.
    pub mails: Vec<Mail>,
    /// `[[alertmanager]]`.
    pub alertmanagers: Vec<Alertmanager>,
}

/// A URL that takes JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Where it is.
    pub url: Place,
    /// A header with a secret.
    pub header: Option<Header>,
}

/// A URL, or where a secret one is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `url`.
    Url(Url),
    /// `url_secret`, of services whose URL is all that a caller has to know.
    Secret(Secret),
}

/// A program that takes a mail on its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// To whom.
    pub to: Vec<Address>,
    /// From whom.
    pub from: Address,
}

/// An Alertmanager of Prometheus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alertmanager {
    /// Where it is, without `/api/v2`.
    pub url: Url,
    /// A header with a secret.
    pub header: Option<Header>,
}

/// A header of HTTP whose value is a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Secret,
}

/// Where a secret is read each time it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// A file, whose last line end does not count.
    File(PathBuf),
    /// A variable of the environment.
    Environment(String),
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::File(file) => write!(f, "the file `{}`", file.display()),
            Secret::Environment(name) => write!(f, "the environment variable `{name}`"),
        }
    }
}

/// The address of a mail: ASCII, one `@`, no spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands after the `@`.
    pub(crate) fn domain(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, domain)| domain)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let odd = |c: char| !c.is_ascii_graphic() || "<>()[]\\,;:\"".contains(c);
        let is_address = text.split_once('@').is_some_and(|(user, domain)| {
            !user.is_empty() && !domain.is_empty() && !domain.contains('@') && text.len() <= 254
        });
        match is_address && !text.contains(odd) {
            true => Ok(Address(text.to_owned())),
            false => {
                let shown: String = text.chars().take(60).collect();
                Err(format!(
                    "{shown:?} is no address; write one like `noc@example.org`"
                ))
            }
        }
    }
}

/// The URL of a page: `http` or `https`, with a host.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(Uri);

impl Url {
    /// The whole URL without a slash at its end; it may have a secret in it.
    pub(crate) fn text(&self) -> String {
        self.0.to_string().trim_end_matches('/').to_owned()
    }
}

impl FromStr for Url {
    type Err = String;

    /// The message has nothing of the text, which may be a secret.
    fn from_str(text: &str) -> Result<Self, String> {
        let refused = "this is no URL with a host; write one like `https://watch.example.org`";
        let uri: Uri = text.parse().map_err(|_| refused.to_owned())?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        match is_http && uri.host().is_some_and(|host| !host.is_empty()) {
            true => Ok(Url(uri)),
            false => Err(refused.to_owned()),
        }
    }
}

impl fmt::Display for Url {
    /// Scheme, host and port alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, host) = (self.0.scheme_str(), self.0.host());
        write!(
            f,
            "{}://{}",
            scheme.unwrap_or("http"),
            host.unwrap_or_default()
        )?;
        self.0
            .port_u16()
            .map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Receivers {
    /// Those whose notifications are queued.
    pub(crate) fn queued(&self) -> Vec<Receiver> {
        let webhooks = (0..self.webhooks.len()).map(Receiver::Webhook);
        let mails = (0..self.mails.len()).map(Receiver::Mail);
        webhooks.chain(mails).collect()
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Receiver> {
        let managers = (0..self.alertmanagers.len()).map(Receiver::Alertmanager);
        self.queued().into_iter().chain(managers).collect()
    }
}

impl Alerting {
    /// Reads the file of alerts from TOML; `file_name` names the text in messages. Files of secrets
    /// are relative to its folder.
    ///
    /// ```
    /// let text = r#"
    ///     base_url = "https://watch.example.org"
    ///     [[mail]]
    ///     command = ["sendmail", "-t"]
    ///     from = "watch@example.org"
    ///     to = ["noc@example.org"]
    /// "#;
    /// let alerting = watch_alerts::Alerting::parse(text, "alerts.toml").unwrap();
    /// assert_eq!(alerting.rules.hold.to_string(), "600s");
    /// ```
    ///
    /// # Errors
    /// All mistakes of the text, with their lines.
    pub fn parse(text: &str, file_name: &str) -> Result<Alerting, PlanError> {
        read::read(text, file_name)
    }
}
