//! The connections of a running client, reading after reading.

use std::collections::BTreeMap;

use observe::{Direction, Progress};
use sockets::diag::Connection;
use units::{Bytes, Span, Time};

/// A connection that has carried this much carries data; others only control it.
const DATA: Bytes = Bytes::from_kib(32);

/// One connection, from its first reading on.
#[derive(Debug)]
pub(super) struct Followed {
    /// As it was read last.
    pub last: Connection,
    /// Each reading, by the run's clock.
    pub readings: Vec<observe::TcpSample>,
    /// What has arrived by each of them.
    pub progress: Vec<Progress>,
}

/// All connections that were seen.
#[derive(Debug)]
pub(super) struct Connections {
    direction: Direction,
    seen: BTreeMap<u32, Followed>,
    /// The numbers of their sockets in the order in which they came.
    order: Vec<u32>,
}

impl Connections {
    pub(super) fn new(direction: Direction) -> Self {
        Connections {
            direction,
            seen: BTreeMap::new(),
            order: Vec::new(),
        }
    }

    /// What the far kernel, or this one, has got of a connection's data.
    fn arrived(&self, connection: &Connection) -> Bytes {
        let counted = match self.direction {
            Direction::Reverse => connection.info.bytes_received,
            _ => connection.info.bytes_acked,
        };
        counted.unwrap_or(Bytes::ZERO)
    }

    /// Takes in a reading.
    pub(super) fn read(&mut self, connection: Connection) {
        let bytes = self.arrived(&connection);
        let reading = Progress {
            at: connection.info.at,
            bytes,
        };
        let sample = connection.info;
        let followed = self.seen.entry(connection.inode).or_insert_with(|| {
            self.order.push(connection.inode);
            Followed {
                last: connection.clone(),
                readings: Vec::new(),
                progress: Vec::new(),
            }
        });
        followed.last = connection;
        followed.readings.push(sample);
        followed.progress.push(reading);
    }

    /// Those that carry data, in the order in which they came.
    pub(super) fn carrying(&self) -> Vec<&Followed> {
        let all = self.order.iter().filter_map(|number| self.seen.get(number));
        let carries = |one: &&Followed| {
            let last = one.progress.last();
            last.is_some_and(|last| last.bytes >= DATA)
        };
        all.filter(carries).collect()
    }

    /// What all of them have carried.
    pub(super) fn bytes(&self) -> Bytes {
        let carrying = self.carrying().into_iter();
        let last = carrying.filter_map(|one| one.progress.last().map(|last| last.bytes));
        last.sum()
    }

    /// Mean of their smoothed round trips at the last reading.
    pub(super) fn rtt(&self) -> Option<Span> {
        let rtts = self
            .carrying()
            .into_iter()
            .filter_map(|one| one.last.info.rtt);
        let rtts: Vec<f64> = rtts.map(Span::as_secs_f64).collect();
        stats::mean(&rtts).map(Span::from_secs_f64)
    }

    /// Bytes sent and of them sent again, over all.
    pub(super) fn sent(&self) -> Option<(Bytes, Bytes)> {
        let each = self.carrying().into_iter().map(|one| {
            let info = &one.last.info;
            Some((info.bytes_sent?, info.bytes_retransmitted?))
        });
        let sums = each.collect::<Option<Vec<_>>>()?;
        let (sent, again): (Vec<Bytes>, Vec<Bytes>) = sums.into_iter().unzip();
        Some((sent.into_iter().sum(), again.into_iter().sum()))
    }

    /// Everything from `start` on, and counted from there.
    pub(super) fn since(mut self, start: Time) -> Self {
        for followed in self.seen.values_mut() {
            followed.progress.retain(|reading| reading.at > start);
            followed.readings.retain(|reading| reading.at > start);
            for reading in &mut followed.progress {
                reading.at = Time::ZERO + reading.at.since(start);
            }
            for reading in &mut followed.readings {
                reading.at = Time::ZERO + reading.at.since(start);
            }
        }
        self
    }
}
