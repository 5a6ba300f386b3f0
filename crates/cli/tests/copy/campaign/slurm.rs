//! The script for Slurm against Slurm itself: controller, node and munge, set up by the test.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::Site;
use crate::common::complaint;

/// A cluster of this machine alone.
struct Cluster {
    folder: TempDir,
    daemons: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            // One that has ended needs no signal.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn free_port() -> u16 {
    let probe = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    probe.local_addr().unwrap().port()
}

impl Cluster {
    fn start() -> Cluster {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut cluster = Cluster {
            folder,
            daemons: Vec::new(),
        };
        for name in ["state", "spool"] {
            fs::create_dir(cluster.path(name)).unwrap();
        }
        let key = cluster.path("munge.key");
        fs::write(&key, [7; 1024]).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o400)).unwrap();
        let option = |name: &str, file: &str| format!("--{name}={}", cluster.path(file).display());
        let munge = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            option("socket", "munge.sock"),
            option("key-file", "munge.key"),
            option("log-file", "munged.log"),
            option("pid-file", "munged.pid"),
            option("seed-file", "munge.seed"),
        ];
        cluster.daemon("munged", &munge);
        cluster.wait("munge", || cluster.path("munge.sock").exists());
        fs::write(cluster.config(), cluster.settings()).unwrap();
        cluster.daemon("slurmctld", &["-D".to_owned()]);
        cluster.daemon("slurmd", &["-D".to_owned()]);
        cluster.wait("an idle node", || {
            cluster.asks("sinfo", &["-h", "-o", "%T"]).trim() == "idle"
        });
        cluster
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config(&self) -> PathBuf {
        self.path("slurm.conf")
    }

    fn settings(&self) -> String {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap().to_owned();
        let at = |name: &str| self.path(name).display().to_string();
        format!(
            "ClusterName=test\nSlurmctldHost={host}\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={}\nSlurmctldPort={}\nSlurmdPort={}\n\
             StateSaveLocation={}\nSlurmdSpoolDir={}\nSlurmctldPidFile={}\nSlurmdPidFile={}\n\
             SlurmctldLogFile={}\nSlurmdLogFile={}\nProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
             SlurmdParameters=config_overrides\nMailProg=/bin/true\nReturnToService=2\n\
             Licenses=wan:2\nNodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            at("munge.sock"),
            free_port(),
            free_port(),
            at("state"),
            at("spool"),
            at("slurmctld.pid"),
            at("slurmd.pid"),
            at("slurmctld.log"),
            at("slurmd.log"),
        )
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.config());
        command
    }

    fn daemon(&mut self, program: &str, words: &[String]) {
        let mut command = self.command(program);
        command
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.daemons.push(command.spawn().unwrap());
    }

    fn asks(&self, program: &str, words: &[&str]) -> String {
        let output = self.command(program).args(words).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn wait(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        for _ in 0..600 {
            if is_so() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let log = fs::read_to_string(self.path("slurmctld.log")).unwrap_or_default();
        panic!("no {what} within a minute:\n{log}");
    }

    fn submit(&self, script: &Path) {
        let output = self.command("sbatch").arg(script).output().unwrap();
        assert!(output.status.success(), "{}", complaint(&output));
    }

    /// Tasks that run now.
    fn running(&self) -> usize {
        self.asks("squeue", &["-h", "-r", "-t", "R"])
            .lines()
            .count()
    }
}

fn has_slurm() -> bool {
    if !nix::unistd::geteuid().is_root() {
        testkit::skip("Slurm's daemons are started as root");
        return false;
    }
    ["slurmctld", "slurmd", "sbatch", "munged"]
        .into_iter()
        .all(testkit::has_program)
}

#[test]
fn slurm_runs_an_array_within_the_bound_and_takes_up_what_was_not_finished() {
    if !has_slurm() {
        return;
    }
    let cluster = Cluster::start();
    let site = Site::new(200, "copies = 2\nrate = \"20Mbit/s\"");
    for at in 0..200 {
        let big = site.source().join(format!("run{}/big{at}", at % 7));
        fs::write(big, vec![1; 20_000]).unwrap();
    }
    site.ends(&["plan"], 0);
    let text = site
        .does(&["slurm", "--link", "wan", "--licence", "wan"])
        .stdout;
    let text = String::from_utf8(text).unwrap();
    let shards = site.status()["links"][0]["shards_left"].as_u64().unwrap();
    assert!(shards >= 10, "{shards}");
    assert!(
        text.contains(&format!("--array=0-{}%2\n", shards - 1)),
        "{text}"
    );
    assert!(text.contains("--licenses=wan:1\n"), "{text}");
    let script = site.near("job.sh");
    fs::write(&script, text).unwrap();
    // Paused, each task ends with 75 and goes back into the queue.
    site.ends(&["pause"], 0);
    cluster.submit(&script);
    let restarts = || {
        cluster
            .asks("scontrol", &["show", "job"])
            .contains("Restarts=1")
    };
    cluster.wait("requeued task", restarts);
    site.ends(&["resume"], 0);
    let mut most = 0;
    let is_done = || {
        most = most.max(cluster.running());
        // A requeued task waits for two minutes unless it is told not to.
        let jobs = cluster.asks("squeue", &["-h", "-r", "-t", "PD", "-o", "%i"]);
        for job in jobs.lines() {
            let id = format!("JobId={job}");
            cluster.asks("scontrol", &["update", &id, "StartTime=now"]);
        }
        site.status()["links"][0]["shards_left"] == 0
    };
    cluster.wait("end of all shards", is_done);
    assert!((1..=2).contains(&most), "{most} tasks at once");
    site.assert_same();
    site.ends(&["verify"], 0);
}
