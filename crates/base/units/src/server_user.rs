//! Users of servers, as iperf3 has them.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How a login is padded before it is encrypted. Both ends need the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Padding {
    /// OAEP with SHA-1, as iperf3 has it since 3.17.
    #[default]
    Oaep,
    /// PKCS#1 1.5, as iperf3 had it before. With OpenSSL before 3.2 the time of an answer can tell
    /// what was sent by others (CVE-2024-26306).
    Pkcs1,
}

/// A text that names no padding.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no padding; write `oaep` or `pkcs1`")]
pub struct PaddingError(String);

impl FromStr for Padding {
    type Err = PaddingError;

    fn from_str(text: &str) -> Result<Self, PaddingError> {
        match text {
            "oaep" => Ok(Padding::Oaep),
            "pkcs1" => Ok(Padding::Pkcs1),
            other => Err(PaddingError(crate::printable(other, 60))),
        }
    }
}

impl Padding {
    /// Whether it is the one of today's iperf3.
    fn is_usual(&self) -> bool {
        *self == Padding::default()
    }
}

/// A user of a server, as plans have it: all of a login but its password.
///
/// ```
/// use units::{Padding, ServerUser};
/// let user = ServerUser {
///     name: "ana".to_owned(),
///     key: "/etc/trunkline/public.pem".to_owned(),
///     padding: Padding::Oaep,
/// };
/// assert_eq!(user.to_string(), "`ana` with the key /etc/trunkline/public.pem");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerUser {
    /// The name that the server knows.
    pub name: String,
    /// The file with the server's public RSA key, in PEM form, on the host that logs in.
    pub key: String,
    /// How the login is padded; absent where it is `oaep`.
    #[serde(default, skip_serializing_if = "Padding::is_usual")]
    pub padding: Padding,
}

impl fmt::Display for ServerUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, key) = (crate::printable(&self.name, 100), &self.key);
        write!(f, "`{name}` with the key {}", crate::printable(key, 200))?;
        match self.padding {
            Padding::Oaep => Ok(()),
            Padding::Pkcs1 => f.write_str(", padded as pkcs1"),
        }
    }
}
