//! The far end: takes the request and runs its half of the copy.

mod active_copies;
mod controlled;
mod grants;
mod open_pipes;
mod pipe;
mod remote;

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use copy_net::ThirdPartyHandler;
use copy_net::{
    AcceptedSession, CallbackTarget, CopyHandler, PipeHandler, Rejection, RemoteHandler,
};
use copy_protocol::{
    CopyBounds, CopyDirection, CopyEvent, Filter, Key, KeyName, Message, Opening, Outcome, Problem,
    ProblemKind, Rights, Speaker, Token, Tokens,
};
use observe::StreamCount;
use sockets::{ListenAt, interfaces};
use units::{Bytes, Span};

use self::active_copies::ActiveCopies;
use self::grants::Grants;
use self::open_pipes::OpenPipes;
use crate::budget::{Budget, Use};
use crate::copy::pairs_max;
use crate::copy_stats::CopyStats;
use crate::peer_links::PeerLinks;
use crate::preconnect::Preconnected;
use crate::remote::RemoteTotals;
use crate::run_session::{LocalFiles, SessionSetup, run_session};
use crate::session::{MessageLoop, SessionEnd, protocol};
use crate::stream_set::StreamSource;
use crate::{CopyControl, CopyObserver};
use files::Root;
use files::{problem, with_hint};

/// How long the near end may think about what it wants.
const OPENING_MAX: Duration = Duration::from_secs(30);
/// How long a stream may take to be connected.
const STREAM_MAX: Span = Span::from_secs(10);

/// The keys that open this end.
#[derive(Debug)]
pub enum Keys {
    /// Those of a tokens file, which may be read again meanwhile.
    Tokens(Arc<RwLock<Tokens>>),
    /// One, for one copy.
    One(Token),
}

/// What happens at a far end, for its log.
#[derive(Debug, Clone)]
pub enum FarEvent {
    /// A conversation begins.
    Began {
        /// Counts them, and what else its owner counts with them.
        number: u64,
        /// With whom.
        peer: SocketAddr,
        /// Under which name.
        name: KeyName,
        /// Which way the files go, seen from there.
        direction: CopyDirection,
        /// Names at this end.
        paths: Vec<Vec<u8>>,
    },
    /// Something happened in it to a file, where that was asked for.
    File {
        /// As at its beginning.
        number: u64,
        /// What happened.
        event: Box<CopyEvent>,
    },
    /// A conversation ended.
    Ended {
        /// As at its beginning.
        number: u64,
        /// With whom.
        peer: SocketAddr,
        /// Under which name.
        name: KeyName,
        /// `None` when everything was said; otherwise why it ended.
        why: Option<String>,
        /// What was done.
        outcome: Box<Outcome>,
    },
    /// A controller has a token for a third-party copy to here.
    Granted {
        /// Where the controller is.
        peer: SocketAddr,
        /// The token of the controller.
        name: KeyName,
        /// The destination.
        path: Vec<u8>,
    },
    /// A controller commands a third-party copy from here; its end is an [`FarEvent::Ended`].
    Pushing {
        /// Counts them, and what else its owner counts with them.
        number: u64,
        /// Where the controller is.
        peer: SocketAddr,
        /// The token of the controller.
        name: KeyName,
        /// The destination.
        to: String,
        /// Names at this end.
        paths: Vec<Vec<u8>>,
    },
    /// A session of access to files begins.
    RemoteBegan {
        /// Counts them, and what else its owner counts with them.
        number: u64,
        /// With whom.
        peer: SocketAddr,
        /// Under which name.
        name: KeyName,
    },
    /// A name was made, changed or removed in it, or could not be, where that was asked for.
    RemoteChanged {
        /// As at its beginning.
        number: u64,
        /// What was done.
        what: String,
    },
    /// A session of access to files ended.
    RemoteEnded {
        /// As at its beginning.
        number: u64,
        /// With whom.
        peer: SocketAddr,
        /// Under which name.
        name: KeyName,
        /// `None` when the other end wished it, or had asked nothing for long.
        why: Option<String>,
        /// What was done.
        totals: RemoteTotals,
    },
    /// A pipe begins.
    PipeBegan {
        /// Counts them, and what else its owner counts with them.
        number: u64,
        /// With whom.
        peer: SocketAddr,
        /// Under which name.
        name: KeyName,
        /// Which way the data goes, seen from there.
        direction: CopyDirection,
        /// The file or the program at this end.
        place: String,
    },
    /// A conversation of a pipe ended.
    PipeEnded {
        /// As at its beginning; another one where it was gone on with.
        number: u64,
        /// With whom.
        peer: SocketAddr,
        /// Under which name.
        name: KeyName,
        /// `None` when everything was said; otherwise why it ended.
        why: Option<String>,
        /// Bytes that the pipe's reader has.
        taken: Bytes,
    },
    /// A connection was rejected.
    Rejected {
        /// Who.
        peer: SocketAddr,
        /// Why.
        reason: Rejection,
    },
}

