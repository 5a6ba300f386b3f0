//! The connections of one session.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

use copy_net::{AcceptedRemote, ArrivedStream, Channel, StreamHandle};
use sockets::Clock;
use units::{Bytes, Span};
use wire::copy::CopyDirection;
use wire::remote::{Ask, Failure, Told, Welcome, encode_answer};

use super::flow::Flow;
use super::request::{Gone, serve};
use crate::budget::BudgetUser;
use crate::problems::shown;
use crate::root::Root;

/// A session in which nothing is asked for so long ends; the other end connects anew when it has
/// something to ask.
const IDLE_MAX: Span = Span::from_secs(600);
/// How often an idle connection is looked at.
const LOOK: Span = Span::from_secs(30);
/// How long the other end may take nothing of an answer.
const TAKE_MAX: Span = Span::from_secs(120);
/// Streams of one session.
const STREAMS_MAX: u16 = 64;
/// Streams of all sessions; each has a thread.
const ALL_STREAMS_MAX: usize = 1024;
/// Trees of one session that are walked at the same time: each holds a folder open for each level.
const WALKS_MAX: usize = 4;
/// How soon a stream that arrives is taken after the session has ended.
const TICK: Duration = Duration::from_millis(200);

/// What a session needs of the far end.
pub(crate) struct RemoteContext<'a> {
    /// What the token opens, with its rights.
    pub root: Root,
    /// Whether the token still opens it.
    pub is_taken_back: &'a (dyn Fn() -> bool + Sync),
    /// Is told what was changed.
    pub on_change: &'a (dyn Fn(String) + Sync),
    /// Streams of all sessions of the far end.
    pub all_streams: &'a AtomicUsize,
    /// Takes a part of what the server allows in one direction.
    pub share: &'a (dyn Fn(CopyDirection) -> BudgetUser + Sync),
}

/// What was done in a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemoteTotals {
    /// Requests.
    pub requests: u64,
    /// Bytes of files that were sent.
    pub read: Bytes,
    /// Bytes of files that came to be stored.
    pub stored: Bytes,
}

/// What the threads of a session share.
pub(super) struct Session<'a> {
    pub root: &'a Root,
    context: &'a RemoteContext<'a>,
    clock: Clock,
    /// When something was asked or answered last, on the clock.
    active_nanoseconds: AtomicU64,
    pub requests: AtomicU64,
    /// Bytes of files that are read, and of those that are stored.
    sent: Flow,
    received: Flow,
    pub walks: Walks,
    is_over: AtomicBool,
}

impl Session<'_> {
    /// Something goes on.
    pub fn touch(&self) {
        let now = self.clock.now().as_nanos();
        self.active_nanoseconds.store(now, Ordering::Relaxed);
    }

    /// So many bytes of files were sent; waits while that is more than the server allows.
    pub fn on_sent(&self, bytes: usize) {
        self.on_moved(&self.sent, bytes);
    }

    /// The same of bytes that came.
    pub fn on_received(&self, bytes: usize) {
        self.on_moved(&self.received, bytes);
    }

    fn on_moved(&self, flow: &Flow, bytes: usize) {
        flow.on_moved(bytes, &|| self.is_over.load(Ordering::Relaxed));
        self.touch();
    }

    /// Whether nothing went on for as long as a session may be idle.
    pub fn is_idle(&self) -> bool {
        let last = self.active_nanoseconds.load(Ordering::Relaxed);
        let idle = self.clock.now().as_nanos().saturating_sub(last);
        idle >= IDLE_MAX.as_nanos()
    }

    pub fn is_taken_back(&self) -> bool {
        (self.context.is_taken_back)()
    }

    /// Notes what was changed, or could not be.
    pub fn tell_of(&self, ask: &Ask, done: &Result<(), Failure>) {
        let name = |name: &wire::copy::Name| shown(name.as_bytes());
        let what = match ask {
            Ask::MakeFolder { path, .. } => format!("made folder {}", name(path)),
            Ask::Remove { path, .. } => format!("removed {}", name(path)),
            Ask::Rename { from, to, .. } => format!("renamed {} to {}", name(from), name(to)),
            Ask::Store(file) => {
                let size = Bytes::new(file.length.into());
                format!("stored {}  {}", name(&file.path), size.human())
            }
            Ask::Info { .. } | Ask::List { .. } | Ask::Read { .. } => return,
        };
        (self.context.on_change)(match done {
            Ok(()) => what,
            Err(failure) => format!("not done: {}", failure.what),
        });
    }
}

/// Bounds how many trees are walked at once.
#[derive(Debug, Default)]
pub(super) struct Walks {
    running: Mutex<usize>,
    changed: Condvar,
}

pub(super) struct Walk<'a>(&'a Walks);

impl Walks {
    /// Waits until one more may be walked.
    pub fn take(&self) -> Walk<'_> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_while(running, |running| *running >= WALKS_MAX);
        *waited.unwrap_or_else(PoisonError::into_inner) += 1;
        Walk(self)
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        let running = self.0.running.lock();
        *running.unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.changed.notify_one();
    }
}

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
