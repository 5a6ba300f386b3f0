//! globus-url-copy: streams, window, block.
//!
//! Read for this: `globus-url-copy -help` of 10.12. Data comes from `/dev/zero`, cut by `-len`, and
//! goes to `/dev/null`, so that no disk of this end takes part. The client cannot remove a file:
//! over plain FTP we ask the server for that ourselves, over ssh `rm` does it, and where a
//! certificate is needed, a sample may only be sent to `/dev/null` of the far end.

use observe::{Direction, MoverAxes, MoverCommand, Setting};
use units::Bytes;

use crate::client::{Client, refuse_tcp, refuse_unknown, streams_only};
use crate::job::{Invocation, Job, Removal, Unable, block, fixed, unable};
use crate::printed::{Printed, lines};
use crate::quoting::{in_url, quoted};
use crate::{Far, Version};

pub(crate) struct GridFtp;

const PROGRAM: &str = "globus-url-copy";
const STREAMS_MAX: u64 = 128;
/// The port of GridFTP servers.
const PORT: u16 = 2811;

impl GridFtp {
    fn with_setting(options: &[String], setting: &Setting) -> Invocation {
        Invocation::of(PROGRAM)
            .words(options)
            .word("-fast")
            .flag("-p", setting.streams)
            .flag_of("-tcp-bs", fixed(setting))
            .flag_of("-bs", block(setting))
    }
}

/// `gridftp://` is the protocol without a word on the login: plain FTP, as anonymous servers have
/// it. With certificates or over ssh, users write `gsiftp://` or `sshftp://` as for the client.
fn scheme(far: &Far) -> &str {
    match far.scheme.as_str() {
        "gridftp" => "ftp",
        other => other,
    }
}

fn url(far: &Far, path: &str) -> String {
    let port = far.port.or((scheme(far) == "ftp").then_some(PORT));
    let far = Far {
        port,
        ..far.clone()
    };
    format!("{}://{}{}", scheme(&far), far.authority(), in_url(path))
}

impl Client for GridFtp {
    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn package(&self) -> &'static str {
        "globus-gass-copy-progs"
    }

    fn ask_version(&self) -> Invocation {
        Invocation::of(PROGRAM).word("-version")
    }

    fn version(&self, answer: &str) -> Option<Version> {
        Version::behind("globus-url-copy:", answer)
    }

    /// Debian 9's; older ones were not tried.
    fn oldest(&self) -> Version {
        Version::new(&[9])
    }

    fn axes(&self) -> MoverAxes {
        MoverAxes {
            window: true,
            block: vec![Bytes::from_mib(1)],
            ..streams_only(STREAMS_MAX)
        }
    }

    fn invocation(&self, job: &Job<'_>) -> Result<Invocation, Unable> {
        let setting = job.setting;
        refuse_unknown(self, setting)?;
        refuse_tcp(self, setting)?;
        let invocation = GridFtp::with_setting(job.options, setting).word("-vb");
        Ok(match setting.direction {
            Direction::Reverse => {
                let source = url(job.far, &job.far.path);
                invocation.word(source).word("file:///dev/null")
            }
            _ => invocation
                .flag("-len", job.local.size.get())
                .word("file:///dev/zero")
                .word(url(job.far, &job.far.test_path())),
        })
    }

    fn removal(
        &self,
        far: &Far,
        _options: &[String],
        direction: Direction,
    ) -> Result<Removal, Unable> {
        if direction == Direction::Reverse || far.keeps_nothing() {
            return Ok(Removal::Nothing);
        }
        match scheme(far) {
            "ftp" => Ok(ftp_delete(far)),
            "sshftp" => Ok(ssh_remove(far)),
            other => Err(unable(
                format!("globus-url-copy cannot remove a test file over {other}://"),
                format!(
                    "send to where nothing is kept, `{other}://{}/dev/null`, or add `-R` to \
                     fetch a large file that is there",
                    far.authority()
                ),
            )),
        }
    }

    fn command(&self, far: &Far, options: &[String], setting: &Setting) -> MoverCommand {
        let remote = url(far, &far.path);
        let invocation = GridFtp::with_setting(options, setting);
        let invocation = match setting.direction {
            Direction::Reverse => invocation.word(remote).word("file:///DESTINATION"),
            _ => invocation.word("file:///SOURCE").word(remote),
        };
        invocation.command(None)
    }

    /// `    653000704 bytes       124.55 MB/sec avg       124.55 MB/sec inst`, all so far.
    fn printed(&self, text: &str) -> Option<Printed> {
        lines(text).rev().find_map(|line| {
            let mut words = line.split_whitespace();
            let bytes = words.next()?.parse().ok()?;
            (words.next()? == "bytes").then_some(Printed {
                bytes: Bytes::new(bytes),
            })
        })
    }
}

fn ftp_delete(far: &Far) -> Removal {
    let user = far.user.as_deref().unwrap_or("anonymous");
    let (user, password) = user.split_once(':').unwrap_or((user, "trunkline@"));
    Removal::FtpDelete {
        host: far.host.clone(),
        port: far.port.unwrap_or(PORT),
        user: user.to_owned(),
        password: password.to_owned(),
        path: far.test_path(),
    }
}

/// ssh hands its words to the far user's shell, so the path is quoted for that one.
fn ssh_remove(far: &Far) -> Removal {
    let host = match &far.user {
        Some(user) => format!("{user}@{}", far.host),
        None => far.host.clone(),
    };
    let remove = format!("rm -f -- {}", quoted(&far.test_path()));
    let invocation = Invocation::of("ssh")
        .flag("-o", "BatchMode=yes")
        .flag_of("-p", far.port);
    Removal::Run(invocation.word("--").word(host).word(remove))
}
