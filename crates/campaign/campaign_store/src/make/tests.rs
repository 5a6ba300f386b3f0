use std::collections::BTreeMap;
use std::process;

use campaign_plan::Checks;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::{Kind, Manifest, Walked};

const PLAN: &str = "[shards]\nfiles = 40\n[hosts]\ncern = { address = \"dtn\" }\n\
                    [groups.raw]\nfrom = \"/raw\"\nto = \"cern:/raw\"\n";

fn plan() -> Campaign {
    Campaign::parse(PLAN, "plan.toml", &Checks::none())
        .unwrap()
        .0
}

pub(crate) type Tree = BTreeMap<Vec<u8>, (u64, i64)>;

pub(crate) fn entries(tree: &Tree) -> impl Iterator<Item = Result<Entry, StoreError>> {
    tree.iter().map(|(name, (size, modified_nanoseconds))| {
        Ok(Entry {
            name: name.clone(),
            kind: Kind::File(*size),
            modified_nanoseconds: *modified_nanoseconds,
            digest: None,
            part: None,
        })
    })
}

pub(crate) fn make(folder: &CampaignFolder, tree: &Tree) -> Result<PlanSummary, StoreError> {
    let plan = plan();
    let mut maker = PlanMaker::begin(folder, PLAN)?;
    let before = |_| Some(plan.clone());
    maker.group(
        &plan.groups()[0],
        plan.cut(),
        entries(tree),
        Walked::default(),
        &before,
    )?;
    maker.finish()
}

/// Names with what the newest plan that has them says.
fn planned(folder: &CampaignFolder) -> Tree {
    let mut tree = Tree::new();
    for row in folder.shards().unwrap() {
        let file = folder.manifest(&row.shard);
        let mut manifest = Manifest::open(&file).unwrap();
        assert_eq!(manifest.shard(), &row.shard);
        let mut count = 0;
        while let Some((entry, _)) = manifest.read().unwrap() {
            count += 1;
            tree.insert(
                entry.name.clone(),
                (entry.bytes(), entry.modified_nanoseconds),
            );
        }
        assert_eq!(count, row.names);
        assert_eq!(manifest.digest(), row.digest);
    }
    tree
}

fn random_name(random: &mut Pcg64Mcg) -> Vec<u8> {
    let mut name =
        format!("d{}/{:04}", random.next_u32() % 7, random.next_u32() % 3000).into_bytes();
    if random.next_u32().is_multiple_of(9) {
        name.extend([b'\n', 0xff, b'"']);
    }
    name
}

#[test]
fn plans_after_changes_have_the_difference_only_and_together_all_of_it() {
    for seed in 0..20 {
        let root = tempfile::tempdir().unwrap();
        let folder = CampaignFolder::create(root.path()).unwrap();
        let mut random = Pcg64Mcg::new(seed);
        let mut tree = Tree::new();
        for round in 1..6 {
            let before = tree.clone();
            for _ in 0..random.next_u32() % 200 {
                let name = random_name(&mut random);
                match random.next_u32() % 3 {
                    0 => drop(tree.remove(&name)),
                    _ => drop(tree.insert(
                        name,
                        (random.next_u64() % 99, i64::from(random.next_u32() % 3)),
                    )),
                }
            }
            let summary = make(&folder, &tree).unwrap();
            let group = &summary.groups[0];
            let new = tree
                .iter()
                .filter(|(name, _)| !before.contains_key(*name))
                .count() as u64;
            let same = tree
                .iter()
                .filter(|(name, it)| before.get(*name) == Some(it))
                .count() as u64;
            let gone = before
                .keys()
                .filter(|name| !tree.contains_key(*name))
                .count() as u64;
            assert_eq!(
                (group.new, group.same, group.gone),
                (new, same, gone),
                "seed {seed} {round}"
            );
            assert_eq!(new + group.changed + same, tree.len() as u64);
            let all = planned(&folder);
            let alive = all.into_iter().filter(|(name, _)| tree.contains_key(name));
            assert_eq!(alive.collect::<Tree>(), tree, "seed {seed}, round {round}");
            assert_eq!(make(&folder, &tree).unwrap().plan, None, "nothing is new");
        }
    }
}

#[test]
fn the_same_listing_gives_the_same_shards() {
    let mut random = Pcg64Mcg::new(3);
    let tree: Tree = (0..2000)
        .map(|at| (random_name(&mut random), (at, 0)))
        .collect();
    let manifests = |_| {
        let root = tempfile::tempdir().unwrap();
        let folder = CampaignFolder::create(root.path()).unwrap();
        make(&folder, &tree).unwrap();
        folder.shards().unwrap()
    };
    assert_eq!(manifests(1), manifests(2));
}

