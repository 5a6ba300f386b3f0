use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;
use crate::checksums::check::{Account, Found, check};
use crate::checksums::hasher::Hasher;

fn digest(algorithm: Algorithm, content: &str) -> String {
    let mut hasher = Hasher::new(algorithm);
    hasher.update(content.as_bytes());
    let digest = hasher.finish();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A line of a manifest.
fn line(algorithm: Algorithm, content: &str, name: &str) -> String {
    format!("{}  {name}\n", digest(algorithm, content))
}

fn write(bag: &TempDir, name: &str, text: &str) {
    fs::write(bag.path().join(name), text).unwrap();
}

/// A bag with `data/a`, which is `one`, `data/b`, which is `two`, and a manifest of SHA-256.
fn bag(version: &str) -> TempDir {
    let bag = tempfile::tempdir().unwrap();
    fs::create_dir(bag.path().join("data")).unwrap();
    let text = format!("BagIt-Version: {version}\nTag-File-Character-Encoding: UTF-8\n");
    write(&bag, "bagit.txt", &text);
    write(&bag, "data/a", "one");
    write(&bag, "data/b", "two");
    write(&bag, "manifest-sha256.txt", &both(Algorithm::Sha256));
    bag
}

/// The lines of both files.
fn both(algorithm: Algorithm) -> String {
    line(algorithm, "one", "data/a") + &line(algorithm, "two", "data/b")
}

fn verified(bag: &TempDir) -> (Account, Vec<Trouble>) {
    let stop = AtomicBool::new(false);
    let bag = open(bag.path(), &stop).unwrap();
    let mut troubles = Vec::new();
    let tallies = bag.tallies.into_iter().map(Ok);
    let account = check(tallies, &bag.checking, &stop, &mut |found| {
        if let Found::Trouble(trouble) = found {
            troubles.push(trouble.clone());
        }
    });
    (account.unwrap(), troubles)
}

/// Kind and name of each trouble, in order.
fn kinds(troubles: &[Trouble]) -> Vec<(TroubleKind, &str)> {
    let mut kinds: Vec<(TroubleKind, &str)> = troubles
        .iter()
        .map(|one| (one.kind, one.name.as_str()))
        .collect();
    kinds.sort_unstable();
    kinds
}

/// Those about `name`.
fn about<'a>(troubles: &'a [Trouble], name: &str) -> Vec<&'a Trouble> {
    troubles.iter().filter(|one| one.name == name).collect()
}

#[test]
fn a_whole_bag_has_no_trouble() {
    for version in ["1.0", "0.97"] {
        let bag = bag(version);
        write(&bag, "manifest-md5.txt", &both(Algorithm::Md5));
        write(&bag, "bag-info.txt", "Payload-Oxum: 6.2\n");
        let (account, troubles) = verified(&bag);
        assert!(troubles.is_empty(), "{version}: {troubles:?}");
        assert_eq!(account.right, 2, "{version}");
    }
}

#[test]
fn a_line_longer_than_any_name_is_told() {
    let bag = bag("1.0");
    let long = "x".repeat(20_000);
    let manifest = both(Algorithm::Sha256) + &line(Algorithm::Sha256, "", &format!("data/{long}"));
    write(&bag, "manifest-sha256.txt", &manifest);
    write(
        &bag,
        "fetch.txt",
        &format!("https://example.org/{long} 3 data/a\n"),
    );
    let (account, mut troubles) = verified(&bag);
    troubles.sort_by(|one, other| one.name.cmp(&other.name));
    let improper = TroubleKind::Improper;
    let expected = [(improper, "fetch.txt"), (improper, "manifest-sha256.txt")];
    assert_eq!(kinds(&troubles), expected);
    assert_eq!(troubles[0].line, Some(1));
    assert_eq!(troubles[1].line, Some(3));
    assert_eq!(troubles[1].what, "line 3 is longer than any name");
    assert_eq!((account.right, account.wrong, account.unchecked), (2, 0, 2));
}

#[test]
fn lines_may_end_with_cr_alone() {
    let bag = bag("1.0");
    let fetched = line(Algorithm::Sha256, "new", "data/c") + &line(Algorithm::Sha256, "", "data/d");
    let manifest = both(Algorithm::Sha256) + &fetched + "no line\n";
    write(&bag, "manifest-sha256.txt", &manifest.replace('\n', "\r"));
    write(
        &bag,
        "fetch.txt",
        "https://x.org/c - data/c\rhttps://x.org/d 0 data/d\r",
    );
    let (account, mut troubles) = verified(&bag);
    let expected = [
        (TroubleKind::NotFetched, "data/c"),
        (TroubleKind::NotFetched, "data/d"),
        (TroubleKind::Improper, "manifest-sha256.txt"),
    ];
    assert_eq!(kinds(&troubles), expected);
    troubles.retain(|one| one.kind == TroubleKind::Improper);
    assert_eq!(troubles[0].line, Some(5));
    assert_eq!(account.right, 2);
}

