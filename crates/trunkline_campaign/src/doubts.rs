//! What the destinations of a plan lack now and its run will need.

use std::collections::BTreeSet;
use std::path::Path;

use campaign_plan::{Campaign as Plan, Spot};
use units::Span;

use super::places::{self, is_here};
use super::plan::LoadedPlan;
use trunkline::Cancel;
use trunkline::remote::{FailureKind, FileKind, Remote, RemoteOptions, kind_of};

/// How long a server may take to answer.
const PATIENCE: Span = Span::from_secs(5);

impl LoadedPlan {
    /// What would keep the files of a plan from arriving, were it run now: servers of destinations
    /// that do not answer, and folders that are to hold them and are not there. Nothing is asked
    /// through ssh.
    ///
    /// * `host`: which host of the plan this machine is.
    pub fn doubts(&self, host: Option<&str>, cancel: &Cancel) -> Vec<String> {
        let spots = self.plan().groups().iter().map(|group| &group.to);
        // Groups often share the folder above their destinations.
        let mut asked = BTreeSet::new();
        let first = spots.filter(|to| asked.insert((&to.host, Path::new(&to.path).parent())));
        first
            .filter_map(|to| doubt(self.plan(), to, host, cancel))
            .collect()
    }
}

fn doubt(plan: &Plan, to: &Spot, host: Option<&str>, cancel: &Cancel) -> Option<String> {
    // Folders of this machine are made, with those above them.
    if is_here(to, host) || !places::is_at_server(plan, to) {
        return None;
    }
    let parent = Path::new(to.path.trim_matches('/')).parent()?;
    let parent = parent.to_str()?;
    let base = Spot {
        path: String::new(),
        ..to.clone()
    };
    let url = places::far_place(plan, &base, places::any_turn()).ok()?;
    let token = places::token(plan, to).ok()??;
    let options = RemoteOptions {
        connect_timeout: PATIENCE,
        answer_timeout: PATIENCE,
        patience: PATIENCE,
        ..RemoteOptions::default()
    };
    let remote = Remote::open(&url.to_string_lossy(), token, options, cancel);
    match remote.and_then(|remote| remote.info(parent, cancel)) {
        Ok(found) if found.kind == FileKind::Folder => None,
        Ok(_) => Some(no_folder(to, parent)),
        Err(error) => match kind_of(&error) {
            Some(FailureKind::NotFound) => Some(no_folder(to, parent)),
            // A token that may only write does not look.
            Some(_) => None,
            None => Some(format!("`{to}` cannot be reached now: {}", error.what())),
        },
    }
}

fn no_folder(to: &Spot, parent: &str) -> String {
    format!("`{to}` cannot be made: there is no folder `{parent}`; make it before the run")
}
