//! Servers that are killed in the middle of a test, and one that is busy with another client.

mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;

use endpoints::{Client, ClientError, Server, ServerLimits};
use observe::{Direction, RunObserver, SamplePlan, Setting, Snapshot, StreamCount, Window};
use support::{Iperf3Server, iperf3_client};
use units::{Address, Bytes, Span};

const DIRECTIONS: [Direction; 3] = [Direction::Forward, Direction::Reverse, Direction::Both];

/// Does something once the streams run.
struct Once<F: FnMut() + Send>(usize, F);

impl<F: FnMut() + Send> RunObserver for Once<F> {
    fn on_progress(&mut self, _: &Snapshot) {
        self.0 += 1;
        if self.0 == 3 {
            (self.1)();
        }
    }
}

/// A minute's test whose server is killed by `kill` after a moment.
fn killed(target: &Address, direction: Direction, kill: impl FnMut() + Send) -> ClientError {
    let setting = Setting {
        direction,
        ..Setting::new(StreamCount::new(2).unwrap(), Window::Auto)
    };
    let plan = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(60))
    };
    let begun = std::time::Instant::now();
    let client = Client::new(target.clone());
    let error = client.run(&setting, &plan, &mut Once(0, kill)).unwrap_err();
    // Less than the minute that the streams were to run, let alone the time that results may take.
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    error
}

fn assert_says_that_it_closed(error: &ClientError) {
    let text = error.to_string();
    assert!(text.contains("the server closed the connection"), "{text}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("stopped or crashed"), "{hint}");
}

#[test]
fn a_killed_iperf3_ends_the_test_at_once() {
    if !testkit::has_program("iperf3") {
        return;
    }
    for direction in DIRECTIONS {
        let mut server = Iperf3Server::start();
        let target = server.target.clone();
        let error = killed(&target, direction, || server.kill());
        assert_says_that_it_closed(&error);
    }
}

/// Set for the process that is to be a server.
const SERVE: &str = "TRUNKLINE_TEST_SERVE";
const ADDRESS: &str = "address: ";

/// This test's own program as a server in a process of its own, which can be killed.
struct OwnServer {
    target: Address,
    child: Child,
}

impl OwnServer {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_process_of_its_own_serves", "--nocapture"])
            .env(SERVE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut lines = said.lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.split_once(ADDRESS)?.1.to_owned()));
        OwnServer {
            target: address.unwrap().parse().unwrap(),
            child,
        }
    }

    fn kill(&mut self) {
        // A second time it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Serves where it was started for that, and is no test otherwise.
#[test]
fn a_process_of_its_own_serves() {
    if std::env::var_os(SERVE).is_none() {
        return;
    }
    // It goes when the test goes, however that ends.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let any_port = std::net::SocketAddr::new(testkit::loopback(), 0);
    let server = Server::bind(any_port, ServerLimits::default()).unwrap();
    println!("\n{ADDRESS}{}", server.address());
    server.run(&AtomicBool::new(false), &|_| {});
}

#[test]
fn our_own_server_killed_ends_the_test_at_once() {
    for direction in DIRECTIONS {
        let mut server = OwnServer::start();
        let target = server.target.clone();
        let error = killed(&target, direction, || server.kill());
        assert_says_that_it_closed(&error);
    }
}

/// Ends the other client when it is told to wait.
struct Impatient {
    other: Child,
    waits: usize,
}

impl RunObserver for Impatient {
    fn on_wait(&mut self, _: &str, _: Span) {
        self.waits += 1;
        let _ = self.other.kill();
        let _ = self.other.wait();
    }
}

#[test]
fn an_iperf3_that_serves_another_is_asked_again() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let server = Iperf3Server::lasting();
    let address = server.target.to_string().parse().unwrap();
    let mut other = iperf3_client(address, &["-t", "60", "--forceflush"]);
    // Its first line of figures: the server has its test.
    let said = BufReader::new(other.stdout.take().unwrap());
    let mut lines = said.lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("bits/sec")));
    let mut watch = Impatient { other, waits: 0 };
    let plan = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(1))
    };
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    let seen = Client::new(server.target.clone()).run(&setting, &plan, &mut watch);
    assert!(seen.unwrap().bytes_delivered() > Bytes::ZERO);
    assert!(watch.waits >= 1);
}
