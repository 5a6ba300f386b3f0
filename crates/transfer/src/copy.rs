//! The near end: connects, sends the request, and reconnects when the far end was lost.

mod meeting;
mod patience;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use units::Span;
use wire::copying::{Message, Problem, ProblemKind, Speaker, Way};

use self::meeting::Meeting;
use self::patience::Patience;
use crate::chronicle::Chronicle;
use crate::converse::{Files, Part, bytes_of, converse};
use crate::lines::Lines;
use crate::opening::opening;
use crate::root::Root;
use crate::session::{End, Pump, protocol};
use crate::{Connect, CopyError, CopyEvent, CopySpec, FarHost, Onlooker, Outcome, Steering};

/// How long the far end may take to answer the request.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// How soon a stop is noticed between two tries.
const TICK: Duration = Duration::from_millis(50);

/// Copies files as `spec` says and returns when they are there.
///
/// A far end that is lost is looked for again until `spec.patience` is over; what had arrived is
/// not sent again.
///
/// # Errors
/// When the copy ended before its end. Single files that failed are in [`Outcome::failed`].
pub fn copy(
    spec: &CopySpec,
    steering: &Steering,
    onlooker: &mut dyn Onlooker,
) -> Result<Outcome, CopyError> {
    sockets::host::raise_open_files();
    if steering.rate_max().is_none() {
        steering.set_rate_max(spec.rate_max);
    }
    let mut chronicle = Chronicle::new(onlooker, steering);
    let mut near = Near::new(spec)?;
    let mut patience = Patience::new(spec.patience);
    loop {
        match near.attempt(&mut chronicle) {
            End::Done => return Ok(chronicle.conclude()),
            End::Problem(problem) => return Err(problem.into()),
            End::Cancelled => {
                let so_far = Box::new(chronicle.conclude());
                return Err(CopyError::Cancelled { so_far });
            }
            End::Lost(why) => {
                let pause = patience.pause(near.seen, Instant::now());
                let Some(pause) = pause.filter(|_| near.may_come_back()) else {
                    return Err(near.lost(&chronicle, why));
                };
                let retry_in = Span::from(pause);
                let at = chronicle.now();
                chronicle.tell(&CopyEvent::Lost { at, why, retry_in });
                chronicle.outcome.reconnects += 1;
                if !wait(pause, &chronicle) {
                    let so_far = Box::new(chronicle.conclude());
                    return Err(CopyError::Cancelled { so_far });
                }
            }
        }
    }
}

/// Waits; `false` when the user wants it to end meanwhile.
fn wait(pause: Duration, chronicle: &Chronicle<'_>) -> bool {
    let until = Instant::now() + pause;
    while Instant::now() < until {
        if chronicle.is_stopped() {
            return false;
        }
        thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
    }
    true
}

struct Near<'a> {
    spec: &'a CopySpec,
    copy: [u8; 16],
    meeting: Meeting<'a>,
    /// When a session last made progress, or the first one began; `None` if there was none. A far
    /// end that answers and goes away each time counts as lost.
    seen: Option<Instant>,
}

impl<'a> Near<'a> {
    fn new(spec: &'a CopySpec) -> Result<Self, CopyError> {
        let identity = copy_net::new_secret().map_err(|error| CopyError::Problem {
            kind: ProblemKind::Request,
            what: format!("this host gives no random numbers: {error}"),
            hint: None,
        })?;
        // The number is no secret: it is a hash of one.
        let hash = blake3::derive_key("trunkline copy 1 number", identity.text().as_bytes());
        let mut copy = [0; 16];
        copy.copy_from_slice(&hash[..16]);
        Ok(Near {
            spec,
            copy,
            meeting: Meeting::new(spec),
            seen: None,
        })
    }

    fn peer(&self) -> String {
        match &self.spec.far.host {
            FarHost::Server { address, .. } => address.to_string(),
            FarHost::Ssh { destination, .. } => destination.clone(),
        }
    }

