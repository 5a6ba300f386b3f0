//! `trunkline serve`: the far end.

pub(super) mod copies;
pub(super) mod log;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use trunkline::Cancel;
use trunkline::serve::{
    Accounts, Files, ListenAt, Rights, RunningCopies, ServeEvent, ServeOptions, Server,
    ServerEvent, ServerLimits, TestBounds, add_token, read_tokens,
};

use crate::args::Serve;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::stop;

/// How soon a signal is noticed.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) fn run(arguments: &Serve) -> Result<ExitCode, Failure> {
    if let (Some(file), Some(name)) = (&arguments.tokens, &arguments.new_token) {
        return new_token(file, name, arguments);
    }
    if let (Some(file), true) = (&arguments.tokens, arguments.list_tokens) {
        output::print(&listed(file)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let cancel = stop::listen_as_server()?;
    let server = Server::bind(&options(arguments)?, &cancel, Arc::new(describe_event))?;
    if let Some(tokens) = server.tokens() {
        copies::introduce(arguments, tokens);
        copies::reread(tokens.clone())?;
    }
    let whom = match arguments.files_only {
        true => "copies alone",
        false => "trunkline and iperf3 clients",
    };
    tell!("serving {whom} on {}", server.address());
    say_stop(&cancel, server.copies());
    server.run();
    log::line("stopped");
    Ok(ExitCode::SUCCESS)
}

fn options(arguments: &Serve) -> Result<ServeOptions, Failure> {
    Ok(ServeOptions {
        at: ListenAt {
            family: arguments.family.family(),
            source: arguments.family.source(arguments.bind.as_ref())?,
            port: arguments.port,
        },
        limits: ServerLimits {
            files_only: arguments.files_only,
            sessions: usize::from(arguments.clients),
            sessions_per_address: usize::from(arguments.clients_per_address),
            tests: TestBounds {
                time_max: arguments.test_time_max,
                rate_max: arguments.test_rate_max,
            },
            accounts: accounts(arguments)?,
            ..ServerLimits::default()
        },
        files: files(arguments),
    })
}

/// The users who are let in; `None` where all are.
fn accounts(arguments: &Serve) -> Result<Option<Arc<Accounts>>, Failure> {
    let (Some(users), Some(key)) = (&arguments.iperf3_users, &arguments.iperf3_key) else {
        return Ok(None);
    };
    let (padding, skew) = (arguments.iperf3_padding, arguments.iperf3_skew);
    let accounts = Accounts::open(key, users, padding, skew);
    let accounts = accounts.map_err(trunkline::Error::from)?;
    Ok(Some(Arc::new(accounts)))
}

/// The files that are served; `None` where no root is given away.
fn files(arguments: &Serve) -> Option<Files> {
    Some(Files {
        rights: rights(arguments),
        takes_links: !arguments.no_links,
        removes: !arguments.no_delete,
        takes_plain: !arguments.no_plain,
        tells_files: arguments.verbose,
        copies: usize::from(arguments.copies),
        copies_per_token: usize::from(arguments.copies_per_token),
        streams_max: arguments.copies_streams,
        rate_max: arguments.copies_rate,
        ..Files::new(arguments.root.as_ref()?, arguments.tokens.as_ref()?)
    })
}

/// What the arguments leave of all rights.
fn rights(arguments: &Serve) -> Rights {
    Rights {
        read: !arguments.write_only,
        write: !arguments.read_only,
    }
}

/// One line of the log.
pub(super) fn describe_event(event: ServeEvent<'_>) {
    match event {
        ServeEvent::Test(event) => log::line(&describe(event)),
        ServeEvent::Copy(event) => log::line(&copies::describe(event)),
    }
}

/// Says what a server that is to end still does.
fn say_stop(cancel: &Cancel, copies: RunningCopies) {
    let cancel = cancel.clone();
    thread::spawn(move || {
        while !cancel.is_cancelled() {
            thread::sleep(LOOK);
        }
        log::line(&match copies.count() {
            0 => "stopping, as a signal asked: no copy runs".to_owned(),
            copies => format!(
                "stopping, as a signal asked: {} broken off first; run the same command again to \
                    resume it. A second signal ends at once",
                match copies {
                    1 => "1 copy is".to_owned(),
                    many => format!("{many} copies are"),
                }
            ),
        });
    });
}

/// The token itself is the result: on standard output, so that it can be sent into a file.
fn new_token(file: &Path, name: &str, arguments: &Serve) -> Result<ExitCode, Failure> {
    let rights = rights(arguments);
    let token = add_token(file, name, rights)?;
    output::print(&format!("{token}\n"))?;
    tell!(
        "\nadded to {} with rights {rights}; a running server takes it at `kill -HUP`. \
         Anyone who has this text can use it:\nmake one token for each person; give \
         this one to `{name}`, who keeps it in a private file for `trunkline copy --token-file \
         FILE`",
        file.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Names and rights, one a line; no secrets.
fn listed(file: &Path) -> Result<String, Failure> {
    let tokens = read_tokens(file)?;
    let mut text = String::new();
    for name in tokens.names() {
        let rights = tokens.find(name).map(|(_, rights)| rights.to_string());
        let folder = tokens.folder(name).filter(|folder| !folder.is_empty());
        let folder = folder.map(|folder| format!(" root={folder}"));
        let targets = tokens.targets(name).filter(|targets| !targets.is_empty());
        let targets = targets.map(|targets| format!(" to={targets}"));
        text += &format!(
            "{name:<24} {:<2}{}{}{}\n",
            rights.unwrap_or_default(),
            folder.unwrap_or_default(),
            targets.unwrap_or_default(),
            tokens.bounds(name)
        );
    }
    Ok(text)
}

fn describe(event: &ServerEvent) -> String {
    match event {
        ServerEvent::Started {
            session,
            peer,
            request,
        } => {
            let streams = count(request.streams);
            let datagrams = match (request.datagrams, request.pacing) {
                (None, _) => String::new(),
                (Some(_), Some(rate)) => format!(" of datagrams, at {} each", rate.human()),
                (Some(_), None) => " of datagrams, without a rate".to_owned(),
            };
            format!("#{session} {peer}: test of {streams}{datagrams}")
        }
        ServerEvent::LoggedIn {
            session,
            peer,
            user,
        } => format!("#{session} {peer}: user `{user}`"),
        ServerEvent::Probing { session, peer } => format!("#{session} {peer}: trains of packets"),
        ServerEvent::Ended {
            session,
            peer,
            outcome: Ok(summary),
        } => format!(
            "#{session} {peer}: received {}, sent {} in {}{}",
            summary.received.human(),
            summary.sent.human(),
            summary.duration.human(),
            notes(&summary.notes),
        ),
        ServerEvent::Ended {
            session,
            peer,
            outcome: Err(error),
        } => format!("#{session} {peer}: failed: {error}"),
        ServerEvent::Refused { peer, reason } => format!("{peer}: refused: {reason}"),
    }
}

/// What the host could not fulfil, behind the figures.
fn notes(notes: &[String]) -> String {
    notes.iter().map(|note| format!("; {note}")).collect()
}

fn count(streams: u16) -> String {
    match streams {
        1 => "1 stream".to_owned(),
        n => format!("{n} streams"),
    }
}
