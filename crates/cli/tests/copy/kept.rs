//! Hard links and attributes of files, kept where that is asked for.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::assert_told;
use crate::common::complaint;
use crate::selection::{done, files};
use crate::sent::FarHost;
use crate::server::Server;

/// A folder where two names are one file, and two more another one.
fn linked(top: &Path) {
    files(top, &["a", "deep/b"]);
    fs::hard_link(top.join("a"), top.join("deep/a2")).unwrap();
    fs::hard_link(top.join("deep/b"), top.join("b2")).unwrap();
}

fn inode(file: &Path) -> u64 {
    fs::metadata(file).unwrap().ino()
}

/// When it or its attributes were changed last, and which file it is.
fn changed(file: &Path) -> (u64, i64, i64) {
    let there = fs::metadata(file).unwrap();
    (there.ino(), there.ctime(), there.ctime_nsec())
}

/// What a copy that succeeded says of itself.
fn document(server: &Server, words: &[&str]) -> Value {
    let output = server.copy(&[&["--json"], words].concat());
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// Whether two names stand for one file.
fn are_one(top: &Path, one: &str, other: &str) -> bool {
    inode(&top.join(one)) == inode(&top.join(other))
}

/// As a copy leaves it that is killed between making a link and setting its time.
#[test]
fn a_link_that_is_there_gets_its_time() {
    let server = Server::start(&[]);
    let run = server.near().join("run7");
    files(&run, &["a"]);
    std::os::unix::fs::symlink("a", run.join("l")).unwrap();
    let place = server.place("");
    done(&server, &["-r", "run7", &place]);
    let there = server.root().join("run7/l");
    let modified = |link: &Path| fs::symlink_metadata(link).unwrap().mtime();
    assert_eq!(modified(&there), modified(&run.join("l")));
    let mut touch = Command::new("touch");
    touch.args(["-h", "-d", "@1000000000"]).arg(&there);
    assert!(touch.status().unwrap().success());
    assert_eq!(modified(&there), 1_000_000_000);
    done(&server, &["-r", "run7", &place]);
    assert_eq!(modified(&there), modified(&run.join("l")));
}

#[test]
fn times_of_access_are_kept_and_reading_does_not_change_them() {
    let server = Server::start(&[]);
    let run = server.near().join("run7");
    files(&run, &["a", "deep/b"]);
    std::os::unix::fs::symlink("a", run.join("l")).unwrap();
    let accessed = |file: &Path| {
        let there = fs::symlink_metadata(file).unwrap();
        (there.atime(), there.atime_nsec())
    };
    // In this order, each gets a second more.
    let names = ["l", "a", "deep/b", "deep"];
    for (name, at) in names.iter().zip(1_000_000_000..) {
        let mut touch = Command::new("touch");
        touch.args(["-a", "-h", "-d", &format!("@{at}.5")]);
        assert!(touch.arg(run.join(name)).status().unwrap().success());
    }
    let place = server.place("");
    done(&server, &["-r", "--exclude", "deep", "run7", &place]);
    let there = server.root().join("run7");
    assert_ne!(accessed(&there.join("a")), (1_000_000_001, 500_000_000));
    let mut touch = Command::new("touch");
    touch.args(["-a", "-d", "@1000000001.5"]).arg(run.join("a"));
    assert!(touch.status().unwrap().success());
    // What is there already gets its time, too.
    let told = document(&server, &["-rU", "run7", &place]);
    assert_eq!(told["asked"]["kept"], serde_json::json!(["atimes"]));
    for (name, at) in names.iter().zip(1_000_000_000..).skip(1) {
        assert_eq!(accessed(&there.join(name)), (at, 500_000_000), "{name}");
        assert_eq!(accessed(&run.join(name)), (at, 500_000_000), "{name} here");
    }
    // The same of a link, whose own time changes where it is read.
    let before = accessed(&run.join("l"));
    done(&server, &["-rU", "run7", &place]);
    assert_eq!(accessed(&there.join("l")), before);
    // And the other way.
    done(&server, &["-rU", &server.place("run7/"), "got"]);
    let got = server.near().join("got");
    assert_eq!(accessed(&got.join("deep/b")), (1_000_000_002, 500_000_000));
}

#[test]
fn names_of_one_file_become_names_of_one_file_both_ways() {
    let server = Server::start(&[]);
    linked(&server.near().join("run7"));
    let told = done(&server, &["-r", "run7", &server.place("")]);
    assert!(told.contains("became a file of its own"), "{told}");
    let there = server.root().join("run7");
    assert!(!are_one(&there, "a", "deep/a2"), "without the option");

    // What is there as files of their own is linked, too.
    let told = done(&server, &["-rH", "run7", &server.place("")]);
    assert!(!told.contains("of its own"), "{told}");
    assert!(are_one(&there, "a", "deep/a2") && are_one(&there, "b2", "deep/b"));
    assert!(!are_one(&there, "a", "b2"));
    assert_eq!(fs::read(there.join("deep/a2")).unwrap(), b"a");

    let before = changed(&there.join("a"));
    let again = document(&server, &["-rH", "run7", &server.place("")]);
    assert_eq!(again["sent_bytes"], 0, "nothing was to do: {again}");
    assert_eq!(changed(&there.join("a")), before, "nor to link again");
    assert!(are_one(&there, "a", "deep/a2"));

    done(&server, &["-rH", &server.place("run7/"), "got"]);
    let got = server.near().join("got");
    assert!(are_one(&got, "a", "deep/a2") && are_one(&got, "b2", "deep/b"));
    assert_eq!(fs::read(got.join("b2")).unwrap(), b"deep/b");

    // A name that is no link any more becomes a file of its own again.
    let source = server.near().join("run7");
    fs::remove_file(source.join("deep/a2")).unwrap();
    fs::write(source.join("deep/a2"), "new").unwrap();
    done(&server, &["-rH", "run7", &server.place("")]);
    assert_eq!(fs::read(there.join("deep/a2")).unwrap(), b"new");
    assert_eq!(fs::read(there.join("a")).unwrap(), b"a");
}

#[test]
fn contents_are_compared_also_of_files_with_several_names() {
    let server = Server::start(&[]);
    linked(&server.near().join("run7"));
    let put = |option: &str| done(&server, &[option, "run7", &server.place("")]);
    let get = |option: &str| done(&server, &[option, &server.place("run7/"), "got"]);
    put("-r");
    put("-rHc");
    get("-r");
    get("-rHc");
    for top in [server.root().join("run7"), server.near().join("got")] {
        assert!(are_one(&top, "a", "deep/a2") && are_one(&top, "b2", "deep/b"));
        assert_eq!(fs::read(top.join("deep/a2")).unwrap(), b"a");
        assert_eq!(fs::read(top.join("b2")).unwrap(), b"deep/b");
    }
}

#[test]
fn what_cannot_be_kept_is_refused_before_anything_is_written() {
    let server = Server::start(&[]);
    files(&server.near(), &["a"]);
    for option in ["--owner", "-A"] {
        let output = server.copy(&[option, "a", &server.place("")]);
        let text = complaint(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            text.contains("a server keeps no owners and no ACLs"),
            "{text}"
        );
        assert!(!server.root().join("a").exists());
    }
    assert_told(
        &["copy", "-H", "--ignore-existing", "a", "h:b"],
        2,
        &["`--hard-links` and `--ignore-existing` exclude each other"],
    );
    assert_told(
        &[
            "copy",
            "--owner",
            "--no-preserve",
            "permissions",
            "a",
            "h:b",
        ],
        2,
        &["`--owner` and `--no-preserve permissions` exclude each other"],
    );
    assert_told(
        &["copy", "-X", "h:a", "i:b"],
        2,
        &["`--xattrs` cannot be kept in a copy between two other hosts"],
    );
}

/// The rights of the owner, of user 12345, of the group and of others, as the kernel keeps them.
const ACL: &str = "0x0200000001000600ffffffff020004003930000004000400ffffffff10000400ffffffff\
    20000000ffffffff";

#[test]
fn owners_and_acls_go_to_a_host_where_that_is_asked_for() {
    let host = FarHost::new();
    let (near, there) = (host.path("a"), host.path("home/b"));
    let owners = |file: &Path| {
        let there = fs::metadata(file).unwrap();
        (there.uid(), there.gid())
    };
    let acl = |file: &Path| {
        let mut words = Command::new("getfattr");
        words.args([
            "-n",
            "system.posix_acl_access",
            "-e",
            "hex",
            "--only-values",
        ]);
        words.arg(file).output().unwrap().stdout
    };
    let mut set = Command::new("setfattr");
    set.args(["-n", "system.posix_acl_access", "-v", ACL]);
    let is_set = set.arg(&near).status().is_ok_and(|status| status.success());
    let is_root = nix::unistd::geteuid().is_root();
    if !is_set || !is_root {
        return testkit::skip("no setfattr, no ACLs here, or not root");
    }
    std::os::unix::fs::chown(&near, Some(12_345), Some(54_321)).unwrap();
    let kept = acl(&near);
    assert!(!kept.is_empty());
    assert_eq!(host.copy(&[]).status.code(), Some(0));
    assert_eq!(
        (owners(&there), acl(&there).len()),
        ((0, 0), 0),
        "without the options"
    );
    let output = host.copy(&["-A", "--owner=numbers"]);
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    assert_eq!((owners(&there), acl(&there)), ((12_345, 54_321), kept));
}

/// Sets or reads attributes with `setfattr` and `getfattr`; `None` where there are none.
fn attribute(file: &Path, value: Option<&str>) -> Option<String> {
    let mut command = match value {
        Some(value) => {
            let mut set = Command::new("setfattr");
            set.args(["-n", "user.run", "-v", value]);
            set
        }
        None => {
            let mut get = Command::new("getfattr");
            get.args(["-n", "user.run", "--only-values"]);
            get
        }
    };
    let output = command.arg(file).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    output.status.success().then_some(text)
}

#[test]
fn attributes_of_users_are_kept_where_that_is_asked_for() {
    let server = Server::start(&[]);
    let near = server.near().join("run7");
    files(&near, &["a", "deep/b"]);
    let is_possible = attribute(&near.join("a"), Some("seven")).is_some()
        && attribute(&near.join("deep"), Some("eight")).is_some();
    if !is_possible {
        return testkit::skip("no setfattr, or no attributes on the file system of the tests");
    }
    let of = |name: &str| attribute(&server.root().join("run7").join(name), None);
    done(&server, &["-r", "run7", &server.place("")]);
    assert_eq!(of("a"), None, "without the option");
    done(&server, &["-rX", "run7", &server.place("")]);
    assert_eq!(of("a").as_deref(), Some("seven"));
    assert_eq!(of("deep").as_deref(), Some("eight"));
    assert_eq!(of("deep/b"), None);
    attribute(&near.join("deep/b"), Some("nine")).unwrap();
    Command::new("setfattr")
        .args(["-x", "user.run"])
        .arg(near.join("a"))
        .status()
        .unwrap();
    done(&server, &["-rX", "run7", &server.place("")]);
    assert_eq!(of("deep/b").as_deref(), Some("nine"));
    assert_eq!(of("a"), None, "what the source has not any more");
}

#[test]
fn those_who_may_only_write_change_no_attributes_of_what_is_there() {
    let server = Server::start(&["--write-only"]);
    let (near, there) = (server.near().join("a"), server.root().join("a"));
    for (file, value) in [(&near, "seven"), (&there, "old")] {
        fs::write(file, "same").unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let opened = fs::File::open(file).unwrap();
        opened.set_modified(then).unwrap();
        if attribute(file, Some(value)).is_none() {
            return testkit::skip("no setfattr, or no attributes on the file system of the tests");
        }
    }
    fs::set_permissions(&near, fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(&there, fs::Permissions::from_mode(0o600)).unwrap();
    let told = document(&server, &["-X", "a", &server.place("a")]);
    assert_eq!(told["skipped_files"], 1, "{told}");
    assert_eq!(attribute(&there, None).as_deref(), Some("old"));
    let mode = fs::metadata(&there).unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
}
