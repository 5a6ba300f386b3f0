//! Cuts the sorted entries of a group into manifests.

use std::fs;
use std::path::{Path, PathBuf};

use campaign_plan::{CutBounds, Cutter, GroupName, LinkName};

use copy_protocol::FilePart;

use crate::line::{Line, ManifestWriter};
use crate::{Entry, ShardId, ShardRow, StoreError};

/// Most parts of one file; of a larger one they are longer.
const PARTS_MAX: u64 = 1 << 16;

/// The shards of one group.
pub(crate) struct ShardWriter {
    folder: PathBuf,
    plan: u32,
    group: GroupName,
    link: LinkName,
    bounds: CutBounds,
    cutter: Cutter,
    open: Option<(ManifestWriter, ShardId)>,
    names: u64,
    bytes: u64,
    pub rows: Vec<ShardRow>,
}

impl ShardWriter {
    pub fn new(
        plan_folder: &Path,
        plan: u32,
        group: &GroupName,
        link: &LinkName,
        bounds: CutBounds,
    ) -> Self {
        ShardWriter {
            folder: plan_folder.join(group.as_str()),
            plan,
            group: group.clone(),
            link: link.clone(),
            bounds,
            cutter: Cutter::new(bounds),
            open: None,
            names: 0,
            bytes: 0,
            rows: Vec::new(),
        }
    }

    /// Adds an entry, or a shard for each of its parts.
    pub fn push(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let Some(length) = self.part_length(entry.bytes()) else {
            return self.push_one(entry);
        };
        for index in 0..u32::try_from(entry.bytes().div_ceil(length)).unwrap_or(u32::MAX) {
            self.close()?;
            self.cutter = Cutter::new(self.bounds);
            let part = Some(FilePart { index, length });
            self.push_one(&Entry {
                part,
                ..entry.clone()
            })?;
        }
        self.cutter = Cutter::new(self.bounds);
        self.close()
    }

    /// Bytes of each part of a file; `None` where it is not cut.
    fn part_length(&self, bytes: u64) -> Option<u64> {
        let mut length = self.bounds.part?.get();
        while bytes.div_ceil(length) > PARTS_MAX {
            length *= 2;
        }
        (bytes > length).then_some(length)
    }

    fn push_one(&mut self, entry: &Entry) -> Result<(), StoreError> {
        if self.cutter.begins_with(&entry.name, entry.bytes()) {
            self.close()?;
        }
        let (writer, _) = match &mut self.open {
            Some(open) => open,
            closed => closed.insert(begin(
                &self.folder,
                self.plan,
                &self.group,
                self.rows.len(),
            )?),
        };
        writer.push(&Line::of(entry, None))?;
        self.names += 1;
        self.bytes = self.bytes.saturating_add(entry.bytes());
        Ok(())
    }

    pub fn finish(mut self) -> Result<Vec<ShardRow>, StoreError> {
        self.close()?;
        Ok(self.rows)
    }

    fn close(&mut self) -> Result<(), StoreError> {
        let Some((writer, shard)) = self.open.take() else {
            return Ok(());
        };
        let (digest, _) = writer.finish()?;
        self.rows.push(ShardRow {
            shard,
            link: self.link.clone(),
            names: std::mem::take(&mut self.names),
            bytes: std::mem::take(&mut self.bytes),
            digest,
        });
        Ok(())
    }
}

fn begin(
    folder: &Path,
    plan: u32,
    group: &GroupName,
    before: usize,
) -> Result<(ManifestWriter, ShardId), StoreError> {
    fs::create_dir_all(folder).map_err(StoreError::file("make", folder))?;
    let number = u32::try_from(before + 1).unwrap_or(u32::MAX);
    let group = group.clone();
    let shard = ShardId {
        plan,
        group,
        number,
    };
    let file = folder.join(format!("{number:05}.ndjson"));
    Ok((ManifestWriter::create(&file, &shard)?, shard))
}
