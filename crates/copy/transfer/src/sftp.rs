//! Copies where nothing of ours may run at the far end: its SFTP server is the far end.
//!
//! This end does what otherwise both do. It lists what there is on both sides, has several
//! connections with many requests on the way, divides large files among them, and names each file
//! once it is whole. What arrives here is stored as by any copy; what goes there lies under a
//! temporary name until it is whole, and what of it is on that disk is noted here.
//!
//! Left out, since no program runs there: comparing contents, removing, compressing, holes, checks
//! of what is read there. A changed far file is known by its size and whole seconds alone.
//!
//! Reading order: this file; `talk`, `folders`, `listing`, `plan_get`, `plan_put` for what there is
//! to do; `crew`, `worker`, `task` for who does it; `put`, `naming`, `finish`, `check`, `get`,
//! `reading` for how; `journal`.

mod check;
mod crew;
mod failure;
mod far_name;
mod finish;
mod folders;
mod get;
mod item;
mod journal;
mod listing;
mod naming;
mod plan_get;
mod plan_put;
mod put;
mod reading;
mod shared;
mod talk;
mod task;
mod wildcards;
mod window;
mod work;
mod worker;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use copy_net::{SftpChannel, SftpDialer, SftpError, Ssh, SshManners};
use copy_protocol::sftp::Request;
use copy_protocol::{
    CopyDirection, CopyEvent, CopySpec, FarHost, FileProblem, Opening, Outcome, Problem,
    ProblemKind,
};
use errors::Hint;
use files::Root;
use files::source::SourceSpec;
use files::store::Store;
use steer::online::OnlinePlan;
use units::Span;

use self::crew::Crew;
use self::failure::refused;
use self::item::Item;
use self::journal::Journal;
use self::plan_put::Planner;
use self::shared::{Get, Note, Put, Shared, Side, throttle};
use self::talk::{Halt, Talk, is_ok};
use self::work::Work;
use crate::copy::{RetryTimer, has_wildcard};
use crate::copy_stats::CopyStats;
use crate::receiver::publisher::Publisher;
use crate::run_session::{LocalFiles, bytes_of};
use crate::session::Event;
use crate::{CopyError, activity};

/// How long a server that owes replies may say nothing.
const SILENCE: Duration = Duration::from_secs(90);
/// Files of up to so many bytes go as a whole.
const SMALL: u64 = 1 << 20;
const TICK: Duration = Duration::from_millis(50);

