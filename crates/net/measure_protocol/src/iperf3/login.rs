//! Users of iperf3: what a client says of its own, and whether a server lets it in.
//!
//! iperf3 3.12 to 3.21 (`iperf_auth.c`): the parameters have `authtoken`, the base64 of an RSA
//! ciphertext of `user: NAME\npwd:  PASSWORD\nts:   SECONDS`. A file of the server has a line
//! `NAME,HASH` for each user, with the hexadecimal SHA-256 of `{NAME}PASSWORD`.
//!
//! Left out: RSA, which is the driver's; protection against a token that is sent twice while it is
//! valid, which iperf3 has not either.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};
use thiserror::Error;
use units::Span;

/// Most bytes of a name and of a password: more than RSA of 8192 bits takes.
const WORD_MAX: usize = 1_024;

/// An encrypted login, as it stands in the parameters. It is not shown.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct AuthToken(String);

impl AuthToken {
    /// From a ciphertext.
    /// ```
    /// let token = measure_protocol::AuthToken::from_ciphertext(b"\x01\x02\x03");
    /// assert_eq!(token.ciphertext(), Some(vec![1, 2, 3]));
    /// assert_eq!(format!("{token:?}"), "AuthToken(4 characters)");
    /// ```
    pub fn from_ciphertext(bytes: &[u8]) -> Self {
        AuthToken(BASE64_STANDARD.encode(bytes))
    }

    /// As a client wrote it.
    pub(crate) fn from_text(text: String) -> Self {
        AuthToken(text)
    }

    /// The ciphertext; `None` where it is no base64.
    pub fn ciphertext(&self) -> Option<Vec<u8>> {
        BASE64_STANDARD.decode(&self.0).ok()
    }
}

impl fmt::Debug for AuthToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuthToken({} characters)", self.0.len())
    }
}

/// A name, a password and when they were said. They are not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    user: Vec<u8>,
    password: Vec<u8>,
    /// Seconds since 1970.
    at: i64,
}

impl Credentials {
    /// Of this moment, in seconds since 1970.
    ///
    /// # Errors
    /// When the name or the password is empty, too long, or has white space or control characters:
    /// iperf3 reads both up to there.
    pub fn new(user: &str, password: &str, at: i64) -> Result<Self, WordError> {
        check("user", user)?;
        check("password", password)?;
        Ok(Credentials {
            user: user.as_bytes().to_vec(),
            password: password.as_bytes().to_vec(),
            at,
        })
    }

    /// What is encrypted.
    pub fn to_plaintext(&self) -> Vec<u8> {
        let seconds = self.at.to_string();
        let parts: [&[u8]; 6] = [
            b"user: ",
            &self.user,
            b"\npwd:  ",
            &self.password,
            b"\nts:   ",
            seconds.as_bytes(),
        ];
        parts.concat()
    }

    /// From what was decrypted; `None` where it is something else.
    pub fn from_plaintext(text: &[u8]) -> Option<Self> {
        let mut lines = text.splitn(3, |byte| *byte == b'\n');
        let user = lines.next()?.strip_prefix(b"user: ")?.to_vec();
        let password = lines.next()?.strip_prefix(b"pwd:  ")?.to_vec();
        let seconds = str::from_utf8(lines.next()?.strip_prefix(b"ts:   ")?).ok()?;
        Some(Credentials {
            user,
            password,
            at: seconds.parse().ok()?,
        })
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

fn check(what: &'static str, word: &str) -> Result<(), WordError> {
    let stops = |c: char| c.is_whitespace() || c.is_control();
    match (1..=WORD_MAX).contains(&word.len()) && !word.contains(stops) {
        true => Ok(()),
        false => Err(WordError(what)),
    }
}

/// Which of name and password iperf3 cannot say. Neither is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the {0} for the server needs 1 to {WORD_MAX} bytes, without white space and control characters"
)]
pub struct WordError(&'static str);

/// Why a client is not let in: for the server's owner. The client hears one answer for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotAdmitted {
    /// It named no user.
    #[error("it named no user")]
    NoToken,
    /// What it sent is no login under the server's key and padding.
    #[error(
        "what it sent cannot be read with the key here: it may have another key, or pad otherwise \
        (iperf3 before 3.17 needs `--iperf3-padding pkcs1`)"
    )]
    Unreadable,
    /// Its clock or its token is off.
    #[error("its login is {seconds} s from the clock here; at most {bound} are allowed")]
    Time {
        /// Seconds between the two clocks, above zero where the token is of the past.
        seconds: i64,
        /// The bound.
        bound: Span,
    },
    /// Another name, or another password.
    #[error("no user has that name and password")]
    Unknown,
}

