//! `trunkline pipe`: standard input to another host, or the other way.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;

use trunkline::copy::{Access, CopyControl, CopyEvent, CopyObserver};
use trunkline::pipe::{Input, NearPipe, PipeOutcome, PipeRequest};
use trunkline::units::Rate;
use trunkline::{Error, pipe};

use crate::args::Pipe;
use crate::commands::copy::{far_program, server_token};
use crate::failure::Failure;
use crate::output::tell;
use crate::stop;

/// What stands for standard input and output.
const HERE: &str = "-";

pub(crate) fn run(arguments: &Pipe) -> Result<ExitCode, Failure> {
    let access = access(arguments)?;
    let (request, reads) = request(arguments, access)?;
    let near = near(reads)?;
    let cancel = stop::listen_calmly()?;
    let mut observer = Remarks {
        is_quiet: arguments.quiet,
        is_verbose: arguments.verbose,
    };
    let control = CopyControl::from(&cancel);
    let outcome = pipe(&request, near, &control, &mut observer)?;
    tell_end(arguments, &outcome);
    Ok(ExitCode::from(outcome.exit.unwrap_or(0)))
}

/// What is asked for, and whether it is standard input that goes there.
fn request(arguments: &Pipe, access: Access) -> Result<(PipeRequest, bool), Failure> {
    let options = arguments.options();
    let is_here = |place: &PathBuf| place.as_os_str() == HERE;
    let words = arguments.program.clone();
    let request = match (&arguments.places[..], words.is_empty()) {
        ([host], false) if arguments.no_input => {
            return Ok((
                PipeRequest::from_program(host, words, options, access)?,
                false,
            ));
        }
        ([host], false) => PipeRequest::into_program(host, words, options, access)?,
        ([here, there], true) if is_here(here) && !is_here(there) => {
            PipeRequest::into_file(there, options, access)?
        }
        ([there, here], true) if is_here(here) && !is_here(there) => {
            return Ok((PipeRequest::from_file(there, options, access)?, false));
        }
        (places, _) => return Err(no_pipe(places)),
    };
    Ok((request, true))
}

fn no_pipe(places: &[PathBuf]) -> Failure {
    let places: Vec<String> = places.iter().map(|it| it.display().to_string()).collect();
    Failure::wrong_request(
        &format!("`{}` is no pipe", places.join(" ")),
        "write `HOST -- PROGRAM`, `- HOST:FILE` for standard input into a file there, or \
         `HOST:FILE -` for that file to standard output",
    )
}

fn access(arguments: &Pipe) -> Result<Access, Failure> {
    let is_server = |place: &PathBuf| {
        let place: &OsStr = place.as_os_str();
        place.to_string_lossy().starts_with("trunkline://")
    };
    let for_server = arguments.places.iter().any(is_server);
    Ok(Access {
        ssh: arguments.ssh.0.clone(),
        program: far_program(arguments.far_program.as_deref(), arguments.no_install),
        token: server_token(arguments.token_file.as_deref(), for_server)?,
        ports: arguments.port_range.clone(),
        transport: arguments.transport.into(),
        via: arguments.leaving.via()?,
        ..Access::default()
    })
}

fn near(reads: bool) -> Result<NearPipe, Failure> {
    let (output, errors) = (own(&io::stdout())?, own(&io::stderr())?);
    let errors = Some(errors);
    Ok(match reads {
        true => NearPipe::Reads {
            input: Input::new(own(&io::stdin())?, "standard input"),
            output: Some(output),
            errors,
        },
        false => NearPipe::Writes { output, errors },
    })
}

/// Without the buffers of the standard library.
fn own(standard: &impl AsFd) -> Result<File, Failure> {
    let owned = standard.as_fd().try_clone_to_owned();
    Ok(File::from(owned.map_err(Error::from)?))
}

/// What is said meanwhile, on standard error.
struct Remarks {
    is_quiet: bool,
    is_verbose: bool,
}

impl CopyObserver for Remarks {
    fn on_event(&mut self, event: &CopyEvent) {
        if self.is_quiet {
            return;
        }
        match event {
            CopyEvent::ProgramSent {
                host, file, bytes, ..
            } => tell!(
                "{host} has no trunkline of this version: sending this one, {}, to {file}",
                bytes.human()
            ),
            CopyEvent::Lost { why, retry_in, .. } => {
                tell!(
                    "the far end is lost: {why}; trying again in {}",
                    retry_in.human()
                );
            }
            CopyEvent::Queued { why, .. } => tell!("waiting for a place: {why}"),
            CopyEvent::Connected { peer, .. } if self.is_verbose => tell!("connected to {peer}"),
            CopyEvent::Steered { streams, why, .. } if self.is_verbose => {
                tell!("{streams} streams: {why}");
            }
            _ => {}
        }
    }
}

fn tell_end(arguments: &Pipe, outcome: &PipeOutcome) {
    if arguments.quiet {
        return;
    }
    let taken = outcome.taken.human();
    if !outcome.is_whole {
        tell!("the program at the far end took {taken}; the rest of the input was not sent");
    } else if arguments.verbose || io::stderr().is_terminal() {
        let rate = Rate::of(outcome.taken, outcome.took);
        tell!(
            "{taken} in {}, {}, {} streams; both ends have the same digest",
            outcome.took.human(),
            rate.human(),
            outcome.streams
        );
    }
}