/// One copy over SFTP.
pub(crate) struct SftpCopy<'a> {
    spec: &'a CopySpec,
    paths: &'a [PathBuf],
    destination: &'a str,
    dialer: SftpDialer,
    /// Why no program of ours is there; told once.
    because: Option<String>,
    into_folder: bool,
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
            let opened = self.dialer.open(SshManners::MayAsk, &is_stopped);
            let halt = match opened {
                Ok(channel) => {
                    seen.get_or_insert_with(Instant::now);
                    self.tell_connected(&channel, stats);
                    match self.attempt(channel, &journal, stats) {
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

    fn tell_connected(&mut self, channel: &SftpChannel, stats: &mut CopyStats<'_>) {
        let (at, peer) = (stats.now(), self.destination.to_owned());
        let rtt = Some(channel.rtt().into());
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
        let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let near: Vec<PathBuf> = self.paths.iter().map(whole).collect();
        for name in self.spec.far.paths.iter().cloned().chain(bytes_of(&near)) {
            places.push(0);
            places.extend(name);
        }
        Journal::of(&places)
    }

    fn attempt(
        &self,
        channel: SftpChannel,
        journal: &Arc<Journal>,
        stats: &mut CopyStats<'_>,
    ) -> Result<(), Halt> {
        match self.spec.direction {
            CopyDirection::Put => self.put(channel, journal, stats),
            CopyDirection::Get => self.get(channel, stats),
        }
    }

    fn opening(&self) -> Opening {
        self.spec.opening([0; 16], self.into_folder)
    }

    fn put(
        &self,
        channel: SftpChannel,
        journal: &Arc<Journal>,
        stats: &mut CopyStats<'_>,
    ) -> Result<(), Halt> {
        let options = &self.spec.options;
        let paths = bytes_of(self.paths);
        let local = LocalFiles::source(
            &Root::own(),
            &self.opening(),
            paths,
            false,
            &options.selection,
        )?;
        let LocalFiles::Source(source) = local else {
            return Err(Halt::Stopped);
        };
        let mut talk = Talk::new(channel, stats.control());
        let destination = self.spec.far.paths.first().cloned().unwrap_or_default();
        let planner = Planner::new(
            &mut talk,
            stats,
            journal,
            options,
            &destination,
            self.into_folder,
        )?;
        let plan = planner.plan(&source)?;
        stats.on_planned();
        let put = Put {
            source,
            journal: Arc::clone(journal),
            filter: options.filter,
            times: options.attributes.times,
        };
        let small = if options.verify { 0 } else { SMALL };
        let left = self.carry(talk.channel, Side::Put(put), plan.items, small, None, stats)?;
        let mut talk = Talk::new(self.or_new(left, stats)?, stats.control());
        let sets = plan.folders.iter().rev();
        let requests: Vec<_> = sets
            .clone()
            .map(|(_, path, stat)| Request::SetStat(path, *stat))
            .collect();
        let replies = talk.ask_all(&requests)?;
        for ((name, path, _), reply) in sets.zip(replies) {
            if !is_ok(&reply) {
                let problem = refused("set mode and time of", path, &reply);
                stats.on_left_out(FileProblem::new(name.clone(), problem));
            }
        }
        if stats.outcome.failed.is_empty() {
            journal.remove();
        }
        Ok(())
    }

    fn get(&self, channel: SftpChannel, stats: &mut CopyStats<'_>) -> Result<(), Halt> {
        let options = &self.spec.options;
        let destination = bytes_of(self.paths).pop().unwrap_or_default();
        let local = LocalFiles::store(&Root::own(), &self.opening(), destination)?;
        let LocalFiles::Store(store) = local else {
            return Err(Halt::Stopped);
        };
        let store: Arc<Store> = Arc::new(*store);
        let mut talk = Talk::new(channel, stats.control());
        let spec = SourceSpec {
            paths: self.spec.far.paths.clone(),
            wildcards: true,
            recursive: options.recursive,
            attributes: options.attributes,
            selection: options.selection.clone(),
        };
        let wanted = plan_get::plan(&mut talk, &spec, &store, options.dry_run, stats)?;
        stats.on_planned();
        let (report, events) = sync_channel(4096);
        let spent = Arc::new(activity::TimeSpent::default());
        let publisher = Publisher::start(Arc::clone(&store), report, spent);
        for item in &wanted.items {
            if let Some(digest) = item.digest().filter(|_| item.size > 0) {
                publisher.take(item.id, digest);
            }
        }
        let get = Get {
            store: Arc::clone(&store),
            publisher,
        };
        let side = Side::Get(get);
        self.carry(
            talk.channel,
            side,
            wanted.items,
            SMALL,
            Some(&events),
            stats,
        )?;
        for problem in store.end() {
            stats.on_left_out(problem);
        }
        Ok(())
    }

    /// Has connections carry the files. Returns one that is left.
    fn carry(
        &self,
        first: SftpChannel,
        side: Side,
        items: Vec<Arc<Item>>,
        small: u64,
        events: Option<&Receiver<Event>>,
        stats: &mut CopyStats<'_>,
    ) -> Result<Option<SftpChannel>, Halt> {
        let options = &self.spec.options;
        let (notes, heard) = channel::<Note>();
        let control = stats.control();
        let rate_max = control.rate_max();
        let shared = Shared {
            work: Work::default(),
            notes,
            throttle: throttle(rate_max),
            control,
            moved: AtomicU64::new(0),
            is_over: false.into(),
            side,
        };
        for item in &items {
            let is_small = item.size == 0 || item.size <= small && item.present() == 0;
            match item.size > 0 && item.digest().is_some() {
                true => whole_already(item, &shared),
                false => shared.work.add(Arc::clone(item), is_small),
            }
        }
        let unfinished: BTreeMap<_, _> = items.into_iter().map(|item| (item.id, item)).collect();
        let plan = OnlinePlan {
            objective: options.objective,
            streams: options.streams,
            rtt: Some(Span::from(first.rtt())),
            ..OnlinePlan::default()
        };
        let crew = Crew::new(stats, &shared, &self.dialer, unfinished, plan);
        crew.run(first, &heard, events)
    }

    fn or_new(
        &self,
        left: Option<SftpChannel>,
        stats: &CopyStats<'_>,
    ) -> Result<SftpChannel, Halt> {
        if let Some(channel) = left {
            return Ok(channel);
        }
        let control = stats.control();
        let is_stopped = || control.is_stopped();
        Ok(self.dialer.open(SshManners::MayAsk, &is_stopped)?)
    }
}

/// An earlier try has sent all of it.
fn whole_already(item: &Arc<Item>, shared: &Shared) {
    if let Side::Put(put) = &shared.side {
        match put.source.finished(item.id) {
            Ok(()) => put::after_the_last(item, shared),
            Err(problem) => shared.fail(item, problem),
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
