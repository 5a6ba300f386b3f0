//! How long plans of millions of names take, and how much memory.
//!
//! `names COUNT FOLDER` feeds names that are on no disk to the code that a walk feeds: two threads
//! sort, one merges, compares and cuts. `again COUNT FOLDER` does so in a folder that has them, one
//! in a thousand of them changed. `tree COUNT FOLDER` makes a tree of empty files; `walk FOLDER
//! SCRATCH` plans one.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Instant;

use campaign_plan::{Campaign, Checks};
use campaign_store::{
    CampaignFolder, Counted, Entry, Kind, PlanMaker, PlanSummary, Sorted, Sorter, StoreError, Tree,
    Walked, walk,
};
use nix::sys::resource::{UsageWho, getrusage};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

type Failure = Box<dyn Error + Send + Sync>;

const PLAN: &str = "[hosts]\ncern = { address = \"dtn\" }\n\
                    [groups.raw]\nfrom = \"/raw\"\nto = \"cern:/raw\"\n";
/// As `trunkline campaign plan` has it.
const MEMORY: usize = 256 << 20;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let began = Instant::now();
    match words[..] {
        ["names", count, folder] => print(&names(count.parse()?, Path::new(folder), 0)?),
        ["again", count, folder] => print(&names(count.parse()?, Path::new(folder), 1)?),
        ["tree", count, folder] => tree(count.parse()?, Path::new(folder))?,
        ["walk", folder, scratch] => print(&walked(Path::new(folder), Path::new(scratch))?),
        _ => return Err("names|again COUNT FOLDER, tree COUNT FOLDER, walk FOLDER SCRATCH".into()),
    }
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    println!(
        "{:.1} s; processor {:.1} s ({:.1} s of it the kernel's); at most {} MiB",
        began.elapsed().as_secs_f64(),
        seconds(usage.user_time()) + seconds(usage.system_time()),
        seconds(usage.system_time()),
        usage.max_rss() / 1024,
    );
    Ok(())
}

fn print(summary: &PlanSummary) {
    for group in &summary.groups {
        println!(
            "{} new, {} changed, {} same, {} gone, {} shards",
            group.new, group.changed, group.same, group.gone, group.shards
        );
    }
}

fn plan() -> Result<Campaign, Failure> {
    Ok(Campaign::parse(PLAN, "plan.toml", &Checks::none())?.0)
}

fn cut(maker: &mut PlanMaker, plan: &Campaign, mut walked: Walked) -> Result<(), Failure> {
    let entries = Sorted::open(std::mem::take(&mut walked.runs))?;
    let before = |_| Some(plan.clone());
    Ok(maker.group(&plan.groups()[0], plan.cut(), entries, walked, &before)?)
}

/// 1,000 names a folder, 43 to 70 bytes long, in the order in which a disk might give them.
fn names(count: u64, folder: &Path, round: u64) -> Result<PlanSummary, Failure> {
    const THREADS: u64 = 2;
    let plan = plan()?;
    let campaign = CampaignFolder::create(folder)?;
    let mut maker = PlanMaker::begin(&campaign, PLAN)?;
    let scratch = maker.scratch().to_owned();
    let runs: Vec<Result<Vec<_>, StoreError>> = thread::scope(|scope| {
        let start = |thread: u64| {
            let scratch = &scratch;
            scope.spawn(move || sorted(thread, THREADS, count, scratch, round))
        };
        let started: Vec<_> = (0..THREADS).map(start).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        started.into_iter().map(join).collect()
    });
    let mut walked = Walked::default();
    for runs in runs {
        walked.runs.extend(runs?);
    }
    cut(&mut maker, &plan, walked)?;
    Ok(maker.finish()?)
}

fn sorted(
    thread: u64,
    threads: u64,
    count: u64,
    scratch: &Path,
    round: u64,
) -> Result<Vec<std::path::PathBuf>, StoreError> {
    const IN_FOLDER: u64 = 1_000;
    let mut sorter = Sorter::new(
        scratch,
        &format!("names-{thread}"),
        MEMORY / threads as usize,
    );
    for folder in (thread..count.div_ceil(IN_FOLDER)).step_by(threads as usize) {
        // Another order in each folder, the same in each round.
        let mut random = Pcg64Mcg::new(folder.into());
        let shift = random.next_u64() % IN_FOLDER;
        for at in 0..IN_FOLDER.min(count - folder * IN_FOLDER) {
            let place = (at * 617 + shift) % IN_FOLDER;
            let number = folder * IN_FOLDER + place;
            let size = random.next_u64() % 10_000_000;
            let is_changed = round > 0 && number.is_multiple_of(1_000);
            sorter.push(&Entry {
                name: format!(
                    "store/run{:06}/stream{:03}/event-{number:012}.root",
                    folder / 7,
                    folder % 97
                )
                .into_bytes(),
                kind: Kind::File(size),
                modified_nanoseconds: 1_790_000_000_000_000_000 + i64::from(is_changed),
                digest: None,
            })?;
        }
    }
    sorter.finish()
}

/// Files of no bytes, 1,000 a folder, folders 100 a folder.
fn tree(count: u64, folder: &Path) -> Result<(), Failure> {
    for at in 0..count {
        let inner = folder.join(format!(
            "run{:04}/part{:02}",
            at / 100_000,
            at / 1_000 % 100
        ));
        if at.is_multiple_of(1_000) {
            fs::create_dir_all(&inner)?;
        }
        fs::File::create(inner.join(format!("event-{at:010}.root")))?;
    }
    Ok(())
}

fn walked(folder: &Path, scratch: &Path) -> Result<PlanSummary, Failure> {
    let plan = plan()?;
    let campaign = CampaignFolder::create(scratch)?;
    let mut maker = PlanMaker::begin(&campaign, PLAN)?;
    let began = Instant::now();
    let rules = transfer::Rules::default();
    let tree = Tree {
        root: folder,
        rules: &rules,
        folds_names: false,
        threads: 8,
        memory: MEMORY,
        scratch: maker.scratch(),
    };
    let walked = walk(&tree, &Counted::default(), &AtomicBool::new(false))?;
    println!("walked in {:.1} s", began.elapsed().as_secs_f64());
    cut(&mut maker, &plan, walked)?;
    Ok(maker.finish()?)
}
