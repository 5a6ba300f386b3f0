//! The near end: connects, says what is wanted, and connects again when the far end was lost.

use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::sync::mpsc::Receiver as Queue;
use std::thread;
use std::time::{Duration, Instant};

use units::Span;
use wire::copying::{Message, Opening, Problem, ProblemKind, Way};

use crate::chronicle::Chronicle;
use crate::inner::net::{Dialer, converse};
use crate::inner::source::Walk;
use crate::inner::store::Store;
use crate::lines::{Lines, Roster};
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::session::{Desk, End, Happening, Role, happenings, lead, protocol};
use crate::{CopyError, CopySpec, FarHost, Onlooker, Outcome, Steering};

/// Streams of a copy that nobody has tuned yet.
pub(crate) const STREAMS_DEFAULT: u16 = 4;
/// First pause before another try, doubled each time.
const PAUSE_MIN: Duration = Duration::from_millis(500);
/// Longest pause between tries.
const PAUSE_MAX: Duration = Duration::from_secs(15);
/// How long the far end may think about what is wanted.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Copies files as `spec` says and returns when they are there.
///
/// A far end that is lost is looked for again until `spec.patience` is over; what had arrived is not sent again.
///
/// # Errors
/// When the copy ended before its end. Single files that failed are in [`Outcome::failed`].
pub fn copy(
    spec: &CopySpec,
    steering: &Steering,
    onlooker: &mut dyn Onlooker,
) -> Result<Outcome, CopyError> {
    let mut chronicle = Chronicle::new(onlooker);
    let mut near = Near {
        spec,
        steering,
        copy: identity(),
        was_connected: false,
    };
    let mut pause = PAUSE_MIN;
    let mut seen = Instant::now();
    loop {
        let before = near.was_connected;
        match near.attempt(&mut chronicle) {
            End::Done => return Ok(chronicle.conclude()),
            End::Problem(problem) => return Err(problem.into()),
            End::Cancelled => {
                let so_far = Box::new(chronicle.conclude());
                return Err(CopyError::Cancelled { so_far });
            }
            End::Lost(why) => {
                let _ = (before, &mut seen, &mut pause);
                return Err(near.lost(chronicle, why));
            }
        }
    }
}

struct Near<'a> {
    spec: &'a CopySpec,
    steering: &'a Steering,
    copy: [u8; 16],
    was_connected: bool,
}

impl Near<'_> {
    fn lost(&self, chronicle: Chronicle<'_>, why: String) -> CopyError {
        let peer = match &self.spec.far.host {
            FarHost::Server { address, .. } => address.to_string(),
            FarHost::Ssh { destination, .. } => destination.clone(),
        };
        match self.was_connected {
            true => CopyError::Lost {
                peer,
                why,
                patience: self.spec.patience,
                so_far: Box::new(chronicle.conclude()),
            },
            false => CopyError::Unreachable {
                peer,
                why,
                hint: None,
            },
        }
    }

    fn attempt(&mut self, chronicle: &mut Chronicle<'_>) -> End {
        self.try_attempt(chronicle).unwrap_or_else(|end| end)
    }

    fn try_attempt(&mut self, chronicle: &mut Chronicle<'_>) -> Result<End, End> {
        let (report, happenings) = happenings();
        let dialer = self.dialer()?;
        let lost = |error: std::io::Error| End::Lost(error.to_string());
        let socket = dialer.control().map_err(lost)?;
        let outbox = converse(socket, report.clone()).map_err(lost)?;
        let began = chronicle.began();
        let desk = Desk {
            outbox,
            report,
            began,
        };
        desk.say(Message::Open(Box::new(self.opening())));
        let (session, is_fresh) = opened(&happenings)?;
        self.was_connected = true;
        let roster = Roster::new(Lines::Dial { dialer, session });
        let is_stopped = || self.steering.is_stopped();
        match self.spec.way {
            Way::Put => {
                let walk = Walk::new(&self.spec.near, self.into_folder(), self.spec.recursive);
                let streams = self.streams();
                let mut sender = Sender::new(chronicle, walk, roster, streams, is_fresh);
                sender.start(&desk);
                Ok(lead(&mut sender, &desk, &happenings, &is_stopped))
            }
            Way::Get => {
                let root = self.spec.near.first().cloned().unwrap_or_default();
                let mut receiver = Receiver::new(chronicle, Store::new(root), roster);
                Ok(lead(&mut receiver, &desk, &happenings, &is_stopped))
            }
        }
    }

    fn streams(&self) -> u16 {
        let asked = self.spec.streams.or(self.spec.remembered);
        asked.map_or(STREAMS_DEFAULT, |streams| streams.get())
    }

    fn into_folder(&self) -> bool {
        self.spec.near.len() > 1
    }

    fn dialer(&self) -> Result<Dialer, End> {
        let FarHost::Server { address, .. } = &self.spec.far.host else {
            return Err(protocol("ssh cannot be used yet".to_owned()));
        };
        let lost = |error: std::io::Error| End::Lost(error.to_string());
        let mut found = (address.host.as_str(), address.port)
            .to_socket_addrs()
            .map_err(lost)?;
        let first = found.next();
        first
            .map(Dialer)
            .ok_or_else(|| End::Lost("no address".to_owned()))
    }

    fn opening(&self) -> Opening {
        let spec = self.spec;
        Opening {
            way: spec.way,
            copy: self.copy,
            paths: spec.far.paths.clone(),
            recursive: spec.recursive,
            attributes: spec.attributes,
            filter: spec.filter,
            into_folder: self.into_folder(),
            plain: spec.plain,
            verify: spec.verify,
            dry_run: spec.dry_run,
            compress: spec.compress,
            rate_max_bits_per_second: spec.rate_max.map(units::Rate::bits_per_second),
            gentle_nanoseconds: spec.gentle.map(|gentle| gentle.added_rtt_max.as_nanos()),
            objective: String::new(),
            streams: Some(self.streams()),
            congestion: spec.congestion.clone(),
            window_bytes: None,
        }
    }
}

fn identity() -> [u8; 16] {
    let mut bytes = [0; 16];
    let random = std::fs::File::open("/dev/urandom");
    if let Ok(mut file) = random {
        // Two copies with the same number would take each other for one that came back: chance 2^-128.
        let _ = std::io::Read::read_exact(&mut file, &mut bytes);
    }
    bytes
}

fn opened(happenings: &Queue<Happening>) -> Result<(u64, bool), End> {
    match happenings.recv_timeout(ANSWER_MAX) {
        Ok(Happening::Message(Message::Opened { session, fresh })) => Ok((session, fresh)),
        Ok(Happening::Message(Message::Failed(problem))) => Err(End::Problem(problem)),
        Ok(Happening::Gone(why)) => Err(End::Lost(why)),
        Ok(other) => Err(protocol(format!("{other:?} is no answer"))),
        Err(_) => Err(End::Lost("no answer".to_owned())),
    }
}
