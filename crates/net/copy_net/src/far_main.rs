//! A far end that ssh has started: one line in, one line out, then copies until no near end is
//! left.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use copy_protocol::{
    CallBack, Key, KeyName, Rights, START_LINE_MAX, StartAnswer, StartError, StartRequest, Token,
};
use errors::{Fault, Hint};
use socket2::{Domain, Socket, Type};
use sockets::{Clock, poll};
use thiserror::Error;
use units::{Span, Time};

use super::acceptor::{Acceptor, Handover};
use super::dialer::StreamDialer;
use super::fingerprint::Fingerprint;
use super::handshaking::CALL_MAGIC;
use super::identity::Identity;
use super::listener::{ListenError, Listener};
use super::ssh_client::{KEY_NAME, LEAVE};
use super::{
    AcceptLimits, AcceptedController, AcceptedPipe, AcceptedRemote, AcceptedSession, CopyHandler,
    PipeHandler, Rejection, RemoteHandler, SOFTWARE, ThirdPartyHandler,
};

/// Pauses between two calls to the near end.
const CALL_PAUSE: Duration = Duration::from_millis(500);
/// How soon a near end that has begun is noticed.
const CALL_TICK: Duration = Duration::from_millis(20);
/// How long a near end that has never connected is waited for once the pipe has ended: as long as
/// it tries. It starts another far end then.
const ARRIVAL_MAX: Span = Span::from_secs(10);
/// How long one is waited for whose sessions and ssh ended at the same time: it was killed with
/// ssh, or the network closed all of its connections.
const KILLED_MAX: Span = Span::from_secs(120);
/// The same time.
const AT_ONCE: Span = Span::from_secs(3);
/// How long ssh takes to end after the pipe from it. Where it goes on, the near end alone ended.
const SSH_ENDS: Span = Span::from_millis(300);
/// How soon a stop is noticed before there is a request.
const TICK: Duration = Duration::from_millis(100);
/// How long one call may take.
const CALL_WAIT: Duration = Duration::from_secs(5);

/// Why a far end did not begin.
#[derive(Debug, Error)]
pub enum SshChildError {
    /// The line from ssh is not a request.
    #[error("{0}; this command is started by `trunkline copy` through ssh, not by people")]
    Request(#[from] StartError),
    /// The line could not be read, or the answer not be written.
    #[error("the pipe from ssh broke: {0}")]
    Pipe(#[from] io::Error),
    /// There is no port.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The near end is to be called, but ssh does not say where it is.
    #[error("SSH_CONNECTION is not set, so that this end does not know whom to connect to")]
    NoNearAddress,
}

impl Hint for SshChildError {
    fn fault(&self) -> Fault {
        match self {
            SshChildError::Request(_) => Fault::Request,
            _ => Fault::Run,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            SshChildError::Request(_) | SshChildError::Pipe(_) => None,
            SshChildError::Listen(error) => error.hint(),
            SshChildError::NoNearAddress => {
                Some("let this end listen instead: leave out `--connect from-far`".to_owned())
            }
        }
    }
}

/// The pipes from and to ssh; mostly the standard ones.
#[derive(Debug)]
pub struct SshPipes<'a, I, O> {
    /// Ends with the near end.
    pub input: I,
    /// May be closed with the near end: no other process reads what ssh prints there.
    pub output: O,
    /// Open as long as ssh is there.
    pub errors: BorrowedFd<'a>,
}

/// Serves a near end that started this one through ssh.
///
/// * `pipes`: the first line that comes has the secret.
/// * `connection`: the value of `SSH_CONNECTION`: client address and port, server address and port.
/// * `limits`: how many conversations, and so on.
/// * `timeout`: how long to wait for a near end that was connected, once ssh has ended without a
///   word: a network that is out ends it, and the near end comes back. One whose ssh is still there
///   has been killed.
/// * `is_stopped`: asked several times a second.
/// * `handler`: makes the handler of conversations from the token that opens this end, and, when
///   this end has to open streams itself, from what opens them.
///
/// # Errors
/// When it cannot begin. The caller prints the error to stderr, which ssh carries to the user.
pub fn serve_ssh_child(
    pipes: SshPipes<'_, impl Read + Send + 'static, impl Write>,
    connection: Option<&str>,
    limits: AcceptLimits,
    timeout: Span,
    is_stopped: &(dyn Fn() -> bool + Sync),
    handler: impl FnOnce(Token, Option<CallbackTarget>) -> Arc<dyn CopyHandler>,
) -> Result<(), SshChildError> {
    let SshPipes {
        input,
        mut output,
        errors,
    } = pipes;
    let Some((line, input)) = first_line(input, is_stopped)? else {
        return Ok(());
    };
    let (request, version) = StartRequest::parse(&line)?;
    drop(line);
    let ends = Ends::of(connection);
    let token = Token {
        name: KeyName::new(KEY_NAME).expect("a fixed name of letters"),
        secret: request.secret,
    };
    let callback = match request.back {
        Some(callback) => Some(ends.callback(callback)?),
        None => None,
    };
    let presence = Arc::new(Presence::default());
    let handler: Arc<dyn CopyHandler> = Arc::new(CountingHandler {
        inner: handler(token, callback.clone()),
        presence: Arc::clone(&presence),
    });
    let listener = match callback {
        Some(_) => None,
        None => Some(Listener::bind(request.ports)?),
    };
    let answer = StartAnswer {
        version,
        software: SOFTWARE.to_owned(),
        port: listener.as_ref().map(Listener::port),
        addresses: ends.here.into_iter().collect(),
        fingerprint: listener.as_ref().map(|one| one.fingerprint().0),
    };
    output.write_all(answer.line().as_bytes())?;
    output.flush()?;
    presence.follow(input);
    let is_alone = presence.until(timeout, || poll::is_open(errors));
    let is_over = || is_stopped() || is_alone();
    match (listener, callback) {
        (Some(listener), _) => listener.run(limits, handler, &is_over),
        (None, Some(callback)) => call(&callback, limits, handler, &presence, &is_over)?,
        (None, None) => {}
    }
    Ok(())
}

/// The first line and what follows it; `None` where this end is stopped before.
fn first_line<R: Read + Send + 'static>(
    input: R,
    is_stopped: &dyn Fn() -> bool,
) -> io::Result<Option<(String, BufReader<R>)>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut input = BufReader::new(input);
        let mut line = String::new();
        let read = input
            .by_ref()
            .take(START_LINE_MAX as u64)
            .read_line(&mut line);
        // After a stop the line is not needed.
        let _ = sender.send(read.map(|_| (line, input)));
    });
    while !is_stopped() {
        match receiver.recv_timeout(TICK) {
            Ok(read) => return read.map(Some),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(ErrorKind::UnexpectedEof.into()),
        }
    }
    Ok(None)
}

