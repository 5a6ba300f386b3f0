//! One copy from end to end: its places and how they are reached.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use observe::{StreamCount, Transport, Window};
use units::{Address, AddressPair, Span, Via};

use crate::{CopyDirection, CopyOptions, Opening};

/// Most connections of a copy over SFTP: a server of OpenSSH refuses some of more than ten that are
/// not logged in yet.
pub const SFTP_CONNECTIONS_MAX: u16 = 16;

/// Most pairs of addresses of one copy.
pub const PAIRS_MAX: u16 = 16;

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
    /// Pairs of addresses over which the streams are dealt; without any they go where the far end
    /// answered.
    pub pairs: Vec<AddressPair>,
    /// They are dealt over all addresses that the far end tells; `pairs` is empty then.
    pub all_addresses: bool,
    /// How long the far end may be away before the copy is given up.
    pub patience: Patience,
}

impl CopySpec {
    /// The request to the far end. Over UDP one stream fills the path, so that none are searched
    /// for; a list of names at this end is of no use to the far one.
    pub fn opening(&self, copy: [u8; 16], into_folder: bool) -> Opening {
        let mut opening = Opening::new(self.direction, self.far.paths.clone(), &self.options);
        if self.transport == Transport::Udp {
            opening.streams.get_or_insert(StreamCount::ONE.get());
        }
        if self.direction == CopyDirection::Put {
            opening.selection.listed = None;
        }
        Opening {
            copy,
            into_folder,
            pairs: u16::try_from(self.pairs.len()).unwrap_or(u16::MAX),
            asks_addresses: self.all_addresses,
            ..opening
        }
    }

    /// Whether its connections are of multipath TCP.
    pub fn is_multipath(&self) -> bool {
        match &self.far.host {
            FarHost::Ssh { via, .. } => via.multipath,
            FarHost::Server { address, .. } => address.via.multipath,
        }
    }

    /// What of it an SFTP server cannot do, as a sentence without a full stop, and the next step;
    /// `None` where it can do all.
    pub fn beyond_sftp(&self) -> Option<(String, &'static str)> {
        const LEAVE_OUT: &str = "leave it out, or install trunkline there";
        let options = &self.options;
        let asked = match options {
            _ if matches!(self.near, NearEnd::At(_)) => {
                let what = "a copy between two other hosts needs trunkline at both";
                return Some((what.to_owned(), "copy to this host first, and then from it"));
            }
            _ if self.transport == Transport::Udp => "--transport udp",
            _ if !self.pairs.is_empty() || self.all_addresses => "--via",
            _ if self.is_multipath() => "--mptcp",
            _ if matches!(self.connect, Connect::FromFar(_)) => "--connect from-far",
            _ if self.connect != Connect::ToFar(None) => "--port-range",
            _ if options.follow.is_some() => "--follow",
            _ if options.delta => "--delta",
            _ if options.part.is_some() => "shards.parts",
            _ if options.compress => "--compress",
            _ if options.plain => "--plain",
            _ if options.attributes.kept.hard_links => "--hard-links",
            _ if options.attributes.kept.user_attributes => "--xattrs",
            _ if options.attributes.kept.acls => "--acls",
            _ if options.attributes.kept.owners.is_some() => "--owner",
            _ if options.attributes.kept.access_times => "--atimes",
            _ if options.gentle.is_some() => "--gentle",
            _ if options.window != Window::Auto => "--window",
            _ if options
                .congestion
                .as_ref()
                .is_some_and(|one| !one.if_allowed) =>
            {
                "--congestion"
            }
            _ => match options.streams {
                Some(streams) if streams.get() > SFTP_CONNECTIONS_MAX => {
                    let what = format!(
                        "`--streams {streams}` asks for more connections than the \
                        {SFTP_CONNECTIONS_MAX} that SFTP has at most"
                    );
                    return Some((what, "name fewer"));
                }
                _ => return None,
            },
        };
        Some((
            format!("`{asked}` needs trunkline at the far end"),
            LEAVE_OUT,
        ))
    }

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
        program: FarProgram,
        /// How connections to it leave this host.
        via: Via,
    },
    /// A standing `trunkline serve --root`.
    Server {
        /// Where it listens.
        address: Address,
        /// What opens it.
        credentials: Credentials,
    },
}

/// The program that ssh starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FarProgram {
    /// This one, as the shell there reads it.
    There(String),
    /// `trunkline` by that name. Where that is absent or of another version, this file of this host
    /// is sent there, or the one for machines of that type that was released with it.
    ThereOrSent(PathBuf),
    /// None: the SFTP server of its ssh is the far end.
    Sftp,
}

impl FarProgram {
    /// Whether SFTP serves where no program of ours can be started there: the user has named none.
    pub fn gives_way_to_sftp(&self) -> bool {
        *self == FarProgram::default() || matches!(self, FarProgram::ThereOrSent(_))
    }
}

/// `trunkline` by that name.
impl Default for FarProgram {
    fn default() -> Self {
        FarProgram::There("trunkline".to_owned())
    }
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
