//! The controllers of third-party copies, at a far end: the destination grants tokens, the source
//! sends what it is commanded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use copy_net::{AcceptedController, Conversation, Dialer, Fingerprint, ThirdPartyHandler};
use copy_protocol::third_party::{End, Order, Push, Receiving, Report, Standing, Totals};
use copy_protocol::{
    CopyDirection, CopyEvent, CopyProgress, KeyName, Opening, Problem, ProblemKind, Purpose,
    Sending, Targets,
};
use units::{Address, Rate, Span};

use super::{FarEnd, FarEvent, Keys, check_rights, no_plain, read};
use crate::budget::Use;
use crate::copy::{dial, open_session, why_not};
use crate::copy_stats::CopyStats;
use crate::opening::stream_count;
use crate::run_session::LocalFiles;
use crate::session::{SessionEnd, protocol};
use crate::{CopyControl, CopyObserver};
use files::shown;
use files::{problem, with_hint};

/// How long a controller may think about what it wants.
const ORDER_MAX: Duration = Duration::from_secs(30);
/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// Between two signs of life.
const ALIVE: Duration = Duration::from_secs(4);
/// How long goodbyes may take.
const GOODBYE: Duration = Duration::from_secs(2);

type Controller = Conversation<Order>;

impl ThirdPartyHandler for FarEnd {
    fn serve_controller(&self, accepted: AcceptedController) {
        match accepted.admitted.purpose {
            Purpose::Grant => self.serve_grant(&accepted),
            Purpose::Push => self.serve_push(&accepted),
            Purpose::Copy | Purpose::Remote | Purpose::Pipe => return,
        }
        accepted.conversation.close(GOODBYE);
    }
}

impl FarEnd {
    fn serve_grant(&self, accepted: &AcceptedController) {
        let opening = match first_order(&accepted.conversation) {
            Some(Order::Grant(opening)) => *opening,
            Some(_) => return refuse(&accepted.conversation, out_of_turn()),
            None => return,
        };
        let (peer, name) = (accepted.peer, accepted.admitted.key_name.clone());
        let path = opening.paths.first().cloned().unwrap_or_default();
        match self.grant(accepted, opening) {
            Ok(report) => {
                (self.on_event)(&FarEvent::Granted { peer, name, path });
                tell(&accepted.conversation, &report);
            }
            Err(problem) => refuse(&accepted.conversation, problem),
        }
    }

    /// What no copy would be let do is refused here already, where the controller hears it.
    fn grant(&self, accepted: &AcceptedController, opening: Opening) -> Result<Report, Problem> {
        let (holder, rights) = (&accepted.admitted.key_name, accepted.admitted.rights);
        copy_protocol::check_opening(&opening)
            .map_err(|error| problem(ProblemKind::Protocol, error.to_string()))?;
        let root = self.root_of(holder)?.restricted(rights.read, rights.write);
        if opening.direction != CopyDirection::Put || !root.may_write() {
            let what = format!("nothing may be put here with the token `{holder}`");
            let refused = problem(ProblemKind::Permission, what);
            return Err(with_hint(
                refused,
                "use a token with `w` or `rw`, on a server without `--read-only`",
            ));
        }
        if self.is_plain_refused && opening.plain {
            return Err(no_plain());
        }
        check_rights(&root, &opening)?;
        self.grants.grant(holder, opening).map(Report::Granted)
    }

    fn serve_push(&self, accepted: &AcceptedController) {
        let conversation = &accepted.conversation;
        let push = match first_order(conversation) {
            Some(Order::Push(push)) => *push,
            Some(_) => return refuse(conversation, out_of_turn()),
            None => return,
        };
        let (peer, name) = (accepted.peer, accepted.admitted.key_name.clone());
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let to = push.receiving.first().map(place).unwrap_or_default();
        (self.on_event)(&FarEvent::Pushing {
            number,
            peer,
            name: name.clone(),
            to: shown(to.as_bytes()),
            paths: push.sources.clone(),
        });
        let control = CopyControl::default();
        let rate_max = push.opening.rate_max_bits_per_second;
        control.set_rate_max(rate_max.map(Rate::from_bits_per_second));
        let mut relay = Relay {
            far: self,
            number,
            conversation,
        };
        let mut stats = CopyStats::new(&mut relay, &control);
        let sends = CopyDirection::Get;
        stats.share(self.budget.user(Use::Copy, name.clone(), sends));
        let is_over = AtomicBool::new(false);
        let end = thread::scope(|scope| {
            scope.spawn(|| self.obey(conversation, &control, &is_over));
            let over = Over(&is_over);
            let end = self.push(&push, &name, accepted.admitted.rights, &mut stats);
            drop(over);
            match end.unwrap_or_else(|end| end) {
                // The user wants it to go on: the controller is to come again.
                SessionEnd::Cancelled if self.stop.load(Ordering::Relaxed) => {
                    SessionEnd::Lost("the source was stopped".to_owned())
                }
                end => end,
            }
        });
        let why = super::why_ended(&end);
        let (outcome, totals) = (Box::new(stats.conclude()), Box::new(stats.totals()));
        let told = match &end {
            SessionEnd::Done => End::Done,
            SessionEnd::Problem(problem) => End::Problem(problem.clone()),
            SessionEnd::Lost(why) => End::Lost(why.clone()),
            SessionEnd::NoPlace(no_place) => End::NoPlace(no_place.clone()),
            SessionEnd::Cancelled => End::Cancelled,
        };
        tell(conversation, &Report::Ended { end: told, totals });
        self.leave_after(&end);
        (self.on_event)(&FarEvent::Ended {
            number,
            peer,
            name,
            why,
            outcome,
        });
    }

