//! Cells drawn at random, by the packet simulator and by the fluid model: rows for bench/fluid.py.
//!
//! `cargo run --release -p trunkline-predict --example fluid_grid -- packet 0 120` simulates the
//! cells 0 to 119 packet by packet, `fluid 0 120` does the same cells with the model. A row has the
//! cell's number and features, then goodput of both classes, lost share, queue and seconds.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a table for people and a script"
)]

use netpath::{
    Class, CoDelSpec, Cross, CrossTraffic, Loss, PathSpec, QueueLimit, QueueSpec, RedSpec,
};
use predict::{FlowClass, FluidClass, FluidQuestion, fluid, fluid_unbounded};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use sim::{Scenario, Variant};
use units::{Bytes, Rate, Span};

/// Both simulate so long, of which the first half does not count.
const DURATION: Span = Span::from_secs(40);

struct Cell {
    path: PathSpec,
    flows: u32,
    window: Option<Bytes>,
    queue_packets: u32,
    second: u16,
}

fn unit(random: &mut Pcg64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn between(random: &mut Pcg64, low: f64, high: f64) -> f64 {
    low * (high / low).powf(unit(random))
}

fn discipline(random: &mut Pcg64, packets: u32) -> QueueSpec {
    let limit = QueueLimit::Packets(packets);
    let drawn = unit(random);
    if drawn < 0.7 || packets < 20 {
        return QueueSpec::DropTail(limit);
    }
    if drawn < 0.9 {
        return QueueSpec::Red(RedSpec {
            limit,
            min: packets / 8,
            max: packets / 3,
            probability: RedSpec::PROBABILITY,
            weight: RedSpec::WEIGHT,
            gentle: true,
            wait: false,
            ecn: false,
        });
    }
    QueueSpec::CoDel(CoDelSpec {
        limit,
        target: CoDelSpec::TARGET,
        interval: CoDelSpec::INTERVAL,
        ecn: false,
    })
}

fn cell(number: u64) -> Cell {
    let mut random = Pcg64::seed_from_u64(0xF1 + number);
    let flows = between(&mut random, 10.0, 3000.0) as u32;
    let rate = Rate::from_f64(between(&mut random, 1e7, 1e10));
    let rtt = Span::from_secs_f64(between(&mut random, 0.005, 0.3));
    let product = rate.bytes_in(rtt).as_f64() / 1500.0;
    let queue_packets = (between(&mut random, 0.05, 4.0) * product).max(3.0) as u32;
    let control = |random: &mut Pcg64| ["reno", "cubic"][usize::from(unit(random) < 0.5)];
    let mut path = PathSpec::load("lan").unwrap();
    path.cross.clear();
    path.hosts.congestion = control(&mut random).to_owned();
    path.hosts.mtu = 1500;
    path.hosts.send_buffer_max = Bytes::from_mib(64);
    path.hosts.receive_buffer_max = Bytes::from_mib(64);
    let one_way = Span::from_nanos(rtt.as_nanos() / 2);
    for link in [&mut path.forward, &mut path.reverse] {
        (link.rate, link.delay, link.loss) = (rate, one_way, Loss::None);
        link.queue = QueueSpec::DropTail(QueueLimit::Packets(1_000_000));
    }
    path.forward.queue = discipline(&mut random, queue_packets);
    let windowed = unit(&mut random) < 0.25;
    let size = between(&mut random, 3e4, 4e6);
    let lossy = unit(&mut random) < 0.25;
    let loss = between(&mut random, 1e-5, 1e-2);
    if lossy {
        path.forward.loss = Loss::Random { rate: loss };
    }
    let mut second = 0;
    if unit(&mut random) < 0.25 {
        second = (f64::from(flows) * between(&mut random, 0.2, 1.0)).max(2.0) as u16;
        path.cross.push(Cross {
            traffic: CrossTraffic::Streams {
                streams: second,
                window: Bytes::from_mib(64),
            },
            congestion: Some(control(&mut random).to_owned()),
            class: Class::BestEffort,
            extra_delay: Span::from_secs_f64(between(&mut random, 0.001, 0.1)),
        });
    }
    Cell {
        path,
        flows,
        window: windowed.then(|| Bytes::new(size as u64)),
        queue_packets,
        second,
    }
}

fn features(number: u64, cell: &Cell) {
    let link = &cell.path.forward;
    let cross = cell.path.cross.first();
    print!(
        "{number},{},{},{:.6},{},{},{},{},{:.3e},{},{},{:.6}",
        cell.flows,
        link.rate.bits_per_second(),
        cell.path.base_rtt().as_secs_f64(),
        cell.queue_packets,
        link.queue.kind(),
        cell.path.hosts.congestion,
        cell.window.map_or(0, Bytes::get),
        link.loss.mean_rate(),
        cell.second,
        cross
            .and_then(|cross| cross.congestion.clone())
            .unwrap_or_default(),
        cross.map_or(0.0, |cross| cross.extra_delay.as_secs_f64()),
    );
}

fn packet(cell: &Cell) {
    let variant = Variant::of_path(&cell.path.hosts.congestion).unwrap();
    let mut scenario = Scenario::of(cell.path.clone(), variant);
    scenario.streams = cell.flows;
    scenario.window = cell.window;
    scenario.duration = DURATION;
    scenario.warmup = Span::from_nanos(DURATION.as_nanos() / 2);
    let run = sim::run(&scenario).unwrap();
    let goodput: f64 = run.streams.iter().map(|one| one.goodput.as_f64()).sum();
    let cross: f64 = run.cross.iter().map(|group| group.goodput.as_f64()).sum();
    let segment = f64::from(1448 * 8);
    let delivered = (goodput + cross) * run.measured.as_secs_f64() / segment;
    let drops = run.drops.total() as f64;
    let timeouts: u64 = run.streams.iter().map(|one| one.timeouts).sum();
    println!(
        ",{goodput:.4e},{cross:.4e},{:.4e},{:.3},{:.6},{timeouts}",
        drops / (drops + delivered),
        run.queue.mean_packets,
        run.round_trips
            .map_or(0.0, |trips| trips.mean.as_secs_f64()),
    );
}

fn by_fluid(cell: &Cell) {
    let class = FlowClass {
        window: cell.window,
        ..FlowClass::of(cell.flows.into())
    };
    let question = FluidQuestion {
        path: cell.path.clone(),
        classes: vec![class],
        duration: Some(DURATION),
        warmup: None,
        seed: 1,
    };
    let (all, within) = (
        fluid_unbounded(&question).unwrap(),
        fluid(&question).unwrap(),
    );
    let rate = |class: Option<&FluidClass>| {
        class
            .and_then(|class| class.goodput)
            .map_or(0.0, Rate::as_f64)
    };
    let each = |has: fn(&FluidClass) -> bool| within.classes.iter().all(has);
    let known = [
        within.goodput.is_some(),
        each(|class| class.goodput.is_some()),
        within.loss.is_some(),
        within.queue_packets.is_some(),
        each(|class| class.rtt.is_some()),
    ];
    println!(
        ",{:.4e},{:.4e},{:.4e},{:.3},{:.6},{}",
        rate(all.classes.first()),
        rate(all.classes.get(1)),
        all.loss.unwrap(),
        all.queue_packets.unwrap(),
        all.wait.unwrap().as_secs_f64(),
        known
            .map(|known| if known { '1' } else { '0' })
            .iter()
            .collect::<String>(),
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let bound = |at: usize| arguments[at].parse::<u64>().unwrap();
    for number in bound(2)..bound(3) {
        let cell = cell(number);
        features(number, &cell);
        match arguments[1].as_str() {
            "packet" => packet(&cell),
            "fluid" => by_fluid(&cell),
            other => panic!("`{other}` is neither packet nor fluid"),
        }
    }
}
