//! Versions of the copy protocol. Ends of neighbouring ones understand each other: they speak the
//! newest that both know.
//!
//! Through ssh the near end names its range and the far end chooses. On a control connection the
//! near end says the newest; a far end that does not speak it refuses and says its own newest, in
//! which the near end calls again.

/// Version of all of this. What the ends say to each other changes only with it: the one before is
/// then still understood.
pub const COPYING_VERSION: u16 = 6;

/// The one before, of trunkline 0.3.0; `version_5` has what it says otherwise.
pub(crate) const VERSION_BEFORE: u16 = 5;

/// What this end speaks.
pub const SPOKEN: Versions = Versions {
    oldest: VERSION_BEFORE,
    newest: COPYING_VERSION,
};

/// A range of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    /// The lowest.
    pub oldest: u16,
    /// The highest.
    pub newest: u16,
}

impl Versions {
    /// Whether it is one of them.
    pub fn has(self, version: u16) -> bool {
        (self.oldest..=self.newest).contains(&version)
    }

    /// The newest that is in both.
    pub fn common(self, other: Versions) -> Option<u16> {
        let newest = self.newest.min(other.newest);
        (self.has(newest) && other.has(newest)).then_some(newest)
    }

    /// In which version to call again, where the one that was `said` is refused by an end whose
    /// newest is `theirs`.
    pub fn after_refusal(self, said: u16, theirs: u16) -> Option<u16> {
        (theirs < said && self.has(theirs)).then_some(theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(oldest: u16, newest: u16) -> Versions {
        Versions { oldest, newest }
    }

    #[test]
    fn neighbours_speak_the_newest_that_both_know() {
        assert_eq!(range(5, 6).common(range(4, 5)), Some(5));
        assert_eq!(range(4, 5).common(range(5, 6)), Some(5));
        assert_eq!(range(5, 6).common(range(5, 6)), Some(6));
        assert_eq!(range(5, 6).common(range(3, 4)), None);
        assert_eq!(range(5, 5).common(range(6, 7)), None);
    }

    #[test]
    fn a_refused_end_calls_in_an_older_version_alone() {
        assert_eq!(range(5, 6).after_refusal(6, 5), Some(5));
        assert_eq!(range(5, 6).after_refusal(6, 4), None);
        assert_eq!(range(5, 6).after_refusal(5, 5), None);
        assert_eq!(range(5, 6).after_refusal(5, 6), None);
    }
}