/// Where the near end listens for connections from here.
#[derive(Debug, Clone)]
pub struct CallbackTarget {
    addresses: Vec<SocketAddr>,
    fingerprint: Fingerprint,
}

impl CallbackTarget {
    /// What opens the streams of a session whose connection was made from here.
    pub fn streams(&self, accepted: &AcceptedSession, timeout: Span) -> StreamDialer {
        let key = accepted.admitted.session_key.clone();
        StreamDialer::new(self.addresses.clone(), self.fingerprint, key, timeout)
    }
}

/// The two addresses of the ssh connection.
struct Ends {
    near: Option<IpAddr>,
    here: Option<IpAddr>,
}

impl Ends {
    /// Reads `client port server port`.
    fn of(connection: Option<&str>) -> Self {
        let words: Vec<&str> = connection.unwrap_or_default().split_whitespace().collect();
        let address = |at: usize| {
            let text = words.get(at)?.split('%').next()?;
            text.parse()
                .ok()
                .map(|address: IpAddr| address.to_canonical())
        };
        Ends {
            near: address(0),
            here: address(2),
        }
    }

    fn callback(&self, callback: CallBack) -> Result<CallbackTarget, SshChildError> {
        let near = self.near.ok_or(SshChildError::NoNearAddress)?;
        Ok(CallbackTarget {
            addresses: vec![SocketAddr::new(near, callback.port)],
            fingerprint: Fingerprint(callback.fingerprint),
        })
    }
}

/// Number of sessions, and the state of the pipe.
#[derive(Debug, Default)]
struct Presence {
    sessions: AtomicUsize,
    /// The pipe has ended.
    is_alone: AtomicBool,
    /// The near end said that it needs nothing more.
    may_leave: AtomicBool,
}

impl Presence {
    /// Reads the pipe to its end, on a thread of its own.
    fn follow(self: &Arc<Self>, mut input: impl BufRead + Send + 'static) {
        let presence = Arc::clone(self);
        // It ends with the pipe or with the process.
        thread::spawn(move || {
            let mut line = String::new();
            let read = input
                .by_ref()
                .take(START_LINE_MAX as u64)
                .read_line(&mut line);
            if read.is_ok() && line.trim_end() == LEAVE {
                presence.may_leave.store(true, Ordering::Relaxed);
            }
            presence.is_alone.store(true, Ordering::Relaxed);
        });
    }

    /// Whether no near end will connect any more.
    fn until(self: &Arc<Self>, timeout: Span, has_ssh: impl Fn() -> bool) -> impl Fn() -> bool {
        let presence = Arc::clone(self);
        let clock = Clock::start();
        let seen = Mutex::new(Seen::default());
        move || {
            let now = clock.now();
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            let has_sessions = presence.sessions.load(Ordering::Relaxed) > 0;
            let is_alone = presence.is_alone.load(Ordering::Relaxed);
            if has_sessions {
                seen.session = Some(now);
            }
            if !is_alone {
                seen.pipe = now;
            }
            if has_sessions || !is_alone {
                return false;
            }
            let gone = seen.gone(now);
            presence.may_leave.load(Ordering::Relaxed)
                || gone >= seen.longest(timeout)
                || gone >= SSH_ENDS && has_ssh()
        }
    }
}

