//! Probes with a chosen hop limit, all of one flow, and the answers of routers and of the far end.
//!
//! Everything rests on sockets that any user may open and on their error queue (`message`), so that
//! nothing here needs rights for UDP and TCP. A library was considered: trippy-core needs raw
//! sockets on Linux for every user, takes round trips from the wall clock, keeps the flow of UDP
//! only, and cannot be ended early.
//!
//! The flow stays the same in the sense of Augustin et al., "Avoiding traceroute anomalies with
//! Paris traceroute" (IMC 2006): routers that share load look at addresses, protocol and the first
//! four bytes behind the IP header. Those are the ports of UDP and TCP, which do not change here,
//! and type, code and checksum of ICMP, where two bytes of the payload make up for what the
//! sequence number does to the checksum.

mod icmp;
mod message;
mod socket_options;
mod tcp;
mod udp;

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use units::Span;

pub(crate) use icmp::IcmpFlow;
#[cfg(feature = "fuzzing")]
pub(crate) use icmp::quoted;
pub(crate) use tcp::TcpFlow;
pub(crate) use udp::{PORT_UNUSED, UdpFlow};

use message::{Message, Notice};

/// The hop limit of packets that are to arrive.
pub(crate) const HOPS_PLENTY: u8 = 64;

/// Packets of one flow.
pub(crate) trait ProbeFlow {
    /// How many probes may be on their way together.
    fn at_once(&self) -> usize;

    /// How long an answer can be waited for at most.
    fn timeout_max(&self) -> Span;

    /// Whether the far end answers about once a second only.
    fn is_rate_limited(&self) -> bool;

    /// Sends probe `number`, which dies at the router `hops` away. One that the host drops is a
    /// lost one.
    ///
    /// * `number` never goes back as long as the flow lives.
    ///
    /// # Errors
    /// When there is no way to the far end from here, or the host forbids it.
    fn send(&mut self, number: u64, hops: u8) -> io::Result<()>;

    /// The next answer that has come.
    fn receive(&mut self) -> Option<Answer>;

    /// Waits until something has come.
    fn wait(&self, limit: Duration);
}

/// A flow that also carries unfragmented packets of a chosen size.
pub(crate) trait SizedProbeFlow: ProbeFlow {
    /// Sends probe `number` with `size` bytes at the IP layer.
    ///
    /// # Errors
    /// As [`ProbeFlow::send`], and `EMSGSIZE` when the interface takes no packet of that size.
    fn send_sized(&mut self, number: u64, size: u16) -> io::Result<()>;

    /// The probes from now on die at the router `hops` away.
    ///
    /// # Errors
    /// When the host refuses that.
    fn limit_hops(&self, hops: u8) -> io::Result<()>;

    /// The largest packet that the kernel believes to pass.
    fn believed(&self) -> Option<u32>;

    /// A size that every path carries, and that has room for a probe.
    fn floor(&self) -> u16;
}

/// What came back for a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Which probe; `None` where the router quoted too little of it.
    pub probe: Option<u64>,
    /// How long ago it came.
    pub age: Span,
    /// What it says.
    pub said: Said,
}

/// What an answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// The far end got the probe.
    Arrived(IpAddr),
    /// The hop limit was used up here.
    Passing(IpAddr),
    /// It goes no further than here.
    Barred(IpAddr),
    /// It was larger than this.
    TooBig(u32),
}

/// A notice as the answer to a probe to `far`; `probe` finds its number in the quotation.
fn answer(message: &Message, far: IpAddr, probe: impl Fn(&[u8]) -> Option<u64>) -> Option<Answer> {
    let said = match message.notice? {
        Notice::TimeExceeded { from } => Said::Passing(from),
        Notice::NoSuchPort { from } => Said::Arrived(from),
        Notice::Unreachable { from } if from == far => Said::Arrived(from),
        Notice::Unreachable { from } => Said::Barred(from),
        Notice::TooBig { mtu } => Said::TooBig(mtu),
        Notice::Other => return None,
    };
    Some(Answer {
        probe: probe(&message.bytes),
        age: message.age,
        said,
    })
}

/// Sends past errors that earlier answers left on the socket.
fn send_through(mut send: impl FnMut() -> io::Result<usize>) -> io::Result<()> {
    /// More answers than can come in between two sends.
    const TRIES: usize = 64;
    let mut last = None;
    for _ in 0..TRIES {
        match send() {
            Ok(_) => return Ok(()),
            Err(error) => match error.raw_os_error() {
                // A full queue drops it as a router would.
                Some(libc::EAGAIN | libc::ENOBUFS) => return Ok(()),
                Some(libc::ECONNREFUSED | libc::EHOSTUNREACH | libc::ENETUNREACH) => {
                    last = Some(error);
                }
                Some(libc::EMSGSIZE | libc::EPROTO | libc::ENOPROTOOPT | libc::EACCES) => {
                    last = Some(error);
                }
                _ => return Err(error),
            },
        }
    }
    last.map_or(Ok(()), Err)
}

/// The whole number of which `low` are the last 16 bits: the latest that was given out.
///
/// * `latest`: the highest number so far.
fn completed(low: u16, latest: u64) -> u64 {
    let back = (latest as u16).wrapping_sub(low);
    latest.saturating_sub(u64::from(back))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bits_stand_for_the_latest_number_that_has_them() {
        assert_eq!(completed(7, 9), 7);
        assert_eq!(completed(9, 9), 9);
        assert_eq!(completed(65_535, 65_537), 65_535);
        assert_eq!(completed(1, 65_537), 65_537);
        // It was never sent: no panic.
        assert_eq!(completed(5, 2), 0);
    }

    #[test]
    fn an_error_that_stays_is_told() {
        let mut calls = 0;
        let twice = send_through(|| {
            calls += 1;
            match calls {
                1 | 2 => Err(io::Error::from_raw_os_error(libc::EHOSTUNREACH)),
                _ => Ok(1),
            }
        });
        assert!(twice.is_ok() && calls == 3);
        let always = send_through(|| Err(io::Error::from_raw_os_error(libc::ENETUNREACH)));
        assert_eq!(always.unwrap_err().raw_os_error(), Some(libc::ENETUNREACH));
        let full = send_through(|| Err(io::Error::from_raw_os_error(libc::ENOBUFS)));
        assert!(full.is_ok());
    }
}
