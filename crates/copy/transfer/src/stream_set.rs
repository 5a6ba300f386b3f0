//! The set of streams: the connecting end makes them, the other end asks for them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use copy_net::{Channel, DialError, IncomingStreams, StreamDialer, StreamHandle};
use copy_protocol::Message;
use observe::Window;
use sockets::StreamOptions;
use units::{AddressPair, Span, Time};

use crate::copy_multipath::CopyMultipath;
use crate::copy_pairs::CopyPairs;
use crate::preconnect::{PendingConnection, Preconnected};
use crate::session::{Event, Outbox, SessionContext, SessionEnd, no_streams};
use crate::stream_options::Part;
use crate::sync::thread;

/// A request that brought no stream is repeated after this.
const ASK_AGAIN: Span = Span::from_secs(2);
/// After a stream that broke the next ones wait so long; after one that could not be connected
/// longer each time, up to 64 times this.
const PAUSE: Span = Span::from_millis(250);

/// How soon it is noticed that no more streams are awaited.
const TICK: Duration = Duration::from_millis(50);
/// When no stream at all can be connected for so long, there will be none.
const FAILING_MAX: Span = Span::from_secs(30);

/// Where this end's streams come from.
pub(crate) enum StreamSource {
    /// We connect.
    Dial {
        /// Knows where to.
        dialer: Box<StreamDialer>,
        /// What every stream says first.
        session: u64,
        /// In the clear.
        plain: bool,
        /// Connections that were made ahead.
        preconnected: Preconnected,
        /// The pairs of addresses over which they are dealt.
        pairs: Option<CopyPairs>,
        /// What they go over, where they are of multipath TCP.
        multipath: Option<CopyMultipath>,
    },
    /// The peer connects when it is asked.
    Ask(Arc<IncomingStreams>),
}

impl StreamSource {
    /// Streams that come by themselves.
    pub(crate) fn incoming(&self) -> Option<Arc<IncomingStreams>> {
        match self {
            StreamSource::Ask(incoming) => Some(Arc::clone(incoming)),
            StreamSource::Dial { .. } => None,
        }
    }
}

/// Keeps the number of streams.
pub(crate) struct StreamSet {
    source: StreamSource,
    options: StreamOptions,
    next: u32,
    /// Streams on their way.
    coming: u16,
    /// Of other streams on their way that try a pair of addresses again.
    tries: BTreeSet<u32>,
    /// Streams at work.
    pub present: u16,
    asked: Option<(u16, Time)>,
    failures: u32,
    failing_since: Option<Time>,
    not_before: Time,
    /// How many streams were asked for while the next ones wait.
    put_off: Option<u16>,
}

impl StreamSet {
    /// None yet.
    pub(crate) fn new(source: StreamSource, options: StreamOptions) -> Self {
        StreamSet {
            source,
            options,
            next: 0,
            coming: 0,
            tries: BTreeSet::new(),
            present: 0,
            asked: None,
            failures: 0,
            failing_since: None,
            not_before: Time::ZERO,
            put_off: None,
        }
    }

    /// More of them, until there are so many.
    pub(crate) fn grow(&mut self, target: u16, context: &SessionContext) {
        let now = context.now();
        self.put_off = None;
        match &mut self.source {
            StreamSource::Ask(_) => self.ask(target, now, context),
            StreamSource::Dial {
                pairs: Some(pairs), ..
            } => {
                let pairs = pairs.clone();
                for _ in self.present + self.coming..target {
                    let Some(pair) = pairs.deal(self.next, now) else {
                        break;
                    };
                    self.connect(Some(&pair), context);
                    self.coming += 1;
                }
            }
            StreamSource::Dial { .. } if now < self.not_before => self.put_off = Some(target),
            StreamSource::Dial { .. } => {
                for _ in self.present + self.coming..target {
                    self.connect(None, context);
                    self.coming += 1;
                }
                if let StreamSource::Dial { preconnected, .. } = &mut self.source {
                    preconnected.clear();
                }
            }
        }
    }

    /// Connects the next stream, over this pair of addresses or to where the far end answered.
    fn connect(&mut self, over: Option<&AddressPair>, context: &SessionContext) {
        let StreamSource::Dial {
            dialer,
            session,
            plain,
            preconnected,
            pairs,
            ..
        } = &mut self.source
        else {
            return;
        };
        let dial = Dial {
            dialer: match over {
                Some(pair) => dialer.over(pair),
                None => (**dialer).clone(),
            },
            pending: preconnected.take(),
            session: *session,
            plain: *plain,
            number: self.next,
            options: self.options.clone(),
            pairs: pairs.clone(),
        };
        tracing::debug!(
            stream = self.next,
            over = over.map(display),
            "connecting a stream"
        );
        dial.start(context.report());
        self.next += 1;
    }

    /// Connects streams that had to wait, and sees what those of multipath TCP go over. Where the
    /// streams are dealt over pairs of addresses: reads what each carries, and tries those again
    /// that were left out, each with one stream. A receiver ends the streams of pairs that hang; a
    /// sender knows better which of its streams do.
    pub(crate) fn look(&mut self, part: Part, context: &SessionContext) {
        if let Some(target) = self.put_off {
            self.grow(target, context);
        }
        if let Some(multipath) = self.multipath() {
            multipath.look();
        }
        let Some(pairs) = self.pairs() else {
            return;
        };
        let now = context.now();
        pairs.look(now, part == Part::Receives);
        while let Some(pair) = pairs.retry(self.next, now) {
            self.tries.insert(self.next);
            self.connect(Some(&pair), context);
        }
    }

