//! `trunkline serve`: where to listen, and which files to give away or take.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use trunkline::ask::copy::rate_max;
use trunkline::ask::{duration, padding};
use trunkline::login::Padding;
use trunkline::units::{Rate, Source, Span};

use super::{OneFamily, port, whole};

/// Be the far end, for any number of trunkline and iperf3 clients
///
/// With `--root` also for `trunkline copy`: files go in and out below that folder, for those who
/// have a token.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("purpose_of_tokens").args(["root", "new_token", "list_tokens"])), after_help = "Examples:\n  trunkline serve\n  \
    trunkline serve --tokens /etc/trunkline/tokens --new-token ana\n  \
    trunkline serve --root /store --tokens /etc/trunkline/tokens --read-only --files-only")]
pub(crate) struct Serve {
    /// Address to listen on, device, or both: `192.0.2.7`, `%eth1`, `192.0.2.7%eth1`; all of them
    /// without this
    #[arg(short = 'B', long, value_name = "ADDRESS%DEVICE")]
    pub bind: Option<Source>,

    #[command(flatten)]
    pub family: OneFamily,

    /// TCP port, and UDP port of echoes and of copies over UDP
    #[arg(short, long, default_value_t = trunkline::PORT_DEFAULT, value_parser = port)]
    pub port: u16,

    /// Tests at the same time; one more is told that the server is busy
    #[arg(long, value_name = "COUNT", default_value_t = 64, value_parser = whole(1..=1024u16))]
    pub clients: u16,

    /// Tests at the same time from one address; one more is told that the server is busy
    #[arg(long, value_name = "COUNT", default_value_t = 16, value_parser = whole(1..=1024u16))]
    pub clients_per_address: u16,

    /// Longest test, like 60s; tests and trains are ended then, and longer ones refused
    #[arg(long, value_name = "TIME")]
    pub test_time_max: Option<Span>,

    /// Highest rate of a test over all its streams, like 500M; tests that ask for more, or for no
    /// rate, are refused
    #[arg(long, value_name = "RATE")]
    pub test_rate_max: Option<Rate>,

    /// Let in the users of this file alone, to tests and trains of packets: lines `NAME,HASH` as
    /// those of iperf3's `--authorized-users-path`, with the SHA-256 of `{NAME}PASSWORD`
    ///
    /// It is read again at each login, and others than its owner must not be able to change it.
    /// Copies have tokens, and no users. `openssl` has to be installed.
    #[arg(long, value_name = "FILE", requires = "iperf3_key")]
    pub iperf3_users: Option<PathBuf>,

    /// The private RSA key that logins are encrypted for, in PEM form, readable by its owner alone
    /// (iperf3's `--rsa-private-key-path`)
    #[arg(long, value_name = "FILE", requires = "iperf3_users")]
    pub iperf3_key: Option<PathBuf>,

    /// How far the time of a login may be from the clock here (iperf3's `--time-skew-threshold`)
    #[arg(long, value_name = "TIME", requires = "iperf3_users")]
    #[arg(default_value = "10s", value_parser = duration)]
    pub iperf3_skew: Span,

    /// How logins are padded: `oaep`, or `pkcs1` for clients of iperf3 before 3.17; the server
    /// takes one of them
    #[arg(long, value_name = "PADDING", requires = "iperf3_users")]
    #[arg(default_value = "oaep", value_parser = padding)]
    pub iperf3_padding: Padding,

    /// Serve copies alone: no tests, no trains of packets, no echoes
    #[arg(long, requires = "root", conflicts_with_all = ["clients", "clients_per_address", "test_time_max", "test_rate_max", "iperf3_users", "iperf3_key", "iperf3_skew", "iperf3_padding"])]
    pub files_only: bool,

    /// Serve files too: those below this folder, and nothing outside it
    #[arg(long, value_name = "DIR", requires = "tokens")]
    pub root: Option<PathBuf>,

    /// Copies at the same time; one more waits for its turn, in the order in which they asked
    #[arg(long, value_name = "COUNT", default_value_t = 64, value_parser = whole(1..=1024u16), requires = "root")]
    pub copies: u16,

    /// Copies at the same time with one token, where its line does not say another number
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = whole(1..=1024u16), requires = "root")]
    pub copies_per_token: u16,

    /// Streams of all copies together; each copy has its part, and is told when that changes
    #[arg(long, value_name = "COUNT", value_parser = whole(1..=1024u16), requires = "root")]
    pub copies_streams: Option<u16>,

    /// Rate of all copies together, like 5G, of what is received and of what is sent; each copy has
    /// its part
    #[arg(long, value_name = "RATE", value_parser = rate_max, requires = "root")]
    pub copies_rate: Option<Rate>,

    /// The file with the tokens that open the root, one for each person: lines
    /// `NAME rw|r|w SECRET [root=SUBFOLDER] [to=HOST[:PORT],...] [copies=COUNT] [streams=COUNT]
    /// [rate=RATE]`
    ///
    /// It has to belong to the user who serves, or to root, and be readable by its owner alone.
    /// `root=` binds a token to a folder below the root; `to=` names the hosts to which its holder
    /// may have files sent. `copies=`, `streams=` and `rate=` bound all copies with the token
    /// together, within what the server allows. SIGHUP has the file read again; one that
    /// cannot be used changes nothing. A holder of a token can also pose as the server to others
    /// who have it, so give each person one of their own.
    #[arg(long, value_name = "FILE", requires = "purpose_of_tokens")]
    pub tokens: Option<PathBuf>,

    /// Remove and rename nothing at the wish of copies (`copy --delete`) and programs; with this or
    /// without, only tokens with `rw` can ask for that
    #[arg(long, requires = "root")]
    pub no_delete: bool,

    /// Name each file in the log
    #[arg(short, long, requires = "root")]
    pub verbose: bool,

    /// Take no links: other programs of this host would follow them wherever they point
    #[arg(long, requires = "root")]
    pub no_links: bool,

    /// Take no copies whose data is not encrypted (`copy --plain`)
    #[arg(long, requires = "root")]
    pub no_plain: bool,

    /// Files may only be taken away; of a new token: it allows no more
    #[arg(long, group = "rights", requires = "tokens")]
    pub read_only: bool,

    /// Files may only be put there; of a new token: it allows no more
    #[arg(long, group = "rights", requires = "tokens")]
    pub write_only: bool,

    /// Make a token of this name, add it to the file, print it and end
    #[arg(
        long,
        value_name = "NAME",
        requires = "tokens",
        conflicts_with = "root"
    )]
    pub new_token: Option<String>,

    /// List the tokens of the file, with what they allow and without their secrets, and end
    #[arg(long, requires = "tokens", conflicts_with = "root")]
    pub list_tokens: bool,
}
