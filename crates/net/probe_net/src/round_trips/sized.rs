//! Echoes of chosen sizes, which the far kernel answers with packets as large.

use std::io;

use measure_protocol::EchoToken;
use observe::{Probe, SizedEcho};
use sockets::{Clock, FarEnd, random};

use super::{Collected, INTERVAL, ProbeSocket, await_stragglers, is_answered};

/// Sends ICMP echoes of `sizes` at the IP layer, in this order, and collects the answers; fewer
/// than these where `is_over`, which is asked before each. `None` where none is answered.
///
/// # Errors
/// Where this host permits no ICMP.
pub fn sized_echoes(
    host: &FarEnd,
    sizes: &[u16],
    is_over: impl Fn() -> bool,
) -> io::Result<Option<Vec<SizedEcho>>> {
    let open = || ProbeSocket::icmp(host, EchoToken(random::number()?));
    if !is_answered(&open()?) {
        return Ok(None);
    }
    // Late answers to the trial have another token.
    let socket = open()?;
    let clock = Clock::start();
    let mut collected = Collected::default();
    for size in sizes {
        if is_over() {
            break;
        }
        let sent = clock.now();
        // One that cannot be sent is a lost one.
        let _ = socket.send_sized(collected.probes.len() as u64, *size);
        collected.probes.push(Probe { sent, rtt: None });
        let next = sent + INTERVAL;
        while clock.now() < next {
            socket.wait(clock.until(next));
            collected.take(&socket, clock);
        }
    }
    await_stragglers(&socket, &mut collected, clock);
    let echo = |(size, probe): (&u16, &Probe)| SizedEcho {
        size: *size,
        rtt: probe.rtt,
    };
    Ok(Some(
        sizes.iter().zip(&collected.probes).map(echo).collect(),
    ))
}

impl ProbeSocket {
    /// A packet of `size` at the IP layer; an error of probes whose size is fixed.
    fn send_sized(&self, sequence: u64, size: u16) -> io::Result<()> {
        match self {
            ProbeSocket::Icmp(socket) => socket.send_sized(sequence, size),
            ProbeSocket::Udp { .. } | ProbeSocket::Tcp(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    #[test]
    fn the_own_kernel_answers_each_size_where_it_is_permitted() {
        let here = FarEnd::from(SocketAddr::from(([127, 0, 0, 1], 0)));
        let sizes = [128, 1_028, 60];
        match sized_echoes(&here, &sizes, || false) {
            Err(error) => println!("skipped: ICMP is not permitted here: {error}"),
            Ok(seen) => {
                let seen = seen.unwrap();
                assert_eq!(seen.iter().map(|one| one.size).collect::<Vec<_>>(), sizes);
                assert!(seen.iter().all(|one| one.rtt.is_some()), "{seen:?}");
            }
        }
        if let Ok(seen) = sized_echoes(&here, &sizes, || true) {
            assert_eq!(seen, Some(Vec::new()));
        }
    }
}
