//! The pairs of addresses over which the streams of a copy are dealt, over all of its sessions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use copy_net::StreamHandle;
use copy_protocol::PairCarried;
use steer::Pairs;
use units::{AddressPair, Bytes, Time};

/// The pairs of one copy. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct CopyPairs(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    addresses: Vec<AddressPair>,
    pairs: Pairs,
    /// Streams on their way and connected, by their numbers.
    streams: BTreeMap<u32, Stream>,
    /// Bytes since the last look on streams that have ended.
    ended: Vec<Bytes>,
    looked: Time,
}

#[derive(Debug)]
struct Stream {
    pair: usize,
    /// Once it is connected.
    handle: Option<StreamHandle>,
    carried: Bytes,
}

impl CopyPairs {
    /// `None` without any.
    pub(crate) fn new(addresses: &[AddressPair]) -> Option<Self> {
        let state = State {
            addresses: addresses.to_vec(),
            pairs: Pairs::new(addresses.len()),
            streams: BTreeMap::new(),
            ended: vec![Bytes::ZERO; addresses.len()],
            looked: Time::ZERO,
        };
        (!addresses.is_empty()).then(|| CopyPairs(Arc::new(Mutex::new(state))))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is complete, even when another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pairs themselves.
    pub(crate) fn addresses(&self) -> Vec<AddressPair> {
        self.state().addresses.clone()
    }

    /// A session begins, whose streams have other numbers.
    pub(crate) fn begin(&self, now: Time) {
        let mut state = self.state();
        state.look(now, false);
        state.streams.clear();
        state.pairs.begin();
    }

    /// Where the stream of that number is to be connected; `None` while all pairs are left out.
    pub(crate) fn deal(&self, number: u32, now: Time) -> Option<AddressPair> {
        let mut state = self.state();
        let pair = state.pairs.deal(now)?;
        state.dealt(number, pair)
    }

    /// The same for one stream more, where a pair is to be tried again.
    pub(crate) fn retry(&self, number: u32, now: Time) -> Option<AddressPair> {
        let mut state = self.state();
        let pair = state.pairs.retry(now)?;
        state.dealt(number, pair)
    }

    /// A stream is connected. What there is to say of it.
    pub(crate) fn on_joined(&self, number: u32, handle: StreamHandle, now: Time) -> Option<String> {
        let mut state = self.state();
        let stream = state.streams.get_mut(&number)?;
        stream.handle = Some(handle);
        let at = stream.pair;
        let is_back = state.pairs.on_joined(at, now);
        let pair = state.addresses.get(at).filter(|_| is_back)?;
        Some(format!("{pair} carries streams again"))
    }

    /// Where the stream of that number was to be connected, another host answers.
    pub(crate) fn give_up(&self, number: u32) {
        let mut state = self.state();
        if let Some(at) = state.streams.get(&number).map(|stream| stream.pair) {
            state.pairs.give_up(at);
        }
    }

    /// A stream could not be connected. What there is to say of it.
    pub(crate) fn on_not_joined(&self, number: u32, why: &str, now: Time) -> Option<String> {
        let mut state = self.state();
        let at = state.streams.remove(&number)?.pair;
        let is_gone = state.pairs.on_not_joined(at, now);
        state.is_gone(is_gone, at, why)
    }

    /// A stream is over. What there is to say of it.
    pub(crate) fn on_over(
        &self,
        number: u32,
        end: &Result<(), String>,
        now: Time,
    ) -> Option<String> {
        let mut state = self.state();
        let mut stream = state.streams.remove(&number)?;
        let (at, more) = (stream.pair, stream.more());
        if let Some(ended) = state.ended.get_mut(at) {
            *ended += more;
        }
        let is_gone = state.pairs.on_over(at, end.is_err(), now);
        state.is_gone(is_gone, at, end.as_ref().err()?)
    }

    /// Reads what all streams carry.
    ///
    /// * `ends`: streams of pairs that hang are ended.
    pub(crate) fn look(&self, now: Time, ends: bool) {
        self.state().look(now, ends);
    }

    /// What each carried, with what its streams have carried until now.
    pub(crate) fn outcome(&self) -> Vec<PairCarried> {
        let mut state = self.state();
        let now = state.looked;
        state.look(now, false);
        let carried = state.pairs.carried();
        let pairs = state.addresses.iter().cloned().zip(carried);
        pairs
            .map(|(pair, (carried, gone))| PairCarried {
                pair,
                carried,
                gone,
            })
            .collect()
    }
}

impl State {
    fn dealt(&mut self, number: u32, pair: usize) -> Option<AddressPair> {
        let stream = Stream {
            pair,
            handle: None,
            carried: Bytes::ZERO,
        };
        self.streams.insert(number, stream);
        self.addresses.get(pair).cloned()
    }

    fn is_gone(&self, is_gone: bool, at: usize, why: &str) -> Option<String> {
        let pair = self.addresses.get(at).filter(|_| is_gone)?;
        tracing::warn!(%pair, why, "a pair of addresses carries nothing");
        Some(format!(
            "{pair} is left out for now ({why}), and its streams go over the others"
        ))
    }

    fn look(&mut self, now: Time, ends: bool) {
        let nothing = vec![Bytes::ZERO; self.addresses.len()];
        let mut moved = std::mem::replace(&mut self.ended, nothing);
        for stream in self.streams.values_mut() {
            let more = stream.more();
            if let Some(moved) = moved.get_mut(stream.pair) {
                *moved += more;
            }
        }
        let over = now.since(self.looked);
        self.looked = now;
        let hang = self.pairs.on_look(now, over, &moved);
        let hanging = self
            .streams
            .values()
            .filter(|stream| ends && hang.contains(&stream.pair));
        let handles = hanging.filter_map(|stream| stream.handle.as_ref());
        handles.for_each(StreamHandle::shut_down);
    }
}

impl Stream {
    /// Bytes since this was asked last: the larger direction is the one with the data.
    fn more(&mut self) -> Bytes {
        let sample = self
            .handle
            .as_ref()
            .and_then(|handle| handle.sample(Time::ZERO).ok());
        let Some(sample) = sample else {
            return Bytes::ZERO;
        };
        let both = [sample.bytes_acked, sample.bytes_received];
        let carried = both.into_iter().flatten().max().unwrap_or(self.carried);
        let more = carried - self.carried.min(carried);
        self.carried = self.carried.max(carried);
        more
    }
}
