//! The far end: for tests of trunkline and iperf3, and for copies.

mod tokens;

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, RwLock};

pub use copy_net::SshPipes;
use copy_net::{AcceptLimits, serve_ssh_child};
use transfer::far::{FarEnd, Keys};
use units::{Rate, Span};

use crate::{Cancel, Error};

use copy_protocol::{CopyBounds, Key};
pub use copy_protocol::{KeyName, Rights, Tokens};
pub use endpoints::{Accounts, ServerEvent, ServerLimits};
pub use files::{Root, shown};
pub use measure_protocol::TestBounds;
pub use sockets::ListenAt;
pub use tokens::{add_token, read_tokens};
pub use transfer::far::FarEvent;

/// How long a far end that ssh started waits for a near end that vanished without a word: longer
/// than anybody waits for it by default.
const PATIENCE: Span = Span::from_secs(900);

/// What a server does.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Where it listens, over TCP and UDP.
    pub at: ListenAt,
    /// How much it takes on.
    pub limits: ServerLimits,
    /// Files that it serves; none without.
    pub files: Option<Files>,
}

/// On all addresses and [`PORT_DEFAULT`](crate::PORT_DEFAULT), without files.
impl Default for ServeOptions {
    fn default() -> Self {
        ServeOptions {
            at: crate::PORT_DEFAULT.into(),
            limits: ServerLimits::default(),
            files: None,
        }
    }
}

/// Files that a server gives and takes.
#[derive(Debug, Clone)]
pub struct Files {
    /// The folder below which they are.
    pub root: PathBuf,
    /// The file of the tokens that open it; see [`add_token`].
    pub tokens: PathBuf,
    /// What the tokens may do at most.
    pub rights: Rights,
    /// Links are taken.
    pub takes_links: bool,
    /// Copies may remove files.
    pub removes: bool,
    /// Copies without encryption are taken.
    pub takes_plain: bool,
    /// Each file is told of.
    pub tells_files: bool,
    /// Copies at the same time; one more waits for its turn.
    pub copies: usize,
    /// Those of them with one token, where its line in the file does not say another number.
    pub copies_per_token: usize,
    /// The streams of all copies together.
    pub streams_max: Option<u16>,
    /// The rate of all copies together, of each direction.
    pub rate_max: Option<Rate>,
}

impl Files {
    /// Files below `root` for those who have one of `tokens`, without further bounds.
    pub fn new(root: impl Into<PathBuf>, tokens: impl Into<PathBuf>) -> Self {
        Files {
            root: root.into(),
            tokens: tokens.into(),
            rights: Rights {
                read: true,
                write: true,
            },
            takes_links: true,
            removes: true,
            takes_plain: true,
            tells_files: false,
            copies: AcceptLimits::default().conversations,
            copies_per_token: AcceptLimits::default().conversations_per_name,
            streams_max: None,
            rate_max: None,
        }
    }

    /// Bounds on all copies; each has a stream at least.
    fn bounds(&self) -> CopyBounds {
        let copies = u16::try_from(self.copies).unwrap_or(u16::MAX);
        CopyBounds {
            copies: Some(copies.min(self.streams_max.unwrap_or(u16::MAX))),
            streams: self.streams_max,
            rate: self.rate_max,
        }
    }

    fn root(&self) -> Result<Root, Error> {
        let mut root = Root::beneath(&self.root)?.restricted(self.rights.read, self.rights.write);
        if !self.takes_links {
            root = root.without_links();
        }
        if !self.removes {
            root = root.without_removing();
        }
        Ok(root)
    }
}

