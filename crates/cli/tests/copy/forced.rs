//! `copy-far` as the forced command of a key: a script takes ssh's place and, as sshd would,
//! ignores what was asked for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::common::{complaint, trunkline};

/// A client whose far end always runs `copy-far` with `words`.
fn forced(folder: &TempDir, words: &str) -> String {
    let script = folder.path().join("ssh");
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = -G ]; then echo 'hostname 127.0.0.1'; exit; fi\n\
         export SSH_ORIGINAL_COMMAND='trunkline copy-far'\n\
         export SSH_CONNECTION='127.0.0.1 50000 127.0.0.1 22'\n\
         exec {} copy-far {words}\n",
        env!("CARGO_BIN_EXE_trunkline")
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
    script.to_str().unwrap().to_owned()
}

fn copy(ssh: &str, from: &str, to: &str) -> Output {
    let words = ["copy", "--no-history", "-e", ssh, from, to];
    trunkline(&words).output().unwrap()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_forced_command_keeps_names_in_its_folder_and_rights_to_reading() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a"), "inside").unwrap();
    fs::write(folder.path().join("secret"), "outside").unwrap();
    let ssh = forced(&folder, &format!("--root {} --read-only", root.display()));
    let got = folder.path().join("got");
    let output = copy(&ssh, "h:a", &text(&got));
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    assert_eq!(fs::read_to_string(&got).unwrap(), "inside");
    for outside in [
        "h:../secret",
        &format!("h:{}/secret", folder.path().display()),
    ] {
        let target = folder.path().join("taken");
        let output = copy(&ssh, outside, &text(&target));
        assert_ne!(output.status.code(), Some(0), "{outside}");
        assert!(!target.exists(), "{outside}");
    }
    let put = copy(&ssh, &text(&got), "h:b");
    assert_ne!(put.status.code(), Some(0));
    assert!(!root.join("b").exists());
}

#[test]
fn a_forced_command_that_takes_files_gives_none() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(folder.path().join("a"), "mine").unwrap();
    let ssh = forced(&folder, &format!("--root {} --write-only", root.display()));
    let put = copy(&ssh, &text(&folder.path().join("a")), "h:b");
    assert_eq!(put.status.code(), Some(0), "{}", complaint(&put));
    assert_eq!(fs::read_to_string(root.join("b")).unwrap(), "mine");
    let got = copy(&ssh, "h:b", &text(&folder.path().join("c")));
    assert_ne!(got.status.code(), Some(0));
    assert!(!folder.path().join("c").exists());
}