    /// One session with the destination.
    fn push(
        &self,
        push: &Push,
        name: &KeyName,
        rights: copy_protocol::Rights,
        stats: &mut CopyStats<'_>,
    ) -> Result<SessionEnd, SessionEnd> {
        push.check().map_err(|error| protocol(error.to_string()))?;
        if self.is_plain_refused && push.opening.plain {
            return Err(SessionEnd::Problem(no_plain()));
        }
        let root = self.root_of(name).map_err(SessionEnd::Problem)?;
        let root = root.restricted(rights.read, rights.write);
        let places = self.allowed(push, name).map_err(SessionEnd::Problem)?;
        let (paths, selection) = (push.sources.clone(), &push.opening.selection);
        let files = LocalFiles::source(&root, &push.opening, paths, true, selection);
        let files = files.map_err(SessionEnd::Problem)?;
        let opening = Push::at_destination(&push.opening);
        let pin = push.fingerprint.map(Fingerprint);
        let dialer = Dialer::default();
        let connected = dial(dialer, &places, &push.token, pin, &opening, &|| false)
            .map_err(|error| seen_from_here(why_not(&error)))?;
        open_session(connected, &opening, files, stats, &mut || ())
    }

    /// The places of the destination to which this token may have files sent.
    fn allowed(&self, push: &Push, name: &KeyName) -> Result<Vec<Address>, Problem> {
        let targets = match &self.keys {
            Keys::Tokens(tokens) => read(tokens).targets(name).cloned().unwrap_or_default(),
            Keys::One(_) if self.sends_anywhere => {
                return Ok(push.receiving.iter().map(address).collect());
            }
            Keys::One(_) => Targets::default(),
        };
        let fits = |place: &&Receiving| targets.allows(&place.host, place.port);
        let places: Vec<Address> = push.receiving.iter().filter(fits).map(address).collect();
        match places.is_empty() {
            true => Err(not_allowed(push, name, &targets)),
            false => Ok(places),
        }
    }

    /// Does what the controller says while the copy runs. Without a controller it ends.
    fn obey(&self, conversation: &Controller, control: &CopyControl, is_over: &AtomicBool) {
        let mut said = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            if self.stop.load(Ordering::Relaxed) {
                control.stop();
            }
            if said.elapsed() >= ALIVE {
                said = Instant::now();
                tell(conversation, &Report::Alive);
            }
            match conversation.receive(TICK) {
                Ok(None | Some(Order::Alive)) => {}
                Ok(Some(Order::RateMax(rate))) => {
                    control.set_rate_max(rate.map(Rate::from_bits_per_second));
                }
                Ok(Some(Order::FixedStreams(count))) => {
                    control.set_streams(stream_count(count));
                }
                Ok(Some(Order::Cancel | Order::Grant(_) | Order::Push(_))) | Err(_) => {
                    control.stop();
                    return;
                }
            }
        }
    }
}

/// Says that the copy is over however it ends.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Tells the controller what happens.
struct Relay<'a> {
    far: &'a FarEnd,
    number: u64,
    conversation: &'a Controller,
}

impl CopyObserver for Relay<'_> {
    fn on_event(&mut self, event: &CopyEvent) {
        self.far.tell_file(self.number, event);
        if let Some(report) = report(event) {
            tell(self.conversation, &report);
        }
    }
}

fn sending(reading: &CopyProgress) -> Sending {
    Sending {
        streams: reading.streams,
        rate: reading.rate.bits_per_second(),
        rtt: reading.rtt.map(Span::as_nanos),
        retransmitted_share: reading.retransmitted_share,
        // Events do not tell of marks.
        ecn: None,
        mark_echoed_share: None,
        binds: reading.limited_by.map(|limit| limit.name().to_owned()),
    }
}

