//! What a test is, checked.

mod bounds;

use units::{Bytes, Direction, Dscp, Rate, Span};

use crate::iperf3::datagram::{self, Counter};
use crate::iperf3::extension::VERSION;
use crate::iperf3::request_error::{SEGMENT_MAX, SEGMENT_MIN};
use crate::{AuthToken, Offer, Params, RequestError, WINDOW_MAX};

pub use bounds::{BeyondBounds, TestBounds};

/// Most streams of one direction, as in iperf3.
pub const STREAMS_MAX: u16 = 128;
/// Bytes per write when nothing else is asked for, as in iperf3.
pub const BLOCK_DEFAULT: Bytes = Bytes::from_kib(128);
/// Most bytes per write, as in iperf3.
pub const BLOCK_MAX: Bytes = Bytes::from_mib(1);

/// Data of a datagram: iperf3's default where it does not know the path.
const DATAGRAM_DEFAULT: u64 = 1_460;
/// Datagrams that are sent together, as in iperf3.
const BURST_MAX: u64 = 1_000;
const SECONDS_MAX: u64 = 86_400;
const OMIT_SECONDS_MAX: u64 = 600;
const CONGESTION_NAME_MAX: usize = 15;

/// What ends the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestEnd {
    /// The client, after this time.
    After(Span),
    /// So many bytes over all streams.
    Bytes(Bytes),
    /// The client, whenever it likes.
    Client,
}

/// Whether small writes may wait for more data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nagle {
    /// They may: the kernel's default.
    On,
    /// They leave at once (`TCP_NODELAY`).
    Off,
}

/// Whether the client wants the server's printed report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerOutput {
    /// It does.
    Wanted,
    /// It does not.
    Unwanted,
}

/// How many streams one end sends on and receives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamPlan {
    /// Streams on which this end sends.
    pub send: u16,
    /// Streams on which this end receives.
    pub receive: u16,
}

impl StreamPlan {
    /// All streams.
    pub fn total(self) -> u16 {
        self.send.saturating_add(self.receive)
    }
}

/// What sets a test of datagrams apart (`iperf3 -u`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DatagramForm {
    /// How wide their numbers are.
    pub counter: Counter,
    /// Datagrams that are sent together; 0 leaves it to the sender.
    pub burst: u16,
}

/// One test as the client asks for it, over TCP or of datagrams.
#[derive(Debug, Clone, PartialEq)]
pub struct TestRequest {
    /// Who sends.
    pub direction: Direction,
    /// Streams per direction, 1 to [`STREAMS_MAX`].
    pub streams: u16,
    /// What ends the test.
    pub end: TestEnd,
    /// Time at the beginning that does not count.
    pub omit: Span,
    /// Bytes per write.
    pub block: Bytes,
    /// Socket buffers; `None` leaves them to the kernel.
    pub window: Option<Bytes>,
    /// Segment size; `None` leaves it to the kernel.
    pub segment: Option<Bytes>,
    /// Nagle's algorithm.
    pub nagle: Nagle,
    /// Congestion control; `None` is the kernel's default.
    pub congestion: Option<String>,
    /// Rate of each sending stream.
    pub pacing: Option<Rate>,
    /// How packets of both ends are marked.
    pub dscp: Option<Dscp>,
    /// The server's report.
    pub server_output: ServerOutput,
    /// Our own offer, when it reaches the version spoken here.
    pub offer: Option<Offer>,
    /// Its streams are datagrams at a steady rate each, [`TestRequest::pacing`], or as fast as they
    /// go, of the size of a block: iperf3's tests over UDP.
    pub datagrams: Option<DatagramForm>,
    /// Who asks, where the client logs in.
    pub token: Option<AuthToken>,
}

impl TestRequest {
    /// A forward test of `streams` streams, everything else at its default.
    pub fn new(streams: u16, end: TestEnd) -> Self {
        TestRequest {
            direction: Direction::Forward,
            streams,
            end,
            omit: Span::ZERO,
            block: BLOCK_DEFAULT,
            window: None,
            segment: None,
            nagle: Nagle::On,
            congestion: None,
            pacing: None,
            dscp: None,
            server_output: ServerOutput::Unwanted,
            offer: None,
            datagrams: None,
            token: None,
        }
    }

