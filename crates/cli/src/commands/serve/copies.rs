//! The file side of a server: its root, who may use it, and its log.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, RwLock};
use std::{io, thread};

use signal_hook::consts::SIGHUP;
use signal_hook::iterator::Signals;
use transfer::far::{FarEnd, FarEvent, Keys};
use transfer::{CopyEvent, Outcome, Root};
use wire::copy::{CopyDirection, Tokens};

use super::{log, tokens};
use crate::args::Serve;
use crate::failure::Failure;
use crate::output::tell;
use crate::stop::Stop;

/// What serves copies; `None` where no root is given away.
pub(super) fn handler(
    arguments: &Serve,
    stop: &Stop,
    numbers: Arc<AtomicU64>,
) -> Result<Option<Arc<FarEnd>>, Failure> {
    let (Some(folder), Some(file)) = (&arguments.root, &arguments.tokens) else {
        return Ok(None);
    };
    let tokens = tokens::read(file)?;
    let rights = tokens::rights(arguments);
    let mut root = Root::beneath(folder)?.restricted(rights.read, rights.write);
    if arguments.no_links {
        root = root.without_links();
    }
    if arguments.no_delete {
        root = root.without_removing();
    }
    let people = report::text::count(tokens.names().count() as u64, "token");
    tell!("files below {} with {people}, {rights}", folder.display());
    let log = Box::new(|event: &FarEvent| log::line(&describe(event)));
    let tokens = Arc::new(RwLock::new(tokens));
    reread(file.clone(), Arc::clone(&tokens))?;
    let mut far = FarEnd::new(Keys::Tokens(tokens), root, stop.shared(), log).numbered_by(numbers);
    if arguments.no_plain {
        far = far.without_plain();
    }
    if arguments.verbose {
        far = far.telling_files();
    }
    Ok(Some(Arc::new(far)))
}

/// Reads the tokens file again at each SIGHUP. Copies that run go on; one that comes has to have a
/// token of then.
fn reread(file: PathBuf, tokens: Arc<RwLock<Tokens>>) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP])?;
    let work = move || {
        for _ in signals.forever() {
            match tokens::read(&file) {
                Ok(read) => {
                    let people = report::text::count(read.names().count() as u64, "token");
                    *tokens.write().unwrap_or_else(PoisonError::into_inner) = read;
                    log::line(&format!("read {} again: {people}", file.display()));
                }
                Err(failure) => log::line(&format!(
                    "the tokens stay as they were: {}",
                    report::text::plain(&failure.what())
                )),
            }
        }
    };
    thread::Builder::new()
        .name("tokens".to_owned())
        .spawn(work)?;
    Ok(())
}

/// One line; names of files come from strangers.
fn describe(event: &FarEvent) -> String {
    let line = match event {
        FarEvent::Began {
            number,
            peer,
            name,
            direction,
            paths,
        } => format!(
            "#{number} {peer} {name}: {} {}",
            doing(*direction),
            shown(paths)
        ),
        FarEvent::File { number, event } => format!("#{number} {}", file(event)),
        FarEvent::Ended {
            number,
            peer,
            name,
            why,
            outcome,
        } => format!(
            "#{number} {peer} {name}: {}",
            ended(why.as_deref(), outcome)
        ),
        FarEvent::Rejected { peer, reason } => format!("{peer}: turned away: {reason}"),
    };
    report::text::plain(&line)
}

/// What happened to one file.
fn file(event: &CopyEvent) -> String {
    match event {
        CopyEvent::Published { name, bytes, .. } => format!("{name}  {}", bytes.human()),
        CopyEvent::Removed { name, .. } => format!("removed {name}"),
        CopyEvent::LeftOut { problem, .. } | CopyEvent::Failed { problem, .. } => {
            format!("not copied: {}: {}", problem.name, problem.what)
        }
        _ => String::new(),
    }
}

/// Seen from here.
fn doing(direction: CopyDirection) -> &'static str {
    match direction {
        CopyDirection::Put => "puts into",
        CopyDirection::Get => "gets",
    }
}

fn shown(paths: &[Vec<u8>]) -> String {
    let name = |path: &Vec<u8>| match path.is_empty() {
        true => "the root".to_owned(),
        false => transfer::shown(path),
    };
    paths.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn ended(why: Option<&str>, outcome: &Outcome) -> String {
    let files = report::text::count(outcome.files, "file");
    let failed = match outcome.failed.len() {
        0 => String::new(),
        many => format!(", {many} failed"),
    };
    let removed = match outcome.removed {
        0 => String::new(),
        many => format!(", {many} removed"),
    };
    let done = format!(
        "{files}, {} in {}{removed}{failed}",
        outcome.sent.human(),
        outcome.took.human()
    );
    match why {
        None => format!("done: {done}"),
        Some(why) => format!("ended early: {why}; {done}"),
    }
}
