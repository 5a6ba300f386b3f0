//! `trunkline verify`: lists that other programs wrote, and bags.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{complaint, run};
use serde_json::Value;
use tempfile::TempDir;

/// Names that lists have to escape, or that no text has.
const NAMES: [&[u8]; 6] = [
    b"plain",
    b"a b",
    b"two\nlines",
    b"back\\slash",
    b"\xff\xfe",
    b"empty",
];

/// A folder with a file of each name.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (number, name) in NAMES.iter().enumerate() {
        let content = vec![number as u8; number * 100_000 % 500_000];
        fs::write(folder.path().join(OsStr::from_bytes(name)), content).unwrap();
    }
    folder
}

/// What `program` prints of all files of `folder`, as a list named `list` elsewhere.
fn listed(folder: &Path, program: &[&str], list: &Path) {
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| PathBuf::from(entry.unwrap().file_name()))
        .collect();
    names.sort();
    let output = Command::new(program[0])
        .args(&program[1..])
        .args(names)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{program:?}");
    fs::write(list, output.stdout).unwrap();
}

fn verify(words: &[&Path]) -> Output {
    let words = words.iter().map(|word| word.to_str().unwrap());
    let words: Vec<&str> = ["verify", "--json"].into_iter().chain(words).collect();
    run(&words)
}

/// The last line.
fn summary(output: &Output) -> Value {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{text}{}", complaint(output)))
}

/// Kind and name of each trouble.
fn troubles(output: &Output) -> Vec<(String, String)> {
    let summary = summary(output);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = summary["troubles"].as_array().unwrap().iter();
    all.map(|one| (text(&one["kind"]), text(&one["name"])))
        .collect()
}

#[test]
fn lists_of_other_programs_are_read_and_what_differs_is_named() {
    let lists = tempfile::tempdir().unwrap();
    for program in [
        &["sha256sum"][..],
        &["sha256sum", "--tag"],
        &["md5sum", "--binary"],
        &["sha512sum"],
        &["sha1sum", "--tag"],
        &["sha384sum"],
        &["sha224sum"],
    ] {
        let (folder, list) = (folder(), lists.path().join("list"));
        listed(folder.path(), program, &list);
        let right = verify(&[&list, folder.path()]);
        assert_eq!(
            right.status.code(),
            Some(0),
            "{program:?}: {}",
            complaint(&right)
        );
        assert_eq!(summary(&right)["right"], 6, "{program:?}");

        fs::write(folder.path().join("two\nlines"), "x").unwrap();
        fs::remove_file(folder.path().join(OsStr::from_bytes(b"\xff\xfe"))).unwrap();
        let wrong = verify(&[&list, folder.path()]);
        assert_eq!(wrong.status.code(), Some(1), "{program:?}");
        let mut found = troubles(&wrong);
        found.sort();
        let expected = [("differs", "two\\x0alines"), ("missing", "\\xff\\xfe")];
        let expected = expected.map(|(kind, name)| (kind.to_owned(), name.to_owned()));
        assert_eq!(found, expected, "{program:?}");
    }
}

#[test]
fn lines_may_end_as_on_windows_and_say_nothing() {
    let (folder, lists) = (folder(), tempfile::tempdir().unwrap());
    let list = lists.path().join("list");
    listed(folder.path(), &["sha256sum"], &list);
    let text = fs::read(&list).unwrap();
    let text = text.split(|byte| *byte == b'\n').collect::<Vec<_>>();
    let mut text = text.join(&b"\r\n"[..]);
    text.extend(b"# a remark\r\n\r\n");
    fs::write(&list, text).unwrap();
    let right = verify(&[&list, folder.path()]);
    assert_eq!(right.status.code(), Some(0), "{}", complaint(&right));

    let mut text = fs::read(&list).unwrap();
    text.extend(b"not a line\r\n");
    fs::write(&list, text).unwrap();
    let unsure = verify(&[&list, folder.path()]);
    assert_eq!(unsure.status.code(), Some(2));
    assert_eq!(troubles(&unsure)[0].0, "improper");
    assert_eq!(summary(&unsure)["right"], 6);
}

