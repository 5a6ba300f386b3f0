//! Sending a train by the clock.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use measure_protocol::trains::{DATAGRAM_LENGTH, Datagram, DatagramKind, TrainPlan, Zero};
use nix::poll::{PollFd, PollFlags};
use thiserror::Error;
use units::{Bytes, Span};

use super::TrainSocket;
use super::wall_clock::{self, WallClock, monotonic};
use sockets::poll::wait;

/// The first packet is due this long after the sender begins, so that it is paced as the others
/// are.
const LEAD: Duration = Duration::from_micros(300);
/// The last stretch before a packet is due is watched: a thread that sleeps may wake that much
/// late.
const WATCHED: Duration = Duration::from_micros(200);
/// Shorter waits are not slept: sleeping would gain nothing but a late wakeup.
const SLEEP_FROM: Duration = Duration::from_micros(500);
/// How soon the end of the session is noticed while a train is on its way.
const TICK: Duration = Duration::from_millis(50);
/// How late a packet may leave because the device takes no more.
const BLOCKED_MAX: Duration = Duration::from_secs(10);
/// The sender goes before ordinary threads: one that waits for a processor sends late.
const NICE: libc::c_int = -15;

/// Why a train did not leave.
#[derive(Debug, Error)]
pub enum TransmitError {
    /// The kernel knows that it does not pass.
    #[error(
        "packets of {} bytes do not pass unfragmented; at most {} bytes do",
        .packet.get(), .mtu.get()
    )]
    TooLarge {
        /// Their size at the IP layer.
        packet: Bytes,
        /// What passes.
        mtu: Bytes,
    },
    /// The socket failed.
    #[error("a packet of the train could not be sent: {0}")]
    Socket(#[from] io::Error),
    /// It was cancelled.
    #[error("the train was cancelled")]
    Cancelled,
}

/// When the packets of a train left.
#[derive(Debug, Clone, Default)]
pub struct Departed {
    /// Each, from when the first was to leave.
    pub left: Vec<Span>,
    /// When that was, by the wall clock of this host.
    pub zero: Option<Zero>,
}

/// Sends a train and tells when each packet left.
///
/// `is_over` is asked meanwhile whether to go on.
pub fn transmit(
    socket: &TrainSocket,
    number: u32,
    plan: &TrainPlan,
    is_over: &mut dyn FnMut() -> bool,
) -> Result<Departed, TransmitError> {
    let mtu = socket.mtu()?;
    if plan.packet > mtu {
        let packet = plan.packet;
        return Err(TransmitError::TooLarge { packet, mtu });
    }
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let (done, outcome) = sync_channel(1);
        let stop = &stop;
        let work = move || tell(&done, send_all(socket, number, plan, stop));
        let builder = thread::Builder::new().name("train".to_owned());
        builder.spawn_scoped(scope, work)?;
        loop {
            match outcome.recv_timeout(TICK) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Timeout) if is_over() => stop.store(true, Ordering::Relaxed),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(TransmitError::Cancelled),
            }
        }
    })
}

fn tell(
    done: &SyncSender<Result<Departed, TransmitError>>,
    outcome: Result<Departed, TransmitError>,
) {
    // The other end waits for exactly this.
    let _ = done.send(outcome);
}

fn send_all(
    socket: &TrainSocket,
    number: u32,
    plan: &TrainPlan,
    stop: &AtomicBool,
) -> Result<Departed, TransmitError> {
    go_first();
    let mut datagram = blank(socket, plan);
    let mut left = Vec::with_capacity(plan.packets());
    let wall = WallClock::read();
    let (now, begin) = (monotonic(), Instant::now() + LEAD);
    for (packet, due) in (0..).zip(&plan.departures) {
        let due = begin + Duration::from(*due);
        await_moment(due, stop)?;
        mark(&mut datagram, socket, number, packet);
        let sent = send_one(socket, &datagram, plan.packet, due + BLOCKED_MAX, stop)?;
        left.push(sent.saturating_duration_since(begin).into());
    }
    let zero = wall_clock::zero(wall, now + LEAD.as_nanos() as i128);
    Ok(Departed { left, zero })
}

/// A datagram of the right size, whose filling no device on the way can make smaller.
fn blank(socket: &TrainSocket, plan: &TrainPlan) -> Vec<u8> {
    let size = usize::try_from(plan.packet.get()).unwrap_or(usize::MAX);
    let size = size.saturating_sub(socket.headers()).max(DATAGRAM_LENGTH);
    let mut state = socket.token().0 | 1;
    let noise = std::iter::repeat_with(|| {
        // Marsaglia's xorshift with 13, 7 and 17.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    });
    noise.take(size).collect()
}

fn mark(datagram: &mut [u8], socket: &TrainSocket, train: u32, packet: u32) {
    let beginning = Datagram {
        kind: DatagramKind::Packet,
        token: socket.token(),
        train,
        packet,
    };
    if let Some(place) = datagram.first_chunk_mut::<DATAGRAM_LENGTH>() {
        *place = beginning.encode();
    }
}

/// Hands over one packet before `give_up`, and tells when.
fn send_one(
    socket: &TrainSocket,
    datagram: &[u8],
    packet: Bytes,
    give_up: Instant,
    stop: &AtomicBool,
) -> Result<Instant, TransmitError> {
    loop {
        let now = Instant::now();
        let Err(error) = socket.send(datagram) else {
            return Ok(now);
        };
        if stop.load(Ordering::Relaxed) {
            return Err(TransmitError::Cancelled);
        }
        match error.kind() {
            ErrorKind::WouldBlock if now < give_up => {
                wait(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)], TICK)?;
            }
            // A router has complained of an earlier packet; the kernel says so once.
            ErrorKind::ConnectionRefused | ErrorKind::Interrupted if now < give_up => {}
            _ if error.raw_os_error() == Some(libc::EMSGSIZE) => {
                let mtu = socket.mtu()?;
                return Err(TransmitError::TooLarge { packet, mtu });
            }
            _ => return Err(error.into()),
        }
    }
}

/// Sleeps until shortly before `due` and watches the clock for the rest.
fn await_moment(due: Instant, stop: &AtomicBool) -> Result<(), TransmitError> {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if stop.load(Ordering::Relaxed) {
            return Err(TransmitError::Cancelled);
        }
        if left < SLEEP_FROM {
            break;
        }
        thread::sleep(left.saturating_sub(WATCHED).min(TICK));
    }
    while Instant::now() < due {
        std::hint::spin_loop();
    }
    Ok(())
}

/// Asks the kernel to wake this thread promptly and to let it go before others. What this user may
/// not ask for costs accuracy, which shows in the departures.
#[expect(unsafe_code, reason = "no safe crate covers setpriority")]
fn go_first() {
    let _ = nix::sys::prctl::set_timerslack(1);
    // SAFETY: the call takes three integers; 0 is the calling thread.
    let _ = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
}
