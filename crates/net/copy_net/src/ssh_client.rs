//! Starts a far end through the system's ssh client.
//!
//! ssh does what its user has taught it: configuration, keys, agents, jump hosts, passwords, which
//! it asks for on the terminal itself. What it says goes to stderr as always. Through its pipe go
//! one line each way ([`copy_protocol::StartRequest`]), and where the far end has no program that
//! understands it, the one of this host ([`delivery`]); files never do.

mod delivery;
mod error;
mod lines;

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use copy_protocol::{FarProgram, KeyName, StartAnswer, StartError, StartRequest, Token};

use units::Address;

use self::delivery::{Delivery, Said};
use self::lines::Lines;

pub use delivery::SentProgram;
pub use error::SshError;

/// The command of the far `trunkline` that answers.
pub const FAR_COMMAND: &str = "copy-far";
/// What allows it to run programs.
pub const RUN_PROGRAMS: &str = "--run-programs";
/// Name of the secret that ssh carries.
pub(super) const KEY_NAME: &str = "ssh";
/// Line of a near end that needs the far end no more.
pub(super) const LEAVE: &str = "leave";
/// How long ssh takes to notice that the far end was killed; a round trip.
const ENDED_WAIT: Duration = Duration::from_secs(1);
/// How long ssh may take to end that has closed its output.
const ENDED_WITHOUT_WORD: Duration = Duration::from_secs(5);
/// How much later than ssh this process may hear of a signal to both.
const SAME_SIGNAL: Duration = Duration::from_millis(300);
/// How long ssh may take to end by itself.
const LEAVE_WAIT: Duration = Duration::from_secs(2);

/// What the far host gets of this one, whatever the user's configuration says: nothing but the
/// pipe. scp does the same.
const RESTRICTED: [&str; 4] = [
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "PermitLocalCommand=no",
    "RequestTTY=no",
];
/// A command of the configuration would run in place of ours. OpenSSH knows it since 7.6.
const NO_COMMAND: &str = "RemoteCommand=none";

/// Which far end is started, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ssh {
    /// The client here; `ssh` but for tests.
    pub client: String,
    /// As ssh takes it: `[user@]host`, or an alias of its configuration.
    pub destination: String,
    /// Further words for ssh, such as `-p 2222`.
    pub options: Vec<String>,
    /// The program there.
    pub program: FarProgram,
    /// It may run programs.
    pub runs_programs: bool,
}

/// A far end that was started. It is told to leave when this is dropped.
#[derive(Debug)]
pub struct SshFarEnd {
    /// Its answer.
    pub answer: StartAnswer,
    /// Opens a conversation with it; only the two ends have it.
    pub token: Token,
    /// Where it may be reached, the likeliest first; empty when it connects.
    pub places: Vec<Address>,
    pipe: Option<ChildStdin>,
    /// There until this is dropped.
    child: Option<Child>,
}

