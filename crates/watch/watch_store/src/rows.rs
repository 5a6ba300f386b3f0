//! A visit as a row of numbers, and back.

use changes::{
    Failure, FarHost, LossPattern, NoSlope, OneWay, ProbeCount, ProbeSequence, RoundTrips, Route,
    Share, SizeSlope, SlowestLink, UnixTime, Visit, VisitKind,
};
use observe::Limit;
use serde::Serialize;
use serde::de::DeserializeOwned;
use units::{Rate, Span};

use crate::database::{Row, Value};
use crate::{Refusal, StoredVisit, VisitId};

const BOUND: u64 = i64::MAX as u64;
const BILLION: f64 = 1e9;
/// The last second of the year 9999: later ones have no date.
const LAST_SECOND: u64 = 253_402_300_799;

/// Columns of a visit's figures, in the order of [`Figured::values`] and [`visit`].
pub(crate) const FIGURES: &str = "v.at, v.kind, v.goodput, v.resent, v.rtt_min, v.rtt_median, \
     v.rtt_high, v.rtt_max, v.loaded, v.sent, v.lost, v.duplicated, v.reordered, v.stolen, \
     v.jitter, v.one_way, v.rtt_mean, v.ipdv, v.lost_followed, v.lost_again, \
     v.losses, v.slope, v.slope_low, v.slope_high, v.no_slope";

/// Columns of the texts of a visit, and the tables that hold them.
pub(crate) const TEXTS: &str = "route.json, limited.json, far.json, failure.json";
pub(crate) const JOINS: &str = "LEFT JOIN texts AS route ON route.id = v.route \
     LEFT JOIN texts AS limited ON limited.id = v.limited \
     LEFT JOIN texts AS far ON far.id = v.far_host \
     LEFT JOIN texts AS failure ON failure.id = v.failure";

/// The figures of a visit as columns hold them.
#[derive(Debug, Clone)]
pub(crate) struct Figured {
    pub at: i64,
    pub kind: i64,
    pub goodput: Option<i64>,
    pub resent: Option<i64>,
    /// Shortest, median, 95th percentile, longest.
    pub trips: Option<[i64; 4]>,
    pub loaded: Option<i64>,
    pub probes: Option<ProbeCount>,
    pub stolen: Option<i64>,
    pub jitter: Option<i64>,
    /// As JSON.
    pub one_way: Option<String>,
    pub sequence: Option<ProbeSequence>,
    /// As JSON.
    pub losses: Option<String>,
    /// Rate, lower and upper end of its interval.
    pub slope: Option<[i64; 3]>,
    /// As JSON.
    pub no_slope: Option<String>,
}

impl Figured {
    /// The figures, where each fits its column.
    pub fn of(stored: &StoredVisit) -> Result<Self, Refusal> {
        let visit = &stored.visit;
        let unwritable = || Refusal::Unwritable(stored.id);
        let trips = visit.round_trips.as_ref().map(summary).transpose()?;
        Ok(Figured {
            at: bounded("the time in seconds", visit.at.seconds(), LAST_SECOND)?,
            kind: kind_number(visit.kind),
            goodput: visit.goodput.map(goodput).transpose()?,
            resent: visit.resent.map(billionths),
            trips,
            loaded: visit.loaded.map(nanos).transpose()?,
            probes: visit.probes,
            stolen: visit.stolen.map(billionths),
            jitter: visit.jitter.map(nanos).transpose()?,
            one_way: json(visit.one_way.as_ref()).map_err(|_| unwritable())?,
            sequence: visit.sequence.map(fitting).transpose()?,
            losses: json(visit.losses.as_ref()).map_err(|_| unwritable())?,
            slope: visit.slowest_link.map_or(Ok(None), slope)?,
            no_slope: json(visit.slowest_link.and_then(SlowestLink::unknown).as_ref())
                .map_err(|_| unwritable())?,
        })
    }