#[test]
fn a_file_of_lines_that_cannot_be_used_is_left_after_a_hundred() {
    for (version, lines, told) in [("1.0", 100, 100), ("1.0", 5000, 101), ("0.97", 5000, 101)] {
        let bag = bag(version);
        let manifest = line(Algorithm::Sha256, "one", "data/a") + &"x\n".repeat(lines);
        write(&bag, "manifest-sha256.txt", &manifest);
        write(&bag, "fetch.txt", &"x\n".repeat(lines));
        write(&bag, "bag-info.txt", "Payload-Oxum: 7.7\n");
        let (account, troubles) = verified(&bag);
        for name in ["manifest-sha256.txt", "fetch.txt"] {
            let about = about(&troubles, name);
            assert_eq!(about.len(), told, "{name}");
            let mut kinds = about.iter().map(|one| one.kind);
            assert!(kinds.all(|kind| kind == TroubleKind::Improper), "{name}");
            let is_cut = about[told - 1].what.starts_with("and more");
            assert_eq!(is_cut, told == 101, "{name}");
        }
        assert_eq!(account.right, 1);
        // `data/b` may be listed in what was not read, and the sum may be right.
        assert_eq!(account.wrong, if told == 101 { 0 } else { 2 });
    }
}

#[test]
fn a_bag_is_not_read_further_once_it_is_stopped() {
    let bag = bag("1.0");
    write(&bag, "manifest-md5.txt", &"x\n".repeat(50));
    write(&bag, "tagmanifest-md5.txt", &"x\n".repeat(50));
    write(&bag, "fetch.txt", &"x\n".repeat(50));
    let stopped = open(bag.path(), &AtomicBool::new(true)).unwrap();
    assert!(stopped.tallies.is_empty(), "{:?}", stopped.tallies);
}

#[test]
fn the_sum_of_sizes_is_compared_where_all_sizes_are_known() {
    let linked = bag("1.0");
    write(&linked, "bag-info.txt", "Payload-Oxum: 6.2\n");
    fs::remove_file(linked.path().join("data/b")).unwrap();
    symlink("nothing", linked.path().join("data/b")).unwrap();
    let (account, troubles) = verified(&linked);
    assert_eq!(kinds(&troubles), [(TroubleKind::Missing, "data/b")]);
    assert_eq!((account.right, account.wrong), (1, 1));

    // A link to a folder could not be checked, which is not wrong.
    fs::remove_file(linked.path().join("data/b")).unwrap();
    fs::create_dir(linked.path().join("folder")).unwrap();
    symlink("../folder", linked.path().join("data/b")).unwrap();
    let (account, troubles) = verified(&linked);
    assert_eq!(kinds(&troubles), [(TroubleKind::Unreadable, "data/b")]);
    assert_eq!((account.right, account.wrong, account.unchecked), (1, 0, 1));

    let without = bag("1.0");
    write(&without, "bag-info.txt", "Payload-Oxum: 6.2\n");
    fs::remove_dir_all(without.path().join("data")).unwrap();
    let (_, troubles) = verified(&without);
    let is_missing = |one: &Trouble| one.kind == TroubleKind::Missing;
    assert!(troubles.iter().all(is_missing), "{troubles:?}");

    let wrong = bag("1.0");
    write(&wrong, "bag-info.txt", "Payload-Oxum: 7.2\n");
    let (_, troubles) = verified(&wrong);
    assert_eq!(kinds(&troubles), [(TroubleKind::Bag, "bag-info.txt")]);
}

#[test]
fn what_cannot_be_read_is_told_as_such() {
    let bag = bag("1.0");
    let folder = bag.path().join("bag-info.txt");
    fs::create_dir(&folder).unwrap();
    let (account, troubles) = verified(&bag);
    assert_eq!(
        kinds(&troubles),
        [(TroubleKind::Unreadable, "bag-info.txt")]
    );
    assert_eq!((account.right, account.wrong), (2, 0));
    fs::remove_dir(&folder).unwrap();

    let long = "Note: much\n".repeat(100_000) + "Payload-Oxum: 7.2\n";
    write(&bag, "bag-info.txt", &long);
    let (_, troubles) = verified(&bag);
    assert_eq!(
        kinds(&troubles),
        [(TroubleKind::Unreadable, "bag-info.txt")]
    );
    assert!(troubles[0].what.contains("longer than 1 MiB"));

    let manifest = bag.path().join("manifest-sha256.txt");
    fs::remove_file(&manifest).unwrap();
    fs::create_dir(&manifest).unwrap();
    let refused = open(bag.path(), &AtomicBool::new(false)).unwrap_err();
    let is_named = refused.what.contains("manifest-sha256.txt: Is a directory");
    assert!(is_named, "{}", refused.what);
    assert!(refused.hint.unwrap().contains("readable"));
}

