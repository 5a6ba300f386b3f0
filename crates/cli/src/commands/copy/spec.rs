//! From arguments to what the copy is told.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::{env, fs};

use transfer::{Connect, CopySpec, Credentials, FarHost, Gentle, Place as FarPlace};
use wire::copy::{Attributes, CopyDirection, Filter, Token};

use super::selection;
use crate::archive;
use crate::args::{self, Attribute, Copy, CopyObjective as Objective, Place, Route};
use crate::failure::Failure;
use crate::output::tell;

/// Where a token is when no file is named.
const TOKEN_VARIABLE: &str = "TRUNKLINE_TOKEN";

/// Everything that the copy is told.
pub(super) fn spec(arguments: &Copy, route: &Route) -> Result<CopySpec, Failure> {
    let (direction, near, far) = ends(route);
    let host = host(arguments, far.first())?;
    let remembered = archive::streams_of_copies(&arguments.keep, &host, direction);
    Ok(CopySpec {
        direction,
        near,
        far: FarPlace {
            host,
            paths: far.iter().map(|place| place.path()).collect(),
        },
        recursive: arguments.recursive || arguments.archive,
        attributes: Attributes {
            permissions: !arguments.no_preserve.contains(&Attribute::Permissions),
            times: !arguments.no_preserve.contains(&Attribute::Times),
            links: !arguments.copy_links,
        },
        filter: filter(arguments),
        selection: selection::of(arguments, direction)?,
        delete: delete(arguments)?,
        plain: arguments.plain,
        verify: arguments.verify,
        dry_run: arguments.dry_run,
        compress: arguments.compress,
        objective: objective(arguments),
        streams: arguments.streams,
        remembered,
        window: arguments.window,
        congestion: arguments.congestion.clone(),
        rate_max: arguments.max_rate,
        gentle: arguments
            .gentle
            .map(|added_rtt_max| Gentle { added_rtt_max }),
        connect: connect(arguments),
        patience: arguments.patience,
    })
}

/// Which way, the names here and the places there.
fn ends(route: &Route) -> (CopyDirection, Vec<PathBuf>, Vec<&Place>) {
    match route {
        Route::Put {
            sources,
            destination,
        } => (CopyDirection::Put, sources.clone(), vec![destination]),
        Route::Get {
            sources,
            destination,
        } => (
            CopyDirection::Get,
            vec![destination.clone()],
            sources.iter().collect(),
        ),
    }
}

fn filter(arguments: &Copy) -> Filter {
    match (
        arguments.overwrite,
        arguments.ignore_existing,
        arguments.checksum,
    ) {
        (true, ..) => Filter::All,
        (_, true, _) => Filter::Missing,
        (.., true) => Filter::Content,
        _ => Filter::Changed,
    }
}

/// Without `-r` no folder is copied, and so none has anything that should not be in it.
fn delete(arguments: &Copy) -> Result<bool, Failure> {
    match arguments.delete && !arguments.recursive && !arguments.archive {
        true => Err(Failure::wrong_request(
            "`--delete` is for folders, and without `-r` none is copied",
            "add `-r`; with `-n` it says what would be removed",
        )),
        false => Ok(arguments.delete),
    }
}

fn objective(arguments: &Copy) -> tune::Objective {
    match (arguments.gentle, arguments.objective) {
        (Some(added_rtt_max), _) => tune::Objective::Gentle {
            added_rtt_max,
            loss_max: tune::Objective::LOSS_MAX,
        },
        (None, Objective::Max) => tune::Objective::Max,
        (None, Objective::Knee) => steer::online::OnlinePlan::KNEE,
        (None, Objective::Power) => tune::Objective::Power,
    }
}

fn connect(arguments: &Copy) -> Connect {
    let ports = arguments.port_range.clone();
    match arguments.connect {
        args::Connect::ToFar => Connect::ToFar(ports),
        args::Connect::FromFar => Connect::FromFar(ports),
    }
}

fn host(arguments: &Copy, far: Option<&&Place>) -> Result<FarHost, Failure> {
    match far {
        Some(Place::Server { address, .. }) => {
            only_over_ssh(arguments)?;
            Ok(FarHost::Server {
                address: address.clone(),
                credentials: credentials(arguments)?,
            })
        }
        Some(Place::Ssh { destination, .. }) => over_ssh(arguments, destination),
        Some(Place::Here(_)) | None => Err(Failure::wrong_request(
            "no other host is named",
            "write HOST:PATH or trunkline://HOST/PATH",
        )),
    }
}

fn over_ssh(arguments: &Copy, destination: &str) -> Result<FarHost, Failure> {
    if arguments.token_file.is_some() {
        return Err(Failure::wrong_request(
            "`--token-file` is for a trunkline:// server, and this copy goes over ssh",
            "leave it out: ssh says who you are",
        ));
    }
    let (client, options) = arguments.ssh.0.split_first().map_or_else(
        || ("ssh".to_owned(), Vec::new()),
        |(client, options)| (client.clone(), options.to_vec()),
    );
    Ok(FarHost::Ssh {
        destination: destination.to_owned(),
        client,
        options,
        program: arguments.far_program.clone(),
    })
}

/// A standing server has one port, and everybody connects to it.
fn only_over_ssh(arguments: &Copy) -> Result<(), Failure> {
    let what = match (arguments.connect, &arguments.port_range) {
        (args::Connect::FromFar, _) => "--connect from-far",
        (_, Some(_)) => "--port-range",
        _ => return Ok(()),
    };
    Err(Failure::wrong_request(
        &format!(
            "`{what}` is for copies over ssh; a trunkline:// server has one port for everything"
        ),
        "leave it out, and name the port in the place: trunkline://HOST:PORT/PATH",
    ))
}

/// The token, checked for its form here, where its owner can read what is wrong.
fn credentials(arguments: &Copy) -> Result<Credentials, Failure> {
    let text = match &arguments.token_file {
        Some(file) => {
            warn_of_readers(file);
            fs::read_to_string(file).map_err(|error| Failure::unreadable(file, &error))?
        }
        None => env::var(TOKEN_VARIABLE).map_err(|_| {
            Failure::wrong_request(
                "a trunkline:// server wants a token, and there is none",
                "name the file that has it with `--token-file FILE`, or set TRUNKLINE_TOKEN; on the server, \
                 `trunkline serve --tokens FILE --new-token NAME` makes one",
            )
        })?,
    };
    let token: Token = text.parse().map_err(Failure::token)?;
    Ok(Credentials(token.text()))
}

fn warn_of_readers(file: &std::path::Path) {
    let mode = fs::metadata(file).map(|metadata| metadata.permissions().mode());
    if mode.is_ok_and(|mode| mode & 0o077 != 0) {
        tell!(
            "warning: others on this host can read {0}\n\nhint: chmod 600 {0}",
            file.display()
        );
    }
}
