//! `trunkline campaign`: plans, shards, and where they stand.

mod run;
mod status;

use std::env;
use std::process::ExitCode;

use trunkline::draw::page::Page;
use trunkline::draw::render::terminal;
use trunkline::report::text::count;
use trunkline::units::Bytes;
use trunkline_campaign::{Campaign, PlanOptions, RunOptions, SlurmOptions, pages};

use crate::args::{self, CampaignCommand, CampaignPlan, CampaignSlurm, CampaignVerify};
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::RunProgress;
use crate::stop;

pub(crate) fn run(arguments: &args::Campaign) -> Result<ExitCode, Failure> {
    match &arguments.command {
        CampaignCommand::Plan(arguments) => plan(arguments),
        CampaignCommand::Run(arguments) => run::run(arguments),
        CampaignCommand::Status(arguments) => status::run(arguments),
        CampaignCommand::Pause(arguments) => {
            Campaign::open(&arguments.folder)?.pause()?;
            tell!("paused; what runs ends within a second");
            Ok(ExitCode::SUCCESS)
        }
        CampaignCommand::Resume(arguments) => {
            Campaign::open(&arguments.folder)?.resume()?;
            tell!("resumed; `trunkline campaign run` goes on");
            Ok(ExitCode::SUCCESS)
        }
        CampaignCommand::Cancel(arguments) => {
            Campaign::open(&arguments.folder)?.cancel()?;
            tell!("cancelled; what has arrived stays");
            Ok(ExitCode::SUCCESS)
        }
        CampaignCommand::Retry(arguments) => {
            let shards = Campaign::open(&arguments.folder)?.retry()?;
            tell!(
                "{} with failed files, for the next `trunkline campaign run`",
                count(shards as u64, "shard")
            );
            Ok(ExitCode::SUCCESS)
        }
        CampaignCommand::Verify(arguments) => verify(arguments),
        CampaignCommand::Slurm(arguments) => slurm(arguments),
    }
}

fn plan(arguments: &CampaignPlan) -> Result<ExitCode, Failure> {
    let loaded = trunkline_campaign::load_plan(&arguments.plan)?;
    for notice in &loaded.notices {
        tell!("note: {notice}");
    }
    for (group, host) in loaded.elsewhere(arguments.host.host.as_deref()) {
        tell!("note: group `{group}` is planned at `{host}`, in this folder");
    }
    let options = PlanOptions {
        host: arguments.host.host.clone(),
        threads: usize::from(arguments.threads),
        ..PlanOptions::default()
    };
    let cancel = stop::listen_calmly()?;
    for doubt in loaded.doubts(arguments.host.host.as_deref(), &cancel) {
        tell!("note: {doubt}");
    }
    let line = RunProgress::new();
    let planned = Campaign::plan(
        &loaded,
        &arguments.folder,
        &options,
        &cancel,
        &mut |progress| {
            let bytes = Bytes::new(progress.bytes).human();
            line.label(&format!(
                "{}: {} names, {bytes}",
                progress.group, progress.names
            ));
        },
    );
    drop(line);
    let (_, summary) = planned?;
    match arguments.json {
        true => output::print(&pages::json(&summary))?,
        false => show(&pages::summary(&summary, &arguments.folder))?,
    }
    match summary.groups.iter().any(|group| group.unread > 0) {
        true => Err(Failure::unread(&arguments.folder)),
        false => Ok(ExitCode::SUCCESS),
    }
}

fn verify(arguments: &CampaignVerify) -> Result<ExitCode, Failure> {
    let campaign = Campaign::open(&arguments.folder.folder)?;
    let options = RunOptions {
        host: arguments.host.host.clone(),
        patience: arguments.patience,
        ..RunOptions::default()
    };
    let cancel = stop::listen_calmly()?;
    let line = RunProgress::new();
    let verified = campaign.verify(&options, &cancel, &mut |progress| {
        line.label(&format!(
            "comparing {}: {} files",
            progress.shard, progress.files
        ));
    });
    drop(line);
    let verified = verified?;
    match arguments.json {
        true => output::print(&pages::json(&verified))?,
        false => show(&pages::verified(&verified))?,
    }
    match verified.is_equal() {
        true => Ok(ExitCode::SUCCESS),
        false => Err(Failure::differs()),
    }
}

fn show(page: &Page) -> Result<(), Failure> {
    output::print(&terminal::text(page, output::paint()))
}

fn slurm(arguments: &CampaignSlurm) -> Result<ExitCode, Failure> {
    let campaign = Campaign::open(&arguments.folder.folder)?;
    let program = env::current_exe()?;
    let options = SlurmOptions {
        host: arguments.host.host.clone(),
        partition: arguments.partition.clone(),
        licence: arguments.licence.clone(),
        tasks_max: arguments.tasks.into(),
        time: arguments.time.clone(),
        ..SlurmOptions::of(arguments.link.clone(), program)
    };
    output::print(&campaign.slurm_script(&options)?)?;
    Ok(ExitCode::SUCCESS)
}
