//! `trunkline pipe`: one stream of bytes, as users of ssh, mbuffer and nc expect it.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;
use trunkline::ask::bytes;
use trunkline::ask::copy::{Words, patience, ports, rate_max, streams, words};
use trunkline::measure::StreamCount;
use trunkline::pipe::PipeOptions;
use trunkline::units::{Bytes, Rate, Span};

use super::{Leaving, Transport};

/// Pipe standard input to a program or a file of another host, or one of those to standard output
///
/// The bytes go over as many streams as the path needs. A file has its name, and a program reads
/// the end of its input, only once all has arrived and both ends have the same digest of it;
/// otherwise the program gets a signal. What the program prints is printed here, and its exit code
/// is this command's. No shell reads its words.
#[derive(Debug, Args)]
#[command(
    override_usage = "trunkline pipe [OPTIONS] HOST -- PROGRAM [WORD]...\n       \
        trunkline pipe [OPTIONS] - HOST:FILE\n       trunkline pipe [OPTIONS] HOST:FILE -\n       \
        trunkline pipe [OPTIONS] -n HOST -- PROGRAM [WORD]...",
    after_help = "Examples:\n  \
    zfs send tank/a@s | trunkline pipe ana@dtn.example.org -- zfs receive tank/b\n  \
    tar c run7 | trunkline pipe - dtn.example.org:/store/run7.tar\n  \
    trunkline pipe dtn.example.org:/store/run7.tar - | tar x\n  \
    trunkline pipe -n dtn.example.org -- zfs send tank/a@s | zfs receive tank/b\n\n\
A shell does not tell this command whether what writes to it failed: `set -o pipefail` has the \
shell tell you. Exit status: that of the program; otherwise 0 all has arrived, 1 it has not, 2 \
the request was wrong."
)]
pub(crate) struct Pipe {
    /// `HOST` for a program there, or `-` and `HOST:FILE` in the order in which the bytes go;
    /// `trunkline://HOST[:PORT]/FILE` for a server
    #[arg(value_name = "PLACE", required = true, num_args = 1..=2)]
    pub places: Vec<PathBuf>,

    /// The program there, with its words
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,

    /// Read nothing here: what the program prints goes over the streams to standard output
    #[arg(short = 'n', long, requires = "program")]
    pub no_input: bool,

    /// Say how it was connected, each change of the number of streams, and what went through
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,

    /// What each end holds at most of what is on the way, 4M to 1G
    #[arg(
        short = 'm',
        long,
        value_name = "SIZE",
        default_value_t = PipeOptions::default().buffer,
        value_parser = buffer
    )]
    pub buffer: Bytes,

    /// The most to send over all streams together: `100M`
    #[arg(long, value_name = "RATE", value_parser = rate_max)]
    pub max_rate: Option<Rate>,

    /// This many streams, 1 to 128, and no search
    #[arg(short = 'P', long, value_name = "COUNT", value_parser = streams)]
    pub streams: Option<StreamCount>,

    /// What carries the data to and from a trunkline:// server
    #[arg(long, value_enum, default_value = "tcp")]
    pub transport: Transport,

    #[command(flatten)]
    pub leaving: Leaving,

    /// Ports that the far end may listen on: `50000-50100`; any free one without this
    #[arg(long, value_name = "FIRST-LAST", value_parser = ports)]
    pub port_range: Option<RangeInclusive<u16>>,

    /// The ssh client with its options: `-e 'ssh -p 2222 -J gate'`
    #[arg(
        short = 'e',
        long,
        visible_alias = "rsh",
        value_name = "COMMAND",
        default_value = "ssh",
        value_parser = words
    )]
    pub ssh: Words,

    /// The program at the far end [default: trunkline; where it is absent or of another version,
    /// this one is sent there and kept]
    #[arg(long, value_name = "PATH")]
    pub far_program: Option<String>,

    /// Send no program to a far end that has none, or another version
    #[arg(long)]
    pub no_install: bool,

    /// File with the token of a trunkline:// server; $TRUNKLINE_TOKEN has it otherwise
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// How long to go on trying when a far end that was there is away; it gives up after 2min
    /// itself [default: 2min]
    #[arg(long, value_name = "TIME", value_parser = patience)]
    pub patience: Option<Span>,
}

impl Pipe {
    /// What both ends are told.
    pub fn options(&self) -> PipeOptions {
        let usual = PipeOptions::default();
        PipeOptions {
            buffer: self.buffer,
            streams: self.streams,
            rate_max: self.max_rate,
            patience: self.patience.unwrap_or(usual.patience),
        }
    }
}

fn buffer(text: &str) -> Result<Bytes, String> {
    let size = bytes(text)?;
    let bounds = PipeOptions::BUFFER;
    match bounds.contains(&size) {
        true => Ok(size),
        false => Err(format!(
            "{size} is not between {} and {}",
            bounds.start(),
            bounds.end()
        )),
    }
}
