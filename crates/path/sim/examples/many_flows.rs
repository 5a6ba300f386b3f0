//! What does a simulated data packet cost, and a flow in memory, without the rest of the program?
//!
//! `many_flows STREAMS BITS_PER_SECOND QUEUE_PACKETS SECONDS ns2|linux` prints a line of JSON. The
//! processor's time is that of the run alone, without setting it up, in nanoseconds. `shown` is a
//! hash of all that the run shows: programs that simulate alike print the same.

use std::hash::{DefaultHasher, Hash, Hasher};

use netpath::PathSpec;
use sim::{RunResult, Scenario, Simulation, TcpSettings, Variant};
use units::{Bytes, Span};

/// How the first line of a file in `/proc/self` begins its number.
fn proc(file: &str, label: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/{file}")).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(label))?;
    rest.split_whitespace().next()?.parse().ok()
}

fn scenario(words: &[String]) -> Option<Scenario> {
    let [streams, rate, queue, seconds, tcp] = words else {
        return None;
    };
    // ns-2 counts the packet that is being sent as one of the queue; a path does not.
    let queue = queue.parse::<u32>().ok()?.checked_sub(1)?;
    let text = format!(
        "[forward]\nrate = \"{rate}bit/s\"\ndelay = \"25ms\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"{queue}packets\" }}\n\
         [hosts]\nmtu = 1500\ncongestion = \"reno\"\n\
         send_buffer_max = \"16MiB\"\nreceive_buffer_max = \"16MiB\"\n"
    );
    let mut scenario = Scenario::of(PathSpec::from_toml("dumbbell", &text).ok()?, Variant::Sack);
    match tcp.as_str() {
        "ns2" => scenario.tcp = TcpSettings::ns2(&scenario.path),
        "linux" => {}
        _ => return None,
    }
    scenario.streams = streams.parse().ok()?;
    scenario.duration = Span::from_secs(seconds.parse().ok()?);
    Some(scenario)
}

fn line(shown: &RunResult, cpu: u64, bytes_a_flow: u64) -> String {
    let acknowledged: Bytes = shown.streams.iter().map(|one| one.acknowledged).sum();
    let mut hash = DefaultHasher::new();
    format!("{shown:?}").hash(&mut hash);
    format!(
        "{{\"data_packets_whole_run\": {}, \"goodput_mbps\": {:.3}, \"events\": {}, \
         \"cpu_nanoseconds\": {cpu}, \"bytes_a_flow\": {bytes_a_flow}, \"shown\": \"{:016x}\"}}",
        shown.work.data_packets,
        acknowledged.as_f64() * 8e-6 / shown.measured.as_secs_f64(),
        shown.work.events,
        hash.finish(),
    )
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let usage = "many_flows STREAMS BITS_PER_SECOND QUEUE_PACKETS SECONDS ns2|linux";
    let scenario = scenario(&words).ok_or(usage)?;
    let resident = || proc("status", "VmRSS:").ok_or("no /proc/self/status".to_owned());
    let cpu = || proc("schedstat", "").ok_or("no /proc/self/schedstat".to_owned());
    let empty = resident()?;
    let mut simulation = Simulation::new(&scenario).map_err(|error| error.to_string())?;
    let begun = cpu()?;
    simulation.advance(simulation.end());
    let spent = cpu()? - begun;
    let bytes_a_flow = (resident()? - empty) * 1024 / u64::from(scenario.streams.max(1));
    println!("{}", line(&simulation.finish(), spent, bytes_a_flow));
    Ok(())
}