    fn pairs(&self) -> Option<CopyPairs> {
        match &self.source {
            StreamSource::Dial { pairs, .. } => pairs.clone(),
            StreamSource::Ask(_) => None,
        }
    }

    fn multipath(&self) -> Option<CopyMultipath> {
        match &self.source {
            StreamSource::Dial { multipath, .. } => multipath.clone(),
            StreamSource::Ask(_) => None,
        }
    }

    /// Socket buffers of streams that are connected from now on.
    pub(crate) fn set_window(&mut self, window: Window) {
        self.options.window = match window {
            Window::Auto => None,
            Window::Fixed(bytes) => Some(bytes),
        };
    }

    fn ask(&mut self, target: u16, now: Time, context: &SessionContext) {
        let is_new = |(asked, at): (u16, Time)| asked != target || now.since(at) > ASK_AGAIN;
        if self.present < target && self.asked.is_none_or(is_new) {
            tracing::debug!(target, present = self.present, "asking for streams");
            self.asked = Some((target, now));
            context.send(Message::Streams(target));
        }
    }

    /// One came. Says what there is to say of its pair of addresses, or of multipath TCP.
    pub(crate) fn on_joined(
        &mut self,
        number: u32,
        handle: StreamHandle,
        now: Time,
    ) -> Option<String> {
        self.has_come(number);
        self.present += 1;
        self.failures = 0;
        self.failing_since = None;
        match self.multipath() {
            Some(multipath) => multipath.on_joined(number, handle),
            None => self.pairs()?.on_joined(number, handle, now),
        }
    }

    fn has_come(&mut self, number: u32) {
        if !self.tries.remove(&number) {
            self.coming = self.coming.saturating_sub(1);
        }
    }

    /// One did not come. Says what there is to say of its pair of addresses. An end of the
    /// conversation where none comes for long.
    pub(crate) fn on_not_joined(
        &mut self,
        number: u32,
        now: Time,
        why: &str,
    ) -> Result<Option<String>, SessionEnd> {
        self.has_come(number);
        let pairs = self.pairs();
        if pairs.is_some() && self.present > 0 {
            // One pair of several.
            self.failing_since = None;
        }
        let since = *self.failing_since.get_or_insert(now);
        if self.present == 0 && now.since(since) > FAILING_MAX {
            return Err(no_streams(why));
        }
        let pause = PAUSE.times(1 << self.failures.min(6));
        tracing::warn!(why, %pause, "a stream cannot be connected");
        self.failures += 1;
        self.not_before = now + pause;
        Ok(pairs.and_then(|pairs| pairs.on_not_joined(number, why, now)))
    }

    /// One is over. Says what there is to say of its pair of addresses.
    pub(crate) fn on_over(
        &mut self,
        number: u32,
        end: &Result<(), String>,
        now: Time,
    ) -> Option<String> {
        self.present = self.present.saturating_sub(1);
        self.asked = None;
        if end.is_err() {
            // A far end that breaks each stream is not dialed again and again at once.
            self.not_before = self.not_before.max(now + PAUSE);
        }
        if let Some(multipath) = self.multipath() {
            multipath.on_over(number);
        }
        self.pairs()?.on_over(number, end, now)
    }
}

struct Dial {
    dialer: StreamDialer,
    pending: Option<PendingConnection>,
    session: u64,
    plain: bool,
    number: u32,
    options: StreamOptions,
    pairs: Option<CopyPairs>,
}

impl Dial {
    /// On a thread of its own, so that all of them connect at once.
    fn start(self, report: SyncSender<Event>) {
        thread::spawn(move || {
            let (number, pairs) = (self.number, self.pairs.clone());
            let event = match self.connect() {
                Ok(channel) => Event::Joined(number, channel),
                Err(error) => {
                    if let (DialError::Tls { .. }, Some(pairs)) = (&error, &pairs) {
                        pairs.give_up(number);
                    }
                    Event::NotJoined(number, error.to_string())
                }
            };
            // After the end of the session no thread receives this; the channel closes with the
            // event.
            let _ = report.send(event);
        });
    }

    /// On the connection that was made ahead, else on a new one.
    fn connect(self) -> Result<Channel, DialError> {
        let pending = self.pending.and_then(PendingConnection::join);
        let greet = |raw| self.dialer.greet(raw, self.session, self.number);
        match pending.map(greet) {
            Some(Ok(channel)) => Ok(channel),
            _ => {
                let (session, number) = (self.session, self.number);
                self.dialer
                    .stream(session, number, &self.options, self.plain)
            }
        }
    }
}

/// Brings streams that come to this end, until `is_over`.
pub(crate) fn take_arrivals(
    incoming: &IncomingStreams,
    report: &SyncSender<Event>,
    is_over: &dyn Fn() -> bool,
) {
    let next = || {
        let arrival = incoming.next(TICK)?;
        Some(Event::Joined(arrival.number, arrival.channel))
    };
    pass_on(&next, &|event| report.try_send(event), is_over);
}

/// Reports what comes next, until `is_over`.
pub(crate) fn pass_on<E>(
    next: &dyn Fn() -> Option<E>,
    report: &dyn Fn(E) -> Result<(), TrySendError<E>>,
    is_over: &dyn Fn() -> bool,
) {
    while !is_over() {
        let Some(mut event) = next() else {
            continue;
        };
        // After the end no thread takes events, so this must not wait for ever.
        while let Err(TrySendError::Full(back)) = report(event) {
            if is_over() {
                return;
            }
            event = back;
            thread::sleep(TICK);
        }
    }
}

#[cfg(feature = "shuttle")]
pub mod threads;
