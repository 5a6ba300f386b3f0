//! The tokens file of a server: read with care, and added to.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use copy_protocol::{KeyName, Rights, Token, Tokens, TokensError};
use nix::unistd::geteuid;

use crate::{Error, Fault};

/// Bits that let others than the owner read or change a file.
const OTHERS: u32 = 0o077;
/// The user who can read everything anyway.
const ROOT: u32 = 0;

/// Reads a tokens file, which its owner alone may be able to read.
///
/// # Errors
/// When there is none, others could have read or written it, or it has no token or wrong lines.
pub fn read_tokens(file: &Path) -> Result<Tokens, Error> {
    let tokens = existing(file)?;
    if tokens.names().next().is_none() {
        return Err(Error::wrong_request(
            format!("there is no token in {}", file.display()),
            format!(
                "`trunkline serve --tokens {} --new-token NAME` makes one",
                file.display()
            ),
        ));
    }
    Ok(tokens)
}

/// Reads a tokens file; one without tokens opens nothing.
///
/// # Errors
/// As [`read_tokens`], but for a file without tokens.
pub(super) fn existing(file: &Path) -> Result<Tokens, Error> {
    let unreadable = |error| match error {
        error if io::Error::kind(&error) == io::ErrorKind::NotFound => Error::wrong_request(
            format!("there is no tokens file {}", file.display()),
            format!(
                "`trunkline serve --tokens {} --new-token NAME` makes one",
                file.display()
            ),
        ),
        error => Error::unreadable(file, error),
    };
    // What is checked is what is read, whatever happens to the name meanwhile.
    let mut open = File::open(file).map_err(unreadable)?;
    let metadata = open.metadata().map_err(unreadable)?;
    check(file, metadata.uid(), metadata.mode(), geteuid().as_raw())?;
    let mut text = String::new();
    open.read_to_string(&mut text).map_err(unreadable)?;
    Tokens::parse(&text).map_err(|error| unusable(file, error))
}

/// A tokens file that cannot be used. What stands in it is not shown.
fn unusable(file: &Path, error: TokensError) -> Error {
    let file = file.display();
    let error = Error::sentence(
        Fault::Request,
        format!("cannot use {file}"),
        Some(error.into()),
    );
    error.with_hint(format!(
        "mend or delete that line; `trunkline serve --tokens {file} --new-token NAME` writes right \
         ones"
    ))
}

/// Whether only `me` and root can have written the file or read it.
fn check(file: &Path, owner: u32, mode: u32, me: u32) -> Result<(), Error> {
    let name = file.display();
    if owner != me && owner != ROOT {
        return Err(Error::wrong_request(
            format!(
                "the tokens file {name} belongs to user {owner}, and this server runs as user {me}"
            ),
            format!("chown {me} {name}, and make new tokens: its owner knows them"),
        ));
    }
    if mode & OTHERS != 0 {
        return Err(Error::wrong_request(
            format!(
                "others than its owner may use the tokens file {name} (mode {:03o})",
                mode & 0o777
            ),
            format!("chmod 600 {name}, and make new tokens if others may have read it"),
        ));
    }
    Ok(())
}

/// Makes a token, adds it to the file, which may be new, and gives its text: the secret that
/// `trunkline copy` takes.
///
/// * `name`: whom or what it is for, like `ana` or `lab-nas`.
/// * `rights`: the most that it allows.
///
/// # Errors
/// When the name is none or taken, or the file cannot be read or written.
pub fn add_token(file: &Path, name: &str, rights: Rights) -> Result<String, Error> {
    let name = KeyName::new(name).map_err(|error| {
        Error::wrong_request(
            error.to_string(),
            "name whom or what it is for, like `ana` or `lab-nas`",
        )
    })?;
    let before = match file.exists() {
        true => existing(file)?,
        false => Tokens::default(),
    };
    if before.find(&name).is_some() {
        return Err(Error::wrong_request(
            format!("{} has a token `{name}` already", file.display()),
            "choose another name, or delete the line of the old one",
        ));
    }
    let secret = copy_net::new_secret()?;
    let token = Token { name, secret };
    append(file, &Tokens::line(&token, rights)).map_err(|error| {
        let fault = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Fault::Request,
            _ => Fault::Run,
        };
        Error::unwritable(file, error).with_fault(fault)
    })?;
    Ok(token.text())
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
mod tests;
