//! `trunkline copy` as a user meets it: messages, what is shown, documents and events.

mod again;
mod campaign;
#[path = "../common/mod.rs"]
mod common;
mod follow;
mod forced;
mod ipv6;
mod kept;
mod lists;
mod log;
mod pipe;
mod queue;
mod removing;
mod selection;
mod sent;
mod server;
mod sftp;
mod sftp_hostile;
mod sftp_removal;
mod third_party;
mod told;
mod udp;

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use common::{complaint, run, trunkline};
use tempfile::TempDir;

/// Of the right form, for no server.
const TOKEN: &str = "tl1-ana-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

fn assert_told(arguments: &[&str], code: i32, parts: &[&str]) {
    let output = run(arguments);
    let text = complaint(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}:\n{text}");
    for part in parts {
        assert!(
            text.contains(part),
            "{arguments:?}: `{part}` is missing in:\n{text}"
        );
    }
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn requests_that_name_no_copy_are_told_with_the_next_step() {
    let table: [(&[&str], &str, &str); 8] = [
        (&["a", "b"], "both ends are on this host", "use cp"),
        (
            &["a:x", "b:y", "c:z"],
            "the sources are on several",
            "its own",
        ),
        (&["a", "b:y", "."], "some sources are here", "two commands"),
        (&["scp://h/x", "."], "`scp://` is not a way", "HOST:PATH"),
        (
            &["h:~you/x", "."],
            "`~you/x` is another user's home",
            "whole path",
        ),
        (
            &["a", "trunkline://u@h/x"],
            "a server knows no user `u`",
            "--token-file",
        ),
        (
            &["a", "trunkline://h/x", "--connect", "from-far"],
            "`--connect from-far` is for copies over ssh",
            "trunkline://HOST:PORT/PATH",
        ),
        (
            &["a", "h:x", "--token-file", "t"],
            "`--token-file` is for a trunkline:// server",
            "leave it out",
        ),
    ];
    for (words, what, hint) in table {
        let arguments = [&["copy"], words].concat();
        assert_told(&arguments, 2, &[&format!("error: {what}"), "hint: ", hint]);
    }
}

#[test]
fn a_server_wants_a_token() {
    let parts = [
        "wants a token, and there is none",
        "`--token-file FILE`",
        "--new-token NAME",
    ];
    assert_told(&["copy", "a", "trunkline://127.0.0.1/x"], 2, &parts);
}

#[test]
fn a_wrong_token_is_refused_and_not_shown() {
    let mut command = trunkline(&["copy", "a", "trunkline://127.0.0.1/x"]);
    let output = command.env("TRUNKLINE_TOKEN", "hunter2").output().unwrap();
    let text = complaint(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("this is no token"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn a_token_that_others_can_read_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "hunter2").unwrap();
    let parts = ["warning: others on this host can read", "chmod 600"];
    let name = file.to_str().unwrap();
    let arguments = ["copy", "a", "trunkline://127.0.0.1/x", "--token-file", name];
    assert_told(&arguments, 2, &parts);
}

#[test]
fn a_place_that_cannot_be_written_to_is_told_before_anything_is_copied() {
    let arguments = ["copy", "a", "h:x", "--save", "/nowhere/x.json"];
    assert_told(&arguments, 1, &["cannot write /nowhere/x.json"]);
}

/// A folder with a tokens file in it, and the token.
fn tokens(folder: &TempDir) -> (String, String) {
    let file = folder.path().join("tokens");
    let name = file.to_str().unwrap().to_owned();
    let output = run(&["serve", "--tokens", &name, "--new-token", "ana"]);
    assert!(output.status.success(), "{}", complaint(&output));
    (name, String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_new_token_is_printed_once_and_named_once() {
    let folder = tempfile::tempdir().unwrap();
    let (file, token) = tokens(&folder);
    assert_eq!(token.trim().len(), TOKEN.len());
    assert!(token.starts_with("tl1-ana-") && token.ends_with('\n'));
    let again = ["serve", "--tokens", &file, "--new-token", "ana"];
    assert_told(&again, 2, &["has a token `ana` already", "another name"]);
    let wrong = ["serve", "--tokens", &file, "--new-token", "a b"];
    assert_told(&wrong, 2, &["the name of a token has"]);
}

#[test]
fn a_server_checks_its_tokens_before_it_serves() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none");
    let missing = missing.to_str().unwrap();
    let root = folder.path().to_str().unwrap();
    let serve = |file: &str| ["serve", "--root", root, "--tokens", file].map(str::to_owned);
    let told = |file: &str, parts: &[&str]| {
        let arguments = serve(file);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        assert_told(&arguments, 2, parts);
    };
    told(missing, &["there is no tokens file", "--new-token NAME"]);
    let (file, _) = tokens(&folder);
    open_to_all(Path::new(&file));
    told(&file, &["others than its owner", "(mode 644)", "chmod 600"]);
    assert_told(&["serve", "--root", root], 2, &["--tokens"]);
}

fn open_to_all(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
}

#[test]
fn a_refused_port_says_what_to_start() {
    // A port that was free a moment ago.
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    fs::write(&file, "x").unwrap();
    let target = format!("trunkline://127.0.0.1:{port}/x");
    let arguments = ["copy", file.to_str().unwrap(), &target, "--patience", "1"];
    let mut command = trunkline(&arguments);
    let output = command.env("TRUNKLINE_TOKEN", TOKEN).output().unwrap();
    let text = complaint(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("127.0.0.1:{port}")), "{text}");
    assert!(text.contains("hint: "), "{text}");
}

#[test]
fn every_command_has_a_manual_page_and_is_completed() {
    let help = run(&["--help"]);
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.contains(&"copy") && names.len() > 10, "{names:?}");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let output = run(&["man", "--dir", pages.to_str().unwrap()]);
    assert!(output.status.success(), "{}", complaint(&output));
    for name in &names {
        let page = fs::read_to_string(pages.join(format!("trunkline-{name}.1")));
        let page = page.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
    assert!(pages.join("trunkline.1").exists());
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completion", shell]);
        let script = String::from_utf8(script.stdout).unwrap();
        for name in &names {
            assert!(script.contains(name), "{shell}: {name}");
        }
        assert!(script.contains("max-rate"), "{shell}");
    }
}
