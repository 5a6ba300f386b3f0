//! Requests to pages.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Form, Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use thiserror::Error;
use tokio::sync::{Semaphore, watch};
use tokio::time;
use watch_store::DatabaseName;

use crate::ask::Ask;
use crate::frame::{self, Sheet};
use crate::page::{event, grid, hosts, months, pair, silence, stream, visit};
use crate::problem::Problem;
use crate::stores::Stores;
use crate::{Live, listener, page};

/// Pages that are made at once.
const AT_ONCE: usize = 4;
/// Pages that follow changes at once.
const LISTENERS: usize = 100;
/// Longest time that a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest body of a request, in bytes.
const BODY: usize = 16 * 1024;

/// Where pages are served, and from what.
#[derive(Debug, Clone)]
pub struct WebOptions {
    /// Where it listens; port 0 for any.
    pub listen: SocketAddr,
    /// The database with the visits.
    pub database: DatabaseName,
    /// Who knows this may write; `None`: only reading.
    pub token: Option<String>,
}

/// Why pages cannot be served.
#[derive(Debug, Error)]
pub enum WebError {
    /// The address cannot be used.
    #[error(
        "cannot listen on {address}: {error}; free the port, or name another address with \
         `--listen`"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the kernel said.
        error: io::Error,
    },
    /// The system gives no thread or no event queue.
    #[error("cannot start the server of pages: {0}; raise the limits of processes and open files")]
    Start(io::Error),
}

/// A running server of pages. It ends with this value or with [`WebServer::stop`].
pub struct WebServer {
    address: SocketAddr,
    changed: watch::Sender<u64>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

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
    pub forecasts: page::forecast::Kept,
    /// Open pages that may follow changes.
    pub listeners: Arc<Semaphore>,
    turns: Semaphore,
}

impl WebServer {
    /// Listens, and answers on a thread of its own.
    ///
    /// # Errors
    /// When the address cannot be used, or the system gives no thread. The database is not needed
    /// yet: without it, pages say what is wrong.
    pub fn start(options: WebOptions, live: Arc<dyn Live>) -> Result<WebServer, WebError> {
        let address = options.listen;
        let failed = |error| WebError::Listen { address, error };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (changed, seen) = watch::channel(0);
        let (stop, stopped) = watch::channel(false);
        let site = Site {
            stores: Stores::new(options.database),
            live,
            token: options.token,
            changed: seen,
            stop: stopped.clone(),
            forecasts: page::forecast::Kept::default(),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            turns: Semaphore::new(AT_ONCE),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(AT_ONCE)
            .build()
            .map_err(WebError::Start)?;
        let router = router(Arc::new(site));
        let run = move || {
            runtime.block_on(async {
                if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                    listener::serve(listener, router, stopped).await;
                }
            });
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("watch pages".to_owned());
        let thread = thread.spawn(run).map_err(WebError::Start)?;
        Ok(WebServer {
            address,
            changed,
            stop,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Tells open pages that something changed.
    pub fn notify(&self) {
        self.changed
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Ends it; requests that run have a second to end.
    pub fn stop(self) {}
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

type Query1 = Query<BTreeMap<String, String>>;
type AtSite = State<Arc<Site>>;

fn router(site: Arc<Site>) -> Router {
    Router::new()
        .route(
            "/",
            get(|State(site): AtSite, Query(ask): Query1| {
                page(site, move |site| grid::sheet(site, &Ask(ask)))
            }),
        )
        .route(
            "/pair/{from}/{to}",
            get(
                |State(site): AtSite,
                 Path((from, to)): Path<(String, String)>,
                 Query(ask): Query1| {
                    page(site, move |site| pair::sheet(site, (&from, &to), &Ask(ask)))
                },
            ),
        )
        .route(
            "/event/{task}/{from}/{to}/{id}",
            get(|State(site): AtSite, Path(place): Path<[String; 4]>| {
                page(site, move |site| event::sheet(site, &place))
            }),
        )
        .route(
            "/visit/{id}",
            get(|State(site): AtSite, Path(id): Path<String>| {
                page(site, move |site| visit::sheet(site, &id))
            }),
        )
        .route(
            "/months",
            get(|State(site): AtSite, Query(ask): Query1| {
                page(site, move |site| months::sheet(site, &Ask(ask)))
            }),
        )
        .route(
            "/hosts",
            get(|State(site): AtSite| page(site, hosts::sheet)),
        )
        .route(
            "/stream.ndjson",
            get(|State(site): AtSite, Query(ask): Query1| {
                text(site, move |site| stream::answer(site, &Ask(ask)))
            }),
        )
        .route(
            "/metrics",
            get(|State(site): AtSite| text(site, stream::metrics)),
        )
        .route(
            "/live",
            get(|State(site): AtSite| async move { stream::live(&site) }),
        )
        .route(
            "/silence",
            post(
                |State(site): AtSite,
                 headers: HeaderMap,
                 Form(form): Form<BTreeMap<String, String>>| {
                    page(site, move |site| silence::sheet(site, &headers, &Ask(form)))
                },
            ),
        )
        .route(
            "/style.css",
            get(|| async { asset("text/css; charset=utf-8", frame::style()) }),
        )
        .route(
            "/script.js",
            get(|| async { asset("text/javascript; charset=utf-8", frame::SCRIPT) }),
        )
        .route(
            "/icon.svg",
            get(|| async { asset("image/svg+xml", frame::ICON) }),
        )
        .fallback(|State(site): AtSite| page(site, |_| Err(frame::no_such_page())))
        .layer(DefaultBodyLimit::max(BODY))
        .layer(middleware::map_response(guarded))
        .with_state(site)
}

fn asset(kind: &'static str, text: impl Into<String>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "max-age=300"),
    ];
    (headers, text.into()).into_response()
}

/// What every answer says to the browser: load nothing from elsewhere, guess no types.
async fn guarded(mut response: Response) -> Response {
    let policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
        img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, policy),
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
    make: impl FnOnce(&Site) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let turn = time::timeout(PATIENCE, site.turns.acquire()).await;
    let Ok(Ok(_turn)) = turn else {
        return Err(Problem::busy());
    };
    let own = Arc::clone(site);
    let made = tokio::task::spawn_blocking(move || make(&own)).await;
    made.unwrap_or_else(|_| Err(Problem::ours("making it was broken off")))
}

async fn page(
    site: Arc<Site>,
    make: impl FnOnce(&Site) -> Result<Sheet, Problem> + Send + 'static,
) -> Response {
    let now = site.live.now();
    let (status, sheet) = match made(&site, make).await {
        Ok(sheet) => (StatusCode::OK, sheet),
        Err(problem) => (problem.status, Sheet::of_problem(&problem)),
    };
    (status, Html(frame::html(&sheet, now))).into_response()
}

/// An answer for programs; its problems are one line each.
async fn text(
    site: Arc<Site>,
    make: impl FnOnce(&Site) -> Result<(&'static str, String), Problem> + Send + 'static,
) -> Response {
    match made(&site, make).await {
        Ok((kind, text)) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        Err(problem) => {
            let text = format!("{}; {}\n", problem.what, problem.hint);
            let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
            (problem.status, kind, text).into_response()
        }
    }
}