impl Ssh {
    /// Starts the far end and waits until it says where it is. That may take as long as its user
    /// types a password.
    ///
    /// * `is_stopped`: asked ten times a second.
    /// * `on_sent`: is told when the program here is sent there.
    ///
    /// # Errors
    /// When ssh or the far program cannot be started, says something else, or the user stops it.
    pub fn start(
        &self,
        request: &StartRequest,
        is_stopped: &dyn Fn() -> bool,
        on_sent: &mut dyn FnMut(SentProgram),
    ) -> Result<SshFarEnd, SshError> {
        let (client, destination, program) = (&self.client, &self.destination, &self.program);
        tracing::info!(?client, destination, ?program, "ssh starts the far end");
        let command = match &self.program {
            FarProgram::There(program) => format!("{program} {}", self.far_command()),
            FarProgram::ThereOrSent(_) | FarProgram::Sftp => delivery::command(&self.far_command()),
        };
        let mut child = self.spawn(&command)?;
        // It reads the configuration, which is not worth waiting for afterwards.
        let asking = self.clone();
        let host_name = thread::spawn(move || asking.host_name());
        let heard = self.hear(&mut child, request, is_stopped, on_sent);
        let answer = match heard {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(%error, "the far end did not start");
                drop(child.stdin.take());
                // It has ended or is of no use.
                let _ = child.kill();
                let _ = child.wait();
                return Err(error);
            }
        };
        let places = places(host_name.join().ok().flatten(), &answer);
        tracing::info!(?places, "the far end has started");
        Ok(SshFarEnd {
            token: Token {
                name: KeyName::new(KEY_NAME).expect("a fixed name of letters"),
                secret: request.secret.clone(),
            },
            places,
            pipe: child.stdin.take(),
            answer,
            child: Some(child),
        })
    }

    /// What the program there is told. One that is older than an option of it ends with 2, as one
    /// of another version does.
    fn far_command(&self) -> String {
        match self.runs_programs {
            true => format!("{FAR_COMMAND} {RUN_PROGRAMS}"),
            false => FAR_COMMAND.to_owned(),
        }
    }

    /// Removes the programs that were sent there, and returns the names of their folders.
    ///
    /// * `is_stopped`: asked ten times a second.
    ///
    /// # Errors
    /// When ssh cannot be started, does not get through, or the shell there does not do it.
    pub fn clean(&self, is_stopped: &dyn Fn() -> bool) -> Result<Vec<String>, SshError> {
        let mut child = self.spawn("sh")?;
        let cleaned = self.hear_cleaning(&mut child, is_stopped);
        drop(child.stdin.take());
        if cleaned.is_err() {
            // It has ended or is of no use.
            let _ = child.kill();
        }
        let _ = child.wait();
        cleaned
    }

    fn hear_cleaning(
        &self,
        child: &mut Child,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, SshError> {
        if let Some(mut pipe) = child.stdin.take() {
            // When ssh is gone already, its exit status says more.
            let _ = pipe.write_all(delivery::clean().as_bytes());
        }
        let mut removed = Vec::new();
        let mut lines = Lines::of(child);
        while let Some(line) = lines.next(is_stopped)? {
            match Said::parse(&line) {
                Some(Said::Removed(folder)) => removed.push(error::printable(folder)),
                Some(Said::Done) => return Ok(removed),
                _ => lines.note(&line),
            }
        }
        let status = wait_for(child, ENDED_WITHOUT_WORD);
        if stopped_too(status, is_stopped) {
            return Err(SshError::Stopped);
        }
        let (destination, noise) = (&self.destination, lines.noise());
        Err(SshError::ended(destination, None, status, noise))
    }

    fn spawn(&self, command: &str) -> Result<Child, SshError> {
        self.client_command(&self.newer_options())
            .arg("--")
            .arg(&self.destination)
            .arg(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|source| SshError::Client {
                client: self.client.clone(),
                source,
            })
    }

    /// The client with all options; the destination is still to follow.
    pub(crate) fn client_command(&self, newer: &[&str]) -> Command {
        let mut command = Command::new(&self.client);
        command
            .args(["-T", "-x"])
            .args(RESTRICTED.iter().flat_map(|option| ["-o", *option]))
            .args(newer)
            .args(&self.options);
        command
    }

    /// [`NO_COMMAND`] where the client knows it; another one would not start.
    pub(crate) fn newer_options(&self) -> Vec<&'static str> {
        let option = ["-o", NO_COMMAND];
        // With `-V` it reads its own words, but neither configuration nor network.
        let tried = Command::new(&self.client)
            .arg("-G")
            .args(option)
            .arg("-V")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match tried {
            Ok(status) if status.success() => option.to_vec(),
            _ => Vec::new(),
        }
    }

    fn hear(
        &self,
        child: &mut Child,
        request: &StartRequest,
        is_stopped: &dyn Fn() -> bool,
        on_sent: &mut dyn FnMut(SentProgram),
    ) -> Result<StartAnswer, SshError> {
        let (asked, mut lines) = (request.line(), Lines::of(child));
        let mut delivery = match &self.program {
            FarProgram::There(_) | FarProgram::Sftp => None,
            FarProgram::ThereOrSent(own) => Some(Delivery::new(self, own)),
        };
        if let Some(pipe) = &mut child.stdin {
            // When ssh is gone already, its exit status says more.
            let _ = pipe.write_all(asked.as_bytes());
            let _ = pipe.flush();
        }
        while let Some(line) = lines.next(is_stopped)? {
            match (StartAnswer::parse(&line), &mut delivery, &mut child.stdin) {
                (Ok(answer), _, _) => return Ok(answer),
                (Err(StartError::Stranger), Some(delivery), Some(pipe)) => {
                    match Said::parse(&line) {
                        Some(said) => delivery.answer(said, pipe, &asked, on_sent)?,
                        None => lines.note(&line),
                    }
                }
                (Err(StartError::Stranger), _, _) => lines.note(&line),
                (Err(error), _, _) => return Err(SshError::Version(error)),
            }
        }
        let status = wait_for(child, ENDED_WITHOUT_WORD);
        if stopped_too(status, is_stopped) {
            return Err(SshError::Stopped);
        }
        let program = match &self.program {
            FarProgram::There(program) => program,
            FarProgram::ThereOrSent(_) | FarProgram::Sftp => "trunkline",
        };
        let (destination, noise) = (&self.destination, lines.noise());
        Err(SshError::ended(destination, Some(program), status, noise))
    }

    /// What ssh's configuration makes of the destination.
    fn host_name(&self) -> Option<String> {
        let output = Command::new(&self.client)
            .arg("-G")
            .args(&self.options)
            .arg("--")
            .arg(&self.destination)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines();
        let name = lines.find_map(|line| line.strip_prefix("hostname "));
        name.map(|name| name.trim().to_owned())
    }
}

