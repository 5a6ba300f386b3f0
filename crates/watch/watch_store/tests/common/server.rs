//! A PostgreSQL server in a temporary folder, on a Unix socket.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nix::unistd::{Uid, User};
use tempfile::TempDir;
use watch_store::DatabaseName;

/// A running server. It ends with this value.
pub struct Server {
    programs: PathBuf,
    folder: TempDir,
    options: &'static str,
}

impl Server {
    /// Starts one; `None` where Debian's package `postgresql` is missing, and the skip is noted.
    pub fn start() -> Option<Self> {
        // Without waiting for the disk: the tests lose no power.
        Server::start_with("-F")
    }

    /// Starts one with these options.
    pub fn start_with(options: &'static str) -> Option<Self> {
        let Some(programs) = programs() else {
            testkit::skip("PostgreSQL is not installed below /usr/lib/postgresql");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        if let Some(user) = other_user() {
            let (uid, gid) = (user.uid.as_raw(), user.gid.as_raw());
            chown(folder.path(), Some(uid), Some(gid)).unwrap();
        }
        let server = Server {
            programs,
            folder,
            options,
        };
        let data = server.data();
        server.run(
            "initdb",
            &[
                "-D",
                &data,
                "-U",
                "trunkline",
                "-A",
                "trust",
                "-N",
                "-E",
                "UTF8",
            ],
        );
        server.up();
        Some(server)
    }

    /// Starts the server after [`Server::down`].
    pub fn up(&self) {
        let place = self.place().display();
        let options = format!("-k {place} -c listen_addresses='' {}", self.options);
        let log = self.place().join("log").display().to_string();
        self.run(
            "pg_ctl",
            &[
                "-D",
                &self.data(),
                "-w",
                "-t",
                "120",
                "-l",
                &log,
                "-o",
                &options,
                "start",
            ],
        );
    }

    /// Stops it at once, as a crash does.
    pub fn down(&self) {
        self.run(
            "pg_ctl",
            &["-D", &self.data(), "-w", "-m", "immediate", "stop"],
        );
    }

    /// A new database with this name.
    pub fn database(&self, name: &str) -> DatabaseName {
        let socket = self.place().display().to_string();
        self.run("createdb", &["-h", &socket, "-U", "trunkline", name]);
        self.url(name)
    }

    pub fn url(&self, name: &str) -> DatabaseName {
        let place = self.place().display().to_string().replace('/', "%2F");
        DatabaseName::Postgres(format!("postgres://trunkline@{place}/{name}"))
    }

    /// Runs SQL.
    pub fn sql(&self, database: &str, statements: &str) {
        let socket = self.place().display().to_string();
        self.run(
            "psql",
            &[
                "-h",
                &socket,
                "-U",
                "trunkline",
                "-d",
                database,
                "-c",
                statements,
            ],
        );
    }

    /// Its folder.
    pub fn place(&self) -> &Path {
        self.folder.path()
    }

    fn data(&self) -> String {
        self.place().join("data").display().to_string()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let output = self.output(program, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program}: {said}");
    }

    fn output(&self, program: &str, arguments: &[&str]) -> Output {
        let program = self.programs.join(program);
        // initdb and postgres refuse to run as root.
        let mut command = match other_user() {
            Some(user) => {
                let mut command = Command::new("setpriv");
                let (uid, gid) = (
                    format!("--reuid={}", user.uid),
                    format!("--regid={}", user.gid),
                );
                command.args([&uid, &gid, "--clear-groups"]).arg(program);
                command
            }
            None => Command::new(program),
        };
        // The server inherits standard output; reading a pipe of it would not end.
        let output = tempfile::tempfile().unwrap();
        command
            .stdout(output)
            .current_dir("/")
            .args(arguments)
            .output()
            .unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.data();
        self.output("pg_ctl", &["-D", &data, "-m", "immediate", "stop"]);
    }
}

/// The newest installed version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    folders
        .filter(|folder| folder.join("initdb").is_file())
        .max()
}

fn other_user() -> Option<User> {
    let names = ["postgres", "daemon"];
    let users = || {
        names
            .iter()
            .find_map(|name| User::from_name(name).ok().flatten())
    };
    Uid::effective().is_root().then(users).flatten()
}
