//! Another program that runs for a while: its last words, its sockets, its end.
//!
//! A child leads a session of its own, so that it asks for no password at the terminal, gets
//! no Ctrl-C meant for us, and everything it starts can be ended with it. The kernel ends it when
//! the thread that started it ends, whatever ends that.
//!
//! Left out: input (see [`crate::filter()`]); children that leave their session.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use observe::CpuSample;
use units::{Span, Time};

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, setsid};

/// How much of what a child prints is kept: the last of it.
const KEPT: usize = 64 << 10;
/// How long a child may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(1);
/// How often it is looked at meanwhile.
const TICK: Duration = Duration::from_millis(5);

/// The unit of processor times in `/proc`: `USER_HZ`, which is 100 on all architectures of ours.
const TICK_OF_PROC: Span = Span::from_millis(10);

/// A program that runs.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    said: Arc<Mutex<Vec<u8>>>,
    listeners: Vec<JoinHandle<()>>,
    status: Option<ExitStatus>,
}

impl Child {
    /// Starts a program with these arguments, in this process's environment with these variables
    /// more, and the language of the C locale.
    ///
    /// # Errors
    /// When there is no such program, or no process can be made.
    pub fn start(
        program: &str,
        arguments: &[String],
        variables: &[(String, String)],
    ) -> io::Result<Self> {
        let mut command = piped(program);
        command
            .args(arguments)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        let mut process = command.spawn()?;
        let said = Arc::default();
        let output = process.stdout.take().map(|pipe| listen(pipe, &said));
        let errors = process.stderr.take().map(|pipe| listen(pipe, &said));
        Ok(Child {
            process,
            listeners: output.into_iter().chain(errors).collect(),
            said,
            status: None,
        })
    }

    /// How it ended; `None` while it runs.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.process.try_wait()?;
        }
        Ok(self.status)
    }

    /// The last of what it has printed, on both outputs.
    pub fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&said).into_owned()
    }

    /// The same once it has ended, when nothing is on its way any more.
    pub fn last_said(&mut self) -> String {
        let until = Instant::now() + GRACE;
        let reads = |listener: &JoinHandle<()>| !listener.is_finished();
        while self.listeners.iter().any(reads) && Instant::now() < until {
            thread::sleep(TICK);
        }
        self.said()
    }

    /// The numbers of all sockets of the program and of what it has started.
    pub fn sockets(&self) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for pid in self.tree() {
            sockets_of(pid, &mut found);
        }
        found
    }

    /// The program and all that it has started.
    fn tree(&self) -> BTreeSet<u32> {
        let mut to_see = vec![self.process.id()];
        let mut seen = BTreeSet::new();
        while let Some(pid) = to_see.pop() {
            if seen.insert(pid) {
                to_see.extend(children_of(pid));
            }
        }
        seen
    }

    /// Processor time of the program and of what it has started and not yet outlived, at `at`.
    pub fn processor(&self, at: Time) -> Option<CpuSample> {
        let each = self.tree().into_iter().filter_map(ticks_of);
        let (user, kernel) = each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Some(CpuSample {
            at,
            user: TICK_OF_PROC.times(user),
            kernel: TICK_OF_PROC.times(kernel),
        })
    }

    /// Ends it and all that it has started: first as Ctrl-C does, which clients take to close their
    /// connections in order, and then without asking.
    pub fn end(&mut self) {
        let group = Pid::from_raw(self.process.id() as i32);
        // The group is gone when all of it has ended by itself.
        let _ = killpg(group, Signal::SIGINT);
        let until = Instant::now() + GRACE;
        while matches!(self.ended(), Ok(None)) && Instant::now() < until {
            thread::sleep(TICK);
        }
        let _ = killpg(group, Signal::SIGKILL);
        if self.status.is_none() {
            self.status = self.process.wait().ok();
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// A program in the language of the C locale, whose outputs are read here. It leads a session, and
/// ends with the thread that starts it.
#[expect(unsafe_code, reason = "no safe way to act between fork and exec")]
pub(crate) fn piped(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .env("LC_ALL", "C")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // SAFETY: the closure runs between fork and exec and makes two system calls, nothing else.
    unsafe {
        command.pre_exec(|| {
            setsid()?;
            Ok(set_pdeathsig(Signal::SIGKILL)?)
        });
    }
    command
}

/// Reads to the end, so that the child never waits for us; keeps the last of it.
fn listen(mut pipe: impl Read + Send + 'static, said: &Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    let said = Arc::clone(said);
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = pipe.read(&mut buffer) {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            said.extend_from_slice(buffer.get(..length).unwrap_or_default());
            let too_much = said.len().saturating_sub(KEPT);
            said.drain(..too_much);
        }
    })
}

