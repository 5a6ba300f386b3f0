//! Campaigns to a standing server on this host: plans, shards, kills, and what both ends have.

mod slurm;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::server::Server;
use crate::common::{complaint, run, trunkline};

/// A server, a source, a plan and the campaign's folder.
struct Site {
    server: Server,
}

impl Site {
    /// * `links`: the lines of `[links.wan]`.
    fn new(files: usize, links: &str) -> Site {
        let site = Site {
            server: Server::start(&[]),
        };
        let token = site.near("token");
        fs::write(&token, site.server.token()).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(&token, mode).unwrap();
        for at in 0..files {
            let folder = site.source().join(format!("run{}", at % 7));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(format!("event{at}")), at.to_string()).unwrap();
        }
        fs::create_dir_all(site.source()).unwrap();
        site.write_plan(links, "");
        site
    }

    fn write_plan(&self, links: &str, group: &str) {
        let plan = format!(
            "[shards]\nfiles = 40\n[hosts]\nfar = {{ address = \"{}\", token = \"{}\" }}\n\
             [links.wan]\n{links}\n[groups.raw]\nfrom = \"{}\"\nto = \"far:store\"\n\
             link = \"wan\"\n{group}",
            self.server.place("").trim_end_matches('/'),
            self.near("token").display(),
            self.source().display(),
        );
        fs::write(self.near("plan.toml"), plan).unwrap();
    }

    fn near(&self, name: &str) -> PathBuf {
        self.server.near().join(name)
    }

    fn source(&self) -> PathBuf {
        self.near("source")
    }

    fn folder(&self) -> PathBuf {
        self.near("july")
    }

    fn command(&self, words: &[&str]) -> Command {
        let folder = self.folder();
        let mut all = vec!["campaign", words[0]];
        let plan = self.near("plan.toml");
        if words[0] == "plan" {
            all.push(plan.to_str().unwrap());
        }
        all.push(folder.to_str().unwrap());
        all.extend(&words[1..]);
        trunkline(&all)
    }

    fn does(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Does it, and checks the exit code.
    fn ends(&self, words: &[&str], code: i32) -> String {
        let output = self.does(words);
        let text = complaint(&output) + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{words:?}:\n{text}");
        assert!(!text.contains("panicked"), "{text}");
        text
    }

    fn starts(&self, words: &[&str]) -> Child {
        let mut command = self.command(words);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn status(&self) -> Value {
        let output = self.does(&["status", "--json"]);
        assert!(output.status.success(), "{}", complaint(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn assert_same(&self) {
        let store = self.server.root().join("store");
        let both = [&self.source(), &store];
        let same = Command::new("diff")
            .args(["-r", "--no-dereference"])
            .args(both)
            .output();
        let same = same.unwrap();
        assert!(
            same.status.success(),
            "{}",
            String::from_utf8_lossy(&same.stdout)
        );
    }
}

#[test]
fn a_campaign_goes_from_a_plan_to_digests_and_again_with_the_difference_only() {
    let site = Site::new(200, "copies = 2\nrate = \"400Mbit/s\"");
    fs::write(site.source().join("zero"), "").unwrap();
    fs::write(site.source().join("new\nline"), "1").unwrap();
    fs::create_dir(site.source().join("empty")).unwrap();
    std::os::unix::fs::symlink("zero", site.source().join("link")).unwrap();
    site.ends(&["plan"], 0);
    let status = site.status();
    assert_eq!(status["links"][0]["names"], 204);
    site.ends(&["run"], 0);
    site.assert_same();
    let status = site.status();
    assert_eq!(status["links"][0]["names_done"], 204);
    assert_eq!(status["links"][0]["shards_left"], 0);
    let told = site.ends(&["verify"], 0);
    assert!(told.contains("202 files"), "{told}");
    let list = fs::read_to_string(site.folder().join("verified/raw.b3")).unwrap();
    assert_eq!(list.lines().count(), 202);
    assert!(list.contains("\\new\\nline") || list.lines().any(|line| line.starts_with('\\')));

    assert!(site.ends(&["plan"], 0).contains("Nothing is new"));
    fs::write(site.source().join("run0/event0"), "changed").unwrap();
    fs::remove_file(site.source().join("run1/event1")).unwrap();
    site.ends(&["plan"], 0);
    site.ends(&["run"], 0);
    let result = fs::read_to_string(site.folder().join("runs/raw-2-00001/result.json")).unwrap();
    let result: Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["done"], 1);
    // One was removed and one counts in the second plan: 204 names are left, less the one removed.
    let link = &site.status()["links"][0];
    assert_eq!(
        (&link["names"], &link["names_done"]),
        (&json!(203), &json!(203))
    );
    let changed = fs::read_to_string(site.server.root().join("store/run0/event0")).unwrap();
    assert_eq!(changed, "changed");
}

/// Mostly a hole, so that it costs little.
#[test]
fn a_large_file_goes_in_parts_and_has_its_name_with_the_last_one() {
    let site = Site::new(3, "");
    let plan = fs::read_to_string(site.near("plan.toml")).unwrap();
    let plan = plan.replacen("files = 40", "files = 40\nparts = \"64MiB\"", 1);
    fs::write(site.near("plan.toml"), plan).unwrap();
    let big = fs::File::create(site.source().join("big")).unwrap();
    big.set_len((129 << 20) + 5).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&big, b"in the second part", 70 << 20).unwrap();
    site.ends(&["plan"], 0);
    site.ends(&["run", "raw-1-00002"], 0);
    let named = site.server.root().join("store/big");
    assert!(!named.exists(), "two parts are missing");
    site.ends(&["verify"], 1);
    site.ends(&["run"], 0);
    site.assert_same();
    let told = site.ends(&["verify"], 0);
    assert!(told.contains("4 files"), "{told}");
    let link = &site.status()["links"][0];
    assert_eq!(link["names_done"], 6, "each part counts");
    fs::write(&named, "damaged").unwrap();
    site.ends(&["verify"], 1);
    site.ends(&["retry"], 0);
    site.ends(&["run"], 0);
    site.assert_same();
}

/// Runs until it is done, and kills what runs before: at moments from the first millisecond on,
/// later and later, so that it ends in the end.
fn run_through_kills(site: &Site) {
    let mut said = String::new();
    for round in 0_u64..40 {
        let mut running = site.starts(&["run"]);
        let moment = Instant::now() + Duration::from_millis(round * round * 20);
        while Instant::now() < moment && running.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        let ended = running.try_wait().unwrap();
        if ended.is_some_and(|status| status.success()) {
            return;
        }
        running.kill().unwrap();
        said = complaint(&running.wait_with_output().unwrap());
    }
    panic!("never done in 40 rounds; the last said: {said}");
}

#[test]
fn runs_that_are_killed_at_any_moment_lose_nothing_and_send_little_twice() {
    let site = Site::new(400, "copies = 3");
    for at in 0..4 {
        fs::write(site.source().join(format!("big{at}")), vec![at; 3_000_000]).unwrap();
    }
    site.ends(&["plan"], 0);
    run_through_kills(&site);
    site.assert_same();
    site.ends(&["verify"], 0);
    let status = site.status();
    assert_eq!(status["links"][0]["names_done"], 404);
}

#[test]
fn a_group_becomes_a_bag_whatever_is_killed_and_after_a_second_plan() {
    let site = Site::new(90, "copies = 2");
    let large = vec![7; 3_000_000];
    fs::write(site.source().join("100 %\n.bin"), large).unwrap();
    let bag = site.server.root().join("bag");
    fs::create_dir(&bag).unwrap();
    site.write_plan("copies = 2", "bag = [\"sha256\", \"md5\"]\n");
    let told = site.ends(&["plan"], 2);
    assert!(told.contains("`to` is `far:store`"), "{told}");
    let plan = fs::read_to_string(site.near("plan.toml")).unwrap();
    let plan = plan.replace("\"far:store\"", "\"far:bag/data\"");
    fs::write(site.near("plan.toml"), plan).unwrap();
    site.ends(&["plan"], 0);
    run_through_kills(&site);
    let verified = |code: i32, word: &str| {
        let output = run(&["verify", bag.to_str().unwrap()]);
        let told = complaint(&output) + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains(word), "{told}");
    };
    verified(0, "");
    let oxum = |bytes: u64, files: u64| format!("Payload-Oxum: {bytes}.{files}\n");
    let info = fs::read_to_string(bag.join("bag-info.txt")).unwrap();
    let events: u64 = (0..90_u32).map(|at| at.to_string().len() as u64).sum();
    assert!(info.contains(&oxum(3_000_000 + events, 91)), "{info}");

    fs::write(site.source().join("run0/event0"), "another").unwrap();
    fs::write(site.source().join("new"), "n").unwrap();
    site.ends(&["plan"], 0);
    site.ends(&["run"], 0);
    verified(0, "");
    let info = fs::read_to_string(bag.join("bag-info.txt")).unwrap();
    assert!(info.contains(&oxum(3_000_000 + events + 7, 92)), "{info}");
    fs::write(bag.join("data/new"), "m").unwrap();
    verified(1, "data/new");

    std::os::unix::fs::symlink("new", site.source().join("link")).unwrap();
    site.ends(&["plan"], 0);
    let told = site.ends(&["run"], 2);
    assert!(told.contains("`link` is a symbolic link"), "{told}");
    let plan = fs::read_to_string(site.near("plan.toml")).unwrap();
    fs::write(site.near("plan.toml"), plan + "exclude = [\"link\"]\n").unwrap();
    site.ends(&["plan"], 0);
    site.ends(&["run"], 0);
}

#[test]
fn plans_that_are_killed_at_any_moment_leave_the_folder_as_it_was() {
    let site = Site::new(300, "copies = 1");
    for round in 0_u64..30 {
        let mut planning = site.starts(&["plan"]);
        thread::sleep(Duration::from_millis(round));
        planning.kill().unwrap();
        planning.wait().unwrap();
        let is_whole = site.folder().join("plans/1").exists();
        let rows = site.folder().join("plans/1/shards.ndjson");
        assert_eq!(is_whole, rows.exists(), "round {round}");
    }
    site.ends(&["plan"], 0);
    let killed = read_all(&site.folder().join("plans/1"));
    fs::remove_dir_all(site.folder()).unwrap();
    site.ends(&["plan"], 0);
    assert_eq!(read_all(&site.folder().join("plans/1")), killed);
}

/// All files below a folder.
fn read_all(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_owned();
                    files.push((name, fs::read(&path).unwrap()));
                }
            }
        }
    }
    files.sort();
    files
}

