//! The tokens file of a server: read with care, and added to.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::unistd::geteuid;
use wire::copy::{KeyName, Rights, Token, Tokens};

use crate::args::Serve;
use crate::failure::Failure;

/// Bits that let others than the owner read or change a file.
const OTHERS: u32 = 0o077;
/// The user who can read everything anyway.
const ROOT: u32 = 0;

/// What the arguments leave of all rights.
pub(super) fn rights(arguments: &Serve) -> Rights {
    Rights {
        read: !arguments.write_only,
        write: !arguments.read_only,
    }
}

/// Reads the file, which its owner alone may be able to read.
pub(super) fn read(file: &Path) -> Result<Tokens, Failure> {
    let tokens = existing(file)?;
    if tokens.names().next().is_none() {
        return Err(Failure::wrong_request(
            &format!("there is no token in {}", file.display()),
            &format!(
                "`trunkline serve --tokens {} --new-token NAME` makes one",
                file.display()
            ),
        ));
    }
    Ok(tokens)
}

fn existing(file: &Path) -> Result<Tokens, Failure> {
    let unreadable = |error| match error {
        error if io::Error::kind(&error) == io::ErrorKind::NotFound => Failure::wrong_request(
            &format!("there is no tokens file {}", file.display()),
            &format!(
                "`trunkline serve --tokens {} --new-token NAME` makes one",
                file.display()
            ),
        ),
        error => Failure::unreadable(file, &error),
    };
    // What is checked is what is read, whatever happens to the name meanwhile.
    let mut open = File::open(file).map_err(unreadable)?;
    let metadata = open.metadata().map_err(unreadable)?;
    check(file, metadata.uid(), metadata.mode(), geteuid().as_raw())?;
    let mut text = String::new();
    open.read_to_string(&mut text).map_err(unreadable)?;
    Tokens::parse(&text).map_err(|error| Failure::tokens(file, &error))
}

/// Whether nobody but `me` and root can have written the file or read it.
fn check(file: &Path, owner: u32, mode: u32, me: u32) -> Result<(), Failure> {
    let name = file.display();
    if owner != me && owner != ROOT {
        return Err(Failure::wrong_request(
            &format!(
                "the tokens file {name} belongs to user {owner}, and this server runs as user {me}"
            ),
            &format!("chown {me} {name}, and make new tokens: its owner knows them"),
        ));
    }
    if mode & OTHERS != 0 {
        return Err(Failure::wrong_request(
            &format!(
                "others than its owner may use the tokens file {name} (mode {:03o})",
                mode & 0o777
            ),
            &format!("chmod 600 {name}, and make new tokens if others may have read it"),
        ));
    }
    Ok(())
}

/// Makes a token, adds it to the file, which may be new, and gives its text.
pub(super) fn add(file: &Path, name: &str, rights: Rights) -> Result<String, Failure> {
    let name = KeyName::new(name).map_err(|error| {
        Failure::wrong_request(
            &error.to_string(),
            "name whom or what it is for, like `ana` or `lab-nas`",
        )
    })?;
    let before = match file.exists() {
        true => existing(file)?,
        false => Tokens::default(),
    };
    if before.find(&name).is_some() {
        return Err(Failure::wrong_request(
            &format!("{} has a token `{name}` already", file.display()),
            "choose another name, or delete the line of the old one",
        ));
    }
    let secret = copy_net::new_secret()?;
    let token = Token { name, secret };
    append(file, &Tokens::line(&token, rights)).map_err(|error| Failure::file(file, &error))?;
    Ok(token.text())
}

/// Names and rights, one a line; no secrets.
pub(super) fn list(file: &Path) -> Result<String, Failure> {
    let tokens = read(file)?;
    let mut text = String::new();
    for name in tokens.names() {
        let rights = tokens.find(name).map(|(_, rights)| rights.to_string());
        let folder = tokens.folder(name).filter(|folder| !folder.is_empty());
        let folder = folder.map(|folder| format!(" root={folder}"));
        text += &format!(
            "{name:<24} {:<2}{}\n",
            rights.unwrap_or_default(),
            folder.unwrap_or_default()
        );
    }
    Ok(text)
}

/// In one write, so that two that are made at once do not mix.
fn append(file: &Path, line: &str) -> io::Result<()> {
    let mut end = OpenOptions::new();
    end.append(true).create(true).mode(0o600);
    let mut file: File = end.open(file)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(file: &Path) -> u32 {
        fs::metadata(file).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_token_opens_what_the_file_says() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        let read_only = Rights {
            read: true,
            write: false,
        };
        let text = add(&file, "ana", Rights::ALL).unwrap();
        add(&file, "lab-nas", read_only).unwrap();
        assert_eq!(mode(&file), 0o600);
        let token: Token = text.parse().unwrap();
        let tokens = read(&file).unwrap();
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
        add(&file, "ana", Rights::ALL).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let failure = read(&file).unwrap_err();
        assert!(failure.what().contains("(mode 640)"), "{}", failure.what());
        assert!(failure.hint().unwrap().starts_with("chmod 600"));
        assert!(add(&file, "bob", Rights::ALL).is_err());
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
        add(&file, "ana", Rights::ALL).unwrap();
        let twice = add(&file, "ana", Rights::ALL).unwrap_err();
        assert!(twice.what().contains("has a token `ana` already"));
        assert!(add(&file, "a b", Rights::ALL).is_err());
        assert!(add(&file, "", Rights::ALL).is_err());
    }

    #[test]
    fn a_secret_is_in_no_message() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        append(&file, "ana rw hunter2hunter2\n").unwrap();
        let failure = read(&file).unwrap_err();
        assert!(failure.what().contains("line 1"), "{}", failure.what());
        assert!(!format!("{failure:?}").contains("hunter2"));
    }

    #[test]
    fn a_missing_and_an_empty_file_say_how_to_make_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        assert!(
            read(&file)
                .unwrap_err()
                .hint()
                .unwrap()
                .contains("--new-token")
        );
        append(&file, "# nobody yet\n").unwrap();
        assert!(
            read(&file)
                .unwrap_err()
                .hint()
                .unwrap()
                .contains("--new-token")
        );
    }
}
