//! The thread of a UDP socket: receives, lets timers run out, paces and sends, for all connections
//! of the socket.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::{
    ConnectionEvent, ConnectionHandle, DatagramEvent, Endpoint, Event, Incoming, StreamEvent,
};

use sockets::poll::{readable, wait_exactly};
use units::Bytes;

use crate::connection::{Connection, Ended, State, Wakeup};
use crate::controller::PathState;
use crate::socket::{Batch, PacketSocket};

/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// Calls to receive before connections are looked at.
const RECEIVES_MAX: usize = 4;
/// A sender that was not woken in time makes up for so much.
const CREDIT: Duration = Duration::from_millis(2);
/// Bytes that may be written and not acknowledged, besides two windows of the controller: what the
/// stream's thread has ahead.
const SEND_AHEAD: u64 = 2 << 20;

/// What the owner of a driver decides: which connections are made, and what is not QUIC.
pub(crate) trait DriverHandler {
    /// A connection wants to be made.
    fn incoming(&mut self, incoming: Incoming) -> Answer;
    /// It was made.
    fn accepted(&mut self, connection: &Arc<Connection>);
    /// Takes a datagram that is not QUIC's; `false` where it may be.
    fn take(&mut self, datagram: &[u8], from: SocketAddr) -> bool;
    /// A connection changed: it may have become what it is waited for.
    fn on_change(&mut self, connection: &Arc<Connection>, state: &mut State);
    /// The end of a turn, at least so often as [`TICK`].
    fn on_turn(&mut self);
}

/// What becomes of a connection that wants to be made.
pub(crate) enum Answer {
    /// It is made.
    Accept(Incoming, Arc<quinn_proto::ServerConfig>, Arc<PathState>),
    /// It has to show first that it receives at its address.
    Retry(Incoming),
    /// It is not made.
    Refuse(Incoming),
}

/// A socket with its connections.
pub(crate) struct Driver {
    socket: PacketSocket,
    local: SocketAddr,
    endpoint: Endpoint,
    connections: BTreeMap<usize, Driven>,
    timers: BTreeSet<(Instant, usize)>,
    wakeup: Arc<Wakeup>,
    /// What is to be sent.
    buffer: Vec<u8>,
    /// A packet met a host that says that no program listens there.
    is_refused: bool,
}

struct Driven {
    connection: Arc<Connection>,
    timer: Option<Instant>,
}

impl Driver {
    pub fn new(socket: PacketSocket, local: SocketAddr, endpoint: Endpoint) -> io::Result<Self> {
        Ok(Driver {
            socket,
            local,
            endpoint,
            connections: BTreeMap::new(),
            timers: BTreeSet::new(),
            wakeup: Arc::new(Wakeup::new()?),
            buffer: Vec::new(),
            is_refused: false,
        })
    }

    pub fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    /// Takes a connection on, and begins.
    pub fn add(
        &mut self,
        handle: ConnectionHandle,
        proto: quinn_proto::Connection,
        path: Arc<PathState>,
    ) -> Arc<Connection> {
        let wakeup = Arc::clone(&self.wakeup);
        let connection = Connection::new(handle.0, proto, self.local, path, wakeup);
        let connection = Arc::new(connection);
        let driven = Driven {
            connection: Arc::clone(&connection),
            timer: None,
        };
        self.connections.insert(handle.0, driven);
        connection.wake();
        connection
    }

    /// One turn: waits for something to do, and does it.
    ///
    /// # Errors
    /// What the socket says: that no program listens there, for one that talks to one peer.
    pub fn turn(&mut self, handler: &mut dyn DriverHandler) -> io::Result<()> {
        self.wait()?;
        let mut due = BTreeSet::new();
        due.extend(self.wakeup.take());
        let received = self.receive(&mut due, handler);
        let now = Instant::now();
        while let Some((at, number)) = self.timers.first().copied()
            && at <= now
        {
            self.timers.pop_first();
            due.insert(number);
        }
        for number in due {
            self.drive(number, handler);
        }
        handler.on_turn();
        match std::mem::take(&mut self.is_refused) {
            true => Err(ErrorKind::ConnectionRefused.into()),
            false => received,
        }
    }

