//! What carries the streams of a copy.

/// What carries the streams of a copy. Both ends talk to each other over TCP with either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// TCP, with the congestion control of the sender's kernel.
    #[default]
    Tcp,
    /// QUIC over UDP, with our own controller at the sender; see `rate_control`.
    Udp,
}
