//! Reads plans, and makes shards of what their sources have.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use campaign_plan::{Campaign as Plan, Checks, Group, GroupName, HostName};
use campaign_store::{CampaignFolder, Counted, PlanMaker, PlanSummary, Sorted, Tree, Walked, walk};
use copy_protocol::SelectionRule;
use watch_plan::Notice;

use super::plan_options::PlanOptions;
use super::{Campaign, far_listing, places};
use trunkline::{Cancel, Error, Fault};

/// How often progress is told, and how soon a walk's end is noticed.
const TICK: Duration = Duration::from_millis(100);

/// A plan and its text.
#[derive(Debug, Clone)]
pub struct LoadedPlan {
    plan: Plan,
    text: String,
    /// What a reader should know of it.
    pub notices: Vec<Notice>,
}

/// How far the planning is.
#[derive(Debug, Clone)]
pub struct PlanProgress {
    /// The group that is being listed.
    pub group: String,
    /// Names found in it.
    pub names: u64,
    /// Bytes of its files.
    pub bytes: u64,
}

/// Reads a plan from TOML.
///
/// # Errors
/// When it cannot be read: all mistakes, with their lines.
pub fn load_plan(file: &Path) -> Result<LoadedPlan, Error> {
    let text = fs::read_to_string(file).map_err(|error| Error::unreadable(file, error))?;
    let (plan, notices) = parse(&text, file)?;
    Ok(LoadedPlan {
        plan,
        text,
        notices,
    })
}

pub(super) fn parse(text: &str, file: &Path) -> Result<(Plan, Vec<Notice>), Error> {
    let checks = Checks {
        address: places::check_address,
        pattern: trunkline::copy::check_pattern,
        moment: |text| Some(text.parse::<jiff::Timestamp>().ok()?.as_second()),
    };
    Ok(Plan::parse(text, &file.display().to_string(), &checks)?)
}

impl Campaign {
    /// Walks the sources of a plan and cuts what they have into shards, in `folder`. A second plan
    /// in the same folder has only what is new or changed.
    ///
    /// Groups whose files are on other hosts are left to these, each of which plans in this folder,
    /// where this machine is a host of the plan. Otherwise the servers of these hosts list them.
    ///
    /// # Errors
    /// When the folder cannot be written or holds something else, a source cannot be listed, or
    /// another plan is being made there. Then the folder is as it was.
    pub fn plan(
        loaded: &LoadedPlan,
        folder: &Path,
        options: &PlanOptions,
        cancel: &Cancel,
        on_progress: &mut (dyn FnMut(&PlanProgress) + Send),
    ) -> Result<(Campaign, PlanSummary), Error> {
        let LoadedPlan { plan, text, .. } = loaded;
        let host = options.host.as_deref();
        for group in planned_here(plan, host)? {
            // The other end has to be elsewhere, too, and the token readable: better told now.
            places::ends(plan, group, host, 0, units::Span::from_secs(1))?;
        }
        let folder = CampaignFolder::create(folder)?;
        let mut maker = PlanMaker::begin(&folder, text)?;
        let before = |number| {
            let (text, file) = folder.plan_text(Some(number)).ok()?;
            parse(&text, &file).ok().map(|(plan, _)| plan)
        };
        for group in planned_here(plan, host)? {
            let mut walked = listed(plan, group, &maker, options, cancel, on_progress)?;
            let entries = Sorted::open(std::mem::take(&mut walked.runs))?;
            maker.group(group, plan.cut(), entries, walked, &before)?;
        }
        let summary = maker.finish()?;
        Ok((Campaign { folder }, summary))
    }
}

/// The groups whose files are on this machine, or on servers that it asks.
///
/// # Errors
/// When there is none, or when a group of several hosts' plan does not say where its files are.
fn planned_here<'a>(plan: &'a Plan, host: Option<&str>) -> Result<Vec<&'a Group>, Error> {
    check_host(plan, host)?;
    let source = |group: &'a Group| group.from.host.as_ref().map(HostName::as_str);
    let is_here = |group: &&Group| {
        group.from.host.is_none() || source_is(group, host) || is_asked(plan, group, host)
    };
    let here: Vec<&Group> = plan.groups().iter().filter(is_here).collect();
    let Some(other) = plan.groups().iter().find(|group| !is_here(group)) else {
        return Ok(here);
    };
    let at = source(other).unwrap_or_default();
    if here.is_empty() {
        return Err(Error::wrong_request(
            format!(
                "the files of group `{}` are on `{at}`, and this machine is another one",
                other.name
            ),
            format!("plan at that host, with `--host {at}`"),
        ));
    }
    match here.iter().find(|group| group.from.host.is_none()) {
        None => Ok(here),
        Some(group) => Err(Error::wrong_request(
            format!(
                "group `{}` does not say on which host {} is, and group `{}` is planned at `{at}`",
                group.name, group.from, other.name
            ),
            "name its host in the plan: otherwise each host would take its own folder for it",
        )),
    }
}

