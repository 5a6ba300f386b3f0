//! What goes wrong with a request, as a page with the next step.

use axum::http::StatusCode;
use draw::ChartError;
use errors::Hint;
use maud::{Markup, html};
use watch_store::StoreError;

/// Why a request has no page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The status of the answer.
    pub status: StatusCode,
    /// The value and the bound.
    pub what: String,
    /// The next step.
    pub hint: String,
}

impl Problem {
    fn new(status: StatusCode, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Problem {
            status,
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// 400: a value is outside its bounds.
    pub fn bad(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, what, hint)
    }

    /// 404: there is nothing of this name.
    pub fn unknown(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Problem::new(StatusCode::NOT_FOUND, what, hint)
    }

    /// 403: the token is missing or another one.
    pub fn forbidden(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Problem::new(StatusCode::FORBIDDEN, what, hint)
    }

    /// 503: too many requests wait.
    pub fn busy() -> Self {
        let what = "too many requests wait for the database";
        Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            what,
            "try again in some seconds",
        )
    }

    /// 500: a mistake of ours.
    pub fn ours(what: impl Into<String>) -> Self {
        let hint = "report it with the address of this page";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, what, hint)
    }

    /// Whether the database is the reason.
    pub fn is_of_store(&self) -> bool {
        self.status == StatusCode::SERVICE_UNAVAILABLE
    }

    /// What the page says.
    pub fn markup(&self) -> Markup {
        html! {
            h1 { (title(self.status)) }
            p.lead { (marked(&draw::words::sentence(&self.what))) }
            p { (marked(&draw::words::sentence(&self.hint))) }
            p { a href=(crate::href::HOME) { "All tasks" } }
        }
    }
}

/// What stands between backticks is code.
fn marked(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// The heading of a status.
pub fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => "This request has a wrong value",
        StatusCode::NOT_FOUND => "There is no such page",
        StatusCode::FORBIDDEN => "This needs the token",
        StatusCode::SERVICE_UNAVAILABLE => "The database cannot be read now",
        _ => "This page could not be made",
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let hint = error.hint().unwrap_or_default();
        Problem::new(status, error.to_string(), hint)
    }
}

impl From<ChartError> for Problem {
    fn from(error: ChartError) -> Self {
        Problem::ours(error.to_string())
    }
}
