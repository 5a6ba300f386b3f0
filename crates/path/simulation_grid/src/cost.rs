//! What a run is expected to cost: for the order of runs and the bar, not for a time.

use models::{Conditions, mathis_with_window};
use sim::{Scenario, Work};
use units::{Bytes, Way};

/// What setting up a run costs, and each of its streams, in packets.
const RUN: f64 = 100.0;
const STREAM: f64 = 10.0;

/// The packets that `scenario` is expected to send, with what setting it up costs.
///
/// Endless streams carry what their windows and the path's losses allow (Mathis et al. 1997), at
/// most the link's rate; with cross traffic the link is taken for full. Data with an end takes as
/// long as the streams need for it. The figure is rough where a variant is far from Reno.
pub(super) fn expected(scenario: &Scenario) -> f64 {
    let path = &scenario.path;
    let link = path.narrowest(Way::Forward).rate.as_f64();
    let streams = f64::from(scenario.streams);
    let own = (streams * of_stream(scenario).unwrap_or(link)).min(link);
    let duration = scenario.duration.as_secs_f64();
    let seconds = match scenario.work {
        Work::Endless => duration,
        Work::Striped(bytes) => duration.min(bytes.as_f64() * 8.0 / own),
        Work::PerStream(bytes) => duration.min(streams * bytes.as_f64() * 8.0 / own),
    };
    let carried = if path.cross.is_empty() { own } else { link };
    RUN + STREAM * streams + carried * seconds / (8.0 * f64::from(path.mtu()))
}

/// The most that one stream sends, bits per second; `None` without a round trip.
fn of_stream(scenario: &Scenario) -> Option<f64> {
    let path = &scenario.path;
    let buffers = path.hosts.forward();
    let window = scenario
        .window
        .unwrap_or_else(|| buffers.send.min(buffers.receive));
    let conditions = Conditions {
        segment: Bytes::new(u64::from(path.mtu())),
        rtt: path.base_rtt(),
        loss: path.loss_rate(Way::Forward),
    };
    let carried = mathis_with_window(&conditions, window)?;
    let paced = scenario.pacing.map_or(carried, |most| carried.min(most));
    Some(paced.as_f64())
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenario;
    use super::*;
    use units::Span;

    #[test]
    fn a_full_link_costs_its_packets() {
        // 45 Mbit/s for 30 s in packets of 1500 bytes.
        let full = Scenario {
            streams: 40,
            ..scenario()
        };
        assert_eq!(expected(&full), 112_500.0 + RUN + 40.0 * STREAM);
    }

    #[test]
    fn small_windows_and_short_runs_cost_less_and_more_streams_never_do() {
        let one = scenario();
        let narrow = Scenario {
            window: Some(Bytes::from_kib(16)),
            ..one.clone()
        };
        let short = Scenario {
            duration: Span::from_secs(3),
            ..one.clone()
        };
        assert!(expected(&narrow) < expected(&one) && expected(&short) < expected(&one));
        let costs: Vec<f64> = (0..100)
            .map(|streams| {
                expected(&Scenario {
                    streams,
                    ..one.clone()
                })
            })
            .collect();
        assert!(costs.is_sorted(), "{costs:?}");
    }

    #[test]
    fn data_with_an_end_costs_what_it_holds_and_every_cost_is_a_number() {
        let works = [
            Work::Striped(Bytes::new(1_500_000)),
            Work::PerStream(Bytes::new(1_500_000)),
        ];
        for work in works {
            for streams in [0, 1] {
                let asked = Scenario {
                    work,
                    streams,
                    duration: Span::from_secs(86_400),
                    ..scenario()
                };
                let cost = expected(&asked);
                assert!(cost.is_finite(), "{cost}");
                assert!(streams == 0 || (cost - 1_110.0).abs() < 1.0, "{cost}");
            }
        }
    }
}
