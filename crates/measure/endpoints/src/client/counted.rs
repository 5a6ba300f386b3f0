//! Datagrams as both ends have counted them.

use measure_protocol::{Results, StreamResult};
use observe::{DatagramStream, Datagrams, Peer};
use units::{Bytes, Rate, Span, Way};

use crate::datagrams::{INTERVAL, Moved};

/// What became of the streams, ours in the order in which they were opened.
///
/// * `is_ours`: the server is one of ours.
pub(super) fn datagrams(ours: &[Moved], theirs: &Results, is_ours: bool) -> Datagrams {
    let streams = (0..).zip(ours).map(|(index, ours)| {
        let theirs = theirs.stream(index).cloned().unwrap_or_default();
        match ours.sent {
            true => arrived_there(ours, &theirs),
            false => arrived_here(ours, &theirs),
        }
    });
    Datagrams {
        peer: match is_ours {
            true => Peer::Trunkline,
            false => Peer::Iperf3,
        },
        streams: streams.collect(),
    }
}

/// By the server's count: what it says is bounded by what was sent. All that it has not seen long
/// after the last was sent is lost.
fn arrived_there(ours: &Moved, theirs: &StreamResult) -> DatagramStream {
    let sent = ours.highest;
    let told = theirs.trunkline.clone().unwrap_or_default();
    let seen = theirs.packets.unwrap_or(0).min(sent);
    let arrived = seen.saturating_sub(theirs.errors.unwrap_or(0));
    let lost = sent - arrived;
    let of_the_lost = |count: u64| count.min(lost);
    DatagramStream {
        way: Way::Forward,
        sent,
        sent_bytes: ours.bytes,
        sending: ours.duration,
        arrived,
        // Copies count as well.
        arrived_bytes: Bytes::new(theirs.bytes.min(ours.bytes.get().saturating_mul(2))),
        receiving: theirs.trunkline.as_ref().and_then(|_| seconds(theirs)),
        lost,
        not_sent: Some(ours.not_sent),
        dropped_by_receiver: told.dropped.map(of_the_lost),
        reordered: told.reordered,
        duplicates: told.duplicates,
        jitter: jitter(theirs),
        delay_growth: told.delay_growth_nanos.map(Span::from_nanos),
        rates: told
            .tenths
            .iter()
            .take(whole(seconds(theirs).unwrap_or(Span::ZERO)))
            .map(|bytes| rate(*bytes))
            .collect(),
    }
}

/// By our own count; how many were sent is the server's to tell.
fn arrived_here(ours: &Moved, theirs: &StreamResult) -> DatagramStream {
    let told = theirs.trunkline.clone().unwrap_or_default();
    // Some servers tell nothing of what they sent.
    let sent = theirs.packets.unwrap_or(0).max(ours.highest);
    let lost = sent.saturating_sub(ours.arrived);
    DatagramStream {
        way: Way::Reverse,
        sent,
        sent_bytes: Bytes::new(theirs.bytes).max(ours.bytes),
        sending: seconds(theirs).unwrap_or(ours.duration),
        arrived: ours.arrived,
        arrived_bytes: ours.bytes,
        receiving: Some(ours.duration),
        lost,
        not_sent: told.not_sent,
        dropped_by_receiver: Some(ours.dropped.min(lost)),
        reordered: Some(ours.reordered),
        duplicates: Some(ours.duplicates),
        jitter: ours.jitter,
        delay_growth: ours.delay_growth,
        rates: ours
            .intervals
            .iter()
            .take(whole(ours.duration))
            .map(|bytes| rate(bytes.get()))
            .collect(),
    }
}

/// How many intervals were over when the last datagram came.
fn whole(took: Span) -> usize {
    (took.as_nanos() / INTERVAL.as_nanos()) as usize
}

fn rate(bytes: u64) -> Rate {
    Rate::of(Bytes::new(bytes), INTERVAL)
}

fn seconds(theirs: &StreamResult) -> Option<Span> {
    let took = theirs.end_time? - theirs.start_time?;
    (took.is_finite() && took > 0.0).then(|| Span::from_secs_f64(took))
}

fn jitter(theirs: &StreamResult) -> Span {
    let jitter = theirs.jitter.filter(|one| one.is_finite() && *one >= 0.0);
    Span::from_secs_f64(jitter.unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use measure_protocol::DatagramCounts;

    use super::*;

    fn sender() -> Moved {
        Moved {
            sent: true,
            highest: 1_000,
            arrived: 1_000,
            bytes: Bytes::new(1_000_000),
            not_sent: 3,
            duration: Span::from_secs(1),
            ..Moved::default()
        }
    }

    fn told(result: StreamResult) -> DatagramStream {
        let results = Results {
            streams: vec![StreamResult { id: 1, ..result }],
            ..Results::default()
        };
        datagrams(&[sender()], &results, true).streams.remove(0)
    }

    #[test]
    fn the_last_datagrams_are_lost_too_where_they_did_not_arrive() {
        let seen = told(StreamResult {
            packets: Some(990),
            errors: Some(20),
            bytes: 970_000,
            ..StreamResult::default()
        });
        assert_eq!((seen.arrived, seen.lost), (970, 30));
        assert_eq!(
            (seen.not_sent, seen.dropped_by_receiver, seen.delay_growth),
            (Some(3), None, None)
        );
        let nothing = told(StreamResult::default());
        assert_eq!((nothing.sent, nothing.lost), (1_000, 1_000));
    }

    #[test]
    fn a_server_that_tells_nonsense_is_bounded_by_what_was_sent() {
        let seen = told(StreamResult {
            packets: Some(u64::MAX),
            errors: Some(u64::MAX),
            bytes: u64::MAX,
            jitter: Some(f64::NAN),
            start_time: Some(f64::INFINITY),
            end_time: Some(1e300),
            trunkline: Some(DatagramCounts {
                dropped: Some(u64::MAX),
                ..DatagramCounts::default()
            }),
            ..StreamResult::default()
        });
        assert_eq!((seen.arrived, seen.lost), (0, 1_000));
        assert_eq!(seen.dropped_by_receiver, Some(1_000));
        assert_eq!(seen.arrived_bytes, Bytes::new(2_000_000));
        assert_eq!((seen.jitter, seen.receiving), (Span::ZERO, None));
    }

    #[test]
    fn what_arrived_here_is_of_what_the_server_sent() {
        let ours = Moved {
            highest: 990,
            lost: 10,
            arrived: 980,
            bytes: Bytes::new(980_000),
            dropped: 4,
            duration: Span::from_secs(1),
            ..Moved::default()
        };
        let theirs = Results {
            streams: vec![StreamResult {
                id: 1,
                packets: Some(1_000),
                bytes: 1_000_000,
                ..StreamResult::default()
            }],
            ..Results::default()
        };
        let seen = datagrams(&[ours], &theirs, false);
        let seen = &seen.streams[0];
        assert_eq!(
            (seen.sent, seen.lost, seen.sent_bytes.get()),
            (1_000, 20, 1_000_000)
        );
        assert_eq!((seen.not_sent, seen.dropped_by_receiver), (None, Some(4)));
    }
}
