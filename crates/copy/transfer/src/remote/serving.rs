//! The connections of one session.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

use copy_net::{AcceptedRemote, ArrivedStream, Channel, StreamHandle};
use copy_protocol::CopyDirection;
use copy_protocol::remote::{Told, Welcome, encode_answer};
use sockets::Clock;
use units::Span;

use super::flow::Flow;
use super::outbox::Gone;
use super::request::serve;
use super::session::{RemoteContext, RemoteTotals, Session, Walks};

/// How often an idle connection is looked at.
const LOOK: Span = Span::from_secs(30);
/// How long the other end may take nothing of an answer.
const TAKE_MAX: Span = Span::from_secs(120);
/// Streams of one session.
const STREAMS_MAX: u16 = 64;
/// Streams of all sessions; each has a thread.
const ALL_STREAMS_MAX: usize = 1024;
/// How soon a stream that arrives is taken after the session has ended.
const TICK: Duration = Duration::from_millis(200);

/// Serves a session until its first connection ends. Returns what was done, and why it ended if
/// that was not the other end's wish.
pub(crate) fn serve_session(
    accepted: AcceptedRemote,
    context: &RemoteContext<'_>,
) -> (RemoteTotals, Option<String>) {
    let AcceptedRemote {
        mut channel,
        streams,
        ..
    } = accepted;
    let session = Session {
        root: &context.root,
        context,
        clock: Clock::start(),
        active_nanoseconds: AtomicU64::new(0),
        requests: AtomicU64::new(0),
        sent: Flow::new((context.share)(CopyDirection::Get)),
        received: Flow::new((context.share)(CopyDirection::Put)),
        walks: Walks::default(),
        is_over: AtomicBool::new(false),
    };
    let handles = Mutex::new(Vec::new());
    let welcome = Welcome {
        session: streams.session().unwrap_or(0),
        streams_max: STREAMS_MAX,
        removes: context.root.may_remove(),
    };
    let gone = thread::scope(|scope| {
        let take = || {
            while !session.is_over.load(Ordering::Relaxed) {
                if let Some(arrived) = streams.next(TICK) {
                    take_stream(scope, &session, &handles, arrived);
                    // The end may not have seen it.
                    if session.is_over.load(Ordering::Relaxed) {
                        lock(&handles).iter().for_each(StreamHandle::shut_down);
                    }
                }
            }
        };
        if let Err(error) = thread::Builder::new().spawn_scoped(scope, take) {
            return Gone::Lost(error);
        }
        let gone = match begin(&mut channel, welcome) {
            Ok(()) => serve(&mut channel, &session),
            Err(gone) => gone,
        };
        session.is_over.store(true, Ordering::Relaxed);
        channel.handle().shut_down();
        lock(&handles).iter().for_each(StreamHandle::shut_down);
        gone
    });
    let totals = RemoteTotals {
        requests: session.requests.into_inner(),
        read: session.sent.moved(),
        stored: session.received.moved(),
    };
    let why = match gone {
        Gone::Closed => None,
        Gone::Idle => None,
        Gone::Lost(error) => Some(error.to_string()),
        Gone::Broken(what) => Some(what),
        Gone::TakenBack => Some("its token was taken back".to_owned()),
    };
    (totals, why)
}

fn begin(channel: &mut Channel, welcome: Welcome) -> Result<(), Gone> {
    channel.set_timeouts(Some(LOOK), Some(TAKE_MAX))?;
    let frame = encode_answer(0, &Told::Welcome(welcome));
    let frame = frame.map_err(|error| Gone::Broken(error.to_string()))?;
    Ok(channel.write_parts(&[&frame])?)
}

/// A stream has a thread of its own; one too many is closed.
fn take_stream<'scope, 'env: 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    session: &'env Session<'env>,
    handles: &'env Mutex<Vec<StreamHandle>>,
    arrived: ArrivedStream,
) {
    let mut channel = arrived.channel;
    let handle = channel.handle();
    let all = session.context.all_streams;
    let place = Place::take(all);
    let mut held = lock(handles);
    held.retain(|handle| !handle.is_closed_by_peer());
    let (Some(place), true) = (place, held.len() < usize::from(STREAMS_MAX)) else {
        return handle.shut_down();
    };
    held.push(handle);
    drop(held);
    let work = move || {
        let _place = place;
        if channel.set_timeouts(Some(LOOK), Some(TAKE_MAX)).is_ok() {
            serve(&mut channel, session);
        }
        channel.handle().shut_down();
    };
    // Without a thread its connection closes, and the other end uses those that it has.
    let _ = thread::Builder::new()
        .name("remote-stream".to_owned())
        .spawn_scoped(scope, work);
}

/// A place among the streams of all sessions.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn take(all: &'a AtomicUsize) -> Option<Self> {
        let place = Place(all);
        (all.fetch_add(1, Ordering::Relaxed) < ALL_STREAMS_MAX).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
