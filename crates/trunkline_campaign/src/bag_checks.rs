//! Whether what is to become a bag is what it should be.

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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

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
