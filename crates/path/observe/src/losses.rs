//! How losses lie among packets: one by one, or many in a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lost packets among those of one stream, in the terms of RFC 3357.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossPattern {
    /// Packets lost in a row, for each loss period in order (RFC 3357, section 5.3).
    pub periods: Vec<u32>,
    /// From each lost packet to the next lost one, in packets: 1 for neighbours (RFC 3357, section
    /// 5.2). One fewer than are lost.
    pub distances: Vec<u32>,
}

impl LossPattern {
    /// Of packets in the order of sending, each lost or not; `None` where none was lost.
    ///
    /// ```
    /// use observe::LossPattern;
    /// let lost = [1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1].map(|lost| lost == 1);
    /// let seen = LossPattern::of(lost).unwrap();
    /// assert_eq!(seen.periods, [1, 3, 1]);
    /// assert_eq!(seen.distances, [3, 1, 1, 5]);
    /// assert_eq!(LossPattern::of([false, false]), None);
    /// ```
    pub fn of(lost: impl IntoIterator<Item = bool>) -> Option<Self> {
        let mut seen = LossPattern {
            periods: Vec::new(),
            distances: Vec::new(),
        };
        let mut last: Option<u32> = None;
        for (number, _) in (0u32..).zip(lost).filter(|(_, lost)| *lost) {
            let distance = last.map(|last| number - last);
            seen.distances.extend(distance);
            match (distance, seen.periods.last_mut()) {
                (Some(1), Some(period)) => *period += 1,
                _ => seen.periods.push(1),
            }
            last = Some(number);
        }
        (!seen.periods.is_empty()).then_some(seen)
    }
}