    /// In the order of [`FIGURES`].
    pub fn values(&self) -> Vec<Value> {
        let trip = |place: usize| self.trips.map(|trips| trips[place]).into();
        let probe =
            |count: fn(&ProbeCount) -> u32| self.probes.as_ref().map(|p| i64::from(count(p)));
        let sequence = self.sequence.as_ref();
        let span = |of: fn(&ProbeSequence) -> Option<Span>| {
            let span = sequence.and_then(of);
            Value::from(span.map(|span| span.as_nanos().cast_signed()))
        };
        let count =
            |of: fn(&ProbeSequence) -> u32| Value::from(sequence.map(|all| i64::from(of(all))));
        vec![
            self.at.into(),
            self.kind.into(),
            self.goodput.into(),
            self.resent.into(),
            trip(0),
            trip(1),
            trip(2),
            trip(3),
            self.loaded.into(),
            probe(|probes| probes.sent).into(),
            probe(|probes| probes.lost).into(),
            probe(|probes| probes.duplicated).into(),
            probe(|probes| probes.reordered).into(),
            self.stolen.into(),
            self.jitter.into(),
            self.one_way.as_deref().into(),
            span(|order| order.mean),
            span(|order| order.variation),
            count(|order| order.lost_followed),
            count(|order| order.lost_again),
            self.losses.as_deref().into(),
            self.slope.map(|[rate, ..]| rate).into(),
            self.slope.map(|[_, low, _]| low).into(),
            self.slope.map(|[.., high]| high).into(),
            self.no_slope.as_deref().into(),
        ]
    }
}

/// The texts of a visit as JSON: route, limit, far host, failure.
pub(crate) fn texts(stored: &StoredVisit) -> Result<[Option<String>; 4], Refusal> {
    let visit = &stored.visit;
    let unwritable = |_| Refusal::Unwritable(stored.id);
    Ok([
        json(visit.route.as_ref()).map_err(unwritable)?,
        json(visit.limit.as_ref()).map_err(unwritable)?,
        json(visit.far_host.as_ref()).map_err(unwritable)?,
        json(visit.failure.as_ref()).map_err(unwritable)?,
    ])
}

fn json(value: Option<&impl Serialize>) -> Result<Option<String>, serde_json::Error> {
    value.map(serde_json::to_string).transpose()
}

/// Shortest, median, 95th percentile (the smallest value that 95 % do not exceed), longest.
pub(crate) fn quantiles(trips: &RoundTrips) -> [Span; 4] {
    let sorted = trips.sorted();
    let high = (sorted.len() * 95).div_ceil(100).saturating_sub(1);
    let at = |place: usize| sorted.get(place).copied().unwrap_or(Span::ZERO);
    let last = sorted.len().saturating_sub(1);
    [trips.min(), trips.median(), at(high), at(last)]
}

/// The same as columns hold them.
fn summary(trips: &RoundTrips) -> Result<[i64; 4], Refusal> {
    let [least, median, high, most] = quantiles(trips);
    Ok([nanos(least)?, nanos(median)?, nanos(high)?, nanos(most)?])
}

/// With spans that fit their columns.
fn fitting(sequence: ProbeSequence) -> Result<ProbeSequence, Refusal> {
    let spans = [sequence.mean, sequence.variation];
    for span in spans.into_iter().flatten() {
        nanos(span)?;
    }
    Ok(sequence)
}

/// The rate of a slope and its interval; `None` where there is none.
fn slope(seen: SlowestLink) -> Result<Option<[i64; 3]>, Refusal> {
    let SlowestLink::Slope(SizeSlope { rate, low, high }) = seen else {
        return Ok(None);
    };
    let fits = |rate: Rate| bounded("a slope in bits per second", rate.bits_per_second(), BOUND);
    Ok(Some([fits(rate)?, fits(low)?, fits(high)?]))
}

fn goodput(rate: Rate) -> Result<i64, Refusal> {
    bounded("goodput in bits per second", rate.bits_per_second(), BOUND)
}

fn nanos(span: Span) -> Result<i64, Refusal> {
    bounded("a round trip in nanoseconds", span.as_nanos(), BOUND)
}

fn bounded(what: &str, value: u64, bound: u64) -> Result<i64, Refusal> {
    let large = || Refusal::Large {
        what: what.to_owned(),
        value,
        bound,
    };
    i64::try_from(value)
        .ok()
        .filter(|_| value <= bound)
        .ok_or_else(large)
}

/// Exact: shares are whole billionths.
pub(crate) fn billionths(share: Share) -> i64 {
    (f64::from(share) * BILLION).round() as i64
}

