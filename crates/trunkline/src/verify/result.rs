//! What a verification found.

use files::checksums::{Account, Trouble, TroubleKind};
use serde::Serialize;
use units::Span;

/// Troubles that the result itself has; all are told as they are found.
pub const TROUBLES_MAX: usize = 10_000;

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verified {
    /// The list or bag, as people read it.
    pub list: String,
    /// The folder that its names are in, as people read it, where the request has one.
    #[serde(skip)]
    pub folder: Option<String>,
    /// Whether it is a BagIt bag.
    pub is_bag: bool,
    /// The checksums that were computed.
    pub algorithms: Vec<&'static str>,
    /// How many files are right, and how many are not.
    #[serde(flatten)]
    pub account: Account,
    /// How long it took.
    #[serde(rename = "took_seconds")]
    pub took: Span,
    /// What is not as it should be; of more, the first [`TROUBLES_MAX`].
    pub troubles: Vec<Trouble>,
}

impl Verified {
    /// Whether all was checked and is right.
    pub fn is_right(&self) -> bool {
        self.account.wrong == 0 && self.account.unchecked == 0
    }

    /// Whether a copy from where the files came from would mend something.
    pub fn is_for_copying(&self) -> bool {
        let is_other = |kind| matches!(kind, TroubleKind::Differs | TroubleKind::Missing);
        self.troubles.iter().any(|trouble| is_other(trouble.kind))
    }

    /// Whether nothing was found where the list's names lead.
    pub fn is_elsewhere(&self) -> bool {
        let is_missing = |trouble: &Trouble| trouble.kind == TroubleKind::Missing;
        let is_none = self.account.right == 0 && self.account.wrong > 0;
        !self.is_bag && is_none && self.troubles.iter().all(is_missing)
    }
}
