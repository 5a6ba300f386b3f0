//! Runs this end's role, sender or receiver, from the opening to the end of the session.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use copy_protocol::{Message, Opening, Problem, Selection};
use units::Span;

use crate::copy_stats::CopyStats;
use crate::receiver::Receiver;
use crate::sender::{Sender, SenderSetup};
use crate::session::{MessageLoop, Outbox, SessionContext, SessionEnd, run_role};
use crate::stream_options::{Part, options};
use crate::stream_set::{StreamSet, StreamSource, take_arrivals};
use files::Root;
use files::source::{Source, SourceSpec};
use files::store::{Store, StoreSpec};

/// The far end of a copy that was stopped, or whose near end was killed, lets its files go within
/// this time even on a busy host, so that the same command can be given again at once.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(3);

/// The files of this end, before the other end answers.
pub(crate) enum LocalFiles {
    /// They go away.
    Source(std::sync::Arc<Source>),
    /// They come here.
    Store(Box<Store>),
}

impl LocalFiles {
    /// Those of a sender.
    pub(crate) fn source(
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
        Source::new(root, spec).map(LocalFiles::Source)
    }

    /// Those of a receiver.
    pub(crate) fn store(
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
        let store = Store::open(root, spec)?;
        let store = match opening.part {
            Some(part) => store.for_part(part),
            None => store,
        };
        Ok(LocalFiles::Store(Box::new(match opening.delta {
            true => store.with_older(),
            false => store,
        })))
    }

    /// What this end does with the data.
    fn part(&self) -> Part {
        match self {
            LocalFiles::Source(_) => Part::Sends,
            LocalFiles::Store(_) => Part::Receives,
        }
    }

    /// Whether everything will be wanted.
    pub(crate) fn is_fresh(&self) -> bool {
        match self {
            LocalFiles::Source(_) => false,
            LocalFiles::Store(store) => store.is_fresh(),
        }
    }
}

/// How an end takes part.
pub(crate) struct SessionSetup<'a> {
    pub opening: &'a Opening,
    pub files: LocalFiles,
    pub stream_source: StreamSource,
    /// The receiver has nothing yet.
    pub is_fresh: bool,
    /// Smallest round trip so far.
    pub rtt: Option<Span>,
}

/// Runs the role until the session ends, and tells the peer the problem that ended it here.
pub(crate) fn run_session(
    message_loop: MessageLoop,
    setup: SessionSetup<'_>,
    stats: &mut CopyStats<'_>,
    stopped: &dyn Fn() -> Option<SessionEnd>,
) -> SessionEnd {
    let opening = setup.opening;
    let part = setup.files.part();
    let _span = tracing::info_span!("session", ?part).entered();
    tracing::debug!(
        is_fresh = setup.is_fresh,
        rtt = setup.rtt.map(display),
        streams = opening.streams,
        "begins"
    );
    let context = SessionContext::new(message_loop, stats.began());
    let has_ended = AtomicBool::new(false);
    let report = context.report();
    let incoming = setup.stream_source.incoming();
    if let Some(incoming) = &incoming {
        incoming.allow_plain(setup.opening.plain);
        incoming.set_options(options(setup.opening, setup.files.part()));
    }
    let is_over = || has_ended.load(Ordering::Relaxed);
    let end = thread::scope(|scope| {
        if let Some(incoming) = &incoming {
            scope.spawn(move || take_arrivals(incoming, &report, &is_over));
        }
        // Set even where it panics: otherwise this would wait for the arrivals for ever.
        let _end = SetAtEnd(&has_ended);
        play(setup, stats, &context, stopped)
    });
    if let SessionEnd::Problem(problem) = &end {
        let file = None;
        let problem = problem.clone();
        context.send(Message::Failed(Problem { file, ..problem }));
    }
    context.finish(matches!(end, SessionEnd::Done));
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
    setup: SessionSetup<'_>,
    stats: &mut CopyStats<'_>,
    context: &SessionContext,
    stopped: &dyn Fn() -> Option<SessionEnd>,
) -> SessionEnd {
    let options = options(setup.opening, setup.files.part());
    let stream_set = StreamSet::new(setup.stream_source, options);
    match setup.files {
        LocalFiles::Source(source) => {
            let sender = SenderSetup {
                source,
                stream_set,
                is_fresh: setup.is_fresh,
                rtt: setup.rtt,
            };
            let mut sender = Sender::new(stats, setup.opening, sender);
            run_role(&mut sender, context, stopped)
        }
        LocalFiles::Store(store) => {
            let receiver = Receiver::new(stats, setup.opening, *store, stream_set, context);
            let mut receiver = match receiver {
                Ok(receiver) => receiver,
                Err(problem) => return SessionEnd::Problem(problem),
            };
            let end = run_role(&mut receiver, context, stopped);
            receiver.end(context);
            if matches!(end, SessionEnd::Done) {
                context.send(Message::Bye);
            }
            end
        }
    }
}

/// Names of this end's files as bytes.
pub(crate) fn bytes_of(paths: &[PathBuf]) -> Vec<Vec<u8>> {
    paths
        .iter()
        .map(|path| path.as_os_str().as_bytes().to_vec())
        .collect()
}
