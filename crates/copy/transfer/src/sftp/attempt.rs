//! One try: plans, has the connections carry the files, and gives folders their last.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, channel, sync_channel};

use copy_net::{SftpChannel, SshManners};
use copy_protocol::sftp::{Request, Stat};
use copy_protocol::{CopyDirection, FileProblem, Opening};
use files::Root;
use files::source::SourceSpec;
use files::store::Store;
use steer::online::OnlinePlan;
use units::Span;

use super::crew::Crew;
use super::early::EarlyDials;
use super::failure::refused;
use super::handles::Handles;
use super::item::{Item, SMALL};
use super::journal::Journal;
use super::plan_get;
use super::plan_put::Planner;
use super::put;
use super::removal;
use super::removal_here;
use super::run::SftpCopy;
use super::shared::{Get, Note, Put, Shared, Side, throttle};
use super::talk::{Halt, Talk, is_ok, open_max};
use super::work::Work;
use crate::activity::TimeSpent;
use crate::copy_stats::CopyStats;
use crate::receiver::publisher::Publisher;
use crate::run_session::{LocalFiles, bytes_of};
use crate::session::Event;

impl SftpCopy<'_> {
    /// Plans and copies, on a connection that is there.
    pub(super) fn attempt(
        &self,
        talk: Talk,
        early: &EarlyDials,
        journal: &Arc<Journal>,
        stats: &mut CopyStats<'_>,
    ) -> Result<(), Halt> {
        match self.spec.direction {
            CopyDirection::Put => self.put(talk, early, journal, stats),
            CopyDirection::Get => self.get(talk, early, stats),
        }
    }

    fn opening(&self) -> Opening {
        self.spec.opening([0; 16], self.into_folder)
    }

    fn put(
        &self,
        mut talk: Talk,
        early: &EarlyDials,
        journal: &Arc<Journal>,
        stats: &mut CopyStats<'_>,
    ) -> Result<(), Halt> {
        let options = &self.spec.options;
        if options.delete && !talk.channel.server().statvfs {
            return Err(removal::no_mount_points(self.destination).into());
        }
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
        let side = Side::Put(put);
        let channels = (talk.end(), Handles::with(plan.opened), early);
        let left = self.carry(channels, side, plan.items, small, None, stats)?;
        let mut talk = Talk::new(self.or_new(left, stats)?, stats.control());
        if options.delete && stats.outcome.failed.is_empty() {
            removal::remove(&mut talk, &plan.told, options, stats)?;
        }
        end_folders(&mut talk, &plan.folders, stats)?;
        if stats.outcome.failed.is_empty() {
            journal.remove();
        }
        Ok(())
    }

    fn get(
        &self,
        mut talk: Talk,
        early: &EarlyDials,
        stats: &mut CopyStats<'_>,
    ) -> Result<(), Halt> {
        let options = &self.spec.options;
        let destination = bytes_of(self.paths).pop().unwrap_or_default();
        let local = LocalFiles::store(&Root::own(), &self.opening(), destination)?;
        let LocalFiles::Store(store) = local else {
            return Err(Halt::Stopped);
        };
        let store: Arc<Store> = Arc::new(*store);
        let spec = SourceSpec {
            paths: self.spec.far.paths.clone(),
            wildcards: true,
            recursive: options.recursive,
            attributes: options.attributes,
            selection: options.selection.clone(),
        };
        let wanted = plan_get::plan(&mut talk, &spec, &store, options, stats)?;
        stats.on_planned();
        let (report, events) = sync_channel(4096);
        let spent = Arc::new(TimeSpent::default());
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
        let channels = (talk.end(), Handles::default(), early);
        let left = self.carry(channels, side, wanted.items, SMALL, Some(&events), stats)?;
        if options.delete && stats.outcome.failed.is_empty() {
            let mut talk = Talk::new(self.or_new(left, stats)?, stats.control());
            removal_here::remove(&mut talk, &wanted.folders, &store, options, stats)?;
        }
        for problem in store.end() {
            stats.on_left_out(problem);
        }
        Ok(())
    }

    /// Has connections carry the files. Returns one that is left.
    fn carry(
        &self,
        (first, handles, early): (SftpChannel, Handles, &EarlyDials),
        side: Side,
        items: Vec<Arc<Item>>,
        small: u64,
        events: Option<&Receiver<Event>>,
        stats: &mut CopyStats<'_>,
    ) -> Result<Option<SftpChannel>, Halt> {
        let options = &self.spec.options;
        let (notes, heard) = channel::<Note>();
        let control = stats.control();
        let rate_max = stats.rate_max_to_open();
        let shared = Shared {
            work: Work::default(),
            notes,
            throttle: throttle(rate_max),
            control,
            moved: AtomicU64::new(0),
            is_over: false.into(),
            rtt: first.rtt().unwrap_or_default(),
            handles: open_max(&first),
            check_file: first.server().check_file,
            side,
        };
        for item in &items {
            let is_small = item.is_small(small);
            match item.size > 0 && item.digest().is_some() {
                true => whole_already(item, &shared),
                false => shared.work.add(Arc::clone(item), is_small),
            }
        }
        let unfinished: BTreeMap<_, _> = items.into_iter().map(|item| (item.id, item)).collect();
        let plan = OnlinePlan {
            objective: options.objective,
            streams: options.streams,
            rtt: first.rtt().map(Span::from),
            ..OnlinePlan::default()
        };
        let crew = Crew::new(stats, &shared, early, unfinished, plan);
        crew.run((first, handles), &heard, events)
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

/// Folders get their modes and times, the innermost first.
fn end_folders(
    talk: &mut Talk,
    folders: &[(String, Vec<u8>, Stat)],
    stats: &mut CopyStats<'_>,
) -> Result<(), Halt> {
    let sets = folders.iter().rev();
    let requests = sets
        .clone()
        .map(|(_, path, stat)| Request::SetStat(path, *stat));
    let replies = talk.ask_all(&requests.collect::<Vec<_>>())?;
    for ((name, path, _), reply) in sets.zip(replies) {
        if !is_ok(&reply) {
            let problem = refused("set mode and time of", path, &reply);
            stats.on_left_out(FileProblem::new(name.clone(), problem));
        }
    }
    Ok(())
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
