//! `trunkline emulate`: other programs across an emulated path.

use std::ffi::OsString;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use emu::{DuplexBooks, FAR_ADDRESS, LinkBooks, NEAR_ADDRESS, Network, Program, Sink};
use netpath::PathSpec;
use record::{AnyDocument, Document, DuplexCounters, Emulation, LinkCounters};
use report::Paint;
use target::EmulatedNetwork;

use crate::args::Emulate;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::stop::Stop;

/// How often a running program is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long a program that was interrupted may take to say its last words.
const GRACE: Duration = Duration::from_secs(1);
/// How long the far program may take before it listens. Servers need milliseconds; a program that
/// never listens costs this once.
const LISTEN_PATIENCE: Duration = Duration::from_secs(3);

pub(crate) fn run(arguments: &Emulate) -> Result<ExitCode, Failure> {
    let path = target::load_path(&arguments.path)?;
    if let Some(file) = &arguments.report {
        record::check_target(file)?;
    }
    let stop = Stop::listen()?;
    let emulated = EmulatedNetwork::up(&path, arguments.seed.seed)?;
    let network = emulated.network();
    introduce(&path, network)?;
    let far = match &arguments.far {
        Some(command) => Some(start_far(network, command, &stop)?),
        None => None,
    };
    let near = Program::start(network.near(), &arguments.program, sink(arguments))?;
    let code = wait(near, &stop)?;
    if let Some(far) = far {
        far.kill();
        far.wait()?;
    }
    let document = Document::new(
        output::origin(arguments.seed.seed),
        body(arguments, &path, network, code),
    );
    let document = AnyDocument::from(document);
    match arguments.json {
        true => output::print(&document.to_json())?,
        false => tell!("{}", report::text(&document, Paint::Plain).trim_end()),
    }
    if let Some(file) = &arguments.report {
        output::write_page(&document, file)?;
    }
    Ok(ExitCode::from(code))
}

/// Standard output belongs to the document where one is asked for.
fn sink(arguments: &Emulate) -> Sink {
    match arguments.json {
        true => Sink::StandardError,
        false => Sink::Inherited,
    }
}

fn body(arguments: &Emulate, path: &PathSpec, network: &Network, exit_code: u8) -> Emulation {
    let books = network.all_books();
    let main = counters(&books.main);
    let words = arguments.program.iter();
    Emulation {
        path: path.name.clone(),
        path_description: path.to_string(),
        near_command: words
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        far_command: arguments.far.clone(),
        exit_code,
        forward: main.forward,
        reverse: main.reverse,
        before: books.before.iter().map(counters).collect(),
        beyond: books.beyond.iter().map(counters).collect(),
    }
}

fn counters(books: &DuplexBooks) -> DuplexCounters {
    let one_way = |books: &LinkBooks| LinkCounters::from(&books.own).with_load(&books.load);
    DuplexCounters {
        forward: one_way(&books.forward),
        reverse: one_way(&books.reverse),
    }
}

fn introduce(path: &PathSpec, network: &Network) -> Result<(), Failure> {
    tell!("path {}: {path}", path.name);
    tell!("hosts: near {NEAR_ADDRESS}, far {FAR_ADDRESS}");
    let name = &path.hosts.congestion;
    if !network.make_default_congestion(name)? {
        tell!(
            "warning: only root can make `{name}` the default here; programs that do not choose \
             it themselves (iperf3: -C {name}) get this host's default"
        );
    }
    Ok(())
}

/// Starts the far program and waits until it is ready for connections.
fn start_far(network: &Network, command: &str, stop: &Stop) -> Result<Program, Failure> {
    let shell = ["sh", "-c", command].map(OsString::from);
    let far = Program::start(network.far(), &shell, Sink::Named("far"))?;
    let deadline = Instant::now() + LISTEN_PATIENCE;
    while !network.far().has_listener()? {
        if far.is_finished() {
            tell!("warning: the far program `{command}` has ended already");
            break;
        }
        if stop.is_asked() || Instant::now() > deadline {
            tell!("warning: nothing listens on far; starting the near program all the same");
            break;
        }
        thread::sleep(LOOK);
    }
    Ok(far)
}

/// Waits for the program, or ends it when the user asks for that. Ctrl-C on a terminal reaches the
/// program as well, so it first gets time to end by itself, then a request, and then no choice.
fn wait(program: Program, stop: &Stop) -> Result<u8, Failure> {
    while !program.is_finished() && !stop.is_asked() {
        thread::sleep(LOOK);
    }
    finish_within(GRACE, &program);
    if !program.is_finished() {
        program.terminate();
        finish_within(GRACE, &program);
        program.kill();
    }
    Ok(program.wait()?)
}

fn finish_within(patience: Duration, program: &Program) {
    let deadline = Instant::now() + patience;
    while !program.is_finished() && Instant::now() < deadline {
        thread::sleep(LOOK);
    }
}
