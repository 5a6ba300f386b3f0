//! Medians with quartiles, and shifts, each with its unit in the keys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

/// Bits per second as documents have them.
pub(crate) fn whole(bits_per_second: f64) -> u64 {
    Rate::from_f64(bits_per_second).bits_per_second()
}

/// A median, its quartiles and its interval in one unit.
macro_rules! spread {
    ($(#[$about:meta])* $name:ident: $number:ty, $median:ident, $quartile1:ident, $quartile3:ident, $low:ident, $high:ident, $convert:expr) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct $name {
            /// Visits behind it.
            pub count: u64,
            /// The middle one.
            pub $median: $number,
            /// First quartile.
            pub $quartile1: $number,
            /// Third quartile.
            pub $quartile3: $number,
            /// Lower end of the median's interval; absent below six visits.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $low: Option<$number>,
            /// Upper end.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $high: Option<$number>,
            /// Confidence of that interval.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub confidence: Option<f64>,
        }

        impl From<stats::Spread> for $name {
            fn from(spread: stats::Spread) -> Self {
                let convert: fn(f64) -> $number = $convert;
                $name {
                    count: spread.count as u64,
                    $median: convert(spread.median),
                    $quartile1: convert(spread.quartile1),
                    $quartile3: convert(spread.quartile3),
                    $low: spread.interval.map(|interval| convert(interval.low)),
                    $high: spread.interval.map(|interval| convert(interval.high)),
                    confidence: spread.interval.map(|interval| interval.confidence),
                }
            }
        }
    };
}

spread!(
    /// A rate over several visits.
    RateSpread: u64, median_bits_per_second, quartile1_bits_per_second, quartile3_bits_per_second,
    low_bits_per_second, high_bits_per_second, whole
);
spread!(
    /// A time over several visits.
    TimeSpread: f64, median_seconds, quartile1_seconds, quartile3_seconds, low_seconds, high_seconds, |seconds| seconds
);
spread!(
    /// A share over several visits.
    RatioSpread: f64, median_ratio, quartile1_ratio, quartile3_ratio, low_ratio, high_ratio, |share| share
);

/// How far two groups of visits lie apart, in one unit.
macro_rules! shift {
    ($(#[$about:meta])* $name:ident: $difference:ident, $low:ident, $high:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct $name {
            /// The second less the first: the median of all pairwise differences.
            pub $difference: f64,
            /// Lower end of where the true shift lies; absent with too few visits.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $low: Option<f64>,
            /// Upper end.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $high: Option<f64>,
            /// One less the odds that chance alone sets the two apart as far.
            pub confidence: f64,
        }

        impl From<stats::Shift> for $name {
            fn from(shift: stats::Shift) -> Self {
                $name {
                    $difference: shift.value,
                    $low: shift.interval.map(|interval| interval.low),
                    $high: shift.interval.map(|interval| interval.high),
                    confidence: shift.confidence,
                }
            }
        }
    };
}

shift!(
    /// Two groups of rates.
    RateShift: difference_bits_per_second, low_bits_per_second, high_bits_per_second
);
shift!(
    /// Two groups of times.
    TimeShift: difference_seconds, low_seconds, high_seconds
);
