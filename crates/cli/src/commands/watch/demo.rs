//! `trunkline watch demo`: a month of six laboratories in virtual time, and its pages.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use trunkline::draw::render::terminal;
use trunkline_watch::DatabaseName;
use trunkline_watch::demo::Demo;

use crate::args::WatchDemo;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::Days;
use crate::stop;

/// How soon Ctrl-C ends the pages.
const TICK: Duration = Duration::from_millis(50);

pub(super) fn run(arguments: &WatchDemo) -> Result<ExitCode, Failure> {
    let folder = tempfile::tempdir()?;
    let file = match &arguments.database {
        Some(file) if file.exists() => {
            return Err(Failure::wrong_request(
                &format!("{} exists already", file.display()),
                "name a file that does not exist yet: the month is made anew each time",
            ));
        }
        Some(file) => file.clone(),
        None => folder.path().join("demo.db"),
    };
    let cancel = stop::listen()?;
    let demo = Demo::new(DatabaseName::Sqlite(file), arguments.seed, &cancel)?;
    let server = match arguments.no_pages {
        true => None,
        false => Some(demo.serve(arguments.web)?),
    };
    tell!(
        "six laboratories visit each other once an hour for 30 days, in virtual time; simulating \
         all visits takes a minute or two"
    );
    if let Some(server) = &server {
        tell!(
            "open http://{}/ in a browser: it has the days that are made; Ctrl-C ends this",
            server.address()
        );
    }
    let days = Days::new();
    let month = demo.make(&mut |done, all| days.done(done, all));
    days.finish();
    output::print(&terminal::text(&month?.page(), output::paint()))?;
    if server.is_some() {
        while !cancel.is_cancelled() {
            thread::sleep(TICK);
        }
    }
    Ok(ExitCode::SUCCESS)
}
