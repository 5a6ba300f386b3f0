//! Copies that go on while their sources are written.

use units::Span;

/// How a copy goes on after its first pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Follow {
    /// Between two looks at the sources. A file that looks the same in both is finished.
    pub every: Span,
    /// It ends once nothing has changed for so long; `None` leaves that to the user.
    pub until_idle: Option<Span>,
}

impl Follow {
    /// Every five seconds, until the user ends it.
    pub const UNTIL_STOPPED: Follow = Follow {
        every: Span::from_secs(5),
        until_idle: None,
    };
}

/// Where a copy that goes on stands between two passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Followed {
    /// Files of the sources that are copied.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that are new or being written, and wait.
    pub waiting: u64,
}