#[test]
fn a_large_file_is_cut_into_shards_of_a_part_each() {
    let root = tempfile::tempdir().unwrap();
    let folder = CampaignFolder::create(root.path()).unwrap();
    let text = PLAN.replace("files = 40", "files = 40\nparts = \"64MiB\"");
    let (plan, _) = Campaign::parse(&text, "plan.toml", &Checks::none()).unwrap();
    let part = 64_u64 << 20;
    let sizes = [("a", 10), ("b", 2 * part + 5), ("c", part), ("d", 7)];
    let file = |(name, size): (&str, u64)| (name.as_bytes().to_vec(), (size, 0));
    let tree: Tree = sizes.map(file).into_iter().collect();
    let mut maker = PlanMaker::begin(&folder, &text).unwrap();
    let group = &plan.groups()[0];
    let whole = Walked::default();
    maker
        .group(group, plan.cut(), entries(&tree), whole, &|_| None)
        .unwrap();
    maker.finish().unwrap();
    let mut told = Vec::new();
    for row in folder.shards().unwrap() {
        for entry in crate::ShardRun::of(&folder, &row)
            .unwrap()
            .planned()
            .unwrap()
        {
            let index = entry.part.map(|part| part.index);
            told.push((row.shard.number, index, entry.bytes()));
            let size = tree[&entry.name].0;
            assert_eq!(entry.kind, Kind::File(size), "all of its bytes");
        }
    }
    let expected = [
        (1, None, 10),
        (2, Some(0), part),
        (3, Some(1), part),
        (4, Some(2), 5),
        (5, None, part),
        (5, None, 7),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_plan_that_fails_leaves_the_folder_as_it_was() {
    let root = tempfile::tempdir().unwrap();
    let folder = CampaignFolder::create(root.path()).unwrap();
    let tree: Tree = (0..500_u32)
        .map(|at| (at.to_string().into_bytes(), (1, 0)))
        .collect();
    make(&folder, &tree).unwrap();
    let before = folder.shards().unwrap();
    let plan = plan();
    for fails_at in [0, 1, 250, 499] {
        let mut maker = PlanMaker::begin(&folder, PLAN).unwrap();
        let other: Tree = tree.keys().map(|name| (name.clone(), (2, 0))).collect();
        let broken = entries(&other)
            .take(fails_at)
            .chain([Err(StoreError::Cancelled)]);
        let group = &plan.groups()[0];
        let before = |_| Some(plan.clone());
        let told = maker.group(group, plan.cut(), broken, Walked::default(), &before);
        assert!(told.is_err());
        drop(maker);
        let making = folder.path().join("plans/.making");
        assert!(!making.exists());
    }
    assert_eq!(folder.shards().unwrap(), before);
    assert_eq!(folder.plans().unwrap(), [1]);
}

#[test]
fn two_plans_at_once_are_refused_by_name() {
    let root = tempfile::tempdir().unwrap();
    let folder = CampaignFolder::create(root.path()).unwrap();
    let first = PlanMaker::begin(&folder, PLAN).unwrap();
    let told = PlanMaker::begin(&folder, PLAN).unwrap_err().to_string();
    let own = format!("process {}", process::id());
    assert!(
        told.contains("is being planned") && told.contains(&own),
        "{told}"
    );
    drop(first);
    PlanMaker::begin(&folder, PLAN).unwrap();
}

/// Every cut of a manifest is noticed: a half one is never run.
#[test]
fn a_manifest_that_was_cut_or_changed_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let folder = CampaignFolder::create(root.path()).unwrap();
    let tree: Tree = (0..20_u32)
        .map(|at| (at.to_string().into_bytes(), (1, 0)))
        .collect();
    make(&folder, &tree).unwrap();
    let row = folder.shards().unwrap().remove(0);
    let file = folder.manifest(&row.shard);
    let whole = fs::read(&file).unwrap();
    let run = crate::ShardRun::of(&folder, &row).unwrap();
    assert_eq!(run.planned().unwrap().len(), 20);
    for end in 0..whole.len() {
        fs::write(&file, &whole[..end]).unwrap();
        assert!(run.planned().is_err(), "cut to {end} bytes");
    }
    let mut random = Pcg64Mcg::new(5);
    for _ in 0..500 {
        let mut other = whole.clone();
        let at = random.next_u32() as usize % other.len();
        other[at] ^= 1 << (random.next_u32() % 8);
        fs::write(&file, &other).unwrap();
        assert!(run.planned().is_err(), "byte {at}");
    }
}
