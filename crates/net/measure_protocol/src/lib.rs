//! The protocols of measurements, without I/O.
//!
//! - [`iperf3`]: iperf3's control protocol with our extension to it.
//! - [`trains`]: probing sessions, which two of our ends may hold in place of a test.
//!
//! The state machines, such as [`ClientControl`] and [`ServerControl`], take the bytes that arrived
//! and the time, and return actions: bytes to send, streams to open, when to start and stop. They
//! open no socket and read no clock, so every conversation can be replayed in a test. Each wait has
//! a deadline that the driver has to honour; a peer's mistake is a typed error, never a panic.
//!
//! Spoken: tests over TCP and of datagrams in all directions, against iperf3 3.0 to 3.21 and
//! against ourselves, with iperf3's users. Left out: SCTP tests; a peer that asks for them gets an
//! error.
//!
//! Two of our own ends recognise each other by the key `trunkline` in the client's parameters,
//! which other servers ignore. A trunkline server answers with the state byte
//! [`State::Capabilities`] and an [`Answer`]; both then number their streams
//! ([`numbered_greeting`]), add [`Telemetry`] to their results, and [`echo`] datagrams may be sent.
//! A server that turns a client away says about when it will have a place ([`Denial`]).
//!
//! [`frame`] has messages with a length before them, which the protocols of copies have too.

pub mod echo;
pub mod frame;
pub mod iperf3;
pub mod trains;

pub use units::Direction;

pub use frame::{FrameError, encode_frame};
pub use iperf3::client::{ClientAction, ClientControl, ClientControlError};
pub use iperf3::cookie::{COOKIE_LENGTH, Cookie, CookieError};
pub use iperf3::denial::Denial;
pub use iperf3::error_code::ErrorCode;
pub use iperf3::extension::{
    Answer, EchoToken, NUMBERED_GREETING_LENGTH, Offer, TokenError, numbered_greeting,
    read_numbered_greeting,
};
pub use iperf3::login::{AuthToken, Credentials, NotAdmitted, Users, UsersError, WordError};
pub use iperf3::params::Params;
pub use iperf3::request::{
    BLOCK_DEFAULT, BLOCK_MAX, BeyondBounds, DatagramForm, Nagle, STREAMS_MAX, ServerOutput,
    StreamPlan, TestBounds, TestEnd, TestRequest,
};
pub use iperf3::request_error::{RequestError, WINDOW_MAX};
pub use iperf3::results::{DatagramCounts, Results, StreamResult, stream_id};
pub use iperf3::server::{ServerAction, ServerControl, ServerControlError, ServerWaits};
pub use iperf3::state::{State, UnknownState};
pub use iperf3::telemetry::{Role, StreamTelemetry, Telemetry};
