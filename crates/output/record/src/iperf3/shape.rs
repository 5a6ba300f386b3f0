//! The keys of iperf3's JSON that are used here, as version 3.12 writes them and 3.1 to 3.18 read
//! alike.

use serde::Deserialize;

/// Everything.
#[derive(Debug, Deserialize)]
pub(super) struct Result {
    pub start: Start,
    pub intervals: Vec<Interval>,
    pub end: End,
}

#[derive(Debug, Deserialize)]
pub(super) struct Start {
    pub version: String,
    #[serde(default)]
    pub system_info: String,
    pub timestamp: Timestamp,
    /// The server; absent in the server's own output.
    pub connecting_to: Option<Peer>,
    pub tcp_mss_default: Option<u64>,
    /// What `-w` asked for; 0 leaves it to the kernel.
    #[serde(default)]
    pub sock_bufsize: u64,
    pub sndbuf_actual: u64,
    pub rcvbuf_actual: u64,
    pub test_start: Test,
}

#[derive(Debug, Deserialize)]
pub(super) struct Timestamp {
    pub timesecs: i64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Peer {
    pub host: String,
    pub port: u16,
}

#[derive(Debug, Deserialize)]
pub(super) struct Test {
    pub protocol: String,
    pub num_streams: u64,
    #[serde(default)]
    pub omit: f64,
    /// What `-b` asked for, per stream; 0 is no bound.
    #[serde(default)]
    pub target_bitrate: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Interval {
    pub streams: Vec<Reading>,
}

/// One stream over one interval.
#[derive(Debug, Deserialize)]
pub(super) struct Reading {
    pub socket: i64,
    pub start: f64,
    pub end: f64,
    pub bytes: u64,
    /// Of the sending kernel, as everything below.
    pub retransmits: Option<u32>,
    /// Congestion window in bytes.
    pub snd_cwnd: Option<u64>,
    /// The peer's window in bytes.
    pub snd_wnd: Option<u64>,
    /// Smoothed round-trip time in microseconds.
    pub rtt: Option<u64>,
    #[serde(default)]
    pub omitted: bool,
    /// Whether the client sent; absent before 3.7, where it always did unless `-R` was given.
    pub sender: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub(super) struct End {
    pub streams: Vec<Totals>,
    pub cpu_utilization_percent: Option<Cpu>,
    pub sender_tcp_congestion: Option<String>,
}

/// Both ends of one stream.
#[derive(Debug, Deserialize)]
pub(super) struct Totals {
    pub sender: Total,
    pub receiver: Total,
}

#[derive(Debug, Deserialize)]
pub(super) struct Total {
    pub socket: i64,
    pub bytes: u64,
    pub retransmits: Option<u64>,
}

/// In percent of one processor.
#[derive(Debug, Deserialize)]
pub(super) struct Cpu {
    pub host_user: f64,
    pub host_system: f64,
    pub remote_user: f64,
    pub remote_system: f64,
}