#[test]
fn what_changed_since_the_plan_is_named_and_the_next_plan_has_it() {
    let site = Site::new(30, "copies = 1");
    site.ends(&["plan"], 0);
    fs::write(site.source().join("run0/event0"), "longer than before").unwrap();
    fs::remove_file(site.source().join("run1/event1")).unwrap();
    let told = site.ends(&["run", "raw-1-00001"], 1);
    assert!(told.contains("some files failed in raw-1-00001"), "{told}");
    let failed = site.folder().join("runs/raw-1-00001/failed.ndjson");
    let text = fs::read_to_string(&failed).unwrap();
    assert!(
        text.contains("changed since it was planned: it has 18 bytes and had 1"),
        "{text}"
    );
    assert!(text.contains("is there no more"), "{text}");
    assert!(!site.server.root().join("store/run0/event0").exists());
    let status = site.status();
    assert_eq!(status["links"][0]["shards_failed"], 1);
    // The manifest of what failed is a shard itself.
    fs::write(site.source().join("run1/event1"), "1").unwrap();
    site.ends(&["run", failed.to_str().unwrap()], 1);
    site.ends(&["plan"], 0);
    // What failed is the second plan's matter now.
    assert!(site.ends(&["retry"], 0).contains("0 shards"));
    site.ends(&["run"], 0);
    site.assert_same();
    let status = site.status();
    assert_eq!(
        (&status["superseded"], &status["failed"]),
        (&json!(2), &json!([]))
    );
    let link = &status["links"][0];
    assert_eq!(
        (&link["names"], &link["names_done"]),
        (&json!(30), &json!(30))
    );
    assert!(
        site.ends(&["status"], 0)
            .contains("All is at its destination")
    );
}