/// A far end: serves as many copies as come.
pub struct FarEnd {
    keys: Keys,
    root: Root,
    back: Option<CallbackTarget>,
    is_plain_refused: bool,
    stop: Arc<AtomicBool>,
    leaves: bool,
    on_event: Box<dyn Fn(&FarEvent) + Send + Sync>,
    active_copies: ActiveCopies,
    peer_links: Arc<PeerLinks>,
    budget: Arc<Budget>,
    grants: Grants,
    sends_anywhere: bool,
    remote_streams: AtomicUsize,
    pipes: Arc<OpenPipes>,
    runs_programs: bool,
    numbers: Arc<AtomicU64>,
    tells_files: bool,
    at: ListenAt,
}

impl FarEnd {
    /// Serves what is in `root` to those who have one of `keys`, until `stop`.
    pub fn new(
        keys: Keys,
        root: Root,
        stop: Arc<AtomicBool>,
        on_event: Box<dyn Fn(&FarEvent) + Send + Sync>,
    ) -> Self {
        let tokens = match &keys {
            Keys::Tokens(tokens) => Some(Arc::clone(tokens)),
            Keys::One(_) => None,
        };
        FarEnd {
            budget: Arc::new(Budget::new(tokens)),
            keys,
            root,
            back: None,
            is_plain_refused: false,
            leaves: false,
            stop,
            on_event,
            active_copies: ActiveCopies::default(),
            peer_links: Arc::default(),
            grants: Grants::default(),
            sends_anywhere: false,
            remote_streams: AtomicUsize::new(0),
            pipes: Arc::default(),
            runs_programs: false,
            numbers: Arc::default(),
            tells_files: false,
            at: ListenAt::from(0),
        }
    }

    /// It listens there, and not at all addresses of this host.
    #[must_use]
    pub fn listening_at(mut self, at: ListenAt) -> Self {
        self.at = at;
        self
    }

    /// This end connects the streams, to where `back` says, if it does.
    #[must_use]
    pub fn calling(mut self, back: Option<CallbackTarget>) -> Self {
        self.back = back;
        self
    }

    /// Conversations are counted with these, and with whatever else is.
    #[must_use]
    pub fn numbered_by(mut self, numbers: Arc<AtomicU64>) -> Self {
        self.numbers = numbers;
        self
    }

    /// Each file is told of.
    #[must_use]
    pub fn telling_files(mut self) -> Self {
        self.tells_files = true;
        self
    }

    /// Controllers may have files sent to any host; otherwise to those that stand behind their
    /// token.
    #[must_use]
    pub fn sending_anywhere(mut self) -> Self {
        self.sends_anywhere = true;
        self
    }

    /// Copies whose data is not to be encrypted are refused.
    #[must_use]
    pub fn without_plain(mut self) -> Self {
        self.is_plain_refused = true;
        self
    }

    /// All copies together keep to these bounds; those of each token besides to what the tokens
    /// file says.
    #[must_use]
    pub fn bounded_by(mut self, whole: CopyBounds) -> Self {
        self.budget = Arc::new(self.budget.with_whole(whole));
        self
    }

    /// Copies that are connected.
    pub fn copies(&self) -> usize {
        self.active_copies.len()
    }

