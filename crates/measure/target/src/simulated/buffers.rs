//! What Linux makes of the socket buffers of a stream.
//!
//! Calibrated on Linux 6.18 against the largest amount outstanding that `TCP_INFO` showed over
//! emulated paths: 64 KiB, 256 KiB and 1 MiB asked for, and automatic buffers, with packets of 576
//! to 9000 bytes. The rule below was within two segments in ten cases, and within 4 of 14483 in the
//! eleventh; `TCP_INFO` counts segments that are not full as well.
//!
//! The kernel doubles what it is asked for. Of a receive buffer it offers the share that is payload
//! where each packet sits in memory of its own (`tcp_win_from_space` with `scaling_ratio`): 160/256
//! for packets of 1500 bytes. A window of 64 KiB so becomes 128 KiB of buffer, 80 KiB of offered
//! window and 56 segments of 1448 bytes; automatic buffers up to 6 MiB offer 3.75 MiB.
//!
//! Left out: the growth of automatic buffers. The kernel doubles them in each round trip in which
//! they bind, as slow start doubles the congestion window, so that they bind only where they stop
//! growing. Fixed send buffers of that size never bind before the receive window does. Automatic
//! ones run beyond `tcp_wmem` on Linux 6.18 (8.9 MB outstanding with 1 MiB); here they keep to what
//! the path file says.

use netpath::{BufferMaxima, Hosts};
use observe::{Buffer, Buffers, Setting, Window};
use units::Bytes;

use crate::BUFFER_MAX;

/// What a packet of small segments is taken for before it was measured: half is payload
/// (`TCP_DEFAULT_SCALING_RATIO`).
const SHARE_DEFAULT: u64 = 128;
/// The kernel measures segments larger than this only (`TCP_MSS_DEFAULT`).
const SEGMENT_UNMEASURED: u64 = 536;
/// Room before a packet's data, and `struct skb_shared_info` behind it.
const PACKET_ROOM: u64 = 64 + 320;
/// `struct sk_buff`.
const PACKET_RECORD: u64 = 256;
const PAGE: u64 = 4096;
/// Payload in 100 bytes of a send buffer: 96 to 98 where segments stand in it by the dozen.
const SEND_PERCENT: u64 = 97;
/// `SOCK_MIN_SNDBUF` and `SOCK_MIN_RCVBUF`.
const SEND_MIN: Bytes = Bytes::new(4_608);
const RECEIVE_MIN: Bytes = Bytes::new(2_304);
/// Where automatic buffers begin: room for twice ten segments (`tcp_sndbuf_expand`), `tcp_rmem[1]`.
const SEND_SEGMENTS_FIRST: u64 = 20;
const RECEIVE_FIRST: Bytes = Bytes::from_kib(128);
/// `quic_net::WINDOW_MOST`.
const WINDOW_UDP: Bytes = Bytes::from_mib(256);

/// The buffers of one stream, and what they let it keep outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StreamBuffers {
    /// What was asked for, and what `getsockopt` says once the stream is connected.
    pub granted: Buffers,
    /// The largest window that the receiver offers.
    pub receive_window: Bytes,
    /// The most payload that the send buffer holds.
    pub send_room: Bytes,
}

impl StreamBuffers {
    /// The buffers of a stream between `hosts`, with segments of `segment` bytes in packets of
    /// `hosts.mtu`.
    pub fn of(setting: &Setting, hosts: &Hosts, segment: Bytes) -> Self {
        let packet = packet_memory(u64::from(hosts.mtu));
        let (granted, send_max, receive_max) = match setting.window {
            Window::Fixed(asked) => {
                let doubled = asked.min(BUFFER_MAX).times(2);
                let (send, receive) = (doubled.max(SEND_MIN), doubled.max(RECEIVE_MIN));
                (buffers(Some(asked), send, receive), send, receive)
            }
            Window::Auto => {
                let BufferMaxima { send, receive } = hosts.forward();
                let first = Bytes::new(SEND_SEGMENTS_FIRST * packet);
                let granted = buffers(None, first.min(send), RECEIVE_FIRST.min(receive));
                (granted, send, receive)
            }
        };
        let receive_window = receive_max.times(share(segment, packet)).get() / 256;
        StreamBuffers {
            granted,
            receive_window: Bytes::new(receive_window).max(segment),
            send_room: Bytes::new(send_max.times(SEND_PERCENT).get() / 100).max(segment),
        }
    }

