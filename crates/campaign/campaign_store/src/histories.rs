//! Random histories of a campaign: plans after changes, runs that are killed, files of the folder
//! that are damaged. It never counts as done while a planned name has not arrived, and an
//! undisturbed run makes it so, unless what was planned is lost.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use copy_protocol::ProblemKind;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::make::tests::{Tree, entries, make};
use crate::{
    CampaignFolder, Done, Entry, Failed, Fate, ShardResult, ShardRow, ShardRun, StoreError,
};

struct History {
    folder: CampaignFolder,
    random: Pcg64Mcg,
    source: Tree,
    arrived: BTreeMap<Vec<u8>, Entry>,
}

impl History {
    fn draw(&mut self, below: usize) -> usize {
        self.random.next_u32() as usize % below
    }

    fn plan(&mut self) {
        for _ in 0..self.draw(90) + 1 {
            let name = format!("f{:02}", self.draw(60)).into_bytes();
            match self.draw(4) {
                0 => drop(self.source.remove(&name)),
                _ => drop(self.source.insert(name, (self.random.next_u64() % 9, 1))),
            }
        }
        make(&self.folder, &self.source).unwrap();
    }

    /// Runs what is left, each name with this chance of a kill in a thousand.
    fn run(&mut self, kills: usize) -> Result<(), StoreError> {
        for row in self.folder.shards()? {
            self.run_shard(&row, kills)?;
        }
        Ok(())
    }

    fn run_shard(&mut self, row: &ShardRow, kills: usize) -> Result<(), StoreError> {
        let run = ShardRun::of(&self.folder, row)?;
        let _lock = run.lock()?;
        match run.result()? {
            Some(result) if result.failed == 0 => return Ok(()),
            Some(_) => run.reopen()?,
            None => {}
        }
        let (noted, superseded) = (run.noted()?, run.superseded()?);
        let mut notes = run.notes()?;
        let (mut done, mut failed, mut over) = (BTreeMap::<Vec<u8>, Done>::new(), Vec::new(), 0);
        for entry in run.planned()? {
            if self.draw(1000) < kills {
                return notes.flush();
            }
            let present = self.source.get(&entry.name);
            match noted.get(&entry.name) {
                Some(there) if there.is_like(&entry) => {}
                _ if superseded.contains(&entry.name) => {
                    over += 1;
                    continue;
                }
                _ if present != Some(&(entry.bytes(), entry.modified_nanoseconds)) => {
                    failed.push(changed(entry));
                    continue;
                }
                _ => {
                    self.arrived.insert(entry.name.clone(), entry.clone());
                    notes.push(&entry)?;
                }
            }
            done.insert(entry.name.clone(), entry);
        }
        notes.flush()?;
        run.finish(&done, &failed, |done_digest| ShardResult {
            shard: row.shard.clone(),
            link: row.link.clone(),
            done: done.len() as u64,
            superseded: over,
            failed: failed.len() as u64,
            causes: Vec::new(),
            bytes: 0,
            sent: 0,
            sent_again: 0,
            began: 0,
            ended: 0,
            rounds: 1,
            done_digest,
        })?;
        Ok(())
    }

    /// Cuts, empties, zeroes or removes one file below `folder`.
    fn damage(&mut self, folder: &Path) -> Option<PathBuf> {
        let files = files(folder);
        let file = files.get(self.draw(files.len().max(1)))?;
        let bytes = fs::read(file).unwrap();
        let cut = self.draw(bytes.len() + 1);
        let end_of_line = bytes[..cut].iter().rposition(|byte| *byte == b'\n');
        match self.draw(4) {
            0 => fs::write(file, &bytes[..cut]).unwrap(),
            1 => fs::write(file, &bytes[..end_of_line.map_or(0, |at| at + 1)]).unwrap(),
            2 => fs::write(file, vec![0; bytes.len()]).unwrap(),
            _ => fs::remove_file(file).unwrap(),
        }
        Some(file.clone())
    }

    fn is_done(&self) -> Result<bool, StoreError> {
        let rows = self.folder.shards()?;
        for row in &rows {
            let result = ShardRun::of(&self.folder, row)?.result()?;
            if result.is_none_or(|result| result.failed > 0) {
                return Ok(false);
            }
        }
        Ok(!rows.is_empty())
    }

    fn has_all_arrived(&self) -> bool {
        let mut planned = entries(&self.source).map(Result::unwrap);
        planned.all(|entry| {
            let there = self.arrived.get(&entry.name);
            there.is_some_and(|there| there.is_like(&entry))
        })
    }
}

fn changed(entry: Entry) -> Failed {
    let fate = Fate {
        cause: ProblemKind::SourceChanged,
        what: "another file".to_owned(),
        hint: None,
    };
    Failed { entry, fate }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

#[test]
fn a_campaign_is_done_only_when_all_that_was_planned_has_arrived() {
    let (mut done, mut healed, mut lost) = (0, 0, 0);
    for seed in 0..60 {
        let root = tempfile::tempdir().unwrap();
        let mut history = History {
            folder: CampaignFolder::create(root.path()).unwrap(),
            random: Pcg64Mcg::new(seed),
            source: Tree::new(),
            arrived: BTreeMap::new(),
        };
        let mut log = Vec::new();
        history.plan();
        for _ in 0..12 {
            match history.draw(4) {
                0 => {
                    history.plan();
                    log.push("plan".to_owned());
                }
                1 => {
                    let hurt = history.damage(&root.path().join("runs"));
                    log.push(format!("damage {hurt:?}"));
                }
                _ => {
                    history.run(30).unwrap();
                    log.push("run".to_owned());
                }
            }
            let is_done = history.is_done().unwrap();
            done += u32::from(is_done);
            let holds = !is_done || history.has_all_arrived();
            assert!(holds, "seed {seed}: done, and is not: {log:#?}");
        }
        if seed % 2 == 0 {
            history.run(0).unwrap();
            let is_done = history.is_done().unwrap() && history.has_all_arrived();
            assert!(is_done, "seed {seed}: not done after a whole run: {log:#?}");
            healed += 1;
            continue;
        }
        let hurt = history.damage(&root.path().join("plans"));
        let ran = history.run(0);
        let is_done = history.is_done().unwrap_or(false);
        let holds = !is_done || history.has_all_arrived();
        assert!(holds, "seed {seed}: done, {hurt:?} is lost: {log:#?}");
        lost += u32::from(ran.is_err());
    }
    println!("done {done} times, {healed} healed, {lost} refused");
    assert!(
        done > 20 && lost > 5,
        "the histories say little: {done} {lost}"
    );
}
