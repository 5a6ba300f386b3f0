//! The program itself, while it has no visit.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::{Outcome, process};

/// What an idle agent costs.
pub struct Idle {
    pub seconds: u64,
    pub processor_seconds: f64,
    pub peak_kib: u64,
}

/// A child that ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended needs no signal.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const PLAN: &str = r#"
[hosts]
a = { address = "127.0.0.1" }
b = { address = "127.0.0.2" }
[groups]
all = { mesh = ["a", "b"] }
[tasks.yearly]
kind = "ping"
group = "all"
cron = "0 0 1 1 *"
duration = "10s"
"#;

/// Lets an agent without visits report to a collector.
pub fn measure(program: &Path, seconds: u64, [far, port]: [u16; 2]) -> Outcome<Idle> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("plan.toml"), PLAN)?;
    let made = Command::new(program)
        .args(["serve", "--tokens", &path("tokens"), "--new-token", "a"])
        .output()?;
    fs::write(path("a.token"), made.stdout)?;
    let start = |words: &[&str]| -> Outcome<Running> {
        let mut command = Command::new(program);
        command.args(words).stderr(Stdio::null());
        Ok(Running(command.spawn()?))
    };
    let (plan, port) = (path("plan.toml"), port.to_string());
    let _collector = start(&[
        "watch",
        "serve",
        &plan,
        "--tokens",
        &path("tokens"),
        "--database",
        &path("db"),
        "--port",
        &port,
    ])?;
    thread::sleep(Duration::from_secs(2));
    let agent = start(&[
        "watch",
        "run",
        &plan,
        "--host",
        "a",
        "--collector",
        &format!("127.0.0.1:{port}"),
        "--token-file",
        &path("a.token"),
        "--state",
        &path("state"),
        "--port",
        &far.to_string(),
    ])?;
    thread::sleep(Duration::from_secs(10));
    let before = process::seconds(agent.0.id())?;
    thread::sleep(Duration::from_secs(seconds));
    Ok(Idle {
        seconds,
        processor_seconds: process::seconds(agent.0.id())? - before,
        peak_kib: process::peak_kib(agent.0.id())?,
    })
}
