//! Pages of the mesh over HTTP: a server that just started, and one request.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use changes::UnixTime;
use watch_plan::{Plan, Timetable};
use watch_store::DatabaseName;
use watch_web::{AgentState, Live, SilenceRequest, WebOptions, WebServer};

use crate::Outcome;
use crate::visits::{EVERY, START, host, task};

/// A watch that stands still.
struct Still {
    now: UnixTime,
    table: Arc<Timetable>,
}

impl Live for Still {
    fn now(&self) -> UnixTime {
        self.now
    }

    fn timetable(&self) -> Option<Arc<Timetable>> {
        Some(Arc::clone(&self.table))
    }

    fn agents(&self) -> Vec<AgentState> {
        Vec::new()
    }

    fn metrics(&self) -> Option<String> {
        None
    }

    fn extra(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn silence(&self, _: SilenceRequest) -> Result<(), String> {
        Err("a benchmark takes none".to_owned())
    }
}

/// Milliseconds from the start of the server to the last byte of a page.
pub fn ask(database: &DatabaseName, path: &str, days: u64) -> Outcome<f64> {
    let (plan, _) = Plan::parse(&plan(), "plan.toml")?;
    let live = Still {
        now: UnixTime::from_seconds(START + days * 86_400 + EVERY),
        table: Arc::new(Timetable::new(&plan, 0)?),
    };
    let begin = Instant::now();
    let options = WebOptions {
        listen: "127.0.0.1:0".parse()?,
        database: database.clone(),
        token: None,
    };
    let server = WebServer::start(options, Arc::new(live))?;
    let mut stream = TcpStream::connect(server.address())?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let milliseconds = begin.elapsed().as_secs_f64() * 1e3;
    match answer.starts_with("HTTP/1.1 200") {
        true => Ok(milliseconds),
        false => Err(answer.into()),
    }
}

/// The plan of the mesh.
fn plan() -> String {
    let names: Vec<String> = (0..30).map(host).collect();
    let hosts = names
        .iter()
        .map(|name| format!("\"{name}\" = {{ address = \"{name}\" }}\n"));
    format!(
        "[hosts]\n{}[groups]\nall = {{ mesh = {names:?} }}\n[tasks]\n{} = {{ kind = \
         \"throughput\", group = \"all\", every = \"30min\", duration = \"20s\" }}\n",
        hosts.collect::<String>(),
        task()
    )
}
