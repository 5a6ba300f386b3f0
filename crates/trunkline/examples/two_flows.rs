//! Two flows through one link, in virtual time: how their windows grow, and how they share.
//!
//! `cargo run -p trunkline --example two_flows`

use std::error::Error;

use trunkline::sim::{RunResult, Scenario, Simulation};
use trunkline::units::{Rate, Span, Time};

/// A link of 50 Mbit/s, 40 ms there and back, with a short queue.
const PATH: &str = "shallow-queue";

#[allow(dead_code)] // A test calls `run`.
fn main() -> Result<(), Box<dyn Error>> {
    run().map(drop)
}

/// Prints both flows each two seconds, and gives what the run showed.
pub fn run() -> Result<RunResult, Box<dyn Error>> {
    let mut scenario = Scenario::new(trunkline::load_path(PATH)?)?;
    scenario.streams = 2;
    scenario.duration = Span::from_secs(20);
    scenario.warmup = Span::from_secs(4);
    scenario.seed = 7;
    let mut simulation = Simulation::new(&scenario)?;
    println!("{:>4}  {:>22}  {:>22}", "time", "flow 1", "flow 2");
    for second in (2..=20).step_by(2) {
        simulation.advance(Time::ZERO + Span::from_secs(second));
        let row = [0, 1].map(|flow| shown(&simulation, flow));
        println!("{second:>2} s  {:>22}  {:>22}", row[0], row[1]);
    }
    let result = simulation.finish();
    for (flow, stream) in result.streams.iter().enumerate() {
        println!("flow {}: {} of goodput", flow + 1, stream.goodput.human());
    }
    println!(
        "the link was used to {:.1} %, and lost {} packets",
        result.utilisation * 100.0,
        result.drops.total()
    );
    Ok(result)
}

/// Window and mean rate of a flow so far.
fn shown(simulation: &Simulation, flow: u32) -> String {
    let Some(state) = simulation.stream(flow) else {
        return String::new();
    };
    let rate = Rate::of(state.delivered, simulation.now().since(Time::ZERO));
    format!("{:.0} packets, {}", state.window, rate.human())
}
