//! Numbers as people read them.

use observe::{RateInterval as Interval, Setting, Transport};
use units::{Bytes, Rate, Span};

use crate::words::plain;

/// Stands for what is not known.
pub const ABSENT: &str = "-";

/// A unit of rates, chosen so that the largest of several reads well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateUnit {
    /// Its name.
    pub name: &'static str,
    /// What one of it is in bits per second.
    pub factor: f64,
}

impl RateUnit {
    /// The largest unit of which `bits_per_second` is at least one.
    ///
    /// ```
    /// assert_eq!(draw::format::RateUnit::fitting(26_800_000.0).name, "Mbit/s");
    /// ```
    pub fn fitting(bits_per_second: f64) -> Self {
        let units = [
            ("Tbit/s", 1e12),
            ("Gbit/s", 1e9),
            ("Mbit/s", 1e6),
            ("kbit/s", 1e3),
        ];
        let fits = units
            .into_iter()
            .find(|(_, factor)| bits_per_second >= *factor);
        let (name, factor) = fits.unwrap_or(("bit/s", 1.0));
        RateUnit { name, factor }
    }

    /// `bits_per_second` in this unit, three digits or more, without the unit.
    pub fn number(&self, bits_per_second: f64) -> String {
        three_digits(bits_per_second / self.factor)
    }

    /// Half of `interval` in this unit, with the decimals that `bits_per_second` is printed with.
    pub fn margin(&self, bits_per_second: f64, interval: &Interval) -> String {
        let value = self.number(bits_per_second);
        let decimals = value.split_once('.').map_or(0, |(_, digits)| digits.len());
        format!("{:.decimals$}", margin(interval) / self.factor)
    }
}

/// Three significant digits, or all of the integer part.
///
/// ```
/// # use draw::format::three_digits;
/// let texts = [4.5123, 26.84, 941.3].map(three_digits);
/// assert_eq!(texts, ["4.51", "26.8", "941"]);
/// ```
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A rate with its unit.
pub fn rate(bits_per_second: u64) -> String {
    Rate::from_bits_per_second(bits_per_second).human()
}

/// Half the width of an interval, in bits per second.
pub fn margin(interval: &Interval) -> f64 {
    interval.half_width().max(0.0)
}

/// A rate with half its interval: `26.8 ± 1.2 Mbit/s`.
pub fn rate_with_margin(bits_per_second: u64, interval: Option<&Interval>) -> String {
    let Some(interval) = interval else {
        return rate(bits_per_second);
    };
    let unit = RateUnit::fitting(bits_per_second as f64);
    let value = bits_per_second as f64;
    let (number, half) = (unit.number(value), unit.margin(value, interval));
    format!("{number} \u{b1} {half} {}", unit.name)
}

/// A time with its unit.
pub fn time(seconds: f64) -> String {
    match Span::from_secs_f64(seconds) {
        Span::ZERO => "0 s".to_owned(),
        span => span.human(),
    }
}

/// A time that people plan by: `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`.
///
/// ```
/// # use draw::format::lasting;
/// let texts = [45.0, 59.9, 725.0, 12_000.0, 187_200.0].map(lasting);
/// assert_eq!(texts, ["45 s", "1 min", "12 min", "3 h 20 min", "2 d 4 h"]);
/// // A document may say anything.
/// assert!(lasting(1e300).ends_with(" h"));
/// ```
pub fn lasting(seconds: f64) -> String {
    // A number that is not one becomes zero.
    let seconds = seconds.round() as u64;
    let minutes = seconds.saturating_add(30) / 60;
    let (hours, days) = (minutes / 60, minutes / 1_440);
    match (seconds, hours, days) {
        (..60, ..) => format!("{seconds} s"),
        (_, 0, _) => format!("{minutes} min"),
        (_, _, 0) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

/// Milliseconds without the unit; a tenth where it tells something.
pub fn milliseconds(seconds: f64) -> String {
    let ms = seconds * 1e3;
    match ms.abs() {
        v if v >= 999.5 => format!("{ms:.0}"),
        v if v >= 9.95 => format!("{ms:.1}"),
        _ => format!("{ms:.2}"),
    }
}

/// Milliseconds with a sign: what was added.
pub fn added_milliseconds(seconds: f64) -> String {
    let text = milliseconds(seconds);
    if text.starts_with('-') {
        return text;
    }
    format!("+{text}")
}

/// A share in percent, with the digits that small shares need.
///
/// ```
/// # use draw::format::percent;
/// assert_eq!([percent(0.00031), percent(0.0254), percent(0.9)], ["0.031 %", "2.5 %", "90 %"]);
/// ```
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        0.0 => "0 %".to_owned(),
        p if p >= 9.95 => format!("{percent:.0} %"),
        p if p >= 0.995 => format!("{percent:.1} %"),
        p if p >= 0.0995 => format!("{percent:.2} %"),
        _ => format!("{percent:.3} %"),
    }
}

