//! The socket for flow records of routers, and what is told of how they come.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use errors::Hint;
use observe::Fault;
use sockets::datagrams::bind_with_room;
use trunkline::{Cancel, Error};
use watch_flows::{FlowCounter, Strangers};
use watch_plan::Flows;
use watch_store::{DatabaseName, RouterHour, Store};

use super::collector_event::{CollectorEvent, OnCollectorEvent, now};

/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// How often sums are stored, and how often losses are told.
const STORE_EVERY: Duration = Duration::from_secs(5);
const TELL_EVERY: Duration = Duration::from_secs(600);
/// The longest datagram.
const DATAGRAM_MAX: usize = 65_535;
/// A smaller share of losses is not told.
const LOST_MIN: f64 = 0.001;
/// Routers that are known by name.
const ROUTERS_MAX: usize = 1000;

/// Takes flow records and stores what they tell.
pub(super) struct FlowListener {
    socket: UdpSocket,
    address: SocketAddr,
    counter: FlowCounter,
    store: Store,
    /// Routers that have sent something.
    known: BTreeSet<String>,
    /// How records came since that was told.
    came: BTreeMap<String, RouterHour>,
    /// Whether the database could not be written the last time.
    is_failing: bool,
}

impl FlowListener {
    /// Binds the socket of a plan.
    ///
    /// # Errors
    /// When the address is taken or not of this host, or the database cannot be used.
    pub fn bind(plan: &Flows, database: &DatabaseName) -> Result<Self, Error> {
        let socket = bind_with_room(plan.listen).map_err(|error| unbound(plan.listen, &error))?;
        let prepared = socket.set_read_timeout(Some(TICK));
        let address = prepared.and_then(|()| socket.local_addr());
        Ok(FlowListener {
            address: address.map_err(|error| unbound(plan.listen, &error))?,
            socket,
            counter: FlowCounter::new(plan),
            store: Store::open(database)?,
            known: BTreeSet::new(),
            came: BTreeMap::new(),
            is_failing: false,
        })
    }

    /// Where routers send to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes records until `cancel`, then stores what it has.
    pub fn run(mut self, on_event: &OnCollectorEvent, cancel: &Cancel) {
        let mut buffer = vec![0; DATAGRAM_MAX];
        let begun = Instant::now();
        let (mut store_at, mut tell_at) = (begun + STORE_EVERY, begun + TELL_EVERY);
        while !cancel.is_cancelled() {
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) => {
                    let datagram = buffer.get(..length).unwrap_or_default();
                    self.counter.take(from.ip(), datagram, now());
                }
                Err(error) if is_nothing(&error) => {}
                // What the network complains of is of no datagram that is awaited.
                Err(_) => thread::sleep(TICK),
            }
            if Instant::now() >= store_at {
                store_at = Instant::now() + STORE_EVERY;
                self.store(on_event);
            }
            if Instant::now() >= tell_at {
                tell_at = Instant::now() + TELL_EVERY;
                self.tell(on_event);
            }
        }
        self.store(on_event);
        self.tell(on_event);
    }

    fn store(&mut self, on_event: &OnCollectorEvent) {
        let (traffic, routers) = self.counter.sums();
        if routers.is_empty() {
            return;
        }
        if let Err(error) = self.store.insert_flows(&traffic, &routers) {
            if !self.is_failing {
                on_event(&CollectorEvent::Failed {
                    what: format!("flow records wait in memory: {error}"),
                    hint: error.hint().unwrap_or_default(),
                });
            }
            self.is_failing = true;
            return;
        }
        self.is_failing = false;
        self.counter.stored(now());
        for hour in &routers {
            let is_new = self.known.len() < ROUTERS_MAX && self.known.insert(hour.router.clone());
            if is_new {
                let sentence = format!("router {} sends flow records", hour.router);
                on_event(&CollectorEvent::Flows(sentence));
            }
            let new = || RouterHour {
                router: hour.router.clone(),
                ..RouterHour::default()
            };
            let came = self.came.entry(hour.router.clone()).or_insert_with(new);
            came.received += hour.received;
            came.lost += hour.lost;
        }
    }

    fn tell(&mut self, on_event: &OnCollectorEvent) {
        let came = std::mem::take(&mut self.came);
        let routers = came.values().filter_map(lost);
        let strangers = unknown(self.counter.strangers());
        for sentence in routers.chain(strangers) {
            on_event(&CollectorEvent::Flows(sentence));
        }
    }
}

/// What of the records of a router did not come; `None` where that is little.
fn lost(came: &RouterHour) -> Option<String> {
    let lost = came.lost_share().filter(|share| *share >= LOST_MIN)?;
    let (router, lost) = (&came.router, draw::format::percent(lost));
    Some(format!(
        "router {router}: {lost} of what it sent was lost on the way here"
    ))
}

/// What is in no sum.
fn unknown(strangers: Strangers) -> Vec<String> {
    let count = |count: u64, name: &str, words: &str| {
        (count > 0).then(|| format!("{} {words}", draw::words::count(count, name)))
    };
    let datagrams = count(
        strangers.datagrams,
        "datagram",
        "at the port for flow records did not count: of routers that the plan does not name, of \
         another protocol, or of more than 64 streams",
    );
    let dropped = count(
        strangers.dropped,
        "part",
        "of flows did not count: memory for them is full, since the database cannot be written",
    );
    datagrams.into_iter().chain(dropped).collect()
}

fn is_nothing(error: &io::Error) -> bool {
    use ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

fn unbound(address: SocketAddr, error: &io::Error) -> Error {
    let what = format!("{address} for flow records cannot be used: {error}");
    let hint = "another collector may run here: end it, or give `listen` of `[flows]` another \
                address or port of this host";
    let source = io::Error::new(error.kind(), what);
    Error::of(Fault::Run, source, Some(hint.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_sentences() {
        let came = |received, lost| RouterHour {
            router: "192.0.2.254".to_owned(),
            received,
            lost,
            ..RouterHour::default()
        };
        let words = "router 192.0.2.254: 3.0 % of what it sent was lost on the way here";
        assert_eq!(lost(&came(97, 3)).as_deref(), Some(words));
        for (received, missing) in [(0, 0), (10_000, 1), (10, -3)] {
            assert_eq!(lost(&came(received, missing)), None);
        }
        let strangers = Strangers {
            datagrams: 1,
            dropped: 0,
        };
        assert!(unknown(strangers)[0].starts_with("1 datagram at the port"));
    }
}
