//! What programs really printed, kept as files, and what is found in it.

use units::Bytes;

use crate::Mover;

fn bytes(mover: Mover, text: &str) -> Option<Bytes> {
    mover.client().printed(text).map(|printed| printed.bytes)
}

#[test]
fn iperf_counts_each_interval_of_each_stream_once() {
    let text = include_str!("kept/iperf-2.1.8-two-streams.txt");
    // 2 x (2.5 + 2.38 + 2.38 + 2.38) MiB.
    assert_eq!(bytes(Mover::Iperf2, text), Some(Bytes::new(20_216_540)));
    // It was stopped there: the totals of the streams are no intervals.
    let refused = "Client connecting to 127.0.0.1, TCP port 50119\ntcp connect failed: refused\n";
    assert_eq!(bytes(Mover::Iperf2, refused), None);
}

#[test]
fn nuttcp_counts_intervals_and_not_their_sum() {
    let text = include_str!("kept/nuttcp-6.1.2-two-streams.txt");
    // (2.3125 + 2.3750) MiB.
    assert_eq!(bytes(Mover::Nuttcp, text), Some(Bytes::new(4_915_200)));
    assert_eq!(
        bytes(
            Mover::Nuttcp,
            "nuttcp-t: Error: connect: Connection refused"
        ),
        None
    );
}

#[test]
fn globus_url_copy_tells_what_it_has_moved_in_all() {
    let text = include_str!("kept/globus-url-copy-10.12.txt");
    assert_eq!(bytes(Mover::GridFtp, text), Some(Bytes::new(7_953_448_960)));
    assert_eq!(
        bytes(Mover::GridFtp, "error: globus_xio: Unable to connect"),
        None
    );
}