#[test]
fn eight_digits_need_a_name_or_the_option() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("digits"), "123456789").unwrap();
    let list = |name: &str, digest: &str| {
        let file = folder.path().join(name);
        fs::write(&file, format!("{digest} digits\n")).unwrap();
        file
    };
    let unnamed = list("list", "e3069283");
    let refused = verify(&[&unnamed, folder.path()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(complaint(&refused).contains("`--algorithm crc32c`"));
    for (name, digest) in [
        ("x.crc32c", "e3069283"),
        ("x.CRC32", "cbf43926"),
        ("adler32.txt", "091e01de"),
    ] {
        let right = verify(&[&list(name, digest), folder.path()]);
        assert_eq!(right.status.code(), Some(0), "{}", complaint(&right));
    }
    let option = Path::new("--algorithm=crc32c");
    assert!(verify(&[option, &unnamed, folder.path()]).status.success());
    // A wrong choice differs; it is no guess.
    let option = Path::new("--algorithm=adler32");
    let wrong = verify(&[option, &unnamed, folder.path()]);
    assert_eq!(wrong.status.code(), Some(1));
}

#[test]
fn what_cannot_be_read_is_not_called_wrong() {
    let folder = folder();
    let list = folder.path().join("SHA256SUMS");
    fs::create_dir(folder.path().join("folder")).unwrap();
    let mut pipe = Command::new("mkfifo");
    pipe.arg(folder.path().join("pipe"));
    assert!(pipe.status().unwrap().success());
    let zeros = "0".repeat(64);
    fs::write(&list, format!("{zeros}  folder\n{zeros}  pipe\n")).unwrap();
    let unsure = verify(&[&list, folder.path()]);
    assert_eq!(unsure.status.code(), Some(2));
    assert!(
        troubles(&unsure)
            .iter()
            .all(|(kind, _)| kind == "unreadable")
    );

    fs::write(&list, "nothing\n").unwrap();
    let none = run(&["verify", list.to_str().unwrap()]);
    assert_eq!(none.status.code(), Some(2));
    assert!(complaint(&none).contains("has no line of a list"));
}

/// A bag of version 1.0 with two manifests, a tag manifest and the sum of sizes.
fn bag() -> TempDir {
    let bag = tempfile::tempdir().unwrap();
    let at = |name: &str| bag.path().join(name);
    fs::create_dir_all(at("data/deep")).unwrap();
    for (name, text) in [
        ("data/a", "one"),
        ("data/deep/b\nc", "two"),
        ("data/50%", ""),
    ] {
        fs::write(at(name), text).unwrap();
    }
    let declaration = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
    fs::write(at("bagit.txt"), declaration).unwrap();
    fs::write(at("bag-info.txt"), "Source: test\nPayload-Oxum: 6.3\n").unwrap();
    let files = ["data/a", "data/deep/b\nc", "data/50%"];
    for algorithm in ["sha256", "md5"] {
        manifest(
            bag.path(),
            algorithm,
            &format!("manifest-{algorithm}.txt"),
            &files,
        );
    }
    let tags = ["bagit.txt", "bag-info.txt", "manifest-sha256.txt"];
    manifest(bag.path(), "sha256", "tagmanifest-sha256.txt", &tags);
    bag
}

fn manifest(bag: &Path, algorithm: &str, name: &str, files: &[&str]) {
    let mut text = String::new();
    for file in files {
        let program = format!("{algorithm}sum");
        let content = fs::File::open(bag.join(file)).unwrap();
        let output = Command::new(program).stdin(content).output().unwrap();
        let digest = String::from_utf8(output.stdout).unwrap();
        let digest = digest.split(' ').next().unwrap();
        let file = file.replace('%', "%25").replace('\n', "%0A");
        text.push_str(&format!("{digest}  {file}\n"));
    }
    fs::write(bag.join(name), text).unwrap();
}

fn add(file: PathBuf, text: &str) {
    let old = fs::read_to_string(&file).unwrap_or_default();
    fs::write(file, old + text).unwrap();
}

#[test]
fn a_whole_bag_is_right() {
    let bag = bag();
    let right = verify(&[bag.path()]);
    assert_eq!(right.status.code(), Some(0), "{}", complaint(&right));
    let summary = summary(&right);
    assert_eq!(
        (&summary["right"], &summary["is_bag"]),
        (&6.into(), &true.into())
    );
    assert_eq!(summary["algorithms"].as_array().unwrap().len(), 2);
}

type Spoil = fn(&Path);

/// Each way to spoil a bag, and the trouble that tells of it.
const WAYS: [(&str, &str, Spoil); 12] = [
    ("differs", "data/a", |bag| {
        fs::write(bag.join("data/a"), "ono").unwrap()
    }),
    ("missing", "data/50%", |bag| {
        fs::remove_file(bag.join("data/50%")).unwrap()
    }),
    ("not-listed", "data/new", |bag| {
        add(bag.join("data/new"), "")
    }),
    ("not-listed", "data/.hidden", |bag| {
        add(bag.join("data/.hidden"), "")
    }),
    ("bag", "bag-info.txt", |bag| add(bag.join("data/a"), "more")),
    ("differs", "bag-info.txt", |bag| {
        add(bag.join("bag-info.txt"), "X: y\n")
    }),
    ("outside", "data/../../etc/passwd", |bag| {
        let line = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  \
                data/../../etc/passwd\n";
        add(bag.join("manifest-sha256.txt"), line);
    }),
    ("outside", "data/a", |bag| {
        fs::remove_file(bag.join("data/a")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", bag.join("data/a")).unwrap();
    }),
    ("not-fetched", "data/50%", |bag| {
        fs::remove_file(bag.join("data/50%")).unwrap();
        add(
            bag.join("fetch.txt"),
            "https://example.org/50 - data/50%25\n",
        );
    }),
    ("bag", "data/other", |bag| {
        add(
            bag.join("fetch.txt"),
            "https://example.org/x 7 data/other\n",
        );
    }),
    ("not-listed", "data/a", |bag| {
        manifest(
            bag,
            "md5",
            "manifest-md5.txt",
            &["data/deep/b\nc", "data/50%"],
        );
    }),
    ("improper", "manifest-sha3256.txt", |bag| {
        add(bag.join("manifest-sha3256.txt"), "")
    }),
];

#[test]
fn whatever_is_done_to_a_bag_is_told() {
    for (kind, name, spoil) in WAYS {
        let bag = bag();
        spoil(bag.path());
        let output = verify(&[bag.path()]);
        let code = if kind == "improper" { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(code), "{kind} {name}");
        let found = troubles(&output);
        let is_told = found.contains(&(kind.to_owned(), name.to_owned()));
        assert!(is_told, "{kind} {name}: {found:?}");
    }
}

#[test]
fn what_is_no_bag_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let of = |text: Option<&str>| {
        if let Some(text) = text {
            fs::write(folder.path().join("bagit.txt"), text).unwrap();
        }
        let output = run(&["verify", folder.path().to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2));
        complaint(&output)
    };
    assert!(of(None).contains("is no BagIt bag"));
    assert!(of(Some("hello")).contains("declares no version"));
    let later = "BagIt-Version: 2.0\nTag-File-Character-Encoding: UTF-8\n";
    assert!(of(Some(later)).contains("version 2.0"));
    let foreign = "BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-16\n";
    assert!(of(Some(foreign)).contains("`UTF-16`"));
    let bare = "BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n";
    assert!(of(Some(bare)).contains("no payload manifest"));
}
