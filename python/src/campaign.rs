//! Campaigns: what the program's `trunkline campaign` does.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;
use trunkline::Error;
use trunkline::ask;
use trunkline_campaign::{
    self, Campaign as Kept, LinkName, PlanOptions, RunAllEvent, RunOptions, ShardEnd, ShardEvent,
    ShardId, ShardSelection, SlurmOptions, Unfinished,
};

use crate::asked::{optional, value};
use crate::call::{Call, Tell};
use crate::error::Failure;
use crate::event::Progress;
use crate::result::Done;

const NAME: &str = "trunkline.Campaign";

/// A campaign in its folder.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Campaign {
    kept: Kept,
}

fn json<T: Serialize>(value: &T) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::bug(&error.to_string()))
}

fn name<T: std::str::FromStr<Err: std::fmt::Display>>(
    argument: &str,
    text: &str,
) -> Result<T, Failure> {
    value(argument, text, |text| {
        text.parse::<T>().map_err(|error| error.to_string())
    })
}

#[pymethods]
impl Campaign {
    /// The campaign of a folder.
    #[staticmethod]
    fn open(folder: PathBuf) -> PyResult<Self> {
        let kept = Kept::open(&folder).map_err(Failure::from)?;
        Ok(Campaign { kept })
    }

    /// Its folder, from `/`.
    #[getter]
    fn path(&self) -> PathBuf {
        self.kept.path().to_owned()
    }

    fn pause(&self) -> PyResult<()> {
        Ok(self.kept.pause().map_err(Failure::from)?)
    }

    fn resume(&self) -> PyResult<()> {
        Ok(self.kept.resume().map_err(Failure::from)?)
    }

    fn cancel(&self) -> PyResult<()> {
        Ok(self.kept.cancel().map_err(Failure::from)?)
    }

    fn retry(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(py.detach(|| self.kept.retry()).map_err(Failure::from)?)
    }

    /// Where it stands, as JSON.
    fn status(&self, py: Python<'_>) -> PyResult<String> {
        let status = py.detach(|| self.kept.status()).map_err(Failure::from)?;
        Ok(json(&status)?)
    }

    /// All shards, as JSON.
    fn shards(&self, py: Python<'_>) -> PyResult<String> {
        let shards = py.detach(|| self.kept.shards()).map_err(Failure::from)?;
        Ok(json(&shards)?)
    }

    /// A script for `sbatch`.
    #[pyo3(signature = (link, program, host, partition, licence, tasks, time))]
    #[expect(
        clippy::too_many_arguments,
        reason = "the options of a script, each by its name"
    )]
    fn slurm_script(
        &self,
        link: &str,
        program: PathBuf,
        host: Option<String>,
        partition: Option<String>,
        licence: Option<String>,
        tasks: u64,
        time: Option<String>,
    ) -> PyResult<String> {
        let options = SlurmOptions {
            host,
            partition,
            licence,
            tasks_max: tasks,
            time,
            ..SlurmOptions::of(name("link", link)?, program)
        };
        Ok(self.kept.slurm_script(&options).map_err(Failure::from)?)
    }
}

/// What a plan found, and what its reader should know.
#[derive(Serialize)]
struct Planned {
    #[serde(flatten)]
    summary: trunkline_campaign::PlanSummary,
    notes: Vec<String>,
}

/// Starts the making of a plan.
#[pyfunction]
pub fn start_campaign_plan(
    plan: PathBuf,
    folder: PathBuf,
    host: Option<String>,
    threads: usize,
) -> PyResult<Call> {
    let options = PlanOptions {
        host,
        threads,
        ..PlanOptions::default()
    };
    Call::start("campaign", NAME.to_owned(), move |cancel, tell| {
        let loaded = trunkline_campaign::load_plan(&plan)?;
        let elsewhere = loaded.elsewhere(options.host.as_deref());
        let elsewhere = elsewhere
            .into_iter()
            .map(|(group, host)| format!("group `{group}` is planned at `{host}`, in this folder"));
        let notes = loaded.notices.iter().map(ToString::to_string);
        let notes = notes.chain(elsewhere).collect();
        let mut on_progress = |progress: &trunkline_campaign::PlanProgress| {
            let words = format!("{}: {} names", progress.group, progress.names);
            tell.tell(Progress {
                number: Some(progress.names),
                bytes: Some(progress.bytes),
                ..Progress::words("listing", words)
            });
        };
        let planned = Kept::plan(&loaded, &folder, &options, cancel, &mut on_progress);
        let (_, summary) = planned?;
        Ok(Done::default().telling(json(&Planned { summary, notes })?))
    })
}

/// How shards are run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct RunAsked {
    folder: PathBuf,
    host: Option<String>,
    patience: String,
    wait: bool,
}

impl RunAsked {
    fn options(&self) -> Result<RunOptions, Failure> {
        Ok(RunOptions {
            host: self.host.clone(),
            patience: value("patience", &self.patience, ask::copy::patience)?,
            wait: self.wait,
        })
    }
}

