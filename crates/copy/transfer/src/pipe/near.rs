//! The near end of a pipe: connects, asks, and connects anew when the far end was lost.

use std::fs::File;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use copy_net::{Conversation, DialedPipe};
use copy_protocol::pipe::{PipeMessage, PipeOpening, PipePlace};
use copy_protocol::{CopyDirection, CopyEvent, Patience, ProblemKind};
use observe::StreamCount;
use units::{Bytes, Rate, Span};

use super::caller::Caller;
use super::error::PipeError;
use super::events::Bell;
use super::incoming::Incoming;
use super::input::read_all;
use super::lanes::{Origin, Steering};
use super::outgoing::Outgoing;
use super::output::{FileOutput, write_all};
use super::play::News;
use super::printer::Printer;
use super::session::Session;
use super::side::{Data, Heard, Side};
use super::spec::{NearPipe, PipeOutcome, PipeSpec};
use super::talk::{await_message, broken, say};
use crate::copy::{RetryTimer, name_of, new_number, wait};
use crate::copy_stats::CopyStats;
use crate::session::SessionEnd;
use crate::{CopyControl, CopyObserver};
use files::problem;

/// How long the far end may take to answer what is asked for; it may start a program.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// Between two questions for a place.
const QUEUE_PAUSE: Duration = Duration::from_secs(4);

/// Carries one stream of bytes as `spec` says, and returns when all of it is at the other side and
/// its digest was confirmed there, or the program there has ended.
///
/// # Errors
/// When it ended before its end. No file has its name then, and no program read an end of its
/// input.
pub fn pipe(
    spec: &PipeSpec,
    near: NearPipe,
    control: &CopyControl,
    observer: &mut dyn CopyObserver,
) -> Result<PipeOutcome, PipeError> {
    sockets::host::raise_open_files();
    let number = new_number().map_err(|error| problem(ProblemKind::Request, error.to_string()))?;
    let mut stats = CopyStats::new(observer, control);
    let mut end = NearEnd {
        spec,
        pipe: number,
        caller: Caller::new(spec),
        near: Some(near),
        side: None,
        heard: Heard::default(),
        seen: None,
        streams: 0,
    };
    let outcome = end.repeat(&mut stats);
    if let Some(side) = &end.side {
        side.data.stop();
        if let Some(printer) = &side.printer {
            printer.stop();
        }
    }
    outcome
}

struct NearEnd<'a> {
    spec: &'a PipeSpec,
    pipe: [u8; 16],
    caller: Caller<'a>,
    /// Until the far end has accepted: reading begins then.
    near: Option<NearPipe>,
    side: Option<Side>,
    heard: Heard,
    /// When the far end was there last.
    seen: Option<Instant>,
    streams: u16,
}