fn report(event: &CopyEvent) -> Option<Report> {
    Some(match event {
        CopyEvent::Connected { peer, rtt, .. } => Report::Connected {
            peer: peer.clone(),
            rtt: rtt.map(Span::as_nanos),
        },
        CopyEvent::Planned {
            files,
            folders,
            links,
            bytes,
            present,
            ..
        } => Report::Planned {
            files: *files,
            folders: *folders,
            links: *links,
            bytes: bytes.get(),
            present: present.get(),
        },
        CopyEvent::Progress(progress) => Report::Standing(Box::new(Standing {
            done: progress.done.get(),
            total: progress.total.get(),
            total_is_known: progress.total_is_known,
            files_done: progress.files_done,
            files_total: progress.files_total,
            sending: sending(progress),
        })),
        CopyEvent::Published {
            name,
            bytes,
            digest,
            ..
        } => Report::Published {
            name: name.clone(),
            bytes: bytes.get(),
            digest: *digest,
        },
        CopyEvent::Skipped { name, bytes, .. } => Report::Skipped {
            name: name.clone(),
            bytes: bytes.get(),
        },
        CopyEvent::WouldCopy { name, bytes } => Report::WouldCopy {
            name: name.clone(),
            bytes: bytes.get(),
        },
        CopyEvent::Removed { name, .. } => Report::Removed(name.clone()),
        CopyEvent::LeftOut { problem, .. } | CopyEvent::Failed { problem, .. } => Report::Failed {
            name: problem.name.clone(),
            problem: Problem {
                kind: problem.kind,
                file: None,
                what: problem.what.clone(),
                hint: problem.hint.clone(),
            },
        },
        CopyEvent::Steered { streams, why, .. } => Report::Steered {
            streams: *streams,
            why: why.clone(),
        },
        // Sessions are opened anew by the controller, and checksums asked for are read at no end of
        // a copy between two other hosts. The protocol has no word for a standstill;
        // the log here has it.
        CopyEvent::Queued { .. }
        | CopyEvent::Checksum { .. }
        | CopyEvent::Lost { .. }
        | CopyEvent::ProgramSent { .. }
        | CopyEvent::OverSftp { .. }
        | CopyEvent::Resumed { .. }
        | CopyEvent::Stalled { .. }
        | CopyEvent::Moving { .. }
        | CopyEvent::Following { .. }
        | CopyEvent::Error { .. } => return None,
    })
}

/// What the controller came for; `None` when it went away.
fn first_order(conversation: &Controller) -> Option<Order> {
    let until = Instant::now() + ORDER_MAX;
    while Instant::now() < until {
        match conversation.receive(TICK) {
            Ok(None | Some(Order::Alive)) => {}
            Ok(order) => return order,
            Err(_) => return None,
        }
    }
    None
}

/// A controller that is gone is noticed where its orders are awaited.
fn tell(conversation: &Controller, report: &Report) {
    if let Ok(frame) = report.encode() {
        let _ = conversation.send_frame(frame);
    }
}

fn refuse(conversation: &Controller, problem: Problem) {
    let (end, totals) = (End::Problem(problem), Box::<Totals>::default());
    tell(conversation, &Report::Ended { end, totals });
}

fn out_of_turn() -> Problem {
    let what = "the controller began with another order than it came for";
    with_hint(
        problem(ProblemKind::Protocol, what),
        "use the same version of trunkline at all three hosts",
    )
}

/// The reader sits at another host.
fn seen_from_here(end: SessionEnd) -> SessionEnd {
    match end {
        SessionEnd::Lost(why) => {
            SessionEnd::Lost(format!("the source cannot reach the destination: {why}"))
        }
        SessionEnd::Problem(problem) => SessionEnd::Problem(Problem {
            what: format!(
                "the source cannot open the copy at the destination: {}",
                problem.what
            ),
            ..problem
        }),
        other => other,
    }
}

fn not_allowed(push: &Push, name: &KeyName, targets: &Targets) -> Problem {
    let places: Vec<String> = push.receiving.iter().map(place).collect();
    let places = shown(places.join(", ").as_bytes());
    let allowed = match targets.is_empty() {
        true => "to no host".to_owned(),
        false => format!("only to {targets}"),
    };
    let what =
        format!("the token `{name}` may not have the source send to {places}: it may {allowed}");
    with_hint(
        problem(ProblemKind::Permission, what),
        "the operator of the source adds `to=HOST[:PORT]` to the line of the token in its tokens \
         file; a key bound to a folder sends nowhere",
    )
}

fn place(receiving: &Receiving) -> String {
    address(receiving).to_string()
}

fn address(receiving: &Receiving) -> Address {
    Address::new(receiving.host.clone(), receiving.port)
}
