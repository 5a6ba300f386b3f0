//! Files that are refused, and names that are given once.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_folder_that_is_not_there_is_a_wrong_request() {
    let error = add_token(Path::new("/nosuch/tokens"), "ana", Rights::ALL).unwrap_err();
    assert_eq!(error.fault(), Fault::Request);
}

#[test]
fn a_new_token_opens_what_the_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let read_only = Rights {
        read: true,
        write: false,
    };
    let text = add_token(&file, "ana", Rights::ALL).unwrap();
    add_token(&file, "lab-nas", read_only).unwrap();
    assert_eq!(mode(&file), 0o600);
    let token: Token = text.parse().unwrap();
    let tokens = read_tokens(&file).unwrap();
    assert_eq!(tokens.find(&token.name).unwrap().1, Rights::ALL);
    let line = Tokens::line(&token, Rights::ALL);
    assert!(fs::read_to_string(&file).unwrap().starts_with(&line));
    let nas = KeyName::new("lab-nas").unwrap();
    assert_eq!(tokens.find(&nas).unwrap().1, read_only);
}

#[test]
fn a_file_that_others_can_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    add_token(&file, "ana", Rights::ALL).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let failure = read_tokens(&file).unwrap_err();
    assert!(failure.what().contains("(mode 640)"), "{}", failure.what());
    assert!(failure.hint().unwrap().starts_with("chmod 600"));
    assert!(add_token(&file, "bob", Rights::ALL).is_err());
}

#[test]
fn a_file_of_another_user_is_refused() {
    let file = Path::new("/etc/trunkline/tokens");
    assert!(check(file, 1_000, 0o100_600, 1_000).is_ok());
    assert!(check(file, ROOT, 0o100_600, 1_000).is_ok());
    let failure = check(file, 1_001, 0o100_600, 1_000).unwrap_err();
    assert!(failure.what().contains("belongs to user 1001"));
    assert!(failure.hint().unwrap().starts_with("chown 1000"));
    assert!(check(file, 1_000, 0o100_000, ROOT).is_err());
}

#[test]
fn a_name_is_given_once_and_has_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    add_token(&file, "ana", Rights::ALL).unwrap();
    let twice = add_token(&file, "ana", Rights::ALL).unwrap_err();
    assert!(twice.what().contains("has a token `ana` already"));
    assert!(add_token(&file, "a b", Rights::ALL).is_err());
    assert!(add_token(&file, "", Rights::ALL).is_err());
}

#[test]
fn a_secret_is_in_no_message() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    append(&file, "ana rw hunter2hunter2\n").unwrap();
    let failure = read_tokens(&file).unwrap_err();
    assert!(failure.what().contains("line 1"), "{}", failure.what());
    assert!(!format!("{failure:?}").contains("hunter2"));
}

#[test]
fn a_missing_and_an_empty_file_say_how_to_make_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    assert!(
        read_tokens(&file)
            .unwrap_err()
            .hint()
            .unwrap()
            .contains("--new-token")
    );
    append(&file, "# none yet\n").unwrap();
    assert!(
        read_tokens(&file)
            .unwrap_err()
            .hint()
            .unwrap()
            .contains("--new-token")
    );
}

#[test]
fn the_last_token_can_be_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    add_token(&file, "ana", Rights::ALL).unwrap();
    let tokens = crate::serve::TokensFile::open(&file).unwrap();
    assert_eq!(tokens.count(), 1);
    std::fs::write(&file, "").unwrap();
    tokens.reread().unwrap();
    assert_eq!(tokens.count(), 0);
    assert!(tokens.find(&KeyName::new("ana").unwrap()).is_none());
}
