//! A test of datagrams at the server: where its client's datagrams come from, and its stream.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Mutex, MutexGuard, PoisonError};

use measure_protocol::TestRequest;
use measure_protocol::iperf3::datagram::{HELLO, WELCOME};
use units::{Bytes, Span, Time};

use super::Shared;
use super::probe_demux::uniform;
use crate::datagrams::{DatagramStream, Job, Moved, widen};
use probe_net::trains::SharedPort;
use sockets::Clock;

/// Hosts whose first datagram is waited for, and where it came from.
#[derive(Debug, Default)]
pub(super) struct Greeters(Mutex<BTreeMap<IpAddr, Option<SocketAddr>>>);

impl Greeters {
    /// A datagram with which a client opens its stream; whether it is one. Only hosts with a test
    /// that waits for it are answered.
    pub(super) fn greet(&self, datagram: &[u8], from: SocketAddr) -> bool {
        let from = uniform(from);
        let is_hello = datagram == HELLO;
        if let Some(place) = self.lock().get_mut(&from.ip()).filter(|_| is_hello) {
            place.get_or_insert(from);
        }
        is_hello
    }

    /// Where the greeting of a host came from, once.
    fn take(&self, host: IpAddr) -> Option<SocketAddr> {
        let mut waiting = self.lock();
        let from = waiting.get(&host).copied().flatten()?;
        waiting.remove(&host);
        Some(from)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<IpAddr, Option<SocketAddr>>> {
        // A map is intact even when another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The test of one client.
pub(super) struct DatagramTest<'a> {
    shared: &'a Shared<'a>,
    host: IpAddr,
    job: Job,
    stage: Stage,
    started: Clock,
}

enum Stage {
    Greeting,
    Open(UdpSocket),
    Running(DatagramStream),
    Over(Moved),
}

impl<'a> DatagramTest<'a> {
    /// Waits for the greeting of `peer`; `None` while another test waits for one of the same host.
    pub(super) fn begin(
        shared: &'a Shared<'a>,
        request: &TestRequest,
        peer: SocketAddr,
    ) -> Option<Self> {
        let host = uniform(peer).ip();
        let mut waiting = shared.greeters.lock();
        if waiting.contains_key(&host) {
            return None;
        }
        waiting.insert(host, None);
        drop(waiting);
        let sends = request.server_streams().send > 0;
        Some(DatagramTest {
            shared,
            host,
            job: match request.pacing.filter(|_| sends) {
                Some(rate) => Job::Send(rate, request.block),
                None => Job::Receive,
            },
            stage: Stage::Greeting,
            started: Clock::start(),
        })
    }

    /// Opens the stream when the greeting has come; whether it was opened just now.
    pub(super) fn opened(&mut self, local: SocketAddr) -> io::Result<bool> {
        let Stage::Greeting = self.stage else {
            return Ok(false);
        };
        let Some(from) = self.shared.greeters.take(self.host) else {
            return Ok(false);
        };
        self.stage = Stage::Over(Moved::default());
        let shared = self.shared.echo.ok_or(io::ErrorKind::Unsupported)?;
        let beside = SharedPort {
            shared,
            lock: &self.shared.port,
        };
        let socket: UdpSocket = beside.connected(uniform(local), from)?.into();
        widen(&socket)?;
        socket.send(&WELCOME)?;
        self.stage = Stage::Open(socket);
        Ok(true)
    }

    /// Lets datagrams flow.
    pub(super) fn start(&mut self) -> io::Result<()> {
        self.started = Clock::start();
        if let Stage::Open(socket) = &self.stage {
            let stream = DatagramStream::start(socket.try_clone()?, self.job)?;
            self.stage = Stage::Running(stream);
        }
        Ok(())
    }

    /// How long they have flowed, and how much of them has come; `None` while they do not.
    pub(super) fn received(&self) -> Option<(Span, Bytes)> {
        match (&self.stage, self.job) {
            (Stage::Running(stream), job) => {
                let bytes = match job {
                    Job::Receive => stream.bytes(),
                    Job::Send(..) => Bytes::ZERO,
                };
                Some((self.started.now().since(Time::ZERO), bytes))
            }
            _ => None,
        }
    }

    /// Ends the stream.
    pub(super) fn close(&mut self) {
        if let Stage::Running(stream) = &mut self.stage {
            self.stage = Stage::Over(stream.finish());
        }
    }

    /// What was seen; nothing before the end.
    pub(super) fn moved(&self) -> Moved {
        match &self.stage {
            Stage::Over(moved) => moved.clone(),
            _ => Moved::default(),
        }
    }

    /// Whether this end sends.
    pub(super) fn sends(&self) -> bool {
        matches!(self.job, Job::Send(..))
    }
}

impl Drop for DatagramTest<'_> {
    fn drop(&mut self) {
        if let Stage::Greeting = self.stage {
            self.shared.greeters.lock().remove(&self.host);
        }
    }
}
