//! One stream of bytes between this host and another one, over as many connections as the path
//! needs.
//!
//! [`pipe()`] joins descriptors of this process to a file or a program at the far end, and returns
//! when all is there. [`ParallelStream`] is the same as something to write to or to read from.
//!
//! ```no_run
//! use std::io::Write;
//! use trunkline::copy::Access;
//! use trunkline::pipe::{ParallelStream, PipeOptions, PipeRequest};
//!
//! let options = PipeOptions::default();
//! let file = "dtn.example.org:/store/run7.tar";
//! let request = PipeRequest::into_file(file, options, Access::default())?;
//! let mut stream = ParallelStream::open(&request)?;
//! stream.write_all(b"what a program makes")?;
//! // The file has its name once this returns.
//! stream.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod stream;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

use copy_protocol::CopyDirection;
use copy_protocol::pipe::{PipePlace, WINDOW_MAX, WINDOW_MIN};
use observe::{StreamCount, Transport};
use transfer::PipeSpec;
use units::{Bytes, Rate, Span};

use crate::Error;
use crate::copy::{Access, CopyControl, CopyObserver, Place, host_of};

pub use stream::ParallelStream;
pub use transfer::{Input, NearPipe, PipeError, PipeOutcome};

/// How long a far end that was there may be away.
const PATIENCE: Span = Span::from_secs(120);

/// What both ends of a pipe have to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PipeOptions {
    /// What each end holds at most of what is on the way: 4 MiB to 1 GiB.
    pub buffer: Bytes,
    /// This many streams and no search.
    pub streams: Option<StreamCount>,
    /// The most that is sent over all streams together.
    pub rate_max: Option<Rate>,
    /// How long a far end that was there may be away before the pipe is given up.
    pub patience: Span,
}

/// 128 MiB, streams as the path needs, no bound on the rate, two minutes.
impl Default for PipeOptions {
    fn default() -> Self {
        PipeOptions {
            buffer: Bytes::from_mib(128),
            streams: None,
            rate_max: None,
            patience: PATIENCE,
        }
    }
}

impl PipeOptions {
    /// Bounds of [`PipeOptions::buffer`].
    pub const BUFFER: std::ops::RangeInclusive<Bytes> =
        Bytes::new(WINDOW_MIN)..=Bytes::new(WINDOW_MAX);
}

/// One pipe: what is at the far end, how that is reached, and which way the bytes go.
#[derive(Debug, Clone)]
pub struct PipeRequest {
    /// The far end, as written.
    pub far: String,
    /// Everything that the pipe is told.
    pub spec: PipeSpec,
}

impl PipeRequest {
    /// Into a file of another host, `[USER@]HOST:PATH` or `trunkline://HOST[:PORT]/PATH`. It has
    /// its name once all of it is there.
    ///
    /// # Errors
    /// When the place names no file of another host, or the options or the access do not fit.
    pub fn into_file(
        place: impl AsRef<OsStr>,
        options: PipeOptions,
        access: Access,
    ) -> Result<Self, Error> {
        file(place.as_ref(), CopyDirection::Put, options, &access)
    }

    /// Out of a file of another host.
    ///
    /// # Errors
    /// As [`PipeRequest::into_file`].
    pub fn from_file(
        place: impl AsRef<OsStr>,
        options: PipeOptions,
        access: Access,
    ) -> Result<Self, Error> {
        file(place.as_ref(), CopyDirection::Get, options, &access)
    }

    /// Into a program that ssh starts at `[USER@]HOST`, with its arguments; no shell reads them.
    ///
    /// # Errors
    /// When there is no program, a standing server is named, or the options or the access do not
    /// fit.
    pub fn into_program(
        host: impl AsRef<OsStr>,
        words: Vec<OsString>,
        options: PipeOptions,
        access: Access,
    ) -> Result<Self, Error> {
        program(host.as_ref(), words, CopyDirection::Put, options, &access)
    }

    /// Out of a program that ssh starts, which reads nothing.
    ///
    /// # Errors
    /// As [`PipeRequest::into_program`].
    pub fn from_program(
        host: impl AsRef<OsStr>,
        words: Vec<OsString>,
        options: PipeOptions,
        access: Access,
    ) -> Result<Self, Error> {
        program(host.as_ref(), words, CopyDirection::Get, options, &access)
    }
}

