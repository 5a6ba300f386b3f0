//! What the emulator carries at an MTU of 1500, and what its devices alone carry beside it.
//!
//! `cargo run --release -p trunkline-emu --example throughput -- SECONDS RATE...`, as root. One line
//! of a rate, a case and Mbit/s for each case: the goodput of one TCP stream after one second, over
//! a path of RATE with 2 ms of delay each way, with and without segmentation offload, and over the
//! devices joined directly (rate `-`).

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use emu::{FAR_ADDRESS, Namespace, Network, Wire};
use netpath::PathSpec;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const MTU: u16 = 1500;

fn main() -> Outcome<()> {
    emu::enter_user_namespace()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (seconds, rates) = arguments.split_first().ok_or("say SECONDS RATE...")?;
    let seconds = seconds.parse()?;
    for (case, offload) in [("offload", true), ("packets", false)] {
        let wire = Wire::up(MTU, offload)?;
        report("-", case, stream(wire.near(), wire.far(), seconds)?);
    }
    for rate in rates {
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
    Ok(())
}

fn report(rate: &str, case: &str, mbits: f64) {
    println!("{rate} {case} {mbits:.0}");
}

fn path(rate: &str) -> Outcome<PathSpec> {
    let text = format!(
        "[forward]\nrate = \"{rate}\"\ndelay = \"2ms\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"16MB\" }}\n\
         [hosts]\nsend_buffer_max = \"64MiB\"\nreceive_buffer_max = \"64MiB\"\n"
    );
    Ok(PathSpec::from_toml("throughput", &text)?)
}

/// Mbit/s of one stream, from its second second on.
fn stream(near: &Namespace, far: &Namespace, seconds: u64) -> Outcome<f64> {
    let listener = far.run(|| TcpListener::bind((FAR_ADDRESS, 0)))??;
    let address = listener.local_addr()?;
    let receiver = thread::spawn(move || -> Outcome<f64> {
        let (mut stream, _) = listener.accept()?;
        let mut buffer = vec![0; 1 << 18];
        let mut read_for = |span: Duration| -> Outcome<f64> {
            let (begun, mut bytes) = (Instant::now(), 0);
            while begun.elapsed() < span {
                bytes += stream.read(&mut buffer)?;
            }
            Ok(bytes as f64 * 8e-6 / begun.elapsed().as_secs_f64())
        };
        read_for(Duration::from_secs(1))?;
        read_for(Duration::from_secs(seconds))
    });
    let mut sender = near.run(|| TcpStream::connect(address))??;
    let block = [0; 1 << 18];
    while !receiver.is_finished() && sender.write(&block).is_ok() {}
    receiver.join().map_err(|_| "the receiver panicked")?
}
