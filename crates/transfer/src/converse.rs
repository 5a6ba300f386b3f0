//! Runs this end's role, sender or receiver, from the opening to the end of the session.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use sockets::StreamOptions;
use units::Span;
use wire::copying::{Message, Opening, Problem, Selection};

use crate::chronicle::Chronicle;
use crate::lines::{Lines, Roster, take_arrivals};
use crate::receiver::Receiver;
use crate::root::Root;
use crate::sender::{Sender, Sending};
use crate::session::{Desk, End, Pump, Voice, lead};
use crate::source::{Source, SourceSpec};
use crate::store::{Store, StoreSpec};

/// A stream whose data is not acknowledged for so long is broken; the kernel's own patience is a
/// quarter of an hour.
const USER_TIMEOUT: Span = Span::from_secs(30);
/// The far end of a copy that was stopped, or whose near end was killed, lets its files go within this time even on a busy
/// host, so that the same command can be given again at once.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(3);
/// Bytes that wait unsent in the kernel beside those on the way, until the stream's rate is known.
const UNSENT_MAX: units::Bytes = units::Bytes::from_kib(128);

/// The files of this end, before the other end answers.
pub(crate) enum Files {
    /// They go away.
    From(std::sync::Arc<Source>),
    /// They come here.
    To(Box<Store>),
}

impl Files {
    /// Those of a sender.
    pub(crate) fn from(
        root: &Root,
        opening: &Opening,
        paths: Vec<Vec<u8>>,
        wildcards: bool,
        selection: &Selection,
    ) -> Result<Self, Problem> {
        let spec = SourceSpec {
            paths,
            wildcards,
            recursive: opening.recursive,
            attributes: opening.attributes,
            selection: selection.clone(),
        };
        Source::new(root, spec).map(Files::From)
    }

    /// Those of a receiver.
    pub(crate) fn to(
        root: &Root,
        opening: &Opening,
        destination: Vec<u8>,
    ) -> Result<Self, Problem> {
        let spec = StoreSpec {
            destination,
            into_folder: opening.into_folder,
            attributes: opening.attributes,
            filter: opening.filter,
            verify: opening.verify,
            dry_run: opening.dry_run,
            claim_timeout: CLAIM_TIMEOUT,
        };
        Store::open(root, spec).map(|store| Files::To(Box::new(store)))
    }

    /// Whether everything will be wanted.
    pub(crate) fn is_fresh(&self) -> bool {
        match self {
            Files::From(_) => false,
            Files::To(store) => store.is_fresh(),
        }
    }
}

/// How an end takes part.
pub(crate) struct Part<'a> {
    pub opening: &'a Opening,
    pub files: Files,
    pub lines: Lines,
    /// The receiver has nothing yet.
    pub is_fresh: bool,
    /// Smallest round trip so far.
    pub rtt: Option<Span>,
}

/// Runs the role until the session ends, and tells the peer the problem that ended it here.
pub(crate) fn converse(
    pump: Pump,
    part: Part<'_>,
    chronicle: &mut Chronicle<'_>,
    stopped: &dyn Fn() -> Option<End>,
) -> End {
    let desk = Desk::new(pump, chronicle.began());
    let has_ended = AtomicBool::new(false);
    let report = desk.report();
    let incoming = part.lines.incoming();
    if let Some(incoming) = &incoming {
        incoming.allow_plain(part.opening.plain);
        incoming.set_options(options(part.opening));
    }
    let is_over = || has_ended.load(Ordering::Relaxed);
    let end = thread::scope(|scope| {
        if let Some(incoming) = &incoming {
            scope.spawn(move || take_arrivals(incoming, &report, &is_over));
        }
        // Set even where it panics: otherwise this would wait for the arrivals for ever.
        let _end = SetAtEnd(&has_ended);
        play(part, chronicle, &desk, stopped)
    });
    if let End::Problem(problem) = &end {
        let file = None;
        let problem = problem.clone();
        desk.say(Message::Failed(Problem { file, ..problem }));
    }
    desk.finish(matches!(end, End::Done));
    end
}

/// Sets a flag when it goes out of scope, whatever the reason.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn play(
    part: Part<'_>,
    chronicle: &mut Chronicle<'_>,
    desk: &Desk,
    stopped: &dyn Fn() -> Option<End>,
) -> End {
    let roster = Roster::new(part.lines, options(part.opening));
    match part.files {
        Files::From(source) => {
            let sending = Sending {
                source,
                roster,
                is_fresh: part.is_fresh,
                rtt: part.rtt,
            };
            let mut sender = Sender::new(chronicle, part.opening, sending);
            lead(&mut sender, desk, stopped)
        }
        Files::To(store) => {
            let receiver = Receiver::new(chronicle, part.opening, *store, roster, desk);
            let mut receiver = match receiver {
                Ok(receiver) => receiver,
                Err(problem) => return End::Problem(problem),
            };
            let end = lead(&mut receiver, desk, stopped);
            receiver.end(desk);
            if matches!(end, End::Done) {
                desk.say(Message::Bye);
            }
            end
        }
    }
}

/// What streams are set to.
pub(crate) fn options(opening: &Opening) -> StreamOptions {
    StreamOptions {
        window: opening.window_bytes.map(units::Bytes::new),
        congestion: opening.congestion.clone(),
        no_delay: true,
        dscp: opening
            .gentle_nanoseconds
            .map(|_| sockets::Dscp::LOWER_EFFORT),
        user_timeout: Some(USER_TIMEOUT),
        unsent_max: Some(UNSENT_MAX),
        ..StreamOptions::default()
    }
}

/// Names of this end's files as bytes.
pub(crate) fn bytes_of(paths: &[PathBuf]) -> Vec<Vec<u8>> {
    paths
        .iter()
        .map(|path| path.as_os_str().as_bytes().to_vec())
        .collect()
}
