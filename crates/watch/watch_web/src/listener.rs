//! Connections, with bounds: how many at all and of one address, how long a request may take to
//! arrive, how long its head is, and how long a connection may stand still.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{self, AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time;

/// Connections at once; others wait in the kernel's queue.
const CONNECTIONS: usize = 256;
/// Connections of one address at once. A proxy has one address for all who come through it.
const OF_ADDRESS: usize = 128;
/// Where there is no place, a connection that stood still for so long gives way.
const STILL_MIN: Duration = Duration::from_secs(1);
/// Longest time that a connection waits for its reader without progress.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// Time for the head of a request, and between two requests of a connection.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// Longest head of a request, in bytes.
const HEAD_SIZE: usize = 32 * 1024;
/// Pause after the kernel refused a connection, mostly for lack of descriptors, and between two
/// looks for a place.
const PAUSE: Duration = Duration::from_millis(100);
/// Time that requests have to end when the server stops.
const FAREWELL: Duration = Duration::from_secs(1);

/// Answers requests until `stop` is true.
pub async fn serve(listener: TcpListener, router: Router, mut stop: watch::Receiver<bool>) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    let places = Arc::new(Places::default());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Ok((stream, from)) = accepted else {
            time::sleep(PAUSE).await;
            continue;
        };
        let slot = tokio::select! {
            slot = place(&slots, &places, from) => slot,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Some((slot, place)) = slot else {
            break;
        };
        let connection = connection(stream, Arc::clone(&place), router.clone(), stop.clone());
        let places = Arc::clone(&places);
        tokio::spawn(async move {
            tokio::select! {
                () = connection => {}
                () = place.evicted.notified() => {}
            }
            places.leave(place.number);
            drop(slot);
        });
    }
    drop(listener);
    let all = slots.acquire_many(CONNECTIONS as u32);
    let _ = time::timeout(FAREWELL, all).await;
}

/// A place for a connection, if need be that of one which stands still.
async fn place(
    slots: &Arc<Semaphore>,
    places: &Places,
    from: SocketAddr,
) -> Option<(tokio::sync::OwnedSemaphorePermit, Arc<Place>)> {
    while places.of(from.ip()) >= OF_ADDRESS {
        if !places.evict(Some(from.ip())) {
            time::sleep(PAUSE).await;
        }
    }
    loop {
        match Arc::clone(slots).try_acquire_owned() {
            Ok(slot) => return Some((slot, places.enter(from.ip()))),
            Err(tokio::sync::TryAcquireError::Closed) => return None,
            Err(tokio::sync::TryAcquireError::NoPermits) => {
                // Its task gives its place back, or another one does.
                let wait = if places.evict(None) { FAREWELL } else { PAUSE };
                let _ = time::timeout(wait, slots.acquire()).await;
            }
        }
    }
}

/// The connections that there are.
#[derive(Default)]
struct Places(Mutex<(u64, BTreeMap<u64, Arc<Place>>)>);

/// One of them.
struct Place {
    number: u64,
    from: IpAddr,
    began: Instant,
    /// Milliseconds from its beginning to its last progress.
    moved: AtomicU64,
    evicted: Notify,
}

impl Place {
    fn progress(&self) {
        let elapsed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved.store(elapsed, Ordering::Relaxed);
    }

    /// How long it has stood still.
    fn still(&self) -> Duration {
        let moved = Duration::from_millis(self.moved.load(Ordering::Relaxed));
        self.began.elapsed().saturating_sub(moved)
    }
}

impl Places {
    fn all(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Arc<Place>>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, address: IpAddr) -> usize {
        let all = self.all();
        all.1.values().filter(|place| place.from == address).count()
    }

    fn enter(&self, from: IpAddr) -> Arc<Place> {
        let mut all = self.all();
        all.0 += 1;
        let number = all.0;
        let place = Arc::new(Place {
            number,
            from,
            began: Instant::now(),
            moved: AtomicU64::new(0),
            evicted: Notify::new(),
        });
        all.1.insert(number, Arc::clone(&place));
        place
    }

    fn leave(&self, number: u64) {
        self.all().1.remove(&number);
    }

    /// Ends the connection that has stood still longest, of one address or of all. Whether there
    /// was one.
    fn evict(&self, address: Option<IpAddr>) -> bool {
        let mut all = self.all();
        let chosen = all
            .1
            .values()
            .filter(|place| address.is_none_or(|own| place.from == own));
        let longest = chosen.max_by_key(|place| place.still());
        let Some(longest) = longest.filter(|place| place.still() >= STILL_MIN).cloned() else {
            return false;
        };
        longest.evicted.notify_one();
        all.1.remove(&longest.number);
        true
    }
}

/// One connection to its end. A client that breaks off is no error.
async fn connection(
    stream: TcpStream,
    place: Arc<Place>,
    router: Router,
    mut stop: watch::Receiver<bool>,
) {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_SIZE);
    let service = TowerToHyperService::new(router);
    let stream = Watched {
        stream,
        place,
        stuck: None,
    };
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stop.wait_for(|stop| *stop) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// A stream of which each progress is noted, and that fails when its reader takes nothing.
struct Watched {
    stream: TcpStream,
    place: Arc<Place>,
    /// Runs while a write waits.
    stuck: Option<Pin<Box<time::Sleep>>>,
}

impl Watched {
    fn written<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.place.progress();
            self.stuck = None;
            return polled;
        }
        let stuck = self
            .stuck
            .get_or_insert_with(|| Box::pin(time::sleep(WRITE_TIME)));
        match stuck.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if polled.is_ready() {
            self.place.progress();
        }
        polled
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.written(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
