//! The users whom a server lets in, as iperf3 has them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use errors::{Fault, Hint};
use measure_protocol::{AuthToken, Credentials, NotAdmitted, Users, UsersError};
use thiserror::Error;
use units::Span;

use crate::client::login::seconds_now;
use crate::rsa::{Padding, Rsa, RsaError};

/// Most bytes of the file of users: ten thousand of them.
const FILE_MAX: u64 = 1 << 20;
/// Bits that let others than the owner change a file.
const CHANGED_BY_OTHERS: u32 = 0o022;
/// Bits that let others than the owner read or change a file.
const USED_BY_OTHERS: u32 = 0o077;

/// The users of a server, its key, and how far their clocks may be off.
#[derive(Debug, Clone)]
pub struct Accounts {
    rsa: Rsa,
    /// Bytes of a ciphertext.
    length: usize,
    users: PathBuf,
    skew: Span,
}

/// Why a server cannot check users.
#[derive(Debug, Error)]
pub enum AccountsError {
    /// The key or `openssl` cannot be used.
    #[error(transparent)]
    Rsa(#[from] RsaError),
    /// What was encrypted did not come out again.
    #[error("the RSA key {file} does not decrypt what it encrypted", file = .0.display())]
    Changed(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {file}", file = .file.display())]
    Unreadable {
        /// Which.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Others than its owner could have changed it, or read the key.
    #[error("others than its owner may use {file} (mode {mode:03o})", file = .file.display())]
    Open {
        /// Which.
        file: PathBuf,
        /// Its mode.
        mode: u32,
        /// What it may be at most.
        bound: u32,
    },
    /// Longer than is read.
    #[error(
        "{file} is larger than {FILE_MAX} bytes, the most of a file of users",
        file = .0.display()
    )]
    Long(PathBuf),
    /// A line that is none.
    #[error("cannot use the users in {file}: {why}", file = .file.display())]
    Users {
        /// The file.
        file: PathBuf,
        /// Which line.
        why: UsersError,
    },
}

impl Hint for AccountsError {
    fn fault(&self) -> Fault {
        match self {
            AccountsError::Rsa(error) => error.fault(),
            _ => Fault::Request,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            AccountsError::Rsa(error) => return error.hint(),
            AccountsError::Changed(_) => {
                "make another key: `openssl genrsa -out key.pem 2048`".to_owned()
            }
            AccountsError::Unreadable { .. } => {
                "check the name, and that you may read the file".to_owned()
            }
            AccountsError::Open { file, bound, .. } => {
                format!("chmod {bound:o} {}", file.display())
            }
            AccountsError::Long(_) | AccountsError::Users { .. } => {
                "a line of user `ana` with password `word` is `ana,` and the first word of `printf \
                 %s '{ana}word' | sha256sum`"
                    .to_owned()
            }
        })
    }
}

impl Accounts {
    /// Users of the file `users`, with the private key of the file `key` in PEM form.
    ///
    /// * `skew`: how far the time of a login may be from this host's.
    ///
    /// # Errors
    /// When one of the files or `openssl` cannot be used: something is encrypted and decrypted.
    pub fn open(
        key: &Path,
        users: &Path,
        padding: Padding,
        skew: Span,
    ) -> Result<Self, AccountsError> {
        const TRIED: &[u8] = b"user: trunkline";
        let rsa = Rsa::new(key, padding)?;
        check_mode(rsa.key(), &opened(rsa.key())?, USED_BY_OTHERS, 0o600)?;
        let users = users.canonicalize().map_err(unreadable(users))?;
        read_users(&users)?;
        let ciphertext = rsa.encrypt_to_self(TRIED)?;
        match rsa.decrypt(&ciphertext)? == TRIED {
            true => Ok(Accounts {
                rsa,
                length: ciphertext.len(),
                users,
                skew,
            }),
            false => Err(AccountsError::Changed(key.to_owned())),
        }
    }

    /// The name of the user who sent that. The file is read anew, as iperf3 does.
    pub(super) fn admit(&self, token: Option<&AuthToken>) -> Result<String, NotLetIn> {
        let token = token.ok_or(NotAdmitted::NoToken)?;
        let ciphertext = token.ciphertext();
        let ciphertext = ciphertext.filter(|bytes| bytes.len() == self.length);
        let said = match self
            .rsa
            .decrypt(&ciphertext.ok_or(NotAdmitted::Unreadable)?)
        {
            Ok(said) => Credentials::from_plaintext(&said),
            Err(RsaError::Refused { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let said = said.ok_or(NotAdmitted::Unreadable)?;
        Ok(read_users(&self.users)?.admit(&said, seconds_now(), self.skew)?)
    }
}

/// Why a client was not let in. It hears nothing of that.
#[derive(Debug, Error)]
pub enum NotLetIn {
    /// Who it is.
    #[error(transparent)]
    Client(#[from] NotAdmitted),
    /// The users could not be read any more.
    #[error(transparent)]
    Accounts(#[from] AccountsError),
    /// It could not be decrypted here.
    #[error(transparent)]
    Rsa(#[from] RsaError),
}

fn unreadable(file: &Path) -> impl Fn(io::Error) -> AccountsError {
    let file = file.to_owned();
    move |source| AccountsError::Unreadable {
        file: file.clone(),
        source,
    }
}

fn opened(file: &Path) -> Result<File, AccountsError> {
    File::open(file).map_err(unreadable(file))
}

fn check_mode(path: &Path, file: &File, bits: u32, bound: u32) -> Result<(), AccountsError> {
    let metadata = file.metadata().map_err(unreadable(path))?;
    match metadata.mode() & bits {
        0 => Ok(()),
        _ => Err(AccountsError::Open {
            file: path.to_owned(),
            mode: metadata.mode() & 0o777,
            bound,
        }),
    }
}

fn read_users(path: &Path) -> Result<Users, AccountsError> {
    let file = opened(path)?;
    check_mode(path, &file, CHANGED_BY_OTHERS, 0o644)?;
    let mut text = String::new();
    let read = file.take(FILE_MAX + 1).read_to_string(&mut text);
    if read.map_err(unreadable(path))? as u64 > FILE_MAX {
        return Err(AccountsError::Long(path.to_owned()));
    }
    Users::parse(&text).map_err(|why| AccountsError::Users {
        file: path.to_owned(),
        why,
    })
}

#[cfg(test)]
mod tests;
