//! What each fuzz target does with its bytes.
//!
//! A check takes any bytes, gives them to what reads them in trunkline, and panics where a promise
//! is broken. The fuzzer calls it (`fuzz/fuzz_targets`), and so does `tests/replay.rs`, with the
//! seeds of `fuzz/seeds` and with random changes of them, on a stable compiler. So this crate has
//! no dependency on the fuzzer.

pub mod conversation;
pub mod copying;
pub mod echo;
pub mod iperf3;
pub mod journal;
pub mod path_file;
pub mod pieces;
pub mod place;
pub mod report;
pub mod start;
pub mod stream;
pub mod tokens_file;
pub mod trains;
pub mod wildcards;
pub mod words;

/// A target and its check.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 15] = [
    ("copying", copying::check),
    ("echo", echo::check),
    ("iperf3_client", iperf3::check_client),
    ("iperf3_server", iperf3::check_server),
    ("journal", journal::check),
    ("path_file", path_file::check),
    ("pieces", pieces::check),
    ("place", place::check),
    ("conversation", conversation::check),
    ("report", report::check),
    ("start", start::check),
    ("stream", stream::check),
    ("tokens_file", tokens_file::check),
    ("trains", trains::check),
    ("wildcards", wildcards::check),
];
