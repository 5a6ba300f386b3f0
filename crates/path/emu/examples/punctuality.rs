//! How punctual the emulator is: trains of datagrams over links of several rates, and what bulk TCP
//! costs.
//!
//! `cargo run --release -p trunkline-emu --example punctuality`, as root. Late is how long after
//! its time the last packets of a train were handed over, by the emulator's own books; spacing is
//! how far the gaps between packets at the receiver, by the kernel's receive time stamps, are from
//! those that the link's rate (burst) or the sender (paced at half the rate) made.

use std::error::Error;
use std::fs;
use std::io::{IoSliceMut, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

use emu::{FAR_ADDRESS, NEAR_ADDRESS, Network};
use netpath::{PathSpec, Way};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, setsockopt, sockopt};
use units::Span;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const TRAINS: usize = 15;
const PACKETS: usize = 100;
/// With 28 bytes of headers 1500.
const DATA: usize = 1472;

fn main() -> Outcome<()> {
    emu::enter_user_namespace()?;
    println!("{TRAINS} trains of {PACKETS} packets of 1500 B; late and spacing in us");
    println!("rate      links how    late: median 90 %  99 %   spacing: median 90 %  99 %");
    for (links, more) in [(1, ""), (3, THREE)] {
        for mbits in [10, 100, 600] {
            for paced in [false, true] {
                trains(mbits, links, more, paced)?;
            }
        }
    }
    println!("bulk TCP, one stream, 5 s: Mbit/s, and processor time of both carriers in %");
    for mbits in [100, 1000] {
        bulk(mbits)?;
    }
    Ok(())
}

const THREE: &str = "[[before]]\nrate = \"1Gbit/s\"\ndelay = \"1ms\"\n\
    queue = { kind = \"drop-tail\", limit = \"4MB\" }\n\
    [[beyond]]\nrate = \"1Gbit/s\"\ndelay = \"1ms\"\n\
    queue = { kind = \"drop-tail\", limit = \"4MB\" }\n";

fn path(mbits: u64, more: &str) -> Outcome<PathSpec> {
    let text = format!(
        "[forward]\nrate = \"{mbits}Mbit/s\"\ndelay = \"5ms\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"4MB\" }}\n{more}\
         [hosts]\nsend_buffer_max = \"64MiB\"\nreceive_buffer_max = \"64MiB\"\n"
    );
    Ok(PathSpec::from_toml("trains", &text)?)
}

fn trains(mbits: u64, links: usize, more: &str, paced: bool) -> Outcome<()> {
    let network = Network::up(&path(mbits, more)?, 1)?;
    let near = network
        .near()
        .run(|| UdpSocket::bind((NEAR_ADDRESS, 0)))??;
    let far = network.far().run(|| UdpSocket::bind((FAR_ADDRESS, 0)))??;
    near.connect(far.local_addr()?)?;
    far.set_read_timeout(Some(Duration::from_secs(1)))?;
    setsockopt(&far, sockopt::ReceiveTimestampns, &true)?;
    setsockopt(&far, sockopt::RcvBuf, &(8 << 20))?;
    setsockopt(&near, sockopt::SndBuf, &(8 << 20))?;
    let receiver = thread::spawn(move || {
        let mut arrivals = Vec::new();
        while let Some(arrival) = receive(&far) {
            arrivals.push(arrival);
        }
        arrivals
    });
    let own_gap = 1500.0 * 8.0 * 1e3 / mbits as f64;
    let gap = if paced { own_gap * 2.0 } else { own_gap };
    let mut sent = Vec::new();
    for train in 0..TRAINS {
        thread::sleep(
            Duration::from_millis(20)
                + Duration::from_nanos((own_gap * 9.0 * PACKETS as f64 / 2.0) as u64),
        );
        let began = Instant::now();
        for number in 0..PACKETS {
            let due = Duration::from_nanos((gap * number as f64) as u64);
            while paced && began.elapsed() < due {
                std::hint::spin_loop();
            }
            sent.push(began.elapsed().as_nanos() as f64);
            near.send(&[train as u8; DATA])?;
        }
    }
    let arrivals = receiver.join().map_err(|_| "the receiver gave up")?;
    let mut errors = Vec::new();
    for (sent, arrived) in sent.chunks(PACKETS).zip(arrivals.chunks(PACKETS)) {
        for (sent, arrived) in sent.windows(2).zip(arrived.windows(2)) {
            let sent_gap = sent[1] - sent[0];
            // A sender that lost its processor for a moment makes other gaps than it meant to.
            if paced && (sent_gap / gap - 1.0).abs() > 0.1 {
                continue;
            }
            let expected = if paced { sent_gap } else { own_gap };
            errors.push(((arrived[1] - arrived[0]) as f64 - expected).abs() / 1e3);
        }
    }
    errors.sort_by(f64::total_cmp);
    let lateness = network.books(Way::Forward).lateness;
    let late = |share| {
        lateness
            .quantile(share)
            .map_or(0.0, |span: Span| span.as_nanos() as f64 / 1e3)
    };
    let error = |share: f64| errors[((errors.len() - 1) as f64 * share) as usize];
    let how = if paced { "paced" } else { "burst" };
    println!(
        "{mbits:4} Mbit/s {links} {how}  {:11.1} {:6.1} {:6.1}   {:15.1} {:6.1} {:6.1}  ({} \
            packets)",
        late(0.5),
        late(0.9),
        late(0.99),
        error(0.5),
        error(0.9),
        error(0.99),
        arrivals.len(),
    );
    Ok(())
}

