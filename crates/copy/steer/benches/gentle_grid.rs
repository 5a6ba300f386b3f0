//! What others keep beside a gentle copy, beside LEDBAT++ and beside copies over UDP, on a grid of
//! simulated paths. Prints Markdown.
//!
//! `bench/gentle_grid.py [--random COUNT] [--seed N] [--up-to MBITS] [--every N] [--udp]
//! [--brief]`: the whole grid, each N-th cell of it, or cells that are drawn at random.

#[path = "../tests/scavenger/bench.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod bench;
#[path = "gentle_grid/cell.rs"]
mod cell;
#[path = "gentle_grid/foreground.rs"]
mod foreground;
#[path = "../tests/scavenger/hosts.rs"]
mod hosts;
#[path = "gentle_grid/table.rs"]
mod table;

use std::sync::atomic::{AtomicUsize, Ordering};

use cell::{Cell, Copy};
use foreground::Foreground;
use rand_core::Rng;
use rand_pcg::Pcg32;
use sim::Variant;

const RATES: [f64; 3] = [10.0, 100.0, 1_000.0];
const TRIPS: [f64; 5] = [5.0, 20.0, 40.0, 80.0, 165.0];
const QUEUES: [f64; 3] = [0.1, 1.0, 4.0];
/// Queues beside which copies over UDP are compared with a second CUBIC flow.
const UDP_QUEUES: [f64; 5] = [0.1, 0.25, 0.5, 1.0, 2.0];
const LOSSES: [f64; 2] = [0.0, 1e-3];

struct Asked {
    random: Option<usize>,
    seed: u64,
    up_to: f64,
    every: usize,
    udp: bool,
    brief: bool,
}

fn main() {
    let asked = Asked {
        random: number("--random").map(|count| count as usize),
        seed: number("--seed").map_or(1, |seed| seed as u64),
        up_to: number("--up-to").unwrap_or(1_000.0),
        every: number("--every").map_or(1, |every| every as usize),
        udp: std::env::args().any(|word| word == "--udp"),
        brief: std::env::args().any(|word| word == "--brief"),
    };
    let cells: Vec<Cell> = match asked.random {
        Some(count) => drawn(&asked, count),
        None => grid(&asked).into_iter().step_by(asked.every).collect(),
    };
    let copies: &[Copy] = match (asked.udp, asked.brief) {
        (true, true) => &[Copy::Plain(Variant::PathModel)],
        (true, false) => &[Copy::Plain(Variant::PathModel), Copy::Plain(Variant::Cubic)],
        (false, true) => &[Copy::Gentle],
        (false, false) => &[Copy::Gentle, Copy::Plain(Variant::LedbatPlusPlus)],
    };
    let done = AtomicUsize::new(0);
    let run = || {
        let mut rows = Vec::new();
        while let Some((place, cell)) = next(&cells, &done) {
            let alone = cell.run(Copy::Absent);
            let runs = copies.iter().map(|copy| cell.run(*copy)).collect();
            rows.push((place, table::Row::new(*cell, &alone, runs)));
        }
        rows
    };
    let mut rows: Vec<(usize, table::Row)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(run)).collect();
        let rows = threads
            .into_iter()
            .flat_map(|one| one.join().expect("no cell panics"));
        rows.collect()
    });
    rows.sort_by_key(|(place, _)| *place);
    let rows: Vec<table::Row> = rows.into_iter().map(|(_, row)| row).collect();
    print!("{}", table::page(&rows, asked.udp));
}

fn next<'a>(cells: &'a [Cell], done: &AtomicUsize) -> Option<(usize, &'a Cell)> {
    let place = done.fetch_add(1, Ordering::Relaxed);
    cells.get(place).map(|cell| (place, cell))
}

fn number(name: &str) -> Option<f64> {
    let mut words = std::env::args().skip_while(|word| word != name);
    let word = words.nth(1)?;
    Some(
        word.parse()
            .unwrap_or_else(|_| panic!("{name} {word}: expected a number")),
    )
}

fn queues(asked: &Asked) -> &'static [f64] {
    if asked.udp { &UDP_QUEUES } else { &QUEUES }
}

fn grid(asked: &Asked) -> Vec<Cell> {
    let foregrounds: &[Foreground] = match asked.udp {
        true => &[Foreground::Cubic],
        false => &Foreground::ALL,
    };
    let mut cells = Vec::new();
    for rate in RATES.into_iter().filter(|rate| *rate <= asked.up_to) {
        for rtt in TRIPS {
            for queue in queues(asked) {
                for loss in LOSSES {
                    cells.extend(foregrounds.iter().map(|foreground| Cell {
                        rate,
                        rtt,
                        queue: *queue,
                        loss,
                        foreground: *foreground,
                        seed: asked.seed,
                    }));
                }
            }
        }
    }
    cells
}

/// Within the bounds of the grid: rates, round trips and queues evenly in their logarithms.
fn drawn(asked: &Asked, count: usize) -> Vec<Cell> {
    let mut random = Pcg32::new(asked.seed, 5);
    let mut draw = || f64::from(random.next_u32()) / f64::from(u32::MAX);
    let most = *queues(asked).last().expect("there are queues");
    let one = |number: usize| {
        let mut between = |low: f64, high: f64| low * (high / low).powf(draw());
        let (rate, rtt) = (between(10.0, asked.up_to), between(5.0, 165.0));
        let queue = between(0.1, most);
        let loss = if draw() < 0.5 { 0.0 } else { 1e-3 };
        let kind = (draw() * 4.999) as usize;
        let foreground = if asked.udp {
            Foreground::Cubic
        } else {
            Foreground::ALL[kind]
        };
        let seed = asked.seed + number as u64;
        Cell {
            rate,
            rtt,
            queue,
            loss,
            foreground,
            seed,
        }
    };
    (0..count).map(one).collect()
}
