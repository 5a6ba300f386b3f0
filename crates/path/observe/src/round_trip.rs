//! Round trips of small probes, with and without load beside them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Span, Time};

/// One probe and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// When it was sent, from the start of its series.
    #[serde(rename = "sent_seconds")]
    pub sent: Time,
    /// How long the answer took; `None` when none came.
    #[serde(rename = "rtt_seconds", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Span>,
}

/// What carried the probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeMethod {
    /// Datagrams that a trunkline server echoes.
    UdpEcho,
    /// ICMP echo, answered by the far kernel.
    IcmpEcho,
    /// Beginnings of TCP connections, accepted or refused by the far kernel.
    TcpConnect,
}

/// Probes sent one after another under the same conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeSeries {
    /// What carried them.
    pub method: ProbeMethod,
    /// Answers to probes that had been answered before.
    pub duplicated: u32,
    /// The probes, in the order in which they were sent.
    pub probes: Vec<Probe>,
}

/// Round trips of one measurement cycle: idle first, then beside the streams.
///
/// Source of the cycle and of both figures below: Cottrell's SLAC measurements of 2000-2001.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoundTrips {
    /// Before the streams started; `None` when nothing answers probes there.
    pub unloaded: Option<ProbeSeries>,
    /// While the streams ran.
    pub loaded: Option<ProbeSeries>,
}

impl ProbeSeries {
    /// Distance of two probes: twenty small datagrams a second disturb no traffic.
    pub const INTERVAL: Span = Span::from_millis(50);

    /// How long an answer is waited for where no answer takes longer.
    pub const PATIENCE: Span = Span::from_secs(1);

    /// Leaves out the probes without an answer that may still be on their way at `now`: a probe
    /// counts as lost when it was waited for thrice as long as the slowest answer took.
    ///
    /// * `now`: from the start of the series.
    pub fn leave_out_unknown(&mut self, now: Time) {
        let longest = self.probes.iter().filter_map(|probe| probe.rtt).max();
        let lost_after = longest.map_or(Self::PATIENCE, |rtt| rtt.times(3));
        self.probes
            .retain(|probe| probe.rtt.is_some() || now.since(probe.sent) >= lost_after);
    }

    /// How many answers were overtaken by the answer to a later probe.
    ///
    /// ```
    /// # use observe::{Probe, ProbeMethod, ProbeSeries};
    /// # use units::{Span, Time};
    /// let probe = |sent, rtt| Probe {
    ///     sent: Time::ZERO + Span::from_millis(sent),
    ///     rtt: Some(Span::from_millis(rtt)),
    /// };
    /// let series = ProbeSeries {
    ///     method: ProbeMethod::UdpEcho,
    ///     duplicated: 0,
    ///     probes: vec![probe(0, 170), probe(50, 100), probe(100, 100)],
    /// };
    /// // The first answer came at 170 ms, the second at 150 ms.
    /// assert_eq!(series.reordered(), 1);
    /// ```
    pub fn reordered(&self) -> u32 {
        let arrivals = self.probes.iter().rev();
        let arrivals = arrivals.filter_map(|probe| Some(probe.sent + probe.rtt?));
        let mut earliest: Option<Time> = None;
        let mut overtaken = 0;
        for arrival in arrivals {
            overtaken += u32::from(earliest.is_some_and(|earliest| earliest < arrival));
            earliest = Some(earliest.map_or(arrival, |earliest| earliest.min(arrival)));
        }
        overtaken
    }

    /// The answers' round-trip times in seconds, in sending order.
    pub fn rtt_seconds(&self) -> Vec<f64> {
        let answered = self.probes.iter().filter_map(|probe| probe.rtt);
        answered.map(Span::as_secs_f64).collect()
    }

    /// The smallest round-trip time; `None` when no probe was answered.
    pub fn min(&self) -> Option<Span> {
        self.probes.iter().filter_map(|probe| probe.rtt).min()
    }

    /// The mean round-trip time; `None` when no probe was answered.
    pub fn mean(&self) -> Option<Span> {
        let rtts = self.rtt_seconds();
        let sum: f64 = rtts.iter().sum();
        (!rtts.is_empty()).then(|| Span::from_secs_f64(sum / rtts.len() as f64))
    }

