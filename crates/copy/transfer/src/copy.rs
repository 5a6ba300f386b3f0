//! The near end: connects, sends the request, and reconnects when the far end was lost. So does
//! the controller of a third-party copy.

mod connect;
mod controller;
mod follow;
mod host;
mod opener;
mod retry;
mod told_addresses;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use copy_protocol::{
    Connect, CopyDirection, CopyEvent, CopySpec, FarHost, FarProgram, FileProblem, Message,
    NearEnd, Opening, Outcome, Patience, Problem, ProblemKind, Speaker,
};
use units::{Rate, Span};

use self::connect::Connector;
use self::controller::Controller;
use self::opener::{Opener, Presence};
use self::retry::OlderCopy;
use crate::copy_stats::CopyStats;
use crate::run_session::{LocalFiles, SessionSetup, bytes_of, run_session};
use crate::session::{MessageLoop, SessionEnd, protocol};
use crate::sftp::{NotBegun, SftpCopy, no_sftp};
use crate::stream_set::StreamSource;
use crate::{CopyControl, CopyError, CopyObserver};
use files::source::{Settling, Source, SourceSpec};
use files::{Root, problem};

pub(crate) use self::connect::{Connected, Starting, bad_token, dial, start_through_ssh, why_not};
pub(crate) use self::opener::{has_wildcard, name_of, new_number};
pub(crate) use self::retry::RetryTimer;
pub(crate) use self::told_addresses::pairs_max;

/// How long the far end may take to answer the request.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// Between two questions for a place; the far end keeps the turn for three of them.
const QUEUE_PAUSE: Duration = Duration::from_secs(4);
/// How much later than its children this process may notice that its group was stopped.
const GROUP_STOP: Duration = Duration::from_millis(100);
/// How soon a stop is noticed between two tries.
const TICK: Duration = Duration::from_millis(50);

/// Copies files as `spec` says and returns when they are there.
///
/// A far end that is lost is looked for again until `spec.patience` is over; what had arrived is
/// not sent again. One that has no place is asked again until it has. Files that another copy still
/// has are waited for as long as one that was stopped or killed may have them.
///
/// # Errors
/// When the copy ended before its end. Single files that failed are in [`Outcome::failed`].
pub fn copy(
    spec: &CopySpec,
    control: &CopyControl,
    observer: &mut dyn CopyObserver,
) -> Result<Outcome, CopyError> {
    sockets::host::raise_open_files();
    if !control.has_limit() {
        control.set_rate_limit(spec.options.rate_max.as_ref());
    }
    if let Some(how) = spec.options.follow {
        return follow::follow(spec, how, control, observer);
    }
    let mut stats = CopyStats::new(observer, control);
    match &spec.near {
        NearEnd::Here(paths) => near_copy(spec, paths, &mut stats),
        NearEnd::At(source) => repeat(
            &mut Controller::new(spec, source)?,
            spec.patience(),
            &mut stats,
        ),
    }
}

/// A copy whose one end is here. Where no program of ours can be started at the other, its SFTP
/// server is the far end.
fn near_copy(
    spec: &CopySpec,
    paths: &[PathBuf],
    stats: &mut CopyStats<'_>,
) -> Result<Outcome, CopyError> {
    if let FarHost::Ssh { program, .. } = &spec.far.host
        && *program == FarProgram::Sftp
    {
        return over_sftp(spec, paths, None, stats);
    }
    stats.use_links(spec);
    let mut near = Near::new(spec, paths)?;
    let copied = repeat(&mut near, spec.patience(), stats);
    match (copied, near.connector.without_program()) {
        (Err(error), Some(why)) => over_sftp(spec, paths, Some((why, error)), stats),
        (copied, _) => copied,
    }
}

