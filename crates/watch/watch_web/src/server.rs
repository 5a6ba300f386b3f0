//! The server: its parts, beginning and end.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use errors::{Fault, Hint};
use thiserror::Error;
use tokio::sync::{Semaphore, watch};
use watch_store::DatabaseName;

use crate::requests::OwnNames;
use crate::site::Site;
use crate::stores::Stores;
use crate::{Live, listener, page, routes};

/// Pages that are made at once.
const AT_ONCE: usize = 4;
/// Answers with visits at once, each of which is in memory until its reader has taken it.
const STREAMS: usize = 8;
/// Pages that follow changes at once.
const LISTENERS: usize = 100;

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
         `--web`"
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

impl Hint for WebError {
    fn fault(&self) -> Fault {
        Fault::Run
    }

    fn hint(&self) -> Option<String> {
        None
    }
}

/// A running server of pages. It ends with this value or with [`WebServer::stop`].
pub struct WebServer {
    address: SocketAddr,
    changed: watch::Sender<u64>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
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
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            streams: Arc::new(Semaphore::new(STREAMS)),
            metrics_turn: Arc::new(Semaphore::new(1)),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(AT_ONCE + 1)
            .build()
            .map_err(WebError::Start)?;
        let router = routes::router(Arc::new(site), OwnNames::of(address));
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
