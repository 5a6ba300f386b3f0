//! The far end: is told what is wanted, and does its half.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use net::copying::{CopyHandler, TurnedAway, Visit};
use wire::copying::{
    Key, KeyName, Message, Opening, Problem, ProblemKind, Referee, Rights, Speaker, Token, Tokens,
    Way,
};

use crate::chronicle::Chronicle;
use crate::converse::{Files, Part, converse, options};
use crate::lines::{Lines, take_arrivals};
use crate::root::Root;
use crate::session::{End, Pump, protocol};
use crate::{Outcome, Steering};

/// How long the near end may think about what it wants.
const OPENING_MAX: Duration = Duration::from_secs(30);
/// How long the older conversation of a copy that came back may take to end.
const OLDER_MAX: Duration = Duration::from_secs(20);

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
    stop: Arc<AtomicBool>,
    on_event: Box<dyn Fn(&FarEvent) + Send + Sync>,
    current: Mutex<BTreeMap<[u8; 16], Arc<AtomicBool>>>,
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
            stop,
            on_event,
            current: Mutex::default(),
        }
    }

    /// Copies that are connected.
    pub fn copies(&self) -> usize {
        self.current().len()
    }

    fn current(&self) -> MutexGuard<'_, BTreeMap<[u8; 16], Arc<AtomicBool>>> {
        // Each change of it is whole, even when a thread panicked beside it.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy that comes again has lost its older conversation: that is ended first, so that its files are free.
    fn take_over(&self, copy: [u8; 16]) -> Result<Arc<AtomicBool>, End> {
        let until = Instant::now() + OLDER_MAX;
        loop {
            let mut current = self.current();
            let Some(older) = current.get(&copy) else {
                let mine = Arc::new(AtomicBool::new(false));
                current.insert(copy, Arc::clone(&mine));
                return Ok(mine);
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
        let pump = Pump::start(visit.conversation).map_err(lost)?;
        let first = pump.first(OPENING_MAX)?;
        let opening = match Referee::default().pass(Speaker::Near, first) {
            Ok(Message::Open(opening)) => opening,
            Ok(_) => return Err(protocol("the near end opened nothing".to_owned())),
            Err(error) => return Err(protocol(error.to_string())),
        };
        (self.on_event)(&FarEvent::Began {
            peer: visit.peer,
            name,
            way: opening.way,
            paths: opening.paths.clone(),
        });
        let refuse = |problem: Problem| {
            // A peer that is gone needs no answer.
            let _ = pump.conversation.send(&Message::Failed(problem.clone()));
            End::Problem(problem)
        };
        let is_over = match self.take_over(opening.copy) {
            Ok(is_over) => is_over,
            Err(End::Problem(problem)) => return Err(refuse(problem)),
            Err(other) => return Err(other),
        };
        let files = self.files(&opening, visit.admitted.rights);
        let files = match files {
            Ok(files) => files,
            Err(problem) => {
                let end = refuse(problem);
                self.current().remove(&opening.copy);
                pump.finish();
                return Err(end);
            }
        };
        visit.streams.allow_plain(opening.plain);
        visit.streams.set_options(options(&opening));
        let is_fresh = match opening.way {
            Way::Put => files.is_fresh(),
            Way::Get => opening.fresh,
        };
        let session = visit.streams.session().unwrap_or(0);
        let opened = Message::Opened {
            session,
            fresh: is_fresh,
        };
        // A peer that is gone is noticed where its messages are awaited.
        let _ = pump.conversation.send(&opened);
        let part = Part {
            me: Speaker::Far,
            opening: &opening,
            files,
            lines: Lines::Ask,
            is_fresh,
            rtt,
        };
        let report = pump.report.clone();
        let has_ended = AtomicBool::new(false);
        let streams = visit.streams;
        let end = thread::scope(|scope| {
            let arrivals =
                || take_arrivals(&streams, &report, &|| has_ended.load(Ordering::Relaxed));
            scope.spawn(arrivals);
            // The near end is to come again, unless it is there again already.
            let is_stopped =
                || is_over.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed);
            let stopped = || is_stopped().then(|| End::Lost("this end was stopped".to_owned()));
            let end = converse(pump, part, chronicle, &stopped);
            has_ended.store(true, Ordering::Relaxed);
            end
        });
        self.current().remove(&opening.copy);
        Ok(end)
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
