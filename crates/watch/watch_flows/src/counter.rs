//! Sums of what records tell, until they are stored.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use changes::UnixTime;
use watch_plan::{Flows, Prefix};
use watch_store::{Crossing, RouterHour, Traffic, Volume};

use crate::application;
use crate::netflow::{self, Reader};
use crate::record::{Message, Record};
use crate::sequence::Sequence;
use crate::sflow;

/// Streams of records that are followed, and seconds after which a silent one makes room.
const STREAMS_MAX: usize = 64;
const SILENT: u64 = 3600;
/// Seconds before now to which the bytes of a flow are counted at most.
const AGE_MAX: u64 = 3600;
/// Sums in memory; a database that cannot be written fills them.
const SUMS_MAX: usize = 100_000;
/// No flow has more bytes; a record that says so is forged or broken.
const RECORD_MAX: u64 = 1 << 46;
/// The version that stands for sFlow in the key of a stream.
const SFLOW: u16 = 0;

/// A router, the version of its protocol, and the number of a stream within it.
type StreamKey = (IpAddr, u16, u32);
/// The first second of an interval, router, way, application.
type SumKey = (u64, IpAddr, Crossing, &'static str);

/// Datagrams and records that are in no sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Strangers {
    /// Datagrams of addresses that the plan does not name, of other protocols, and of streams above
    /// the most that are followed.
    pub datagrams: u64,
    /// Parts of flows that no room was left for.
    pub dropped: u64,
}

/// Sums up what routers tell.
#[derive(Debug)]
pub struct FlowCounter {
    inside: Vec<Prefix>,
    interval: u64,
    routers: Vec<Prefix>,
    sampling: u32,
    streams: BTreeMap<StreamKey, Stream>,
    sums: BTreeMap<SumKey, Volume>,
    hours: BTreeMap<(UnixTime, IpAddr), RouterHour>,
    /// Intervals of routers that are known to have traffic.
    covered: BTreeSet<(u64, IpAddr)>,
    strangers: Strangers,
}

#[derive(Debug)]
struct Stream {
    reader: Reader,
    sequence: Sequence,
    seen: UnixTime,
}

/// What became of a datagram.
enum Taken {
    Stranger,
    Unreadable,
    Repeated,
    /// With how much it moves the router's count, and how much is missing before it.
    Read(Message, (u32, i64)),
}

impl FlowCounter {
    /// Knows no router yet.
    pub fn new(plan: &Flows) -> Self {
        FlowCounter {
            inside: plan.inside.clone(),
            interval: (plan.interval.as_secs_f64() as u64).max(1),
            routers: plan.routers.clone(),
            sampling: plan.sampling,
            streams: BTreeMap::new(),
            sums: BTreeMap::new(),
            hours: BTreeMap::new(),
            covered: BTreeSet::new(),
            strangers: Strangers::default(),
        }
    }

    /// Takes a datagram that came from an address.
    pub fn take(&mut self, from: IpAddr, datagram: &[u8], now: UnixTime) {
        let router = from.to_canonical();
        let is_wanted = |prefix: &Prefix| prefix.contains(router);
        let taken = match self.routers.is_empty() || self.routers.iter().any(is_wanted) {
            true => self.read(router, datagram, now),
            false => Taken::Stranger,
        };
        if matches!(taken, Taken::Stranger) {
            self.strangers.datagrams += 1;
            return;
        }
        let hour = self.hour(router, now.seconds());
        hour.datagrams += 1;
        match taken {
            Taken::Repeated => hour.repeated += 1,
            Taken::Read(message, (received, lost)) => {
                hour.waiting += message.waiting;
                hour.unreadable += u64::from(!message.is_whole);
                hour.received += u64::from(received);
                hour.lost += lost;
                for record in &message.records {
                    self.add(router, record, now);
                }
            }
            Taken::Unreadable | Taken::Stranger => hour.unreadable += 1,
        }
    }

    /// All sums since [`FlowCounter::stored`], to be added to what is stored.
    pub fn sums(&self) -> (Vec<Traffic>, Vec<RouterHour>) {
        let traffic = |((at, router, way, application), volume): (&SumKey, &Volume)| Traffic {
            at: UnixTime::from_seconds(*at),
            seconds: self.interval,
            router: router.to_string(),
            way: *way,
            application: (*application).to_owned(),
            volume: *volume,
        };
        let traffic = self.sums.iter().map(traffic).collect();
        (traffic, self.hours.values().cloned().collect())
    }

    /// Begins anew behind sums that are stored.
    pub fn stored(&mut self, now: UnixTime) {
        self.sums.clear();
        self.hours.clear();
        let oldest = now.seconds().saturating_sub(AGE_MAX + self.interval);
        self.covered.retain(|(at, _)| *at >= oldest);
    }

    /// What is in no sum, since this was last asked.
    pub fn strangers(&mut self) -> Strangers {
        std::mem::take(&mut self.strangers)
    }

    fn read(&mut self, router: IpAddr, datagram: &[u8], now: UnixTime) -> Taken {
        let sflow = sflow::read(datagram);
        let key = match &sflow {
            Some((sub_agent, _)) => Some((router, SFLOW, *sub_agent)),
            None => netflow::stream_of(datagram).map(|(version, id)| (router, version, id)),
        };
        let Some(stream) = key.and_then(|key| self.stream(key, now)) else {
            // A known router may send something else, too.
            let is_known = self.streams.keys().any(|(known, ..)| *known == router);
            return match is_known && key.is_none() {
                true => Taken::Unreadable,
                false => Taken::Stranger,
            };
        };
        stream.seen = now;
        if stream.sequence.is_repeated(datagram) {
            return Taken::Repeated;
        }
        let message = match sflow {
            Some((_, message)) => Some(message),
            None => stream.reader.read(datagram),
        };
        let Some(message) = message else {
            return Taken::Unreadable;
        };
        let lost = stream.sequence.take(message.sequence, message.advances);
        let received = stream.sequence.advance(message.advances);
        Taken::Read(message, (received, lost))
    }

