//! What copies of a link tell of themselves, and the parts that follow.

use std::collections::BTreeMap;

use observe::{Limit, StreamCount};
use steer::{LinkReport, LinkSteer, REPORT_PERIOD};
use units::{Bytes, Span};

const RTT: Span = Span::from_millis(80);

fn report(copy: u64, done: u64, streams: u16) -> LinkReport {
    LinkReport {
        copy,
        weight: 1,
        done: Bytes::new(done),
        streams,
        rtt: Some(RTT),
        retransmitted_share: Some(0.001),
        limited_by: Some(Limit::Network),
    }
}

fn count(streams: u64) -> Option<StreamCount> {
    StreamCount::new(streams).ok()
}

#[test]
fn the_beginning_is_what_is_known_or_the_most_that_a_copy_has() {
    let told = BTreeMap::from([(0, report(7, 0, 30)), (1, report(8, 0, 0))]);
    let streams = |known, fixed| LinkSteer::of_reports(&told, known, fixed).streams().get();
    assert_eq!(streams(None, None), 30);
    assert_eq!(streams(count(50), None), 50);
    assert_eq!(streams(count(50), count(8)), 8);
    let nothing = BTreeMap::from([(0, report(7, 0, 0))]);
    // 80 ms begin with 27 streams.
    assert_eq!(
        LinkSteer::of_reports(&nothing, None, None).streams().get(),
        27
    );
}

/// Two copies whose sum stays the same, whatever they have.
#[test]
fn reports_that_count_from_the_beginning_add_no_streams_without_a_gain() {
    let mut link = LinkSteer::of_reports(&BTreeMap::new(), count(20), None);
    for second in 0..300_u64 {
        let told = BTreeMap::from([
            (0, report(1, second * 500_000, 10)),
            (1, report(2, second * 700_000, 10)),
        ]);
        let parts = link.on_reports(REPORT_PERIOD, &told);
        let all: u16 = parts.values().sum();
        assert!((2..=30).contains(&all), "{all} streams after {second} s");
    }
}
