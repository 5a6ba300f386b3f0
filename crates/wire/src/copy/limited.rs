//! What limited a copy, as its sender tells it to the other end.

use serde::{Deserialize, Serialize};
use units::printable;

/// The longest sentence and the most parts that are taken over.
const CHARACTERS: usize = 1000;
const PARTS: usize = 32;

/// What has limited a copy so far, as its sender sees it. Limits go by their names, so that an end
/// that does not know one can leave it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limited {
    /// What bound.
    pub by: String,
    /// The share of the time for which it did.
    pub share: f64,
    /// Everything that bound, each with its share.
    pub shares: Vec<(String, f64)>,
    /// Why, a sentence.
    pub why: String,
    /// What can be done about it.
    pub advice: Option<String>,
}

impl Limited {
    /// The same with printable texts; `None` where a share is out of range.
    pub(crate) fn sane(self) -> Option<Limited> {
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        let shares = self
            .shares
            .into_iter()
            .filter(|(_, share)| is_share(*share));
        let shown = |text: String| printable(&text, CHARACTERS);
        is_share(self.share).then(|| Limited {
            by: shown(self.by),
            share: self.share,
            shares: shares
                .map(|(by, share)| (shown(by), share))
                .take(PARTS)
                .collect(),
            why: shown(self.why),
            advice: self.advice.map(shown),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(share: f64) -> Limited {
        Limited {
            by: "sender-disk".to_owned(),
            share,
            shares: vec![
                ("sender-disk".to_owned(), share),
                ("x".to_owned(), f64::NAN),
            ],
            why: "a\x1b[2Jb".to_owned(),
            advice: None,
        }
    }

    #[test]
    fn what_cannot_be_is_left_out_and_nothing_steers_a_terminal() {
        let sane = told(0.5).sane().unwrap();
        assert_eq!(sane.shares.len(), 1);
        assert!(!sane.why.contains('\x1b'), "{}", sane.why);
        assert_eq!(told(7.0).sane(), None);
        assert_eq!(told(f64::NAN).sane(), None);
    }
}