    /// It is there for one command, and stops when that was stopped: ssh, which would say so, may
    /// have got the same signal.
    #[must_use]
    pub fn for_one_command(mut self) -> Self {
        self.leaves = true;
        self
    }

    fn leave_after(&self, end: &SessionEnd) {
        if self.leaves && matches!(end, SessionEnd::Cancelled) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// What the token of that name may reach.
    fn root_of(&self, name: &KeyName) -> Result<Root, Problem> {
        let tokens = match &self.keys {
            Keys::Tokens(tokens) => tokens,
            Keys::One(token) if token.name == *name => return Ok(self.root.clone()),
            // A token for one copy reaches nothing by itself.
            Keys::One(_) => return Err(taken_back(name)),
        };
        let folder = read(tokens).folder(name).cloned();
        let folder = folder.ok_or_else(|| taken_back(name))?;
        match folder.is_empty() {
            true => Ok(self.root.clone()),
            false => self.root.below(&folder),
        }
    }

    fn files(
        &self,
        opening: &Opening,
        holder: &KeyName,
        rights: Rights,
    ) -> Result<LocalFiles, Problem> {
        if self.is_plain_refused && opening.plain {
            return Err(no_plain());
        }
        let root = self.root_of(holder)?;
        let root = root.restricted(rights.read, rights.write);
        match opening.direction {
            CopyDirection::Put => {
                check_rights(&root, opening)?;
                let destination = opening.paths.first().cloned().unwrap_or_default();
                LocalFiles::store(&root, opening, destination)
            }
            CopyDirection::Get => {
                let paths = opening.paths.clone();
                LocalFiles::source(&root, opening, paths, true, &opening.selection)
            }
        }
    }

    /// Tells of a copy that begins.
    fn announce(&self, number: u64, peer: SocketAddr, name: &KeyName, opening: &Opening) {
        let direction = opening.direction;
        let text = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned();
        let paths: Vec<String> = opening.paths.iter().map(text).collect();
        tracing::info!(number, %peer, %name, ?direction, ?paths, "a copy begins");
        (self.on_event)(&FarEvent::Began {
            number,
            peer,
            name: name.clone(),
            direction,
            paths: opening.paths.clone(),
        });
    }

    /// Says where else this end takes streams. Returns how many addresses that are.
    fn tell_addresses(&self, message_loop: &MessageLoop, opening: &Opening, peer: IpAddr) -> u16 {
        let told = interfaces::served(&self.at, peer);
        let mut told = told.unwrap_or_else(|error| {
            tracing::warn!(%error, "this host's addresses cannot be read");
            Vec::new()
        });
        told.truncate(pairs_max(opening).into());
        let count = u16::try_from(told.len()).unwrap_or(u16::MAX);
        message_loop.send(Message::Addresses(told));
        count
    }

    fn serve_session(
        &self,
        number: u64,
        accepted: AcceptedSession,
        stats: &mut CopyStats<'_>,
    ) -> Result<SessionEnd, SessionEnd> {
        let lost = |error: std::io::Error| SessionEnd::Lost(error.to_string());
        let (name, rights) = (accepted.admitted.key_name.clone(), accepted.admitted.rights);
        let rtt = accepted.rtt;
        let back = self.back.as_ref();
        let dialer = back.map(|back| back.streams(&accepted, STREAM_MAX));
        let message_loop = MessageLoop::start(accepted.conversation, Speaker::Far).map_err(lost)?;
        let (message_loop, mut opening) = first_opening(message_loop)?;
        self.announce(number, accepted.peer, &name, &opening);
        let refuse = |problem: Problem| {
            message_loop.send(Message::Failed(problem.clone()));
            SessionEnd::Problem(problem)
        };
        let holder = match self.grants.redeem(&name, &opening) {
            Ok(holder) => holder.unwrap_or(name),
            Err(problem) => {
                let end = refuse(problem);
                message_loop.finish(false);
                return Err(end);
            }
        };
        let copy = (holder.clone(), opening.copy);
        let active = match self.active_copies.take_over(copy, stats.control()) {
            Ok(active) => active,
            Err(SessionEnd::Problem(problem)) => return Err(refuse(problem)),
            Err(other) => return Err(other),
        };
        let files = match self.files(&opening, &holder, rights) {
            Ok(files) => files,
            Err(problem) => {
                let end = refuse(problem);
                drop(active);
                message_loop.finish(false);
                return Err(end);
            }
        };
        let is_fresh = match opening.direction {
            CopyDirection::Put => files.is_fresh(),
            CopyDirection::Get => opening.fresh,
        };
        let session = accepted.streams.session().unwrap_or(0);
        message_loop.send(Message::Opened {
            session,
            fresh: is_fresh,
        });
        if opening.asks_addresses {
            opening.pairs = self.tell_addresses(&message_loop, &opening, accepted.peer.ip());
        }
        stats.join(self.peer_links.member(accepted.peer.ip(), &opening, rtt));
        stats.share(self.budget.user(Use::Copy, holder, opening.direction));
        if opening.direction == CopyDirection::Put {
            tell_shares(stats, &message_loop);
        }
        let stream_source = match dialer {
            Some(dialer) => StreamSource::Dial {
                dialer: Box::new(dialer),
                session,
                plain: opening.plain,
                preconnected: Preconnected::default(),
                pairs: None,
                multipath: None,
            },
            None => StreamSource::Ask(Arc::new(accepted.streams)),
        };
        let setup = SessionSetup {
            opening: &opening,
            files,
            stream_source,
            is_fresh,
            rtt,
        };
        // The near end is to come again, unless it is there again already.
        let is_stopped =
            || active.is_over.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed);
        let stopped = || is_stopped().then(|| SessionEnd::Lost("this end was stopped".to_owned()));
        Ok(run_session(message_loop, setup, stats, &stopped))
    }
}

