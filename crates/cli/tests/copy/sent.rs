//! Hosts that have nothing but sshd: the program is sent to them. A script takes ssh's place, and
//! what sshd would run has a home, a runtime folder and a `PATH` of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

use crate::common::{complaint, trunkline};

const SAID: &str = "h has no trunkline of this version: sending this one";

/// Whether mount namespaces may be made; where not, that is told as a skip.
pub(crate) fn may_mount() -> bool {
    let tried = std::process::Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"])
        .status();
    let may = tried.is_ok_and(|status| status.success());
    if !may {
        testkit::skip("no mount namespaces");
    }
    may
}

pub(crate) struct FarHost {
    folder: TempDir,
}

impl FarHost {
    pub(crate) fn new() -> Self {
        // Not below the folders that hosts without a home are tried with.
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for name in ["home", "bin", "run"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::set_permissions(folder.path().join("run"), fs::Permissions::from_mode(0o700)).unwrap();
        let host = FarHost { folder };
        host.runs("exec sh -c \"$last\"");
        fs::write(host.path("a"), "kept").unwrap();
        host
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What sshd runs; `$last` is what it was asked for.
    pub(crate) fn runs(&self, script: &str) {
        let folder = self.folder.path().display();
        self.program(
            "ssh",
            &format!(
                "if [ \"$1\" = -G ]; then echo 'hostname 127.0.0.1'; exit; fi\n\
                 for last; do :; done\n\
                 export HOME={folder}/home XDG_RUNTIME_DIR={folder}/run\n\
                 export PATH={folder}/bin:/usr/bin:/bin\n\
                 export SSH_CONNECTION='127.0.0.1 50000 127.0.0.1 22'\n\
                 unset XDG_CACHE_HOME\ncd {folder}/home\n{script}"
            ),
        );
    }

    /// The same in a mount namespace of its own, after `mounts`; `false` where none may be made.
    fn runs_behind(&self, mounts: &str) -> bool {
        let inner = format!("{mounts} && exec sh -c \"$0\"");
        self.runs(&format!("exec unshare -rm sh -c '{inner}' \"$last\""));
        may_mount()
    }

    fn program(&self, name: &str, script: &str) {
        let file = self.path(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    }

    pub(crate) fn copy(&self, words: &[&str]) -> Output {
        let ssh = self.path("ssh");
        let ssh = ssh.to_str().unwrap();
        let from = self.path("a");
        let places = [from.to_str().unwrap(), "h:b"];
        let words = [&["copy", "--no-history", "-e", ssh], words, &places].concat();
        trunkline(&words).output().unwrap()
    }

    /// Copies, and returns what was said.
    fn copied(&self) -> String {
        let output = self.copy(&[]);
        let text = complaint(&output);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert_eq!(fs::read_to_string(self.path("home/b")).unwrap(), "kept");
        fs::remove_file(self.path("home/b")).unwrap();
        text
    }

    pub(crate) fn refused(&self, words: &[&str]) -> String {
        let output = self.copy(words);
        let text = complaint(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("\nhint: "), "{text}");
        assert!(!text.contains(SAID), "{text}");
        assert!(!self.path("home/b").exists());
        text
    }

    /// The one program below a folder.
    fn sent(&self, folder: &str) -> PathBuf {
        let all: Vec<_> = fs::read_dir(self.path(folder)).unwrap().collect();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].as_ref().unwrap().path()
    }
}

const KEPT: &str = "home/.cache/trunkline/far";

#[test]
fn a_host_without_trunkline_gets_it_once_and_is_cleaned() {
    let host = FarHost::new();
    let said = host.copied();
    assert!(said.contains(SAID) && said.contains(KEPT), "{said}");
    assert!(said.contains("`trunkline far clean h`"), "{said}");
    let file = host.sent(KEPT);
    let own = fs::read(env!("CARGO_BIN_EXE_trunkline")).unwrap();
    assert!(fs::read(&file).unwrap() == own);
    assert!(!host.copied().contains(SAID));

    let ssh = host.path("ssh");
    let words = ["far", "clean", "-e", ssh.to_str().unwrap(), "h"];
    let clean = || String::from_utf8(trunkline(&words).output().unwrap().stdout).unwrap();
    assert!(clean().starts_with("h: removed "));
    assert!(!host.path("home/.cache/trunkline").exists());
    assert_eq!(clean(), "h has no program that a copy has sent\n");
}

#[test]
fn a_program_that_was_swapped_or_that_others_may_write_to_is_not_started() {
    let host = FarHost::new();
    host.copied();
    let file = host.sent(KEPT);
    let marker = host.path("home/marker");
    fs::write(&file, format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
    assert!(host.copied().contains(SAID));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(host.copied().contains(SAID));
    // Another user's folder behind the name, as far as one user can tell.
    fs::rename(host.path(KEPT), host.path("home/elsewhere")).unwrap();
    std::os::unix::fs::symlink(host.path("home/elsewhere"), host.path(KEPT)).unwrap();
    assert!(host.copied().contains("run/trunkline-far"));
    assert!(!marker.exists());
}

#[test]
fn an_older_program_is_passed_over_and_a_working_one_is_not() {
    let host = FarHost::new();
    host.program(
        "bin/trunkline",
        "read -r line; echo 'version 4' >&2; exit 2",
    );
    assert!(host.copied().contains(SAID));
    let own = env!("CARGO_BIN_EXE_trunkline");
    host.program("bin/trunkline", &format!("exec {own} \"$@\""));
    fs::remove_dir_all(host.path("home/.cache")).unwrap();
    assert!(!host.copied().contains(SAID));
    assert!(!host.path("home/.cache").exists());
}

#[test]
fn nothing_is_sent_where_that_is_not_wanted_or_another_program_is_named() {
    let host = FarHost::new();
    let said = host.refused(&["--no-install"]);
    assert!(
        said.contains("there is no program `trunkline` at h"),
        "{said}"
    );
    let said = host.refused(&["--far-program", "bin/trunkline"]);
    assert!(said.contains("no program `bin/trunkline` at h"), "{said}");
    assert!(!host.path("home/.cache").exists());
}

#[test]
fn a_machine_of_another_type_is_told() {
    let host = FarHost::new();
    host.program("bin/uname", "echo Linux mips64");
    let said = host.refused(&[]);
    assert!(
        said.contains("of type mips64, and there is no program"),
        "{said}"
    );
    assert!(said.contains("/lib/trunkline/far/mips64"), "{said}");
    host.program("bin/uname", "echo Darwin arm64");
    assert!(host.refused(&[]).contains("it is `Darwin arm64`"));
    host.program("bin/uname", "echo Linux ../../../../etc/passwd");
    assert!(
        host.refused(&[])
            .contains("it is `Linux ../../../../etc/passwd`")
    );
    host.runs("echo 'This account is closed'; exit 1");
    let said = host.refused(&[]);
    assert!(said.contains("This account is closed"), "{said}");
}

#[test]
fn hosts_that_lack_what_it_takes_are_told() {
    let host = FarHost::new();
    let tools = [
        "sh", "id", "ls", "mkdir", "chmod", "head", "cat", "mv", "rm", "uname",
    ];
    for tool in tools {
        let at = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
        let there = at.iter().find(|file| file.exists()).unwrap();
        std::os::unix::fs::symlink(there, host.path("bin").join(tool)).unwrap();
    }
    let path = host.path("bin").display().to_string();
    host.runs(&format!("export PATH={path}; exec sh -c \"$last\""));
    assert!(host.refused(&[]).contains("it has no sha256sum"));
    // Without gzip it goes as it is.
    std::os::unix::fs::symlink("/usr/bin/sha256sum", host.path("bin/sha256sum")).unwrap();
    assert!(host.copied().contains(SAID));
}

#[test]
fn a_home_that_is_full_or_may_not_hold_programs_is_passed_over() {
    let host = FarHost::new();
    let tmpfs = |options: &str, folder: &str| {
        let folder = host.path(folder);
        format!("mount -t tmpfs -o {options} none {}", folder.display())
    };
    fs::create_dir_all(host.path("home/.cache")).unwrap();
    for options in ["size=1m", "noexec"] {
        if !host.runs_behind(&tmpfs(options, "home/.cache")) {
            return;
        }
        let said = host.copied();
        assert!(said.contains("run/trunkline-far"), "{options}: {said}");
        assert!(!host.copied().contains(SAID));
        fs::remove_dir_all(host.path("run/trunkline-far")).unwrap();
    }
    let everywhere =
        ["/tmp", "/var/tmp", "/dev/shm"].map(|one| format!("mount -t tmpfs -o noexec none {one}"));
    let mounts = [tmpfs("noexec", "home/.cache"), tmpfs("size=1m", "run")];
    let mounts = [&mounts[..], &everywhere[..]].concat().join(" && ");
    host.runs_behind(&mounts);
    let said = host.refused(&[]);
    let line = said.replace('\n', " ");
    assert!(
        line.contains("home/.cache/trunkline/far may not hold programs"),
        "{said}"
    );
    assert!(line.contains("run/trunkline-far has no room for"), "{said}");
    assert!(line.contains("/dev/shm/trunkline-far-"), "{said}");
}