    /// The streams as the client sees them.
    pub fn client_streams(&self) -> StreamPlan {
        let (send, receive) = match self.direction {
            Direction::Forward => (self.streams, 0),
            Direction::Reverse => (0, self.streams),
            Direction::Both => (self.streams, self.streams),
        };
        StreamPlan { send, receive }
    }

    /// The streams as the server sees them. Those it receives on are opened first.
    pub fn server_streams(&self) -> StreamPlan {
        let client = self.client_streams();
        StreamPlan {
            send: client.receive,
            receive: client.send,
        }
    }

    /// Whether its streams come over UDP, in QUIC.
    pub fn is_over_udp(&self) -> bool {
        self.offer.is_some_and(|offer| offer.udp)
    }

    /// The time after which the test should be over; `None` when time does not end it.
    pub fn length(&self) -> Option<Span> {
        match self.end {
            TestEnd::After(span) => Some(span + self.omit),
            TestEnd::Bytes(_) | TestEnd::Client => None,
        }
    }

    /// The document a client sends. Times are whole seconds there and are rounded up.
    pub fn to_params(&self) -> Params {
        let (time, num) = match self.end {
            TestEnd::After(span) => (whole_seconds(span), 0),
            TestEnd::Bytes(bytes) => (0, bytes.get()),
            TestEnd::Client => (0, 0),
        };
        let burst = self.datagrams.map(|form| form.burst.into());
        let is_wide = self
            .datagrams
            .is_some_and(|form| form.counter == Counter::Wide);
        Params {
            tcp: self.datagrams.is_none(),
            udp: self.datagrams.is_some(),
            // Absent, some servers send 1 Mbit/s.
            bandwidth: self
                .datagrams
                .map(|_| self.pacing.map_or(0, Rate::bits_per_second)),
            burst: burst.filter(|burst| *burst > 0),
            udp_counters_64bit: is_wide.then_some(1),
            omit: Some(whole_seconds(self.omit)),
            time: i64::try_from(time).ok(),
            num: Some(num),
            blockcount: Some(0),
            parallel: Some(self.streams.into()),
            len: i64::try_from(self.block.get()).ok(),
            mss: self.segment.map(Bytes::get),
            nodelay: self.nagle == Nagle::Off,
            reverse: self.direction == Direction::Reverse,
            bidirectional: self.direction == Direction::Both,
            window: self.window.map(Bytes::get),
            fqrate: self
                .pacing
                .filter(|_| self.datagrams.is_none())
                .map(Rate::bits_per_second),
            tos: self.dscp.map(|dscp| dscp.octet().into()),
            congestion: self.congestion.clone(),
            get_server_output: (self.server_output == ServerOutput::Wanted).then_some(1),
            client_version: Some(concat!("trunkline ", env!("CARGO_PKG_VERSION")).to_owned()),
            authtoken: self.token.clone(),
            trunkline: self.offer,
            ..Params::default()
        }
    }

    /// Checks a client's document.
    pub fn from_params(params: &Params) -> Result<Self, RequestError> {
        if params.sctp {
            return Err(RequestError::Sctp);
        }
        let datagrams = params.udp.then(|| form(params));
        let block = match datagrams {
            Some(form) => datagram(form, params.len),
            None => block(params.len),
        };
        Ok(TestRequest {
            direction: direction(params),
            streams: streams(params.parallel)?,
            end: end(params, block)?,
            omit: Span::from_secs(params.omit.unwrap_or(0).min(OMIT_SECONDS_MAX)),
            block,
            window: window(params.window)?,
            segment: segment(params.mss)?,
            nagle: if params.nodelay {
                Nagle::Off
            } else {
                Nagle::On
            },
            congestion: params.congestion.clone().filter(|name| is_name(name)),
            pacing: pacing(params),
            dscp: params.tos.and_then(dscp),
            server_output: match params.get_server_output {
                Some(1..) => ServerOutput::Wanted,
                _ => ServerOutput::Unwanted,
            },
            offer: params.trunkline.filter(|offer| offer.version >= VERSION),
            datagrams,
            token: params.authtoken.clone(),
        })
    }
}