/// Starts one shard.
#[pyfunction]
pub fn start_campaign_shard(asked: RunAsked, shard: &str) -> PyResult<Call> {
    let (options, shard) = (asked.options()?, name::<ShardId>("shard", shard)?);
    Call::start("campaign", NAME.to_owned(), move |cancel, tell| {
        let campaign = Kept::open(&asked.folder)?;
        campaign.retry_shard(&shard)?;
        let mut on_event = |event: ShardEvent<'_>| tell_event(tell, &shard, &event);
        match campaign.run_shard(&shard, &options, cancel, &mut on_event)? {
            ShardEnd::Done(result) => Ok(Done::default().telling(json(&result)?)),
            ShardEnd::Failed(result) => {
                let what = format!("{} files of shard {shard} failed", result.failed);
                let folder = campaign.path().join("runs").join(shard.to_string());
                let hint = format!("{}/failed.ndjson has the reasons", folder.display());
                let failure = Failure::request(what, hint).of_kind("IncompleteCopy");
                Ok(Done::default().telling(json(&result)?).cut(Some(failure)))
            }
            ShardEnd::NotFinished(why) => Err(not_finished(&why.error)),
        }
    })
}

/// Starts all shards that are left.
#[pyfunction]
pub fn start_campaign_run(asked: RunAsked, link: Option<&str>) -> PyResult<Call> {
    let options = asked.options()?;
    let which = ShardSelection {
        link: optional("link", link, |link| {
            link.parse::<LinkName>().map_err(|error| error.to_string())
        })?,
        task: None,
    };
    Call::start("campaign", NAME.to_owned(), move |cancel, tell| {
        let campaign = Kept::open(&asked.folder)?;
        let mut on_event = |event: RunAllEvent<'_>| match event {
            RunAllEvent::Waits(link, why) => {
                tell.tell(Progress::words(
                    "waiting",
                    format!("link `{link}` is {why}"),
                ));
            }
            RunAllEvent::Began(row) => tell_words(tell, &row.shard, "shard-began", "begins"),
            RunAllEvent::Shard(row, event) => tell_event(tell, &row.shard, event),
            RunAllEvent::Ended(row, Ok(ShardEnd::Done(_))) => {
                tell_words(tell, &row.shard, "shard-done", "done");
            }
            RunAllEvent::Ended(row, Ok(ShardEnd::Failed(result))) => {
                let words = format!("{} files failed", result.failed);
                tell_words(tell, &row.shard, "shard-failed", &words);
            }
            RunAllEvent::Ended(row, Ok(ShardEnd::NotFinished(Unfinished { error, .. })))
            | RunAllEvent::Ended(row, Err(error)) => {
                tell_words(tell, &row.shard, "shard-left", &error.what());
            }
        };
        let summary = campaign.run_all(&which, &options, cancel, &mut on_event)?;
        let status = campaign.status()?;
        let done = Done::default().telling(json(&status)?);
        if let Some(refusal) = summary.refusal {
            return Ok(done.cut(Some(refusal.into())));
        }
        if let Some(why) = summary.why_left.filter(|_| summary.left > 0) {
            return Ok(done.cut(Some(not_finished(&why))));
        }
        let failed = summary.failed.len();
        let failure = (failed > 0).then(|| {
            let hint = "`status()` counts the causes; `retry()` and another run try them again";
            Failure::request(format!("{failed} shards have files that failed"), hint)
                .of_kind("IncompleteCopy")
        });
        Ok(done.cut(failure))
    })
}

/// Starts the comparison of both ends.
#[pyfunction]
pub fn start_campaign_verify(asked: RunAsked) -> PyResult<Call> {
    let options = asked.options()?;
    Call::start("campaign", NAME.to_owned(), move |cancel, tell| {
        let campaign = Kept::open(&asked.folder)?;
        let verified = campaign.verify(&options, cancel, &mut |progress| {
            let words = format!("{} files compared", progress.files);
            tell_words(tell, &progress.shard, "verifying", &words);
        })?;
        let done = Done::default().telling(json(&verified)?);
        let failure = (!verified.is_equal()).then(|| {
            let hint = "the lists in the campaign's folder `verified` name the files";
            Failure::request("both ends differ", hint).of_kind("IncompleteCopy")
        });
        Ok(done.cut(failure))
    })
}

fn not_finished(why: &Error) -> Failure {
    match why.fault() {
        trunkline::Fault::Cancelled => Failure::from(why),
        _ => Failure::from(why).of_kind("NotFinished"),
    }
}

fn tell_words(tell: &Tell, shard: &ShardId, kind: &'static str, words: &str) {
    tell.tell(Progress {
        name: Some(shard.to_string()),
        ..Progress::words(kind, format!("{shard}: {words}"))
    });
}

fn tell_event(tell: &Tell, shard: &ShardId, event: &ShardEvent<'_>) {
    match event {
        ShardEvent::Waiting(what) => tell_words(tell, shard, "waiting", what),
        ShardEvent::Damaged(what) => tell_words(tell, shard, "damaged", what),
        ShardEvent::Copying { names, bytes } => tell.tell(Progress {
            name: Some(shard.to_string()),
            number: Some(*names),
            total_bytes: Some(bytes.get()),
            ..Progress::words("copying", format!("{shard}: {names} names"))
        }),
        ShardEvent::Copy(event) => tell.tell((*event).into()),
    }
}
