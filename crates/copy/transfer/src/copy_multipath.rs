//! What the streams of a copy go over that are of multipath TCP, over all of its sessions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use copy_net::StreamHandle;
use observe::{Multipath, MultipathConnection};

/// The streams of one copy. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct CopyMultipath(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Streams that are connected, by their numbers.
    streams: BTreeMap<u32, Stream>,
    ended: Multipath,
    /// That they are plain TCP was told.
    is_told: bool,
}

#[derive(Debug)]
struct Stream {
    handle: StreamHandle,
    seen: MultipathConnection,
}

impl CopyMultipath {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is complete, even when another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session begins, whose streams have other numbers.
    pub(crate) fn begin(&self) {
        let mut state = self.state();
        let State { streams, ended, .. } = &mut *state;
        streams.values().for_each(|stream| ended.add(&stream.seen));
        streams.clear();
    }

    /// A stream is connected. What there is to say where it is the first that is plain TCP.
    pub(crate) fn on_joined(&self, number: u32, handle: StreamHandle) -> Option<String> {
        let mut stream = Stream {
            handle,
            seen: MultipathConnection::default(),
        };
        stream.look();
        let mut state = self.state();
        let is_new = stream.seen.is_plain && !state.is_told;
        state.is_told |= stream.seen.is_plain;
        let mut one = Multipath::default();
        one.add(&stream.seen);
        state.streams.insert(number, stream);
        one.plain_words().filter(|_| is_new)
    }

    /// A stream is over.
    pub(crate) fn on_over(&self, number: u32) {
        let mut state = self.state();
        if let Some(mut stream) = state.streams.remove(&number) {
            stream.look();
            state.ended.add(&stream.seen);
        }
    }

    /// Sees what all streams go over now.
    pub(crate) fn look(&self) {
        self.state().streams.values_mut().for_each(Stream::look);
    }

    /// What they went over.
    pub(crate) fn outcome(&self) -> Multipath {
        let state = self.state();
        let mut all = state.ended.clone();
        let streams = state.streams.values();
        streams.for_each(|stream| all.add(&stream.seen));
        all
    }
}

impl Stream {
    fn look(&mut self) {
        if let Some(now) = self.handle.multipath() {
            self.seen.see(now);
        }
    }
}
