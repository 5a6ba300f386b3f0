//! The pages in a real browser: what axe-core finds, the keyboard, without scripts, zoom, changes,
//! and that nothing is loaded from elsewhere. `browser.py` drives Debian's Chromium.

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::{Mesh, START, Still, name, pair, time};
use watch_store::{DatabaseName, PairHistory, Store};
use watch_web::{WebOptions, WebServer};

const DAYS: u64 = 30;
/// Accessibility is judged by this version.
const AXE: &str = "axe-core@4.14.1";

#[test]
fn pages_hold_in_a_browser() {
    for program in ["chromium", "chromedriver", "python3", "npm"] {
        if !testkit::has_program(program) {
            return;
        }
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(axe) = axe(folder) else {
        testkit::skip("axe-core cannot be had from npm");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseName::Sqlite(folder.path().join("watch.sqlite"));
    let mut store = Store::open(&database).unwrap();
    Mesh::new(1124, DAYS).fill(&mut store);
    let pages = pages(&mut store);
    let options = WebOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        database,
        token: Some("secret".to_owned()),
    };
    let server = WebServer::start(options, Arc::new(Still::new(DAYS))).unwrap();
    let ended = AtomicBool::new(false);
    let status = thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(300));
                server.notify();
            }
        });
        let status = drive(&format!("http://{}", server.address()), &axe, &pages);
        ended.store(true, Ordering::Relaxed);
        status
    });
    assert!(status, "the browser found faults; they stand above");
}

/// axe-core, from an earlier test or from npm.
fn axe(folder: &Path) -> Option<PathBuf> {
    let file = folder.join("package/axe.min.js");
    if file.is_file() {
        return Some(file);
    }
    let quiet = |command: &mut Command| {
        let command = command.current_dir(folder).stdout(Stdio::null());
        command
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    let packed = format!("{}.tgz", AXE.replace('@', "-"));
    let has = quiet(Command::new("npm").args(["pack", AXE]))
        && quiet(Command::new("tar").args(["xzf", &packed]));
    has.then_some(file)
}

/// One page of each kind; the second is a pair over a week.
fn pages(store: &mut Store) -> String {
    let range = (time(START), time(START + 7200));
    let of = pair("slac", "cern");
    let visits = store.history(&of, &name("goodput"), range, 10).unwrap();
    let PairHistory::Visits(visits) = visits else {
        panic!("two hours are summed up");
    };
    let visit = format!("/visit/{}", visits[0].0);
    let pages = [
        "/",
        "/pair/slac/cern?task=goodput",
        "/pair/kek/desy?task=goodput&range=month",
        "/?task=reach",
        "/charts?task=goodput",
        "/pair/slac/cern?task=goodput&days=7&with_from=kek&with_to=desy",
        "/event/goodput/slac/cern/0",
        "/incident/goodput/slac/cern/0",
        &visit,
        "/events",
        "/silences",
        "/months",
        "/traffic",
        "/months?by=group&figure=loss",
        "/hosts",
        "/nothing",
    ];
    pages.join("\n")
}

fn drive(address: &str, axe: &Path, pages: &str) -> bool {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser.py");
    let mut python = Command::new("python3");
    let python = python
        .arg(script)
        .arg(address)
        .arg(axe)
        .stdin(Stdio::piped());
    let mut python = python.spawn().unwrap();
    let mut input = python.stdin.take().unwrap();
    input.write_all(pages.as_bytes()).unwrap();
    drop(input);
    python.wait().unwrap().success()
}
