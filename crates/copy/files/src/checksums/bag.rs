//! BagIt bags, by RFC 8493: a folder `data` with its manifests beside it.
//!
//! Checked: `bagit.txt`; that each payload file is in each manifest (in any, before version 1.0)
//! and each manifest's file is there; what is in payload and tag files; `Payload-Oxum` of
//! `bag-info.txt`. Files of `fetch.txt` that are not there are told as such, and not fetched. No
//! name and no link leads out of the bag.
//!
//! Left out: tag files in other encodings than UTF-8, and names that differ in their Unicode form
//! alone, which are taken for two.

mod manifest;
mod payload;
mod tags;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use copy_protocol::{Problem, ProblemKind};

use self::manifest::{Lined, Manifest, Names, unread, unreadable};
use self::payload::Present;
use super::Algorithm;
use super::check::{Checking, Item, Tally, Trouble, TroubleKind};
use crate::problems::{problem, shown, with_hint};
use crate::root::Root;

pub use self::tags::DECLARATION;

/// A bag that was looked at, with all that is to be read of it.
#[derive(Debug)]
pub struct Bag {
    /// Where its files are.
    pub checking: Checking,
    /// What there is to check, and what is wrong already.
    pub tallies: Vec<Tally>,
    /// Payload and tag files that are there and will be read.
    pub files: u64,
    /// Their bytes, of the payload alone.
    pub bytes: u64,
}

/// Reasons that an error names.
const REASONS_MAX: usize = 3;

/// What is found while a bag is looked at.
struct Look<'a> {
    root: &'a Root,
    is_old: bool,
    stop: &'a AtomicBool,
    tallies: Vec<Tally>,
}

/// Looks at the bag in `folder`, and reads what is small.
///
/// * `stop`: ends it early; the bag then lacks names.
///
/// # Errors
/// When it is no bag, or one whose manifests cannot be used at all.
pub fn open(folder: &Path, stop: &AtomicBool) -> Result<Bag, Problem> {
    let root = beneath(folder)?;
    let is_old = tags::declared(&root, folder)?;
    let mut look = Look {
        root: &root,
        is_old,
        stop,
        tallies: Vec::new(),
    };
    let (manifests, tag_manifests) = manifest::found(&root, folder)?;
    let mut listed = Names::new();
    let whole = look.read_manifests(&manifests, &mut listed, true);
    if whole.is_empty() && listed.is_empty() {
        return Err(without_manifest(folder, &look.tallies));
    }
    let mut tag_files = Names::new();
    look.read_manifests(&tag_manifests, &mut tag_files, false);
    let (to_fetch, is_fetch_whole) = look.fetches(&listed);
    let walked = payload::walk(&root, stop, &mut look.tallies);
    let present = &walked.present;
    // A file that no manifest lists may be in one that was not read; before version 1.0, in any.
    let is_all_read = whole.len() == manifests.len();
    if is_all_read || (!is_old && !whole.is_empty()) {
        look.find_not_listed(&listed, present);
    }
    if !is_old {
        look.compare(&whole, &listed);
    }
    let is_here = to_fetch.keys().all(|name| present.contains_key(name));
    if walked.is_whole && is_fetch_whole && is_here {
        look.check_sum_of_sizes(present);
    }
    let files = (present.len() + tag_files.len()) as u64;
    let bytes = present.values().sum();
    look.ask_for(tag_files, &BTreeMap::new());
    look.ask_for(listed, &to_fetch);
    let tallies = look.tallies;
    Ok(Bag {
        checking: Checking::beneath(root),
        tallies,
        files,
        bytes,
    })
}

