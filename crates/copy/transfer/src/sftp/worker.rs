//! One connection: takes jobs as long as there are any, many at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use copy_net::SftpChannel;
use copy_protocol::sftp::Reply;
use copy_protocol::{Problem, ProblemKind};
use files::{problem, shown, with_hint};
use steer::Turn;

use super::asks::{Asks, Step, Tag};
use super::handles::Handles;
use super::shared::{Note, Shared, Side};
use super::talk::{Halt, unasked};
use super::task::{Task, weight};
use super::window::Window;
use super::work::Job;

/// Jobs that a connection has at once.
const TASKS_MAX: usize = 64;
/// How soon a connection without a job sees a new one.
const IDLE: Duration = Duration::from_millis(10);
/// How long the end of a copy waits for parts that are being removed.
const CLEAN_UP: Duration = Duration::from_secs(1);
/// How soon others are noticed, such as a stop.
const TICK: Duration = Duration::from_millis(100);

/// A connection and its jobs.
pub(super) struct Worker<'a> {
    channel: SftpChannel,
    shared: &'a Shared,
    tasks: BTreeMap<u64, (Job, Task)>,
    owners: BTreeMap<u32, (u64, Tag)>,
    handles: Handles,
    next: u64,
    /// Bytes of the jobs.
    weight: u64,
    window: Window,
    /// A job whose turn has not come, where the rate is bounded.
    held: Option<(Job, Turn)>,
}

impl<'a> Worker<'a> {
    /// * `first`: files that are open on it, where it is the first connection.
    pub fn new(channel: SftpChannel, first: Option<Handles>, shared: &'a Shared) -> Self {
        Worker {
            window: Window::new(shared.rtt, first.is_some(), Instant::now()),
            handles: first.unwrap_or_default(),
            channel,
            shared,
            tasks: BTreeMap::new(),
            owners: BTreeMap::new(),
            next: 0,
            weight: 0,
            held: None,
        }
    }

    /// Works until all is done, or fewer connections are wanted. Returns the connection, where it
    /// is still there.
    ///
    /// * `number`: of this connection, from 0.
    /// * `wanted`: connections as they should be.
    pub fn run(mut self, number: u16, wanted: &AtomicU16) -> Option<SftpChannel> {
        let ended = self.work(number, wanted);
        if let Some((job, _)) = self.held.take() {
            self.shared.work.add_first(job);
        }
        let halt = ended.err();
        let is_whole = halt.is_none() && self.tasks.is_empty();
        for (_, (job, _)) in std::mem::take(&mut self.tasks) {
            self.give_back(job, halt.as_ref());
        }
        self.shared.tell(Note::Left(number, halt));
        is_whole.then_some(self.channel)
    }

    fn work(&mut self, number: u16, wanted: &AtomicU16) -> Result<(), Halt> {
        while !self.shared.is_over() {
            let is_leaving = number >= wanted.load(Ordering::Relaxed);
            let mut limit = TICK;
            if !is_leaving {
                limit = self.take_jobs()?;
            } else if self.tasks.is_empty() {
                return Ok(());
            }
            self.handles.close_idle(&mut self.channel);
            if let Some((number, reply)) = self.channel.receive(limit)? {
                self.on_reply(number, reply)?;
            }
        }
        self.clean_up()
    }

    /// Parts that are to go, go before the connection does, where the far end answers soon. No
    /// other task goes on.
    fn clean_up(&mut self) -> Result<(), Halt> {
        let until = Instant::now() + CLEAN_UP;
        let is_asked = |(_, tag): &(u64, Tag)| *tag == Tag::CleanUp;
        while self.owners.values().any(is_asked) && Instant::now() < until {
            let Some((number, reply)) = self.channel.receive(TICK)? else {
                continue;
            };
            if self.owners.get(&number).is_some_and(is_asked) {
                self.on_reply(number, reply)?;
            } else {
                self.owners.remove(&number);
            }
        }
        Ok(())
    }

