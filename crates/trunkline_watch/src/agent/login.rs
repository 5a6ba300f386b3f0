//! Who an agent is to servers with users.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use trunkline::Error;
use trunkline::login::{self, Login};
use watch_plan::HostLogin;

/// Permissions of those who neither own a file nor are of its group.
const OTHERS: u32 = 0o006;

/// The login that the plan has for a host. The password is of its file, or of the environment.
///
/// * `received`: the folder of files that other agents sent. Keys in it are not taken: who wrote
///   the plan and sent the key could read the file that the plan calls the password's.
pub(super) fn login(asked: Option<&HostLogin>, received: &Path) -> Result<Option<Login>, Error> {
    let Some(asked) = asked else {
        return Ok(None);
    };
    let key = Path::new(&asked.user.key);
    let whole = key.canonicalize();
    let whole = whole.map_err(|error| Error::unreadable(key, error))?;
    if fs::canonicalize(received).is_ok_and(|received| whole.starts_with(received)) {
        return Err(Error::wrong_request(
            format!("the key {} was sent by another host", key.display()),
            "copy the server's public key to a folder of this host's own",
        ));
    }
    let password = match &asked.password_file {
        Some(file) => read_password(file.as_ref())?,
        None => login::password_of_environment()?.ok_or_else(no_password)?,
    };
    login::log_in(&asked.user, &password).map(Some)
}

fn no_password() -> Error {
    Error::wrong_request(
        "the plan has a `user` for the far host, and this agent no password",
        format!(
            "set {} in the agent's environment, or name a file with `password_file` in the plan",
            login::PASSWORD_VARIABLE
        ),
    )
}

/// Refuses a pipe or a device as a file of a plan: a visit would wait for it.
pub(super) fn check_file(path: &Path) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(Error::wrong_request(
            format!("{} is no file", path.display()),
            "name a file in the plan that has the secret and nothing else",
        )),
        _ => Ok(()),
    }
}

/// The password in a file, which may end with a line feed. What stands in it is not shown.
fn read_password(path: &Path) -> Result<String, Error> {
    let unreadable = |error: io::Error| Error::unreadable(path, error);
    check_file(path)?;
    let file = File::open(path).map_err(unreadable)?;
    let mode = file.metadata().map_err(unreadable)?.mode();
    if mode & OTHERS != 0 {
        let file = path.display();
        return Err(Error::wrong_request(
            format!("{file} has a password, and others may read or change it"),
            format!("`chmod o= {file}` mends that"),
        ));
    }
    let text = crate::read_short(&file).map_err(unreadable)?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use watch_plan::Plan;

    const PASSWORD: &str = "verdi-7";

    /// The login of a plan whose lines of the host are these.
    fn of(lines: &str) -> Result<Option<Login>, Error> {
        let text = format!(
            "[hosts]\na = {{ address = \"a\" }}\n[hosts.b]\naddress = \"b\"\n{lines}\n\
             [groups]\ng = {{ mesh = [\"a\", \"b\"] }}\n[tasks.t]\nkind = \"ping\"\n\
             group = \"g\"\nevery = \"5min\"\nduration = \"10s\"\n"
        );
        let (plan, _) = Plan::parse(&text, "plan.toml").unwrap_or_else(|error| panic!("{error}"));
        let folder = std::env::temp_dir();
        let host = plan.hosts().values().find(|host| host.address == "b");
        login(host.unwrap().login.as_ref(), &folder.join("received"))
    }

    #[test]
    fn a_password_is_read_from_a_file_of_its_own_and_never_told() {
        assert!(of("").unwrap().is_none());
        if !testkit::has_program("openssl") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key.pem");
        fs::write(&key, "none").unwrap();
        let file = folder.path().join("password");
        fs::write(&file, format!("{PASSWORD}\n")).unwrap();
        let may = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let lines = format!(
            "user = \"ana\"\nuser_key = \"{}\"\npassword_file = \"{}\"",
            key.display(),
            file.display()
        );
        may(0o604);
        let told = of(&lines).unwrap_err();
        assert!(told.what().contains("others may read"), "{told}");
        may(0o640);
        let told = read_password(folder.path()).unwrap_err();
        assert!(told.what().contains("is no file"), "{told}");
        assert_eq!(read_password(&file).unwrap(), PASSWORD);
        let told = of(&lines).unwrap_err();
        assert!(told.what().contains("key.pem"), "{told}");
        assert!(!format!("{told:?}").contains(PASSWORD), "{told:?}");
    }

    #[test]
    fn a_key_that_was_sent_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("from-a.bin");
        fs::write(&key, "").unwrap();
        let asked = HostLogin {
            user: login::user("ana", &key, login::Padding::Oaep).unwrap(),
            password_file: Some("/etc/hostname".to_owned()),
        };
        let told = login(Some(&asked), folder.path()).unwrap_err();
        assert!(told.what().contains("was sent by another host"), "{told}");
    }
}
