//! From an observation to the figures of a visit.

use observe::{Limit, Observation, ProbeSeries, Summary};

use crate::{CellFigures, RoundTripFigures, StreamFigures, sharing};

impl CellFigures {
    /// What `seen` comes down to.
    ///
    /// * `limit`: what kept it from being faster, where that was judged.
    pub fn of(seen: &Observation, limit: Option<Limit>) -> Self {
        let summary = seen.summary();
        let goodput = summary.goodput();
        let ways = summary.directions.iter();
        let again = ways.filter_map(|way| way.tcp.retransmitted_share);
        let together = sharing::losses(seen);
        CellFigures {
            goodput_bits_per_second: goodput.mean.bits_per_second(),
            interval: goodput.interval,
            duration_seconds: seen.duration.as_secs_f64(),
            rtt_unloaded: round_trips(seen.round_trips.unloaded.as_ref()),
            rtt_loaded: round_trips(seen.round_trips.loaded.as_ref()),
            // Of two directions the worse, as in a measurement by itself.
            retransmitted_ratio: again.max_by(f64::total_cmp),
            cpu_user_ratio: summary.cpu_near.map(|(user, _)| user),
            cpu_kernel_ratio: summary.cpu_near.map(|(_, kernel)| kernel),
            cpu_far_user_ratio: summary.cpu_far.map(|(user, _)| user),
            cpu_far_kernel_ratio: summary.cpu_far.map(|(_, kernel)| kernel),
            limit,
            streams: streams(seen, &summary),
            losses_together_ratio: together.map(|losses| losses.share),
            losses_together_by_chance_ratio: together.map(|losses| losses.by_chance),
        }
    }
}

fn round_trips(series: Option<&ProbeSeries>) -> Option<RoundTripFigures> {
    RoundTripFigures::of(series?)
}

impl RoundTripFigures {
    /// The figures of one series of probes; `None` when none was answered.
    ///
    /// ```
    /// use observe::{Probe, ProbeMethod, ProbeSeries};
    /// use units::{Span, Time};
    /// let probe = |ms: Option<u64>| Probe { sent: Time::ZERO, rtt: ms.map(Span::from_millis) };
    /// let series = ProbeSeries {
    ///     method: ProbeMethod::UdpEcho,
    ///     duplicated: 0,
    ///     probes: [Some(10), Some(20), Some(30), None].map(probe).to_vec(),
    /// };
    /// let figures = sweep::RoundTripFigures::of(&series).unwrap();
    /// assert_eq!((figures.min, figures.median, figures.max), (0.010, 0.020, 0.030));
    /// // Half way between 10 and 20 ms, and one of four without an answer.
    /// assert_eq!((figures.quartile1, figures.loss), (0.015, 0.25));
    /// ```
    pub fn of(series: &ProbeSeries) -> Option<Self> {
        let seconds = series.rtt_seconds();
        let at = |p| stats::quantile(&seconds, p);
        Some(RoundTripFigures {
            min: at(0.0)?,
            quartile1: at(0.25)?,
            median: at(0.5)?,
            quartile3: at(0.75)?,
            mean: stats::mean(&seconds)?,
            max: at(1.0)?,
            loss: series.loss_ratio()?,
        })
    }
}

fn streams(seen: &Observation, summary: &Summary) -> Vec<StreamFigures> {
    let one = |stream: &observe::Stream| StreamFigures {
        number: stream.number,
        goodput_bits_per_second: goodput_of(stream.number, summary),
        retransmits: stream.retransmits.or_else(|| counted(stream)),
    };
    seen.streams.iter().map(one).collect()
}

fn goodput_of(number: u16, summary: &Summary) -> Option<u64> {
    let mut streams = summary.directions.iter().flat_map(|way| &way.streams);
    let found = streams.find(|stream| stream.number == number);
    found.map(|stream| stream.goodput.bits_per_second())
}

/// As the sender's kernel counted at the last reading.
fn counted(stream: &observe::Stream) -> Option<u64> {
    let last = stream.tcp.last()?;
    last.retransmits.map(u64::from)
}
