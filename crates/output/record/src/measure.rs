//! One measurement: the figures first, then everything that they were computed from.

use observe::{
    Limit, Multipath, Observation, Peer, RateInterval, Summary, TargetInfo, TerminalCpu, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use units::{Rate, Span};

use crate::{
    Cpu, DirectionFigures, RoundTrips, Setting, Steady, Stream, Target, Unsettled, optional,
};

/// The body of a `trunkline/measure` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// What was measured.
    pub target: Target,
    /// What was seen.
    #[serde(flatten)]
    pub run: Run,
}

/// One run. In a measure document its keys stand beside the envelope's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// What was asked for.
    pub setting: Setting,
    /// Delivered to the receiver per time over the steady window, all streams together.
    pub goodput_bits_per_second: u64,
    /// Where the goodput of a much longer run lies; absent when the run cannot say
    /// (`steady.unsettled`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<RateInterval>,
    /// The part of the run over which the figures hold.
    pub steady: Steady,
    /// What kept it from being faster; absent when it was not asked for.
    #[serde(flatten, deserialize_with = "verdict_or_none")]
    pub verdict: Option<Verdict>,
    /// Segments retransmitted over the whole run; absent when a direction's senders did not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Bytes delivered over the whole run.
    pub delivered_bytes: u64,
    /// How long the streams ran.
    pub duration_seconds: f64,
    /// How long it all took, with connecting and idle probes.
    pub elapsed_seconds: f64,
    /// What the far end was.
    pub peer: Peer,
    /// The congestion control that the sender really used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    /// What the streams went over; absent where multipath TCP was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mptcp: Option<Multipath>,
    /// Round trips, idle and loaded.
    pub rtt: RoundTrips,
    /// Processor use.
    pub cpu: Cpu,
    /// Each direction that carried data: sending first.
    pub directions: Vec<DirectionFigures>,
    /// Each stream, with its readings.
    pub streams: Vec<Stream>,
}

impl Measure {
    /// The shape of one measurement.
    pub fn new(
        info: &TargetInfo,
        seen: &Observation,
        summary: &Summary,
        verdict: &Verdict,
    ) -> Self {
        Measure {
            target: info.into(),
            run: Run::new(seen, summary, Some(verdict)),
        }
    }
}

impl Run {
    /// The shape of one run.
    pub fn new(seen: &Observation, summary: &Summary, verdict: Option<&Verdict>) -> Self {
        let goodput = summary.goodput();
        let directions: Vec<_> = summary
            .directions
            .iter()
            .map(DirectionFigures::from)
            .collect();
        Run {
            setting: seen.setting.clone(),
            goodput_bits_per_second: goodput.mean.bits_per_second(),
            interval: goodput.interval,
            steady: steady(&directions, seen.duration.as_secs_f64()),
            verdict: verdict.cloned(),
            retransmits: sum(directions.iter().map(|direction| direction.retransmits)),
            delivered_bytes: seen.bytes_delivered().get(),
            duration_seconds: seen.duration.as_secs_f64(),
            elapsed_seconds: seen.elapsed.as_secs_f64(),
            peer: seen.peer,
            congestion_used: seen.congestion_used.clone(),
            mptcp: seen.multipath.clone(),
            rtt: (&seen.round_trips).into(),
            cpu: seen.into(),
            directions,
            streams: streams(seen, summary),
        }
    }

    /// What was seen, as far as the document has it: of a brief one no readings.
    pub fn observation(&self) -> Observation {
        let rate =
            |shares: crate::cpu::Shares| (100.0 * shares.user_ratio, 100.0 * shares.kernel_ratio);
        Observation {
            setting: self.setting.clone(),
            grown_from: None,
            peer: self.peer,
            duration: Span::from_secs_f64(self.duration_seconds),
            elapsed: Span::from_secs_f64(self.elapsed_seconds),
            streams: self.streams.iter().map(Stream::observed).collect(),
            round_trips: self.rtt.observed(),
            congestion_used: self.congestion_used.clone(),
            takes_udp: false,
            multipath: self.mptcp.clone(),
            cpu_near: self.cpu.near.as_ref().map(|near| TerminalCpu {
                samples: near.samples.clone(),
            }),
            cpu_far_percent: self.cpu.far.map(rate),
        }
    }

