//! From a request to its page.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get, post};
use futures_util::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time;
use tower_http::compression::CompressionLayer;

use crate::ask::Ask;
use crate::frame::{self, Sheet};
use crate::href::Place;
use crate::page::{
    charts, event, events, grid, hosts, incident, months, note, pair, silence, stream, traffic,
    visit,
};
use crate::problem::Problem;
use crate::requests::{self, OwnNames};
use crate::site::Site;

/// Longest time that a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);
/// What browsers may load: this server's own files, and nothing within a page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
    img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

type AtSite = State<Arc<Site>>;
type Values = BTreeMap<String, String>;

/// All addresses.
pub(crate) fn router(site: Arc<Site>, names: OwnNames) -> Router {
    Router::new()
        .route("/", get(at_grid))
        .route("/pair/{from}/{to}", get(at_pair))
        .route("/event/{task}/{from}/{to}/{id}", get(at_event))
        .route("/charts", get(at_charts))
        .route("/events", get(at_events))
        .route("/visit/{id}", get(at_visit))
        .route("/months", get(at_months))
        .route("/traffic", get(at_traffic))
        .route(
            "/hosts",
            get(async |State(site): AtSite| page(site, hosts::sheet).await),
        )
        .route("/incident/{task}/{from}/{to}/{id}", get(at_incident))
        .route(
            "/silences",
            get(async |State(site): AtSite| page(site, silence::list).await),
        )
        .route("/silence", writing(silence::take))
        .route("/silence/end", writing(silence::end))
        .route("/note", writing(note::take))
        .route("/stream.ndjson", get(at_stream))
        .route(
            "/metrics",
            get(async |State(site): AtSite| text(&site, &site.metrics_turn, stream::metrics).await),
        )
        .route(
            "/live",
            get(async |State(site): AtSite| stream::live(&site)),
        )
        .route(
            "/style.css",
            get(async || asset("text/css", frame::style())),
        )
        .route(
            "/script.js",
            get(async || asset("text/javascript", frame::SCRIPT)),
        )
        .route(
            "/icon.svg",
            get(async || asset("image/svg+xml", frame::ICON)),
        )
        .fallback(async |State(site): AtSite| page(site, |_| Err(frame::no_such_page())).await)
        .layer(middleware::from_fn_with_state(names, requests::check))
        .layer(middleware::map_response(guarded))
        .layer(CompressionLayer::new())
        .with_state(site)
}

async fn at_grid(State(site): AtSite, Query(ask): Query<Values>) -> Response {
    page(site, move |site| grid::sheet(site, &Ask(ask))).await
}

async fn at_pair(
    State(site): AtSite,
    Path((from, to)): Path<(String, String)>,
    Query(ask): Query<Values>,
) -> Response {
    page(site, move |site| pair::sheet(site, (&from, &to), &Ask(ask))).await
}

async fn at_event(
    State(site): AtSite,
    Path(place): Path<[String; 4]>,
    Query(ask): Query<Values>,
) -> Response {
    page(site, move |site| event::sheet(site, &place, &Ask(ask))).await
}

async fn at_charts(State(site): AtSite, Query(ask): Query<Values>) -> Response {
    page(site, move |site| charts::sheet(site, &Ask(ask))).await
}

async fn at_events(State(site): AtSite, Query(ask): Query<Values>) -> Response {
    page(site, move |site| events::sheet(site, &Ask(ask))).await
}

async fn at_visit(State(site): AtSite, Path(id): Path<String>) -> Response {
    page(site, move |site| visit::sheet(site, &id)).await
}

async fn at_months(State(site): AtSite, Query(ask): Query<Values>) -> Response {
    page(site, move |site| months::sheet(site, &Ask(ask))).await
}

async fn at_traffic(State(site): AtSite, Query(ask): Query<Values>) -> Response {
    page(site, move |site| traffic::sheet(site, &Ask(ask))).await
}

async fn at_incident(
    State(site): AtSite,
    Path(place): Path<[String; 4]>,
    Query(ask): Query<Values>,
) -> Response {
    page(site, move |site| incident::sheet(site, &place, &Ask(ask))).await
}

