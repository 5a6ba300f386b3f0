//! What one visit to a path showed.

use observe::{HostLimits, Limit, LossPattern};
use probing::SlowestLink;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use units::{Rate, Span, printable};

use crate::{OneWay, ProbeSequence, UnixTime};

/// One visit. Kinds of visits differ in what they measure, so everything but time and kind may be
/// missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Visit {
    /// When it began.
    #[serde(rename = "at_unix_seconds")]
    pub at: UnixTime,
    /// What it set out to measure.
    pub kind: VisitKind,
    /// Goodput at the path's usual setting.
    #[serde(
        rename = "goodput_bits_per_second",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub goodput: Option<Rate>,
    /// Bytes that TCP sent again, as a share of those it sent.
    #[serde(
        rename = "resent_ratio",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub resent: Option<Share>,
    /// Round trips of the idle path.
    #[serde(
        rename = "round_trips_seconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub round_trips: Option<RoundTrips>,
    /// Median round trip beside the streams.
    #[serde(
        rename = "loaded_rtt_seconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub loaded: Option<Span>,
    /// What became of the probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<ProbeCount>,
    /// What the small ones of them show beside that, in the order in which they were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<ProbeSequence>,
    /// How the losses of the small ones lie among them; absent where none was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<LossPattern>,
    /// What the slowest link carries, by echoes of several sizes, which `probes` does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest_link: Option<SlowestLink>,
    /// How much the delay of datagrams varied from one to the next (RFC 3550, section 6.4.1).
    #[serde(
        rename = "jitter_seconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub jitter: Option<Span>,
    /// Delays each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_way: Option<OneWay>,
    /// The way that packets took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// What limited the goodput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The far host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far_host: Option<FarHost>,
    /// Processor time that others took from this host, as a share of the visit.
    #[serde(
        rename = "stolen_ratio",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub stolen: Option<Share>,
    /// Why it has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

impl Visit {
    /// A visit of which nothing is known yet.
    pub fn new(at: UnixTime, kind: VisitKind) -> Self {
        Visit {
            at,
            kind,
            goodput: None,
            resent: None,
            round_trips: None,
            loaded: None,
            probes: None,
            sequence: None,
            losses: None,
            slowest_link: None,
            jitter: None,
            one_way: None,
            route: None,
            limit: None,
            far_host: None,
            stolen: None,
            failure: None,
        }
    }
}

/// What a visit sets out to measure.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum VisitKind {
    /// Round trips.
    Ping,
    /// Hops, path MTU, packet trains.
    Path,
    /// Goodput, mostly with round trips before.
    Throughput,
    /// Datagrams at a steady rate: goodput is what arrived of them, `probes` counts them.
    Udp,
    /// Round trips, and delays each way.
    OneWay,
}

impl VisitKind {
    /// All of them.
    pub const ALL: [VisitKind; 5] = [
        VisitKind::Ping,
        VisitKind::Path,
        VisitKind::Throughput,
        VisitKind::Udp,
        VisitKind::OneWay,
    ];

    /// The name in documents and sentences.
    pub fn name(self) -> &'static str {
        match self {
            VisitKind::Ping => "ping",
            VisitKind::Path => "path",
            VisitKind::Throughput => "throughput",
            VisitKind::Udp => "udp",
            VisitKind::OneWay => "one-way",
        }
    }
}

/// A share between 0 and 1, in steps of a billionth, so that it always has an order.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(try_from = "f64", into = "f64")]
#[schemars(inline)]
pub struct Share(#[schemars(with = "f64")] u32);

const WHOLE: f64 = 1e9;

impl Share {
    /// Nothing.
    pub const ZERO: Share = Share(0);

    /// The nearest share to a computed one; `None` for what is not between 0 and 1.
    ///
    /// ```
    /// use changes::Share;
    /// assert_eq!(Share::new(0.001).map(f64::from), Some(0.001));
    /// assert_eq!(Share::new(f64::NAN), None);
    /// assert_eq!(Share::new(1.5), None);
    /// ```
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0)
            .contains(&share)
            .then(|| Share((share * WHOLE).round() as u32))
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> f64 {
        f64::from(share.0) / WHOLE
    }
}

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(share: f64) -> Result<Self, String> {
        Share::new(share).ok_or_else(|| format!("the share {share} is not between 0 and 1"))
    }
}

/// Round trips of a visit, at least one. The raw values are best; minimum, median and 95th
/// percentile serve as well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<Span>", into = "Vec<Span>")]
#[schemars(with = "Vec<f64>")]
pub struct RoundTrips {
    sorted: Vec<Span>,
}

