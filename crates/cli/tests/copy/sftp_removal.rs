//! `--delete` and `--checksum` over SFTP, with the system's `sftp-server` behind a script that
//! takes ssh's place.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use crate::selection::files;
use crate::sent::{FarHost, may_mount};
use crate::sftp::{Draw, all_said, copied, copy, document, host, text};

/// A tree whose names say what they are: of folders `d`, files `f`, links `l`, and `k` of files
/// that a rule leaves out.
fn tree(folder: &Path, draw: &mut Draw, depth: u64) {
    fs::create_dir_all(folder).unwrap();
    for at in 0..draw.below(6) + 1 {
        match draw.below(7) {
            0..=2 if depth > 0 => tree(&folder.join(format!("d{at}")), draw, depth - 1),
            0..=2 => fs::create_dir_all(folder.join(format!("d{at}"))).unwrap(),
            3 => symlink("/", folder.join(format!("l{at}"))).unwrap(),
            4 => fs::write(folder.join(format!("k{at}")), "k").unwrap(),
            _ => fs::write(folder.join(format!("f{at}")), draw.bytes(9)).unwrap(),
        }
    }
}

/// All names below a folder; those of folders end with `/`.
fn names(folder: &Path, below: &str, into: &mut BTreeSet<String>) {
    for one in fs::read_dir(folder).unwrap() {
        let one = one.unwrap();
        let name = format!("{below}{}", one.file_name().to_str().unwrap());
        match one.file_type().unwrap().is_dir() {
            true => {
                names(&one.path(), &format!("{name}/"), into);
                into.insert(format!("{name}/"));
            }
            false => {
                into.insert(name);
            }
        }
    }
}

fn all(folder: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    names(folder, "", &mut all);
    all
}

/// What the destination has in the end: the source without what is left out, and of its own what
/// is left out with the folders that this is in.
fn model(source: &BTreeSet<String>, before: &BTreeSet<String>) -> BTreeSet<String> {
    let is_kept = |name: &&String| {
        name.rsplit('/')
            .next()
            .is_some_and(|it| it.starts_with('k'))
    };
    let mut after: BTreeSet<String> = source.iter().filter(|it| !is_kept(it)).cloned().collect();
    for name in before.iter().filter(is_kept) {
        after.insert(name.clone());
        let ends = name.match_indices('/');
        after.extend(ends.map(|(at, _)| name[..=at].to_owned()));
    }
    after
}

fn removed(events: &[Value]) -> BTreeSet<String> {
    let removed = events.iter().filter(|it| it["event"] == "removed");
    let names = removed.map(|it| it["name"].as_str().unwrap().to_owned());
    names.collect()
}

#[test]
fn drawn_trees_become_like_their_sources_and_nothing_else_goes() {
    let Some(host) = host("exit 1") else {
        return;
    };
    let mut draw = Draw::seeded();
    for round in 0..12 {
        let (from, store) = (host.path(&format!("s{round}")), host.path("home/store"));
        let _ = fs::remove_dir_all(&store);
        tree(&from, &mut draw, 2);
        fs::write(from.join("f"), "not empty").unwrap();
        tree(&store, &mut draw, 3);
        let before = all(&store);
        let expected = model(&all(&from), &before);
        let source = format!("{}/", text(&from));
        let words = ["--sftp", "-r", "--delete", "--exclude", "k*"];
        let run = |more: &[&str]| {
            copied(
                &host,
                &[&words[..], more, &[source.as_str(), "h:store"]].concat(),
            )
        };
        let told = removed(&run(&["-n"]).0);
        assert_eq!(all(&store), before, "a dry run");
        assert_eq!(removed(&run(&[]).0), told);
        assert_eq!(all(&store), expected);
        let gone: BTreeSet<String> = before.difference(&expected).cloned().collect();
        assert_eq!(told, gone);
    }
}

#[test]
fn a_download_removes_here_what_the_far_end_lacks() {
    let Some(host) = host("exit 1") else {
        return;
    };
    let (far, here) = (host.path("home/d"), host.path("here"));
    files(&far, &["f"]);
    files(&here, &["old/f"]);
    let words = ["--sftp", "-r", "--delete", "h:d/", here.to_str().unwrap()];
    assert_eq!(document(&host, &words)["removed"], 2);
    assert_eq!(all(&here), BTreeSet::from(["f".to_owned()]));
}