impl Look<'_> {
    fn trouble(&mut self, kind: TroubleKind, name: &[u8], what: impl Into<String>) {
        self.tallies.push(Tally::Trouble(Trouble {
            kind,
            name: shown(name),
            what: what.into(),
            line: None,
        }));
    }

    /// Reads the manifests whose algorithm is known, and gives those that were read to the end.
    fn read_manifests<'f>(
        &mut self,
        files: &'f [String],
        names: &mut Names,
        is_payload: bool,
    ) -> Vec<&'f str> {
        let mut whole = Vec::new();
        for file in files {
            let Some(algorithm) = manifest::algorithm(file) else {
                let what = "its checksum is not known here, and was not checked";
                self.trouble(TroubleKind::Improper, file.as_bytes(), what);
                continue;
            };
            let manifest = Manifest {
                file,
                algorithm,
                is_old: self.is_old,
                is_payload,
            };
            match manifest.read(self.root, names, self.stop) {
                Ok(lined) => {
                    if lined.is_whole {
                        whole.push(file.as_str());
                    }
                    self.tell(lined.troubles);
                }
                Err(error) => self.tell(vec![unreadable(file, &error)]),
            }
        }
        whole
    }

    fn tell(&mut self, troubles: Vec<Trouble>) {
        self.tallies
            .extend(troubles.into_iter().map(Tally::Trouble));
    }

    /// The files of `fetch.txt` and where they are, and whether it was read to its end.
    fn fetches(&mut self, listed: &Names) -> (BTreeMap<Vec<u8>, String>, bool) {
        let (to_fetch, lined) = tags::to_fetch(self.root, self.is_old, self.stop);
        let Lined { troubles, is_whole } = lined;
        self.tell(troubles);
        for name in to_fetch.keys().filter(|name| !listed.contains_key(*name)) {
            let what = "it is in fetch.txt, and in no manifest";
            self.trouble(TroubleKind::Bag, name, what);
        }
        (to_fetch, is_whole)
    }

    fn find_not_listed(&mut self, listed: &Names, present: &Present) {
        for name in present.keys().filter(|name| !listed.contains_key(*name)) {
            self.trouble(TroubleKind::NotListed, name, "no manifest lists it");
        }
    }

    /// Every file has to be in every manifest; which holds for those that were read to the end.
    fn compare(&mut self, whole: &[&str], listed: &Names) {
        for (name, sums) in listed {
            let has = |manifest: &str| sums.iter().any(|sum| &*sum.list == manifest);
            let lack: Vec<&str> = whole
                .iter()
                .copied()
                .filter(|manifest| !has(manifest))
                .collect();
            if !lack.is_empty() {
                let what = format!("it is in another manifest, and not in {}", lack.join(", "));
                self.trouble(TroubleKind::NotListed, name, what);
            }
        }
    }

    fn check_sum_of_sizes(&mut self, present: &Present) {
        let said = match tags::sum_of_sizes(self.root) {
            Ok(Some(said)) => said,
            Ok(None) => return,
            Err(error) => {
                let what = format!("Payload-Oxum was not checked: {error}");
                return self.trouble(TroubleKind::Unreadable, b"bag-info.txt", what);
            }
        };
        let bytes: u64 = present.values().sum();
        let found = format!("{bytes}.{}", present.len());
        if said != found {
            let what = format!(
                "Payload-Oxum is {}, and the payload has {found}",
                shown(said.as_bytes())
            );
            self.trouble(TroubleKind::Bag, b"bag-info.txt", what);
        }
    }

    fn ask_for(&mut self, names: Names, to_fetch: &BTreeMap<Vec<u8>, String>) {
        for (name, sums) in names {
            self.tallies.push(Tally::Item(Item {
                fetched_from: to_fetch.get(&name).cloned(),
                name,
                sums,
            }));
        }
    }
}

/// The folder, for names that do not lead out of it.
fn beneath(folder: &Path) -> Result<Root, Problem> {
    if let Err(error) = fs::read_dir(folder) {
        return Err(unread("read", folder.display(), &error));
    }
    Root::beneath(folder).map_err(|problem| {
        let hint = "names in a bag are kept inside it with openat2: that needs Linux 5.6 or later, \
            and a container that allows openat2";
        with_hint(problem, hint)
    })
}

/// * `tallies`: what is wrong with the manifests that there are.
fn without_manifest(folder: &Path, tallies: &[Tally]) -> Problem {
    let troubles: Vec<&Trouble> = tallies
        .iter()
        .filter_map(|tally| match tally {
            Tally::Trouble(trouble) => Some(trouble),
            Tally::Item(_) => None,
        })
        .collect();
    let mut what = format!(
        "the bag `{}` has no payload manifest that can be used",
        folder.display()
    );
    for (number, trouble) in troubles.iter().take(REASONS_MAX).enumerate() {
        what += if number == 0 { ": " } else { "; " };
        what += &format!("{}: {}", trouble.name, trouble.what);
    }
    if troubles.len() > REASONS_MAX {
        what += &format!("; and {} more", troubles.len() - REASONS_MAX);
    }
    let is_unreadable = |trouble: &&Trouble| trouble.kind == TroubleKind::Unreadable;
    let hint = match troubles.iter().any(is_unreadable) {
        true => {
            "make its manifests readable for you, or verify as a user who may read them".to_owned()
        }
        false => {
            let names: Vec<&str> = Algorithm::ALL.iter().map(|one| one.name()).collect();
            format!(
                "it needs a file `manifest-ALGORITHM.txt` of one of: {}",
                names.join(", ")
            )
        }
    };
    with_hint(problem(ProblemKind::Request, what), hint)
}

#[cfg(test)]
mod tests;
