//! Reading packets with the time at which they came.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd};

use measure_protocol::trains::{Arrival, Collection, DATAGRAM_LENGTH, Datagram, Stamp, Zero};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use nix::sys::time::TimeSpec;
use thiserror::Error;
use units::{Bytes, Span};

use super::TrainSocket;
use super::wall_clock::{self, WallClock, monotonic};

/// Datagrams read before the control connection is heard again, so that a flood does not hold it
/// up.
const READ_BATCH: usize = 4_096;

/// The zero of a train's stamps, and how the clocks stood then.
#[derive(Debug)]
pub struct Stamper {
    wall: WallClock,
    zero: i128,
}

/// The wall clock was set, so that the kernel's stamps cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the wall clock was set by {} while the train was on its way", .0.human())]
pub struct ClockWasSet(Span);

/// One datagram of the session.
#[derive(Debug, Clone, Copy)]
pub struct Received {
    /// What it says.
    pub datagram: Datagram,
    /// Its size at the IP layer.
    pub packet: Bytes,
    /// When it came.
    pub arrival: Arrival,
}

impl Stamper {
    /// Stamps count from now.
    pub fn start() -> Self {
        let wall = WallClock::read();
        Stamper {
            wall,
            zero: monotonic(),
        }
    }

    /// From when its stamps count, by the wall clock of this host.
    pub fn zero(&self) -> Option<Zero> {
        wall_clock::zero(self.wall, self.zero)
    }

    /// Reads what has come, as far as it is of this session; `take` is called for each.
    pub fn drain(&self, socket: &TrainSocket, mut take: impl FnMut(Received)) {
        for _ in 0..READ_BATCH {
            match self.read(socket) {
                Reading::Nothing => return,
                Reading::Strange => {}
                Reading::Ours(received) => take(received),
            }
        }
    }

    /// When each packet arrived, and who says so.
    ///
    /// # Errors
    /// When the kernel's stamps are worthless.
    pub fn judge(&self, seen: &Collection) -> Result<(Stamp, Vec<Option<Span>>), ClockWasSet> {
        let arrived = || seen.arrivals.iter().flatten();
        let stamps = |stamp: fn(&Arrival) -> Option<Span>| {
            let arrivals = seen.arrivals.iter();
            arrivals.map(|at| at.as_ref().and_then(stamp)).collect()
        };
        if arrived().any(|at| at.by_kernel.is_none()) {
            return Ok((Stamp::Program, stamps(|at| Some(at.by_program))));
        }
        match WallClock::read().step_since(self.wall) {
            Some(step) => Err(ClockWasSet(step)),
            None => Ok((Stamp::Kernel, stamps(|at| at.by_kernel))),
        }
    }

    fn read(&self, socket: &TrainSocket) -> Reading {
        let mut beginning = [0; DATAGRAM_LENGTH];
        let mut control = nix::cmsg_space!(TimeSpec);
        // `MSG_TRUNC` tells the whole length of a datagram of which only the beginning is copied.
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC;
        let descriptor = socket.as_fd().as_raw_fd();
        let (length, stamp) = {
            let mut buffers = [IoSliceMut::new(&mut beginning)];
            match recvmsg::<()>(descriptor, &mut buffers, Some(&mut control), flags) {
                Ok(message) => (message.bytes, stamp_of(message.cmsgs())),
                Err(nix::errno::Errno::EAGAIN) => return Reading::Nothing,
                // A complaint about an earlier packet, told once.
                Err(_) => return Reading::Strange,
            }
        };
        let by_program = self.since_zero(monotonic());
        let copied = length.min(DATAGRAM_LENGTH);
        let datagram = Datagram::decode(beginning.get(..copied).unwrap_or_default());
        match datagram {
            Ok(datagram) if datagram.token == socket.token() => Reading::Ours(Received {
                datagram,
                packet: Bytes::new((length + socket.headers()) as u64),
                arrival: Arrival {
                    by_kernel: stamp.and_then(|wall| self.since_zero_of_wall(wall)),
                    by_program: by_program.unwrap_or(Span::ZERO),
                },
            }),
            _ => Reading::Strange,
        }
    }

    fn since_zero(&self, monotonic: i128) -> Option<Span> {
        let nanos = u64::try_from(monotonic - self.zero).ok()?;
        Some(Span::from_nanos(nanos))
    }

    /// `None` of a stamp from before the zero.
    fn since_zero_of_wall(&self, wall: i128) -> Option<Span> {
        self.since_zero(self.wall.to_monotonic(wall))
    }
}

enum Reading {
    Nothing,
    Strange,
    Ours(Received),
}

/// The kernel's stamp among the control messages, in nanoseconds of the wall clock.
fn stamp_of(messages: nix::Result<impl Iterator<Item = ControlMessageOwned>>) -> Option<i128> {
    messages.ok()?.find_map(|message| match message {
        ControlMessageOwned::ScmTimestampns(time) => {
            Some(i128::from(time.tv_sec()) * 1_000_000_000 + i128::from(time.tv_nsec()))
        }
        _ => None,
    })
}
