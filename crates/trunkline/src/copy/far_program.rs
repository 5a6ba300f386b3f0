//! Programs that copies have sent to far ends.

use copy_net::Ssh;
use copy_protocol::FarProgram;

use crate::{Cancel, Error};

/// Removes the programs that copies of any version have sent to `host`, and returns the folders
/// that are gone.
///
/// * `ssh`: the client, with further words for it.
/// * `host`: `[USER@]HOST`, as ssh takes it.
///
/// # Errors
/// When ssh cannot be started or does not get through, or the account there runs no commands.
pub fn clean_far_host(ssh: &[String], host: &str, cancel: &Cancel) -> Result<Vec<String>, Error> {
    let (client, options) = ssh.split_first().map_or_else(
        || ("ssh".to_owned(), Vec::new()),
        |(client, options)| (client.clone(), options.to_vec()),
    );
    let ssh = Ssh {
        runs_programs: false,
        client,
        destination: host.to_owned(),
        options,
        program: FarProgram::default(),
    };
    Ok(ssh.clean(&|| cancel.is_cancelled())?)
}
