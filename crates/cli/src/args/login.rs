//! Users of servers, as iperf3 has them.

use std::path::PathBuf;

use clap::Args;
use trunkline::ask::padding;
use trunkline::login::{self, Login, Padding, ServerUser};
use trunkline::{Error, TargetName};

/// Who asks a server with users.
#[derive(Debug, Args)]
pub(crate) struct LoginOptions {
    /// Log in to a server with users, as iperf3's `--username` does; the password is that of the
    /// variable IPERF3_PASSWORD, or is asked for on the terminal
    #[arg(long, value_name = "NAME", requires = "user_key")]
    pub user: Option<String>,

    /// The server's public RSA key in PEM form (iperf3's `--rsa-public-key-path`)
    #[arg(long, value_name = "FILE", requires = "user")]
    pub user_key: Option<PathBuf>,

    /// How the login is padded: `oaep`, or `pkcs1` for servers of iperf3 before 3.17
    #[arg(long, value_name = "PADDING", requires = "user")]
    #[arg(default_value = "oaep", value_parser = padding)]
    pub user_padding: Padding,
}

impl LoginOptions {
    /// The login at a target, which has to be a host; may ask for the password.
    pub(crate) fn at(&self, target: &TargetName) -> Result<Option<Login>, Error> {
        let Some(user) = self.user()? else {
            return Ok(None);
        };
        login::check_target(target)?;
        log_in(&user).map(Some)
    }

    /// The user, where there is one.
    pub(crate) fn user(&self) -> Result<Option<ServerUser>, Error> {
        let (Some(user), Some(key)) = (&self.user, &self.user_key) else {
            return Ok(None);
        };
        login::user(user, key, self.user_padding).map(Some)
    }
}

/// The login of a user; may ask for the password.
pub(crate) fn log_in(user: &ServerUser) -> Result<Login, Error> {
    login::log_in(user, &password(user)?)
}

/// The password of a user: of the environment, or of the terminal.
pub(crate) fn password(user: &ServerUser) -> Result<String, Error> {
    match login::password_of_environment()? {
        Some(password) => Ok(password),
        None => login::ask_password(&user.name),
    }
}