fn check_host(plan: &Plan, host: Option<&str>) -> Result<(), Error> {
    let Some(host) = host.filter(|host| !plan.hosts().keys().any(|one| one.as_str() == *host))
    else {
        return Ok(());
    };
    let names: Vec<&str> = plan.hosts().keys().map(HostName::as_str).collect();
    Err(Error::wrong_request(
        format!("the plan has no host `{host}`; it has {}", names.join(", ")),
        "name one of them with `--host`, or add it to `[hosts]`",
    ))
}

/// Whether a server lists the files, at the wish of a machine that is no host of the plan.
fn is_asked(plan: &Plan, group: &Group, host: Option<&str>) -> bool {
    host.is_none() && places::is_at_server(plan, &group.from)
}

fn source_is(group: &Group, host: Option<&str>) -> bool {
    group.from.host.as_ref().map(HostName::as_str) == host
}

impl LoadedPlan {
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The groups that other hosts plan, each with its host.
    pub fn elsewhere(&self, host: Option<&str>) -> Vec<(GroupName, HostName)> {
        let groups = self.plan.groups().iter();
        let elsewhere =
            groups.filter(|group| !source_is(group, host) && !is_asked(&self.plan, group, host));
        let named = |group: &Group| Some((group.name.clone(), group.from.host.clone()?));
        elsewhere.filter_map(named).collect()
    }
}

fn listed(
    plan: &Plan,
    group: &Group,
    maker: &PlanMaker,
    options: &PlanOptions,
    cancel: &Cancel,
    on_progress: &mut (dyn FnMut(&PlanProgress) + Send),
) -> Result<Walked, Error> {
    let rule = |rule: &campaign_plan::Rule| SelectionRule {
        leaves_out: rule.leaves_out,
        pattern: rule.pattern.clone(),
    };
    let rules: Vec<SelectionRule> = group.rules.iter().map(rule).collect();
    let rules = files::Rules::new(&rules)?;
    let counted = Counted::default();
    let walked = thread::scope(|scope| {
        let walking = scope.spawn(|| {
            if group.from.host.is_some() && !source_is(group, options.host.as_deref()) {
                return asked(
                    plan,
                    group,
                    (&rules, maker.scratch()),
                    options,
                    &counted,
                    cancel,
                );
            }
            let from = places::local(plan, &group.from)?;
            let tree = Tree {
                root: &from,
                rules: &rules,
                folds_names: group.folds_names,
                threads: options.threads,
                memory: options.memory,
                scratch: maker.scratch(),
            };
            let walked = walk(&tree, &counted, &cancel.flag());
            walked.map_err(|error| source_error(group, &from, error.into()))
        });
        while !walking.is_finished() {
            thread::sleep(TICK);
            on_progress(&PlanProgress {
                group: group.name.to_string(),
                names: counted.names.load(Ordering::Relaxed),
                bytes: counted.bytes.load(Ordering::Relaxed),
            });
        }
        walking.join()
    });
    walked.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What the server of the group's source lists.
fn asked(
    plan: &Plan,
    group: &Group,
    how: (&files::Rules, &Path),
    options: &PlanOptions,
    counted: &Counted,
    cancel: &Cancel,
) -> Result<Walked, Error> {
    let url = places::far_place(plan, &group.from, places::any_turn())?;
    let token = places::token(plan, &group.from)?.ok_or_else(|| {
        Error::wrong_request(
            format!("the host of {} has no `token` in the plan", group.from),
            "write the file that has it under `[hosts]`",
        )
    })?;
    let url = url.to_string_lossy();
    far_listing::list((&url, token), group, how, options, counted, cancel)
}

/// A source that is not there is a mistake of the plan.
fn source_error(group: &Group, from: &Path, error: Error) -> Error {
    let is_missing = !from.is_dir();
    match is_missing && error.fault() != Fault::Cancelled {
        true => Error::wrong_request(
            format!(
                "group `{}`: {} is no folder here",
                group.name,
                from.display()
            ),
            "check its name in the plan, and that you may read it",
        ),
        false => error,
    }
}