/// * `instead`: why no program of ours is there, and what the copy would end with for it.
fn over_sftp(
    spec: &CopySpec,
    paths: &[PathBuf],
    instead: Option<(String, CopyError)>,
    stats: &mut CopyStats<'_>,
) -> Result<Outcome, CopyError> {
    let (because, error) = instead.unzip();
    if let Some((what, hint)) = spec.beyond_sftp() {
        return Err(match error {
            Some(error) => error.hinting(format!(
                "SFTP would do without a program there, but {what}: {hint}"
            )),
            None => problem(ProblemKind::Request, what).into(),
        });
    }
    let Some(mut copy) = SftpCopy::new(spec, paths, because) else {
        return Err(problem(ProblemKind::Request, "SFTP needs ssh").into());
    };
    match (copy.run(stats), error) {
        (Ok(outcome), _) => Ok(outcome),
        (Err(NotBegun::Ended(ended)), _) => Err(ended),
        (Err(NotBegun::NoSftp(none)), Some(error)) => {
            Err(error.hinting(format!("there is no SFTP either: {none}")))
        }
        (Err(NotBegun::NoSftp(none)), None) => Err(no_sftp(&none).into()),
    }
}

/// Opens the copy until it is done, or the far end has been gone for as long as `patience`.
fn repeat(
    opener: &mut dyn Opener,
    patience: Patience,
    stats: &mut CopyStats<'_>,
) -> Result<Outcome, CopyError> {
    let mut retry = RetryTimer::new(patience, Instant::now());
    let mut older = OlderCopy::default();
    loop {
        tracing::debug!("opening the copy");
        let end = opener.attempt(stats);
        tracing::info!(?end, "the session is over");
        if let Some(busy) = busy(&end, &stats.outcome) {
            let Some(pause) = older.pause(stats.steps()) else {
                return ended_busy(end, busy, stats);
            };
            // The next try tells anew which of them it could not have.
            stats.outcome.failed.retain(|one| !is_busy(one.kind));
            tell_waiting(stats, busy.what, 0, None, pause);
            if !wait(pause, stats) {
                return Err(cancelled(stats));
            }
            opener.presence().seen = Some(Instant::now());
            continue;
        }
        match end {
            SessionEnd::Done => return Ok(stats.conclude()),
            SessionEnd::Problem(problem) => {
                // A stop of the whole process group may end ssh first.
                let is_stopped = opener.presence().seen.is_none() && !wait(GROUP_STOP, stats);
                return Err(match is_stopped || stats.is_stopped() {
                    true => cancelled(stats),
                    false => CopyError::of(problem, stats),
                });
            }
            SessionEnd::Cancelled => return Err(cancelled(stats)),
            SessionEnd::NoPlace(no_place) => {
                let place_in = no_place.seconds.map(|left| Span::from_secs(left.into()));
                tell_waiting(stats, no_place.what, no_place.ahead, place_in, QUEUE_PAUSE);
                if !wait(QUEUE_PAUSE, stats) {
                    return Err(cancelled(stats));
                }
                opener.presence().seen = Some(Instant::now());
            }
            // A connection that a stop ended while it was made.
            SessionEnd::Lost(_) if stats.is_stopped() => return Err(cancelled(stats)),
            SessionEnd::Lost(why) => {
                let seen = opener.presence().seen;
                let Some(pause) = retry.pause(seen, Instant::now()) else {
                    return Err(lost(opener, patience.once_there, stats, why));
                };
                let retry_in = Span::from(pause);
                let at = stats.now();
                stats.tell(&CopyEvent::Lost { at, why, retry_in });
                stats.outcome.reconnects += u32::from(seen.is_some());
                if !wait(pause, stats) {
                    return Err(cancelled(stats));
                }
            }
        }
    }
}

/// Another copy is at all of the files, or at some that this one could not write. It may be one
/// that was stopped or killed and ends soon.
fn busy(end: &SessionEnd, outcome: &Outcome) -> Option<Problem> {
    match end {
        SessionEnd::Problem(problem) => is_busy(problem.kind).then(|| problem.clone()),
        SessionEnd::Done => {
            let file = outcome.failed.iter().find(|one| is_busy(one.kind))?;
            let (what, hint) = (file.what.clone(), file.hint.clone());
            let kind = file.kind;
            Some(Problem {
                kind,
                file: None,
                what,
                hint,
            })
        }
        _ => None,
    }
}

fn is_busy(kind: ProblemKind) -> bool {
    kind == ProblemKind::Busy
}

