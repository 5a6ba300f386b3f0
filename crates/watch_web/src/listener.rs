//! Connections, with bounds: how many, how long a request may take to arrive, how long its head is.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time;

/// Connections at once; others wait in the kernel's queue.
const CONNECTIONS: usize = 256;
/// Time for the head of a request, and between two requests of a connection.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// Longest head of a request, in bytes.
const HEAD_SIZE: usize = 32 * 1024;
/// Pause after the kernel refused a connection, mostly for lack of descriptors.
const PAUSE: Duration = Duration::from_millis(100);
/// Time that requests have to end when the server stops.
const FAREWELL: Duration = Duration::from_secs(1);

/// Answers requests until `stop` is true.
pub async fn serve(listener: TcpListener, router: Router, mut stop: watch::Receiver<bool>) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            break;
        };
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Ok((stream, _)) = stream else {
            time::sleep(PAUSE).await;
            continue;
        };
        let connection = connection(stream, router.clone(), stop.clone());
        tokio::spawn(async move {
            connection.await;
            drop(slot);
        });
    }
    drop(listener);
    let all = slots.acquire_many(CONNECTIONS as u32);
    let _ = time::timeout(FAREWELL, all).await;
}

/// One connection to its end. A client that breaks off is no error.
async fn connection(stream: TcpStream, router: Router, mut stop: watch::Receiver<bool>) {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_SIZE);
    let service = TowerToHyperService::new(router);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stop.wait_for(|stop| *stop) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
