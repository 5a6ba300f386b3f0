//! RSA of iperf3's logins, by the system's `openssl`.
//!
//! Not by a crate: `rsa` tells its key by the time that it takes (RUSTSEC-2023-0071, without a
//! release that mends it), `ring` decrypts nothing, and trunkline links no library of the system.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use errors::{Fault, Hint};
use sockets::filter;
use thiserror::Error;
pub use units::Padding;

/// What does it: found as the shell finds it.
const PROGRAM: &str = "openssl";
/// It takes some 10 ms.
const LIMIT: Duration = Duration::from_secs(5);
/// Ciphertexts of keys of 2048 bits, the least that iperf3's page names, to 8192 bits.
const CIPHERTEXT: std::ops::RangeInclusive<usize> = 256..=1_024;

/// Why nothing was encrypted or decrypted.
#[derive(Debug, Error)]
pub enum RsaError {
    /// A file cannot be read.
    #[error("cannot read {file}", file = .file.display())]
    Unreadable {
        /// Which.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// There is no such program, or it does not end.
    #[error("cannot run `{PROGRAM}`, which does the RSA of iperf3's logins")]
    Program(#[source] io::Error),
    /// The program says no.
    #[error("`{PROGRAM}` cannot use the RSA key {file}: {said}", file = .file.display())]
    Refused {
        /// The file of the key.
        file: PathBuf,
        /// The reason.
        said: String,
    },
}

impl Hint for RsaError {
    fn fault(&self) -> Fault {
        match self {
            RsaError::Program(_) => Fault::Run,
            _ => Fault::Request,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            RsaError::Unreadable { .. } => {
                "check the name, and that you may read the file".to_owned()
            }
            RsaError::Program(_) => {
                format!(
                    "install `{PROGRAM}`, so that `{PROGRAM} version` answers, or do without users"
                )
            }
            RsaError::Refused { .. } => format!(
                "a server needs a private key without a password (`{PROGRAM} genrsa -out key.pem \
                2048`), a client its public part (`{PROGRAM} rsa -in key.pem -pubout -out pub.pem`)"
            ),
        })
    }
}

/// A key in a file, and how it is used.
#[derive(Debug, Clone)]
pub(crate) struct Rsa {
    /// A whole path: it begins with neither a dash nor a scheme.
    pub(crate) key: PathBuf,
    padding: Padding,
    /// What the program is told of the key.
    words: &'static [&'static str],
}

impl Rsa {
    /// The public key in that file, which can encrypt; it is not read yet.
    pub(crate) fn public(key: &Path, padding: Padding) -> Result<Self, RsaError> {
        Ok(Rsa {
            key: whole(key)?,
            padding,
            words: &["-pubin"],
        })
    }

    /// The same of a private one, which can decrypt, too. One with a password is refused.
    pub(crate) fn private(key: &Path, padding: Padding) -> Result<Self, RsaError> {
        let words = &["-passin", "pass:"];
        Ok(Rsa {
            words,
            ..Rsa::public(key, padding)?
        })
    }

    pub(crate) fn encrypt(&self, message: &[u8]) -> Result<Vec<u8>, RsaError> {
        let ciphertext = self.run("-encrypt", message)?;
        match CIPHERTEXT.contains(&ciphertext.len()) {
            true => Ok(ciphertext),
            false => Err(self.refused(format!(
                "it has {} bits; 2048 to 8192 are possible",
                8 * ciphertext.len()
            ))),
        }
    }

    pub(crate) fn decrypt(&self, ciphertext: &[u8]) -> Result<Vec<u8>, RsaError> {
        self.run("-decrypt", ciphertext)
    }

    /// All that varies among the words is the name of the file; the message stands in none.
    fn run(&self, what: &str, input: &[u8]) -> Result<Vec<u8>, RsaError> {
        let padding = match self.padding {
            Padding::Oaep => "rsa_padding_mode:oaep",
            Padding::Pkcs1 => "rsa_padding_mode:pkcs1",
        };
        let fixed = ["pkeyutl", what, "-pkeyopt", padding, "-inkey"];
        let mut arguments: Vec<OsString> = fixed.map(OsString::from).into();
        arguments.push(self.key.clone().into());
        arguments.extend(self.words.iter().map(OsString::from));
        let done = filter(PROGRAM, &arguments, input, LIMIT).map_err(RsaError::Program)?;
        match done.status.success() {
            true => Ok(done.stdout),
            false => Err(self.refused(reason(&String::from_utf8_lossy(&done.stderr)))),
        }
    }

    pub(crate) fn refused(&self, said: String) -> RsaError {
        let file = self.key.clone();
        RsaError::Refused { file, said }
    }
}

/// The whole path of a file that is there.
pub(crate) fn whole(file: &Path) -> Result<PathBuf, RsaError> {
    file.canonicalize().map_err(unreadable(file))
}

pub(crate) fn unreadable(file: &Path) -> impl Fn(io::Error) -> RsaError {
    let file = file.to_owned();
    move |source| RsaError::Unreadable {
        file: file.clone(),
        source,
    }
}

/// The line that a user can read, or the reason in the first line of the error's queue, as
/// `...:error:CODE:LIBRARY:FUNCTION:REASON:FILE:LINE:`.
fn reason(said: &str) -> String {
    let spoken = said.lines().find(|line| line.starts_with("Could not "));
    let queued = || {
        said.lines()
            .find_map(|line| line.split(":error:").nth(1)?.split(':').nth(3))
    };
    let found = spoken.or_else(queued).or_else(|| said.lines().next());
    units::printable(found.unwrap_or("it gave no reason"), 200)
}
