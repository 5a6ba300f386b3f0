//! `trunkline serve`: the far end.

mod copies;
mod log;
mod tokens;

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::Duration;

use copy_net::AcceptLimits;
use endpoints::{Server, ServerEvent, ServerLimits};

use transfer::far::FarEnd;
use wire::TestBounds;

use crate::args::Serve;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::stop::Stop;

/// How soon a signal is noticed.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) fn run(arguments: &Serve) -> Result<ExitCode, Failure> {
    if let (Some(file), Some(name)) = (&arguments.tokens, &arguments.new_token) {
        return new_token(file, name, arguments);
    }
    if let (Some(file), true) = (&arguments.tokens, arguments.list_tokens) {
        output::print(&tokens::list(file)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let stop = Stop::listen()?;
    let everywhere = IpAddr::from(Ipv6Addr::UNSPECIFIED);
    let address = SocketAddr::new(arguments.bind.unwrap_or(everywhere), arguments.port);
    let limits = ServerLimits {
        files_only: arguments.files_only,
        sessions: usize::from(arguments.clients),
        sessions_per_address: usize::from(arguments.clients_per_address),
        tests: TestBounds {
            time_max: arguments.test_time_max,
            rate_max: arguments.test_rate_max,
        },
        ..ServerLimits::default()
    };
    let numbers = Arc::new(AtomicU64::new(0));
    let copies = copies::handler(arguments, &stop, Arc::clone(&numbers))?;
    let mut server = Server::bind(address, limits)?.numbered_by(numbers);
    if let Some(copies) = copies.clone() {
        server = server.with_copies(AcceptLimits::default(), copies)?;
    }
    let whom = match arguments.files_only {
        true => "copies alone",
        false => "trunkline and iperf3 clients",
    };
    tell!("serving {whom} on {}", server.address());
    say_stop(&stop, copies);
    server.run(stop.flag(), &|event| log::line(&describe(&event)));
    log::line("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Says what a server that is to end still does.
fn say_stop(stop: &Stop, copies: Option<Arc<FarEnd>>) {
    let stop = stop.clone();
    thread::spawn(move || {
        while !stop.is_asked() {
            thread::sleep(LOOK);
        }
        let copies = copies.map_or(0, |copies| copies.copies());
        log::line(&match copies {
            0 => "stopping, as a signal asked: no copy runs".to_owned(),
            copies => format!(
                "stopping, as a signal asked: {} broken off first; the same command goes on with it later. A second signal ends at once",
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
    let rights = tokens::rights(arguments);
    let token = tokens::add(file, name, rights)?;
    output::print(&format!("{token}\n"))?;
    tell!(
        "\nadded to {} with rights {rights}; a running server takes it at `kill -HUP`. \
         Whoever has this text can use it:\nmake one token for each person; give this one to `{name}`, who keeps it in a file that nobody else reads, \
         for `trunkline copy --token-file FILE`",
        file.display()
    );
    Ok(ExitCode::SUCCESS)
}

fn describe(event: &ServerEvent) -> String {
    match event {
        ServerEvent::Started {
            session,
            peer,
            request,
        } => format!("#{session} {peer}: test of {}", count(request.streams)),
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
