//! Connections without window scaling: their windows end at 65,535 bytes.
//!
//! A host that has it switched off, or a firewall that removes the option from the first packets,
//! leaves the window's field of 16 bits as it is (RFC 7323 section 2). No buffer helps then.

use observe::{Limit, Observation, ProbeSeries, Verdict};
use units::{Bytes, Rate, Span};

/// The largest window without scaling.
const WINDOW_MAX: Bytes = Bytes::new(65_535);
/// Streams that carry this share of what such a window allows are held by it: round trips under
/// load are longer than the shortest one.
const HELD: f64 = 0.6;

/// Adds to `verdict` that connections have no window scaling, and makes it the limit where streams
/// carry what that leaves them.
pub(crate) fn tell(verdict: &mut Verdict, seen: &Observation) {
    let Some(trip) = unscaled(seen) else {
        return;
    };
    let cap = Rate::of(WINDOW_MAX, trip);
    let missing = format!(
        "the connections have no window scaling, which a host has switched off or a firewall \
         removed: without it a stream has no more than 65,535 bytes on the way, {} at {}",
        cap.human(),
        trip.human()
    );
    let streams = f64::from(seen.setting.streams.get());
    let each = seen.summary().goodput().mean.as_f64() / streams;
    if each < HELD * cap.as_f64() {
        verdict.because += &format!("; {missing}");
        return;
    }
    let before = verdict.limit;
    verdict.limit = Limit::ReceiveBuffer;
    verdict.because = missing;
    verdict.or.retain(|other| *other != Limit::ReceiveBuffer);
    if before != Limit::ReceiveBuffer {
        verdict.probability = None;
        verdict.or.insert(0, before);
    }
    // A larger window cannot be said to the far end.
    verdict.window_needed = None;
}

/// The round trip of connections of which one has no window scaling: the shortest of the probes,
/// or where nothing answers those, of the kernel.
fn unscaled(seen: &Observation) -> Option<Span> {
    let last = seen.streams.iter().filter_map(|stream| stream.tcp.last());
    let unscaled = last.filter(|sample| sample.window_scaling == Some(false));
    let kernels = unscaled.filter_map(|sample| sample.rtt_min.or(sample.rtt));
    let kernels = kernels.min()?;
    let probes = seen
        .round_trips
        .unloaded
        .as_ref()
        .and_then(ProbeSeries::min);
    Some(probes.unwrap_or(kernels)).filter(|trip| *trip > Span::ZERO)
}

#[cfg(test)]
mod tests {
    use observe::{
        Counted, Delivery, Peer, Progress, RoundTrips, Setting, Stream, StreamCount,
        StreamDirection, TcpSample, Window,
    };
    use units::Time;

    use super::*;

    /// One stream over 165 ms at a steady rate, without window scaling.
    fn seen(kbit: u64) -> Observation {
        let at = |tenths: u64| Time::ZERO + Span::from_millis(tenths * 100);
        let bytes = |tenths: u64| Bytes::new(kbit * 125 * tenths / 10);
        let progress = (0..=100).map(|tenths| Progress {
            at: at(tenths),
            bytes: bytes(tenths),
        });
        let sample = |tenths| TcpSample {
            at: at(tenths),
            rtt: Some(Span::from_millis(170)),
            rtt_min: Some(Span::from_millis(165)),
            window_scaling: Some(false),
            ..TcpSample::default()
        };
        Observation {
            setting: Setting::new(StreamCount::ONE, Window::Auto),
            grown_from: None,
            peer: Peer::Trunkline,
            duration: Span::from_secs(10),
            elapsed: Span::from_secs(10),
            streams: vec![Stream {
                number: 1,
                direction: StreamDirection::Sending,
                buffers: None,
                buffers_far: None,
                delivery: Delivery {
                    counted: Counted::ByReceiver,
                    progress: progress.collect(),
                    receiver_total: Some(bytes(100)),
                },
                tcp: (0..=100).map(sample).collect(),
                retransmits: None,
                thread_cpu: None,
            }],
            round_trips: RoundTrips::default(),
            congestion_used: None,
            takes_udp: false,
            multipath: None,
            cpu_near: None,
            cpu_far_percent: None,
        }
    }

    #[test]
    fn a_stream_that_carries_what_an_unscaled_window_leaves_is_held_by_it() {
        // 65,535 bytes in 165 ms are 3.18 Mbit/s.
        let held = crate::verdict(&seen(3_000));
        assert_eq!(held.limit, Limit::ReceiveBuffer);
        assert!(
            held.because
                .starts_with("the connections have no window scaling")
                && held.because.contains("3.18 Mbit/s at 165 ms"),
            "{}",
            held.because
        );
        let slower = crate::verdict(&seen(300));
        assert_ne!(slower.limit, Limit::ReceiveBuffer);
        assert!(
            slower
                .because
                .contains("; the connections have no window scaling")
        );
    }

    #[test]
    fn what_has_window_scaling_is_not_told() {
        let mut scaled = seen(3_000);
        for sample in &mut scaled.streams[0].tcp {
            sample.window_scaling = None;
        }
        assert!(!crate::verdict(&scaled).because.contains("window scaling"));
    }
}