/// The users that a server lets in.
///
/// ```
/// use measure_protocol::{Credentials, NotAdmitted, Users};
/// use units::Span;
/// // iperf3's own example: `echo -n "{mario}rossi" | sha256sum`.
/// let file = "mario,bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b\n";
/// let users = Users::parse(file).unwrap();
/// let said = |password| Credentials::new("mario", password, 1_000).unwrap();
/// assert_eq!(users.admit(&said("rossi"), 1_009, Span::from_secs(10)).unwrap(), "mario");
/// let refused = users.admit(&said("verdi"), 1_009, Span::from_secs(10));
/// assert_eq!(refused, Err(NotAdmitted::Unknown));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Users(Vec<(String, [u8; 32])>);

impl Users {
    /// From the lines `NAME,HASH` of a file. Empty lines and those that begin with `#` count for
    /// nothing, nor does what follows a second comma.
    ///
    /// # Errors
    /// A line without a name or with no such hash, or a file without users.
    pub fn parse(text: &str) -> Result<Self, UsersError> {
        let lines = text.lines().zip(1..);
        let told = lines.filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#'));
        let users = told.map(|(line, number)| {
            let (name, rest) = line.split_once(',').ok_or(UsersError::Line(number))?;
            let hash = rest.split(',').next().and_then(hash);
            match hash.filter(|_| !name.is_empty()) {
                Some(hash) => Ok((name.to_owned(), hash)),
                None => Err(UsersError::Line(number)),
            }
        });
        let users = users.collect::<Result<Vec<_>, _>>()?;
        match users.is_empty() {
            true => Err(UsersError::Empty),
            false => Ok(Users(users)),
        }
    }

    /// The name of the user who said that, `now` in seconds since 1970. All users are compared, in
    /// a time that depends on no hash.
    ///
    /// # Errors
    /// Why it is none.
    pub fn admit(&self, said: &Credentials, now: i64, bound: Span) -> Result<String, NotAdmitted> {
        let salted: [&[u8]; 4] = [b"{", &said.user, b"}", &said.password];
        let asked: [u8; 32] = Sha256::digest(salted.concat()).into();
        let mut found = Choice::from(0);
        for (name, hash) in &self.0 {
            found |= name.as_bytes().ct_eq(&said.user) & hash[..].ct_eq(&asked[..]);
        }
        let seconds = now.saturating_sub(said.at);
        if Span::from_secs(seconds.unsigned_abs().min(u64::from(u32::MAX))) > bound {
            return Err(NotAdmitted::Time { seconds, bound });
        }
        match bool::from(found) {
            true => Ok(String::from_utf8_lossy(&said.user).into_owned()),
            false => Err(NotAdmitted::Unknown),
        }
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Users({})", self.0.len())
    }
}

/// A file of users that cannot be used. What stands in it is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UsersError {
    /// Which line, from 1.
    #[error("line {0} is no `NAME,HASH` with 64 hexadecimal digits")]
    Line(usize),
    /// There is none.
    #[error("there is no user in it")]
    Empty,
    /// Longer than so many bytes.
    #[error("it has more than {0} bytes")]
    Long(u64),
}

/// 32 bytes of hexadecimal digits.
fn hash(hex: &str) -> Option<[u8; 32]> {
    let digits = hex.trim_end().as_bytes();
    let mut hash = [0; 32];
    if digits.len() != 2 * hash.len() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests;
