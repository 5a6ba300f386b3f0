//! The file side of a server: its root, who may use it, and its log.

use std::sync::Arc;

use net::copying::CopyHandler;
use transfer::far::{FarEnd, FarEvent, Keys};
use transfer::{Outcome, Root};
use wire::copying::Way;

use super::tokens;
use crate::args::Serve;
use crate::failure::Failure;
use crate::output::tell;
use crate::stop::Stop;

/// What serves copies; `None` where no root is given away.
pub(super) fn handler(
    arguments: &Serve,
    stop: &Stop,
) -> Result<Option<Arc<dyn CopyHandler>>, Failure> {
    let (Some(folder), Some(file)) = (&arguments.root, &arguments.tokens) else {
        return Ok(None);
    };
    let tokens = tokens::read(file)?;
    let rights = tokens::rights(arguments);
    let root = Root::beneath(folder)?.restricted(rights.read, rights.write);
    let people = report::words::count(tokens.names().count() as u64, "token");
    tell!("files below {} with {people}, {rights}", folder.display());
    let log = Box::new(|event: &FarEvent| tell!("{}", describe(event)));
    let far = FarEnd::new(Keys::Tokens(tokens), root, stop.shared(), log);
    Ok(Some(Arc::new(far)))
}

/// One line; names of files come from strangers.
fn describe(event: &FarEvent) -> String {
    let line = match event {
        FarEvent::Began {
            peer,
            name,
            way,
            paths,
        } => format!("{peer} {name}: {} {}", doing(*way), shown(paths)),
        FarEvent::Ended {
            peer,
            name,
            why,
            outcome,
        } => format!("{peer} {name}: {}", ended(why.as_deref(), outcome)),
        FarEvent::TurnedAway { peer, reason } => format!("{peer}: turned away: {reason}"),
    };
    report::words::plain(&line)
}

/// Seen from here.
fn doing(way: Way) -> &'static str {
    match way {
        Way::Put => "puts into",
        Way::Get => "gets",
    }
}

fn shown(paths: &[Vec<u8>]) -> String {
    let name = |path: &Vec<u8>| match path.is_empty() {
        true => "the root".to_owned(),
        false => String::from_utf8_lossy(path).into_owned(),
    };
    paths.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn ended(why: Option<&str>, outcome: &Outcome) -> String {
    let files = report::words::count(outcome.files, "file");
    let failed = match outcome.failed.len() {
        0 => String::new(),
        many => format!(", {many} failed"),
    };
    let done = format!(
        "{files}, {} in {}{failed}",
        outcome.sent.human(),
        outcome.took.human()
    );
    match why {
        None => format!("done: {done}"),
        Some(why) => format!("ended early: {why}; {done}"),
    }
}
