//! Words and figures in sentences for people.

use units::Rate;

use super::evidence::Evidence;

/// "stream", or how many.
pub(super) fn streams(evidence: &Evidence<'_>) -> String {
    match evidence.streams() {
        1 => "stream".to_owned(),
        n => format!("{n} streams"),
    }
}

/// Two significant digits: `99 %`, `1.2 %`, `0.0070 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = if percent >= 10.0 || percent <= 0.0 {
        0
    } else {
        (1.0 - percent.log10().floor()).min(6.0) as usize
    };
    format!("{percent:.digits$} %")
}

/// A rate as a command takes it, with two digits: `5.3Mbit/s`.
pub(super) fn two_digits(bits_per_second: f64) -> Rate {
    let step = 10_f64.powf(bits_per_second.max(10.0).log10().floor() - 1.0);
    Rate::from_f64((bits_per_second / step).round() * step)
}
