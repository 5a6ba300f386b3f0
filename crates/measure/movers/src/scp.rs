//! scp of OpenSSH: requests without an answer, size of a request. One stream, no window.
//!
//! Read for this: scp(1) of 9.2, whose `-X` is for the sftp protocol that it speaks since 9.0. It
//! prints nothing where its output is no terminal.

use observe::{Direction, MoverAxes, MoverCommand, Setting};
use units::Bytes;

use crate::client::{Client, refuse_tcp, refuse_unknown, streams_only};
use crate::job::{Invocation, Job, Removal, Unable, block};
use crate::printed::Printed;
use crate::quoting::quoted;
use crate::{Far, Version};

pub(crate) struct Scp;

const PROGRAM: &str = "scp";

impl Scp {
    fn with_setting(options: &[String], setting: &Setting) -> Invocation {
        let requests = setting
            .moving
            .pipelining
            .map(|requests| format!("nrequests={requests}"));
        let buffer = block(setting).map(|bytes| format!("buffer={bytes}"));
        Invocation::of(PROGRAM)
            .words(options)
            .flag_of("-X", requests)
            .flag_of("-X", buffer)
    }

    fn remote(far: &Far, path: &str) -> String {
        match &far.user {
            Some(user) => format!("{user}@{}:{path}", far.host_in_url()),
            None => format!("{}:{path}", far.host_in_url()),
        }
    }
}

impl Client for Scp {
    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn package(&self) -> &'static str {
        "openssh-client"
    }

    /// scp itself does not tell.
    fn ask_version(&self) -> Invocation {
        Invocation::of("ssh").word("-V")
    }

    fn version(&self, answer: &str) -> Option<Version> {
        Version::behind("OpenSSH_", answer)
    }

    fn oldest(&self) -> Version {
        Version::new(&[9, 2])
    }

    fn axes(&self) -> MoverAxes {
        MoverAxes {
            pipelining: vec![256],
            block: vec![Bytes::from_kib(255)],
            ..streams_only(1)
        }
    }

    fn invocation(&self, job: &Job<'_>) -> Result<Invocation, Unable> {
        let setting = job.setting;
        refuse_unknown(self, setting)?;
        refuse_tcp(self, setting)?;
        let invocation = Scp::with_setting(job.options, setting)
            .word("-B")
            .flag_of("-P", job.far.port)
            .word("--");
        Ok(match setting.direction {
            Direction::Reverse => invocation
                .word(Scp::remote(job.far, &job.far.path))
                .word("/dev/null"),
            _ => invocation
                .word(&job.local.file)
                .word(Scp::remote(job.far, &job.far.test_path())),
        })
    }

    /// scp's options for the connection are ssh's, but for the port.
    fn removal(
        &self,
        far: &Far,
        options: &[String],
        direction: Direction,
    ) -> Result<Removal, Unable> {
        if direction == Direction::Reverse || far.keeps_nothing() {
            return Ok(Removal::Nothing);
        }
        let host = match &far.user {
            Some(user) => format!("{user}@{}", far.host),
            None => far.host.clone(),
        };
        let remove = format!("rm -f -- {}", quoted(&far.test_path()));
        let invocation = Invocation::of("ssh")
            .words(options)
            .flag("-o", "BatchMode=yes")
            .flag_of("-p", far.port);
        Ok(Removal::Run(invocation.word("--").word(host).word(remove)))
    }

    fn command(&self, far: &Far, options: &[String], setting: &Setting) -> MoverCommand {
        let invocation = Scp::with_setting(options, setting).flag_of("-P", far.port);
        let remote = Scp::remote(far, &far.path);
        let invocation = match setting.direction {
            Direction::Reverse => invocation.word(remote).word("DESTINATION"),
            _ => invocation.word("SOURCE").word(remote),
        };
        invocation.command(Some(
            "it has one stream and leaves the window to the kernel".to_owned(),
        ))
    }

    fn printed(&self, _text: &str) -> Option<Printed> {
        None
    }
}
