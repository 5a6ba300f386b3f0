//! The plan of a campaign: which files go from where to where, over which links, within which
//! bounds; and where a sorted list of files is cut into shards.
//!
//! A plan is one TOML file, [`Campaign::parse`]. Nothing here reads a clock or a disk: times are
//! handed in as seconds since 1970, and the caller brings the checks of places and
//! patterns ([`Checks`]).
//!
//! Reading order: `model.rs`, `read.rs`, `cut.rs`.

mod cut;
mod model;
mod names;
mod read;

pub use cut::{CutBounds, Cutter};
pub use model::{Campaign, Gentle, Group, Host, Link, Rule, Spot};
pub use names::{GroupName, HostName, LinkName, NameError};
pub use read::{Checks, LINK_DEFAULT};

use watch_plan::{Notice, PlanError};

impl Campaign {
    /// Reads a plan from TOML; `file_name` names the text in messages.
    ///
    /// ```
    /// let text = r#"
    ///     [hosts]
    ///     cern = { address = "ana@dtn.cern.example.org" }
    ///     [links]
    ///     wan = { rate = "1Gbit/s", copies = 4 }
    ///     [groups]
    ///     raw = { from = "/data/raw", to = "cern:/store/raw", link = "wan" }
    /// "#;
    /// let checks = campaign_plan::Checks::none();
    /// let (plan, notices) = campaign_plan::Campaign::parse(text, "plan.toml", &checks).unwrap();
    /// assert!(notices.is_empty());
    /// assert_eq!(plan.groups().len(), 1);
    /// ```
    ///
    /// # Errors
    /// All mistakes of the text, with their lines.
    pub fn parse(
        text: &str,
        file_name: &str,
        checks: &Checks,
    ) -> Result<(Campaign, Vec<Notice>), PlanError> {
        read::read(text, file_name, checks)
    }
}