#[test]
fn a_shard_that_runs_is_not_run_twice_and_ends_cleanly_when_asked() {
    let site = Site::new(1, "copies = 1\nrate = \"4Mbit/s\"");
    fs::write(site.source().join("big"), vec![7; 4_000_000]).unwrap();
    site.ends(&["plan"], 0);
    let running = site.starts(&["run", "raw-1-00001"]);
    let lock = site.folder().join("runs/raw-1-00001/lock");
    wait_for(|| fs::read(&lock).is_ok_and(|text| !text.is_empty()));
    let told = site.ends(&["run", "raw-1-00001"], 75);
    let own = format!("by process {}", running.id());
    assert!(
        told.contains("shard `raw-1-00001` is being run") && told.contains(&own),
        "{told}"
    );
    wait_for(|| site.status()["running"][0]["bytes"].as_u64() > Some(100_000));
    kill(Pid::from_raw(running.id().cast_signed()), Signal::SIGTERM).unwrap();
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(75), "{}", complaint(&output));
    site.write_plan("copies = 1", "");
    site.ends(&["plan"], 0);
    site.ends(&["run"], 0);
    site.assert_same();
    let result = fs::read_to_string(site.folder().join("runs/raw-1-00001/result.json")).unwrap();
    let result: Value = serde_json::from_str(&result).unwrap();
    let sent = result["sent"].as_u64().unwrap();
    assert!(
        sent < 4_000_000,
        "{sent} bytes were sent after a part had arrived"
    );
}

