//! One copy over SFTP, from the first connection to the last try.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use copy_net::{SftpChannel, SftpDialer, SftpError, Ssh, SshManners, may_ask};
use copy_protocol::sftp::Request;
use copy_protocol::{CopyDirection, CopyEvent, CopySpec, FarHost, Outcome, Problem, ProblemKind};
use errors::Hint;
use files::source::select::target_name;

use super::crew::FIRST;
use super::early::EarlyDials;
use super::far_name::join;
use super::journal::Journal;
use super::talk::{AHEAD, Halt, Talk};
use crate::CopyError;
use crate::copy::{RetryTimer, has_wildcard};
use crate::copy_stats::CopyStats;
use crate::run_session::bytes_of;

/// How long a server that owes replies may say nothing: its disk, or its tape, may take long, and
/// ssh notices by itself where the path is gone.
const SILENCE: Duration = Duration::from_secs(900);
const TICK: Duration = Duration::from_millis(50);
/// From so many bytes on more than one connection is begun at once.
const EARLY_BYTES: u64 = 8 << 20;

/// How much sooner than others the first connection begins to log in: a login takes time of the
/// processors at both ends, and this one carries the first bytes.
const HEAD_START: Duration = Duration::from_millis(150);

/// One copy over SFTP.
pub(crate) struct SftpCopy<'a> {
    pub(super) spec: &'a CopySpec,
    pub(super) paths: &'a [PathBuf],
    pub(super) destination: &'a str,
    pub(super) dialer: SftpDialer,
    /// Why no program of ours is there; told once.
    because: Option<String>,
    pub(super) into_folder: bool,
}

/// How it failed before it began.
pub(crate) enum NotBegun {
    /// The host has no SFTP.
    NoSftp(SftpError),
    /// As any copy may.
    Ended(CopyError),
}

impl<'a> SftpCopy<'a> {
    /// * `because`: why no program of ours is there, where that was tried.
    pub fn new(spec: &'a CopySpec, paths: &'a [PathBuf], because: Option<String>) -> Option<Self> {
        let FarHost::Ssh {
            destination,
            client,
            options,
            program,
            ..
        } = &spec.far.host
        else {
            return None;
        };
        let ssh = Ssh {
            client: client.clone(),
            destination: destination.clone(),
            options: options.clone(),
            program: program.clone(),
            runs_programs: false,
        };
        let into_folder = paths.len() > 1 && spec.direction == CopyDirection::Put
            || spec.options.selection.listed.is_some()
            || spec.direction == CopyDirection::Get
                && (spec.far.paths.len() > 1 || has_wildcard(&spec.far.paths));
        Some(SftpCopy {
            spec,
            paths,
            destination,
            dialer: SftpDialer::new(ssh, SILENCE),
            because,
            into_folder,
        })
    }

    /// Copies; a far end that is lost is looked for again for as long as the patience lasts.
    pub fn run(&mut self, stats: &mut CopyStats<'_>) -> Result<Outcome, NotBegun> {
        let mut retry = RetryTimer::new(self.spec.patience(), Instant::now());
        let (mut seen, mut steps) = (None, stats.steps());
        let journal = self.journal();
        let no_number = |error| NotBegun::Ended(CopyError::of(no_number(&error), stats));
        let journal = Arc::new(journal.map_err(no_number)?);
        loop {
            let control = stats.control();
            let is_stopped = || control.is_stopped();
            // Where the first may ask for a password, others would only be refused meanwhile.
            let early = (!may_ask()).then(|| self.begin_others(HEAD_START));
            let opened = self.dialer.open(SshManners::MayAsk, &is_stopped);
            let halt = match opened {
                Ok(channel) => {
                    let early = early.unwrap_or_else(|| self.begin_others(Duration::ZERO));
                    match self.on(channel, &early, &journal, &mut seen, stats) {
                        Ok(()) => return Ok(stats.conclude()),
                        Err(halt) => halt,
                    }
                }
                Err(SftpError::Stopped) => Halt::Stopped,
                Err(error) if seen.is_none() && !error.may_pass() => {
                    return Err(NotBegun::NoSftp(error));
                }
                Err(error) => Halt::Lost(error.to_string()),
            };
            if stats.steps() > steps {
                (steps, seen) = (stats.steps(), Some(Instant::now()));
            }
            self.after(halt, seen, &mut retry, stats)
                .map_err(NotBegun::Ended)?;
        }
    }

    /// One try on a connection that was made.
    ///
    /// * `seen`: when the far end was there last.
    fn on(
        &mut self,
        channel: SftpChannel,
        early: &EarlyDials,
        journal: &Arc<Journal>,
        seen: &mut Option<Instant>,
        stats: &mut CopyStats<'_>,
    ) -> Result<(), Halt> {
        let mut talk = Talk::new(channel, stats.control());
        self.ask_ahead(&mut talk);
        let rtt = talk.measure()?;
        seen.get_or_insert_with(Instant::now);
        self.tell_connected(rtt, stats);
        self.attempt(talk, early, journal, stats)
    }

