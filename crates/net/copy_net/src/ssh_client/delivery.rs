//! Has a far end take this host's program, where it has none that it could start.
//!
//! The shell there speaks first, in lines that begin with `trunkline-far`, and each is answered
//! before it says the next:
//!
//! | it says | it gets |
//! |---|---|
//! | `lacks Linux x86_64` | a script, with the hash of the program for such machines |
//! | `send gzip FILE`, `send raw FILE` | the length of what follows, and the program |
//! | `ready` | the request: the program runs now |
//! | `failed WHY` | nothing |
//!
//! What the script starts is the file that it has hashed, held open in between ([`RECEIVE`]).

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ChildStdin;
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use units::printable;

use super::{Ssh, SshError};

const FOLDERS: &str = include_str!("folders.sh");
const RECEIVE: &str = include_str!("receive.sh");
const CLEAN: &str = include_str!("clean.sh");
/// What the lines of the shell begin with.
const PREFIX: &str = "trunkline-far ";
/// The programs of a release for other machines, below the folder that has `bin/trunkline`.
const BESIDE: &str = "lib/trunkline/far";
const WHY_CHARACTERS: usize = 600;
const FILE_CHARACTERS: usize = 200;

/// A program that is being sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentProgram {
    /// Where to, as ssh takes it.
    pub destination: String,
    /// Its name there.
    pub file: String,
    /// Its size.
    pub bytes: u64,
}

/// The command that starts the program there, or else says so and takes a script.
///
/// Shells of all kinds read it: it is one line without any of `'`, `\` and `!`. A program that did
/// not take the request ends with 2; 126 and 127 are the shell's, for one that it cannot start.
pub(super) fn command(far: &str) -> String {
    format!(
        "sh -c 'if command -v trunkline >/dev/null 2>&1; \
        then trunkline {far}; status=$?; else status=127; fi; \
        case $status in 2|126|127) ;; *) exit $status;; esac; \
        echo {PREFIX}lacks $(uname -sm); \
        while read -r line; do case $line in \
        script*) eval \"$(head -c ${{line#script }})\";; esac; done'"
    )
}

/// The script that removes what was sent.
pub(super) fn clean() -> String {
    format!("{FOLDERS}{CLEAN}")
}

