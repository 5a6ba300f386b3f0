//! Small files that are stored whole, as fast as the connections take them.

use std::collections::VecDeque;
use std::sync::Arc;

use copy_protocol::Name;
use copy_protocol::remote::{Ask, Failure, FailureKind, FileAttributes, NewFile, STORE_MAX};

use crate::RemoteError;
use crate::caller::Caller;
use crate::slot::{Signal, Slot, Stage, TICK};

/// A file that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallFile {
    /// Its name.
    pub path: Name,
    /// At most [`STORE_MAX`] bytes.
    pub content: Arc<[u8]>,
    /// Those of its source; without, those of a file that is written to there.
    pub attributes: Option<FileAttributes>,
    /// A file or a link of that name is replaced. Only then it is stored again after a lost
    /// connection.
    pub replaces: bool,
}

/// What is to be stored, and what has come of it.
struct Work<'a> {
    files: &'a [SmallFile],
    outcomes: Vec<Result<(), RemoteError>>,
    signal: Arc<Signal>,
    /// Requests that wait for room, and for their answers, with the numbers of their files.
    queue: VecDeque<(usize, Arc<Slot>)>,
    open: Vec<(usize, Arc<Slot>)>,
}

/// Stores all `files`. Each has a result of its own, in their order.
///
/// # Errors
/// When it was cancelled, or the far end was gone for too long.
pub(crate) fn store_all(
    caller: &mut Caller<'_>,
    files: &[SmallFile],
) -> Result<Vec<Result<(), RemoteError>>, RemoteError> {
    let mut work = Work {
        files,
        outcomes: files.iter().map(SmallFile::check).collect(),
        signal: Arc::default(),
        queue: VecDeque::new(),
        open: Vec::new(),
    };
    for index in 0..files.len() {
        if work.outcomes[index].is_ok() {
            work.enqueue(index);
        }
    }
    let done = work.run(caller);
    work.open.iter().for_each(|(_, slot)| slot.abandon());
    done.map(|()| work.outcomes)
}

impl Work<'_> {
    fn run(&mut self, caller: &mut Caller<'_>) -> Result<(), RemoteError> {
        let mut seen = 0;
        while !(self.queue.is_empty() && self.open.is_empty()) {
            caller.connect()?;
            self.ask(caller);
            seen = self.signal.wait(seen, TICK);
            self.collect(caller)?;
            caller.go_on()?;
        }
        Ok(())
    }

    /// Gives the connections as many as they take.
    fn ask(&mut self, caller: &Caller<'_>) {
        while let Some(next) = self.queue.pop_front() {
            if !caller.pool.ask(&next.1) {
                return self.queue.push_front(next);
            }
            self.open.push(next);
        }
    }

    fn enqueue(&mut self, index: usize) {
        let slot = self.files[index].slot(&self.signal);
        self.queue.push_back((index, slot));
    }

    /// Takes what has been answered.
    fn collect(&mut self, caller: &mut Caller<'_>) -> Result<(), RemoteError> {
        let mut lost = None;
        for (index, slot) in std::mem::take(&mut self.open) {
            caller.on_heard(slot.heard());
            match slot.stage() {
                Stage::Waiting => self.open.push((index, slot)),
                Stage::Done => {}
                Stage::Failed(error) => self.outcomes[index] = Err(error),
                Stage::Lost(why) if self.files[index].replaces => {
                    self.enqueue(index);
                    lost = Some(why);
                }
                Stage::Lost(what) => {
                    let name = self.files[index].path.to_string();
                    self.outcomes[index] = Err(RemoteError::Unsure { name, what });
                }
            }
        }
        lost.map_or(Ok(()), |why| caller.on_lost(why))
    }
}

impl SmallFile {
    fn check(&self) -> Result<(), RemoteError> {
        let (path, length) = (&self.path, self.content.len());
        if length <= STORE_MAX as usize {
            return Ok(());
        }
        let what = format!(
            "`{path}` has {length} bytes, and at most {STORE_MAX} are stored by one request"
        );
        let failure = Failure::new(FailureKind::Request, what).with_hint("put it with a copy");
        Err(RemoteError::Failed(failure))
    }

    fn slot(&self, signal: &Arc<Signal>) -> Arc<Slot> {
        let ask = Ask::Store(NewFile {
            path: self.path.clone(),
            length: self.content.len() as u32,
            digest: *blake3::hash(&self.content).as_bytes(),
            attributes: self.attributes,
            replaces: self.replaces,
        });
        Slot::with_content(ask, Arc::clone(&self.content), signal)
    }
}