fn kind_number(kind: VisitKind) -> i64 {
    match kind {
        VisitKind::Ping => 0,
        VisitKind::Path => 1,
        VisitKind::Throughput => 2,
        VisitKind::Udp => 3,
        VisitKind::OneWay => 4,
    }
}

/// A visit from the columns [`FIGURES`] and [`TEXTS`]; `None` where they are not those of a visit.
/// Its round trips are shortest, median, 95th percentile and longest.
pub(crate) fn visit(row: &mut Row) -> Option<Visit> {
    let at = UnixTime::from_seconds(u64::try_from(row.int()?).ok()?);
    let kind = row.int()?;
    let kind = VisitKind::ALL
        .into_iter()
        .find(|other| kind_number(*other) == kind)?;
    let mut visit = Visit::new(at, kind);
    visit.goodput = row.int().map(rate);
    visit.resent = row.int().and_then(share);
    let trips = [row.int(), row.int(), row.int(), row.int()];
    visit.round_trips = RoundTrips::new(trips.into_iter().flatten().map(span).collect());
    visit.loaded = row.int().map(span);
    let counts = [row.int(), row.int(), row.int(), row.int()];
    visit.probes = probes(counts);
    visit.stolen = row.int().and_then(share);
    visit.jitter = row.int().map(span);
    visit.one_way = text::<OneWay>(row)?;
    visit.sequence = sequence([row.int(), row.int(), row.int(), row.int()]);
    visit.losses = text::<LossPattern>(row)?;
    let slope = [row.int(), row.int(), row.int()];
    let no_slope = text::<NoSlope>(row)?;
    visit.slowest_link = slope_of(slope).or(no_slope.map(SlowestLink::Unknown));
    visit.route = text::<Route>(row)?;
    visit.limit = text::<Limit>(row)?;
    visit.far_host = text::<FarHost>(row)?;
    visit.failure = text::<Failure>(row)?;
    Some(visit)
}

/// The inner `None` for an absent text, the outer for one that is damaged.
fn text<T: DeserializeOwned>(row: &mut Row) -> Option<Option<T>> {
    match row.text() {
        None => Some(None),
        Some(json) => serde_json::from_str(&json).ok().map(Some),
    }
}

fn probes(counts: [Option<i64>; 4]) -> Option<ProbeCount> {
    let count = |place: usize| counts[place].and_then(|count| u32::try_from(count).ok());
    Some(ProbeCount {
        sent: count(0)?,
        lost: count(1)?,
        duplicated: count(2)?,
        reordered: count(3)?,
    })
}

/// Mean, variation, counts: where there are counts, there was an order.
fn sequence([mean, variation, followed, again]: [Option<i64>; 4]) -> Option<ProbeSequence> {
    Some(ProbeSequence {
        mean: mean.map(span),
        variation: variation.map(span),
        lost_followed: u32::try_from(followed?).ok()?,
        lost_again: u32::try_from(again?).ok()?,
    })
}

/// Rate and the ends of its interval.
fn slope_of([rate, low, high]: [Option<i64>; 3]) -> Option<SlowestLink> {
    Some(SlowestLink::Slope(SizeSlope {
        rate: rate.map(self::rate)?,
        low: low.map(self::rate)?,
        high: high.map(self::rate)?,
    }))
}

/// A rate from its column.
pub(crate) fn rate(column: i64) -> Rate {
    Rate::from_bits_per_second(column.unsigned_abs())
}

/// A span from its column.
pub(crate) fn span(column: i64) -> Span {
    Span::from_nanos(column.unsigned_abs())
}

/// A time from its column.
pub(crate) fn time(column: i64) -> UnixTime {
    UnixTime::from_seconds(column.unsigned_abs())
}

/// A time as a column: later ones than the column holds are as late as it can be.
pub(crate) fn second(time: UnixTime) -> i64 {
    i64::try_from(time.seconds()).unwrap_or(i64::MAX)
}

/// An identity from its column.
pub(crate) fn id(row: &mut Row) -> Option<VisitId> {
    VisitId::from_bytes(&row.bytes()?)
}

/// A share from its column.
pub(crate) fn share(column: i64) -> Option<Share> {
    Share::new(column as f64 / BILLION)
}
