//! A page of its own that renews itself: where something stands that is no watch.
//!
//! Each request makes the page; while pages follow changes, it is made every two seconds, too.
//! Without scripts, browsers load it again every five seconds.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::middleware;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use changes::UnixTime;
use draw::page::Page;
use maud::{DOCTYPE, Markup, html};
use tokio::sync::{Semaphore, watch};
use tokio::time;
use tower_http::compression::CompressionLayer;

use crate::follow::follow;
use crate::frame::{ICON, SCRIPT, head, sent, style};
use crate::requests::{self, OwnNames};
use crate::routes::{asset, guarded};
use crate::{WebError, calendar, listener};

/// Between two looks for those who follow changes.
const PERIOD: Duration = Duration::from_secs(2);
/// Pages that follow changes at once.
const LISTENERS: usize = 100;
/// Pages that are made at once.
const AT_ONCE: usize = 4;
/// Longest time that a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// Makes the page as it is now; or says why it cannot, and the next step. Called from several
/// threads.
pub type MakePage = dyn Fn() -> Result<Page, String> + Send + Sync;

/// A running server of one page. It ends with this value.
pub struct PageServer {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// What every request has at hand.
struct Site {
    make: Arc<MakePage>,
    turns: Arc<Semaphore>,
    listeners: Arc<Semaphore>,
    /// Counts changes.
    changed: watch::Sender<u64>,
    stop: watch::Receiver<bool>,
}

impl PageServer {
    /// Listens, and answers on a thread of its own.
    ///
    /// # Errors
    /// When the address cannot be used, or the system gives no thread.
    pub fn start(listen: SocketAddr, make: Arc<MakePage>) -> Result<PageServer, WebError> {
        let failed = |error| WebError::Listen {
            address: listen,
            error,
        };
        let listener = std::net::TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, stopped) = watch::channel(false);
        let site = Arc::new(Site {
            make,
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            changed: watch::channel(0).0,
            stop: stopped.clone(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(AT_ONCE)
            .build()
            .map_err(WebError::Start)?;
        let run = move || {
            runtime.block_on(async {
                tokio::spawn(look(Arc::clone(&site)));
                if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                    listener::serve(listener, router(site, OwnNames::of(address)), stopped).await;
                }
            });
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("page".to_owned());
        let thread = thread.spawn(run).map_err(WebError::Start)?;
        Ok(PageServer {
            address,
            stop,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn router(site: Arc<Site>, names: OwnNames) -> Router {
    Router::new()
        .route(
            "/",
            get(async |State(site): State<Arc<Site>>| page(&site).await),
        )
        .route(
            "/live",
            get(async |State(site): State<Arc<Site>>| live(&site)),
        )
        .route("/style.css", get(async || asset("text/css", style())))
        .route("/script.js", get(async || asset("text/javascript", SCRIPT)))
        .route("/icon.svg", get(async || asset("image/svg+xml", ICON)))
        .layer(middleware::from_fn_with_state(names, requests::check))
        .layer(middleware::map_response(guarded))
        .layer(CompressionLayer::new())
        .with_state(site)
}

/// The page as it is now, where files may be waited for.
async fn made(site: &Site) -> Result<Page, String> {
    let turn = time::timeout(PATIENCE, Arc::clone(&site.turns).acquire_owned()).await;
    let Ok(Ok(turn)) = turn else {
        return Err("too many requests wait for this page; try again in some seconds".to_owned());
    };
    let make = Arc::clone(&site.make);
    let made = tokio::task::spawn_blocking(move || {
        let made = make();
        drop(turn);
        made
    });
    made.await
        .unwrap_or_else(|_| Err("making this page was broken off".to_owned()))
}

async fn page(site: &Site) -> Response {
    let (status, title, body) = match made(site).await {
        Ok(page) => match draw::render::html::sections(&page.blocks) {
            Ok(body) => (StatusCode::OK, page.title.clone(), body),
            Err(error) => problem(&error.to_string()),
        },
        Err(what) => problem(&what),
    };
    (status, Html(whole(&title, &body, now()))).into_response()
}

fn problem(what: &str) -> (StatusCode, String, Markup) {
    let body = html! { section.problem { p.lead { (draw::words::sentence(what)) } } };
    let title = "This page could not be made".to_owned();
    (StatusCode::SERVICE_UNAVAILABLE, title, body)
}

fn whole(title: &str, body: &Markup, now: UnixTime) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, "trunkline", html! {
                noscript { meta http-equiv="refresh" content="5"; }
            }))
            body.watch {
                header.bar {
                    p.brand { "trunkline" }
                    p.now {
                        span.pulse aria-hidden="true" {}
                        time datetime=(calendar::machine(now)) { (calendar::minute(now)) } " UTC"
                    }
                }
                main #content data-live {
                    h1 { (title) }
                    (body)
                }
            }
        }
    };
    sent(page)
}

fn now() -> UnixTime {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    UnixTime::from_seconds(since.map_or(0, |since| since.as_secs()))
}

/// Looks every two seconds while there are pages that follow, and tells them of changes.
async fn look(site: Arc<Site>) {
    let mut last = None;
    let mut stop = site.stop.clone();
    loop {
        tokio::select! {
            () = time::sleep(PERIOD) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
        if site.changed.receiver_count() == 0 {
            continue;
        }
        let seen = Some(made(&site).await);
        if seen != last {
            last = seen;
            site.changed
                .send_modify(|count| *count = count.wrapping_add(1));
        }
    }
}

fn live(site: &Site) -> Response {
    let changed = site.changed.subscribe();
    // Looks have pauses between them already.
    follow(&site.listeners, changed, site.stop.clone(), Duration::ZERO)
}