    /// What to look at when it was never there.
    fn how_to_reach(&self) -> &str {
        match (&self.spec.far.host, &self.spec.connect) {
            (FarHost::Server { .. }, _) => self
                .meeting
                .hint()
                .unwrap_or("is `trunkline serve --root` running there, and its port open?"),
            (FarHost::Ssh { .. }, _) if !self.meeting.has_started() => {
                "does `ssh` to that host work from here, and is trunkline installed there?"
            }
            (FarHost::Ssh { .. }, Connect::ToFar(_)) => {
                "ssh works, but data needs a port there: let one through the firewall and name it \
                with `--port-range`, or let the far end connect with `--connect from-far`"
            }
            (FarHost::Ssh { .. }, Connect::FromFar(_)) => {
                "ssh works, but the far end cannot connect to this one: let a port here through \
                the firewall and name it with `--port-range`, or leave out `--connect from-far`"
            }
        }
    }

    /// A far end that was never there is not waited for: its name may be wrong.
    fn may_come_back(&self) -> bool {
        self.seen.is_some()
    }

    fn lost(&self, chronicle: &Chronicle<'_>, why: String) -> CopyError {
        let peer = self.peer();
        match self.seen {
            Some(_) => CopyError::Lost {
                peer,
                why,
                patience: self.spec.patience,
                so_far: Box::new(chronicle.conclude()),
            },
            None => CopyError::Unreachable {
                peer,
                why,
                hint: Some(self.how_to_reach().to_owned()),
            },
        }
    }

    fn attempt(&mut self, chronicle: &mut Chronicle<'_>) -> End {
        self.try_attempt(chronicle).unwrap_or_else(|end| end)
    }

    fn try_attempt(&mut self, chronicle: &mut Chronicle<'_>) -> Result<End, End> {
        let spec = self.spec;
        let is_many = spec.near.len() > 1
            || spec.selection.listed.is_some()
            || spec.way == Way::Get && (spec.far.paths.len() > 1 || has_wildcard(&spec.far.paths));
        let mut opening = opening(spec, self.copy, is_many);
        let files = self.files(&opening).map_err(End::Problem)?;
        opening.fresh = files.is_fresh();
        let steering = chronicle.steering();
        let met = self.meeting.meet(&opening, &|| steering.is_stopped())?;
        let dialed = met.dialed;
        let rtt = dialed
            .conversation
            .handle()
            .sample(chronicle.now())
            .ok()
            .and_then(|sample| sample.rtt_min.or(sample.rtt));
        let at = chronicle.now();
        let peer = dialed.peer.to_string();
        chronicle.tell(&CopyEvent::Connected { at, peer, rtt });
        let lost = |error: std::io::Error| End::Lost(error.to_string());
        let pump = Pump::start(dialed.conversation, Speaker::Near).map_err(lost)?;
        let open = Message::Open(Box::new(opening.clone()));
        match dialed.has_said {
            true => pump.has_said(open),
            false => pump.say(open),
        }
        let stopped = || steering.is_stopped().then_some(End::Cancelled);
        let (session, is_fresh) = match pump.first(ANSWER_MAX, &stopped)? {
            Message::Opened { session, fresh } => (session, fresh),
            Message::Failed(problem) => return Err(End::Problem(problem)),
            other => return Err(protocol(format!("{other:?} is no answer"))),
        };
        self.seen.get_or_insert_with(Instant::now);
        let steps = chronicle.steps();
        let part = Part {
            opening: &opening,
            files,
            lines: match met.incoming {
                None => Lines::Dial {
                    dialer: dialed.streams,
                    session,
                    plain: spec.plain,
                    early: met.early,
                },
                Some(incoming) => Lines::Ask(Arc::new(incoming)),
            },
            is_fresh,
            rtt,
        };
        let end = converse(pump, part, chronicle, &stopped);
        if chronicle.steps() > steps {
            self.seen = Some(Instant::now());
        }
        Ok(end)
    }

    fn files(&self, opening: &wire::copying::Opening) -> Result<Files, Problem> {
        let root = Root::own();
        let mut paths = bytes_of(&self.spec.near);
        match self.spec.way {
            Way::Put => Files::from(&root, opening, paths, false, &self.spec.selection),
            Way::Get => Files::to(&root, opening, paths.pop().unwrap_or_default()),
        }
    }
}

fn has_wildcard(paths: &[Vec<u8>]) -> bool {
    let is_special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'{');
    paths.iter().any(|path| path.iter().any(is_special))
}