fn form(params: &Params) -> DatagramForm {
    DatagramForm {
        counter: match params.udp_counters_64bit {
            Some(1..) => Counter::Wide,
            _ => Counter::Narrow,
        },
        burst: params.burst.unwrap_or(0).min(BURST_MAX) as u16,
    }
}

fn whole_seconds(span: Span) -> u64 {
    span.as_nanos().div_ceil(1_000_000_000)
}

fn direction(params: &Params) -> Direction {
    match (params.bidirectional, params.reverse) {
        (true, _) => Direction::Both,
        (false, true) => Direction::Reverse,
        (false, false) => Direction::Forward,
    }
}

fn streams(parallel: Option<i64>) -> Result<u16, RequestError> {
    let asked = parallel.unwrap_or(1);
    let possible = 1..=i64::from(STREAMS_MAX);
    let streams = u16::try_from(asked).ok();
    streams
        .filter(|_| possible.contains(&asked))
        .ok_or(RequestError::Streams(asked))
}

fn end(params: &Params, block: Bytes) -> Result<TestEnd, RequestError> {
    let seconds = params.time.unwrap_or(0);
    let bytes = params.num.unwrap_or(0);
    let blocks = params.blockcount.unwrap_or(0);
    match u64::try_from(seconds) {
        Ok(0) if bytes > 0 => Ok(TestEnd::Bytes(Bytes::new(bytes))),
        Ok(0) if blocks > 0 => Ok(TestEnd::Bytes(block.times(blocks))),
        Ok(0) => Ok(TestEnd::Client),
        Ok(seconds @ ..=SECONDS_MAX) => Ok(TestEnd::After(Span::from_secs(seconds))),
        _ => Err(RequestError::Seconds(seconds)),
    }
}

/// Out-of-range sizes are pulled into range, because older clients send them in good faith.
fn block(len: Option<i64>) -> Bytes {
    let len = len.and_then(|len| u64::try_from(len).ok());
    match len {
        None | Some(0) => BLOCK_DEFAULT,
        Some(len) => Bytes::new(len.min(BLOCK_MAX.get())),
    }
}

/// The data of a datagram; there is room for its header.
fn datagram(form: DatagramForm, len: Option<i64>) -> Bytes {
    let len = len.and_then(|len| u64::try_from(len).ok());
    let len = len.filter(|len| *len > 0).unwrap_or(DATAGRAM_DEFAULT);
    datagram::size(form.counter, len)
}

fn window(asked: Option<u64>) -> Result<Option<Bytes>, RequestError> {
    match asked {
        None | Some(0) => Ok(None),
        Some(bytes) if bytes > WINDOW_MAX.get() => Err(RequestError::Window(bytes)),
        Some(bytes) => Ok(Some(Bytes::new(bytes))),
    }
}

fn segment(asked: Option<u64>) -> Result<Option<Bytes>, RequestError> {
    match asked {
        None | Some(0) => Ok(None),
        Some(bytes @ SEGMENT_MIN..=SEGMENT_MAX) => Ok(Some(Bytes::new(bytes))),
        Some(bytes) => Err(RequestError::Segment(bytes)),
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=CONGESTION_NAME_MAX).contains(&name.len()) && name.bytes().all(allowed)
}

/// What is no octet is nothing, and so is the default class.
fn dscp(tos: u64) -> Option<Dscp> {
    let class = u8::try_from(tos)
        .ok()
        .and_then(|octet| Dscp::new(octet >> 2));
    class.filter(|class| *class != Dscp::DEFAULT)
}

/// The smaller of the two rates a client can set, both per stream.
fn pacing(params: &Params) -> Option<Rate> {
    let rates = [params.fqrate, params.bandwidth];
    let rates = rates.into_iter().flatten().filter(|rate| *rate > 0);
    rates.min().map(Rate::from_bits_per_second)
}

#[cfg(test)]
mod tests;
