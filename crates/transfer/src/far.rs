//! The far end: is told what is wanted, and does its half.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use net::copying::{Back, CopyHandler, TurnedAway, Visit};
use units::Span;
use wire::copying::{
    Key, KeyName, Message, Opening, Problem, ProblemKind, Rights, Speaker, Token, Tokens, Way,
};

use crate::chronicle::Chronicle;
use crate::converse::{Files, Part, converse};
use crate::lines::Lines;
use crate::root::Root;
use crate::session::{End, Pump, protocol};
use crate::{Outcome, Steering};

/// How long the near end may think about what it wants.
const OPENING_MAX: Duration = Duration::from_secs(30);
/// How long the older conversation of a copy that came back may take to end.
const OLDER_MAX: Duration = Duration::from_secs(20);

/// How long a stream may take to be connected.
const STREAM_MAX: Span = Span::from_secs(10);

/// Who may come.
#[derive(Debug)]
pub enum Keys {
    /// Those of a tokens file.
    Tokens(Tokens),
    /// One, for one copy.
    One(Token),
}

/// What happens at a far end, for its log.
#[derive(Debug, Clone)]
pub enum FarEvent {
    /// A conversation begins.
    Began {
        /// With whom.
        peer: SocketAddr,
        /// Under which name.
        name: KeyName,
        /// Which way the files go, seen from there.
        way: Way,
        /// Names at this end.
        paths: Vec<Vec<u8>>,
    },
    /// A conversation ended.
    Ended {
        /// With whom.
        peer: SocketAddr,
        /// Under which name.
        name: KeyName,
        /// `None` when everything was said; otherwise why it ended.
        why: Option<String>,
        /// What was done.
        outcome: Box<Outcome>,
    },
    /// Somebody was turned away.
    TurnedAway {
        /// Who.
        peer: SocketAddr,
        /// Why.
        reason: TurnedAway,
    },
}

/// A far end: serves as many copies as come.
pub struct FarEnd {
    keys: Keys,
    root: Root,
    back: Option<Back>,
    stop: Arc<AtomicBool>,
    on_event: Box<dyn Fn(&FarEvent) + Send + Sync>,
    current: Mutex<Current>,
}

/// Conversations that go on, and what ends each. The number of a copy is its near end's choice, so it counts only
/// together with the name of the token: nobody ends the copy of somebody else.
type Current = BTreeMap<(KeyName, [u8; 16]), Arc<AtomicBool>>;

/// One of them; it is over when this is dropped, even by a panic.
struct Held<'a> {
    far: &'a FarEnd,
    copy: (KeyName, [u8; 16]),
    is_over: Arc<AtomicBool>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.far.current().remove(&self.copy);
    }
}

impl FarEnd {
    /// Serves what is in `root` to those who have one of `keys`, until `stop`.
    pub fn new(
        keys: Keys,
        root: Root,
        stop: Arc<AtomicBool>,
        on_event: Box<dyn Fn(&FarEvent) + Send + Sync>,
    ) -> Self {
        FarEnd {
            keys,
            root,
            back: None,
            stop,
            on_event,
            current: Mutex::default(),
        }
    }

    /// This end connects the streams, to where `back` says, if it does.
    #[must_use]
    pub fn calling(mut self, back: Option<Back>) -> Self {
        self.back = back;
        self
    }

