//! Plans, agents and the collector as a user runs them, on loopback.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::{complaint, run, trunkline};
use tempfile::TempDir;

/// Longest wait for something that has to happen.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running command with its log; it ends with the test.
struct Running {
    process: Child,
    log: Receiver<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // A process that has ended needs no signal.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Running {
    fn start(words: &[&str]) -> Self {
        Running::spawn(&mut trunkline(words))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let (sender, log) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Running { process, log }
    }

    /// The next line of its log with these words.
    fn says(&self, words: &str) -> String {
        let mut seen = Vec::new();
        while let Ok(line) = self.log.recv_timeout(TIMEOUT) {
            if line.contains(words) {
                return line;
            }
            seen.push(line);
        }
        panic!("no `{words}` in\n{}", seen.join("\n"));
    }
}

fn free_port() -> u16 {
    let probe = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    probe.local_addr().unwrap().port()
}

/// A plan of two hosts on loopback, their tokens, and free ports.
struct Site {
    folder: TempDir,
    ports: [u16; 3],
}

impl Site {
    fn new() -> Self {
        Site::with(
            "[tasks.trips]\nkind = \"ping\"\ngroup = \"all\"\nevery = \"10s\"\nduration = \"5s\"\n",
        )
    }

    fn with(tasks: &str) -> Self {
        let site = Site {
            folder: tempfile::tempdir().unwrap(),
            ports: [free_port(), free_port(), free_port()],
        };
        let [a, b, _] = site.ports;
        // To one of both hosts visits are over IPv6.
        let other = match testkit::is_ipv6(1) {
            true => "[::1]",
            false => "127.0.0.2",
        };
        let plan = format!(
            "gap = \"1s\"\n[hosts]\na = {{ address = \"127.0.0.1:{a}\" }}\n\
             b = {{ address = \"{other}:{b}\" }}\n[groups]\nall = {{ mesh = [\"a\", \"b\"] \
             }}\n{tasks}"
        );
        fs::write(site.path("plan.toml"), plan).unwrap();
        for host in ["a", "b"] {
            let tokens = site.path("tokens");
            let made = run(&["serve", "--tokens", &tokens, "--new-token", host]);
            fs::write(site.path(&format!("{host}.token")), made.stdout).unwrap();
        }
        site
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn collector(&self) -> Running {
        let (plan, tokens, database) =
            (self.path("plan.toml"), self.path("tokens"), self.path("db"));
        let port = self.ports[2].to_string();
        Running::start(&[
            "watch",
            "serve",
            &plan,
            "--tokens",
            &tokens,
            "--database",
            &database,
            "--port",
            &port,
            "--web",
            "127.0.0.1:0",
        ])
    }

    /// An agent that takes the plan of the collector.
    fn follower(&self, host: &str) -> Running {
        let port = self.ports[usize::from(host == "b")].to_string();
        let collector = format!("127.0.0.1:{}", self.ports[2]);
        let (token, state) = (self.path(&format!("{host}.token")), self.path("state"));
        let place = ["--collector", &collector, "--token-file", &token];
        let own = ["--host", host, "--state", &state, "--port", &port];
        Running::start(&[&["watch", "run"], &place[..], &own[..]].concat())
    }

    fn agent(&self, host: &str, token: &str) -> Running {
        let port = self.ports[usize::from(host == "b")].to_string();
        let collector = format!("127.0.0.1:{}", self.ports[2]);
        Running::start(&[
            "watch",
            "run",
            &self.path("plan.toml"),
            "--host",
            host,
            "--collector",
            &collector,
            "--token-file",
            &self.path(token),
            "--state",
            &self.path(&format!("state-{host}")),
            "--port",
            &port,
        ])
    }
}

/// The body of a page.
fn page(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Visits go from agents over the collector to the pages; an agent that is killed goes on.
#[test]
fn agents_report_and_pages_show_it() {
    let site = Site::new();
    let collector = site.collector();
    let line = collector.says("pages on");
    let address = line
        .split("http://")
        .nth(1)
        .unwrap()
        .trim_end_matches('/')
        .to_owned();
    let b = site.agent("b", "b.token");
    let mut a = site.agent("a", "a.token");
    a.says("trips: b done");
    a.says("the collector has 1 more");
    let metrics = page(&address, "/metrics");
    assert!(
        metrics.contains("from=\"a\"") && metrics.contains("to=\"b\""),
        "{metrics}"
    );
    assert!(page(&address, "/").contains("trips"));
    // Killed within a visit, it says so after its next start.
    a.says("trips: ping to b");
    a.process.kill().unwrap();
    a.process.wait().unwrap();
    let again = site.agent("a", "a.token");
    again.says("was cut off when this agent ended");
    again.says("the collector has");
    let stream = page(&address, "/stream.ndjson");
    assert!(
        stream.contains("the agent ended during the visit"),
        "{stream}"
    );
    drop((again, b));
    // A clean end leaves one file with all results.
    let mut collector = collector;
    let pid = collector.process.id().to_string();
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
    assert!(collector.process.wait().unwrap().success());
    assert!(Path::new(&site.path("db")).exists());
    assert!(!Path::new(&site.path("db-wal")).exists());
}

/// An agent without a plan waits for the collector's, and follows its next one without a restart,
/// also when it is started again while no collector is there.
#[test]
fn agents_follow_the_plan_of_the_collector() {
    let site = Site::new();
    // The next plan does not have the second host of the machine any more.
    let plan = fs::read_to_string(site.path("plan.toml")).unwrap();
    let next = plan.replace("[tasks.trips]", "[tasks.routine]");
    let second = "[hosts]\nc = { address = \"c\", machine = \"a\" }";
    fs::write(site.path("plan.toml"), plan.replace("[hosts]", second)).unwrap();
    let a = site.follower("a");
    a.says("no plan yet");
    let collector = site.collector();
    a.says("trips: ping to b");
    drop(collector);
    fs::write(site.path("plan.toml"), next).unwrap();
    let collector = site.collector();
    a.says("goes on here");
    a.says("routine: ping to b");
    drop((a, collector));
    let again = site.follower("a");
    again.says("routine: ping to b");
}

/// A host that runs nothing but an iperf3 server is visited, and asked to send.
#[test]
fn an_iperf3_server_is_visited_both_ways() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let site = Site::new();
    let port = free_port().to_string();
    let plan = format!(
        "gap = \"1s\"\n[hosts]\na = {{ address = \"127.0.0.1:{}\" }}\n\
         x = {{ address = \"127.0.0.2:{port}\", agent = false }}\n\
         [groups]\nall = {{ mesh = [\"a\", \"x\"] }}\n\
         [tasks.goodput]\nkind = \"throughput\"\ngroup = \"all\"\nevery = \"30s\"\n\
         duration = \"9s\"\n\
         [tasks.trips]\nkind = \"ping\"\ngroup = \"all\"\nevery = \"60s\"\nduration = \"3s\"\n",
        site.ports[0]
    );
    fs::write(site.path("plan.toml"), plan).unwrap();
    let mut server = Command::new("iperf3");
    let server = server.args(["-s", "-p", &port]).stdout(Stdio::null());
    let server = Running::spawn(server);
    let (collector, a) = (site.collector(), site.agent("a", "a.token"));
    collector.says("pages on");
    a.says("goodput: throughput from x");
    a.says("goodput: x done");
    a.says("goodput: throughput to x");
    a.says("goodput: x done");
    a.says("the collector has");
    drop((a, server));
    let exported = run(&["watch", "export", "visits", "--database", &site.path("db")]);
    let exported = String::from_utf8(exported.stdout).unwrap();
    let visits: Vec<serde_json::Value> = exported
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (from, to) in [("a", "x"), ("x", "a")] {
        let goodput = visits.iter().find(|visit| {
            visit["from_host"] == from && visit["to_host"] == to && visit["task"] == "goodput"
        });
        let goodput = &goodput.unwrap()["goodput_bits_per_second"];
        assert!(goodput.as_f64().unwrap() > 1e6, "{exported}");
    }
}

/// One flow of 1.5 MB from port 443 of 198.51.100.7 to 10.1.2.3, as NetFlow 5 has it.
fn netflow_5() -> Vec<u8> {
    let header = [5, 1, 0, 1000, 0, 0, 0, 0, 0, 1, 0, 0];
    let mut datagram: Vec<u8> = header.into_iter().flat_map(u16::to_be_bytes).collect();
    datagram.extend([198, 51, 100, 7, 10, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [1000_u32, 1_500_000, 1000, 1000] {
        datagram.extend(number.to_be_bytes());
    }
    datagram.extend([443_u16, 40_000].into_iter().flat_map(u16::to_be_bytes));
    // Flags, protocol, and what stands behind it.
    datagram.extend([0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    datagram
}

/// What a router tells goes over the socket of the plan to the table, the page and the export.
#[test]
fn flow_records_of_a_router_are_shown() {
    let site = Site::with(
        "[tasks.trips]\nkind = \"ping\"\ngroup = \"all\"\nevery = \"1h\"\nduration = \"5s\"\n\
         [flows]\nlisten = \"127.0.0.1:0\"\ninside = [\"10.0.0.0/8\"]\n",
    );
    let collector = site.collector();
    let line = collector.says("pages on");
    let pages = line.split("http://").nth(1).unwrap().trim_end_matches('/');
    let line = collector.says("taking flow records");
    let address = line.split("UDP ").nth(1).unwrap().trim();
    let router = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    router.send_to(&netflow_5(), address).unwrap();
    collector.says("router 127.0.0.1 sends flow records");
    let database = site.path("db");
    let shown = run(&["watch", "flows", "--database", &database]);
    let text = String::from_utf8(shown.stdout).unwrap();
    for words in ["https", "1.50 MB", "127.0.0.1"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    let shown = run(&["watch", "flows", "--database", &database, "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(document["applications"][0]["in"]["bytes"], 1_500_000);
    assert!(page(pages, "/traffic").contains("https"));
    let export = |words: &[&str]| {
        run(&[
            &["watch", "export", "flows", "--database", &database],
            words,
        ]
        .concat())
    };
    let rows = String::from_utf8(export(&[]).stdout).unwrap();
    assert!(rows.contains("\"application\":\"https\""), "{rows}");
    let words = refusal(&export(&["--from", "a"]), 2);
    assert!(words.contains("by router, not by host or task"), "{words}");
}

/// Nothing begins in quiet hours, which the agent tells; a budget bounds what a visit sends, also
/// where no link is known.
#[test]
fn quiet_hours_and_budgets_hold() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let minute = now.as_secs() / 60 % 1440;
    let clock = |minute: u64| format!("{:02}:{:02}", minute % 1440 / 60, minute % 60);
    let quiet = format!("{}-{}", clock(minute + 1380), clock(minute + 60));
    let site = Site::with(&format!(
        "[tasks.trips]\nkind = \"ping\"\ngroup = \"all\"\nevery = \"40s\"\nduration = \"2s\"\n\
         budget = {{ quiet = [\"{quiet}\"] }}\n\
         [tasks.goodput]\nkind = \"throughput\"\ngroup = \"all\"\nevery = \"40s\"\n\
         duration = \"12s\"\nbudget = {{ bytes_a_day = \"6GB\" }}\n"
    ));
    let collector = site.collector();
    let line = collector.says("pages on");
    let address = line.split("http://").nth(1).unwrap();
    let address = address.trim_end_matches('/').to_owned();
    let (b, a) = (site.agent("b", "b.token"), site.agent("a", "a.token"));
    for agent in [&a, &b] {
        let told = agent.says("trips: ");
        let words = format!("trips: no visits in the quiet hours {quiet}");
        assert!(told.contains(&words), "{told}");
    }
    a.says("goodput: b done");
    a.says("the collector has 1 more");
    let stream = page(&address, "/stream.ndjson");
    let line = stream.lines().find(|line| line.starts_with('{')).unwrap();
    let visit: serde_json::Value = serde_json::from_str(line).unwrap();
    let tenths = visit["rates_bits_per_second"].as_array().unwrap().iter();
    let bytes: f64 = tenths.map(|rate| rate.as_f64().unwrap() / 80.0).sum();
    // Two visits a cycle at each host, and 2,160 cycles a day.
    let allowed = 6e9 / (2.0 * 2160.0);
    assert!(
        bytes > 0.0 && bytes <= allowed,
        "{bytes} of {allowed}: {line}"
    );
}

/// A collector takes nothing from one who shows another host's token.
#[test]
fn a_forged_agent_is_told_so_and_keeps_its_results() {
    let site = Site::new();
    let collector = site.collector();
    collector.says("pages on");
    let forged = site.agent("a", "b.token");
    let line = forged.says("has not got");
    assert!(line.contains("the agent says that it is `a`"), "{line}");
    assert!(
        line.contains("give each agent a token with the name of its host"),
        "{line}"
    );
    collector.says("rejected");
    // A second collector on the same port.
    let second = site.collector();
    let line = second.says("error");
    assert!(line.contains("for agents is in use"), "{line}");
}

/// Without a collector an agent is told what to start.
#[test]
fn an_agent_without_a_collector_is_told_what_to_start() {
    let site = Site::new();
    let agent = site.agent("a", "a.token");
    let line = agent.says("has not got");
    assert!(line.contains("`trunkline watch serve`"), "{line}");
}

#[test]
fn wrong_requests_name_the_next_step() {
    let site = Site::new();
    let plan = site.path("plan.toml");
    let token = site.path("a.token");
    let state = site.path("state");
    let unknown_host = [
        "watch",
        "run",
        &plan,
        "--host",
        "c",
        "--collector",
        "127.0.0.1",
        "--token-file",
        &token,
        "--state",
        &state,
    ];
    let output = run(&unknown_host);
    assert_eq!(output.status.code(), Some(2));
    let text = complaint(&output);
    assert!(
        text.contains("the plan has no host `c` with an agent") && text.contains("a, b"),
        "{text}"
    );
    let checked = run(&["watch", "check", &plan]);
    assert!(checked.status.success());
    let text = String::from_utf8(checked.stdout).unwrap();
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let absent = run(&[
        "watch",
        "forecast",
        "a",
        "b",
        "trips",
        "2TB",
        "--database",
        &site.path("db"),
    ]);
    assert_eq!(absent.status.code(), Some(2));
    let text = complaint(&absent);
    assert!(text.contains("there are no results of a watch"), "{text}");
    let absent = run(&["watch", "months", "trips", "--database", &site.path("db")]);
    assert_eq!(absent.status.code(), Some(2));
    let text = complaint(&absent);
    assert!(text.contains("there are no results of a watch"), "{text}");
}

#[test]
fn an_export_replaces_nothing_and_makes_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let export = |words: &[&str]| run(&[&["watch", "export"], words].concat());
    let (absent, output) = (path("absent.db"), path("visits.csv"));

    let words = refusal(&export(&["visits", &output, "--database", &absent]), 2);
    assert!(
        words.contains("there are no results of a watch in"),
        "{words}"
    );
    assert!(!Path::new(&absent).exists());
    assert!(!Path::new(&output).exists());

    fs::write(&output, "mine").unwrap();
    let words = refusal(&export(&["visits", &output, "--database", &absent]), 2);
    assert!(words.contains("visits.csv exists already"), "{words}");
    assert_eq!(fs::read_to_string(&output).unwrap(), "mine");

    let foreign = path("text");
    fs::write(&foreign, "no database at all, but a text of some length").unwrap();
    let words = refusal(&export(&["events", "--database", &foreign]), 1);
    assert!(words.contains("is damaged"), "{words}");

    let words = refusal(&export(&["visits", &path("visits.xls")]), 2);
    assert!(
        words.contains("`xls` is not a format of exports"),
        "{words}"
    );
    let words = refusal(&export(&["trips"]), 2);
    assert!(
        words.contains("take one of visits, round-trips, rates, events"),
        "{words}"
    );
    // Nothing is left beside what was there.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

fn refusal(output: &std::process::Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}", complaint(output));
    complaint(output)
}
