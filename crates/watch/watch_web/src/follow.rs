//! Browsers that follow changes of a page by server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Tells a browser of each change from now on, until the server ends.
///
/// * `listeners`: a place for each page that follows.
/// * `changed`: counts changes.
/// * `pause`: between two pieces of news at least.
pub fn follow(
    listeners: &Arc<Semaphore>,
    mut changed: watch::Receiver<u64>,
    stop: watch::Receiver<bool>,
    pause: Duration,
) -> Response {
    let Ok(place) = Arc::clone(listeners).try_acquire_owned() else {
        let what = "too many pages follow changes; reload them by hand\n";
        return (StatusCode::SERVICE_UNAVAILABLE, what).into_response();
    };
    changed.mark_unchanged();
    let follower = Follower {
        changed,
        stop,
        pause,
        _place: place,
    };
    let news = stream::unfold(follower, async |mut follower| {
        let count = follower.next().await?;
        let event = Event::default().event("changed").data(count.to_string());
        Some((Ok::<_, Infallible>(event), follower))
    });
    Sse::new(Box::pin(news))
        .keep_alive(KeepAlive::default())
        .into_response()
}

/// One open page.
struct Follower {
    changed: watch::Receiver<u64>,
    stop: watch::Receiver<bool>,
    pause: Duration,
    _place: OwnedSemaphorePermit,
}

impl Follower {
    /// Waits for a change; `None` when the server ends.
    async fn next(&mut self) -> Option<u64> {
        tokio::select! {
            changed = self.changed.changed() => changed.ok()?,
            _ = self.stop.wait_for(|stop| *stop) => return None,
        }
        // Changes come in crowds.
        tokio::time::sleep(self.pause).await;
        Some(*self.changed.borrow_and_update())
    }
}
