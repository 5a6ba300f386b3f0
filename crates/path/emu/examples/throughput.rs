//! What the emulator carries at an MTU of 1500, and what its devices alone carry beside it.
//!
//! `cargo run --release -p trunkline-emu --example throughput -- SECONDS RATE|PATH...`, as root. A
//! line for each case: the rate, whether with segmentation offload (`offload` or `packets`), the
//! goodput of one TCP stream after one second in Mbit/s, and the processor time of this process,
//! both hosts' kernels included, in nanoseconds per byte. The paths have RATE and 2 ms of delay
//! each way; rate `-` are the devices joined directly.
//!
//! Of a path by its name: the round trip in ms that its file says, and the fastest and the mean of
//! 40 pings.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use emu::{FAR_ADDRESS, Namespace, Network, Wire};
use netpath::{PathSpec, Way};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const MTU: u16 = 1500;

fn main() -> Outcome<()> {
    emu::enter_user_namespace()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (seconds, rest) = arguments.split_first().ok_or("say SECONDS RATE|PATH...")?;
    let seconds = seconds.parse()?;
    for (case, offload) in [("offload", true), ("packets", false)] {
        let wire = Wire::up(MTU, offload)?;
        report("-", case, stream(wire.near(), wire.far(), seconds)?);
    }
    let is_rate = |word: &&String| word.starts_with(|first: char| first.is_ascii_digit());
    for rate in rest.iter().filter(is_rate) {
        let path = path(rate)?;
        let network = Network::up(&path, 1)?;
        report(
            rate,
            "offload",
            stream(network.near(), network.far(), seconds)?,
        );
        drop(network);
        let network = Network::up_without_offload(&path, 1)?;
        report(
            rate,
            "packets",
            stream(network.near(), network.far(), seconds)?,
        );
    }
    for name in rest.iter().filter(|word| !is_rate(word)) {
        ping(name)?;
    }
    Ok(())
}

fn ping(name: &str) -> Outcome<()> {
    let path = PathSpec::load(name)?;
    let delays = Way::BOTH.into_iter().flat_map(|way| path.links(way));
    let said: u64 = delays.map(|link| link.delay.as_nanos()).sum();
    let network = Network::up(&path, 1)?;
    let ping = || {
        let far = FAR_ADDRESS.to_string();
        let arguments = ["-q", "-i", "0.05", "-c", "40", &far];
        Command::new("ping").args(arguments).output()
    };
    let output = network.near().run(ping)??;
    // rtt min/avg/max/mdev = 80.1/80.2/80.4/0.0 ms
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let figures = text.rsplit("= ").next().ok_or("ping says nothing")?;
    let figures: Vec<&str> = figures.split('/').take(2).collect();
    println!("{name} ping {} {}", said as f64 / 1e6, figures.join(" "));
    Ok(())
}

fn report(rate: &str, case: &str, (mbits, cost): (f64, f64)) {
    println!("{rate} {case} {mbits:.0} {cost:.3}");
}

fn path(rate: &str) -> Outcome<PathSpec> {
    let text = format!(
        "[forward]\nrate = \"{rate}\"\ndelay = \"2ms\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"16MB\" }}\n\
         [hosts]\nsend_buffer_max = \"64MiB\"\nreceive_buffer_max = \"64MiB\"\n"
    );
    Ok(PathSpec::from_toml("throughput", &text)?)
}

/// Mbit/s of one stream, from its second second on, and nanoseconds of processor time per byte.
fn stream(near: &Namespace, far: &Namespace, seconds: u64) -> Outcome<(f64, f64)> {
    let listener = far.run(|| TcpListener::bind((FAR_ADDRESS, 0)))??;
    let address = listener.local_addr()?;
    let receiver = thread::spawn(move || -> Outcome<(f64, f64)> {
        let (mut stream, _) = listener.accept()?;
        let mut buffer = vec![0; 1 << 18];
        let mut read_for = |span: Duration| -> Outcome<(f64, f64)> {
            let (begun, used, mut bytes) = (Instant::now(), processor_time()?, 0);
            while begun.elapsed() < span {
                bytes += stream.read(&mut buffer)?;
            }
            let mbits = bytes as f64 * 8e-6 / begun.elapsed().as_secs_f64();
            Ok((mbits, (processor_time()? - used) * 1e9 / bytes as f64))
        };
        read_for(Duration::from_secs(1))?;
        read_for(Duration::from_secs(seconds))
    });
    let mut sender = near.run(|| TcpStream::connect(address))??;
    let block = [0; 1 << 18];
    while !receiver.is_finished() && sender.write(&block).is_ok() {}
    receiver.join().map_err(|_| "the receiver panicked")?
}

/// Seconds of processor time that this process has used.
fn processor_time() -> Outcome<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