#[test]
fn links_and_rights_are_told_without_words_of_copies() {
    let bag = bag("1.0");
    let declaration = bag.path().join(DECLARATION);
    fs::remove_file(&declaration).unwrap();
    let refused = open(bag.path(), &AtomicBool::new(false)).unwrap_err();
    assert!(refused.hint.unwrap().contains("is no BagIt bag"));

    symlink("/etc/passwd", &declaration).unwrap();
    let refused = open(bag.path(), &AtomicBool::new(false)).unwrap_err();
    assert!(
        refused.what.contains("leads out of the bag"),
        "{}",
        refused.what
    );
    assert!(!refused.hint.unwrap().contains("served"));

    let denied = unread("read", "x", &nix::errno::Errno::EACCES.into());
    assert!(denied.hint.unwrap().contains("verify"));
    // Nothing was found to be wrong.
    assert_eq!(denied.kind, ProblemKind::Request);
    let read_only = unread("read", "x", &nix::errno::Errno::EROFS.into());
    assert_eq!(read_only.hint, None);
}

#[test]
fn a_file_that_several_manifests_call_wrong_is_one() {
    let bag = bag("1.0");
    let md5 = line(Algorithm::Md5, "two", "data/b") + &line(Algorithm::Md5, "one", "data/a");
    write(&bag, "manifest-md5.txt", &md5);
    write(&bag, "data/a", "ono");
    let (account, troubles) = verified(&bag);
    assert_eq!(kinds(&troubles), [(TroubleKind::Differs, "data/a")]);
    assert_eq!((account.right, account.wrong), (1, 1));
    assert_eq!(troubles[0].line, None);
    for manifest in ["manifest-md5.txt", "manifest-sha256.txt"] {
        assert!(troubles[0].what.contains(manifest), "{}", troubles[0].what);
    }

    // Where one is wrong, the line is of that one.
    write(&bag, "data/a", "one");
    let md5 = md5.replace(&digest(Algorithm::Md5, "one"), &"0".repeat(32));
    write(&bag, "manifest-md5.txt", &md5);
    let (_, troubles) = verified(&bag);
    assert_eq!(kinds(&troubles), [(TroubleKind::Differs, "data/a")]);
    assert_eq!(troubles[0].line, Some(2));
    assert!(!troubles[0].what.contains("sha256"), "{}", troubles[0].what);

    // So is a file that several lack.
    let sha1 = both(Algorithm::Sha1) + &line(Algorithm::Sha1, "new", "data/c");
    write(&bag, "manifest-sha1.txt", &sha1);
    write(&bag, "manifest-md5.txt", &both(Algorithm::Md5));
    write(&bag, "data/c", "new");
    let (account, troubles) = verified(&bag);
    assert_eq!(kinds(&troubles), [(TroubleKind::NotListed, "data/c")]);
    assert_eq!(account.wrong, 1);
}

#[test]
fn an_old_bag_may_list_a_file_in_a_manifest_that_was_not_read() {
    let bag = bag("0.97");
    write(&bag, "data/new", "new");
    write(&bag, "manifest-sha3256.txt", "");
    let (account, troubles) = verified(&bag);
    let improper = [(TroubleKind::Improper, "manifest-sha3256.txt")];
    assert_eq!(kinds(&troubles), improper);
    assert_eq!((account.right, account.wrong), (2, 0));
}

#[test]
fn tag_manifests_list_no_payload_and_names_may_begin_with_a_dot() {
    let bag = bag("1.0");
    write(
        &bag,
        "tagmanifest-sha256.txt",
        &line(Algorithm::Sha256, "one", "./data/a"),
    );
    let manifest = both(Algorithm::Sha256) + &line(Algorithm::Sha256, "new", "data/new");
    write(&bag, "manifest-sha256.txt", &manifest);
    write(&bag, "fetch.txt", "https://example.org/new 3 ./data/new\n");
    let (_, troubles) = verified(&bag);
    let expected = [
        (TroubleKind::NotFetched, "data/new"),
        (TroubleKind::Bag, "data/a"),
    ];
    assert_eq!(kinds(&troubles), expected);
}