/// The other copy goes on. Where other files failed for good, that is what there is to say.
fn ended_busy(end: SessionEnd, busy: Problem, stats: &CopyStats<'_>) -> Result<Outcome, CopyError> {
    let has_failed = |one: &FileProblem| !is_busy(one.kind);
    let so_far = stats.conclude();
    match matches!(end, SessionEnd::Done) && so_far.failed.iter().any(has_failed) {
        true => Ok(so_far),
        false => Err(CopyError::Busy {
            what: busy.what,
            hint: busy.hint,
            so_far: Box::new(so_far),
        }),
    }
}

fn tell_waiting(
    stats: &mut CopyStats<'_>,
    why: String,
    ahead: u16,
    place_in: Option<Span>,
    pause: Duration,
) {
    let (at, retry_in) = (stats.now(), pause.into());
    stats.tell(&CopyEvent::Queued {
        at,
        why,
        ahead,
        place_in,
        retry_in,
    });
}

fn cancelled(stats: &CopyStats<'_>) -> CopyError {
    let so_far = Box::new(stats.conclude());
    CopyError::Cancelled { so_far }
}

fn lost(opener: &mut dyn Opener, patience: Span, stats: &CopyStats<'_>, why: String) -> CopyError {
    let peer = opener.peer();
    match opener.presence().seen {
        Some(_) => CopyError::Lost {
            peer,
            why,
            patience,
            so_far: Box::new(stats.conclude()),
        },
        None => CopyError::Unreachable {
            peer,
            why,
            hint: Some(opener.how_to_reach()),
        },
    }
}

/// Waits; `false` when the user wants it to end meanwhile.
pub(crate) fn wait(pause: Duration, stats: &CopyStats<'_>) -> bool {
    let until = Instant::now() + pause;
    while Instant::now() < until {
        if stats.is_stopped() {
            return false;
        }
        thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
    }
    true
}

struct Near<'a> {
    spec: &'a CopySpec,
    paths: &'a [PathBuf],
    copy: [u8; 16],
    connector: Connector<'a>,
    presence: Presence,
    /// Where only finished files are sent.
    settling: Option<Arc<Settling>>,
}

impl<'a> Near<'a> {
    fn new(spec: &'a CopySpec, paths: &'a [PathBuf]) -> Result<Self, CopyError> {
        Ok(Near {
            spec,
            paths,
            copy: new_number()?,
            connector: Connector::new(spec),
            presence: Presence::default(),
            settling: None,
        })
    }

    fn try_attempt(&mut self, stats: &mut CopyStats<'_>) -> Result<SessionEnd, SessionEnd> {
        let spec = self.spec;
        let is_many = self.paths.len() > 1
            || spec.options.selection.listed.is_some()
            || spec.direction == CopyDirection::Get
                && (spec.far.paths.len() > 1 || has_wildcard(&spec.far.paths));
        let rate_max = stats.rate_max_to_open();
        let mut opening = Opening {
            rate_max_bits_per_second: rate_max.map(Rate::bits_per_second),
            ..spec.opening(self.copy, is_many)
        };
        let files = self.files(&opening).map_err(SessionEnd::Problem)?;
        opening.fresh = files.is_fresh();
        let connected = self.connector.connect(&opening, stats);
        let connected = connected.map_err(|end| match stats.is_stopped() {
            true => SessionEnd::Cancelled,
            false => end,
        })?;
        let presence = &mut self.presence;
        presence.seen.get_or_insert_with(Instant::now);
        let steps = stats.steps();
        let end = open_session(connected, &opening, files, stats, &mut || presence.begin());
        if stats.steps() > steps {
            self.presence.seen = Some(Instant::now());
        }
        end
    }

    /// What of this host is sent.
    fn source_spec(&self) -> SourceSpec {
        let options = &self.spec.options;
        SourceSpec {
            paths: bytes_of(self.paths),
            wildcards: false,
            recursive: options.recursive,
            attributes: options.attributes,
            selection: options.selection.clone(),
        }
    }

