//! `trunkline emulate`: other programs across an emulated path.

use std::process::ExitCode;

use trunkline::AnyDocument;
use trunkline::draw::Paint;
use trunkline::emulate::{EmulatedPath, FarProgram, Programs, Sink, addresses};
use trunkline::record;
use trunkline::report;

use crate::args::Emulate;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::stop;

pub(crate) fn run(arguments: &Emulate) -> Result<ExitCode, Failure> {
    let path = trunkline::load_path(&arguments.path)?;
    if let Some(file) = &arguments.report {
        record::check_target(file)?;
    }
    let cancel = stop::listen()?;
    let emulated = EmulatedPath::up(path, arguments.seed.seed)?;
    introduce(&emulated)?;
    let ended = emulated.run(&programs(arguments), &cancel, &mut warn)?;
    let document = AnyDocument::from(ended.document);
    match arguments.json {
        true => output::print(&document.to_json())?,
        false => tell!("{}", report::text(&document, Paint::Plain).trim_end()),
    }
    if let Some(file) = &arguments.report {
        output::write_page(&document, file)?;
    }
    Ok(ExitCode::from(ended.exit_code))
}

/// Standard output belongs to the document where one is asked for.
fn programs(arguments: &Emulate) -> Programs {
    Programs {
        near: arguments.program.clone(),
        near_output: match arguments.json {
            true => Sink::StandardError,
            false => Sink::Inherited,
        },
        far: arguments.far.clone(),
    }
}

fn introduce(emulated: &EmulatedPath) -> Result<(), Failure> {
    let path = emulated.path();
    tell!("path {}: {path}", path.name);
    let [near, far] = addresses(&path.hosts);
    tell!("hosts: near {near}, far {far}");
    if !emulated.make_default_congestion()? {
        let name = &path.hosts.congestion;
        tell!(
            "warning: only root can make `{name}` the default here; programs that do not choose \
             it themselves (iperf3: -C {name}) get this host's default"
        );
    }
    Ok(())
}

fn warn(far: FarProgram<'_>) {
    match far {
        FarProgram::Ended(command) => {
            tell!("warning: the far program `{command}` has ended already");
        }
        FarProgram::Silent(_) => {
            tell!("warning: nothing listens on far; starting the near program all the same");
        }
    }
}