/// One of them decides; after its kill another one does.
#[test]
fn copies_of_a_link_share_its_streams_and_outlive_the_one_that_decides() {
    let site = Site::new(0, "copies = 3\nrate = \"6Mbit/s\"\nstreams = 9");
    for name in ["a", "b", "c"] {
        fs::write(site.source().join(name), vec![7; 6_000_000]).unwrap();
    }
    site.write_plan("copies = 3\nrate = \"6Mbit/s\"\nstreams = 9", "");
    let plan = fs::read_to_string(site.near("plan.toml")).unwrap();
    let plan = plan.replace("files = 40", "files = 40\nbytes = \"6MB\"");
    fs::write(site.near("plan.toml"), plan).unwrap();
    site.ends(&["plan"], 0);
    let shards = ["raw-1-00001", "raw-1-00002", "raw-1-00003"];
    let mut running: Vec<Child> = shards.map(|shard| site.starts(&["run", shard])).into();
    let shared = || -> Option<Vec<(String, u64)>> {
        let file = site.folder().join("links/wan/streams.json");
        let told: Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        let each = told.as_object()?.iter();
        each.map(|(slot, streams)| Some((slot.clone(), streams.as_u64()?)))
            .collect()
    };
    let all = |slots: &[&str]| {
        shared().is_some_and(|told| {
            let whose: Vec<&str> = told.iter().map(|(slot, _)| slot.as_str()).collect();
            whose == slots && told.iter().map(|(_, streams)| streams).sum::<u64>() == 9
        })
    };
    wait_for(|| all(&["0", "1", "2"]));
    // The lock of the first slot tells who decides.
    let lock = fs::read_to_string(site.folder().join("links/wan/slot-0")).unwrap();
    let is_first = |child: &Child| lock.contains(&format!("process {}", child.id()));
    let first = running.iter().position(is_first);
    let mut first = running.swap_remove(first.expect(&lock));
    first.kill().unwrap();
    first.wait().unwrap();
    wait_for(|| all(&["1", "2"]));
    for child in running {
        child.wait_with_output().unwrap();
    }
    site.write_plan("copies = 1", "");
    site.ends(&["plan"], 0);
    site.ends(&["run"], 0);
    site.assert_same();
}

