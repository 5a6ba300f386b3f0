//! The tag files of a bag: which there are, and what is in them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use campaign_plan::{Group, Spot};
use campaign_store::{Summed, replace};
use files::checksums::{Algorithm, digests};

use super::summing::hex;
use super::unwritable;
use trunkline::Error;

const DECLARATION: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

/// What is in a bag.
#[derive(Default)]
pub(super) struct Payload {
    /// Each file: its bytes, and its checksums in the order in which the plan names them.
    pub files: BTreeMap<Vec<u8>, (u64, Vec<String>)>,
    /// When the last shard ended, in seconds since 1970.
    pub ended: i64,
}

impl Payload {
    /// * `asked`: checksums of the bag. The file has them all.
    pub fn add(&mut self, summed: Summed, asked: &[String]) {
        let Summed { entry, mut sums } = summed;
        let sums = asked.iter().filter_map(|name| sums.remove(name));
        let file = (entry.bytes(), sums.collect());
        self.files.insert(entry.name, file);
    }
}

/// A bag whose manifest lacks files is none, so that none may be left from an earlier plan.
pub(super) fn check_kept(tags: &Path, group: &Group, spot: &Spot) -> Result<(), Error> {
    for algorithm in Algorithm::ALL {
        let name = format!("manifest-{algorithm}.txt");
        let is_asked = group.bag.iter().any(|one| one == algorithm.name());
        if !is_asked && tags.join(&name).exists() {
            return Err(Error::wrong_request(
                format!("the bag {spot} has {name}, and `bag` of the plan is without {algorithm}"),
                format!(
                    "write `{algorithm}` in `bag` of group `{}` again",
                    group.name
                ),
            ));
        }
    }
    Ok(())
}

/// Writes all tag files and returns their names, that of the last tag manifest last.
pub(super) fn write_tags(
    tags: &Path,
    group: &Group,
    payload: &Payload,
) -> Result<Vec<String>, Error> {
    let bytes: u64 = payload.files.values().map(|(bytes, _)| bytes).sum();
    let day = jiff::Timestamp::from_second(payload.ended).unwrap_or_default();
    let info = format!(
        "Bag-Software-Agent: trunkline {}\nBagging-Date: {}\nPayload-Oxum: {bytes}.{}\n",
        env!("CARGO_PKG_VERSION"),
        day.strftime("%F"),
        payload.files.len()
    );
    write_tag(tags, "bagit.txt", DECLARATION.as_bytes())?;
    write_tag(tags, "bag-info.txt", info.as_bytes())?;
    let mut names = vec!["bagit.txt".to_owned(), "bag-info.txt".to_owned()];
    for (at, algorithm) in group.bag.iter().enumerate() {
        let name = format!("manifest-{algorithm}.txt");
        write_tag(tags, &name, &manifest(payload, at))?;
        names.push(name);
    }
    let listed = names.clone();
    for name in &group.bag {
        let Some(algorithm) = Algorithm::named(name) else {
            continue;
        };
        let text = tag_manifest(tags, &listed, algorithm)?;
        let name = format!("tagmanifest-{name}.txt");
        write_tag(tags, &name, text.as_bytes())?;
        names.push(name);
    }
    Ok(names)
}

/// * `at`: which of the checksums.
fn manifest(payload: &Payload, at: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, (_, sums)) in &payload.files {
        if let Some(sum) = sums.get(at) {
            text.extend_from_slice(sum.as_bytes());
            text.extend_from_slice(b"  data/");
            text.extend(encoded(name));
            text.push(b'\n');
        }
    }
    text
}

/// What would end a line, and the sign that stands for it (RFC 8493, section 2.1.3).
fn encoded(name: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(name.len());
    for byte in name {
        match byte {
            b'%' => encoded.extend_from_slice(b"%25"),
            b'\n' => encoded.extend_from_slice(b"%0A"),
            b'\r' => encoded.extend_from_slice(b"%0D"),
            byte => encoded.push(*byte),
        }
    }
    encoded
}

fn tag_manifest(tags: &Path, names: &[String], algorithm: Algorithm) -> Result<String, Error> {
    let mut text = String::new();
    for name in names {
        let file = tags.join(name);
        let found = digests(file.as_os_str().as_bytes(), &[algorithm], &|| false);
        let found = found.map_err(|error| Error::unreadable(&file, error))?;
        let asked = found.map(|found| found.asked).unwrap_or_default();
        let sum: String = asked.iter().map(|sum| hex(sum)).collect();
        text += &format!("{sum}  {name}\n");
    }
    Ok(text)
}

/// All may read what the tag files say; they are copied with their mode. Each appears whole or not
/// at all, and a link in its place is replaced.
fn write_tag(folder: &Path, name: &str, text: &[u8]) -> Result<(), Error> {
    let file = folder.join(name);
    let is_same = fs::symlink_metadata(&file).is_ok_and(|found| found.is_file())
        && fs::read(&file).is_ok_and(|before| before == text);
    if !is_same {
        replace(&file, text)?;
    }
    // A kill may have come before the mode was set.
    let found = fs::metadata(&file).map_err(|error| unwritable(&file, error))?;
    if found.permissions().mode() & 0o777 == 0o644 {
        return Ok(());
    }
    let mode = fs::Permissions::from_mode(0o644);
    fs::set_permissions(&file, mode).map_err(|error| unwritable(&file, error))
}

/// Writes the tag files to a folder of this machine.
pub(super) fn put_here(tags: &Path, names: &[String], bag: &Path) -> Result<(), Error> {
    for name in names {
        let file = tags.join(name);
        let text = fs::read(&file).map_err(|error| Error::unreadable(&file, error))?;
        write_tag(bag, name, &text)?;
    }
    Ok(())
}
