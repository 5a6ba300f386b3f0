//! What a copy can be asked for.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use crate::{Attributes, CongestionChoice, CopyDirection, Filter, Selection};
use models::Objective;
use observe::{StreamCount, Transport, Window};
use units::{Address, Rate, Span};

/// One copy, from end to end.
#[derive(Debug, Clone)]
pub struct CopySpec {
    /// Which way the files go.
    pub direction: CopyDirection,
    /// The end that opens the copy.
    pub near: NearEnd,
    /// The other end, with its names: the destination (one) of a put, the sources of a get.
    pub far: Place,
    /// Everything that both ends have to know.
    pub options: CopyOptions,
    /// How connections are made.
    pub connect: Connect,
    /// What carries the streams.
    pub transport: Transport,
    /// How long the far end may be away before the copy is given up.
    pub patience: Patience,
}

impl CopySpec {
    /// The patience with the hosts of this copy. ssh is not started until it gets through: it may
    /// ask for a password each time, and its own `ConnectionAttempts` waits for a host.
    pub fn patience(&self) -> Patience {
        let is_ssh = |host: &FarHost| matches!(host, FarHost::Ssh { .. });
        let source = match &self.near {
            NearEnd::Here(_) => None,
            NearEnd::At(source) => Some(&source.host),
        };
        match is_ssh(&self.far.host) || source.is_some_and(is_ssh) {
            true => Patience::once_there(self.patience.once_there),
            false => self.patience,
        }
    }
}

/// How long the far end may be away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// A server that has not answered yet. A wrong name or port looks the same, so that it is
    /// waited for on request alone.
    pub at_first: Span,
    /// One that was there.
    pub once_there: Span,
}

/// Ten minutes for a far end that was there, none for one that never was.
impl Default for Patience {
    fn default() -> Self {
        Patience::once_there(Span::from_secs(600))
    }
}

impl Patience {
    /// From the first connection on.
    pub fn from_the_first(most: Span) -> Self {
        Patience {
            at_first: most,
            once_there: most,
        }
    }

    /// With a far end that was there.
    pub fn once_there(most: Span) -> Self {
        Patience {
            at_first: Span::ZERO,
            once_there: most,
        }
    }
}

/// The end that opens a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NearEnd {
    /// This process, with names of this host: the sources of a put, the destination (one) of a get.
    Here(Vec<PathBuf>),
    /// Another host, which puts these sources of its own at the command of this one: a third-party
    /// copy.
    At(Place),
}

/// The options of a copy, as the user, both ends and the document have them.
#[derive(Debug, Clone, PartialEq)]
pub struct CopyOptions {
    /// Whether folders are copied with what is in them.
    pub recursive: bool,
    /// Which metadata is kept.
    pub attributes: Attributes,
    /// What is done with files that are there already.
    pub filter: Filter,
    /// Which of what the sources have is copied.
    pub selection: Selection,
    /// What the folders of the sources do not have is removed at the destination.
    pub delete: bool,
    /// Data without encryption.
    pub plain: bool,
    /// Files are read again from the receiver's disk before they have their final name.
    pub verify: bool,
    /// Nothing is written.
    pub dry_run: bool,
    /// Pieces may be compressed, for as long as that is faster.
    pub compress: bool,
    /// What the number of streams is chosen for.
    pub objective: Objective,
    /// This many streams and no search, where the user knows better.
    pub streams: Option<StreamCount>,
    /// Streams to begin with, from memory of this host.
    pub remembered: Option<StreamCount>,
    /// Socket buffers of each stream.
    pub window: Window,
    /// Congestion control of the sender.
    pub congestion: Option<CongestionChoice>,
    /// The most that is sent over all streams together.
    pub rate_max: Option<Rate>,
    /// Give way to all other traffic: the queueing delay that the copy may add.
    pub gentle: Option<Span>,
}

impl CopyOptions {
    /// A knee closer to the maximum than [`Objective::KNEE`]: a user waits for the copy to end.
    pub const KNEE: Objective = Objective::Knee { share: 0.97 };
}

/// What the command line means where nothing else is said.
impl Default for CopyOptions {
    fn default() -> Self {
        CopyOptions {
            recursive: false,
            attributes: Attributes {
                permissions: true,
                times: true,
                links: true,
            },
            filter: Filter::Changed,
            selection: Selection::default(),
            delete: false,
            plain: false,
            verify: false,
            dry_run: false,
            compress: false,
            objective: CopyOptions::KNEE,
            streams: None,
            remembered: None,
            window: Window::Auto,
            congestion: None,
            rate_max: None,
            gentle: None,
        }
    }
}

/// Names at the far end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Where.
    pub host: FarHost,
    /// Names as the user wrote them; those of a get may have wildcards.
    pub paths: Vec<Vec<u8>>,
}

/// How the far end is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FarHost {
    /// Through the system's ssh client, which starts `trunkline` there.
    Ssh {
        /// As ssh takes it: `[user@]host`, or an alias of its configuration.
        destination: String,
        /// The ssh client, mostly `ssh`.
        client: String,
        /// Further words for it, such as `-p 2222`.
        options: Vec<String>,
        /// The program there.
        program: String,
    },
    /// A standing `trunkline serve --root`.
    Server {
        /// Where it listens.
        address: Address,
        /// What opens it.
        credentials: Credentials,
    },
}

/// The text of a token. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials(pub String);

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials(..)")
    }
}

/// How connections are made when ssh starts the far end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connect {
    /// The far end listens on a port of this range; without one the kernel chooses.
    ToFar(Option<RangeInclusive<u16>>),
    /// The near end listens, for where only connections from there get through.
    FromFar(Option<RangeInclusive<u16>>),
}