    /// A quantile of the round-trip times in seconds: 0.5 is the median; `None` when no probe was
    /// answered.
    pub fn quantile_seconds(&self, share: f64) -> Option<f64> {
        stats::quantile(&self.rtt_seconds(), share)
    }

    /// The share of probes without an answer; `None` when none was sent.
    pub fn loss_ratio(&self) -> Option<f64> {
        let sent = self.probes.len();
        let lost = self.probes.iter().filter(|probe| probe.rtt.is_none());
        (sent > 0).then(|| lost.count() as f64 / sent as f64)
    }

    /// Rate variability: `1 - min(RTT) / mean(RTT)`, 0 on a path without queueing.
    ///
    /// ```
    /// # use observe::{Probe, ProbeMethod, ProbeSeries};
    /// # use units::{Span, Time};
    /// let probe = |ms| Probe { sent: Time::ZERO, rtt: Some(Span::from_millis(ms)) };
    /// let series = ProbeSeries {
    ///     method: ProbeMethod::UdpEcho,
    ///     duplicated: 0,
    ///     probes: vec![probe(164), probe(198)],
    /// };
    /// // 1 - 164/181 = 0.0939, the loaded RTT of SLAC to CERN with 8 streams of 64 kB.
    /// assert!((series.rate_variability().unwrap() - 0.0939).abs() < 1e-4);
    /// ```
    pub fn rate_variability(&self) -> Option<f64> {
        let (min, mean) = (self.min()?, self.mean()?);
        (mean > Span::ZERO).then(|| 1.0 - min.as_secs_f64() / mean.as_secs_f64())
    }
}

impl RoundTrips {
    /// dRTT in seconds: mean loaded less mean unloaded round-trip time. It can be slightly
    /// negative by chance on a path without a queue.
    pub fn added_seconds(&self) -> Option<f64> {
        let loaded = self.loaded.as_ref()?.mean()?;
        let unloaded = self.unloaded.as_ref()?.mean()?;
        Some(loaded.as_secs_f64() - unloaded.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(rtts: &[Option<u64>]) -> ProbeSeries {
        let probe = |ms: &Option<u64>| Probe {
            sent: Time::ZERO,
            rtt: ms.map(Span::from_millis),
        };
        ProbeSeries {
            method: ProbeMethod::UdpEcho,
            duplicated: 0,
            probes: rtts.iter().map(probe).collect(),
        }
    }

    #[test]
    fn lost_probes_count_as_loss_and_not_as_time() {
        let series = series(&[Some(10), None, Some(30), None]);
        assert_eq!(series.mean(), Some(Span::from_millis(20)));
        assert_eq!(series.loss_ratio(), Some(0.5));
    }

    #[test]
    fn probes_still_on_their_way_are_not_lost() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let all = |probes: &[(u64, Option<u64>)]| {
            let probe = |(sent, rtt): &(u64, Option<u64>)| Probe {
                sent: at(*sent),
                rtt: rtt.map(Span::from_millis),
            };
            ProbeSeries {
                method: ProbeMethod::UdpEcho,
                duplicated: 0,
                probes: probes.iter().map(probe).collect(),
            }
        };
        // Answers take up to 2 s: after 7 s the probe of 0.5 s is lost, that of 3 s is not yet.
        let mut series = all(&[
            (0, Some(2_000)),
            (500, None),
            (3_000, None),
            (4_000, Some(1_900)),
        ]);
        series.leave_out_unknown(at(7_000));
        let sent: Vec<Time> = series.probes.iter().map(|probe| probe.sent).collect();
        assert_eq!(sent, [at(0), at(500), at(4_000)]);
        let mut silent = all(&[(0, None), (6_500, None)]);
        silent.leave_out_unknown(at(7_000));
        assert_eq!(silent.probes.len(), 1);
    }

    #[test]
    fn an_unanswered_series_has_no_figures() {
        let series = series(&[None, None]);
        assert_eq!(series.min(), None);
        assert_eq!(series.rate_variability(), None);
        assert_eq!(series.loss_ratio(), Some(1.0));
    }

    #[test]
    fn added_delay_needs_both_series() {
        let mut trips = RoundTrips {
            unloaded: Some(series(&[Some(165)])),
            loaded: None,
        };
        assert_eq!(trips.added_seconds(), None);
        trips.loaded = Some(series(&[Some(181)]));
        assert!((trips.added_seconds().unwrap() - 0.016).abs() < 1e-9);
    }
}
