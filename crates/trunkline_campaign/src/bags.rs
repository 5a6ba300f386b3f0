//! The tag files of groups that are BagIt bags (RFC 8493), once all of the payload is there.
//!
//! They are made in the campaign's folder from the checksums that the shards noted, and copied to
//! the folder above the payload. All hosts make the same bytes of them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use campaign_plan::{Campaign as Plan, Group, Spot};
use campaign_store::{Entry, Kind, ShardRow, ShardRun, Summed, replace};
use draw::words::count;
use files::checksums::{Algorithm, Tally, bag, digests};
use files::shown;
use transfer::CopyControl;

use super::places::{self, Ends, Here};
use super::run::RunOptions;
use super::shard_copy::request;
use super::summing::{SumReader, hex};
use super::watcher::{now, quiet};
use super::{Campaign, GroupName, unwritable};
use trunkline::copy::Filter;
use trunkline::{Cancel, Error, Fault};

const DECLARATION: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

/// A bag of which all is at the destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bag {
    /// The group that is its payload.
    pub group: GroupName,
    /// Its folder, as the plan names places.
    pub folder: String,
    /// Files of the payload.
    pub files: u64,
}

/// What is in a bag.
#[derive(Default)]
struct Payload {
    /// Each file: its bytes and its checksums.
    files: BTreeMap<Vec<u8>, (u64, BTreeMap<String, String>)>,
    /// When the last shard ended, in seconds since 1970.
    ended: i64,
}

impl Campaign {
    /// Completes the bags of all groups whose shards are done: [`run_all`](Campaign::run_all) does
    /// at its end. One that is as it was written last is left alone.
    ///
    /// # Errors
    /// When files have no checksums and cannot be read here, or the tag files cannot be written.
    pub fn finish_bags(&self, options: &RunOptions, cancel: &Cancel) -> Result<Vec<Bag>, Error> {
        let plan = self.current()?;
        let mut bags = Vec::new();
        for group in plan.groups() {
            let Some(spot) = group.bag_spot() else {
                continue;
            };
            if !places::is_run_here(group, options.host.as_deref()) {
                continue;
            }
            let Some(payload) = self.payload(&plan, group, options, cancel)? else {
                continue;
            };
            if places::is_here(&group.from, options.host.as_deref()) {
                let from = places::local(&plan, &group.from)?;
                check_source(&from, group, &payload)?;
            }
            self.write_bag(&plan, group, &spot, &payload, options, cancel)?;
            bags.push(Bag {
                group: group.name.clone(),
                folder: spot.to_string(),
                files: payload.files.len() as u64,
            });
        }
        Ok(bags)
    }