    /// A stream over UDP: what QUIC's receiver takes ahead at the most. The kernel's buffers hold
    /// nothing back.
    pub fn over_udp() -> Self {
        StreamBuffers {
            granted: buffers(None, WINDOW_UDP, WINDOW_UDP),
            receive_window: WINDOW_UDP,
            send_room: WINDOW_UDP,
        }
    }

    /// The most that the stream keeps outstanding.
    pub fn window(&self) -> Bytes {
        self.receive_window.min(self.send_room)
    }

    /// Whether the send buffer is the smaller one.
    pub fn send_binds(&self) -> bool {
        self.send_room < self.receive_window
    }
}

fn buffers(asked: Option<Bytes>, send: Bytes, receive: Bytes) -> Buffers {
    let buffer = |granted| Buffer { asked, granted };
    Buffers {
        send: buffer(send),
        receive: buffer(receive),
    }
}

/// What a packet of `mtu` bytes takes in memory (`truesize`): powers of two up to a page, then
/// pages.
fn packet_memory(mtu: u64) -> u64 {
    let data = mtu + PACKET_ROOM;
    let rounded = match data <= PAGE {
        true => data.next_power_of_two(),
        false => data.next_multiple_of(PAGE),
    };
    rounded + PACKET_RECORD
}

/// Payload as a share of memory, in 256ths.
fn share(segment: Bytes, packet: u64) -> u64 {
    match segment.get() <= SEGMENT_UNMEASURED {
        true => SHARE_DEFAULT,
        false => segment.get() * 256 / packet,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::StreamCount;

    /// Segments outstanding at the most, with packets of `mtu` and automatic receive buffers up to
    /// `receive_max`.
    fn outstanding(window: Window, mtu: u16, receive_max: Bytes) -> u64 {
        let hosts = Hosts {
            mtu,
            send_buffer_max: Bytes::from_mib(32),
            receive_buffer_max: receive_max,
            ..Hosts::default()
        };
        let segment = Bytes::new(u64::from(mtu) - 52);
        let setting = Setting::new(StreamCount::ONE, window);
        let buffers = StreamBuffers::of(&setting, &hosts, segment);
        assert!(!buffers.send_binds());
        buffers.window().get() / segment.get()
    }

    /// The largest `tcpi_unacked` over emulated paths on Linux 6.18. It counts segments that are
    /// not full, one or two of them, and was read ten times a second.
    #[test]
    fn as_much_is_outstanding_as_the_kernel_showed() {
        let kib = Bytes::from_kib;
        let fixed = |size| Window::Fixed(kib(size));
        for (window, mtu, receive_max, seen) in [
            (fixed(64), 1_500, kib(6_144), 57),
            (fixed(256), 1_500, kib(6_144), 227),
            (fixed(1_024), 1_500, kib(6_144), 906),
            (Window::Auto, 1_500, kib(256), 113),
            (Window::Auto, 1_500, kib(1_024), 452),
            (Window::Auto, 1_500, kib(32_768), 14_479),
            (fixed(256), 3_000, kib(6_144), 121),
            (fixed(256), 9_000, kib(6_144), 43),
            (Window::Auto, 9_000, kib(1_024), 83),
            (fixed(256), 1_240, kib(6_144), 227),
            (fixed(64), 576, kib(6_144), 125),
        ] {
            let here = outstanding(window, mtu, receive_max);
            assert!(
                here.abs_diff(seen) <= 2 + here / 1_000,
                "{window} at {mtu}: {here}, the kernel {seen}"
            );
        }
    }

    #[test]
    fn a_send_buffer_that_the_file_makes_small_binds() {
        let hosts = Hosts {
            send_buffer_max: Bytes::from_kib(256),
            ..Hosts::default()
        };
        let setting = Setting::new(StreamCount::ONE, Window::Auto);
        let buffers = StreamBuffers::of(&setting, &hosts, Bytes::new(1_448));
        assert!(buffers.send_binds());
        assert_eq!(buffers.window(), Bytes::new(254_279));
        // As `getsockopt` says over an emulated path.
        assert_eq!(buffers.granted.send.granted, Bytes::new(46_080));
        assert_eq!(buffers.granted.receive.granted, Bytes::from_kib(128));
    }

    #[test]
    fn a_window_below_a_packet_still_holds_one_segment() {
        let setting = Setting::new(StreamCount::ONE, Window::Fixed(Bytes::new(1)));
        let hosts = Hosts {
            mtu: 9_000,
            ..Hosts::default()
        };
        let segment = Bytes::new(8_948);
        let buffers = StreamBuffers::of(&setting, &hosts, segment);
        assert_eq!(buffers.window(), segment);
    }
}
