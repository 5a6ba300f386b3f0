//! What a folder of another host has, as its server lists it.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use campaign_plan::Group;
use campaign_store::{Counted, Entry, Kind, LeftOut, Reason, Sorter, StoreError, Walked};
use copy_protocol::{Token, is_reserved};
use files::{Rules, shown};

use super::plan_options::PlanOptions;
use trunkline::remote::{Entry as Listed, FileKind, Remote, RemoteOptions};
use trunkline::{Cancel, Error};

/// Lists the folder of `url`, with all that is below.
///
/// * `scratch`: where runs of sorted names are written.
///
/// # Errors
/// When the server does not answer, the folder cannot be listed to its end, or runs cannot be
/// written.
pub(super) fn list(
    (url, token): (&str, Token),
    group: &Group,
    (rules, scratch): (&Rules, &std::path::Path),
    options: &PlanOptions,
    counted: &Counted,
    cancel: &Cancel,
) -> Result<Walked, Error> {
    if group.folds_names {
        return Err(Error::wrong_request(
            format!(
                "group `{}` folds names, and its files are on another host",
                group.name
            ),
            "plan it at that host, or leave out `folds_names`",
        ));
    }
    let remote = Remote::open(url, token, RemoteOptions::default(), cancel)?;
    let mut listing = Listing {
        rules,
        counted,
        sorter: Sorter::new(scratch, "far", options.memory),
        walked: Walked::default(),
        excluded: BTreeSet::new(),
        empty: BTreeSet::new(),
    };
    let mut take = |batch: Vec<Listed>| {
        let taken = batch.into_iter().try_for_each(|entry| listing.take(entry));
        Ok(taken?)
    };
    remote.inventory("", &mut take, cancel)?;
    Ok(listing.finish()?)
}

/// Names as they come: folders before what is in them.
struct Listing<'a> {
    rules: &'a Rules,
    counted: &'a Counted,
    sorter: Sorter,
    walked: Walked,
    /// Folders that a rule leaves out, with all below.
    excluded: BTreeSet<Vec<u8>>,
    /// Folders of which nothing has come yet.
    empty: BTreeSet<Vec<u8>>,
}

impl Listing<'_> {
    fn take(&mut self, listed: Listed) -> Result<(), StoreError> {
        let Listed { name, info } = listed;
        let is_folder = info.kind == FileKind::Folder && info.link.is_none();
        if self.is_below_excluded(&name) {
            return Ok(());
        }
        if self.rules.leave_out(&name, is_folder) {
            if is_folder {
                self.excluded.insert(name);
            }
            return Ok(());
        }
        let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if is_reserved(last) {
            let what = "it is a temporary file of a copy";
            self.leave_out(&name, Reason::Temporary, what);
            return Ok(());
        }
        let kind = match (info.link, info.kind) {
            (Some(target), _) => Kind::Link(target),
            (None, FileKind::File) => Kind::File(info.identity.size),
            (None, FileKind::Folder) => Kind::Folder,
            (None, FileKind::Link | FileKind::Special) => {
                let what = "a pipe, a socket or a device has no content";
                self.leave_out(&name, Reason::NoContent, what);
                return Ok(());
            }
        };
        self.counted.names.fetch_add(1, Ordering::Relaxed);
        if let Kind::File(bytes) = kind {
            self.counted.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        if let Some(folder) = folder_of(&name) {
            self.empty.remove(folder);
        }
        match kind {
            Kind::Folder => {
                self.empty.insert(name);
                Ok(())
            }
            kind => self.sorter.push(&Entry {
                name,
                kind,
                modified_nanoseconds: info.identity.modified_nanoseconds,
                digest: None,
                part: None,
            }),
        }
    }

    fn is_below_excluded(&self, name: &[u8]) -> bool {
        let mut folder = folder_of(name);
        while let Some(above) = folder.filter(|_| !self.excluded.is_empty()) {
            if self.excluded.contains(above) {
                return true;
            }
            folder = folder_of(above);
        }
        false
    }

    fn leave_out(&mut self, name: &[u8], reason: Reason, what: &str) {
        self.walked.left_out.push(LeftOut {
            group: String::new(),
            name: shown(name),
            reason,
            what: what.to_owned(),
        });
    }

    fn finish(mut self) -> Result<Walked, StoreError> {
        for name in std::mem::take(&mut self.empty) {
            self.sorter.push(&Entry {
                name,
                kind: Kind::Folder,
                modified_nanoseconds: 0,
                digest: None,
                part: None,
            })?;
        }
        self.walked.runs = self.sorter.finish()?;
        self.walked
            .left_out
            .sort_by(|one, other| one.name.cmp(&other.name));
        Ok(self.walked)
    }
}

/// The folder that a name is in.
fn folder_of(name: &[u8]) -> Option<&[u8]> {
    let end = name.iter().rposition(|byte| *byte == b'/')?;
    name.get(..end)
}