    /// Shards of the group that went to where it goes now, in the order of their plans.
    fn rows_of(&self, group: &Group) -> Result<Vec<ShardRow>, Error> {
        let mut went_there: BTreeMap<u32, bool> = BTreeMap::new();
        let mut rows = Vec::new();
        for row in self.folder.shards()? {
            if row.shard.group != group.name {
                continue;
            }
            let is_there = match went_there.get(&row.shard.plan) {
                Some(is_there) => *is_there,
                None => self.group(&row)?.to == group.to,
            };
            went_there.insert(row.shard.plan, is_there);
            if is_there {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// `None` while a shard is left or has failures. Nothing is removed at a destination, so that
    /// files which are gone from the source stay in the bag.
    fn payload(
        &self,
        plan: &Plan,
        group: &Group,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<Option<Payload>, Error> {
        let mut payload = Payload::default();
        let rows = self.rows_of(group)?;
        let mut lacking: BTreeMap<Vec<u8>, (&ShardRow, Entry)> = BTreeMap::new();
        for row in &rows {
            let run = ShardRun::of(&self.folder, row)?;
            match run.result()? {
                Some(result) if result.failed == 0 => {
                    payload.ended = payload.ended.max(result.ended);
                }
                _ => return Ok(None),
            }
            let mut sums = run.sums()?;
            for (name, entry) in run.noted()? {
                let Kind::File(bytes) = entry.kind else {
                    continue;
                };
                match sums
                    .remove(&name)
                    .filter(|one| one.serves(&entry, &group.bag))
                {
                    Some(summed) => {
                        lacking.remove(&name);
                        payload.files.insert(name, (bytes, summed.sums));
                    }
                    None => drop(lacking.insert(name, (row, entry))),
                }
            }
        }
        self.read_lacking(plan, group, lacking, &mut payload, options, cancel)?;
        Ok((!rows.is_empty()).then_some(payload))
    }

    /// Files that were copied before the plan asked for a bag, or for one of its checksums.
    fn read_lacking(
        &self,
        plan: &Plan,
        group: &Group,
        lacking: BTreeMap<Vec<u8>, (&ShardRow, Entry)>,
        payload: &mut Payload,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        if lacking.is_empty() {
            return Ok(());
        }
        let ends = places::ends(plan, group, options.host.as_deref(), options.patience)?;
        let Some(reader) = SumReader::of(group, &ends.here)? else {
            return Ok(());
        };
        for (name, (row, entry)) in lacking {
            let Some(Summed { entry, sums }) = reader
                .read(&entry, &|| cancel.is_cancelled())
                .map_err(|fate| {
                    let error = Error::sentence(Fault::Run, fate.what, None);
                    error.with_hint(fate.hint.unwrap_or_default())
                })?
            else {
                return Err(Error::cancelled("ended before the bag was complete"));
            };
            let run = ShardRun::of(&self.folder, row)?;
            let summed = Summed { entry, sums };
            run.sum_notes()?.push(&summed)?;
            let bytes = summed.entry.bytes();
            payload.files.insert(name, (bytes, summed.sums));
        }
        Ok(())
    }

    fn write_bag(
        &self,
        plan: &Plan,
        group: &Group,
        spot: &Spot,
        payload: &Payload,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let folder = self.folder.bag(&group.name)?;
        let tags = folder.join("tags");
        fs::create_dir_all(&tags).map_err(|error| unwritable(&tags, error))?;
        check_kept(&tags, group, spot)?;
        let names = write_tags(&tags, group, payload)?;
        // What the tag files are is in the tag manifest of the first checksum, but for itself.
        let last = names.last().map(|name| tags.join(name));
        let last = last.map_or(Ok(Vec::new()), |last| {
            fs::read(&last).map_err(|error| Error::unreadable(&last, error))
        })?;
        let state = [last.as_slice(), spot.to_string().as_bytes()].concat();
        let written = folder.join("written");
        if fs::read(&written).is_ok_and(|before| before == state) {
            return Ok(());
        }
        match places::is_here(&group.to, options.host.as_deref()) {
            true => put_here(&tags, &names, &places::local(plan, spot)?)?,
            false => send(&tags, &names, plan, group, spot, options, cancel)?,
        }
        Ok(replace(&written, &state)?)
    }
}

/// Where the source is the payload of a bag, its manifests say what was to arrive.
fn check_source(from: &Path, group: &Group, payload: &Payload) -> Result<(), Error> {
    let is_payload = from.file_name().is_some_and(|name| name == "data");
    let source = from.parent().filter(|_| is_payload);
    let Some(source) = source.filter(|source| source.join(bag::DECLARATION).exists()) else {
        return Ok(());
    };
    let opened = bag::open(source, &AtomicBool::new(false)).map_err(|problem| {
        let error = Error::sentence(Fault::Run, problem.what, None);
        let hint = "mend the bag that is copied, or copy it from a folder of another name";
        error.with_hint(problem.hint.unwrap_or_else(|| hint.to_owned()))
    })?;
    let (mut compared, mut wrong) = (false, Vec::new());
    for tally in &opened.tallies {
        let Tally::Item(item) = tally else {
            continue;
        };
        let name = item.name().strip_prefix(b"data/").unwrap_or_default();
        let Some((_, sums)) = payload.files.get(name) else {
            continue;
        };
        for (algorithm, sum) in sums {
            let known = Algorithm::named(algorithm).and_then(|one| item.digest(one));
            compared |= known.is_some();
            if known.is_some_and(|known| hex(known) != *sum) {
                wrong.push(shown(name));
                break;
            }
        }
    }
    let told = match (wrong.first(), compared || payload.files.is_empty()) {
        (None, true) => return Ok(()),
        (None, false) => format!(
            "no manifest of the bag {} that is copied has {}",
            source.display(),
            group.bag.join(" or ")
        ),
        (Some(first), _) => format!(
            "the bag {} that is copied has other content than its manifests say: {}, the first is \
            `{first}`",
            source.display(),
            count(wrong.len() as u64, "file")
        ),
    };
    let hint = match wrong.is_empty() {
        true => "name a checksum of its manifests in `bag`, too, and plan again".to_owned(),
        false => format!("`trunkline verify {}` names them all", source.display()),
    };
    Err(Error::sentence(Fault::Run, told, None).with_hint(hint))
}

/// A bag whose manifest lacks files is none, so that none may be left from an earlier plan.
fn check_kept(tags: &Path, group: &Group, spot: &Spot) -> Result<(), Error> {
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
fn write_tags(tags: &Path, group: &Group, payload: &Payload) -> Result<Vec<String>, Error> {
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
    for algorithm in &group.bag {
        let name = format!("manifest-{algorithm}.txt");
        write_tag(tags, &name, &manifest(payload, algorithm))?;
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

fn manifest(payload: &Payload, algorithm: &str) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, (_, sums)) in &payload.files {
        if let Some(sum) = sums.get(algorithm) {
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

/// All may read what the tag files say; they are copied with their mode.
fn write_tag(tags: &Path, name: &str, text: &[u8]) -> Result<(), Error> {
    let file = tags.join(name);
    if fs::read(&file).is_ok_and(|before| before == text) {
        return Ok(());
    }
    replace(&file, text)?;
    let mode = fs::Permissions::from_mode(0o644);
    fs::set_permissions(&file, mode).map_err(|error| unwritable(&file, error))
}

/// Writes the tag files to a folder of this machine, each whole or not at all.
fn put_here(tags: &Path, names: &[String], bag: &Path) -> Result<(), Error> {
    for name in names {
        let (new, file) = (bag.join(format!(".{name}.new")), bag.join(name));
        // A copy goes through a link that stands there.
        let removed = match fs::remove_file(&new) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        let put = removed
            .and_then(|()| fs::copy(tags.join(name), &new))
            .and_then(|_| fs::rename(&new, &file));
        put.map_err(|error| unwritable(&file, error))?;
    }
    Ok(())
}

/// Sends the tag files to the host of the destination, within the bounds of the group's link.
fn send(
    tags: &Path,
    names: &[String],
    plan: &Plan,
    group: &Group,
    spot: &Spot,
    options: &RunOptions,
    cancel: &Cancel,
) -> Result<(), Error> {
    let Some(link) = plan.links().get(&group.link) else {
        return Err(Error::wrong_request(
            format!("there is no link `{}` in the plan", group.link),
            "the folder was changed by hand; plan again in another folder",
        ));
    };
    if let Some(until) = quiet(link, plan) {
        return Err(Error::unfinished(
            format!("the bag {spot} waits: link `{}` is {until}", group.link),
            "run the same command again after that".to_owned(),
        ));
    }
    let here = Here::Source(tags.to_owned());
    let ends = Ends {
        source: tags.join(""),
        destination: places::far_place(plan, spot)?,
        access: places::access(plan, group, &here, options.patience)?,
        here,
    };
    let entry = |name: &String| Entry {
        name: name.clone().into_bytes(),
        kind: Kind::File(0),
        modified_nanoseconds: 0,
        digest: None,
        part: None,
    };
    let entries: Vec<Entry> = names.iter().map(entry).collect();
    let rate = link.rate_at(now(), plan.offset());
    let request = request(&ends, link, &entries, Filter::Content, rate)?;
    let sent = transfer::copy(&request.spec, &CopyControl::from(cancel), &mut ())?;
    match sent.failed.first() {
        None => Ok(()),
        Some(first) => {
            let what = format!(
                "the tag files of the bag {spot} were not all written: {}: {}",
                first.name, first.what
            );
            let hint = first.hint.clone();
            let hint = hint.unwrap_or_else(|| "run the same command again".to_owned());
            Err(Error::sentence(Fault::Run, what, None).with_hint(hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group() -> Group {
        let text = "[hosts]\ncern = { address = \"c\" }\n[groups.raw]\nfrom = \"/raw\"\n\
            to = \"cern:/july/data\"\nbag = [\"sha256\", \"md5\"]\n";
        let checks = campaign_plan::Checks::none();
        let (plan, _) = Plan::parse(text, "plan.toml", &checks).unwrap();
        plan.group("raw").unwrap().clone()
    }

    /// The reader of bags, which `trunkline verify` has, finds nothing wrong.
    #[test]
    fn a_bag_that_was_written_is_whole() {
        let (root, group) = (tempfile::tempdir().unwrap(), group());
        let (tags, there) = (root.path().join("tags"), root.path().join("bag"));
        fs::create_dir_all(&tags).unwrap();
        fs::create_dir_all(there.join("data/run")).unwrap();
        let mut payload = Payload::default();
        let asked = [Algorithm::Sha256, Algorithm::Md5];
        for name in ["a", "run/100 %25\n\r", "run/\u{fc}"] {
            let file = there.join("data").join(name);
            fs::write(&file, name).unwrap();
            let found = digests(file.as_os_str().as_bytes(), &asked, &|| false);
            let asked = found.unwrap().unwrap().asked;
            let sums = asked.iter().map(|sum| hex(sum));
            let sums = group.bag.iter().cloned().zip(sums).collect();
            let bytes = name.len() as u64;
            payload
                .files
                .insert(name.as_bytes().to_vec(), (bytes, sums));
        }
        let names = write_tags(&tags, &group, &payload).unwrap();
        put_here(&tags, &names, &there).unwrap();
        let bag = bag::open(&there, &AtomicBool::new(false)).unwrap();
        assert_eq!(bag.files, 3 + 4, "payload and tag files");
        for tally in &bag.tallies {
            assert!(matches!(tally, Tally::Item(_)), "{tally:?}");
        }
        // The bag is the source of the next copy.
        let from = there.join("data");
        check_source(&from, &group, &payload).unwrap();
        let (_, sums) = payload.files.get_mut(&b"a"[..]).unwrap();
        sums.insert("md5".to_owned(), "00".to_owned());
        let told = check_source(&from, &group, &payload).unwrap_err().what();
        assert!(
            told.contains("say: 1 file, ") && told.ends_with("`a`"),
            "{told}"
        );
        let mut fewer = group;
        fewer.bag.pop();
        let spot = fewer.bag_spot().unwrap();
        let told = check_kept(&tags, &fewer, &spot).unwrap_err();
        assert!(told.what().contains("manifest-md5.txt"), "{}", told.what());
    }
}