impl NearEnd<'_> {
    fn repeat(&mut self, stats: &mut CopyStats<'_>) -> Result<PipeOutcome, PipeError> {
        let began = Instant::now();
        let patience = Patience::once_there(self.spec.patience);
        let mut retry = RetryTimer::new(patience, began);
        let mut reconnects = 0;
        loop {
            let end = self.attempt(stats).unwrap_or_else(|end| end);
            tracing::info!(?end, "the session of a pipe is over");
            let pause = match end {
                SessionEnd::Done => return self.outcome(began, reconnects),
                _ if stats.is_stopped() => return Err(PipeError::Cancelled),
                SessionEnd::Cancelled => return Err(PipeError::Cancelled),
                SessionEnd::Problem(problem) => return Err(problem.into()),
                SessionEnd::NoPlace(no_place) => {
                    let (at, retry_in) = (stats.now(), QUEUE_PAUSE.into());
                    let left = no_place.seconds;
                    stats.tell(&CopyEvent::Queued {
                        at,
                        why: no_place.what,
                        ahead: no_place.ahead,
                        place_in: left.map(|left| Span::from_secs(left.into())),
                        retry_in,
                    });
                    QUEUE_PAUSE
                }
                SessionEnd::Lost(why) => {
                    let Some(pause) = self.pause(&mut retry) else {
                        return Err(self.given_up(why));
                    };
                    reconnects += u32::from(self.seen.is_some());
                    self.tell_lost(why, pause, stats);
                    pause
                }
            };
            if !wait(pause, stats) {
                return Err(PipeError::Cancelled);
            }
        }
    }

    fn outcome(&self, began: Instant, reconnects: u32) -> Result<PipeOutcome, PipeError> {
        let taken = self.side.as_ref().map_or(0, |side| side.data.taken());
        let is_get = self.spec.direction == CopyDirection::Get;
        let is_whole = match self.side.as_ref().map(|side| &side.data) {
            Some(Data::Receives(incoming)) => incoming.is_whole(),
            _ => self.heard.done,
        };
        if is_get && !is_whole {
            return Err(PipeError::Closed { taken });
        }
        Ok(PipeOutcome {
            taken: Bytes::new(taken),
            is_whole,
            exit: self.heard.exited,
            took: began.elapsed().into(),
            streams: self.streams,
            reconnects,
        })
    }

    /// The pause before another try; none where there is no use.
    fn pause(&mut self, retry: &mut RetryTimer) -> Option<Duration> {
        match self.seen.is_some() && self.caller.has_ended() {
            true => None,
            false => retry.pause(self.seen, Instant::now()),
        }
    }

    fn given_up(&mut self, why: String) -> PipeError {
        let peer = name_of(&self.spec.host);
        match (self.seen, self.caller.has_ended()) {
            (None, _) => PipeError::Unreachable {
                hint: Some(self.caller.how_to_reach().to_owned()),
                peer,
                why,
            },
            (_, true) => PipeError::Gone { peer, why },
            (_, false) => PipeError::Lost {
                peer,
                why,
                patience: self.spec.patience,
            },
        }
    }

    fn tell_lost(&self, why: String, pause: Duration, stats: &mut CopyStats<'_>) {
        let (at, retry_in) = (stats.now(), pause.into());
        stats.tell(&CopyEvent::Lost { at, why, retry_in });
    }

    /// One session.
    fn attempt(&mut self, stats: &mut CopyStats<'_>) -> Result<SessionEnd, SessionEnd> {
        let (dialed, preconnected) = self.caller.dial(stats)?;
        let DialedPipe {
            peer,
            conversation,
            streams,
            ..
        } = dialed;
        let (at, rtt) = (stats.now(), streams.rtt());
        let control = stats.control();
        let stopped = || control.is_stopped().then_some(SessionEnd::Cancelled);
        say(&conversation, &PipeMessage::Open(Box::new(self.opening())));
        let (session, taken) = opened(&conversation, &stopped)?;
        let peer = peer.to_string();
        stats.tell(&CopyEvent::Connected { at, peer, rtt });
        self.seen.get_or_insert_with(Instant::now);
        let side = self.side();
        let side = side.ok_or_else(|| SessionEnd::Lost("nothing was begun".to_owned()))?;
        if let Data::Sends(outgoing) = &side.data {
            let begun = outgoing.begin(taken);
            begun.map_err(|error| broken(error.to_string()))?;
        }
        let session = Session {
            conversation,
            origin: Origin::Dial {
                dialer: Box::new(streams),
                session,
                preconnected,
            },
            steering: Steering {
                streams: self.spec.streams,
                rate_max: self.spec.rate_max,
                rtt,
            },
            flow: None,
        };
        let before = side.data.taken();
        let streams = &mut self.streams;
        let tell = &mut |news: News| match news {
            News::Streams(count, why) => {
                let at = stats.now();
                stats.tell(&CopyEvent::Steered {
                    at,
                    streams: count,
                    why,
                });
            }
            News::Count(count) => *streams = count.max(1),
        };
        let end = session.run(&side, &mut self.heard, &stopped, tell);
        if side.data.taken() > before {
            self.seen = Some(Instant::now());
        }
        Ok(end)
    }

    fn opening(&self) -> PipeOpening {
        let is_get = self.spec.direction == CopyDirection::Get;
        let rate_max = self.spec.rate_max.filter(|_| is_get);
        let streams = self.spec.streams.filter(|_| is_get);
        PipeOpening {
            pipe: self.pipe,
            is_first: self.side.is_none(),
            direction: self.spec.direction,
            place: self.spec.place.clone(),
            window: self.spec.window.get(),
            taken: match &self.side {
                Some(side) if is_get => side.data.taken(),
                _ => 0,
            },
            rate_max: rate_max.map(Rate::bits_per_second),
            streams: streams.map(StreamCount::get),
        }
    }

    /// What lasts over all sessions; with the first one reading and writing begins.
    fn side(&mut self) -> Option<Side> {
        if let Some(near) = self.near.take() {
            self.side = Some(begin(self.spec, near));
        }
        self.side.clone()
    }
}

/// What the far end answers: what streams say first, and what its reader has.
fn opened(
    conversation: &Conversation<PipeMessage>,
    stopped: &dyn Fn() -> Option<SessionEnd>,
) -> Result<(u64, u64), SessionEnd> {
    match await_message(conversation, ANSWER_MAX, stopped) {
        Ok(PipeMessage::Opened { session, taken }) => Ok((session, taken)),
        Ok(other) => Err(broken(units::printable(
            &format!("{other:?} is no answer"),
            200,
        ))),
        Err(end) => {
            if matches!(end, SessionEnd::Cancelled) {
                say(conversation, &PipeMessage::Cancel);
            }
            Err(end)
        }
    }
}

/// Begins to read or to write, on threads of their own.
fn begin(spec: &PipeSpec, near: NearPipe) -> Side {
    let bell = Arc::<Bell>::default();
    let has_program = matches!(spec.place, PipePlace::Program(_));
    let printer = has_program.then(|| Printer::new(Arc::clone(&bell)));
    let print = |output: Option<File>, errors: Option<File>| {
        if let Some(printer) = printer.clone() {
            thread::spawn(move || printer.run(output, errors));
        }
    };
    let window = spec.window.get();
    let data = match near {
        NearPipe::Reads {
            input,
            output,
            errors,
        } => {
            let outgoing = Outgoing::new(window, Arc::clone(&bell));
            let (to, rate_max) = (Arc::clone(&outgoing), spec.rate_max);
            thread::spawn(move || read_all(input, &to, rate_max));
            print(output, errors);
            Data::Sends(outgoing)
        }
        NearPipe::Writes { output, errors } => {
            let incoming = Incoming::new(window, Arc::clone(&bell));
            let from = Arc::clone(&incoming);
            let output = FileOutput::Open(output, "standard output".to_owned());
            thread::spawn(move || write_all(output, &from));
            print(None, errors);
            Data::Receives(incoming)
        }
    };
    Side {
        is_near: true,
        data,
        bell,
        program: None,
        printer,
    }
}
