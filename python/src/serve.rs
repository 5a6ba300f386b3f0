//! A server in this process, for tests and notebooks.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use trunkline::ask;
use trunkline::login::Padding;
use trunkline::serve::{
    self, Accounts, Files, ListenAt, Rights, ServeOptions, ServerLimits, TestBounds,
};
use trunkline::units::Span;

use crate::asked::{at_most_one, exclusive, from_where, optional, value};
use crate::call::Call;
use crate::error::Failure;
use crate::event::Progress;
use crate::result::Done;

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    ipv4: bool,
    ipv6: bool,
    bind: Option<String>,
    port: u16,
    clients: u16,
    clients_per_address: u16,
    test_time_max: Option<String>,
    test_rate_max: Option<String>,
    iperf3_users: Option<PathBuf>,
    iperf3_key: Option<PathBuf>,
    iperf3_skew: String,
    iperf3_padding: String,
    files_only: bool,
    root: Option<PathBuf>,
    tokens: Option<PathBuf>,
    no_delete: bool,
    no_links: bool,
    no_plain: bool,
    read_only: bool,
    write_only: bool,
    verbose: bool,
    copies: u16,
    copies_per_token: u16,
    copies_streams: Option<u16>,
    copies_rate: Option<String>,
    command: String,
}

/// A server that serves.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Server {
    address: String,
    port: u16,
    tokens: Option<serve::TokensFile>,
    copies: serve::RunningCopies,
    call: Py<Call>,
}

/// A bound on the streams of all copies: each has one at least.
fn streams(most: u16) -> Result<u16, Failure> {
    match most {
        0 => Err(Failure::value("copies_streams", "0", "it is 1 at least")),
        most => Ok(most),
    }
}

/// The users who are let in; `None` where all are.
fn accounts(asked: &Asked) -> Result<Option<Arc<Accounts>>, Failure> {
    let padding = value("iperf3_padding", &asked.iperf3_padding, ask::padding)?;
    let skew = value("iperf3_skew", &asked.iperf3_skew, ask::duration)?;
    match (&asked.iperf3_users, &asked.iperf3_key) {
        (None, None) if padding == Padding::Oaep && skew == Span::from_secs(10) => Ok(None),
        (Some(_), Some(_)) if asked.files_only => Err(exclusive("files_only", "iperf3_users")),
        (Some(users), Some(key)) => {
            let accounts = Accounts::open(key, users, padding, skew);
            Ok(Some(Arc::new(accounts.map_err(trunkline::Error::from)?)))
        }
        _ => Err(Failure::request(
            "`iperf3_users` and `iperf3_key` go together, and `iperf3_skew` and `iperf3_padding` \
             with both",
            "give the file of users and the file with the private key, or leave both out",
        )),
    }
}

fn options(asked: &Asked) -> Result<ServeOptions, Failure> {
    at_most_one(&[
        ("read_only", asked.read_only),
        ("write_only", asked.write_only),
    ])?;
    let (family, source) = from_where(asked.ipv4, asked.ipv6, asked.bind.as_deref())?;
    let time_max = optional(
        "test_time_max",
        asked.test_time_max.as_deref(),
        ask::duration,
    )?;
    let rate = |text: &str| {
        text.parse()
            .map_err(|error: trunkline::units::ParseError| error.to_string())
    };
    let rate_max = optional("test_rate_max", asked.test_rate_max.as_deref(), rate)?;
    let files = match (&asked.root, &asked.tokens) {
        (Some(root), Some(tokens)) => Some(Files {
            rights: Rights {
                read: !asked.write_only,
                write: !asked.read_only,
            },
            takes_links: !asked.no_links,
            removes: !asked.no_delete,
            takes_plain: !asked.no_plain,
            tells_files: asked.verbose,
            copies: asked.copies.into(),
            copies_per_token: asked.copies_per_token.into(),
            streams_max: asked.copies_streams.map(streams).transpose()?,
            rate_max: optional(
                "copies_rate",
                asked.copies_rate.as_deref(),
                ask::copy::rate_max,
            )?,
            ..Files::new(root, tokens)
        }),
        (None, None) if asked.files_only => {
            return Err(Failure::request(
                "`files_only` without `root` serves nothing",
                "name the folder with `root` and the file of tokens with `tokens`",
            ));
        }
        (None, None) => None,
        (Some(_), None) => {
            return Err(Failure::request(
                "`root` needs `tokens`: no token opens it",
                "`trunkline.add_token(FILE, NAME)` makes one",
            ));
        }
        (None, Some(_)) => return Err(exclusive("tokens", "no `root`")),
    };
    Ok(ServeOptions {
        at: ListenAt {
            family,
            source,
            port: asked.port,
        },
        limits: ServerLimits {
            files_only: asked.files_only,
            sessions: usize::from(asked.clients),
            sessions_per_address: usize::from(asked.clients_per_address),
            tests: TestBounds { time_max, rate_max },
            accounts: accounts(asked)?,
            ..ServerLimits::default()
        },
        files,
    })
}