    fn wait(&self) -> io::Result<()> {
        let now = Instant::now();
        let next = self.timers.first().map(|(at, _)| *at);
        let limit = next.map_or(TICK, |at| at.saturating_duration_since(now).min(TICK));
        let mut watched = [
            readable(self.socket.as_fd()),
            readable(self.wakeup.event().as_fd()),
        ];
        wait_exactly(&mut watched, limit)?;
        Ok(())
    }

    /// Takes what has come and passes it to its connections.
    fn receive(
        &mut self,
        due: &mut BTreeSet<usize>,
        handler: &mut dyn DriverHandler,
    ) -> io::Result<()> {
        for _ in 0..RECEIVES_MAX {
            let mut events: Vec<(usize, ConnectionEvent)> = Vec::new();
            let mut incoming = Vec::new();
            let now = Instant::now();
            let (endpoint, buffer) = (&mut self.endpoint, &mut self.buffer);
            let mut responses = Vec::new();
            let received = self.socket.receive(&mut |batch| {
                let Batch {
                    from,
                    to,
                    ecn,
                    stride,
                    ..
                } = batch;
                let mut left = BytesMut::from(batch.bytes);
                while !left.is_empty() {
                    let datagram = left.split_to(stride.min(left.len()));
                    if handler.take(&datagram, from) {
                        continue;
                    }
                    buffer.clear();
                    match endpoint.handle(now, from, to, ecn, datagram, buffer) {
                        Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                            events.push((handle.0, event));
                        }
                        Some(DatagramEvent::NewConnection(new)) => incoming.push(new),
                        Some(DatagramEvent::Response(transmit)) => {
                            responses.push((transmit, buffer.clone()));
                        }
                        None => {}
                    }
                }
            });
            for (transmit, bytes) in responses {
                // A response that cannot be sent is a lost one.
                let _ = self.socket.send(&transmit, &bytes);
            }
            for new in incoming {
                self.answer(new, handler);
            }
            self.tell(events, due);
            match received {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Tells connections what came, each lock taken once for all that is for one.
    fn tell(&self, events: Vec<(usize, ConnectionEvent)>, due: &mut BTreeSet<usize>) {
        let mut events = events.into_iter().peekable();
        while let Some((number, event)) = events.next() {
            let Some(driven) = self.connections.get(&number) else {
                continue;
            };
            due.insert(number);
            let mut state = driven.connection.lock();
            state.proto.handle_event(event);
            while let Some((_, event)) = events.next_if(|(other, _)| *other == number) {
                state.proto.handle_event(event);
            }
        }
    }

    fn answer(&mut self, incoming: Incoming, handler: &mut dyn DriverHandler) {
        self.buffer.clear();
        let buffer = &mut self.buffer;
        let transmit = match handler.incoming(incoming) {
            Answer::Refuse(incoming) => Some(self.endpoint.refuse(incoming, buffer)),
            Answer::Retry(incoming) => match self.endpoint.retry(incoming, buffer) {
                Ok(transmit) => Some(transmit),
                Err(error) => {
                    self.endpoint.ignore(error.into_incoming());
                    None
                }
            },
            Answer::Accept(incoming, config, path) => {
                let now = Instant::now();
                match self.endpoint.accept(incoming, now, buffer, Some(config)) {
                    Ok((handle, proto)) => {
                        let connection = self.add(handle, proto, path);
                        handler.accepted(&connection);
                        None
                    }
                    Err(error) => error.response,
                }
            }
        };
        if let Some(transmit) = transmit {
            let _ = self.socket.send(&transmit, &self.buffer);
        }
    }

    /// Does for one connection all that can be done now.
    fn drive(&mut self, number: usize, handler: &mut dyn DriverHandler) {
        let Some(driven) = self.connections.get_mut(&number) else {
            return;
        };
        let connection = Arc::clone(&driven.connection);
        connection.is_looked_at();
        if let Some(timer) = driven.timer.take() {
            self.timers.remove(&(timer, number));
        }
        let mut state = connection.lock();
        let now = Instant::now();
        if state.proto.poll_timeout().is_some_and(|at| at <= now) {
            state.proto.handle_timeout(now);
        }
        let is_drained = self.exchange_events(number, &mut state);
        take_events(&mut state);
        state.close_if_done();
        state.fit_receive_window(now);
        handler.on_change(&connection, &mut state);
        let sends_again = self.transmit(&connection, &mut state);
        let is_drained = is_drained | self.exchange_events(number, &mut state);
        let timer = [state.proto.poll_timeout(), sends_again];
        let timer = timer.into_iter().flatten().min();
        drop(state);
        connection.notify();
        if is_drained {
            self.connections.remove(&number);
        } else if let (Some(at), Some(driven)) = (timer, self.connections.get_mut(&number)) {
            driven.timer = Some(at);
            self.timers.insert((at, number));
        }
    }

    /// What the connection and its endpoint have to say to each other. Returns whether the
    /// connection is over for good.
    fn exchange_events(&mut self, number: usize, state: &mut State) -> bool {
        let mut is_drained = false;
        while let Some(event) = state.proto.poll_endpoint_events() {
            is_drained |= event.is_drained();
            let handle = ConnectionHandle(number);
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                state.proto.handle_event(event);
            }
        }
        is_drained
    }

    /// Sends what may be sent now; returns when more may.
    fn transmit(&mut self, connection: &Connection, state: &mut State) -> Option<Instant> {
        let window = connection.path.window.load(Ordering::Relaxed);
        let ahead = window.saturating_mul(2).saturating_add(SEND_AHEAD);
        state.set_send_window(ahead);
        loop {
            let now = Instant::now();
            if state.next_send > now {
                return Some(state.next_send);
            }
            let packet = u64::from(state.proto.current_mtu()).max(1);
            let most = usize::try_from(connection.path.quantum().get() / packet).unwrap_or(1);
            let most = most.clamp(1, self.socket.segments_max());
            self.buffer.clear();
            let transmit = state.proto.poll_transmit(now, most, &mut self.buffer)?;
            let rate = connection.path.pacing_rate();
            let bytes = Bytes::new(transmit.size as u64);
            let begin = now.checked_sub(CREDIT).unwrap_or(now);
            let takes: Duration = rate.time_to_send(bytes).into();
            state.next_send = state.next_send.max(begin) + takes;
            // A packet that cannot be sent counts as lost: too large a probe for its device, say.
            if let Err(error) = self.socket.send(&transmit, &self.buffer) {
                self.is_refused |= error.kind() == ErrorKind::ConnectionRefused;
            }
        }
    }

    /// Ends all connections, and says so to their peers.
    pub fn end(&mut self, handler: &mut dyn DriverHandler) {
        let numbers: Vec<usize> = self.connections.keys().copied().collect();
        for number in numbers {
            if let Some(driven) = self.connections.get(&number) {
                driven.connection.shut_down();
                // The last word does not wait for its turn: there is no other.
                driven.connection.lock().next_send = Instant::now();
            }
            self.drive(number, handler);
        }
    }
}

/// Takes what happened to the connection.
fn take_events(state: &mut State) {
    while let Some(event) = state.proto.poll() {
        match event {
            Event::Stream(StreamEvent::Finished { .. }) => state.is_delivered = true,
            Event::ConnectionLost { reason } => state.end(Ended::of(&reason)),
            _ => {}
        }
    }
    state.find_stream();
}