/// When the kernel received the next packet, in nanoseconds.
fn receive(socket: &UdpSocket) -> Option<i64> {
    let mut data = [0; 2048];
    let mut parts = [IoSliceMut::new(&mut data)];
    let mut space = nix::cmsg_space!(nix::sys::time::TimeSpec);
    let received = recvmsg::<SockaddrIn>(
        socket.as_raw_fd(),
        &mut parts,
        Some(&mut space),
        MsgFlags::empty(),
    );
    received
        .ok()?
        .cmsgs()
        .ok()?
        .find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(time) => {
                Some(time.tv_sec() * 1_000_000_000 + time.tv_nsec())
            }
            _ => None,
        })
}

fn bulk(mbits: u64) -> Outcome<()> {
    let network = Network::up(&path(mbits, "")?, 1)?;
    let listener = network
        .far()
        .run(|| TcpListener::bind((FAR_ADDRESS, 0)))??;
    let address = listener.local_addr()?;
    let receiver = thread::spawn(move || -> std::io::Result<f64> {
        let (mut stream, _) = listener.accept()?;
        let mut buffer = vec![0; 1 << 18];
        let mut read = |until: Instant| -> std::io::Result<u64> {
            let mut bytes = 0;
            while Instant::now() < until {
                bytes += stream.read(&mut buffer)? as u64;
            }
            Ok(bytes)
        };
        read(Instant::now() + Duration::from_secs(2))?;
        let (begun, cpu) = (Instant::now(), carrier_ticks());
        let bytes = read(begun + Duration::from_secs(5))?;
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "{:8.1} Mbit/s {:8.1} %",
            bytes as f64 * 8.0 / seconds / 1e6,
            (carrier_ticks() - cpu) as f64 / seconds
        );
        Ok(seconds)
    });
    let mut sender = network.near().run(|| TcpStream::connect(address))??;
    let block = [0; 1 << 17];
    while !receiver.is_finished() && sender.write(&block).is_ok() {}
    receiver.join().map_err(|_| "the receiver gave up")??;
    Ok(())
}

/// Processor time of the carriers in hundredths of a second.
fn carrier_ticks() -> u64 {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return 0;
    };
    let stats = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("stat")).ok());
    let carriers = stats.filter(|stat| stat.contains("(forward)") || stat.contains("(reverse)"));
    // User and system time are the 14th and 15th field.
    let ticks = |stat: String| -> u64 {
        let fields = stat.split_whitespace().skip(13).take(2);
        fields.filter_map(|field| field.parse::<u64>().ok()).sum()
    };
    carriers.map(ticks).sum()
}