/// Joins `near` to the far end and returns when all is at the other side and its digest was
/// confirmed there, or the program there has ended.
///
/// * `control`: ends it, from any thread; `CopyControl::from(&cancel)` makes one.
/// * `observer`: hears of connections and of the number of streams.
///
/// # Errors
/// When it ended before its end: then no file has its name, and no program at the far end read an
/// end of its input.
pub fn pipe(
    request: &PipeRequest,
    near: NearPipe,
    control: &CopyControl,
    observer: &mut dyn CopyObserver,
) -> Result<PipeOutcome, Error> {
    Ok(transfer::pipe(&request.spec, near, control, observer)?)
}

fn file(
    place: &OsStr,
    direction: CopyDirection,
    options: PipeOptions,
    access: &Access,
) -> Result<PipeRequest, Error> {
    let shown = place.to_string_lossy().into_owned();
    let far = Place::parse(place)?;
    if matches!(far, Place::Here(_)) {
        return Err(Error::wrong_request(
            format!("`{shown}` is on this host"),
            "write HOST:FILE or trunkline://HOST/FILE; a shell joins what is here",
        ));
    }
    let path = far.path();
    if path.is_empty() || path == b"." {
        return Err(Error::wrong_request(
            format!("`{shown}` names no file"),
            "write HOST:FILE, or `HOST -- PROGRAM` for a program there",
        ));
    }
    request(
        shown,
        &far,
        direction,
        PipePlace::File(path),
        options,
        access,
    )
}

fn program(
    host: &OsStr,
    words: Vec<OsString>,
    direction: CopyDirection,
    options: PipeOptions,
    access: &Access,
) -> Result<PipeRequest, Error> {
    let shown = host.to_string_lossy().into_owned();
    if shown.starts_with("trunkline://") {
        return Err(Error::wrong_request(
            format!("`{shown}` is a server, which runs no programs"),
            "name the host as ssh knows it: `HOST -- PROGRAM`",
        ));
    }
    let name = shown.strip_suffix(':').unwrap_or(&shown);
    let destination = crate::ask::copy::ssh_host(name);
    let destination =
        destination.map_err(|what| Error::wrong_request(what, "write `HOST -- PROGRAM`"))?;
    let far = Place::Ssh {
        destination,
        path: Vec::new(),
    };
    let words = words.into_iter().map(OsString::into_vec).collect();
    request(
        shown,
        &far,
        direction,
        PipePlace::Program(words),
        options,
        access,
    )
}

fn request(
    shown: String,
    far: &Place,
    direction: CopyDirection,
    place: PipePlace,
    options: PipeOptions,
    access: &Access,
) -> Result<PipeRequest, Error> {
    let is_server = matches!(far, Place::Server { .. });
    let refused = match access {
        it if it.token.is_some() && !is_server => Some((
            "a token is for a trunkline:// server, and this pipe goes over ssh",
            "leave it out: ssh says who you are",
        )),
        it if it.from_far => Some((
            "the far end of a pipe cannot connect to this one",
            "leave out `--connect from-far`",
        )),
        it if !it.pairs.is_empty() => {
            Some(("a pipe goes over one pair of addresses", "name no others"))
        }
        it if it.transport == Transport::Udp && !is_server => Some((
            "`--transport udp` is for a trunkline:// server, and this pipe goes over ssh",
            "start `trunkline serve --root` at the other end, or leave it out",
        )),
        _ if !PipeOptions::BUFFER.contains(&options.buffer) => Some((
            "the buffer of a pipe is 4 MiB to 1 GiB",
            "choose another `--buffer`",
        )),
        _ => None,
    };
    if let Some((what, hint)) = refused {
        return Err(Error::wrong_request(what, hint));
    }
    Ok(PipeRequest {
        far: shown,
        spec: PipeSpec {
            host: host_of(access, far)?,
            direction,
            place,
            window: options.buffer,
            streams: options.streams,
            rate_max: options.rate_max,
            ports: access.ports.clone(),
            transport: access.transport,
            patience: options.patience,
        },
    })
}
