//! `trunkline serve`: the far end.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;

use net::{Server, ServerEvent, ServerLimits};

use crate::args::Serve;
use crate::failure::Failure;
use crate::output::tell;
use crate::stop::Stop;

pub(crate) fn run(arguments: &Serve) -> Result<ExitCode, Failure> {
    let stop = Stop::listen()?;
    let everywhere = IpAddr::from(Ipv6Addr::UNSPECIFIED);
    let address = SocketAddr::new(arguments.bind.unwrap_or(everywhere), arguments.port);
    let limits = ServerLimits {
        sessions: usize::from(arguments.clients),
        ..ServerLimits::default()
    };
    let server = Server::bind(address, limits)?;
    tell!(
        "serving trunkline and iperf3 clients on {}",
        server.address()
    );
    server.run(stop.flag(), &|event| tell!("{}", describe(&event)));
    Ok(ExitCode::SUCCESS)
}

fn describe(event: &ServerEvent) -> String {
    match event {
        ServerEvent::Started {
            session,
            peer,
            request,
        } => format!("#{session} {peer}: {}", count(request.streams)),
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
