//! The plan of the day, and the token that agent and collector share.

use std::fmt::Write;

use watch_plan::{Due, HostName, Plan, Planned, Timetable};
use wire::copy::{KeyName, Secret, Token};

use crate::Outcome;

/// Hosts of the mesh.
pub const HOSTS: usize = 21;
/// Midnight of 2026-01-01 UTC.
pub const START: u64 = 1_767_225_600;
pub const DAY: u64 = 86_400;
/// The host whose agent is measured.
pub const HOST: &str = "h7";

/// A mesh of 21 hosts: `ping` each 5 minutes, `throughput` each 30, `path` each hour.
pub fn text() -> String {
    let names: Vec<String> = (0..HOSTS).map(|number| format!("h{number}")).collect();
    let mut text = String::from("[hosts]\n");
    for name in &names {
        let _ = writeln!(text, "{name} = {{ address = \"{name}.example.org\" }}");
    }
    let _ = writeln!(text, "[groups]\nall = {{ mesh = {names:?} }}\n[tasks]");
    for (name, kind, every, duration) in [
        ("trips", "ping", "5min", "10s"),
        ("goodput", "throughput", "30min", "30s"),
        ("ways", "path", "1h", "30s"),
    ] {
        let _ = writeln!(
            text,
            "{name} = {{ kind = \"{kind}\", group = \"all\", every = \"{every}\", duration = \
             \"{duration}\" }}"
        );
    }
    text
}

pub fn timetable() -> Outcome<Timetable> {
    let (plan, _) = Plan::parse(&text(), "day.toml")?;
    Ok(Timetable::new(&plan, 0)?)
}

pub fn host() -> Outcome<HostName> {
    Ok(HOST.parse()?)
}

/// The visits of the host that is measured on its day.
pub fn dues() -> Outcome<Vec<Due>> {
    let (table, host) = (timetable()?, host()?);
    let begin = START.cast_signed();
    let planned = table.next_visits(&host, begin);
    let day = planned.take_while(|planned| planned.due().at < begin + DAY.cast_signed());
    let own = day.filter_map(Planned::visit);
    Ok(own.filter(|due| due.from == host).collect())
}

pub fn token() -> Outcome<Token> {
    Ok(Token {
        name: KeyName::new(HOST)?,
        secret: Secret::new([7; 32]),
    })
}