/// What the shell said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said<'a> {
    Lacks { system: &'a str, machine: &'a str },
    Send { is_packed: bool, file: &'a str },
    Ready,
    Failed(&'a str),
    Removed(&'a str),
    Done,
}

impl<'a> Said<'a> {
    /// `None` for what is no line of the shell's.
    pub fn parse(line: &'a str) -> Option<Self> {
        let (word, rest) = line.strip_prefix(PREFIX).map(halves)?;
        Some(match (word, halves(rest)) {
            ("lacks", (system, machine)) => Said::Lacks { system, machine },
            ("send", ("gzip", file)) => Said::Send {
                is_packed: true,
                file,
            },
            ("send", ("raw", file)) => Said::Send {
                is_packed: false,
                file,
            },
            ("ready", _) => Said::Ready,
            ("failed", _) => Said::Failed(rest),
            ("removed", _) => Said::Removed(rest),
            ("done", _) => Said::Done,
            _ => return None,
        })
    }
}

fn halves(text: &str) -> (&str, &str) {
    text.split_once(' ').unwrap_or((text, ""))
}

/// How far it is.
#[derive(Default)]
enum Step {
    /// The program there may start.
    #[default]
    Begun,
    /// The shell has the script.
    Scripted(Program),
    /// It has been sent the program.
    Sent,
    /// The program runs there.
    Started,
}

/// The near end's part.
pub(super) struct Delivery<'a> {
    ssh: &'a Ssh,
    /// The program here.
    own: &'a Path,
    step: Step,
}

impl<'a> Delivery<'a> {
    pub fn new(ssh: &'a Ssh, own: &'a Path) -> Self {
        let step = Step::default();
        Delivery { ssh, own, step }
    }

    /// Answers a line of the shell's.
    ///
    /// * `request`: the line that the program waits for.
    /// * `on_sent`: is told when the program is sent.
    pub fn answer(
        &mut self,
        said: Said<'_>,
        pipe: &mut ChildStdin,
        request: &str,
        on_sent: &mut dyn FnMut(SentProgram),
    ) -> Result<(), SshError> {
        self.step = match (std::mem::take(&mut self.step), said) {
            (Step::Begun, Said::Lacks { system, machine }) => {
                let program = self.program(system, machine)?;
                say(pipe, &program.script(&self.ssh.far_command()))?;
                Step::Scripted(program)
            }
            (Step::Scripted(program), Said::Send { is_packed, file }) => {
                on_sent(SentProgram {
                    destination: self.ssh.destination.clone(),
                    file: printable(file, FILE_CHARACTERS),
                    bytes: program.content.len() as u64,
                });
                send(pipe, program, is_packed)?;
                Step::Sent
            }
            (Step::Scripted(_) | Step::Sent, Said::Ready) => {
                say(pipe, request)?;
                Step::Started
            }
            (_, Said::Failed(why)) => return Err(self.failed(printable(why, WHY_CHARACTERS))),
            (_, other) => return Err(self.failed(format!("it said `{other:?}` out of turn"))),
        };
        Ok(())
    }

    fn failed(&self, why: String) -> SshError {
        SshError::NotSent {
            destination: self.ssh.destination.clone(),
            why,
        }
    }

    /// The one for machines of the far end's type.
    fn program(&self, system: &str, machine: &str) -> Result<Program, SshError> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if system != "Linux" || machine.is_empty() || !machine.chars().all(is_name) {
            let is = printable(&format!("{system} {machine}"), 60);
            return Err(self.failed(format!("it is `{is}`, and trunkline runs on Linux")));
        }
        let beside = beside(self.own).join(machine);
        let file = match beside.exists() || machine != std::env::consts::ARCH {
            true => &beside,
            false => self.own,
        };
        let shown = file.display();
        let content = fs::read(file).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.failed(format!(
                "it is a machine of type {machine}, and there is no program for those at {shown}"
            )),
            _ => self.failed(format!("{shown} cannot be read: {error}")),
        })?;
        match is_for(machine, &content) {
            true => Ok(Program { content }),
            false => Err(self.failed(format!("{shown} is no program for {machine}"))),
        }
    }
}

/// Where the programs for other machines lie.
fn beside(own: &Path) -> PathBuf {
    let prefix = own.parent().and_then(Path::parent);
    prefix.unwrap_or(Path::new("/")).join(BESIDE)
}

/// Whether it is an ELF program for such machines: a shell may take anything else for a script.
fn is_for(machine: &str, content: &[u8]) -> bool {
    let number = match machine {
        "x86_64" => 62,
        "aarch64" => 183,
        // Of other types there is only the one that runs.
        _ => return content.starts_with(b"\x7fELF"),
    };
    content.starts_with(b"\x7fELF\x02\x01") && content.get(18..20) == Some(&[number, 0])
}

/// A program to be sent.
struct Program {
    content: Vec<u8>,
}

impl Program {
    /// The script for it, behind its length.
    fn script(&self, far: &str) -> String {
        let hash: String = Sha256::digest(&self.content)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let size = self.content.len();
        let script = format!("hash={hash}\nsize={size}\nfar='{far}'\n{FOLDERS}{RECEIVE}");
        format!("script {}\n{script}", script.len())
    }
}

/// It may be long, and the far end may end meanwhile: the thread ends with the pipe then.
fn send(pipe: &ChildStdin, program: Program, is_packed: bool) -> Result<(), SshError> {
    let pipe = pipe.as_fd().try_clone_to_owned().map_err(SshError::Pipe)?;
    let mut pipe = File::from(pipe);
    thread::spawn(move || {
        // When ssh is gone, its exit status says more.
        let _ = packed(program.content, is_packed).and_then(|content| {
            writeln!(pipe, "{}", content.len())?;
            pipe.write_all(&content)
        });
    });
    Ok(())
}