fn children_of(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let lists = tasks.into_iter().flatten().flatten();
    let lists = lists.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let numbers = |list: String| -> Vec<u32> {
        let words = list.split_whitespace();
        words.filter_map(|word| word.parse().ok()).collect()
    };
    lists.flat_map(numbers).collect()
}

fn sockets_of(pid: u32, found: &mut BTreeSet<u32>) {
    let open = fs::read_dir(format!("/proc/{pid}/fd"));
    let links = open.into_iter().flatten().flatten();
    let links = links.filter_map(|entry| fs::read_link(entry.path()).ok());
    found.extend(links.filter_map(|link| socket_number(link.to_str()?)));
}

/// Ticks in the program and in the kernel: fields 14 and 15 of `/proc/PID/stat`, proc(5).
fn ticks_of(pid: u32) -> Option<(u64, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind_name) = stat.rsplit_once(") ")?;
    let mut fields = behind_name.split(' ').skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Of `socket:[12345]`.
fn socket_number(link: &str) -> Option<u32> {
    link.strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn start(script: &str) -> Child {
        let arguments = ["-c", script].map(str::to_owned);
        Child::start("sh", &arguments, &[]).unwrap()
    }

    fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "it never came");
            thread::sleep(TICK);
        }
    }

    #[test]
    fn what_a_program_says_is_kept_with_its_exit_status() {
        let mut child = start("echo one; echo two >&2; echo $LC_ALL; exit 3");
        let status = until(|| child.ended().unwrap());
        assert_eq!(status.code(), Some(3));
        let said = child.last_said();
        for word in ["one", "two", "C"] {
            assert!(said.lines().any(|line| line == word), "{said}");
        }
    }

    #[test]
    fn only_the_last_of_much_is_kept() {
        let mut child = start("seq 1 100000; echo end");
        until(|| child.ended().unwrap());
        let said = child.last_said();
        assert!(said.ends_with("end\n") && said.len() <= KEPT);
    }

    #[test]
    fn a_program_ends_with_all_that_it_has_started_even_if_it_will_not() {
        let script = "trap '' INT TERM; sh -c 'trap \"\" INT TERM; echo $$; exec sleep 100' & wait";
        let mut child = start(script);
        let grandchild = until(|| child.said().trim().parse::<i32>().ok());
        child.end();
        until(|| {
            let stat = fs::read_to_string(format!("/proc/{grandchild}/stat"));
            // One that was not collected yet has ended, too.
            let gone = stat.map_or(true, |stat| stat.contains(") Z "));
            gone.then_some(())
        });
    }

    #[test]
    fn sockets_of_grandchildren_are_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; sleep 100'; true");
        let child = start(&script);
        let (_far, from) = listener.accept().unwrap();
        let diag = crate::diag::Diag::open().unwrap();
        let connection = until(|| {
            let all = diag.connections(units::Time::ZERO).unwrap();
            all.into_iter().find(|one| one.local == from)
        });
        until(|| child.sockets().contains(&connection.inode).then_some(()));
    }

    #[test]
    fn a_missing_program_is_told_by_its_kind() {
        let error = Child::start("no-such-program", &[], &[]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
