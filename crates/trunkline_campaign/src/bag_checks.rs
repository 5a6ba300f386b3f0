//! Whether what is to become a bag is what it should be.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use campaign_plan::Group;
use draw::words::count;
use files::checksums::{Algorithm, Tally, bag};
use files::shown;

use super::summing::hex;
use super::tag_files::Payload;
use trunkline::{Error, Fault};

/// Where the source is the payload of a bag, its manifests say what was to arrive.
pub(super) fn check_source(from: &Path, group: &Group, payload: &Payload) -> Result<(), Error> {
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
        let Some(name) = item.name().strip_prefix(b"data/") else {
            continue;
        };
        let Some((_, sums)) = payload.files.get(name) else {
            // The rules of a plan may leave out what they like.
            if group.rules.is_empty() {
                wrong.push(shown(name));
            }
            continue;
        };
        for (algorithm, sum) in group.bag.iter().zip(sums) {
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
            "the bag {} that is copied lacks files or has other content than its manifests say: \
            {}, the first is `{first}`",
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

/// Whether a folder of this machine has the files of the payload, of their sizes, and no others:
/// one that failed or was broken off may be there, and gone from the source since.
pub(super) fn check_payload(data: &Path, payload: &Payload) -> Result<(), Error> {
    let (mut found, mut folders) = (0, vec![data.to_owned()]);
    while let Some(folder) = folders.pop() {
        let unreadable = |error| Error::unreadable(&folder, error);
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let (path, about) = (entry.path(), entry.metadata().map_err(unreadable)?);
            if about.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(data).unwrap_or(&path);
            match payload.files.get(name.as_os_str().as_bytes()) {
                Some((bytes, _)) if about.is_file() && about.len() == *bytes => found += 1,
                _ => {
                    let what = "is no file of the bag, or has another size than what was copied";
                    let told = format!("{} {what}", path.display());
                    let hint = "move it elsewhere and give the same command again; `trunkline \
                                campaign verify` and `retry` have a file copied again";
                    return Err(Error::sentence(Fault::Run, told, None).with_hint(hint));
                }
            }
        }
    }
    let lacks = payload.files.len() as u64 - found;
    if lacks == 0 {
        return Ok(());
    }
    let told = format!(
        "{} lacks {} of the bag",
        data.display(),
        count(lacks, "file")
    );
    let hint = "`trunkline campaign verify` and `retry` have them copied again";
    Err(Error::sentence(Fault::Run, told, None).with_hint(hint))
}

#[cfg(test)]
mod tests {
    use files::checksums::digests;

    use super::super::tag_files::{check_kept, put_here, write_tags};
    use super::*;

    fn group() -> Group {
        let text = "[hosts]\ncern = { address = \"c\" }\n[groups.raw]\nfrom = \"/raw\"\n\
            to = \"cern:/july/data\"\nbag = [\"sha256\", \"md5\"]\n";
        let checks = campaign_plan::Checks::none();
        let (plan, _) = campaign_plan::Campaign::parse(text, "plan.toml", &checks).unwrap();
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
            let sums = asked.iter().map(|sum| hex(sum)).collect();
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
        sums[1] = "00".to_owned();
        let told = check_source(&from, &group, &payload).unwrap_err().what();
        assert!(
            told.contains("say: 1 file, ") && told.ends_with("`a`"),
            "{told}"
        );
        // What only the folder has, or only the payload.
        check_payload(&from, &payload).unwrap();
        let broken_off = from.join("run/.x.trunkline-part");
        fs::write(&broken_off, "x").unwrap();
        let told = check_payload(&from, &payload).unwrap_err().what();
        assert!(told.contains("/run/.x.trunkline-part is no file"), "{told}");
        fs::remove_file(&broken_off).unwrap();
        fs::remove_file(from.join("a")).unwrap();
        let told = check_payload(&from, &payload).unwrap_err().what();
        assert!(told.ends_with("lacks 1 file of the bag"), "{told}");
        payload.files.remove(&b"a"[..]);
        let told = check_source(&from, &group, &payload).unwrap_err().what();
        assert!(told.contains("lacks files"), "{told}");
        let mut fewer = group;
        fewer.bag.pop();
        let spot = fewer.bag_spot().unwrap();
        let told = check_kept(&tags, &fewer, &spot).unwrap_err();
        assert!(told.what().contains("manifest-md5.txt"), "{}", told.what());
    }
}
