//! A real Alertmanager: one alert however often it is posted, and its end.

mod common;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use changes::UnixTime;
use common::{Server, alerting, answer, later, over, send_due, slower, with_one_event};
use serde_json::Value;
use tempfile::TempDir;
use watch_alerts::{Situation, send_test};

/// An Alertmanager with its own folder. It ends with this value.
struct Alertmanager {
    child: Child,
    port: u16,
    _folder: Arc<TempDir>,
}

impl Alertmanager {
    /// Starts one that notifies a webhook; `None` where it is not installed.
    fn start(webhook: u16) -> Option<Self> {
        if !testkit::has_program("prometheus-alertmanager") {
            return None;
        }
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let config = folder.path().join("config.yml");
        let text = format!(
            "route:\n  receiver: hook\n  group_by: [incident]\n  group_wait: 1s\n  \
             group_interval: 1s\n\
             receivers:\n  - name: hook\n    webhook_configs:\n      \
             - url: http://127.0.0.1:{webhook}/hook\n        send_resolved: true\n"
        );
        fs::write(&config, text).unwrap();
        // Other programs of this host take ports, too.
        let manager = (0..5).find_map(|_| Self::listening(&folder));
        let log = fs::read_to_string(folder.path().join("log"));
        Some(manager.unwrap_or_else(|| panic!("Alertmanager does not listen: {log:?}")))
    }

    /// One that listens; `None` where it ends or takes longer than a minute.
    fn listening(folder: &Arc<TempDir>) -> Option<Self> {
        let port = free_port();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let child = Command::new("prometheus-alertmanager")
            .arg(format!(
                "--config.file={}",
                folder.path().join("config.yml").display()
            ))
            .arg(format!(
                "--storage.path={}",
                folder.path().join("data").display()
            ))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .arg("--cluster.listen-address=")
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut manager = Alertmanager {
            child,
            port,
            _folder: Arc::clone(folder),
        };
        for _ in 0..600 {
            if manager.child.try_wait().unwrap().is_some() {
                return None;
            }
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(manager);
            }
            sleep(Duration::from_millis(100));
        }
        None
    }

    /// What its API has.
    fn alerts(&self) -> Vec<Value> {
        let url = format!("http://127.0.0.1:{}/api/v2/alerts", self.port);
        let text = ureq::get(&url)
            .call()
            .unwrap()
            .into_body()
            .read_to_string()
            .unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for Alertmanager {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

fn now() -> UnixTime {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    UnixTime::from_seconds(since.as_secs())
}

#[test]
fn alertmanager_has_one_alert_until_its_end() {
    let hook = Server::start(vec![answer("200 OK", ""), answer("200 OK", "")]);
    let Some(manager) = Alertmanager::start(hook.port) else {
        return;
    };
    let text = format!(
        "base_url = \"http://watch.example.org\"\n[defaults]\nhold = \"0s\"\n\
         [[alertmanager]]\nurl = \"http://127.0.0.1:{}/\"\n",
        manager.port
    );
    let alerting = alerting(&text);
    let begun = now();
    let mut alerts = with_one_event(&alerting, begun);
    // Each minute again, as it wants; to the same alert.
    for repeat in 0..5 {
        let errors = send_due(&mut alerts, &alerting, later(begun, 60 * repeat));
        assert_eq!(errors, Vec::<String>::new());
    }
    let known = manager.alerts();
    assert_eq!(known.len(), 1, "{known:?}");
    assert_eq!(known[0]["labels"]["alertname"], "TrunklineWatch");
    assert_eq!(known[0]["labels"]["severity"], "warning");
    assert_eq!(known[0]["labels"]["from"], "b\u{f6}nn");
    assert_eq!(known[0]["status"]["state"], "active");
    let link = "http://watch.example.org/incident/goodput/b%C3%B6nn/cern/0";
    assert_eq!(known[0]["generatorURL"], link);
    let first: Value = serde_json::from_str(&hook.request().body).unwrap();
    assert_eq!(first["status"], "firing");
    assert_eq!(first["alerts"].as_array().unwrap().len(), 1);

    let event = slower(
        "b\u{f6}nn",
        "cern",
        UnixTime::from_seconds(begun.seconds() - 3600),
    );
    let at = Situation {
        alerting: &alerting,
        pairs: &[],
        now: begun,
    };
    alerts.insert(&over(event, begun), &at);
    assert_eq!(alerts.advance(&at).len(), 1);
    assert_eq!(
        send_due(&mut alerts, &alerting, begun),
        Vec::<String>::new()
    );
    assert_eq!(manager.alerts(), Vec::<Value>::new());
    let last: Value = serde_json::from_str(&hook.request().body).unwrap();
    assert_eq!(last["status"], "resolved");
    assert_eq!(last["groupLabels"], first["groupLabels"]);
}

#[test]
fn a_test_reaches_alertmanager() {
    let hook = Server::start(vec![answer("200 OK", "")]);
    let Some(manager) = Alertmanager::start(hook.port) else {
        return;
    };
    let text = format!(
        "[[alertmanager]]\nurl = \"http://127.0.0.1:{}\"\n",
        manager.port
    );
    let results = send_test(&alerting(&text), now());
    assert!(results[0].is_sent, "{}", results[0].sentence);
    let summary = manager.alerts()[0]["annotations"]["summary"].clone();
    assert!(
        summary.as_str().unwrap().starts_with("Test of alerts"),
        "{summary}"
    );
}