/// What happens at a server.
#[derive(Debug)]
pub enum ServeEvent<'a> {
    /// To a test or a train of packets.
    Test(&'a ServerEvent),
    /// To a copy.
    Copy(&'a FarEvent),
}

/// Takes what happens, on any thread.
pub type OnServeEvent = dyn Fn(ServeEvent<'_>) + Send + Sync;

/// The tokens of a server, which can be read again while it runs.
#[derive(Debug, Clone)]
pub struct TokensFile {
    file: PathBuf,
    tokens: Arc<RwLock<Tokens>>,
}

impl TokensFile {
    /// Reads a file of tokens.
    ///
    /// # Errors
    /// When the file cannot be used, see [`read_tokens`].
    pub fn open(file: &Path) -> Result<Self, Error> {
        Ok(TokensFile {
            file: file.to_owned(),
            tokens: Arc::new(RwLock::new(read_tokens(file)?)),
        })
    }

    /// The key of the token of that name and what it allows.
    pub fn find(&self, name: &KeyName) -> Option<(Key, Rights)> {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let (key, rights) = tokens.find(name)?;
        Some((key.clone(), rights))
    }

    /// The file.
    pub fn place(&self) -> &Path {
        &self.file
    }

    /// How many tokens there are.
    pub fn count(&self) -> usize {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        tokens.names().count()
    }

    /// Reads the file again. Copies that run go on; one that comes has to have a token of then. A
    /// file without tokens opens nothing.
    ///
    /// # Errors
    /// When the file cannot be used; the tokens then stay as they were.
    pub fn reread(&self) -> Result<(), Error> {
        // The last token can be taken back, too.
        let read = tokens::existing(&self.file)?;
        *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(())
    }
}

/// How many copies a server has; outlives the server.
#[derive(Clone)]
pub struct RunningCopies(Option<Arc<FarEnd>>);

impl RunningCopies {
    /// Copies that run now.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |far| far.copies())
    }
}

/// A server that listens.
pub struct Server {
    server: endpoints::Server,
    tokens: Option<TokensFile>,
    copies: RunningCopies,
    cancel: Cancel,
    on_event: Arc<OnServeEvent>,
}

impl Server {
    /// Listens as `options` say; [`Server::run`] serves, until `cancel`.
    ///
    /// # Errors
    /// When the port is taken, or the root or the tokens cannot be used.
    pub fn bind(
        options: &ServeOptions,
        cancel: &Cancel,
        on_event: Arc<OnServeEvent>,
    ) -> Result<Self, Error> {
        let numbers = Arc::new(AtomicU64::new(0));
        let files = options.files.as_ref();
        let files = files.map(|files| far_end(files, &options.at, cancel, &numbers, &on_event));
        let (tokens, far) = files.transpose()?.unzip();
        let mut server = endpoints::Server::bind(options.at.clone(), options.limits.clone())?;
        server = server.numbered_by(numbers);
        if let Some((files, far)) = options.files.as_ref().zip(far.clone()) {
            let limits = AcceptLimits {
                conversations: files.bounds().copies.map_or(files.copies, usize::from),
                conversations_per_name: files.copies_per_token,
                ..AcceptLimits::default()
            };
            server = server.with_copies(limits, far)?;
        }
        Ok(Server {
            server,
            tokens,
            copies: RunningCopies(far),
            cancel: cancel.clone(),
            on_event,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Its tokens; `None` where it serves no files.
    pub fn tokens(&self) -> Option<&TokensFile> {
        self.tokens.as_ref()
    }

    /// Its copies.
    pub fn copies(&self) -> RunningCopies {
        self.copies.clone()
    }

    /// Serves on this thread and others, until the token is cancelled.
    pub fn run(self) {
        let on_event = self.on_event;
        let tell = move |event: ServerEvent| on_event(ServeEvent::Test(&event));
        self.server.run(&self.cancel.flag(), &tell);
        if let Some(far) = &self.copies.0 {
            far.end_pipes();
        }
    }
}

/// What serves copies, with its tokens.
fn far_end(
    files: &Files,
    at: &ListenAt,
    cancel: &Cancel,
    numbers: &Arc<AtomicU64>,
    on_event: &Arc<OnServeEvent>,
) -> Result<(TokensFile, Arc<FarEnd>), Error> {
    let file = TokensFile::open(&files.tokens)?;
    let on_event = Arc::clone(on_event);
    let tell = Box::new(move |event: &FarEvent| on_event(ServeEvent::Copy(event)));
    let keys = Keys::Tokens(Arc::clone(&file.tokens));
    let mut far = FarEnd::new(keys, files.root()?, cancel.flag(), tell);
    far = far
        .numbered_by(Arc::clone(numbers))
        .listening_at(at.clone());
    far = far.bounded_by(files.bounds());
    if !files.takes_plain {
        far = far.without_plain();
    }
    if files.tells_files {
        far = far.telling_files();
    }
    Ok((file, Arc::new(far)))
}

/// What the key that opened ssh may do besides reading and writing files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SshRights {
    /// Have files sent to other hosts from here.
    pub send_anywhere: bool,
    /// Run programs here.
    pub run_programs: bool,
}

/// The far end of one copy that ssh started: what is worth knowing is told at the near end.
///
/// * `pipes`: what ssh connected.
/// * `connection`: who connected to whom, as sshd says it in `SSH_CONNECTION`.
/// * `may`: what the key that opened ssh may do.
///
/// # Errors
/// When the near end says something else, or this end cannot listen.
pub fn serve_one_over_ssh(
    root: Root,
    pipes: SshPipes<'_, impl Read + Send + 'static, impl Write>,
    connection: Option<&str>,
    may: SshRights,
    cancel: &Cancel,
) -> Result<(), Error> {
    let nothing = Box::new(|_: &FarEvent| ());
    let mut started: Option<Arc<FarEnd>> = None;
    let served = serve_ssh_child(
        pipes,
        connection,
        AcceptLimits::default(),
        PATIENCE,
        &|| cancel.is_cancelled(),
        |token, back| {
            let far = FarEnd::new(Keys::One(token), root, cancel.flag(), nothing);
            let mut far = far.calling(back).for_one_command();
            if may.send_anywhere {
                far = far.sending_anywhere();
            }
            if may.run_programs {
                far = far.running_programs();
            }
            let far = Arc::new(far);
            started = Some(Arc::clone(&far));
            far
        },
    );
    if let Some(far) = started {
        far.end_pipes();
    }
    Ok(served?)
}