#[test]
fn what_the_far_end_may_not_look_at_stays_here() {
    let Some(host) = host("exit 1") else {
        return;
    };
    let (far, here) = (host.path("home/d"), host.path("here"));
    files(&far, &["sub/f"]);
    files(&here, &["sub/f", "old"]);
    let mode = |mode| fs::set_permissions(far.join("sub"), fs::Permissions::from_mode(mode));
    // Names in it can be read, and nothing of them.
    mode(0o444).unwrap();
    if far.join("sub/f").exists() {
        // Root, who may look at all of them: a server without that right.
        let server = crate::sftp::server().unwrap();
        let rights = "--bounding-set=-dac_override,-dac_read_search";
        host.runs(&format!("exec setpriv {rights} {server}"));
    }
    let words = ["--sftp", "-r", "--delete", "h:d/", here.to_str().unwrap()];
    let output = copy(&host, &words);
    mode(0o755).unwrap();
    let said = all_said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let left = ["sub/", "sub/f"].map(str::to_owned);
    assert_eq!(all(&here), BTreeSet::from(left), "{said}");
}

/// A copy with `--delete` that removes nothing, or not all; what it says.
fn spared(host: &FarHost, from: &Path, code: i32) -> String {
    let source = format!("{}/", text(from));
    let words = [
        "--sftp",
        "-r",
        "--delete",
        "--streams",
        "1",
        &source,
        "h:store",
    ];
    let output = copy(host, &words);
    let said = all_said(&output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

#[test]
fn links_are_removed_and_what_they_lead_to_stays() {
    let Some(host) = host("exit 1") else {
        return;
    };
    let (from, store, other) = (host.path("s"), host.path("home/store"), host.path("other"));
    files(&from, &["f"]);
    files(&store, &["sub/f"]);
    files(&other, &["f"]);
    symlink(&other, store.join("l")).unwrap();
    symlink(&other, store.join("sub/l")).unwrap();
    spared(&host, &from, 0);
    assert_eq!(all(&store), BTreeSet::from(["f".to_owned()]));
    assert!(other.join("f").exists());
}

#[test]
fn unfinished_files_and_all_of_an_empty_source_stay() {
    let Some(host) = host("exit 1") else {
        return;
    };
    let (from, store) = (host.path("s"), host.path("home/store"));
    let part = "sub/.f.1.trunkline-part";
    fs::create_dir(&from).unwrap();
    files(&store, &[part, "sub/g"]);
    let before = all(&store);
    let said = spared(&host, &from, 1);
    assert!(said.contains("the source is empty"), "{said}");
    assert_eq!(all(&store), before);
    files(&from, &["f"]);
    let said = spared(&host, &from, 0);
    assert!(said.contains("of other copies"), "{said}");
    let left = ["f", "sub/", part].map(str::to_owned);
    assert_eq!(all(&store), BTreeSet::from(left));
}

#[test]
fn what_is_mounted_at_the_far_end_stays() {
    let Some(host) = host("exit 1") else {
        return;
    };
    let mounts = "mount -t tmpfs none store/sub/mnt && touch store/sub/mnt/x";
    if !may_mount() {
        return;
    }
    let server = crate::sftp::server().unwrap();
    let inner = format!("{mounts} && exec {server} -l DEBUG3 -e 2>>../served");
    host.runs(&format!("exec unshare -rm sh -c '{inner}'"));
    let (from, store) = (host.path("s"), host.path("home/store"));
    files(&from, &["f"]);
    files(&store, &["sub/g"]);
    fs::create_dir(store.join("sub/mnt")).unwrap();
    let said = spared(&host, &from, 1);
    assert!(said.contains("another file system is mounted"), "{said}");
    let left = ["f", "sub/", "sub/mnt/"].map(str::to_owned);
    assert_eq!(all(&store), BTreeSet::from(left));
    let served = fs::read_to_string(host.path("served")).unwrap();
    assert!(served.contains("sub/g"), "{served}");
    assert!(!served.contains("mnt/x"), "{served}");
}

#[test]
fn a_server_that_tells_no_file_systems_is_refused_by_name() {
    let Some(host) = crate::sftp_hostile::host("honest") else {
        return;
    };
    let from = host.path("s");
    files(&from, &["f"]);
    let said = spared(&host, &from, 2);
    for part in ["`--delete`", "statvfs@openssh.com", "hint: "] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn contents_are_compared_both_ways() {
    let Some(host) = host("exit 1") else {
        return;
    };
    let mut draw = Draw::seeded();
    let (from, store, back) = (host.path("s"), host.path("home/store"), host.path("back"));
    let then = UNIX_EPOCH + Duration::from_secs(1_000_000);
    for (name, length) in [("same", 3 << 20), ("other", (1 << 20) + 7), ("empty", 0)] {
        for folder in [&from, &store, &back] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(name), vec![7; length]).unwrap();
            let file = fs::File::options().write(true).open(folder.join(name));
            file.unwrap().set_modified(then).unwrap();
        }
    }
    let mut content = fs::read(from.join("other")).unwrap();
    let at = draw.below(content.len() as u64) as usize;
    content[at] = 8;
    fs::write(from.join("other"), &content).unwrap();
    fs::File::options()
        .write(true)
        .open(from.join("other"))
        .and_then(|file| file.set_modified(then))
        .unwrap();
    let (source, here) = (format!("{}/", text(&from)), text(&back));
    for places in [[source.as_str(), "h:store"], ["h:store/", here.as_str()]] {
        let told = document(&host, &[&["--sftp", "-r", "-c"], &places[..]].concat());
        assert_eq!(told["skipped_files"], 2, "{told}");
    }
    assert!(fs::read(back.join("other")).unwrap() == content);
}

/// A host whose server tells digests, and notes in `asked` what it is asked for.
fn digesting(how: &str) -> Option<FarHost> {
    let host = host("exit 1")?;
    if std::process::Command::new("python3")
        .arg("-V")
        .output()
        .is_err()
    {
        testkit::skip("no python3");
        return None;
    }
    fs::write(host.path("server.py"), include_str!("sftp_check_file.py")).unwrap();
    let (server, asked) = (crate::sftp::server().unwrap(), text(&host.path("asked")));
    let script = text(&host.path("server.py"));
    host.runs(&format!("exec python3 {script} {server} {how} {asked}"));
    Some(host)
}

/// What it was asked for since the last time.
fn asked(host: &FarHost) -> BTreeSet<String> {
    let all = fs::read_to_string(host.path("asked")).unwrap_or_default();
    let _ = fs::remove_file(host.path("asked"));
    all.lines().map(str::to_owned).collect()
}

#[test]
fn digests_of_the_far_end_take_the_place_of_reading_back() {
    for (how, words) in [
        ("honest", &["digest"][..]),
        ("draft", &["digest"][..]),
        ("refuses", &["bytes", "digest"][..]),
    ] {
        let Some(host) = digesting(how) else {
            return;
        };
        let expected: BTreeSet<String> = words.iter().map(|it| (*it).to_owned()).collect();
        let (from, back) = (text(&host.path("large")), text(&host.path("back")));
        fs::write(&from, Draw::seeded().bytes((3 << 20) + 7)).unwrap();
        document(&host, &["--sftp", "--verify", &from, "h:b"]);
        assert_eq!(asked(&host), expected, "{how}");
        fs::create_dir(&back).unwrap();
        fs::copy(&from, host.path("back/b")).unwrap();
        for places in [[from.as_str(), "h:b"], ["h:b", back.as_str()]] {
            let told = document(&host, &["--sftp", "-c", places[0], places[1]]);
            assert_eq!(told["skipped_files"], 1, "{how}: {told}");
            assert_eq!(asked(&host), expected, "{how}");
        }
    }
}

#[test]
fn a_wrong_digest_is_no_verified_file() {
    let Some(host) = digesting("wrong") else {
        return;
    };
    let from = text(&host.path("large"));
    fs::write(&from, Draw::seeded().bytes((3 << 20) + 7)).unwrap();
    let output = copy(&host, &["--sftp", "--verify", &from, "h:b"]);
    let said = all_said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("as something else"), "{said}");
    assert_eq!(all(&host.path("home")), BTreeSet::new());
}
