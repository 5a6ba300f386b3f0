//! From arguments to what the copy is told.

use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::{env, fs};

use trunkline::Error;
use trunkline::copy::{
    self, Access, CopyDirection, CopyRequest, FarProgram, NearEnd, Patience, Place, Route,
    Selection, Token,
};
use trunkline::history::CopyMemory;
use trunkline::units::Via;

use crate::args::{self, Copy, Output};
use crate::failure::Failure;
use crate::output::{self, tell};

/// Where a token is when no file is named.
const TOKEN_VARIABLE: &str = "TRUNKLINE_TOKEN";
/// Most bytes of a list: some millions of names.
const LIST_MAX: u64 = 1 << 30;

/// Everything that the copy is told. Places that cannot be written to are refused before secrets
/// and lists are read.
pub(super) fn request(arguments: &Copy, files: &Output) -> Result<CopyRequest, Failure> {
    let route = Route::parse(&arguments.places).map_err(Error::from)?;
    output::check_places(files, None)?;
    let access = access(arguments, &route)?;
    // A list of names goes to a far end where the sources are there.
    let of_lists = match route.commanded() {
        Some(_) => CopyDirection::Get,
        None => route.direction(),
    };
    let options = arguments.options(selection(arguments, of_lists)?);
    let request = CopyRequest::new(&arguments.places, options, access)?;
    let request = request.listing(arguments.digest.clone())?;
    let spec = &request.spec;
    let remembered = match spec.near {
        NearEnd::Here(_) => {
            let history = arguments.keep.history();
            history.of_copies(&spec.far.host, spec.direction)
        }
        // The path between two other hosts is not the one from here.
        NearEnd::At(_) => CopyMemory::default(),
    };
    Ok(request.remembering(remembered))
}

fn selection(arguments: &Copy, direction: CopyDirection) -> Result<Selection, Failure> {
    let listed = arguments.files_from.as_ref();
    let listed = listed.map(|file| listed_in(file, arguments.from0, direction));
    Ok(Selection {
        rules: arguments.rules.0.clone(),
        listed: listed.transpose()?,
    })
}

fn listed_in(
    file: &Path,
    ends_with_zero: bool,
    direction: CopyDirection,
) -> Result<Vec<Vec<u8>>, Failure> {
    let text = read(file).map_err(|error| Failure::unreadable(file, &error))?;
    let names = copy::listed(&text, ends_with_zero);
    copy::check_listed(&names, file, direction)?;
    Ok(names)
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let source: Box<dyn Read> = match file.as_os_str() == "-" {
        true => Box::new(io::stdin()),
        false => Box::new(fs::File::open(file)?),
    };
    source.take(LIST_MAX).read_to_end(&mut text)?;
    Ok(text)
}

fn access(arguments: &Copy, route: &Route) -> Result<Access, Failure> {
    Ok(Access {
        ssh: arguments.ssh.0.clone(),
        program: match arguments.sftp {
            true => FarProgram::Sftp,
            false => far_program(arguments.far_program.as_deref(), arguments.no_install),
        },
        token: server_token(
            arguments.token_file.as_deref(),
            is_server(route.far()) || is_server(route.commanded()),
        )?,
        source_token: source_token(arguments)?,
        from_far: arguments.connect == args::Connect::FromFar,
        ports: arguments.port_range.clone(),
        transport: arguments.transport.into(),
        via: Via {
            multipath: arguments.mptcp,
            ..arguments.leaving.via()?
        },
        pairs: arguments.via.clone(),
        patience: arguments
            .patience
            .map_or_else(Patience::default, Patience::from_the_first),
    })
}

/// Where this process cannot tell its own file, there is none to send.
pub(crate) fn far_program(program: Option<&str>, no_install: bool) -> FarProgram {
    match (program, no_install) {
        (Some(program), _) => FarProgram::There(program.to_owned()),
        (None, true) => FarProgram::default(),
        (None, false) => {
            env::current_exe().map_or_else(|_| FarProgram::default(), FarProgram::ThereOrSent)
        }
    }
}

fn is_server(place: Option<&Place>) -> bool {
    matches!(place, Some(Place::Server { .. }))
}

fn source_token(arguments: &Copy) -> Result<Option<Token>, Failure> {
    let Some(file) = &arguments.source_token_file else {
        return Ok(None);
    };
    let token: Token = read_secret(file)?.parse().map_err(Error::from)?;
    Ok(Some(token))
}

/// What a file holds that should be its owner's alone.
fn read_secret(file: &Path) -> Result<String, Failure> {
    warn_of_readers(file);
    fs::read_to_string(file).map_err(|error| Failure::unreadable(file, &error))
}

/// The token, checked for its form here, where its owner can read what is wrong.
pub(crate) fn server_token(
    file: Option<&Path>,
    is_for_server: bool,
) -> Result<Option<Token>, Failure> {
    let text = match file {
        Some(_) if !is_for_server => {
            return Err(Failure::wrong_request(
                "`--token-file` is for a trunkline:// server, and this goes over ssh",
                "leave it out: ssh says who you are",
            ));
        }
        Some(file) => read_secret(file)?,
        None => match env::var(TOKEN_VARIABLE) {
            Ok(text) if is_for_server => text,
            _ => return Ok(None),
        },
    };
    let token: Token = text.parse().map_err(Error::from)?;
    Ok(Some(token))
}

fn warn_of_readers(file: &Path) {
    let mode = fs::metadata(file).map(|metadata| metadata.permissions().mode());
    if mode.is_ok_and(|mode| mode & 0o077 != 0) {
        tell!(
            "warning: others on this host can read {0}\n\nhint: chmod 600 {0}",
            file.display()
        );
    }
}