    /// What kept it from being faster; `None` when it was not asked for.
    pub fn limit(&self) -> Option<Limit> {
        self.verdict.as_ref().map(|verdict| verdict.limit)
    }

    /// Share of the sent bytes that were retransmitted: of two directions the larger one known.
    pub fn retransmitted_ratio(&self) -> Option<f64> {
        let ratios = self.directions.iter();
        ratios
            .filter_map(|direction| direction.tcp.retransmitted_share)
            .max_by(f64::total_cmp)
    }

    /// Share of the segments of which an acknowledgement echoed a congestion mark: of two
    /// directions the larger one; `None` without ECN.
    pub fn mark_echoed_ratio(&self) -> Option<f64> {
        let ratios = self.directions.iter();
        ratios
            .filter_map(|direction| direction.tcp.mark_echoed_share)
            .max_by(f64::total_cmp)
    }

    /// Mean loaded round-trip time: from probes, else as the sending kernels saw it.
    pub fn rtt_loaded_seconds(&self) -> Option<f64> {
        let probed = self
            .rtt
            .loaded
            .as_ref()
            .and_then(|series| series.mean_seconds);
        let kernel = || {
            let rtt = self.directions.iter().find_map(|way| way.tcp.rtt);
            rtt.map(Span::as_secs_f64)
        };
        probed.or_else(kernel)
    }
}

fn verdict_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Verdict>, D::Error> {
    optional::part(from, &["limit", "limit_because"])
}

/// The time that is steady in every direction.
fn steady(directions: &[DirectionFigures], duration_seconds: f64) -> Steady {
    let common = |a: Steady, b: Steady| Steady {
        from_seconds: a.from_seconds.max(b.from_seconds),
        to_seconds: a.to_seconds.min(b.to_seconds),
        settled: a.settled && b.settled,
        unsettled: a.unsettled.or(b.unsettled),
        takes_seconds: a
            .takes_seconds
            .into_iter()
            .chain(b.takes_seconds)
            .reduce(f64::max),
    };
    let whole = Steady {
        from_seconds: 0.0,
        to_seconds: duration_seconds,
        settled: false,
        unsettled: Some(Unsettled::NeverSettled),
        takes_seconds: None,
    };
    directions
        .iter()
        .map(|direction| direction.steady)
        .reduce(common)
        .unwrap_or(whole)
}

/// The sum over all directions; absent when one of them is unknown, or there is none.
fn sum(mut counts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let first = counts.next()??;
    counts.try_fold(first, |total, count| Some(total.saturating_add(count?)))
}

fn streams(seen: &Observation, summary: &Summary) -> Vec<Stream> {
    let figures = || {
        summary
            .directions
            .iter()
            .flat_map(|direction| &direction.streams)
    };
    let goodput = |number: u16| -> Option<Rate> {
        let mut figures = figures();
        figures
            .find(|stream| stream.number == number)
            .map(|stream| stream.goodput)
    };
    let shape = |stream: &observe::Stream| Stream::new(stream, goodput(stream.number));
    seen.streams.iter().map(shape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{self, Case};

    /// What was seen can be judged again later, from the document alone.
    #[test]
    fn a_run_tells_what_was_observed() {
        for seed in 0..4 {
            let run = synthetic::measure(&Case::streams(4, seed)).body.run;
            let seen = run.observation();
            let again = Run::new(&seen, &seen.summary(), run.verdict.as_ref());
            // The figures of a made-up run are made up, too.
            let seen = |run: &Run| {
                let stream = |one: &Stream| Stream {
                    goodput_bits_per_second: None,
                    ..one.clone()
                };
                Run {
                    streams: run.streams.iter().map(stream).collect(),
                    goodput_bits_per_second: 0,
                    interval: None,
                    directions: Vec::new(),
                    steady: steady(&[], 0.0),
                    retransmits: None,
                    ..run.clone()
                }
            };
            assert!(seen(&again) == seen(&run), "seed {seed}");
        }
    }

    #[test]
    fn a_total_with_an_unknown_part_is_unknown() {
        assert_eq!(sum([Some(3), Some(4)].into_iter()), Some(7));
        assert_eq!(sum([Some(3), None].into_iter()), None);
        assert_eq!(sum([None, Some(4)].into_iter()), None);
        assert_eq!(sum([].into_iter()), None);
    }
}
