//! xrdcp: streams, chunks at once, size of a chunk.
//!
//! Read for this: `xrdcp --help` and xrdcp(1) of 5.5.3. `-S` takes 1 to 15 and counts data
//! connections beside the first; without it there is that one. Chunks are set by variables of the
//! environment only. There is no option for the window.

use observe::{Direction, MoverAxes, MoverCommand, Setting, StreamCount};
use units::Bytes;

use crate::client::{Client, refuse_tcp, refuse_unknown, streams_only};
use crate::job::{Invocation, Job, Removal, Unable, block};
use crate::printed::{Printed, amount, lines};
use crate::{Far, Version};

pub(crate) struct Xrootd;

const PROGRAM: &str = "xrdcp";
/// The most that `-S` takes.
const STREAMS_MAX: u64 = 15;

impl Xrootd {
    fn with_setting(options: &[String], setting: &Setting) -> Invocation {
        let several = Some(setting.streams).filter(|streams| *streams > StreamCount::ONE);
        Invocation::of(PROGRAM)
            .variable("XRD_CPPARALLELCHUNKS", setting.moving.pipelining)
            .variable("XRD_CPCHUNKSIZE", block(setting))
            .words(options)
            .flag_of("-S", several)
    }
}

/// Of a path `//store/file` the server sees `/store/file`.
fn url(far: &Far, path: &str) -> String {
    format!("{}://{}/{}", far.scheme, far.authority(), absolute(path))
}

fn absolute(path: &str) -> String {
    format!("/{}", path.trim_start_matches('/'))
}

impl Client for Xrootd {
    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn package(&self) -> &'static str {
        "xrootd-client"
    }

    fn ask_version(&self) -> Invocation {
        Invocation::of(PROGRAM).word("--version")
    }

    fn version(&self, answer: &str) -> Option<Version> {
        Version::behind("v", answer)
    }

    fn oldest(&self) -> Version {
        Version::new(&[5])
    }

    fn axes(&self) -> MoverAxes {
        MoverAxes {
            pipelining: vec![8],
            block: vec![Bytes::from_mib(2)],
            ..streams_only(STREAMS_MAX)
        }
    }

    fn invocation(&self, job: &Job<'_>) -> Result<Invocation, Unable> {
        let setting = job.setting;
        refuse_unknown(self, setting)?;
        refuse_tcp(self, setting)?;
        // A server that has just lost a client holds its file open for a moment.
        let invocation = Xrootd::with_setting(job.options, setting);
        let invocation = invocation.word("-f").word("--coerce");
        Ok(match setting.direction {
            Direction::Reverse => invocation
                .word(url(job.far, &job.far.path))
                .word("/dev/null"),
            _ => invocation
                .word(&job.local.file)
                .word(url(job.far, &job.far.test_path())),
        })
    }

    fn removal(
        &self,
        far: &Far,
        _options: &[String],
        direction: Direction,
    ) -> Result<Removal, Unable> {
        if direction == Direction::Reverse {
            return Ok(Removal::Nothing);
        }
        let server = format!("{}://{}", far.scheme, far.authority());
        let invocation = Invocation::of("xrdfs").word(server).word("rm");
        Ok(Removal::Run(invocation.word(absolute(&far.test_path()))))
    }

    fn command(&self, far: &Far, options: &[String], setting: &Setting) -> MoverCommand {
        let invocation = Xrootd::with_setting(options, setting);
        let remote = url(far, &far.path);
        let invocation = match setting.direction {
            Direction::Reverse => invocation.word(remote).word("DESTINATION"),
            _ => invocation.word("SOURCE").word(remote),
        };
        invocation.command(None)
    }

    /// `[1.2GB/10GB][ 12%][=====>      ][118.2MB/s]`, all so far.
    fn printed(&self, text: &str) -> Option<Printed> {
        lines(text).rev().find_map(|line| {
            let (moved, rest) = line.trim().strip_prefix('[')?.split_once('/')?;
            let at = moved.find(|c: char| c.is_ascii_alphabetic())?;
            let bytes = amount(moved.get(..at)?, moved.get(at..)?, true)?;
            rest.contains("%]").then_some(Printed { bytes })
        })
    }
}
