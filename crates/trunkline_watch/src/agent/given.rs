//! Plans that the collector gives.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use observe::Fault;
use watch_run::agent::{AgentEvent, Followed, OnAgentEvent, Plans};
use watch_run::link::PlanText;

use super::RunOptions;
use crate::plan::{PlanFile, read_plan};
use trunkline::{Cancel, Error};

/// Between two requests for a first plan.
const PAUSE: Duration = Duration::from_secs(10);
/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(200);

/// Checks plans for a host, and keeps the latest in its folder.
#[derive(Debug)]
pub(super) struct GivenPlans {
    host: String,
    file: PathBuf,
}

impl GivenPlans {
    pub fn new(options: &RunOptions) -> Self {
        GivenPlans {
            host: options.host.clone(),
            file: options.state.join("plan.json"),
        }
    }

    /// The plan that was kept, or the collector's; `None` where `cancel` came first.
    pub fn first(
        &self,
        options: &RunOptions,
        cancel: &Cancel,
        on_event: &OnAgentEvent<'_>,
    ) -> Result<Option<Followed>, Error> {
        if let Some(kept) = self.kept() {
            return Ok(Some(kept));
        }
        fs::create_dir_all(&options.state)
            .map_err(|error| Error::unwritable(&options.state, error))?;
        let mut told = None;
        while !cancel.is_cancelled() {
            let asked = watch_run::agent::first_plan(
                &options.collector,
                &options.token,
                (copy_net::SOFTWARE, crate::collector_event::now()),
                &|| cancel.is_cancelled(),
            );
            match asked {
                Ok(text) => return self.taken(&text).map(Some),
                Err(error) => {
                    let hint = error.hint().map(|hint| format!("; {hint}"));
                    let why = format!("{error}{}", hint.unwrap_or_default());
                    if told.as_ref() != Some(&why) && !cancel.is_cancelled() {
                        on_event(AgentEvent::NoPlan(why.clone()));
                    }
                    told = Some(why);
                }
            }
            let begun = Instant::now();
            while begun.elapsed() < PAUSE && !cancel.is_cancelled() {
                thread::sleep(TICK);
            }
        }
        Ok(None)
    }

    /// What was kept, if this version can still read it.
    fn kept(&self) -> Option<Followed> {
        let bytes = fs::read(&self.file).ok()?;
        let text = serde_json::from_slice::<PlanText>(&bytes).ok()?;
        read_plan(text).ok()?.followed(&self.host).ok()
    }

    fn taken(&self, text: &PlanText) -> Result<Followed, Error> {
        let followed = read_plan(text.clone())?.followed(&self.host)?;
        let bytes = serde_json::to_vec(text);
        let bytes = bytes.map_err(|error| Error::of(Fault::Run, error, None))?;
        crate::write_whole(&self.file, &bytes)
            .map_err(|error| Error::unwritable(&self.file, error))?;
        Ok(followed)
    }
}

impl Plans for GivenPlans {
    fn take(&self, text: &PlanText) -> Result<Followed, String> {
        self.taken(text).map_err(|error| error.what())
    }
}

impl PlanFile {
    /// The plan as the agent of a host follows it.
    ///
    /// # Errors
    /// When the plan has neither a host nor a machine of that name with an agent.
    pub(super) fn followed(&self, host: &str) -> Result<Followed, Error> {
        Ok(Followed {
            timetable: self.timetable.clone(),
            digest: self.text.digest(),
            hosts: self.hosts_of(host)?,
        })
    }
}
