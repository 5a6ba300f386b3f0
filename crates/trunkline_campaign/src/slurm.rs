//! Array scripts for Slurm: one for each link, with its bound as the array's throttle.

use std::fmt::Write;
use std::path::PathBuf;

use campaign_plan::LinkName;

use super::Campaign;
use trunkline::Error;

/// Array sizes above this are refused by a Slurm with its defaults (`MaxArraySize` is 1001).
const TASKS_MAX: u64 = 1_000;

/// How a script is made.
#[derive(Debug, Clone)]
pub struct SlurmOptions {
    /// The link whose shards it runs.
    pub link: LinkName,
    /// The program, as the nodes have it.
    pub program: PathBuf,
    /// Which host of the plan the nodes are.
    pub host: Option<String>,
    /// The partition; the default one without.
    pub partition: Option<String>,
    /// A licence that each task takes one of. Slurm counts licences over all jobs of the cluster.
    pub licence: Option<String>,
    /// Most tasks; shards are dealt to them in turn.
    pub tasks_max: u64,
    /// The longest time of a task, as Slurm takes it.
    pub time: Option<String>,
}

impl SlurmOptions {
    /// For a link, with what Slurm takes by default.
    pub fn of(link: LinkName, program: PathBuf) -> Self {
        SlurmOptions {
            link,
            program,
            host: None,
            partition: None,
            licence: None,
            tasks_max: TASKS_MAX,
            time: None,
        }
    }
}

impl Campaign {
    /// A script for `sbatch` that runs the shards of a link.
    ///
    /// # Errors
    /// When the link has no shards.
    pub fn slurm_script(&self, options: &SlurmOptions) -> Result<String, Error> {
        let rows = self.folder.shards()?;
        let count = rows.iter().filter(|row| row.link == options.link).count() as u64;
        if count == 0 {
            let mut links: Vec<&str> = rows.iter().map(|row| row.link.as_str()).collect();
            links.sort_unstable();
            links.dedup();
            return Err(Error::wrong_request(
                format!("link `{}` has no shards", options.link),
                format!("name one that has: {}", links.join(", ")),
            ));
        }
        let plan = self.current()?;
        let copies = plan
            .links()
            .get(&options.link)
            .map_or(1, |link| link.copies);
        Ok(script(
            self,
            options,
            count.min(options.tasks_max.max(1)),
            copies,
        ))
    }
}

fn script(campaign: &Campaign, options: &SlurmOptions, tasks: u64, copies: u16) -> String {
    let folder = campaign.path();
    let mut text = String::from("#!/bin/sh\n");
    let mut line = |line: String| {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{line}");
    };
    line(format!("#SBATCH --job-name=trunkline-{}", options.link));
    line(format!("#SBATCH --array=0-{}%{copies}", tasks - 1));
    // A minute before the time is over the script is told, and the copy ends cleanly.
    line("#SBATCH --signal=B:TERM@60".to_owned());
    line("#SBATCH --requeue".to_owned());
    line("#SBATCH --open-mode=append".to_owned());
    line(format!(
        "#SBATCH --output={}/slurm-%A_%a.log",
        folder.display()
    ));
    for (key, value) in [("partition", &options.partition), ("time", &options.time)] {
        if let Some(value) = value {
            line(format!("#SBATCH --{key}={value}"));
        }
    }
    if let Some(licence) = &options.licence {
        line(format!("#SBATCH --licenses={licence}:1"));
    }
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let host = options.host.as_deref();
    let host = host.map_or(String::new(), |host| format!(" --host {}", quoted(host)));
    line(format!(
        "{} campaign run {} --link {}{host} --task \"$SLURM_ARRAY_TASK_ID\" --of {tasks} --quiet &",
        quoted(&options.program.display().to_string()),
        quoted(&folder.display().to_string()),
        options.link,
    ));
    line("copy=$!".to_owned());
    line("trap 'kill -TERM $copy' TERM INT".to_owned());
    line("wait $copy; code=$?".to_owned());
    // A trapped signal ends the first wait before the copy.
    line("if [ $code -gt 128 ]; then wait $copy; code=$?; fi".to_owned());
    line("# 75: not finished; run the same command again to resume.".to_owned());
    line("if [ $code -eq 75 ]; then".to_owned());
    line(
        "  scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\" && sleep 60".to_owned(),
    );
    line("fi".to_owned());
    line("exit $code".to_owned());
    text
}
