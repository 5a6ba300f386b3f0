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
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use copy_protocol::{Problem, ProblemKind};

use self::manifest::Names;
use self::payload::Present;
use super::Algorithm;
use super::check::{Checking, Item, Sum, Tally, Trouble, TroubleKind};
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

/// What is found while a bag is looked at.
struct Look<'a> {
    root: &'a Root,
    is_old: bool,
    tallies: Vec<Tally>,
}

/// Looks at the bag in `folder`, and reads what is small.
///
/// * `stop`: ends it early; the bag then lacks names.
///
/// # Errors
/// When it is no bag, or one whose manifests cannot be used at all.
pub fn open(folder: &Path, stop: &AtomicBool) -> Result<Bag, Problem> {
    let root = Root::beneath(folder)?;
    let is_old = tags::declared(&root, folder)?;
    let mut look = Look {
        root: &root,
        is_old,
        tallies: Vec::new(),
    };
    let (manifests, tag_manifests) = manifest::found(&root, folder)?;
    let mut listed = Names::new();
    let manifests = look.read_manifests(&manifests, &mut listed, true);
    if manifests.is_empty() {
        return Err(without_manifest(folder));
    }
    let mut tag_files = Names::new();
    look.read_manifests(&tag_manifests, &mut tag_files, false);
    let to_fetch = look.to_fetch(&listed);
    let present = payload::walk(&root, stop, &mut look.tallies);
    look.compare(&manifests, &listed, &present);
    let is_whole = to_fetch.keys().all(|name| present.contains_key(name));
    if is_whole {
        look.check_sum_of_sizes(&present);
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

    /// Reads the manifests whose algorithm is known, and gives their names.
    fn read_manifests(
        &mut self,
        files: &[String],
        names: &mut Names,
        is_payload: bool,
    ) -> Vec<Arc<str>> {
        let mut read = Vec::new();
        for file in files {
            let Some(algorithm) = manifest::algorithm(file) else {
                let what = "its checksum is not known here, and was not checked";
                self.trouble(TroubleKind::Improper, file.as_bytes(), what);
                continue;
            };
            let list: Arc<str> = Arc::from(file.as_str());
            let sum = |digest| Sum {
                any_of: vec![algorithm],
                digest,
                list: Arc::clone(&list),
            };
            let is_old = self.is_old;
            match manifest::read(self.root, file, is_old, is_payload, names, &sum) {
                Ok(troubles) => self
                    .tallies
                    .extend(troubles.into_iter().map(Tally::Trouble)),
                Err(error) => {
                    self.trouble(TroubleKind::Unreadable, file.as_bytes(), error.to_string());
                    continue;
                }
            }
            read.push(list);
        }
        read
    }

    /// The files of `fetch.txt` and where they are.
    fn to_fetch(&mut self, listed: &Names) -> BTreeMap<Vec<u8>, String> {
        let (to_fetch, troubles) = tags::to_fetch(self.root, self.is_old);
        self.tallies
            .extend(troubles.into_iter().map(Tally::Trouble));
        for name in to_fetch.keys().filter(|name| !listed.contains_key(*name)) {
            let what = "it is in fetch.txt, and in no manifest";
            self.trouble(TroubleKind::Bag, name, what);
        }
        to_fetch
    }

    /// Every payload file has to be in every manifest, in old bags in any.
    fn compare(&mut self, manifests: &[Arc<str>], listed: &Names, present: &Present) {
        for name in present.keys().filter(|name| !listed.contains_key(*name)) {
            self.trouble(TroubleKind::NotListed, name, "no manifest lists it");
        }
        if self.is_old || manifests.len() < 2 {
            return;
        }
        for (name, one) in listed {
            let has = |manifest: &&Arc<str>| one.sums.iter().any(|sum| sum.list == **manifest);
            for manifest in manifests.iter().filter(|manifest| !has(manifest)) {
                let what = format!("{manifest} does not list it, and another manifest does");
                self.trouble(TroubleKind::NotListed, name, what);
            }
        }
    }

    fn check_sum_of_sizes(&mut self, present: &Present) {
        let Some(said) = tags::sum_of_sizes(self.root) else {
            return;
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
        for (name, listed) in names {
            self.tallies.push(Tally::Item(Item {
                fetched_from: to_fetch.get(&name).cloned(),
                name,
                line: Some(listed.line),
                sums: listed.sums,
            }));
        }
    }
}

fn without_manifest(folder: &Path) -> Problem {
    let what = format!(
        "the bag `{}` has no payload manifest that can be used",
        folder.display()
    );
    let names: Vec<&str> = Algorithm::ALL.iter().map(|one| one.name()).collect();
    let hint = format!(
        "it needs a file `manifest-ALGORITHM.txt` of one of: {}",
        names.join(", ")
    );
    with_hint(problem(ProblemKind::Request, what), hint)
}
