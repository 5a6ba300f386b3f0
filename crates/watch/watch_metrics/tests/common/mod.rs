//! A Prometheus, and a server that it scrapes.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::{sleep, spawn};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use watch_metrics::CONTENT_TYPE;

/// Serves the text at `/metrics` as long as this program runs; gives the port.
pub fn serve(text: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    spawn(move || {
        for stream in listener.incoming() {
            // A peer that went away is no matter.
            let _ = answer(stream.unwrap(), &text);
        }
    });
    port
}

fn answer(mut stream: TcpStream, text: &str) -> std::io::Result<()> {
    let reader = BufReader::new(stream.try_clone()?);
    for line in reader.lines() {
        if line?.is_empty() {
            break;
        }
    }
    let length = text.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(text.as_bytes())
}

/// A Prometheus with its own folder that has scraped once. It ends with this value.
pub struct Prometheus {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Prometheus {
    /// Starts one; `None` where it is not installed.
    pub fn start(target: u16) -> Option<Self> {
        if !testkit::has_program("prometheus") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("prometheus.yml");
        let text = format!(
            "global: {{ scrape_interval: 1s, scrape_timeout: 1s }}\nscrape_configs:\n  \
             - job_name: trunkline\n    static_configs:\n      \
             - targets: ['127.0.0.1:{target}']\n"
        );
        fs::write(&config, text).unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.path().join("data").display()
            ))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let prometheus = Prometheus {
            child,
            port,
            folder,
        };
        prometheus.wait();
        Some(prometheus)
    }

    /// Until it has scraped.
    fn wait(&self) {
        for _ in 0..600 {
            let up = self.try_query("up");
            if up.is_some_and(|up| up[0]["value"][1] == "1") {
                return;
            }
            sleep(Duration::from_millis(100));
        }
        let log = fs::read_to_string(self.folder.path().join("log"));
        panic!("Prometheus scraped nothing: {log:?}");
    }

    fn try_query(&self, query: &str) -> Option<Value> {
        let url = format!("http://127.0.0.1:{}/api/v1/query", self.port);
        let answer = ureq::get(&url).query("query", query).call().ok()?;
        let text = answer.into_body().read_to_string().ok()?;
        let json: Value = serde_json::from_str(&text).ok()?;
        Some(json["data"]["result"].clone())
    }

    /// The series that a query gives now.
    pub fn query(&self, query: &str) -> Vec<Value> {
        let result = self
            .try_query(query)
            .unwrap_or_else(|| panic!("`{query}` was refused"));
        result.as_array().unwrap().clone()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
