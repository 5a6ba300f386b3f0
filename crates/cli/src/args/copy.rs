//! `trunkline copy`: what goes where, and how. Flags mean what users of scp, rsync and cp expect.

mod rules;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use trunkline::ask::copy::{
    Words, added_rtt, buffers, checksum_list, idle, patience, ports, rate_limit, streams, words,
};
use trunkline::copy::{
    self, Attributes, ChecksumList, CongestionChoice, CopyOptions, Filter, Follow, Kept, OwnersBy,
    Selection,
};
use trunkline::measure::{StreamCount, Window};
use trunkline::units::{PairChoice, RateLimit, Span};

use super::{Keep, Leaving, Output};

use rules::Rules;

/// Copy files to, from or between other hosts, over as many streams as the path needs
///
/// The other host is named as for scp, and the system's ssh starts trunkline there; or it runs
/// `trunkline serve --root`, and is named `trunkline://HOST[:PORT]/PATH`. Times, permissions and
/// links are kept, files that are there already with the same size and time are skipped, and a copy
/// that was interrupted goes on when the same command is given again. Where both ends are on other
/// hosts, the source sends straight to the destination, for as long as this command runs.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("existing_files")),
    override_usage = "trunkline copy [OPTIONS] SOURCE... DESTINATION",
    after_help = "Examples:\n  trunkline copy run7.root dtn.example.org:/store/\n  \
    trunkline copy -r run7 calibration.db user@dtn.example.org:/store\n  \
    trunkline copy -r dtn.example.org:'/store/run7/*.root' .\n  \
    trunkline copy -r run7 trunkline://dtn.example.org/2026/ --token-file ~/.trunkline-token\n  \
    trunkline copy -r --delete --exclude '*.tmp' run7/ dtn.example.org:/store/run7\n  \
    trunkline copy -r --gentle run7 dtn.example.org:/store\n  \
    trunkline copy -r --follow=1h run7/ dtn.example.org:/store/run7\n  \
    trunkline copy -r a.example.org:/data/run7 b.example.org:/store\n  \
    trunkline copy -r --via 10.0.1.2,10.0.2.2 run7 dtn.example.org:/store\n\n\
A local file with a colon in its name is written ./a:b. Exit status: 0 all is copied, 1 something \
is not, 2 the request was wrong, 75 it is not finished: run the same command again."
)]
pub(crate) struct Copy {
    /// What to copy, and as the last where to: `PATH`, `[USER@]HOST:PATH` or
    /// `trunkline://HOST[:PORT]/PATH`
    #[arg(value_name = "PLACE", required = true, num_args = 1..)]
    pub places: Vec<PathBuf>,

    /// Copy folders with what is in them
    #[arg(short, long, visible_short_alias = 'R')]
    pub recursive: bool,

    /// The same as `-r`, for those used to `rsync -a`: times, permissions and links are kept anyway
    #[arg(short, long)]
    pub archive: bool,

    /// Accepted for those used to `scp -p`: times and permissions are kept anyway
    #[arg(short, long, hide_short_help = true)]
    pub preserve: bool,

    /// Leave these as the receiver makes them
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub no_preserve: Vec<Attribute>,

    /// Copy what symbolic links point to, instead of the links
    #[arg(short = 'L', long, visible_alias = "dereference")]
    pub copy_links: bool,

    /// Names of one file (hard links) become names of one file, and its content is sent once
    #[arg(short = 'H', long)]
    pub hard_links: bool,

    /// Keep extended attributes of users, `user.*`
    #[arg(short = 'X', long)]
    pub xattrs: bool,

    /// Keep POSIX ACLs, by the numbers of users and groups
    #[arg(short = 'A', long)]
    pub acls: bool,

    /// Keep times of last access, as they were before the copy read the files
    #[arg(short = 'U', long)]
    pub atimes: bool,