/// What the near end asks for; its mistakes are told to it.
fn first_opening(message_loop: MessageLoop) -> Result<(MessageLoop, Box<Opening>), SessionEnd> {
    // A stop of this end breaks the connection, which is noticed there.
    match message_loop.await_first(OPENING_MAX, &|| None) {
        Ok(Message::Open(opening)) => Ok((message_loop, opening)),
        Ok(other) => Err(protocol(format!("{other:?} opens nothing"))),
        Err(SessionEnd::Problem(problem)) => {
            message_loop.refuse(problem.clone());
            message_loop.finish(false);
            Err(SessionEnd::Problem(problem))
        }
        Err(end) => Err(end),
    }
}

/// What a sender may use, at once behind the answer: it connects its first streams now.
fn tell_shares(stats: &mut CopyStats<'_>, message_loop: &MessageLoop) {
    if let Some(share) = stats.new_share(Bytes::ZERO) {
        message_loop.send(share.message());
    }
    if let Some(part) = stats.new_part(false) {
        message_loop.send(Message::SharedStreams(part.map(StreamCount::get)));
    }
}

/// Why a session ended; `None` when everything was said.
fn why_ended(end: &SessionEnd) -> Option<String> {
    match end {
        SessionEnd::Done => None,
        SessionEnd::Problem(problem) => Some(problem.what.clone()),
        SessionEnd::Lost(why) => Some(why.clone()),
        SessionEnd::NoPlace(no_place) => Some(no_place.what.clone()),
        SessionEnd::Cancelled => Some("stopped".to_owned()),
    }
}

/// Tokens are replaced as a whole, so a panic of another thread harms nothing.
fn read(tokens: &RwLock<Tokens>) -> RwLockReadGuard<'_, Tokens> {
    tokens.read().unwrap_or_else(PoisonError::into_inner)
}

/// To compare contents tells what is in a file, and to remove a file takes away what was there:
/// both are for those who may read and write.
fn check_rights(root: &Root, opening: &Opening) -> Result<(), Problem> {
    let has_both = root.may_read() && root.may_write();
    let refused = |what: &str, hint| {
        let refused = problem(ProblemKind::Permission, what);
        Err(with_hint(refused, hint))
    };
    match opening.filter == Filter::Content {
        true if !has_both => refused(
            "contents are compared only for those who may read and write here",
            "leave out `--checksum`, or use a token with `rw`",
        ),
        _ if opening.delete && !has_both => refused(
            "nothing is removed here except for those who may read and write",
            "leave out `--delete`, or use a token with `rw`",
        ),
        _ if opening.delete && !root.may_remove() => refused(
            "this server removes nothing (`--no-delete`)",
            "leave out `--delete`",
        ),
        _ => Ok(()),
    }
}

