//! rclone over sftp: connections, requests without an answer, size of a request.
//!
//! Read for this: `rclone help flags` and the sftp page of 1.60. It sends a file over one
//! connection, so to send with several streams is to send several files at once (`--transfers`).
//! It fetches one file over several (`--multi-thread-streams`). There is no option for the window.

use observe::{Direction, MoverAxes, MoverCommand, Setting};
use units::Bytes;

use crate::client::{Client, refuse_tcp, refuse_unknown, streams_only};
use crate::job::{Invocation, Job, Removal, Unable, block};
use crate::printed::{Printed, amount, lines};
use crate::{Far, Version};

pub(crate) struct Rclone;

const PROGRAM: &str = "rclone";
/// More connections than this are more than sshd takes that are not logged in yet.
const STREAMS_MAX: u64 = 32;
/// Files from this size on are fetched over several connections.
const CUTOFF: &str = "16M";

impl Rclone {
    fn with_setting(options: &[String], setting: &Setting) -> Invocation {
        let invocation = Invocation::of(PROGRAM);
        let invocation = match setting.direction {
            Direction::Reverse => invocation
                .word("copyto")
                .words(options)
                .flag("--transfers", 1)
                .flag("--multi-thread-streams", setting.streams)
                .flag("--multi-thread-cutoff", CUTOFF),
            _ => invocation
                .word("copy")
                .words(options)
                .flag("--transfers", setting.streams),
        };
        invocation
            .flag_of("--sftp-concurrency", setting.moving.pipelining)
            .flag_of(
                "--sftp-chunk-size",
                block(setting).map(|bytes| format!("{bytes}B")),
            )
    }
}

impl Client for Rclone {
    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn package(&self) -> &'static str {
        "rclone"
    }

    fn ask_version(&self) -> Invocation {
        Invocation::of(PROGRAM).word("version")
    }

    fn version(&self, answer: &str) -> Option<Version> {
        Version::behind("rclone v", answer)
    }

    /// `--sftp-concurrency` and `--sftp-chunk-size` came with 1.58 and 1.60.
    fn oldest(&self) -> Version {
        Version::new(&[1, 60])
    }

    fn axes(&self) -> MoverAxes {
        MoverAxes {
            pipelining: vec![256],
            block: vec![Bytes::from_kib(255)],
            ..streams_only(STREAMS_MAX)
        }
    }

    fn invocation(&self, job: &Job<'_>) -> Result<Invocation, Unable> {
        let setting = job.setting;
        refuse_unknown(self, setting)?;
        refuse_tcp(self, setting)?;
        let invocation = Rclone::with_setting(job.options, setting)
            .flag("--stats", "1s")
            .word("--stats-one-line")
            .word("-v")
            .flag("--retries", 1)
            .flag("--low-level-retries", 1);
        Ok(match setting.direction {
            // The whole size would be reserved on this end's disk.
            Direction::Reverse => invocation
                .word("--local-no-preallocate")
                .word(&job.far.path)
                .word(&job.local.sink),
            _ => invocation
                .word("--no-check-dest")
                .word(&job.local.folder)
                .word(job.far.test_path()),
        })
    }

    fn removal(
        &self,
        far: &Far,
        options: &[String],
        direction: Direction,
    ) -> Result<Removal, Unable> {
        if direction == Direction::Reverse {
            return Ok(Removal::Nothing);
        }
        let invocation = Invocation::of(PROGRAM).word("purge").words(options);
        Ok(Removal::Run(invocation.word(far.test_path())))
    }

    fn command(&self, far: &Far, options: &[String], setting: &Setting) -> MoverCommand {
        let invocation = Rclone::with_setting(options, setting);
        let (invocation, note) = match setting.direction {
            Direction::Reverse => (invocation.word(&far.path).word("DESTINATION"), None),
            _ => (
                invocation.word("SOURCE").word(&far.path),
                (setting.streams.get() > 1).then(|| {
                    "it sends each file over one connection: --transfers helps where there are \
                     several files"
                        .to_owned()
                }),
            ),
        };
        invocation.command(note)
    }

    /// `2026/11/25 02:15:00 INFO  : 11.234 MiB / 4 GiB, 0%, 5.5 MiB/s, ETA 12m`, all so far.
    fn printed(&self, text: &str) -> Option<Printed> {
        lines(text).rev().find_map(|line| {
            let (before, _) = line
                .split_once(" / ")
                .filter(|(_, rest)| rest.contains("ETA"))?;
            let mut words = before.split_whitespace().rev();
            let (unit, number) = (words.next()?, words.next()?);
            let bytes = amount(number, unit, false)?;
            Some(Printed { bytes })
        })
    }
}
