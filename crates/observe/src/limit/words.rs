//! Words and figures in sentences for people.

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
