//! iperf3's control protocol and our extension to it, without I/O.
//!
//! Two state machines, [`ClientControl`] and [`ServerControl`], take the bytes that arrived and the
//! time, and hand out actions: bytes to send, streams to open, when to start and stop. They open no
//! socket and read no clock, so every conversation can be replayed in a test. Each wait has a
//! deadline that the driver has to honour; a peer's mistake is a typed error, never a panic.
//!
//! Spoken: TCP tests in all directions, against iperf3 3.0 to 3.21 and against ourselves. Left out:
//! UDP and SCTP tests and authentication; a peer that asks for them is told so.
//!
//! Two of our own ends recognise each other by the key `trunkline` in the client's parameters,
//! which other servers ignore. A trunkline server answers with the state byte
//! [`State::Capabilities`] and an [`Answer`]; both then number their streams
//! ([`numbered_greeting`]), add [`Telemetry`] to their results, and [`echo`] datagrams may be sent.
//!
//! [`copying`] is the protocol of `trunkline copy`, which shares the port and nothing else.
//!
//! A client of ours may also ask to send [`probing`] trains in place of a test.
//!
//! Reading order: `cookie` and `state` for the primitives, `frame` for JSON messages, `params` and
//! `request` for what a test is, `results` and `telemetry` for what it showed, then `client` and
//! `server`, and `probing` for itself.

mod cookie;
pub mod copying;
pub mod echo;
mod error_code;
mod extension;
mod frame;
mod inbox;
mod number;
mod params;
pub mod probing;
mod request;
mod results;
mod state;
mod telemetry;

pub mod client;
pub mod server;

pub use client::{ClientAction, ClientControl, ClientControlError};
pub use cookie::{COOKIE_LENGTH, Cookie, CookieError};
pub use error_code::ErrorCode;
pub use extension::{
    Answer, EchoToken, Offer, STREAM_NUMBER_LENGTH, TokenError, numbered_greeting,
};
pub use frame::{FrameError, encode_frame};
pub use params::Params;
pub use request::{
    BLOCK_DEFAULT, BLOCK_MAX, BeyondBounds, Direction, Nagle, RequestError, STREAMS_MAX,
    ServerOutput, StreamPlan, TestBounds, TestEnd, TestRequest, WINDOW_MAX,
};
pub use results::{Results, StreamResult, stream_id};
pub use server::{ServerAction, ServerControl, ServerControlError, ServerWaits};
pub use state::{State, UnknownState};
pub use telemetry::{Role, StreamTelemetry, Telemetry};