/// Shares as whole percents whose sum is that of the shares, rounded: largest remainders.
///
/// ```
/// assert_eq!(draw::format::whole_percents(&[0.7, 0.154, 0.146]), [70, 15, 15]);
/// assert_eq!(draw::format::whole_percents(&[1.0 / 3.0; 3]), [34, 33, 33]);
/// ```
pub fn whole_percents(shares: &[f64]) -> Vec<u64> {
    let exact = |share: &f64| (share * 100.0).clamp(0.0, 1e6);
    let mut whole: Vec<u64> = shares.iter().map(|share| exact(share) as u64).collect();
    let sum = shares.iter().map(exact).sum::<f64>().round() as u64;
    let mut order: Vec<usize> = (0..shares.len()).collect();
    let remainder = |at: &usize| exact(&shares[*at]).fract();
    order.sort_by(|a, b| remainder(b).total_cmp(&remainder(a)));
    let missing = sum.saturating_sub(whole.iter().sum());
    for at in order.into_iter().take(missing as usize) {
        whole[at] += 1;
    }
    whole
}

/// A size with its unit, in powers of ten.
pub fn size(bytes: u64) -> String {
    Bytes::new(bytes).human()
}

/// A setting's window with what else sets it apart: `auto, paced`, or `auto, bbr` where others had
/// the congestion control `usual`; `udp` over UDP, which has no window of the kernel's.
pub fn window_with(setting: &Setting, usual: Option<&str>) -> String {
    let congestion = setting.congestion.as_deref();
    let congestion = congestion.filter(|name| Some(*name) != usual).map(plain);
    let paced = setting.pacing.map(|_| "paced".to_owned());
    let moving = Some(setting.moving.to_string()).filter(|moving| !moving.is_empty());
    let window = match setting.transport {
        Transport::Tcp => setting.window.to_string(),
        Transport::Udp => "udp".to_owned(),
    };
    let parts = [Some(window), congestion, paced, moving];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `text` with at most `most` characters, an ellipsis for those that are cut.
pub fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() <= most {
        true => text.to_owned(),
        false => {
            let kept = text.chars().take(most.saturating_sub(1));
            kept.chain(['\u{2026}']).collect()
        }
    }
}

/// `text` of what is known, else [`ABSENT`].
pub fn or_absent<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_tells_what_sets_it_apart() {
        let mut setting = Setting::new(observe::StreamCount::ONE, observe::Window::Auto);
        setting.congestion = Some("bbr".to_owned());
        setting.pacing = Some(units::Rate::from_bits_per_second(1));
        assert_eq!(window_with(&setting, Some("cubic")), "auto, bbr, paced");
        assert_eq!(window_with(&setting, Some("bbr")), "auto, paced");
    }

    #[test]
    fn a_margin_has_the_decimals_of_its_rate() {
        let interval = Interval::new(
            Rate::from_bits_per_second(25_600_000),
            Rate::from_bits_per_second(28_040_000),
        );
        let text = rate_with_margin(26_812_345, Some(&interval));
        assert_eq!(text, "26.8 \u{b1} 1.2 Mbit/s");
        assert_eq!(rate_with_margin(26_812_345, None), "26.8 Mbit/s");
    }

    #[test]
    fn added_delay_always_has_a_sign() {
        assert_eq!(added_milliseconds(0.0161), "+16.1");
        assert_eq!(added_milliseconds(-0.0003), "-0.30");
    }
}
