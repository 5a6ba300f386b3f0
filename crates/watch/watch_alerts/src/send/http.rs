//! One POST of JSON.

use crate::SendError;
use std::sync::{Arc, LazyLock};

use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, http::Response};

use super::{TIME_LIMIT, read};
use crate::config::{Header, Url};
use crate::words::clean;

/// As much of an answer is read, in bytes.
const READ: u64 = 4096;

/// TLS with the authorities that the system trusts. A redirect is an answer like any other: alerts
/// and secrets go nowhere but where the file says.
static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    let found = rustls_native_certs::load_native_certs().certs;
    let trusted = found
        .iter()
        .map(|one| Certificate::from_der(one.as_ref()).to_owned());
    let trusted: Vec<Certificate<'static>> = trusted.collect();
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&trusted))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    Agent::config_builder()
        .tls_config(tls)
        .timeout_global(Some(TIME_LIMIT))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("trunkline/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
});

/// Posts JSON.
///
/// * `secret`: the URL, where all of it is a secret.
pub(super) fn post(
    url: &Url,
    secret: Option<String>,
    header: Option<&Header>,
    json: &str,
) -> Result<(), SendError> {
    let mut secrets = Vec::from_iter(secret);
    let mut request = AGENT
        .post(url.text())
        .header("Content-Type", "application/json");
    if let Some(header) = header {
        let value = read(&header.value)?;
        request = request.header(&header.name, &value);
        secrets.push(value);
    }
    let place = url.to_string();
    let answer = request.send(json).map_err(|error| SendError::Unreachable {
        place: place.clone(),
        problem: without(&secrets, &error.to_string()),
    })?;
    let status = answer.status();
    match status.is_success() {
        true => Ok(()),
        false => Err(SendError::Refused {
            place,
            status: status.as_u16(),
            body: without(&secrets, &beginning(answer)),
        }),
    }
}

fn beginning(answer: Response<Body>) -> String {
    let mut body = answer.into_body();
    let text = body
        .with_config()
        .limit(READ)
        .lossy_utf8(true)
        .read_to_string();
    match text.as_deref().map(str::trim) {
        Ok("") => "it said nothing more".to_owned(),
        Ok(text) => text.to_owned(),
        Err(error) => format!("its text could not be read, {error}"),
    }
}

/// A text from elsewhere, on one line, without secrets.
fn without(secrets: &[String], text: &str) -> String {
    let replaced = secrets.iter().fold(text.to_owned(), |text, secret| {
        text.replace(secret.as_str(), "(secret)")
    });
    clean(&replaced)
}