/// Takes what a form writes.
type Take = fn(&Site, &HeaderMap, &Ask) -> Result<Place, Problem>;

/// Leads on to the page that shows what was written.
fn writing(take: Take) -> MethodRouter<Arc<Site>> {
    post(
        async move |State(site): AtSite, headers: HeaderMap, Form(form): Form<Values>| {
            let taken = move |site: &Site| take(site, &headers, &Ask(form));
            match made(&site, &site.turns, taken).await {
                Ok(place) => Redirect::to(&place.to_string()).into_response(),
                Err(problem) => page(site, move |_| Err(problem)).await,
            }
        },
    )
}

async fn at_stream(State(site): AtSite, Query(ask): Query<Values>) -> Response {
    let place = time::timeout(PATIENCE, Arc::clone(&site.streams).acquire_owned()).await;
    let Ok(Ok(place)) = place else {
        return text_of(&Problem::busy());
    };
    let make = move |site: &Site| stream::answer(site, &Ask(ask));
    match made(&site, &site.turns, make).await {
        Ok((kind, text)) => held(kind, text, place),
        Err(problem) => text_of(&problem),
    }
}

/// An answer that keeps its place until its reader has taken it.
fn held(kind: &'static str, text: String, place: OwnedSemaphorePermit) -> Response {
    const PART: usize = 64 << 10;
    let length = text.len().to_string();
    let next = async |(mut rest, place): (Bytes, OwnedSemaphorePermit)| {
        let part = rest.split_to(rest.len().min(PART));
        (!part.is_empty()).then_some((Ok::<_, Infallible>(part), (rest, place)))
    };
    // Who compresses asks again behind the end.
    let parts = futures_util::stream::unfold((Bytes::from(text), place), next).fuse();
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_LENGTH, length),
    ];
    (headers, Body::from_stream(parts)).into_response()
}

pub(crate) fn asset(kind: &'static str, text: impl Into<String>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, format!("{kind}; charset=utf-8")),
        (header::CACHE_CONTROL, "max-age=300".to_owned()),
    ];
    (headers, text.into()).into_response()
}

/// What every answer says to the browser: load nothing from elsewhere, guess no types.
pub(crate) async fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Runs `make` where it may wait for the database.
async fn made<T: Send + 'static>(
    site: &Arc<Site>,
    turns: &Arc<Semaphore>,
    make: impl FnOnce(&Site) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let turn = time::timeout(PATIENCE, Arc::clone(turns).acquire_owned()).await;
    let Ok(Ok(turn)) = turn else {
        return Err(Problem::busy());
    };
    let own = Arc::clone(site);
    // The turn ends with the work, also when the client has gone meanwhile.
    let made = tokio::task::spawn_blocking(move || {
        let made = make(&own);
        drop(turn);
        made
    });
    let made = made.await;
    made.unwrap_or_else(|_| Err(Problem::ours("making it was broken off")))
}

async fn page(
    site: Arc<Site>,
    make: impl FnOnce(&Site) -> Result<Sheet, Problem> + Send + 'static,
) -> Response {
    let (now, notice) = (site.live.now(), site.live.notice());
    let (status, sheet) = match made(&site, &site.turns, make).await {
        Ok(sheet) => (StatusCode::OK, sheet),
        Err(problem) => (problem.status, Sheet::of_problem(&problem)),
    };
    (status, Html(frame::html(&sheet, now, notice.as_deref()))).into_response()
}

/// An answer for programs; its problems are one line each.
async fn text(
    site: &Arc<Site>,
    turns: &Arc<Semaphore>,
    make: impl FnOnce(&Site) -> Result<(&'static str, String), Problem> + Send + 'static,
) -> Response {
    match made(site, turns, make).await {
        Ok((kind, text)) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        Err(problem) => text_of(&problem),
    }
}

fn text_of(problem: &Problem) -> Response {
    let text = format!("{}; {}\n", problem.what, problem.hint);
    let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    (problem.status, kind, text).into_response()
}
