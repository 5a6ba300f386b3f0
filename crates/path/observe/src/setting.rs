//! What a run is asked for.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::{Bytes, Direction, Rate, Span};

use crate::Transport;

/// The number of parallel streams: 1 to 128, iperf3's bound.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "u16", into = "u16")]
#[schemars(inline)]
pub struct StreamCount(u16);

/// A stream count outside 1 to 128.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{asked} streams are not between 1 and {max}", max = StreamCount::MAX)]
pub struct StreamCountError {
    /// What was asked for.
    pub asked: String,
}

impl StreamCount {
    /// One stream.
    pub const ONE: StreamCount = StreamCount(1);
    /// The most streams one run may have.
    pub const MAX: StreamCount = StreamCount(128);

    /// Checks the bounds.
    ///
    /// # Errors
    /// When `streams` is zero or above 128.
    pub fn new(streams: u64) -> Result<Self, StreamCountError> {
        match u16::try_from(streams) {
            Ok(n) if (1..=Self::MAX.0).contains(&n) => Ok(StreamCount(n)),
            _ => Err(StreamCountError {
                asked: streams.to_string(),
            }),
        }
    }

    /// The count.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Twice as many, or `None` beyond the bound.
    pub fn doubled(self) -> Option<Self> {
        Self::new(u64::from(self.0) * 2).ok()
    }
}

impl TryFrom<u16> for StreamCount {
    type Error = StreamCountError;

    fn try_from(streams: u16) -> Result<Self, StreamCountError> {
        Self::new(streams.into())
    }
}

impl From<StreamCount> for u16 {
    fn from(streams: StreamCount) -> u16 {
        streams.get()
    }
}

impl From<StreamCount> for u32 {
    fn from(streams: StreamCount) -> u32 {
        streams.get().into()
    }
}

impl From<StreamCount> for f64 {
    fn from(streams: StreamCount) -> f64 {
        streams.get().into()
    }
}

impl fmt::Display for StreamCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for StreamCount {
    type Err = StreamCountError;

    fn from_str(text: &str) -> Result<Self, StreamCountError> {
        let asked = || StreamCountError {
            asked: text.to_owned(),
        };
        let streams = text.trim().parse().map_err(|_| asked())?;
        Self::new(streams)
    }
}

/// Socket buffers of each stream, the same at both ends; in documents `"auto"` or a number of
/// bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "RawWindow", into = "RawWindow")]
pub enum Window {
    /// The kernel sizes the buffers as the stream runs, up to `tcp_wmem[2]` and `tcp_rmem[2]`.
    Auto,
    /// `SO_SNDBUF` and `SO_RCVBUF` of this size. The kernel clamps it to `wmem_max` and `rmem_max`
    /// and then doubles it for its own bookkeeping; this is the size before either.
    Fixed(Bytes),
}

impl Window {
    /// The size that was asked for; `None` of one that is left to the kernel.
    pub const fn fixed(self) -> Option<Bytes> {
        match self {
            Window::Auto => None,
            Window::Fixed(bytes) => Some(bytes),
        }
    }
}

/// The size that was asked for, or none.
impl From<Option<Bytes>> for Window {
    fn from(fixed: Option<Bytes>) -> Self {
        fixed.map_or(Window::Auto, Window::Fixed)
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Window::Auto => f.pad("auto"),
            Window::Fixed(bytes) => bytes.fmt(f),
        }
    }
}

impl FromStr for Window {
    type Err = units::ParseError;

    fn from_str(text: &str) -> Result<Self, units::ParseError> {
        match text {
            "auto" => Ok(Window::Auto),
            size => size.parse().map(Window::Fixed),
        }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum RawWindow {
    Bytes(Bytes),
    Word(String),
}

impl From<Window> for RawWindow {
    fn from(window: Window) -> Self {
        match window {
            Window::Auto => RawWindow::Word("auto".to_owned()),
            Window::Fixed(bytes) => RawWindow::Bytes(bytes),
        }
    }
}

impl TryFrom<RawWindow> for Window {
    type Error = String;

    fn try_from(raw: RawWindow) -> Result<Self, String> {
        match raw {
            RawWindow::Bytes(bytes) => Ok(Window::Fixed(bytes)),
            RawWindow::Word(word) if word == "auto" => Ok(Window::Auto),
            RawWindow::Word(word) => Err(format!(
                "window `{word}` is neither \"auto\" nor a number of bytes"
            )),
        }
    }
}

/// One point of the space that is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// What carries the streams; absent in documents where it is TCP.
    #[serde(default, skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
    /// Parallel streams (in each direction, when both ends send).
    pub streams: StreamCount,
    /// Socket buffers of each stream.
    pub window: Window,
    /// Which end sends.
    pub direction: Direction,
    /// Congestion control by its kernel name; `None` leaves the host's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Upper bound on each stream's sending rate (`SO_MAX_PACING_RATE`).
    #[serde(
        rename = "pacing_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub pacing: Option<Rate>,
    /// Maximum segment size in bytes (`TCP_MAXSEG`); `None` leaves it to the path's MTU.
    #[serde(rename = "mss_bytes", skip_serializing_if = "Option::is_none")]
    pub mss: Option<u16>,
    /// How another program moves the data; absent where that is left to it, and of our own streams.
    #[serde(default, skip_serializing_if = "Moving::is_default")]
    pub moving: Moving,
}

/// What other programs let users set beside streams and window; `None` leaves it to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Moving {
    /// Files at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u16>,
    /// Requests that each file may have without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipelining: Option<u16>,
    /// Data of one request, read or write.
    #[serde(
        rename = "block_bytes",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub block: Option<Bytes>,
}

