//! The users whom a server lets in, as iperf3 has them.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use errors::{Fault, Hint};
use measure_protocol::{AuthToken, Credentials, NotAdmitted, Users, UsersError};
use thiserror::Error;
use units::Span;

use crate::client::login::seconds_now;
use crate::rsa::{Padding, Rsa, RsaError, unreadable, whole};

/// Most bytes of the file of users: ten thousand of them.
const FILE_MAX: u64 = 1 << 20;

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
    /// A file or `openssl` cannot be used.
    #[error(transparent)]
    Rsa(#[from] RsaError),
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
            AccountsError::Open { file, bound, .. } => {
                format!("chmod {bound:o} {}", file.display())
            }
            AccountsError::Users { .. } => {
                "a line of user `ana` with password `word` is `ana,` and the first word of `printf \
                 %s '{ana}word' | sha256sum`"
                    .to_owned()
            }
        })
    }
}

/// Why a client was not let in. It hears nothing of that.
#[derive(Debug, Error)]
pub enum NotLetIn {
    /// Who it is.
    #[error(transparent)]
    Client(#[from] NotAdmitted),
    /// It could not be checked here.
    #[error(transparent)]
    Accounts(#[from] AccountsError),
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
        let rsa = Rsa::private(key, padding)?;
        opened(&rsa.key, 0o600)?;
        let users = whole(users)?;
        read_users(&users)?;
        let ciphertext = rsa.encrypt(TRIED)?;
        if rsa.decrypt(&ciphertext)? != TRIED {
            let said = "what it encrypts does not come out again".to_owned();
            return Err(rsa.refused(said).into());
        }
        Ok(Accounts {
            rsa,
            length: ciphertext.len(),
            users,
            skew,
        })
    }

    /// The name of the user who sent that. The file is read anew, as iperf3 does.
    ///
    /// # Errors
    /// Why the client is not let in.
    pub fn admit(&self, token: Option<&AuthToken>) -> Result<String, NotLetIn> {
        let token = token.ok_or(NotAdmitted::NoToken)?;
        let ciphertext = token.ciphertext();
        let ciphertext = ciphertext.filter(|bytes| bytes.len() == self.length);
        let said = match self
            .rsa
            .decrypt(&ciphertext.ok_or(NotAdmitted::Unreadable)?)
        {
            Ok(said) => Credentials::from_plaintext(&said),
            Err(RsaError::Refused { .. }) => None,
            Err(error) => return Err(AccountsError::from(error).into()),
        };
        let said = said.ok_or(NotAdmitted::Unreadable)?;
        Ok(read_users(&self.users)?.admit(&said, seconds_now(), self.skew)?)
    }
}

/// A file that allows others no more than `bound` does.
fn opened(path: &Path, bound: u32) -> Result<File, AccountsError> {
    let file = File::open(path).map_err(unreadable(path))?;
    let mode = file.metadata().map_err(unreadable(path))?.mode() & 0o777;
    match mode & !bound & 0o066 {
        0 => Ok(file),
        _ => Err(AccountsError::Open {
            file: path.to_owned(),
            mode,
            bound,
        }),
    }
}

fn read_users(path: &Path) -> Result<Users, AccountsError> {
    let wrong = |why| AccountsError::Users {
        file: path.to_owned(),
        why,
    };
    let mut text = String::new();
    let file = opened(path, 0o644)?;
    let mut part = file.take(FILE_MAX + 1);
    let read = part.read_to_string(&mut text).map_err(unreadable(path))?;
    match read as u64 > FILE_MAX {
        true => Err(wrong(UsersError::Long(FILE_MAX))),
        false => Users::parse(&text).map_err(wrong),
    }
}