    /// Keep owners and groups, by `names` where the receiver knows them, or by `numbers`; the
    /// receiver has to be root
    #[arg(
        long,
        value_enum,
        value_name = "BY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "names"
    )]
    pub owner: Option<OwnerBy>,

    /// Only say what would be copied
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Name each file as it is done, and each change of the number of streams with its reason
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,

    /// Send also files that are there with the same size and time
    #[arg(long, group = "existing_files")]
    pub overwrite: bool,

    /// Leave files that are there as they are, whatever is in them
    #[arg(long, group = "existing_files")]
    pub ignore_existing: bool,

    /// Compare what is in files, instead of their sizes and times: both ends read them, and what is
    /// equal is not sent
    #[arg(short = 'c', long, group = "existing_files")]
    pub checksum: bool,

    #[command(flatten)]
    pub rules: Rules,

    /// Copy only what this file lists, a name a line, below the one source; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<PathBuf>,

    /// Names in the list end with a zero byte instead of a line
    #[arg(short = '0', long, requires = "files_from")]
    pub from0: bool,

    /// Once everything is copied, remove from the folders of the destination what the sources do
    /// not have
    #[arg(long, conflicts_with = "files_from")]
    pub delete: bool,

    /// Go on with files that are new or changed, once two looks 5 s apart see the same, until
    /// Ctrl-C, or until nothing has changed for so long. What is removed here stays there
    #[arg(
        long,
        value_name = "IDLE",
        num_args = 0..=1,
        require_equals = true,
        value_parser = idle
    )]
    pub follow: Option<Option<Span>>,

    /// Read each file again from the receiver's disk before it has its name
    #[arg(long)]
    pub verify: bool,

    /// Write a list of checksums of all files once all is copied, as `sha256sum` does:
    /// `sha256=FILE`, `md5=FILE`, `crc32c=FILE`, `adler32=FILE` and others; may be repeated
    #[arg(long, value_name = "CHECKSUM=FILE", value_parser = checksum_list)]
    pub digest: Vec<ChecksumList>,

    /// Send only what is new of files that the destination has in an older version. Both ends read
    /// the file; what moved within it is found, too
    #[arg(long)]
    pub delta: bool,

    /// Compress while that is faster
    #[arg(short = 'z', long)]
    pub compress: bool,

    /// Send file data without encryption, once both ends have shown who they are
    #[arg(long)]
    pub plain: bool,

    /// The most to send over all streams together: `100M`, or by this host's clock
    /// `08:00=50M,18:00=none`; `trunkline limit` changes it while the copy runs
    #[arg(long, value_name = "RATE", value_parser = rate_limit)]
    pub max_rate: Option<RateLimit>,

    /// Give way to all others: add no more than this to the round trip, and take what they leave
    #[arg(long, value_name = "ADDED_RTT", num_args = 0..=1, require_equals = true, default_missing_value = GENTLE, value_parser = added_rtt)]
    pub gentle: Option<Span>,

    /// What the number of streams is chosen for
    #[arg(long, value_enum, default_value = "knee", conflicts_with_all = ["streams", "gentle"])]
    pub objective: Objective,

    /// This many streams, 1 to 128, and no search
    #[arg(short = 'P', long, value_name = "COUNT", value_parser = streams)]
    pub streams: Option<StreamCount>,

    /// Socket buffers: `auto` leaves them to the kernel, a size like `4M` fixes them
    #[arg(short, long, value_name = "SIZE", default_value = "auto", value_parser = buffers)]
    pub window: Window,

    /// Congestion control of the sender by its kernel name: `cubic`, `reno`, `bbr`
    #[arg(short = 'C', long, value_name = "NAME")]
    pub congestion: Option<String>,

    /// What carries the data to and from a trunkline:// server: `udp` fills paths that lose packets
    /// without `bbr` in the sender's kernel
    #[arg(long, value_enum, default_value = "tcp")]
    pub transport: Transport,

    #[command(flatten)]
    pub leaving: Leaving,

    /// Deal the streams over these addresses of the far end: `10.0.1.2,10.0.2.2`, or pairs with an
    /// address of this host, `10.0.1.1=10.0.1.2`, or `all`: those that the far end tells. One that
    /// fails is left out and tried again
    #[arg(long, value_name = "[FROM=]ADDRESS", value_delimiter = ',')]
    pub via: Vec<PairChoice>,

    /// Connections of multipath TCP: the kernel sends each stream over all links that
    /// `ip mptcp endpoint` names
    #[arg(long)]
    pub mptcp: bool,

    /// Which end opens the data connections, where ssh starts the far end
    #[arg(long, value_enum, default_value = "to-far")]
    pub connect: Connect,

    /// Ports to listen on, where ssh starts the far end: `50000-50100`; any free one without this
    #[arg(long, value_name = "FIRST-LAST", value_parser = ports)]
    pub port_range: Option<RangeInclusive<u16>>,

    /// The ssh client with its options, as for rsync: `-e 'ssh -p 2222 -J gate'`
    #[arg(short = 'e', long, visible_alias = "rsh", value_name = "COMMAND", default_value = "ssh", value_parser = words)]
    pub ssh: Words,

    /// The program at the far end [default: trunkline; where it is absent or of another version,
    /// this one is sent there and kept]
    #[arg(long, value_name = "PATH")]
    pub far_program: Option<String>,

    /// Send no program to a far end that has none, or another version
    #[arg(long)]
    pub no_install: bool,

    /// Start no program at the far end: its SFTP server takes the place, and is slower. A
    /// copy does so by itself where it can start no program there
    #[arg(long, conflicts_with_all = ["far_program", "no_install"])]
    pub sftp: bool,

    /// File with the token of a trunkline:// server; $TRUNKLINE_TOKEN has it otherwise
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// File with the token of the source, where both ends are on other hosts and both servers;
    /// `--token-file` opens both without this
    #[arg(long, value_name = "FILE")]
    pub source_token_file: Option<PathBuf>,

    /// How long to go on trying when the far end is away; with this, a server that does not answer
    /// the first connection, too [default: 10min once it was there]
    #[arg(long, value_name = "TIME", value_parser = patience)]
    pub patience: Option<Span>,

    #[command(flatten)]
    pub output: CopyOutput,
    #[command(flatten)]
    pub keep: Keep,
}