    /// Copies that are connected.
    pub fn copies(&self) -> usize {
        self.current().len()
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        // Each change of it is whole, even when a thread panicked beside it.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy that comes again has lost its older conversation: that is ended first, so that its files are free.
    fn take_over(&self, copy: (KeyName, [u8; 16])) -> Result<Held<'_>, End> {
        let until = Instant::now() + OLDER_MAX;
        loop {
            let mut current = self.current();
            let Some(older) = current.get(&copy) else {
                let is_over = Arc::new(AtomicBool::new(false));
                current.insert(copy.clone(), Arc::clone(&is_over));
                let far = self;
                return Ok(Held { far, copy, is_over });
            };
            older.store(true, Ordering::Relaxed);
            drop(current);
            if Instant::now() >= until {
                return Err(End::Problem(Problem {
                    kind: ProblemKind::Busy,
                    file: None,
                    what: "the conversation before this one has not ended yet".to_owned(),
                    hint: Some("try again in a minute".to_owned()),
                }));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn files(&self, opening: &Opening, rights: Rights) -> Result<Files, Problem> {
        let root = self.root.restricted(rights.read, rights.write);
        match opening.way {
            Way::Put => {
                let destination = opening.paths.first().cloned().unwrap_or_default();
                Files::to(&root, opening, destination)
            }
            Way::Get => Files::from(&root, opening, opening.paths.clone(), true),
        }
    }

    fn lead(&self, visit: Visit, chronicle: &mut Chronicle<'_>) -> Result<End, End> {
        let lost = |error: std::io::Error| End::Lost(error.to_string());
        let name = visit.admitted.key_name.clone();
        let rtt = visit.conversation.handle().sample(chronicle.now()).ok();
        let rtt = rtt.and_then(|sample| sample.rtt_min.or(sample.rtt));
        let back = self.back.as_ref();
        let dialer = back.map(|back| back.streams(&visit, STREAM_MAX));
        let pump = Pump::start(visit.conversation, Speaker::Far).map_err(lost)?;
        let opening = match pump.first(OPENING_MAX) {
            Ok(Message::Open(opening)) => opening,
            Ok(other) => return Err(protocol(format!("{other:?} opens nothing"))),
            Err(End::Problem(problem)) => {
                pump.say(Message::Failed(problem.clone()));
                pump.finish();
                return Err(End::Problem(problem));
            }
            Err(end) => return Err(end),
        };
        (self.on_event)(&FarEvent::Began {
            peer: visit.peer,
            name: name.clone(),
            way: opening.way,
            paths: opening.paths.clone(),
        });
        let refuse = |problem: Problem| {
            pump.say(Message::Failed(problem.clone()));
            End::Problem(problem)
        };
        let held = match self.take_over((name, opening.copy)) {
            Ok(held) => held,
            Err(End::Problem(problem)) => return Err(refuse(problem)),
            Err(other) => return Err(other),
        };
        let files = self.files(&opening, visit.admitted.rights);
        let files = match files {
            Ok(files) => files,
            Err(problem) => {
                let end = refuse(problem);
                drop(held);
                pump.finish();
                return Err(end);
            }
        };
        let is_fresh = match opening.way {
            Way::Put => files.is_fresh(),
            Way::Get => opening.fresh,
        };
        let session = visit.streams.session().unwrap_or(0);
        pump.say(Message::Opened {
            session,
            fresh: is_fresh,
        });
        let lines = match dialer {
            Some(dialer) => Lines::Dial {
                dialer,
                session,
                plain: opening.plain,
            },
            None => Lines::Ask(Arc::new(visit.streams)),
        };
        let part = Part {
            opening: &opening,
            files,
            lines,
            is_fresh,
            rtt,
        };
        // The near end is to come again, unless it is there again already.
        let is_stopped =
            || held.is_over.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed);
        let stopped = || is_stopped().then(|| End::Lost("this end was stopped".to_owned()));
        Ok(converse(pump, part, chronicle, &stopped))
    }
}

impl CopyHandler for FarEnd {
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)> {
        match &self.keys {
            Keys::Tokens(tokens) => tokens.find(name).map(|(key, rights)| (key.clone(), rights)),
            Keys::One(token) if token.name == *name => Some((token.secret.key(), Rights::ALL)),
            Keys::One(_) => None,
        }
    }

    fn serve(&self, visit: Visit) {
        let (peer, name) = (visit.peer, visit.admitted.key_name.clone());
        let mut nobody = ();
        let steering = Steering::default();
        let mut chronicle = Chronicle::new(&mut nobody, &steering);
        let end = self.lead(visit, &mut chronicle).unwrap_or_else(|end| end);
        let why = match end {
            End::Done => None,
            End::Problem(problem) => Some(problem.what),
            End::Lost(why) => Some(why),
            End::Cancelled => Some("stopped".to_owned()),
        };
        let outcome = Box::new(chronicle.conclude());
        (self.on_event)(&FarEvent::Ended {
            peer,
            name,
            why,
            outcome,
        });
    }

    fn turned_away(&self, peer: SocketAddr, reason: &TurnedAway) {
        let reason = reason.clone();
        (self.on_event)(&FarEvent::TurnedAway { peer, reason });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_over_with_its_holder_and_belongs_to_its_token() {
        let keys = Keys::Tokens(Tokens::default());
        let stop = Arc::new(AtomicBool::new(false));
        let far = FarEnd::new(keys, Root::own(), stop, Box::new(|_| ()));
        let name = |text: &str| KeyName::try_from(text.to_owned()).unwrap();
        let (mine, theirs) = ((name("a"), [7; 16]), (name("b"), [7; 16]));
        let Ok(held) = far.take_over(mine.clone()) else {
            panic!("nobody has it")
        };
        assert!(far.take_over(theirs).is_ok(), "another one's number");
        assert!(!held.is_over.load(Ordering::Relaxed));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _held = held;
            panic!("as a conversation might");
        }));
        assert!(caught.is_err());
        assert_eq!(far.copies(), 0);
        assert!(far.take_over(mine).is_ok());
    }
}