    fn files(&self, opening: &Opening) -> Result<LocalFiles, Problem> {
        let root = Root::own();
        let mut paths = bytes_of(self.paths);
        if let Some(settling) = &self.settling {
            let source = Source::finished_in(&root, self.source_spec(), Arc::clone(settling));
            return source.map(LocalFiles::Source);
        }
        match self.spec.direction {
            CopyDirection::Put => {
                LocalFiles::source(&root, opening, paths, false, &self.spec.options.selection)
            }
            CopyDirection::Get => {
                LocalFiles::store(&root, opening, paths.pop().unwrap_or_default())
            }
        }
    }
}

impl Opener for Near<'_> {
    fn attempt(&mut self, stats: &mut CopyStats<'_>) -> SessionEnd {
        self.try_attempt(stats).unwrap_or_else(|end| end)
    }

    fn presence(&mut self) -> &mut Presence {
        &mut self.presence
    }

    fn peer(&self) -> String {
        name_of(&self.spec.far.host)
    }

    fn how_to_reach(&self) -> String {
        let text = match (&self.spec.far.host, &self.spec.connect) {
            (FarHost::Server { .. }, _) => self
                .connector
                .hint()
                .unwrap_or("is `trunkline serve --root` running there, and its port open?"),
            (FarHost::Ssh { .. }, _) if !self.connector.has_started() => {
                "does `ssh` to that host work from here? Where it starts no program at all, \
                `--sftp` copies to its SFTP server"
            }
            (FarHost::Ssh { .. }, Connect::ToFar(_)) => {
                "ssh works, but data needs a port there: let one through the firewall and name it \
                with `--port-range`, or let the far end connect with `--connect from-far`"
            }
            (FarHost::Ssh { .. }, Connect::FromFar(_)) => {
                "ssh works, but the far end cannot connect to this one: let a port here through \
                the firewall and name it with `--port-range`, or leave out `--connect from-far`"
            }
        };
        text.to_owned()
    }
}

/// Opens the copy on a connection, and runs it to the end of the session.
///
/// * `on_opened`: the far end has accepted it.
pub(crate) fn open_session(
    connected: Connected,
    opening: &Opening,
    files: LocalFiles,
    stats: &mut CopyStats<'_>,
    on_opened: &mut dyn FnMut(),
) -> Result<SessionEnd, SessionEnd> {
    let control = stats.control();
    let dialed = connected.dialed;
    let rtt = dialed.streams.rtt();
    let at = stats.now();
    let peer = dialed.peer.to_string();
    stats.tell(&CopyEvent::Connected { at, peer, rtt });
    let lost = |error: std::io::Error| SessionEnd::Lost(error.to_string());
    let message_loop = MessageLoop::start(dialed.conversation, Speaker::Near).map_err(lost)?;
    let open = Message::Open(Box::new(opening.clone()));
    match dialed.first_was_sent {
        true => message_loop.note_sent(open),
        false => message_loop.send(open),
    }
    let stopped = || control.is_stopped().then_some(SessionEnd::Cancelled);
    let (session, is_fresh) = match message_loop.await_first(ANSWER_MAX, &stopped)? {
        Message::Opened { session, fresh } => (session, fresh),
        Message::Failed(problem) => return Err(SessionEnd::Problem(problem)),
        other => return Err(protocol(format!("{other:?} is no answer"))),
    };
    tracing::debug!(is_fresh, "the far end has opened the copy");
    on_opened();
    let mut opening = opening.clone();
    if opening.asks_addresses {
        let ends = (&dialed.streams, dialed.peer.ip());
        opening.pairs = told_addresses::deal_over(&message_loop, &opening, ends, stats, &stopped)?;
    }
    let opening = &opening;
    let setup = SessionSetup {
        opening,
        files,
        stream_source: match connected.incoming {
            None => StreamSource::Dial {
                dialer: Box::new(dialed.streams),
                session,
                plain: opening.plain,
                preconnected: connected.preconnected,
                pairs: stats.begin_dealing(),
                multipath: stats.begin_multipath(),
            },
            Some(incoming) => StreamSource::Ask(Arc::new(incoming)),
        },
        is_fresh,
        rtt,
    };
    Ok(run_session(message_loop, setup, stats, &stopped))
}
