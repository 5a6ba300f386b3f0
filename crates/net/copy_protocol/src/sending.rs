//! How the streams of a copy fare and what limits it, as its sender tells the other end.

use observe::Limit;
use serde::{Deserialize, Serialize};

use units::printable;

/// The longest sentence and the most parts that are taken over.
const CHARACTERS: usize = 1000;
const PARTS: usize = 32;

/// How the streams of a sender fare.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sending {
    /// Streams that carry data.
    pub streams: u16,
    /// What they delivered over the last seconds, in bits of files per second.
    pub rate: u64,
    /// Mean smoothed round-trip time in nanoseconds.
    pub rtt: Option<u64>,
    /// Bytes sent again since the last report, as a share of those sent.
    pub retransmitted_share: Option<f64>,
    /// What binds now, by its name.
    pub binds: Option<String>,
    /// Whether the streams agreed on ECN.
    pub ecn: Option<bool>,
    /// Segments since the last report of which an acknowledgement echoed a congestion mark, as a
    /// share of those that arrived.
    pub mark_echoed_share: Option<f64>,
}

impl Sending {
    /// The same without shares that are out of range, and with printable texts.
    pub(crate) fn sane(self) -> Sending {
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        Sending {
            retransmitted_share: self.retransmitted_share.filter(is_share),
            mark_echoed_share: self.mark_echoed_share.filter(is_share),
            binds: self.binds.map(|name| printable(&name, CHARACTERS)),
            ..self
        }
    }
}

/// What has limited a copy in this conversation so far, as its sender sees it. Limits go by their
/// names, so that an end that does not know one can leave it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limited {
    /// Nanoseconds since data first flowed; those without a single part that bound included.
    pub nanoseconds: u64,
    /// Everything that bound, in no order.
    pub parts: Vec<LimitedPart>,
}

/// One part that bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitedPart {
    /// Which.
    pub by: String,
    /// For how long it did.
    pub nanoseconds: u64,
    /// Why, a sentence.
    pub why: String,
    /// What can be done about it.
    pub advice: Option<String>,
}

impl LimitedPart {
    /// Which; `None` where this version does not know the name.
    pub fn limit(&self) -> Option<Limit> {
        Limit::named(&self.by)
    }
}

impl Limited {
    /// The same with printable texts, and no more time in its parts than there was.
    pub(crate) fn sane(self) -> Limited {
        let shown = |text: String| printable(&text, CHARACTERS);
        let mut left = self.nanoseconds;
        let sane = |part: LimitedPart| {
            let nanoseconds = part.nanoseconds.min(left);
            left -= nanoseconds;
            LimitedPart {
                by: shown(part.by),
                nanoseconds,
                why: shown(part.why),
                advice: part.advice.map(shown),
            }
        };
        Limited {
            nanoseconds: self.nanoseconds,
            parts: self.parts.into_iter().take(PARTS).map(sane).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_no_more_than_all_the_time_and_nothing_steers_a_terminal() {
        let part = |nanoseconds| LimitedPart {
            by: "sender-disk".to_owned(),
            nanoseconds,
            why: "a\x1b[2Jb".to_owned(),
            advice: None,
        };
        let told = Limited {
            nanoseconds: 100,
            parts: vec![part(70), part(u64::MAX), part(5)],
        };
        let sane = told.sane();
        let times: Vec<u64> = sane.parts.iter().map(|part| part.nanoseconds).collect();
        assert_eq!(times, [70, 30, 0]);
        assert!(!sane.parts[0].why.contains('\x1b'), "{sane:?}");
    }
}