impl RoundTrips {
    /// Sorts the values; `None` for none.
    ///
    /// ```
    /// use changes::RoundTrips;
    /// use units::Span;
    /// let trips = RoundTrips::new(vec![Span::from_millis(9), Span::from_millis(4)]).unwrap();
    /// assert_eq!(trips.min(), Span::from_millis(4));
    /// ```
    pub fn new(mut values: Vec<Span>) -> Option<Self> {
        values.sort_unstable();
        (!values.is_empty()).then_some(RoundTrips { sorted: values })
    }

    /// All, in ascending order.
    pub fn sorted(&self) -> &[Span] {
        &self.sorted
    }

    /// The shortest.
    pub fn min(&self) -> Span {
        self.sorted.first().copied().unwrap_or(Span::ZERO)
    }

    /// The middle one; of an even number the lower of the two.
    pub fn median(&self) -> Span {
        let middle = (self.sorted.len().max(1) - 1) / 2;
        self.sorted.get(middle).copied().unwrap_or(Span::ZERO)
    }
}

impl TryFrom<Vec<Span>> for RoundTrips {
    type Error = String;

    fn try_from(values: Vec<Span>) -> Result<Self, String> {
        RoundTrips::new(values).ok_or_else(|| "round trips need at least one value".to_owned())
    }
}

impl From<RoundTrips> for Vec<Span> {
    fn from(trips: RoundTrips) -> Vec<Span> {
        trips.sorted
    }
}

/// What became of a visit's probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeCount {
    /// How many were sent.
    pub sent: u32,
    /// Without an answer.
    pub lost: u32,
    /// With more than one.
    pub duplicated: u32,
    /// Overtaken by a later one.
    pub reordered: u32,
}

impl ProbeCount {
    /// The share that was lost; `None` where none was sent.
    pub fn loss(&self) -> Option<f64> {
        let share = f64::from(self.lost.min(self.sent)) / f64::from(self.sent);
        (self.sent > 0).then_some(share)
    }
}

/// The way that packets took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Route {
    /// The same number for the same hops.
    pub hash: u64,
    /// The hops that answered, nearest first, of at most 64 characters each.
    #[serde(
        default,
        deserialize_with = "hops",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub hops: Vec<String>,
}

impl Route {
    /// Whether nothing that is known tells them apart: a router that did not answer (`*`) may be
    /// any.
    pub fn may_be(&self, other: &Route) -> bool {
        let same = |(one, other): (&String, &String)| one == other || one == "*" || other == "*";
        let hops = self.hops.iter().zip(&other.hops);
        self.hash == other.hash
            || (!self.hops.is_empty()
                && self.hops.len() == other.hops.len()
                && hops.into_iter().all(same))
    }
}

/// What the far host said of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FarHost {
    /// Its kernel, in at most 100 characters.
    #[serde(
        default,
        deserialize_with = "kernel",
        skip_serializing_if = "Option::is_none"
    )]
    pub kernel: Option<String>,
    /// Bounds on its socket buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<HostLimits>,
}

/// Why a visit has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// In words, the same for the same reason: "connection refused". At most 1000 characters.
    #[serde(deserialize_with = "reason")]
    pub reason: String,
}

// Texts of other hosts: read without characters that steer a terminal or turn others round.

fn hops<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let hops = Vec::<String>::deserialize(from)?;
    Ok(hops.iter().map(|hop| printable(hop, 64)).collect())
}

fn kernel<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let kernel = Option::<String>::deserialize(from)?;
    Ok(kernel.map(|kernel| printable(&kernel, 100)))
}

fn reason<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(|reason| printable(&reason, 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_host_says_is_read_short_and_without_what_turns_it_round() {
        let failure: Failure = serde_json::from_str(r#"{"reason":"a\u202eb\u001b"}"#).unwrap();
        assert_eq!(failure.reason, "a\u{fffd}b\u{fffd}");
        let long = "x".repeat(5000);
        let text = format!(r#"{{"hash":1,"hops":["{long}","10.0.0.1"]}}"#);
        let route: Route = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (route.hops[0].len(), route.hops[1].as_str()),
            (64, "10.0.0.1")
        );
        let text = format!(r#"{{"kernel":"{long}"}}"#);
        let host: FarHost = serde_json::from_str(&text).unwrap();
        assert_eq!(host.kernel.unwrap().len(), 100);
        assert_eq!(
            serde_json::from_str::<FarHost>("{}").unwrap(),
            FarHost::default()
        );
    }
}
