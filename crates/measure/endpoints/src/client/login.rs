//! Who a client is to a server with users.

use std::fmt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use errors::{Fault, Hint};
use measure_protocol::{AuthToken, Credentials, WordError};
use thiserror::Error;

use crate::rsa::{Padding, Rsa, RsaError};

/// A user of a server: name, password and the server's public key.
#[derive(Clone)]
pub struct Login {
    user: String,
    password: String,
    rsa: Rsa,
}

/// Why there is no login.
#[derive(Debug, Error)]
pub enum LoginError {
    /// A name or a password that cannot be sent.
    #[error(transparent)]
    Word(#[from] WordError),
    /// It was not encrypted.
    #[error(transparent)]
    Rsa(#[from] RsaError),
}

impl Hint for LoginError {
    fn fault(&self) -> Fault {
        match self {
            LoginError::Word(_) => Fault::Request,
            LoginError::Rsa(error) => error.fault(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            LoginError::Word(_) => {
                Some("give the name and the password that the server knows".to_owned())
            }
            LoginError::Rsa(error) => error.hint(),
        }
    }
}

impl Login {
    /// A user with a password, at a server whose public key is in the file `key`, in PEM form.
    ///
    /// # Errors
    /// When the words or the key cannot be used, or there is no `openssl`: a first token is made.
    pub fn new(
        user: &str,
        password: &str,
        key: &Path,
        padding: Padding,
    ) -> Result<Self, LoginError> {
        let login = Login {
            user: user.to_owned(),
            password: password.to_owned(),
            rsa: Rsa::public(key, padding)?,
        };
        login.token()?;
        Ok(login)
    }

    /// What the parameters of one test have: it is valid for seconds.
    fn token(&self) -> Result<AuthToken, LoginError> {
        let said = Credentials::new(&self.user, &self.password, seconds_now())?;
        let ciphertext = self.rsa.encrypt(&said.to_plaintext())?;
        Ok(AuthToken::from_ciphertext(&ciphertext))
    }
}

/// What the parameters of a test have of a user, if there is one.
pub(crate) fn token(login: Option<&Login>) -> Result<Option<AuthToken>, LoginError> {
    login.map(Login::token).transpose()
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({})", self.user)
    }
}

/// Seconds since 1970 by this host's clock.
pub(crate) fn seconds_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}
