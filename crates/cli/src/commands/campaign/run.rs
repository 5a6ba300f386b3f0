//! `trunkline campaign run`: one shard, or all that are left.

use std::process::ExitCode;

use trunkline::Error;
use trunkline::copy::CopyEvent;
use trunkline::report::text::count;
use trunkline_campaign::{
    Campaign, RunAllEvent, RunOptions, ShardEnd, ShardEvent, ShardId, ShardResult, ShardSelection,
};

use crate::args::{CampaignRun, Shard};
use crate::failure::Failure;
use crate::output::tell;
use crate::stop;

pub(super) fn run(arguments: &CampaignRun) -> Result<ExitCode, Failure> {
    let campaign = Campaign::open(&arguments.folder.folder)?;
    let options = RunOptions {
        host: arguments.host.host.clone(),
        patience: arguments.patience,
        wait: arguments.wait,
    };
    match &arguments.shard {
        Some(Shard::Id(shard)) => one(&campaign, shard, &options, arguments),
        Some(Shard::Manifest(file)) => {
            let shard = campaign.shard_of_manifest(file)?;
            one(&campaign, &shard, &options, arguments)
        }
        None => all(&campaign, &options, arguments),
    }
}

fn one(
    campaign: &Campaign,
    shard: &ShardId,
    options: &RunOptions,
    arguments: &CampaignRun,
) -> Result<ExitCode, Failure> {
    let cancel = stop::listen_calmly()?;
    campaign.retry_shard(shard)?;
    let mut on_event = |event: ShardEvent<'_>| {
        if !arguments.quiet {
            tell_event(shard, &event);
        }
    };
    match campaign.run_shard(shard, options, &cancel, &mut on_event)? {
        ShardEnd::Done(result) => {
            tell_end(&result, arguments);
            Ok(ExitCode::SUCCESS)
        }
        ShardEnd::Failed(result) => {
            tell_end(&result, arguments);
            Err(Failure::shards_failed(
                campaign.path(),
                std::slice::from_ref(shard),
            ))
        }
        ShardEnd::NotFinished(why) => Err(Failure::not_finished(why.error)),
    }
}

fn all(
    campaign: &Campaign,
    options: &RunOptions,
    arguments: &CampaignRun,
) -> Result<ExitCode, Failure> {
    let which = ShardSelection {
        link: arguments.link.clone(),
        task: arguments.task.zip(arguments.of),
    };
    let cancel = stop::listen_calmly()?;
    let mut on_event = |event: RunAllEvent<'_>| match event {
        RunAllEvent::Waits(link, why) => tell!("link `{link}` is {why}; Ctrl-C ends the wait"),
        RunAllEvent::Began(_) => {}
        RunAllEvent::Shard(row, event) => {
            if !arguments.quiet {
                tell_event(&row.shard, event);
            }
        }
        RunAllEvent::Ended(row, ended) => match ended {
            Ok(ShardEnd::Done(result) | ShardEnd::Failed(result)) => tell_end(result, arguments),
            Ok(ShardEnd::NotFinished(why)) if !arguments.quiet => {
                tell!("{}: not finished: {}", row.shard, why.error.what());
            }
            Ok(ShardEnd::NotFinished(_)) => {}
            Err(error) => tell!("{}: {}", row.shard, error.what()),
        },
    };
    let summary = campaign.run_all(&which, options, &cancel, &mut on_event)?;
    for bag in summary.bags.iter().filter(|_| !arguments.quiet) {
        tell!(
            "{}: bag {}, {}",
            bag.group,
            bag.folder,
            count(bag.files, "file")
        );
    }
    if let Some(refusal) = summary.refusal {
        return Err(refusal.into());
    }
    if cancel.is_cancelled() || summary.why_left.is_some() && summary.left > 0 {
        let why = summary.why_left.unwrap_or_else(stopped);
        return Err(Failure::not_finished(why));
    }
    if !summary.failed.is_empty() {
        return Err(Failure::shards_failed(campaign.path(), &summary.failed));
    }
    if summary.left > 0 {
        return Err(Failure::not_finished(Error::wrong_request(
            format!(
                "{} left: others run them, or they wait",
                count(summary.left, "shard")
            ),
            "run the same command again to resume",
        )));
    }
    if !arguments.quiet {
        tell!("all {} shards are done", summary.done);
    }
    Ok(ExitCode::SUCCESS)
}

fn stopped() -> Error {
    Error::wrong_request(
        "stopped before its end",
        "run the same command again to resume; what has arrived is not sent again",
    )
}

fn tell_event(shard: &ShardId, event: &ShardEvent<'_>) {
    match event {
        ShardEvent::Waiting(what) => tell!("{shard}: waits: {what}"),
        ShardEvent::Damaged(what) => tell!("{shard}: {what}: it is run again"),
        ShardEvent::Copying { names, bytes } => {
            tell!("{shard}: {}, {}", count(*names, "name"), bytes.human());
        }
        ShardEvent::Copy(CopyEvent::Queued { why, ahead, .. }) => {
            let turn = match ahead {
                0 => String::new(),
                ahead => format!("; {ahead} wait before it"),
            };
            tell!("{shard}: waits: {why}{turn}");
        }
        ShardEvent::Copy(CopyEvent::Lost { why, .. }) => tell!("{shard}: lost: {why}"),
        ShardEvent::Copy(_) => {}
    }
}

fn tell_end(result: &ShardResult, arguments: &CampaignRun) {
    let ShardResult {
        shard,
        done,
        failed,
        ..
    } = result;
    match failed {
        0 if arguments.quiet => {}
        0 => tell!("{shard}: done, {}", count(*done, "name")),
        failed => tell!("{shard}: {} done, {failed} failed", count(*done, "name")),
    }
}