/// Whether ssh may ask its user for a password, so that it is not to be started without need.
pub fn may_ask() -> bool {
    // Without a terminal of its own a process gets none here (tty(4)).
    std::fs::File::open("/dev/tty").is_ok()
}

/// Where the far end may be reached: as ssh calls it, and as it is seen from inside.
fn places(host_name: Option<String>, answer: &StartAnswer) -> Vec<Address> {
    let Some(port) = answer.port else {
        return Vec::new();
    };
    let inside = answer.addresses.iter().map(ToString::to_string);
    let mut places: Vec<Address> = Vec::new();
    for host in host_name.into_iter().chain(inside) {
        let place = Address::new(host, port);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

impl SshFarEnd {
    /// Whether it is over with the far end; waits a moment for ssh to notice.
    pub fn has_ended(&mut self) -> bool {
        let ended = |child| wait_for(child, ENDED_WAIT).is_some();
        self.child.as_mut().is_none_or(ended)
    }
}

/// A far end that is told so leaves at once instead of waiting for the near end to come back.
impl Drop for SshFarEnd {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            let _ = writeln!(pipe, "{LEAVE}");
        }
        if let Some(child) = self.child.take() {
            thread::spawn(move || reap(child));
        }
    }
}

/// ssh ends a round trip after the far end has been told to leave. There is no need to wait: where
/// this program ends first, ssh still ends by itself.
fn reap(mut child: Child) {
    if wait_for(&mut child, LEAVE_WAIT).is_none() {
        // It has ended or is of no use.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Whether a signal that ended ssh stops this process, too, as one to the whole process group does.
pub(crate) fn stopped_too(status: Option<ExitStatus>, is_stopped: &dyn Fn() -> bool) -> bool {
    if status.and_then(|status| status.signal()).is_none() {
        return false;
    }
    let end = Instant::now() + SAME_SIGNAL;
    while !is_stopped() && Instant::now() < end {
        thread::sleep(Duration::from_millis(10));
    }
    is_stopped()
}

fn wait_for(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(20)),
            _ => return None,
        }
    }
}