fn packed(content: Vec<u8>, is_packed: bool) -> io::Result<Vec<u8>> {
    if !is_packed {
        return Ok(content);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&content)?;
    encoder.finish()
}

fn say(pipe: &mut ChildStdin, text: &str) -> Result<(), SshError> {
    pipe.write_all(text.as_bytes())
        .and_then(|()| pipe.flush())
        .map_err(SshError::Pipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_reads_the_command() {
        let command = command("copy-far --run-programs");
        let quoted = command.strip_prefix("sh -c '").unwrap();
        let quoted = quoted.strip_suffix('\'').unwrap();
        assert!(!quoted.contains(['\'', '\\', '!', '\n']), "{quoted}");
    }

    #[test]
    fn what_is_no_line_of_the_shells_is_noise() {
        for line in [
            "",
            "Welcome",
            "trunkline-far",
            "trunkline-far send",
            "trunkline-far send zstd x",
        ] {
            assert_eq!(Said::parse(line), None, "{line}");
        }
        let said = Said::parse("trunkline-far send raw /home/a b/x");
        let file = "/home/a b/x";
        let is_packed = false;
        assert_eq!(said, Some(Said::Send { is_packed, file }));
    }

    #[test]
    fn other_machines_get_the_program_beside() {
        let ssh = Ssh {
            client: String::new(),
            destination: "h".to_owned(),
            options: Vec::new(),
            program: copy_protocol::FarProgram::default(),
            runs_programs: false,
        };
        let prefix = tempfile::tempdir().unwrap();
        let own = prefix.path().join("bin/trunkline");
        let beside = prefix.path().join(BESIDE);
        let elf = |number: u8| [&b"\x7fELF\x02\x01"[..], &[0; 12], &[number, 0]].concat();
        fs::create_dir(prefix.path().join("bin")).unwrap();
        fs::create_dir_all(&beside).unwrap();
        fs::write(
            &own,
            elf(if cfg!(target_arch = "x86_64") {
                62
            } else {
                183
            }),
        )
        .unwrap();
        let (here, other) = match std::env::consts::ARCH {
            "x86_64" => ("x86_64", "aarch64"),
            arch => (arch, "x86_64"),
        };
        let found = |machine| {
            let program = Delivery::new(&ssh, &own).program("Linux", machine);
            program.map(|program| program.content)
        };
        assert_eq!(found(here).unwrap(), fs::read(&own).unwrap());
        let missing = found(other).err().unwrap().to_string();
        assert!(
            missing.contains("there is no program for those"),
            "{missing}"
        );
        fs::write(beside.join(other), b"#!/bin/sh\n").unwrap();
        let wrong = found(other).err().unwrap().to_string();
        assert!(wrong.contains("is no program for"), "{wrong}");
        let right = elf(if other == "aarch64" { 183 } else { 62 });
        fs::write(beside.join(other), &right).unwrap();
        assert_eq!(found(other).unwrap(), right);
        // A static one for this type of machine goes before the one that runs.
        let fixed = [fs::read(&own).unwrap(), vec![1]].concat();
        fs::write(beside.join(here), &fixed).unwrap();
        assert_eq!(found(here).unwrap(), fixed);
    }

    #[test]
    fn a_program_is_for_one_type_of_machine() {
        let mut content = b"\x7fELF\x02\x01".to_vec();
        content.resize(18, 0);
        content.extend([62, 0]);
        assert!(is_for("x86_64", &content));
        assert!(!is_for("aarch64", &content));
        assert!(!is_for("x86_64", b"#!/bin/sh\n"));
        assert!(!is_for("riscv64", b"#!/bin/sh\n"));
    }
}
