//! Files that arrive over streams of any bytes, without a conversation, for fuzz targets.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use copy_protocol::{
    Attributes, Entry, FileId, Filter, HASH_LENGTH, Kind, Name, Problem, ProblemKind,
};

use super::publisher::Publisher;
use super::rereader::Rereader;
use super::shared::Shared;
use super::stream::ReceiveStream;
use crate::activity::TimeSpent;
use crate::session::Event;
use files::store::{Store, StoreSpec};
use files::{HashTree, Root};
use files::{failed, problem};

/// More than any input brings about.
const HAPPENINGS_MAX: usize = 1 << 16;

/// The receiver of files called `0`, `1` and so on, all of which are wanted.
pub struct Arrivals {
    shared: Arc<Shared>,
    count: u32,
    report: SyncSender<Event>,
    events: Receiver<Event>,
}

impl Arrivals {
    /// Files of these sizes are to arrive in `folder`.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn open(folder: &Path, sizes: &[u64]) -> Result<Self, Problem> {
        let store = Arc::new(Store::open(&Root::beneath(folder)?, spec())?);
        let (report, events) = sync_channel(HAPPENINGS_MAX);
        let spent = Arc::new(TimeSpent::default());
        let publisher = Publisher::start(Arc::clone(&store), report.clone(), Arc::clone(&spent));
        let rereader = Rereader::start(Arc::clone(&store), report.clone());
        let shared = Arc::new(Shared::new(store, publisher, rereader, spent));
        let mut count = 0;
        for size in sizes {
            let (id, answer) = shared.store.add(&entry(count, *size)?);
            answer?;
            shared.files.expect(id, HashTree::new(*size), *size);
            count += 1;
        }
        shared.files.told(count);
        shared.files.told_all();
        Ok(Arrivals {
            shared,
            count,
            report,
            events,
        })
    }

    /// Runs a stream that brings `bytes` and ends.
    ///
    /// # Errors
    /// When the host has no sockets left, or `bytes` do not fit into one.
    pub fn stream(&self, number: u32, bytes: &[u8]) -> Result<(), Problem> {
        let broken = |error: std::io::Error| failed("connect", "a stream", &error);
        let (mut near, far) = UnixStream::pair().map_err(broken)?;
        near.set_nonblocking(true).map_err(broken)?;
        near.write_all(bytes).map_err(broken)?;
        near.shutdown(Shutdown::Write).map_err(broken)?;
        let channel = copy_net::fuzzing::plain_channel(TcpStream::from(OwnedFd::from(far)));
        let shared = Arc::clone(&self.shared);
        ReceiveStream::new(number, channel, shared, self.report.clone()).run();
        Ok(())
    }

    /// The sender has read all files to their ends.
    pub fn are_read(&self) {
        for id in 0..self.count {
            if let Some(digest) = self.shared.files.on_read(id) {
                self.shared.publisher.take(id, digest);
            }
        }
    }

    /// Waits for the files that are whole. Returns which of them have their names, and the digests
    /// that were told.
    pub fn end(self) -> Vec<(FileId, [u8; HASH_LENGTH])> {
        if let Some(thread) = self.shared.publisher.close() {
            let ended = thread.join();
            assert!(ended.is_ok(), "the publisher panicked");
        }
        for id in 0..self.count {
            self.shared.store.let_go(id);
        }
        let published = self.events.try_iter().filter_map(|it| match it {
            Event::Published(id, digest) => Some((id, digest)),
            _ => None,
        });
        published.collect()
    }
}

fn entry(number: u32, size: u64) -> Result<Entry, Problem> {
    let name = Name::new(number.to_string().into_bytes());
    let name = name.map_err(|error| problem(ProblemKind::Request, error.to_string()))?;
    Ok(Entry {
        name,
        kind: Kind::File(size),
        mode: 0o644,
        modified_nanoseconds: 0,
        version: 0,
        is_sparse: false,
        digest: None,
    })
}

fn spec() -> StoreSpec {
    StoreSpec {
        destination: b".".to_vec(),
        into_folder: true,
        attributes: Attributes {
            permissions: false,
            times: false,
            links: true,
            kept: copy_protocol::Kept::NOTHING,
        },
        filter: Filter::All,
        verify: false,
        dry_run: false,
        claim_timeout: std::time::Duration::ZERO,
    }
}