impl Moving {
    /// Whether everything is left to the program.
    pub fn is_default(&self) -> bool {
        *self == Moving::default()
    }
}

/// What differs from the program's defaults: `block 4MiB, 2 files at once`; empty without any.
impl fmt::Display for Moving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self
            .concurrency
            .map(|files| format!("{files} files at once"));
        let requests = self
            .pipelining
            .map(|requests| format!("{requests} requests"));
        let block = self.block.map(|block| format!("block {block}"));
        let parts: Vec<String> = [files, requests, block].into_iter().flatten().collect();
        f.pad(&parts.join(", "))
    }
}

impl Setting {
    /// `streams` forward streams with `window`, everything else as the host has it.
    pub fn new(streams: StreamCount, window: Window) -> Self {
        Setting {
            transport: Transport::Tcp,
            streams,
            window,
            direction: Direction::Forward,
            congestion: None,
            pacing: None,
            mss: None,
            moving: Moving::default(),
        }
    }

    /// What it asks for that only TCP has, as an option of the program: over UDP the window, the
    /// congestion control and the size of packets are those of QUIC. `None` over TCP.
    ///
    /// ```
    /// use observe::{Setting, StreamCount, Transport, Window};
    /// let mut setting = Setting::new(StreamCount::ONE, Window::Auto);
    /// setting.congestion = Some("bbr".to_owned());
    /// assert_eq!(setting.only_of_tcp(), None);
    /// setting.transport = Transport::Udp;
    /// assert_eq!(setting.only_of_tcp(), Some("--congestion"));
    /// ```
    pub fn only_of_tcp(&self) -> Option<&'static str> {
        match self {
            Setting {
                transport: Transport::Tcp,
                ..
            } => None,
            Setting {
                window: Window::Fixed(_),
                ..
            } => Some("--window"),
            Setting {
                congestion: Some(_),
                ..
            } => Some("--congestion"),
            Setting { mss: Some(_), .. } => Some("--set-mss"),
            _ => None,
        }
    }
}

/// How much is sent in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// As much as passes in this time.
    Time(Span),
    /// This much, over all streams together.
    Bytes(Bytes),
}

/// When a run may end before its time: its goodput is known well enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Half the width of the 95 % interval, as a share of the goodput.
    pub relative_half_width: f64,
    /// Steady time that must have been seen before the interval is believed.
    pub steady_min: Span,
}

/// How one run is carried out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplePlan {
    /// How much to send at the most.
    pub amount: Amount,
    /// Stop sooner when the goodput is known this well; `None` runs the full amount.
    pub precision: Option<Precision>,
    /// How long the idle path is probed before the streams start; zero leaves that out.
    pub unloaded: Span,
    /// What becomes of the streams afterwards.
    pub then: Then,
}

/// What becomes of the streams when a run has shown what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Then {
    /// They end.
    #[default]
    Stop,
    /// They go on sending, where the target can do that. If the next run asks for the same setting
    /// with more streams, those join the ones that run, and none pays slow start twice; any other
    /// run, and [`crate::Target::stop`], ends them.
    KeepRunning,
}

impl SamplePlan {
    /// Telemetry is read this often, at both ends.
    pub const INTERVAL: Span = Span::from_millis(100);

    /// A run of this length, after one second of probing the idle path.
    pub fn lasting(duration: Span) -> Self {
        SamplePlan {
            amount: Amount::Time(duration),
            precision: None,
            unloaded: Span::from_secs(1),
            then: Then::Stop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_counts_outside_the_bound_are_refused_with_value_and_bound() {
        for text in ["0", "129", "-1", "1000000000000", "many"] {
            let error = text.parse::<StreamCount>().unwrap_err().to_string();
            assert_eq!(error, format!("{text} streams are not between 1 and 128"));
        }
    }

    #[test]
    fn doubling_stops_at_the_bound() {
        assert_eq!(StreamCount::ONE.doubled().map(StreamCount::get), Some(2));
        assert_eq!(StreamCount::MAX.doubled(), None);
    }

    #[test]
    fn windows_print_and_parse() {
        assert_eq!("auto".parse(), Ok(Window::Auto));
        let fixed = Window::Fixed(Bytes::from_kib(256));
        assert_eq!(fixed.to_string(), "256KiB");
        assert_eq!("256k".parse(), Ok(fixed));
    }

    #[test]
    fn a_window_in_a_document_is_a_word_or_a_number() {
        let json = |window| serde_json::to_string(&window).unwrap();
        assert_eq!(json(Window::Auto), "\"auto\"");
        assert_eq!(json(Window::Fixed(Bytes::from_kib(64))), "65536");
    }

    #[test]
    fn another_word_is_named_with_what_would_do() {
        let error = serde_json::from_str::<Window>("\"64k\"").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("window `64k` is neither \"auto\" nor a number"));
    }
}
