//! Other programs for real: each client against its own server, across an emulated path.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use netpath::PathSpec;
use observe::{Counted, Direction, Peer, SamplePlan, Setting, StreamCount, Target, Window};
use target::{EmulatedNetwork, MoverTarget};
use units::{Bytes, Span};

const LINK: &str = "[forward]\nrate = \"20Mbit/s\"\ndelay = \"2ms\"\n\
                    queue = { kind = \"drop-tail\", limit = \"60packets\" }\n";
const FAR: &str = "198.18.0.2";

/// A path, a folder that both ends see, and a server at the far end.
struct Ends {
    network: EmulatedNetwork,
    folder: PathBuf,
    server: Child,
}

impl Ends {
    /// `None` where something is missing, which is then told.
    fn up(name: &str, programs: &[&str], server: impl Fn(&Path) -> Vec<String>) -> Option<Self> {
        let all = programs.iter().all(|program| testkit::has_program(program));
        if !all || !testkit::can_emulate() {
            return None;
        }
        let folder = format!("trunkline-mover-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        fs::create_dir(&folder).unwrap();
        let path = PathSpec::from_toml("mine", LINK).unwrap();
        let network = EmulatedNetwork::up(&path, 1).unwrap();
        let words = server(&folder);
        let start = || {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        };
        let server = network.network().far().run(start).unwrap().unwrap();
        Some(Ends {
            network,
            folder,
            server,
        })
    }

    fn target(&self, name: &str) -> MoverTarget {
        let far = movers::Far::parse(name).unwrap().unwrap();
        MoverTarget::new(far, Vec::new())
    }

    /// One run from the near host, once the server takes clients.
    fn observe(&self, target: &mut MoverTarget, setting: &Setting) -> observe::Observation {
        let plan = SamplePlan {
            unloaded: Span::ZERO,
            ..SamplePlan::lasting(Span::from_secs(2))
        };
        let near = self.network.network().near();
        // A program that hangs is ended after 20 s; the next run is its second chance.
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let seen = near
                .run(|| target.observe(setting, &plan, &mut ()))
                .unwrap();
            match seen {
                Ok(seen) => return seen,
                Err(error) if Instant::now() > until => panic!("{error}"),
                Err(_) => std::thread::sleep(Duration::from_millis(200)),
            }
        }
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn streams(count: u64) -> Setting {
    Setting::new(StreamCount::new(count).unwrap(), Window::Auto)
}

/// A run across 20 Mbit/s for 2 s carries no more than 5 MB and what a queue holds; a count of
/// something else, such as of what was written, shows as more.
fn is_what_the_link_carries(seen: &observe::Observation) {
    let bytes = seen.bytes_delivered();
    assert!(bytes > Bytes::new(100_000), "{bytes}");
    let most = Bytes::new((seen.duration.as_secs_f64() * 2.5e6) as u64 + 1_000_000);
    assert!(bytes < most, "{bytes} in {}", seen.duration);
    assert_eq!(seen.peer, Peer::Mover);
}

#[test]
fn iperf_has_as_many_connections_as_streams_and_both_ways_are_counted() {
    let server = |_: &Path| words("iperf -s");
    let Some(ends) = Ends::up("iperf", &["iperf"], server) else {
        return;
    };
    let mut target = ends.target(&format!("iperf2://{FAR}"));
    let seen = ends.observe(&mut target, &streams(3));
    is_what_the_link_carries(&seen);
    assert_eq!(seen.streams.len(), 3);
    let first = &seen.streams[0];
    assert_eq!(first.delivery.counted, Counted::ByAcknowledgement);
    assert!(
        first
            .tcp
            .iter()
            .any(|sample| sample.rtt_min > Some(Span::from_millis(3)))
    );
    let back = Setting {
        direction: Direction::Reverse,
        ..streams(2)
    };
    let seen = ends.observe(&mut target, &back);
    is_what_the_link_carries(&seen);
    assert_eq!(seen.streams[0].delivery.counted, Counted::ByReceiver);
}

#[test]
fn a_window_that_is_asked_for_is_what_the_kernel_has() {
    let Some(ends) = Ends::up("window", &["iperf"], |_| words("iperf -s")) else {
        return;
    };
    let mut target = ends.target(&format!("iperf2://{FAR}"));
    let setting = Setting {
        window: Window::Fixed(Bytes::from_kib(64)),
        ..streams(1)
    };
    let seen = ends.observe(&mut target, &setting);
    // Linux answers twice what was asked for.
    assert_eq!(
        seen.streams[0].buffers.unwrap().send.granted,
        Bytes::from_kib(128)
    );
}

#[test]
fn gridftp_leaves_nothing_at_the_far_end() {
    let server = |folder: &Path| {
        words(&format!(
            "globus-gridftp-server -aa -anonymous-user root -allow-root -c /dev/null -p 2811 \
             -l {}/log -data-interface {FAR}",
            folder.display()
        ))
    };
    let programs = ["globus-url-copy", "globus-gridftp-server"];
    let Some(ends) = Ends::up("gridftp", &programs, server) else {
        return;
    };
    let file = ends.folder.join("a file");
    fs::write(&file, "mine").unwrap();
    let mut target = ends.target(&format!("gridftp://{FAR}{}", file.display()));
    let seen = ends.observe(&mut target, &streams(2));
    is_what_the_link_carries(&seen);
    let test = ends.folder.join("a file.trunkline-test");
    assert!(test.exists());
    ends.network.network().near().run(|| target.stop()).unwrap();
    assert_eq!(target.left_behind(), None);
    assert!(!test.exists());
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn nuttcp_takes_one_client_after_another_that_was_ended() {
    let Some(ends) = Ends::up("nuttcp", &["nuttcp"], |_| words("nuttcp -S --nofork")) else {
        return;
    };
    let mut target = ends.target(&format!("nuttcp://{FAR}"));
    for count in [1, 2] {
        let seen = ends.observe(&mut target, &streams(count));
        is_what_the_link_carries(&seen);
    }
}

#[test]
fn xrdcp_writes_over_its_test_file_and_removes_it() {
    let server = |folder: &Path| {
        use std::os::unix::fs::PermissionsExt;
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(folder, open.clone()).unwrap();
        let admin = folder.join("admin");
        fs::create_dir(&admin).unwrap();
        fs::set_permissions(&admin, open).unwrap();
        let (all, admin) = (folder.display(), admin.display());
        let configuration = format!(
            "all.export {all}\nall.adminpath {admin}\nall.pidpath {admin}\nxrd.port 1094\n\
             xrd.network nodnr\n"
        );
        fs::write(folder.join("cfg"), configuration).unwrap();
        words(&format!("xrootd -c {all}/cfg -l - -n test -R daemon"))
    };
    let programs = ["xrdcp", "xrdfs", "xrootd"];
    let Some(ends) = Ends::up("xrootd", &programs, server) else {
        return;
    };
    let file = ends.folder.join("file");
    let mut target = ends.target(&format!("root://{FAR}/{}", file.display()));
    for _ in 0..2 {
        let seen = ends.observe(&mut target, &streams(1));
        is_what_the_link_carries(&seen);
    }
    let test = ends.folder.join("file.trunkline-test");
    assert!(test.exists());
    ends.network.network().near().run(|| target.stop()).unwrap();
    assert_eq!(target.left_behind(), None);
    assert!(!test.exists());
}

/// Keys and a configuration of an ssh server that touch nothing of this host's own.
fn ssh_server(folder: &Path) -> Vec<String> {
    for name in ["host_key", "user_key"] {
        let mut make = Command::new("ssh-keygen");
        make.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
        assert!(make.arg(folder.join(name)).status().unwrap().success());
    }
    fs::copy(folder.join("user_key.pub"), folder.join("authorized")).unwrap();
    fs::create_dir_all("/run/sshd").unwrap();
    let place = folder.display();
    let server = format!(
        "Port 2222\nHostKey {place}/host_key\nAuthorizedKeysFile {place}/authorized\nPidFile none\n\
         StrictModes no\nUsePAM no\nPermitRootLogin yes\nUseDNS no\n\
         Subsystem sftp internal-sftp\n"
    );
    fs::write(folder.join("sshd"), server).unwrap();
    let client = format!(
        "Host *\nPort 2222\nIdentityFile {place}/user_key\nIdentitiesOnly yes\n\
         UserKnownHostsFile /dev/null\nStrictHostKeyChecking no\nLogLevel ERROR\n"
    );
    fs::write(folder.join("ssh"), client).unwrap();
    words(&format!("/usr/sbin/sshd -D -f {place}/sshd"))
}

#[test]
fn scp_and_rclone_go_through_an_ssh_server_and_leave_nothing() {
    let programs = ["scp", "sshd", "rclone"];
    let Some(ends) = Ends::up("ssh", &programs, ssh_server) else {
        return;
    };
    let place = ends.folder.display();
    let remote = format!(":sftp,host={FAR},port=2222,user=root,key_file={place}/user_key");
    let file = ends.folder.join("it's a file");
    let clients = [
        (
            format!("scp://root@{FAR}/{}", file.display()),
            vec!["-F".to_owned(), format!("{place}/ssh")],
            1,
        ),
        (
            format!("sftp+rclone:{remote}:{}", file.display()),
            Vec::new(),
            2,
        ),
    ];
    let test = ends.folder.join("it's a file.trunkline-test");
    for (name, options, count) in clients {
        let far = movers::Far::parse(&name).unwrap().unwrap();
        let mut target = MoverTarget::new(far, options);
        let seen = ends.observe(&mut target, &streams(count));
        is_what_the_link_carries(&seen);
        assert!(test.exists(), "{name}");
        ends.network.network().near().run(|| target.stop()).unwrap();
        assert_eq!(target.left_behind(), None, "{name}");
        assert!(!test.exists(), "{name}");
    }
}