    /// The stream of a key; `None` where there are too many.
    fn stream(&mut self, key: StreamKey, now: UnixTime) -> Option<&mut Stream> {
        if !self.streams.contains_key(&key) {
            if self.streams.len() >= STREAMS_MAX {
                let silent = UnixTime::from_seconds(now.seconds().saturating_sub(SILENT));
                self.streams.retain(|_, stream| stream.seen >= silent);
            }
            if self.streams.len() >= STREAMS_MAX {
                return None;
            }
            let stream = Stream {
                reader: Reader::new().ok()?,
                sequence: Sequence::default(),
                seen: now,
            };
            self.streams.insert(key, stream);
        }
        self.streams.get_mut(&key)
    }

    fn hour(&mut self, router: IpAddr, seconds: u64) -> &mut RouterHour {
        let at = UnixTime::from_seconds(seconds / 3600 * 3600);
        let new = || RouterHour {
            at,
            router: router.to_string(),
            ..RouterHour::default()
        };
        self.hours.entry((at, router)).or_insert_with(new)
    }

    /// Adds a flow to the intervals that it touches.
    fn add(&mut self, router: IpAddr, record: &Record, now: UnixTime) {
        let sampling = u64::from(record.sampling.unwrap_or(self.sampling));
        let bytes = record.bytes.saturating_mul(sampling);
        let packets = record.packets.saturating_mul(sampling);
        if bytes > RECORD_MAX || packets > RECORD_MAX {
            self.hour(router, now.seconds()).unreadable += 1;
            return;
        }
        let way = self.way(record);
        let name = application::name(record.protocol, record.ports);
        let mut rest = Volume {
            bytes,
            packets,
            records: 1,
        };
        let parts = parts(record, now, self.interval);
        let last = parts.len().saturating_sub(1);
        for (place, (at, share)) in parts.into_iter().enumerate() {
            let part = match place == last {
                true => rest,
                false => Volume {
                    bytes: (bytes as f64 * share) as u64,
                    packets: (packets as f64 * share) as u64,
                    records: 0,
                },
            };
            rest.bytes = rest.bytes.saturating_sub(part.bytes);
            rest.packets = rest.packets.saturating_sub(part.packets);
            self.add_part((at, router, way, name), part);
        }
    }

    fn add_part(&mut self, key: SumKey, part: Volume) {
        let (at, router, ..) = key;
        if self.sums.len() >= SUMS_MAX && !self.sums.contains_key(&key) {
            self.strangers.dropped += 1;
            return;
        }
        self.sums.entry(key).or_default().add(part);
        if self.covered.insert((at, router)) {
            let interval = self.interval;
            self.hour(router, at).covered += interval;
        }
    }

    fn way(&self, record: &Record) -> Crossing {
        let is_inside = |address: IpAddr| {
            let address = address.to_canonical();
            self.inside.iter().any(|prefix| prefix.contains(address))
        };
        match (is_inside(record.source), is_inside(record.destination)) {
            (false, true) => Crossing::In,
            (true, false) => Crossing::Out,
            (true, true) => Crossing::Within,
            (false, false) => Crossing::Through,
        }
    }
}

/// The first second of each interval that a flow touches, and the share of its time there.
fn parts(record: &Record, now: UnixTime, interval: u64) -> Vec<(u64, f64)> {
    let now = now.seconds().saturating_mul(1000);
    let oldest = AGE_MAX * 1000;
    let ended = now.saturating_sub(record.ended_ago.min(oldest));
    let begun = now.saturating_sub(record.begun_ago.min(oldest)).min(ended);
    let interval = interval * 1000;
    let length = (ended - begun) as f64;
    let first = begun / interval * interval;
    // What ends where an interval begins is none of it.
    let last = (ended.max(begun + 1) - 1) / interval * interval;
    let part = |place: u64| {
        let at = first + place * interval;
        let within = ended.min(at + interval).saturating_sub(begun.max(at));
        let share = if length > 0.0 {
            within as f64 / length
        } else {
            1.0
        };
        (at / 1000, share)
    };
    (0..=(last - first) / interval).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_spread_over_the_time_that_it_lasted() {
        let flow = |begun_ago, ended_ago| Record {
            source: IpAddr::from([192, 0, 2, 1]),
            destination: IpAddr::from([198, 51, 100, 1]),
            protocol: 6,
            ports: (1, 2),
            bytes: 1,
            packets: 1,
            sampling: None,
            begun_ago,
            ended_ago,
        };
        let now = UnixTime::from_seconds(1_000_020);
        let parts = |begun, ended| parts(&flow(begun, ended), now, 60);
        assert_eq!(parts(0, 0), [(1_000_020, 1.0)]);
        assert_eq!(parts(20_000, 0), [(999_960, 1.0)]);
        assert_eq!(
            parts(80_000, 20_000),
            [(999_900, 1.0 / 3.0), (999_960, 2.0 / 3.0)]
        );
        assert_eq!(parts(5, 50), [(999_960, 1.0)]);
        // A clock that is far off counts within the last hour.
        let all = parts(u64::MAX, 0);
        assert_eq!((all.len(), all[0].0), (60, 996_420));
        let sum: f64 = all.iter().map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }
}