#[pymethods]
impl Server {
    /// Listens, and serves on threads of its own.
    #[staticmethod]
    fn start(py: Python<'_>, asked: Asked) -> PyResult<Self> {
        let options = options(&asked)?;
        let (send, receive) = std::sync::mpsc::channel();
        let call = Call::start("serve", asked.command, move |cancel, tell| {
            let tell = tell.clone();
            let on_event: Arc<serve::OnServeEvent> = Arc::new(move |event| {
                tell.tell(told(&event));
            });
            let server = match serve::Server::bind(&options, cancel, on_event) {
                Ok(server) => server,
                Err(error) => {
                    let failure = Failure::from(error);
                    let _ = send.send(Err(failure.clone()));
                    return Err(failure);
                }
            };
            let tokens = server.tokens().cloned();
            let _ = send.send(Ok((server.address(), tokens, server.copies())));
            server.run();
            Ok(Done::default())
        })?;
        let bound = py.detach(move || receive.recv());
        let lost = |_| Failure::request("the server's thread ended", "").of_kind("InternalError");
        let (address, tokens, copies) = bound.map_err(lost)??;
        Ok(Server {
            address: address.to_string(),
            port: address.port(),
            tokens,
            copies,
            call: Py::new(py, call)?,
        })
    }

    /// Where it listens.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// The port.
    #[getter]
    fn port(&self) -> u16 {
        self.port
    }

    /// Copies that run now.
    #[getter]
    fn copies(&self) -> usize {
        self.copies.count()
    }

    /// The call that it is.
    #[getter]
    fn call(&self, py: Python<'_>) -> Py<Call> {
        self.call.clone_ref(py)
    }

    /// Reads the tokens file again.
    fn reread(&self, py: Python<'_>) -> PyResult<()> {
        match &self.tokens {
            Some(tokens) => Ok(py.detach(|| tokens.reread()).map_err(Failure::from)?),
            None => Ok(()),
        }
    }
}

fn told(event: &serve::ServeEvent<'_>) -> Progress {
    match event {
        serve::ServeEvent::Test(event) => Progress::words("test", format!("{event:?}")),
        serve::ServeEvent::Copy(event) => Progress::words("copy", format!("{event:?}")),
    }
}

/// Makes a token, adds it to the file and gives it.
#[pyfunction]
#[pyo3(signature = (file, name, read_only=false, write_only=false))]
pub fn add_token(
    py: Python<'_>,
    file: PathBuf,
    name: &str,
    read_only: bool,
    write_only: bool,
) -> PyResult<String> {
    at_most_one(&[("read_only", read_only), ("write_only", write_only)])?;
    let rights = Rights {
        read: !write_only,
        write: !read_only,
    };
    let token = py.detach(|| serve::add_token(&file, name, rights));
    Ok(token.map_err(Failure::from)?.to_string())
}