impl Copy {
    /// What both ends are told, of the names that `selection` has.
    pub fn options(&self, selection: Selection) -> CopyOptions {
        CopyOptions {
            recursive: self.recursive || self.archive,
            attributes: Attributes {
                permissions: !self.no_preserve.contains(&Attribute::Permissions),
                times: !self.no_preserve.contains(&Attribute::Times),
                links: !self.copy_links,
                kept: Kept {
                    hard_links: self.hard_links,
                    user_attributes: self.xattrs,
                    acls: self.acls,
                    owners: self.owner.map(OwnersBy::from),
                    access_times: self.atimes,
                },
            },
            filter: self.filter(),
            selection,
            delete: self.delete,
            plain: self.plain,
            verify: self.verify,
            dry_run: self.dry_run,
            compress: self.compress,
            objective: self.objective(),
            streams: self.streams,
            remembered: None,
            window: self.window,
            congestion: self.congestion.clone().map(CongestionChoice::required),
            rate_max: self.max_rate.clone(),
            gentle: self.gentle,
            follow: self.follow.map(|until_idle| Follow {
                until_idle,
                ..Follow::UNTIL_STOPPED
            }),
            delta: self.delta,
            part: None,
        }
    }

    fn filter(&self) -> Filter {
        match (self.overwrite, self.ignore_existing, self.checksum) {
            (true, ..) => Filter::All,
            (_, true, _) => Filter::Missing,
            (.., true) => Filter::Content,
            _ => Filter::Changed,
        }
    }

    fn objective(&self) -> copy::Objective {
        match (self.gentle, self.objective) {
            (Some(added_rtt_max), _) => copy::Objective::Gentle {
                added_rtt_max,
                loss_max: copy::Objective::LOSS_MAX,
            },
            (None, Objective::Max) => copy::Objective::Max,
            (None, Objective::Knee) => copy::KNEE,
            (None, Objective::Power) => copy::Objective::Power,
        }
    }
}

/// Where the result goes.
#[derive(Debug, Args)]
pub(crate) struct CopyOutput {
    /// Print each event as a line of JSON on standard output, the document as the last; text goes
    /// to standard error
    #[arg(long)]
    pub json: bool,

    /// Save the JSON document
    #[arg(long, value_name = "FILE.json")]
    pub save: Option<PathBuf>,

    /// Write a page that opens in any browser, without a network
    #[arg(long, visible_alias = "html", value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

impl CopyOutput {
    /// The files of it.
    pub(crate) fn files(&self) -> Output {
        Output {
            json: self.json,
            brief: false,
            save: self.save.clone(),
            report: self.report.clone(),
        }
    }
}

/// What a copied file keeps of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Attribute {
    /// When it was last modified
    Times,
    /// Who may read, write and run it
    Permissions,
}

/// How owners are told from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OwnerBy {
    /// By name, and by number where the receiver has no such name
    Names,
    /// By number
    Numbers,
}

impl From<OwnerBy> for OwnersBy {
    fn from(by: OwnerBy) -> Self {
        match by {
            OwnerBy::Names => OwnersBy::Names,
            OwnerBy::Numbers => OwnersBy::Numbers,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Objective {
    /// The highest rate
    Max,
    /// The fewest streams that reach 97 % of it
    Knee,
    /// The highest rate per round-trip time
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// TCP, with the congestion control of the sender's kernel
    Tcp,
    /// QUIC over UDP, with a controller of its own
    Udp,
}

impl From<Transport> for trunkline::measure::Transport {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Tcp => Self::Tcp,
            Transport::Udp => Self::Udp,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Connect {
    /// This end opens them; the far host lets them in
    ToFar,
    /// The far end opens them; this host lets them in
    FromFar,
}

/// What `--gentle` alone means. The scavenger aims at a quarter of it and what hosts add, and more
/// than 4 ms would end the slow start of flows that begin beside it (RFC 9406 section 4.3).
const GENTLE: &str = "10ms";

#[cfg(test)]
mod tests;
