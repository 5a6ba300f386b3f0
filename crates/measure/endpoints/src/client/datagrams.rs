//! Datagrams at a steady rate, to or from a server of iperf3's protocol.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use copy_net::DialError;
use measure_protocol::iperf3::datagram::{HELLO, WELCOME};
use measure_protocol::{
    ClientAction, Cookie, Offer, Results, StreamResult, TestEnd, TestRequest, stream_id,
};
use observe::{DatagramPlan, Datagrams, RunObserver, Transport, Way};
use sockets::{Clock, random};
use units::{Bytes, Direction, Span, Time};

use super::busy_retry::{ServerState, retry_while_busy};
use super::connect;
use super::conversation::{Conversation, check_cancelled};
use super::{Client, ClientError};
use crate::datagrams::{DatagramStream, Job, Moved, widen};

/// Data of a datagram: with its headers it fits into 1,500 bytes, also within a tunnel.
const SIZE: Bytes = Bytes::new(1_400);
/// How often a greeting is repeated to a server that takes a second one for what it is.
const AGAIN: Duration = Duration::from_millis(500);
/// How long an answer to it is waited for, as iperf3 does.
const GREETING_MAX: Span = Span::from_secs(10);
/// How soon a cancellation is noticed.
const TICK: Duration = Duration::from_millis(100);

impl Client {
    /// Sends datagrams at a rate, or has them sent, and tells what arrived.
    ///
    /// # Errors
    /// When there is no server, it refuses or fails, no datagram reaches it, or `watch` cancels.
    pub fn datagrams(
        &self,
        plan: &DatagramPlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Datagrams, ClientError> {
        retry_while_busy(watch, ServerState::Unknown, |watch| {
            self.datagrams_once(plan, watch)
        })
    }

    fn datagrams_once(
        &self,
        plan: &DatagramPlan,
        watch: &dyn RunObserver,
    ) -> Result<Datagrams, ClientError> {
        let (control, peer) = connect::control(&self.address, Transport::Tcp, watch)?;
        let cookie = Cookie::from_random(&random::bytes()?);
        let address = self.address.clone();
        let mut conversation = Conversation::begin(address, control, cookie, request(plan));
        let is_open = |action: &_| matches!(action, ClientAction::OpenStreams(_));
        while !is_open(&conversation.await_action(watch)?) {}
        let socket = self.greet(&mut conversation, peer, watch)?;
        conversation.on_streams_open();
        while conversation.await_action(watch)? != ClientAction::Start {}
        let job = match plan.way {
            Way::Forward => Job::Send(plan.rate, SIZE),
            Way::Reverse => Job::Receive,
        };
        let mut stream = DatagramStream::start(socket, job)?;
        let clock = Clock::start();
        while clock.now().since(Time::ZERO) < plan.duration {
            thread::sleep(TICK.min(clock.until(Time::ZERO + plan.duration)));
            check_cancelled(watch)?;
            conversation.hear()?;
        }
        let ours = stream.finish();
        conversation.end_test()?;
        let theirs = conversation.exchange(&results(&ours), watch)?;
        Ok(match plan.way {
            Way::Forward => arrived_there(&ours, &theirs),
            Way::Reverse => arrived_here(&ours),
        })
    }

    /// Opens the stream: the server learns where the datagrams come from.
    fn greet(
        &self,
        conversation: &mut Conversation,
        peer: SocketAddr,
        watch: &dyn RunObserver,
    ) -> Result<UdpSocket, ClientError> {
        let any: SocketAddr = match peer {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(peer)?;
        widen(&socket)?;
        socket.set_read_timeout(Some(AGAIN))?;
        let repeats = conversation.answer().is_some();
        let clock = Clock::start();
        let mut has_greeted = false;
        while clock.now().since(Time::ZERO) < GREETING_MAX {
            check_cancelled(watch)?;
            if repeats || !has_greeted {
                has_greeted = socket.send(&HELLO).is_ok();
            }
            // Whatever comes back shows that the greeting has arrived, and so does the server that
            // begins: its answer may have been lost.
            match socket.recv(&mut [0; WELCOME.len()]) {
                Ok(_) => return Ok(socket),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    return Err(DialError::UdpRefused { peer }.into());
                }
                _ => conversation.hear()?,
            }
            if conversation.is_running() {
                return Ok(socket);
            }
        }
        Err(DialError::UdpSilent {
            peer,
            after: GREETING_MAX,
        }
        .into())
    }
}

fn request(plan: &DatagramPlan) -> TestRequest {
    TestRequest {
        direction: match plan.way {
            Way::Forward => Direction::Forward,
            Way::Reverse => Direction::Reverse,
        },
        block: SIZE,
        pacing: Some(plan.rate),
        offer: Some(Offer::default()),
        datagrams: true,
        ..TestRequest::new(1, TestEnd::After(plan.duration))
    }
}

/// What this end tells the other.
pub(crate) fn results(moved: &Moved) -> Results {
    let seen = &moved.receipts;
    Results {
        streams: vec![StreamResult {
            id: stream_id(0).into(),
            bytes: seen.bytes.get(),
            jitter: Some(seen.jitter().as_secs_f64()),
            errors: Some(seen.lost().into()),
            packets: Some(seen.highest.into()),
            start_time: Some(0.0),
            end_time: Some(moved.duration.as_secs_f64()),
            ..StreamResult::default()
        }],
        ..Results::default()
    }
}

/// By the server's count and clock, which end with the last datagram that arrived there: what
/// waited in a queue comes later than it was sent. Where none did, all that were sent are lost.
fn arrived_there(ours: &Moved, theirs: &Results) -> Datagrams {
    let sent = ours.receipts.highest;
    let seen = theirs.stream(0).cloned().unwrap_or_default();
    let number = |number: Option<u64>| u32::try_from(number.unwrap_or(0)).unwrap_or(u32::MAX);
    let (sent, lost) = match number(seen.packets) {
        0 => (sent, sent),
        packets => (packets, number(seen.errors).min(packets)),
    };
    let took = seen.end_time.unwrap_or(0.0) - seen.start_time.unwrap_or(0.0);
    let jitter = seen
        .jitter
        .filter(|jitter| jitter.is_finite() && *jitter >= 0.0);
    Datagrams {
        sent,
        lost,
        reordered: 0,
        arrived: Bytes::new(seen.bytes.min(ours.receipts.bytes.get())),
        duration: match took.is_finite() && took > 0.0 {
            true => Span::from_secs_f64(took),
            false => ours.duration,
        },
        jitter: Span::from_secs_f64(jitter.unwrap_or(0.0)),
        rates: Vec::new(),
    }
}

fn arrived_here(ours: &Moved) -> Datagrams {
    let seen = &ours.receipts;
    Datagrams {
        sent: seen.highest,
        lost: seen.lost(),
        reordered: seen.reordered,
        arrived: seen.bytes,
        duration: ours.duration,
        jitter: seen.jitter(),
        rates: ours.rates(),
    }
}
