//! Files from here to there, the other way, or between two other hosts.

mod checksum_lists;
mod far_program;
mod multipath;
mod pairs;
mod place;
mod request;
mod route;
mod running;
mod selection;
mod ssh_link_group;

use std::path::Path;

use record::copy::Copy as Body;
use record::{CopyLog, CopyRequest as Asked, Document};

use self::checksum_lists::ListWriter;
use self::ssh_link_group::SshLinkGroup;
use crate::link_share::LinkShare;
use crate::{Error, origin};

pub use checksum_lists::ChecksumList;
pub use copy_net::FAR_COMMAND;
pub use copy_protocol::{
    Attributes, CongestionChoice, CopyDirection, CopyEvent, CopyOptions, CopyProgress, CopySpec,
    FarProgram, FileProblem, Filter, Follow, Kept, NearEnd, Outcome, OwnersBy, Patience,
    ProblemKind, Selection, SelectionRule, Token, TokenTextError,
};
pub use far_program::clean_far_host;
pub use files::check_pattern;
pub use observe::Transport;
pub use place::{Place, PlaceError};
pub use record::copy::shown_command;
pub(crate) use request::host_of;
pub use request::{Access, CopyRequest};
pub use route::Route;
pub use running::{ControlSocket, RunningCopy, Status, offer, running};
pub use selection::{check_listed, listed};
pub use transfer::{CopyControl, CopyError, CopyObserver};
pub use tune::Objective;

/// The knee that a copy aims at unless told otherwise: 97 % of the highest rate.
pub const KNEE: Objective = CopyOptions::KNEE;

/// What a copy did.
#[derive(Debug)]
pub struct Copied {
    /// Files, bytes, and what limited it.
    pub outcome: Outcome,
    /// Why it ended before its end: cancelled, the far end was lost, or another copy was at its
    /// files. What arrived stays, and the same copy once more goes on from there.
    pub cut: Option<Error>,
    /// Why lists of checksums were not written though all is copied, or which files they lack.
    pub unlisted: Option<Error>,
    /// The document of it.
    pub document: Document<Body>,
}

/// Passes events on, takes note of what the document will have, and has the copy follow its part
/// of the streams of all that meet.
struct DocumentObserver<'a> {
    log: CopyLog,
    share: Option<LinkShare<'a>>,
    control: &'a CopyControl,
    lists: Option<&'a mut ListWriter>,
    observer: &'a mut dyn CopyObserver,
}

impl CopyObserver for DocumentObserver<'_> {
    fn on_event(&mut self, event: &CopyEvent) {
        self.log.on_event(event);
        if let Some(lists) = &mut self.lists {
            lists.on_event(event);
        }
        if let (Some(share), CopyEvent::Progress(progress)) = (&mut self.share, event) {
            share.look(self.control, *progress);
        }
        self.observer.on_event(event);
        if let Some(lists) = &self.lists {
            lists.tell(&mut *self.observer);
        }
    }
}

/// Copies what `request` asks for.
///
/// * `control`: ends it and bounds its rate, from any thread; `CopyControl::from(&cancel)`
///   makes one. It begins with the bound of the options.
/// * `observer`: is told of each file, each change of the number of streams, and twice a second how
///   far it is.
///
/// # Errors
/// When it did not come about: no answer, a wrong token, a destination that cannot be
/// written. Files that were not copied are no error: [`Outcome::failed`] has them.
pub fn copy(
    request: &CopyRequest,
    control: &CopyControl,
    observer: &mut dyn CopyObserver,
) -> Result<Copied, Error> {
    let log = CopyLog::default();
    let meeting = control
        .streams()
        .is_none()
        .then(|| SshLinkGroup::of(&request.spec));
    let meeting = meeting.flatten();
    let asked = &request.checksum_lists;
    let lists = (!asked.is_empty()).then(|| ListWriter::start(asked, &request.spec));
    let mut lists = lists.transpose()?;
    let (ended, log) = {
        let mut noting = DocumentObserver {
            log,
            share: meeting.as_ref().map(SshLinkGroup::share),
            control,
            lists: lists.as_mut(),
            observer: &mut *observer,
        };
        let ended = transfer::copy(&request.spec, control, &mut noting);
        (ended, noting.log)
    };
    let (outcome, cut) = match ended {
        Ok(outcome) => (outcome, None),
        Err(error) => match so_far(error) {
            (Some(outcome), error) => (outcome, Some(error)),
            (None, error) => return Err(taken_for_host(request, error)),
        },
    };
    // Where the copy goes on later, the lists are written then.
    let lists = lists.filter(|_| cut.is_none());
    let listed = lists.map(|lists| lists.finish(control, observer));
    let unlisted = listed.and_then(Result::err);
    let asked = Asked {
        spec: &request.spec,
        sources: &request.sources,
        destination: &request.destination,
    };
    let cut_because = cut.as_ref().map(Error::what);
    let mut body = Body::new(&asked, log, &outcome, cut_because);
    if cut.is_none() && unlisted.is_none() {
        let files = request.checksum_lists.iter().map(|list| &list.file);
        body.checksum_lists = files.map(|file| file.display().to_string()).collect();
    }
    Ok(Copied {
        outcome,
        cut,
        unlisted,
        document: Document::new(origin(None), body),
    })
}

/// A host that cannot be reached may be a name of a file here with a colon.
fn taken_for_host(request: &CopyRequest, error: Error) -> Error {
    let places = request.sources.iter().map(String::as_str);
    let mut places = places.chain([request.destination.as_str()]);
    let is_unreached = matches!(
        error.cause().downcast_ref::<CopyError>(),
        Some(CopyError::Unreachable { .. })
    );
    match places.find(|place| place.contains(':') && Path::new(place).exists()) {
        Some(place) if is_unreached => error.with_hint(format!(
            "`{place}` is taken for a file of another host; the one here is written `./{place}`"
        )),
        _ => error,
    }
}

/// What kind of problem ended a copy, where one did: no room, no right.
pub fn problem_of(error: &Error) -> Option<ProblemKind> {
    match error.cause().downcast_ref::<CopyError>()? {
        CopyError::Problem { kind, .. } => Some(*kind),
        _ => None,
    }
}

/// What was done until the error; nothing where it did not come about.
fn so_far(error: CopyError) -> (Option<Outcome>, Error) {
    let outcome = match &error {
        CopyError::Lost { so_far, .. }
        | CopyError::Busy { so_far, .. }
        | CopyError::Cancelled { so_far } => Some(so_far),
        CopyError::Problem { so_far, .. } => so_far.as_ref(),
        CopyError::Unreachable { .. } => None,
    };
    let outcome = outcome.map(|so_far| (**so_far).clone());
    (outcome, Error::from(error))
}

impl From<PlaceError> for Error {
    fn from(error: PlaceError) -> Self {
        Error::wrong_request(error.what, error.hint)
    }
}