fn wait_for(mut is_so: impl FnMut() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("not within a minute");
}

#[test]
fn a_campaign_is_paused_resumed_and_cancelled() {
    let site = Site::new(3, "copies = 1");
    site.ends(&["plan"], 0);
    site.ends(&["pause"], 0);
    let told = site.ends(&["run"], 75);
    assert!(
        told.contains("not finished: the campaign is paused"),
        "{told}"
    );
    assert_eq!(site.status()["is_paused"], true);
    site.ends(&["resume"], 0);
    site.ends(&["run"], 0);
    site.ends(&["cancel"], 0);
    assert!(site.ends(&["run"], 2).contains("was cancelled"));
    assert!(site.ends(&["resume"], 2).contains("was cancelled"));
    site.write_plan("copies = 1\nquiet = [\"00:00-24:00\"]", "");
    let other = Site::new(3, "copies = 1\nquiet = [\"00:00-24:00\"]");
    other.ends(&["plan"], 0);
    assert!(
        other
            .ends(&["run", "raw-1-00001"], 75)
            .contains("its link is quiet")
    );
}

#[test]
fn a_far_end_that_does_not_answer_keeps_no_other_waiting() {
    let site = Site::new(50, "copies = 1");
    let plan = fs::read_to_string(site.near("plan.toml")).unwrap();
    let source = site.source();
    let plan = format!(
        "{plan}[hosts.gone]\naddress = \"trunkline://127.0.0.1:1\"\ntoken = \"{}\"\n\
         [groups.other]\nfrom = \"{}\"\nto = \"gone:x\"\n[groups.last]\nfrom = \"{}\"\n\
         to = \"far:last\"\nlink = \"wan\"\nafter = [\"other\"]\n",
        site.near("token").display(),
        source.join("run0").display(),
        source.join("run1").display()
    );
    fs::write(site.near("plan.toml"), plan).unwrap();
    site.ends(&["plan"], 0);
    let told = site.ends(&["run", "--link", "wan"], 75);
    assert!(told.contains("left"), "{told}");
    site.assert_same();
    assert!(
        !site.server.root().join("last").exists(),
        "it waits for another group"
    );
    let told = site.ends(&["run", "other-1-00001"], 75);
    assert!(told.contains("127.0.0.1:1"), "{told}");
}

/// A file system of one megabyte.
#[test]
fn a_full_disk_ends_a_plan_and_leaves_what_was_planned_before() {
    use nix::mount::{MntFlags, MsFlags, mount, umount2};
    if !nix::unistd::geteuid().is_root() {
        testkit::skip("mounting needs root");
        return;
    }
    let site = Site::new(100, "copies = 1");
    fs::create_dir(site.folder()).unwrap();
    let kind = Some("tmpfs");
    if mount(
        kind,
        &site.folder(),
        kind,
        MsFlags::empty(),
        Some("size=1m,mode=755"),
    )
    .is_err()
    {
        testkit::skip("file systems cannot be mounted here");
        return;
    }
    site.ends(&["plan"], 0);
    let before = read_all(&site.folder().join("plans"));
    for at in 0..9_000 {
        fs::write(site.source().join(format!("{at:0>80}")), "").unwrap();
    }
    let told = site.ends(&["plan"], 75);
    let after = read_all(&site.folder().join("plans"));
    umount2(&site.folder(), MntFlags::MNT_DETACH).unwrap();
    assert!(
        told.contains("No space left on device") && told.contains("make room"),
        "{told}"
    );
    assert_eq!(after, before);
}

