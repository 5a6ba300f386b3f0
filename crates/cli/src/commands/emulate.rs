//! `trunkline emulate`: other programs across an emulated path.

use std::ffi::OsString;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use emu::{FAR_ADDRESS, NEAR_ADDRESS, Network, Program};
use link::Counters;
use path::PathSpec;

use crate::args::Emulate;
use crate::failure::Failure;
use crate::stop::Stop;

/// How often a running program is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long the far program may take before it listens. Servers need milliseconds; a program that
/// never listens costs this once.
const LISTEN_PATIENCE: Duration = Duration::from_secs(3);

pub(crate) fn run(arguments: &Emulate) -> Result<ExitCode, Failure> {
    let path = PathSpec::load(&arguments.path)?;
    emu::enter_user_namespace()?;
    let stop = Stop::listen()?;
    let network = Network::up(&path, arguments.seed.seed)?;
    introduce(&path, &network);
    let far = match &arguments.far {
        Some(command) => Some(start_far(&network, command, &stop)?),
        None => None,
    };
    let near = Program::start(network.near(), &arguments.program)?;
    let code = wait(near, &stop)?;
    if let Some(far) = far {
        far.kill();
        far.wait()?;
    }
    tell_counters(&network);
    Ok(ExitCode::from(code))
}

fn introduce(path: &PathSpec, network: &Network) {
    eprintln!("path {}: {path}", path.name);
    eprintln!("hosts: near {NEAR_ADDRESS}, far {FAR_ADDRESS}");
    if !network.congestion_is_default() {
        let name = &path.hosts.congestion;
        eprintln!(
            "warning: only root can make `{name}` the default here; programs that do not choose \
             it themselves (iperf3: -C {name}) get this host's default"
        );
    }
}

/// Starts the far program and waits until it is ready for connections.
fn start_far(network: &Network, command: &str, stop: &Stop) -> Result<Program, Failure> {
    let shell = ["sh", "-c", command].map(OsString::from);
    let far = Program::start(network.far(), &shell)?;
    let deadline = Instant::now() + LISTEN_PATIENCE;
    while !network.far().has_listener()? {
        if far.is_finished() {
            eprintln!("warning: the far program `{command}` has ended already");
            break;
        }
        if stop.is_asked() || Instant::now() > deadline {
            eprintln!("warning: nothing listens on far; starting the near program all the same");
            break;
        }
        thread::sleep(LOOK);
    }
    Ok(far)
}

/// Waits for the program, or ends it when the user asks for that.
fn wait(program: Program, stop: &Stop) -> Result<u8, Failure> {
    while !program.is_finished() {
        if stop.is_asked() {
            program.kill();
        }
        thread::sleep(LOOK);
    }
    Ok(program.wait()?)
}

fn tell_counters(network: &Network) {
    let counters = network.counters();
    let row = |cells: [&str; 7]| {
        let [name, rest @ ..] = cells;
        let columns: Vec<String> = rest.iter().map(|cell| format!("{cell:>11}")).collect();
        eprintln!("{name:<8}{}", columns.join(""));
    };
    row([
        "packets",
        "offered",
        "delivered",
        "queue full",
        "wire loss",
        "in flight",
        "queue peak",
    ]);
    let link = |name, counters: &Counters| {
        row([
            name,
            &counters.offered.packets.to_string(),
            &counters.delivered.packets.to_string(),
            &counters.dropped_queue_full.packets.to_string(),
            &counters.dropped_wire_loss.packets.to_string(),
            &counters.in_flight.packets.to_string(),
            &counters.queue_peak.human(),
        ]);
    };
    link("forward", &counters.forward);
    link("reverse", &counters.reverse);
}