/// When the near end was there last.
#[derive(Debug, Default)]
struct Seen {
    session: Option<Time>,
    pipe: Time,
}

impl Seen {
    fn gone(&self, now: Time) -> Span {
        let last = self
            .session
            .map_or(self.pipe, |session| session.max(self.pipe));
        now.since(last)
    }

    /// How long it is waited for.
    fn longest(&self, timeout: Span) -> Span {
        match self.session {
            None => timeout.min(ARRIVAL_MAX),
            Some(session) => {
                let apart = self.pipe.max(session).since(self.pipe.min(session));
                match apart <= AT_ONCE {
                    true => timeout.min(KILLED_MAX),
                    false => timeout,
                }
            }
        }
    }
}

/// Counts the sessions of another handler.
struct CountingHandler {
    inner: Arc<dyn CopyHandler>,
    presence: Arc<Presence>,
}

impl CopyHandler for CountingHandler {
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)> {
        self.inner.find(name)
    }

    fn serve(&self, accepted: AcceptedSession) {
        self.presence.sessions.fetch_add(1, Ordering::Relaxed);
        let _gone = EndGuard(&self.presence.sessions);
        self.inner.serve(accepted);
    }

    fn remote(&self) -> Option<&dyn RemoteHandler> {
        self.inner.remote().map(|_| self as &dyn RemoteHandler)
    }

    fn third_party(&self) -> Option<&dyn ThirdPartyHandler> {
        let third_party = self.inner.third_party();
        third_party.map(|_| self as &dyn ThirdPartyHandler)
    }

    fn pipes(&self) -> Option<&dyn PipeHandler> {
        self.inner.pipes().map(|_| self as &dyn PipeHandler)
    }

    fn holder(&self, name: &KeyName) -> KeyName {
        self.inner.holder(name)
    }

    fn rejected(&self, peer: SocketAddr, reason: &Rejection) {
        self.inner.rejected(peer, reason);
    }
}

impl ThirdPartyHandler for CountingHandler {
    fn serve_controller(&self, accepted: AcceptedController) {
        self.presence.sessions.fetch_add(1, Ordering::Relaxed);
        let _gone = EndGuard(&self.presence.sessions);
        if let Some(third_party) = self.inner.third_party() {
            third_party.serve_controller(accepted);
        }
    }
}

impl PipeHandler for CountingHandler {
    fn serve_pipe(&self, accepted: AcceptedPipe) {
        self.presence.sessions.fetch_add(1, Ordering::Relaxed);
        let _gone = EndGuard(&self.presence.sessions);
        if let Some(pipes) = self.inner.pipes() {
            pipes.serve_pipe(accepted);
        }
    }
}

impl RemoteHandler for CountingHandler {
    fn serve_remote(&self, accepted: AcceptedRemote) {
        self.presence.sessions.fetch_add(1, Ordering::Relaxed);
        let _gone = EndGuard(&self.presence.sessions);
        if let Some(remote) = self.inner.remote() {
            remote.serve_remote(accepted);
        }
    }
}

/// Counts a session as ended, however it ended.
struct EndGuard<'a>(&'a AtomicUsize);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Connects to the near end, so that it can begin, whenever there is no session.
fn call(
    callback: &CallbackTarget,
    limits: AcceptLimits,
    handler: Arc<dyn CopyHandler>,
    presence: &Presence,
    is_over: &(impl Fn() -> bool + Sync),
) -> Result<(), SshChildError> {
    let identity = Identity::generate().map_err(ListenError::Identity)?;
    let (handover, acceptor) = Acceptor::behind(identity, limits, handler)?;
    thread::scope(|scope| {
        scope.spawn(|| acceptor.run(&|| is_over()));
        while !is_over() {
            if presence.sessions.load(Ordering::Relaxed) == 0 {
                call_once(callback, &handover, limits.timeout.into(), &|| {
                    is_over() || presence.sessions.load(Ordering::Relaxed) > 0
                });
            }
            thread::sleep(CALL_PAUSE);
        }
    });
    Ok(())
}

/// One call, and time for the near end to begin.
fn call_once(
    callback: &CallbackTarget,
    handover: &Handover,
    timeout: Duration,
    is_enough: &dyn Fn() -> bool,
) {
    for peer in &callback.addresses {
        let Ok(socket) = Socket::new(Domain::for_address(*peer), Type::STREAM, None) else {
            return;
        };
        let called = socket
            .connect_timeout(&(*peer).into(), CALL_WAIT)
            .and_then(|()| (&socket).write_all(&CALL_MAGIC));
        if called.is_ok() {
            handover.give(socket.into(), *peer);
            let end = Instant::now() + timeout;
            while !is_enough() && Instant::now() < end {
                thread::sleep(CALL_TICK);
            }
        }
    }
}