#[test]
fn each_host_plans_and_runs_the_groups_whose_files_it_has() {
    let site = Site::new(50, "copies = 1");
    let other = site.near("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("index"), "of all").unwrap();
    let plan = site.near("plan.toml");
    let text = fs::read_to_string(&plan).unwrap();
    let hosts = "[hosts]\nslac = { address = \"me@slac.example.org\" }\n\
                 kek = { address = \"me@kek.example.org\" }\n";
    let from = format!("from = \"{}\"", site.source().display());
    let text = text.replace("[hosts]\n", hosts).replace(
        &from,
        &format!("from = \"slac:{}\"", site.source().display()),
    );
    let index = format!(
        "[groups.index]\nfrom = \"kek:{}\"\nto = \"far:index\"\nlink = \"wan\"\n\
         after = [\"raw\"]\n",
        other.display()
    );
    fs::write(&plan, format!("{text}\n{index}")).unwrap();

    let told = site.ends(&["plan"], 2);
    assert!(told.contains("with `--host slac`"), "{told}");
    let told = site.ends(&["plan", "--host", "lhc"], 2);
    assert!(
        told.contains("no host `lhc`; it has far, kek, slac"),
        "{told}"
    );
    // What failed to be planned is no campaign.
    assert!(site.ends(&["status"], 2).contains("holds no campaign"));
    let told = site.ends(&["plan", "--host", "kek"], 0);
    assert!(told.contains("group `raw` is planned at `slac`"), "{told}");
    // What it comes after is not even planned.
    let told = site.ends(&["run", "--host", "kek"], 75);
    assert!(told.contains("1 shard left"), "{told}");
    let told = site.ends(&["run", "index-1-00001", "--host", "kek"], 75);
    assert!(told.contains("comes after `raw`"), "{told}");
    site.ends(&["plan", "--host", "slac"], 0);
    site.ends(&["run", "--host", "kek"], 75);
    let told = site.ends(&["run", "--host", "slac"], 75);
    assert!(told.contains("1 shard left"), "{told}");
    site.assert_same();
    site.ends(&["run", "--host", "kek"], 0);
    let there = fs::read_to_string(site.server.root().join("index/index")).unwrap();
    assert_eq!(there, "of all");
    assert!(
        site.ends(&["plan", "--host", "slac"], 0)
            .contains("Nothing is new")
    );
}

#[test]
fn mistakes_are_told_with_the_next_step() {
    let site = Site::new(3, "copies = 1");
    assert!(site.ends(&["run"], 2).contains("holds no campaign"));
    site.ends(&["plan"], 0);
    assert!(
        site.ends(&["run", "raw-1-00009"], 2)
            .contains("has no shard `raw-1-00009`")
    );
    assert!(
        site.ends(&["run", "raw"], 2)
            .contains("they are named like `raw-1-00001`")
    );
    assert!(
        site.ends(&["slurm", "--link", "x"], 2)
            .contains("name one that has: wan")
    );
    site.write_plan("copies = 0", "colour = 1");
    let told = site.ends(&["plan"], 2);
    assert!(
        told.contains("2 mistakes") && told.contains("plan.toml:6"),
        "{told}"
    );
    let output = run(&["campaign", "plan", "/nowhere.toml", "x"]);
    assert_eq!(output.status.code(), Some(2));
    site.write_plan("copies = 1", "");
    fs::remove_dir_all(site.source()).unwrap();
    assert!(site.ends(&["plan"], 2).contains("is no folder here"));
    assert!(
        site.ends(&["run", "../../etc/passwd"], 2)
            .contains("cannot read")
    );
    // A folder that merely looks like one.
    fs::remove_dir_all(site.folder().join("plans")).unwrap();
    for command in [
        "run", "status", "pause", "cancel", "retry", "slurm", "verify",
    ] {
        assert!(
            site.ends(&[command], 2).contains("holds no campaign"),
            "{command}"
        );
    }
    assert!(!site.folder().join("cancelled").exists());
}