    /// Begins jobs as far as there is room. Returns how long may be waited now.
    fn take_jobs(&mut self) -> Result<Duration, Halt> {
        // Each may have a file of its own open.
        let most = TASKS_MAX.min(self.shared.handles);
        while self.tasks.len() < most && self.weight < self.window.size() {
            let (job, turn) = match self.held.take() {
                Some(held) => held,
                None => {
                    let longest = |size| self.shared.piece_size(size);
                    let Some(job) = self.shared.work.take(&longest) else {
                        break;
                    };
                    let bytes = usize::try_from(weight(&job)).unwrap_or(usize::MAX);
                    match self.shared.throttle.turn(bytes) {
                        Some(turn) => (job, turn),
                        None => {
                            self.begin(job)?;
                            continue;
                        }
                    }
                }
            };
            let left = self.shared.throttle.left(turn);
            if left > Duration::ZERO {
                self.held = Some((job, turn));
                return Ok(left.min(TICK));
            }
            self.begin(job)?;
        }
        Ok(match self.tasks.is_empty() {
            true => IDLE,
            false => TICK,
        })
    }

    fn begin(&mut self, job: Job) -> Result<(), Halt> {
        if job.item.is_over() {
            return Ok(());
        }
        let id = self.next;
        self.next += 1;
        let mut task = Task::of(&job, self.shared);
        let mut asks = Asks {
            channel: &mut self.channel,
            owners: &mut self.owners,
            handles: &mut self.handles,
            task: id,
        };
        match task.begin(self.shared, &mut asks) {
            Step::Goes => {
                self.weight += weight(&job);
                self.tasks.insert(id, (job, task));
            }
            Step::Done => self.handles.leave(job.item.id, id),
        }
        // It is on its way while the next one is read and hashed.
        Ok(self.channel.flush()?)
    }

    fn on_reply(&mut self, number: u32, reply: Reply) -> Result<(), Halt> {
        let (id, tag) = self.owners.remove(&number).ok_or_else(unasked)?;
        let bytes = match (tag, &reply) {
            (Tag::Write(bytes), _) => bytes.into(),
            (Tag::Read(..), Reply::Data(bytes)) => bytes.len() as u64,
            _ => 0,
        };
        self.window.on_answered(bytes, Instant::now());
        let Tag::Share(how) = tag else {
            self.hand_over(id, tag, reply);
            return Ok(());
        };
        let Some(file) = self.tasks.get(&id).map(|(job, _)| job.item.id) else {
            return Ok(());
        };
        for waiting in self.handles.on_opened(file, how, &reply) {
            self.hand_over(waiting, Tag::Open, reply.clone());
        }
        Ok(())
    }

    /// A task has a reply.
    fn hand_over(&mut self, id: u64, tag: Tag, reply: Reply) {
        let Some((job, task)) = self.tasks.get_mut(&id) else {
            return;
        };
        let mut asks = Asks {
            channel: &mut self.channel,
            owners: &mut self.owners,
            handles: &mut self.handles,
            task: id,
        };
        if task.on_reply(tag, reply, self.shared, &mut asks) == Step::Done {
            self.weight = self.weight.saturating_sub(weight(job));
            self.handles.leave(job.item.id, id);
            self.tasks.remove(&id);
        }
    }

    /// What this connection did not end, another one does. What ends each connection does not.
    fn give_back(&self, job: Job, halt: Option<&Halt>) {
        let Some(Halt::Lost(why)) = halt else {
            return self.shared.work.add_first(job);
        };
        let item = job.item.clone();
        self.shared.tell(Note::Again(weight(&job)));
        if !self.shared.work.give_back(job) {
            if let Side::Get(get) = &self.shared.side {
                get.store.let_go(item.id);
            }
            self.shared.fail(&item, ends_connections(&item.path, why));
        }
    }
}

fn ends_connections(path: &[u8], why: &str) -> Problem {
    let what = format!(
        "each connection that carried `{}` ended, the last with: {why}",
        shown(path)
    );
    let hint = "see what `sftp` does with that file; the server's log may say why";
    with_hint(problem(ProblemKind::Disk, what), hint)
}
