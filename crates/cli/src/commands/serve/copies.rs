//! The file side of a server: its tokens, read again at SIGHUP, and its log.

use std::{io, thread};

use signal_hook::consts::SIGHUP;
use signal_hook::iterator::Signals;
use trunkline::copy::{CopyDirection, CopyEvent, Outcome};
use trunkline::report;
use trunkline::serve::{self, FarEvent, TokensFile};

use super::{log, rights};
use crate::args::Serve;
use crate::output::tell;

/// Says which files are served, and to how many.
pub(super) fn introduce(arguments: &Serve, tokens: &TokensFile) {
    if let Some(folder) = &arguments.root {
        let rights = rights(arguments);
        tell!(
            "files below {} with {}, {rights}",
            folder.display(),
            people(tokens)
        );
    }
}

fn people(tokens: &TokensFile) -> String {
    report::text::count(tokens.count() as u64, "token")
}

/// Reads the tokens file again at each SIGHUP.
pub(in crate::commands) fn reread(tokens: TokensFile) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP])?;
    let work = move || {
        for _ in signals.forever() {
            match tokens.reread() {
                Ok(()) => {
                    let file = tokens.place().display();
                    log::line(&format!("read {file} again: {}", people(&tokens)));
                }
                Err(error) => log::line(&format!(
                    "the tokens stay as they were: {}",
                    report::text::plain(&error.what())
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
pub(super) fn describe(event: &FarEvent) -> String {
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
        FarEvent::Granted { peer, name, path } => format!(
            "{peer} {name}: has a token for one copy into {}",
            shown(std::slice::from_ref(path))
        ),
        FarEvent::Pushing {
            number,
            peer,
            name,
            to,
            paths,
        } => format!("#{number} {peer} {name}: has {} sent to {to}", shown(paths)),
        FarEvent::RemoteBegan { number, peer, name } => {
            format!("#{number} {peer} {name}: opens access to files")
        }
        FarEvent::RemoteChanged { number, what } => format!("#{number} {what}"),
        FarEvent::RemoteEnded {
            number,
            peer,
            name,
            why,
            totals,
        } => {
            let asked = report::text::count(totals.requests, "request");
            let (read, stored) = (totals.read.human(), totals.stored.human());
            let end = why.as_ref().map_or(String::new(), |why| format!("; {why}"));
            format!("#{number} {peer} {name}: {asked}, {read} read, {stored} stored{end}")
        }
        FarEvent::PipeBegan { .. } | FarEvent::PipeEnded { .. } => pipe(event),
        FarEvent::Rejected { peer, reason } if reason.waits() => {
            format!("{peer}: waits for a place: {reason}")
        }
        FarEvent::Rejected { peer, reason } => format!("{peer}: turned away: {reason}"),
    };
    report::text::plain(&line)
}

/// What happened to a pipe.
fn pipe(event: &FarEvent) -> String {
    match event {
        FarEvent::PipeBegan {
            number,
            peer,
            name,
            direction,
            place,
        } => format!("#{number} {peer} {name}: pipes {} {place}", way(*direction)),
        FarEvent::PipeEnded {
            number,
            peer,
            name,
            why,
            taken,
        } => {
            let end = why.as_ref();
            let end = end.map_or("done".to_owned(), |why| format!("ended early: {why}"));
            let taken = taken.human();
            format!("#{number} {peer} {name}: {end}, {taken} through the pipe")
        }
        _ => String::new(),
    }
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

/// Of a pipe, seen from here.
fn way(direction: CopyDirection) -> &'static str {
    match direction {
        CopyDirection::Put => "into",
        CopyDirection::Get => "out of",
    }
}

fn shown(paths: &[Vec<u8>]) -> String {
    let name = |path: &Vec<u8>| match path.is_empty() {
        true => "the root".to_owned(),
        false => serve::shown(path),
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