    /// What the plan begins with, at once: the destination and what is there under the names of the
    /// sources, or the sources.
    fn ask_ahead(&self, talk: &mut Talk) {
        let options = &self.spec.options;
        let follows = |path: &[u8]| !options.attributes.links || path.ends_with(b"/");
        if self.spec.direction == CopyDirection::Put {
            let Some(destination) = self.spec.far.paths.first() else {
                return;
            };
            talk.ask_ahead(&Request::Stat(destination));
            talk.ask_ahead(&Request::LStat(destination));
            for near in bytes_of(self.paths).iter().take(AHEAD) {
                let name = join(destination, target_name(near));
                talk.ask_ahead(&Request::LStat(&name));
            }
            return;
        }
        for path in self.spec.far.paths.iter().take(AHEAD) {
            let has_wildcard = has_wildcard(std::slice::from_ref(path));
            talk.ask_ahead(&match follows(path) && !has_wildcard {
                true => Request::Stat(path),
                false => Request::LStat(path),
            });
        }
    }

    fn begin_others(&self, after: Duration) -> EarlyDials {
        EarlyDials::begin(&self.dialer, self.early(), after)
    }

    /// Waits before the next try, where there is one.
    fn after(
        &self,
        halt: Halt,
        seen: Option<Instant>,
        retry: &mut RetryTimer,
        stats: &mut CopyStats<'_>,
    ) -> Result<(), CopyError> {
        let cancelled = |stats: &CopyStats<'_>| CopyError::Cancelled {
            so_far: Box::new(stats.conclude()),
        };
        let why = match halt {
            _ if stats.is_stopped() => return Err(cancelled(stats)),
            Halt::Stopped => return Err(cancelled(stats)),
            Halt::Problem(problem) if problem.kind == ProblemKind::Busy => {
                return Err(CopyError::Busy {
                    what: problem.what,
                    hint: problem.hint,
                    so_far: Box::new(stats.conclude()),
                });
            }
            Halt::Problem(problem) => return Err(CopyError::of(problem, stats)),
            Halt::Lost(why) => why,
        };
        let Some(pause) = retry.pause(seen, Instant::now()) else {
            let peer = self.destination.to_owned();
            return Err(match seen {
                None => CopyError::Unreachable {
                    hint: Some(format!("`ssh {peer}` has to work first")),
                    peer,
                    why,
                },
                Some(_) => CopyError::Lost {
                    peer,
                    why,
                    patience: self.spec.patience().once_there,
                    so_far: Box::new(stats.conclude()),
                },
            });
        };
        let (at, retry_in) = (stats.now(), pause.into());
        stats.tell(&CopyEvent::Lost { at, why, retry_in });
        stats.outcome.reconnects += u32::from(seen.is_some());
        let until = Instant::now() + pause;
        while Instant::now() < until {
            if stats.is_stopped() {
                return Err(cancelled(stats));
            }
            thread::sleep(TICK);
        }
        Ok(())
    }

    fn tell_connected(&mut self, rtt: Duration, stats: &mut CopyStats<'_>) {
        let (at, peer) = (stats.now(), self.destination.to_owned());
        let rtt = Some(rtt.into());
        stats.tell(&CopyEvent::Connected { at, peer, rtt });
        if let Some(because) = self.because.take() {
            let (at, host) = (stats.now(), self.destination.to_owned());
            stats.tell(&CopyEvent::OverSftp { at, host, because });
        }
        stats.begin_counting();
    }

    /// Where an upload notes what it has done. It is found again by the places of the copy.
    fn journal(&self) -> io::Result<Journal> {
        if self.spec.direction == CopyDirection::Get || self.spec.options.dry_run {
            return Journal::none();
        }
        let mut places = self.destination.as_bytes().to_vec();
        if let FarHost::Ssh {
            client, options, ..
        } = &self.spec.far.host
        {
            // The same name with another port is another host.
            for word in std::iter::once(client).chain(options) {
                places.push(1);
                places.extend(word.as_bytes());
            }
        }
        let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let near: Vec<PathBuf> = self.paths.iter().map(whole).collect();
        for name in self.spec.far.paths.iter().cloned().chain(bytes_of(&near)) {
            places.push(0);
            places.extend(name);
        }
        Journal::of(&places)
    }

    /// Connections that are begun at once: where folders are copied, or files here that are large.
    fn early(&self) -> u64 {
        let options = &self.spec.options;
        let fixed = options.streams.map(|streams| streams.get().into());
        let is_put = self.spec.direction == CopyDirection::Put;
        let here = self.paths.iter().filter(|_| is_put);
        let sizes = here.filter_map(|path| std::fs::metadata(path).ok());
        let large = |it: std::fs::Metadata| if it.is_dir() { EARLY_BYTES } else { it.len() };
        let bytes: u64 = sizes.map(large).fold(0, u64::saturating_add);
        let is_much = bytes >= EARLY_BYTES || !is_put && options.recursive;
        match is_much && !options.dry_run {
            true => fixed.unwrap_or(FIRST).min(FIRST) - 1,
            false => 0,
        }
    }
}

fn no_number(error: &io::Error) -> Problem {
    let what = format!("this host gives no random numbers: {error}");
    files::problem(ProblemKind::Request, what)
}

/// Why the copy cannot go over SFTP, to stand behind the reason why it has to.
pub(crate) fn no_sftp(error: &SftpError) -> Problem {
    Problem {
        kind: ProblemKind::Request,
        file: None,
        what: error.to_string(),
        hint: error.hint(),
    }
}
