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

/// What does it: found as the shell finds it.
const PROGRAM: &str = "openssl";
/// It takes some 10 ms.
const LIMIT: Duration = Duration::from_secs(5);
/// Ciphertexts of keys of 2048 bits, the least that iperf3's page names, to 8192 bits.
const CIPHERTEXT: std::ops::RangeInclusive<usize> = 256..=1_024;

/// How a message is padded before it is encrypted. Both ends need the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Padding {
    /// OAEP with SHA-1, as iperf3 has it since 3.17.
    #[default]
    Oaep,
    /// PKCS#1 1.5, as iperf3 had it before. With OpenSSL before 3.2 the time of an answer can tell
    /// what was sent by others (CVE-2024-26306).
    Pkcs1,
}

/// Why a message was not encrypted or decrypted.
#[derive(Debug, Error)]
pub enum RsaError {
    /// The key's file cannot be read.
    #[error("cannot read the RSA key {file}", file = .key.display())]
    Unreadable {
        /// The file.
        key: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// There is no such program, or it does not end.
    #[error("cannot run `{PROGRAM}`, which does the RSA of iperf3's logins")]
    Program(#[source] io::Error),
    /// The program says no.
    #[error("`{PROGRAM}` cannot use the RSA key {file}: {said}", file = .key.display())]
    Refused {
        /// The file.
        key: PathBuf,
        /// Its reason.
        said: String,
    },
    /// A key that is too short or too long.
    #[error(
        "the RSA key {file} has {bits} bits; 2048 to 8192 are possible",
        file = .key.display()
    )]
    Bits {
        /// The file.
        key: PathBuf,
        /// Bits of a ciphertext.
        bits: usize,
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
            RsaError::Program(source) if source.kind() == io::ErrorKind::NotFound => {
                format!("install `{PROGRAM}`, or do without users of iperf3")
            }
            RsaError::Program(_) => format!("see whether `{PROGRAM} version` answers here"),
            RsaError::Refused { .. } | RsaError::Bits { .. } => format!(
                "a server needs a private key without a password (`{PROGRAM} genrsa -out key.pem \
                2048`), a client its public part (`{PROGRAM} rsa -in key.pem -pubout -out pub.pem`)"
            ),
        })
    }
}

/// A key in a file, and how it is used.
#[derive(Debug, Clone)]
pub(crate) struct Rsa {
    key: PathBuf,
    padding: Padding,
}

impl Rsa {
    /// The key in that file, which is not read yet.
    ///
    /// # Errors
    /// When there is no such file.
    pub(crate) fn new(key: &Path, padding: Padding) -> Result<Self, RsaError> {
        // A whole path begins with neither a dash nor a scheme.
        let whole = key.canonicalize().map_err(|source| RsaError::Unreadable {
            key: key.to_owned(),
            source,
        })?;
        Ok(Rsa {
            key: whole,
            padding,
        })
    }

    /// The file.
    pub(crate) fn key(&self) -> &Path {
        &self.key
    }

    /// Encrypts for the holder of the private key; the file has the public one.
    pub(crate) fn encrypt(&self, message: &[u8]) -> Result<Vec<u8>, RsaError> {
        self.encrypt_with(&["-pubin"], message)
    }

    /// Encrypts with the public part of the private key that the file has.
    pub(crate) fn encrypt_to_self(&self, message: &[u8]) -> Result<Vec<u8>, RsaError> {
        self.encrypt_with(&["-passin", "pass:"], message)
    }

    fn encrypt_with(&self, words: &[&str], message: &[u8]) -> Result<Vec<u8>, RsaError> {
        let ciphertext = self.run("-encrypt", words, message)?;
        match CIPHERTEXT.contains(&ciphertext.len()) {
            true => Ok(ciphertext),
            false => Err(RsaError::Bits {
                key: self.key.clone(),
                bits: 8 * ciphertext.len(),
            }),
        }
    }

    /// Decrypts with the private key that the file has.
    pub(crate) fn decrypt(&self, ciphertext: &[u8]) -> Result<Vec<u8>, RsaError> {
        self.run("-decrypt", &["-passin", "pass:"], ciphertext)
    }

    /// All that varies among the words is the name of the file; the message stands in none.
    fn run(&self, what: &str, words: &[&str], input: &[u8]) -> Result<Vec<u8>, RsaError> {
        let padding = match self.padding {
            Padding::Oaep => "rsa_padding_mode:oaep",
            Padding::Pkcs1 => "rsa_padding_mode:pkcs1",
        };
        let fixed = ["pkeyutl", what, "-pkeyopt", padding, "-inkey"];
        let mut arguments: Vec<OsString> = fixed.map(OsString::from).into();
        arguments.push(self.key.clone().into_os_string());
        arguments.extend(words.iter().map(OsString::from));
        let done = filter(PROGRAM, &arguments, input, LIMIT).map_err(RsaError::Program)?;
        match done.status.success() {
            true => Ok(done.output),
            false => Err(RsaError::Refused {
                key: self.key.clone(),
                said: reason(&done.said),
            }),
        }
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
