//! What only the order of a visit's probes shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// What the small probes of a visit show beside quantiles and counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProbeSequence {
    /// Mean round trip; absent where none was answered.
    #[serde(
        rename = "rtt_mean_seconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub mean: Option<Span>,
    /// Variation of the round trip from one answered probe to the next, PingER's IPDV: distance
    /// between the quartiles of the differences; absent below two differences.
    #[serde(
        rename = "ipdv_seconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub variation: Option<Span>,
    /// Lost probes behind which another was sent.
    pub lost_followed: u32,
    /// Those of them whose next was lost, too.
    pub lost_again: u32,
}

impl ProbeSequence {
    /// Of probes in the order in which they were sent, each with its round trip or without an
    /// answer. Differences are those of answered probes that were sent one after the other.
    ///
    /// Source: Cottrell, Matthews and Logg, "Tutorial on Internet monitoring and PingER at SLAC".
    /// ```
    /// use changes::ProbeSequence;
    /// use units::Span;
    /// let ms = |ms| Some(Span::from_millis(ms));
    /// let probes = [ms(10), ms(12), ms(11), None, None, ms(10), ms(14)];
    /// let found = ProbeSequence::of(&probes);
    /// // Differences of 2, -1 and 4 ms: quartiles at 0.5 and 3 ms.
    /// assert_eq!(found.variation, Some(Span::from_micros(2500)));
    /// assert_eq!(found.mean, Some(Span::from_micros(11_400)));
    /// // Two were lost; behind the first of them the next was lost, too.
    /// assert_eq!((found.lost_followed, found.lost_again), (2, 1));
    /// ```
    pub fn of(probes: &[Option<Span>]) -> Self {
        let next = || probes.iter().zip(probes.iter().skip(1));
        let seconds = |trip: &Option<Span>| trip.map(Span::as_secs_f64);
        let differences = next().filter_map(|(one, next)| Some(seconds(next)? - seconds(one)?));
        let differences: Vec<f64> = differences.collect();
        let variation = match differences.len() {
            0 | 1 => None,
            _ => stats::interquartile_range(&differences),
        };
        let answered: Vec<f64> = probes.iter().filter_map(seconds).collect();
        let lost = || next().filter(|(one, _)| one.is_none());
        ProbeSequence {
            mean: stats::mean(&answered).map(Span::from_secs_f64),
            variation: variation.map(Span::from_secs_f64),
            lost_followed: count(lost().count()),
            lost_again: count(lost().filter(|(_, next)| next.is_none()).count()),
        }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
