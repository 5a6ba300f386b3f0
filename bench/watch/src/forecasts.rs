//! How often forecasts hold, on series without a change.

use changes::{Detector, UnixTime, Visit};
use units::{Bytes, Span};

/// Days after which a forecast is made.
const AFTER: [u64; 6] = [5, 10, 20, 35, 50, 70];
const HOURS: usize = 24;

/// Before the third week weekends are not known.
const YOUNG: u64 = 14;

/// What came true, of forecasts from less than two weeks and from more.
#[derive(Debug, Default)]
pub struct Forecasts {
    pub young: Kept,
    pub old: Kept,
}

/// What came true.
#[derive(Debug, Default)]
pub struct Kept {
    /// Visits of the next 24 hours, and those within the hour's interval.
    pub visits: usize,
    pub visits_inside: usize,
    /// Widths of the intervals, as shares of the median.
    pub widths: Vec<f64>,
    /// Copies, and those that ended within their interval.
    pub copies: usize,
    pub copies_inside: usize,
    /// How far the ends lay from the medians, as shares of the time that the copies took.
    pub off: Vec<f64>,
}

impl Forecasts {
    /// Forecasts at six moments of a series.
    pub fn add(&mut self, visits: &[Visit]) {
        let mut detector = Detector::new();
        let begin = visits[0].at;
        let mut due = AFTER.iter();
        let mut next = due.next();
        for (index, visit) in visits.iter().enumerate() {
            detector.push(visit);
            let Some(days) = next else {
                return;
            };
            if visit.at.since(begin) >= Span::from_secs(days * 86_400) {
                next = due.next();
                let kept = match *days < YOUNG {
                    true => &mut self.young,
                    false => &mut self.old,
                };
                kept.compare(&detector, &visits[index..]);
            }
        }
    }
}

impl Kept {
    fn compare(&mut self, detector: &Detector, future: &[Visit]) {
        let Some(forecast) = detector.forecast() else {
            return;
        };
        let hours = forecast.hours(HOURS);
        for hour in &hours {
            self.widths
                .push((hour.high.as_f64() - hour.low.as_f64()) / hour.median.as_f64());
            let end = hour.at + Span::from_secs(3600);
            let within = future[1..]
                .iter()
                .filter(|visit| visit.at >= hour.at && visit.at < end);
            for rate in within.filter_map(|visit| visit.goodput) {
                self.visits += 1;
                self.visits_inside += usize::from((hour.low..=hour.high).contains(&rate));
            }
        }
        let day: f64 = hours.iter().map(|hour| hour.median.as_f64()).sum();
        for share in [0.1, 0.3, 1.0] {
            // Median goodput of a day is bits per second: 3600 s of each hour.
            let bytes = Bytes::new((day * 3600.0 / 8.0 * share) as u64);
            let start = future[0].at;
            let (Ok(finish), Some(end)) = (forecast.finish(bytes, start), end_of(bytes, future))
            else {
                continue;
            };
            self.copies += 1;
            self.copies_inside += usize::from((finish.early..=finish.late).contains(&end));
            let took = end.since(start).as_secs_f64();
            let expected = finish.median.since(start).as_secs_f64();
            self.off.push((expected / took - 1.0).abs());
        }
    }
}

/// When a copy that starts with the first of these visits ends, at the goodput that each visit
/// measures until the next one.
fn end_of(bytes: Bytes, visits: &[Visit]) -> Option<UnixTime> {
    let measured = visits
        .iter()
        .filter_map(|visit| Some((visit.at, visit.goodput?.as_f64())));
    let measured: Vec<_> = measured.collect();
    let mut left = bytes.as_f64() * 8.0;
    for pair in measured.windows(2) {
        let (at, rate) = pair[0];
        let span = pair[1].0.since(at).as_secs_f64();
        if left <= rate * span {
            return Some(at + Span::from_secs_f64(left / rate));
        }
        left -= rate * span;
    }
    None
}