fn no_plain() -> Problem {
    let what = "this server takes no copies whose data is not encrypted (`--no-plain`)";
    with_hint(
        problem(ProblemKind::Request, what),
        "copy without `--plain`",
    )
}

fn taken_back(name: &KeyName) -> Problem {
    let what = format!("the token `{name}` has just been taken back");
    with_hint(
        problem(ProblemKind::Permission, what),
        "ask the owner of the server for another one",
    )
}

/// Reports what happens to files.
struct FileEventObserver<'a> {
    far: &'a FarEnd,
    number: u64,
}

impl CopyObserver for FileEventObserver<'_> {
    fn on_event(&mut self, event: &CopyEvent) {
        self.far.tell_file(self.number, event);
    }
}

impl FarEnd {
    /// Tells of a file, where that was asked for.
    fn tell_file(&self, number: u64, event: &CopyEvent) {
        // What follows from a folder that failed is told with the folder.
        let follows = match event {
            CopyEvent::Failed { problem, .. } => problem.kind == ProblemKind::Follows,
            _ => false,
        };
        let is_of_a_file = matches!(
            event,
            CopyEvent::Published { .. }
                | CopyEvent::Removed { .. }
                | CopyEvent::LeftOut { .. }
                | CopyEvent::Failed { .. }
        );
        if self.tells_files && is_of_a_file && !follows {
            let event = Box::new(event.clone());
            (self.on_event)(&FarEvent::File { number, event });
        }
    }

    /// The key of a token of its own, and what it allows.
    fn find_own(&self, name: &KeyName) -> Option<(Key, Rights)> {
        match &self.keys {
            Keys::Tokens(tokens) => {
                let tokens = read(tokens);
                tokens.find(name).map(|(key, rights)| (key.clone(), rights))
            }
            Keys::One(token) if token.name == *name => Some((token.secret.key(), Rights::ALL)),
            Keys::One(_) => None,
        }
    }
}

impl CopyHandler for FarEnd {
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)> {
        if let Some(own) = self.find_own(name) {
            return Some(own);
        }
        // A granted token allows what its holder may, in the one copy that it opens.
        let (key, holder) = self.grants.find(name)?;
        self.find_own(&holder).map(|(_, rights)| (key, rights))
    }

    fn holder(&self, name: &KeyName) -> KeyName {
        let granted = self.grants.find(name);
        granted.map_or_else(|| name.clone(), |(_, holder)| holder)
    }

    fn copies_max(&self, holder: &KeyName) -> Option<u16> {
        self.budget.copies_max(holder)
    }

    fn time_left(&self) -> Vec<(KeyName, Option<Span>)> {
        self.active_copies.time_left()
    }

    fn third_party(&self) -> Option<&dyn ThirdPartyHandler> {
        Some(self)
    }

    fn serve(&self, accepted: AcceptedSession) {
        let (peer, name) = (accepted.peer, accepted.admitted.key_name.clone());
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let mut observer = FileEventObserver { far: self, number };
        let control = CopyControl::default();
        let mut stats = CopyStats::new(&mut observer, &control);
        let end = self
            .serve_session(number, accepted, &mut stats)
            .unwrap_or_else(|end| end);
        tracing::info!(number, %peer, ?end, "the copy is over");
        self.leave_after(&end);
        let why = why_ended(&end);
        let outcome = Box::new(stats.conclude());
        (self.on_event)(&FarEvent::Ended {
            number,
            peer,
            name,
            why,
            outcome,
        });
    }

    fn remote(&self) -> Option<&dyn RemoteHandler> {
        Some(self)
    }

    fn pipes(&self) -> Option<&dyn PipeHandler> {
        Some(self)
    }

    fn rejected(&self, peer: SocketAddr, reason: &Rejection) {
        let reason = reason.clone();
        (self.on_event)(&FarEvent::Rejected { peer, reason });
    }
}
