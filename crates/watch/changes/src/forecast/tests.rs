use units::{Bytes, Rate};

use super::Forecast;
use crate::testing::{Noise, at, goodput};
use crate::{UnixTime, Visit};

/// Half the goodput at night, 2 % of noise.
fn daily(count: u64, seed: u64) -> Vec<Visit> {
    let mut noise = Noise::new(seed);
    let visit = |number: u64| {
        let level = if at(number).hour() < 12.0 { 40e6 } else { 80e6 };
        goodput(number, level * (0.02 * noise.normal()).exp())
    };
    (0..count).map(visit).collect()
}

#[test]
fn hours_follow_the_season() {
    for days in [5, 20] {
        let visits = daily(days * 48 + 1, 1);
        let forecast = Forecast::from_visits(&visits).unwrap();
        for hour in forecast.hours(24) {
            assert!(hour.low <= hour.median && hour.median <= hour.high);
            let middle = hour.at.hour() + 0.5;
            // An hour on either side of a change of level may belong to either.
            if (2.0..11.0).contains(&middle) {
                assert!(
                    (hour.median.as_f64() / 40e6 - 1.0).abs() < 0.1,
                    "{days}: {hour:?}"
                );
            } else if (13.0..23.0).contains(&middle) {
                assert!(
                    (hour.median.as_f64() / 80e6 - 1.0).abs() < 0.1,
                    "{days}: {hour:?}"
                );
            }
        }
    }
}

#[test]
fn a_copy_over_a_day_takes_both_halves() {
    let visits = daily(20 * 48 + 1, 2);
    let forecast = Forecast::from_visits(&visits).unwrap();
    // A day carries (40 + 80) / 2 Mbit/s: 648 GB.
    let start = visits.last().unwrap().at;
    let finish = forecast.finish(Bytes::new(648_000_000_000), start).unwrap();
    let hours = finish.median.since(start).as_secs_f64() / 3600.0;
    assert!((hours - 24.0).abs() < 0.7, "{hours} h");
    assert!(finish.early <= finish.median && finish.median <= finish.late);
}

#[test]
fn a_copy_may_start_later() {
    let visits = daily(20 * 48 + 1, 3);
    let forecast = Forecast::from_visits(&visits).unwrap();
    let seconds = |hours: u64| {
        let start = UnixTime::from_seconds(visits[960].at.seconds() + hours * 3600);
        let finish = forecast.finish(Bytes::new(36_000_000_000), start).unwrap();
        finish.median.since(start).as_secs_f64()
    };
    // 36 GB: two hours in the morning, one in the afternoon.
    assert!((seconds(2) / 7200.0 - 1.0).abs() < 0.1, "{}", seconds(2));
    assert!((seconds(15) / 3600.0 - 1.0).abs() < 0.1, "{}", seconds(15));
}

#[test]
fn what_would_take_months_is_refused_with_its_size() {
    let visits: Vec<Visit> = (0..96).map(|number| goodput(number, 1e5)).collect();
    let forecast = Forecast::from_visits(&visits).unwrap();
    let error = forecast
        .finish(Bytes::new(10_u64.pow(13)), at(95))
        .unwrap_err();
    assert!(error.to_string().contains("60 days"), "{error}");
    assert!(forecast.finish(Bytes::ZERO, at(95)).is_ok());
}

#[test]
fn less_than_a_day_and_no_goodput_at_all_have_no_forecast() {
    assert_eq!(Forecast::from_visits(&daily(40, 4)), None);
    assert_eq!(Forecast::from_visits(&[]), None);
    let still: Vec<Visit> = (0..96).map(|number| goodput(number, 0.0)).collect();
    let hours = Forecast::from_visits(&still).unwrap().hours(1);
    assert!(hours[0].high <= Rate::from_bits_per_second(1000));
}
