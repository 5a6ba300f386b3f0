//! Drawn hosts, links and files of a campaign, and the shards that they are cut into.

use campaign_plan::{CutBounds, Cutter};
use netpath::{Loss, PathSpec, QueueLimit, QueueSpec};
use units::{Bytes, Rate, Span};

use crate::max_min::{Flow, max_min};
use crate::pipe::Pipe;
use crate::random::Random;

const HOST: u64 = 1;
const LINK: u64 = 2;
const FILE: u64 = 3;
/// Files that tell the mean size of a group before its number of files is known.
const SAMPLE: usize = 4_000;

const KIB: f64 = 1024.0;
/// The largest of most files, and the largest of the few that are larger.
const LARGE: f64 = 200e6;
const LARGEST: f64 = 100e9;
/// Share of files of a group of large ones that are larger still, and how steeply they become
/// fewer.
const LARGER: f64 = 1e-3;
const PARETO: f64 = 1.2;

/// How large a campaign is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Hosts at each side; each pair has a link.
    pub hosts: usize,
    /// Files of all links together.
    pub files: u64,
}

/// What bounds a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostBound {
    Network,
    Disk,
}

#[derive(Debug, Clone, Copy)]
pub struct Host {
    /// The lower one of its network card and its disk, in bits per second.
    pub rate: f64,
    pub bound: HostBound,
}

/// The hosts of both sides, those with the files first, and their links.
#[derive(Debug)]
pub struct World {
    pub hosts: Vec<Host>,
    pub links: Vec<Link>,
}

#[derive(Debug)]
pub struct Link {
    /// The hosts at its ends.
    pub through: [usize; 2],
    pub path: PathSpec,
    pub pipe: Pipe,
    /// Copies at a time, by the plan.
    pub copies: u16,
    /// The bound on the rate of all copies, by the plan, in bits per second.
    pub bound: Option<f64>,
    /// The most that it gets beside the others in the optimum, in bits per second.
    pub fair: f64,
    /// In the order in which they are taken: groups of higher priority first.
    pub shards: Vec<Shard>,
}

impl Link {
    /// The most that its copies may send, in bits per second.
    pub fn most(&self) -> f64 {
        self.bound
            .unwrap_or(f64::INFINITY)
            .min(self.pipe.capacity())
    }

    pub fn bytes(&self) -> f64 {
        self.shards.iter().map(|shard| shard.bytes as f64).sum()
    }
}

/// What is known of a shard: sums over its files.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shard {
    pub files: u32,
    pub bytes: u64,
    pub least: u64,
    /// Round trips that new connections of ten segments need to grow, one connection for each file.
    pub growth: f64,
    /// Of its group: parts of the link's streams.
    pub weight: u16,
}

/// Segments of a first flight (RFC 6928), and doublings after which windows grow slowly.
const FIRST_FLIGHT: f64 = 10.0 * 1448.0;
const DOUBLINGS: f64 = 7.0;

impl Shard {
    fn add(&mut self, bytes: u64) {
        self.least = match self.files {
            0 => bytes,
            _ => self.least.min(bytes),
        };
        self.files += 1;
        self.bytes += bytes;
        let doublings = libm::log2(1.0 + bytes as f64 / FIRST_FLIGHT);
        self.growth += doublings.min(DOUBLINGS);
    }
}

/// Sizes of one group's files.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    median: f64,
    /// Of the logarithm.
    spread: f64,
    larger: f64,
}

impl Sizes {
    fn draw(&self, random: &mut Random) -> u64 {
        if random.part() < self.larger {
            let tail = LARGE * libm::pow(random.part(), -1.0 / PARETO);
            return tail.min(LARGEST) as u64;
        }
        let size = self.median * libm::exp(self.spread * random.normal());
        size.clamp(KIB, LARGE) as u64
    }

    fn mean(&self, random: &mut Random) -> f64 {
        (0..SAMPLE).map(|_| self.draw(random) as f64).sum::<f64>() / SAMPLE as f64
    }
}

/// A group before its files are drawn.
struct Group {
    sizes: Sizes,
    priority: u16,
    /// Of the link's files.
    share: f64,
}

impl World {
    /// Draws all of it.
    ///
    /// # Errors
    /// When no formula covers a link.
    pub fn draw(size: Size, seed: u64) -> Result<World, String> {
        let hosts: Vec<Host> = (0..2 * size.hosts).map(|at| host(seed, at)).collect();
        let pairs =
            (0..size.hosts * size.hosts).map(|at| [at / size.hosts, size.hosts + at % size.hosts]);
        let links = pairs.enumerate().map(|(at, pair)| link(seed, at, pair));
        let mut links = links.collect::<Result<Vec<_>, _>>()?;
        let room: Vec<f64> = hosts.iter().map(|host| host.rate).collect();
        let flows = links.iter().map(|(link, _)| Flow {
            weight: 1.0,
            most: link.most(),
            through: link.through,
        });
        let fair = max_min(&flows.collect::<Vec<_>>(), &room);
        for ((link, _), fair) in links.iter_mut().zip(fair) {
            link.fair = fair;
        }
        fill(&mut links, size, seed);
        let links = links.into_iter().map(|(link, _)| link).collect();
        Ok(World { hosts, links })
    }

    pub fn files(&self) -> u64 {
        let shards = self.links.iter().flat_map(|link| &link.shards);
        shards.map(|shard| u64::from(shard.files)).sum()
    }

    pub fn bytes(&self) -> f64 {
        self.links.iter().map(Link::bytes).sum()
    }
}

/// Draws the files of all links: as many as their mean size lets end together in the optimum, times
/// a draw from a half to one.
fn fill(links: &mut [(Link, [Group; 2])], size: Size, seed: u64) {
    let mut wanted: Vec<f64> = Vec::new();
    for (at, (link, groups)) in links.iter().enumerate() {
        let mut random = Random::new(seed, FILE, 2 * links.len() + at);
        let mean: f64 = groups
            .iter()
            .map(|group| group.share * group.sizes.mean(&mut random))
            .sum();
        wanted.push(link.fair * random.between(0.5, 1.0) / mean);
    }
    let all: f64 = wanted.iter().sum();
    for (at, ((link, groups), wanted)) in links.iter_mut().zip(wanted).enumerate() {
        let files = size.files as f64 * wanted / all;
        for (number, group) in groups.iter().enumerate() {
            let random = Random::new(seed, FILE, 2 * at + number);
            let count = (files * group.share).round().max(1.0) as u64;
            link.shards.extend(cut(group, count, random));
        }
    }
}

/// The files of a group, drawn in the order of their names and cut as a plan cuts them.
fn cut(group: &Group, count: u64, mut random: Random) -> Vec<Shard> {
    let mut cutter = Cutter::new(CutBounds::default());
    let empty = Shard {
        weight: group.priority,
        ..Shard::default()
    };
    let mut shards = vec![empty];
    let mut name = Vec::new();
    for at in 0..count {
        let bytes = group.sizes.draw(&mut random);
        write_name(&mut name, at);
        if cutter.begins_with(&name, bytes) {
            shards.push(empty);
        }
        if let Some(last) = shards.last_mut() {
            last.add(bytes);
        }
    }
    shards
}

/// `run000012/event-0000012345.root`, a thousand a folder.
fn write_name(name: &mut Vec<u8>, at: u64) {
    let digits = |name: &mut Vec<u8>, value: u64, count: u32| {
        let digit = |place: u32| b'0' + (value / 10_u64.pow(place) % 10) as u8;
        name.extend((0..count).rev().map(digit));
    };
    name.clear();
    name.extend(b"run");
    digits(name, at / 1_000, 6);
    name.extend(b"/event-");
    digits(name, at, 10);
    name.extend(b".root");
}

fn host(seed: u64, at: usize) -> Host {
    let mut random = Random::new(seed, HOST, at);
    let network = [622e6, 1e9, 2.5e9, 10e9][(random.part() * 4.0) as usize];
    let disk = random.between_logarithms(0.6e9, 8e9);
    Host {
        rate: f64::min(network, disk),
        bound: match network < disk {
            true => HostBound::Network,
            false => HostBound::Disk,
        },
    }
}

fn link(seed: u64, at: usize, through: [usize; 2]) -> Result<(Link, [Group; 2]), String> {
    let mut random = Random::new(seed, LINK, at);
    let path = path(&mut random, at)?;
    let pipe = Pipe::new(&path)?;
    let is_bounded = random.part() < 0.3;
    let bound = random.between(0.3, 0.8) * pipe.capacity();
    let copies = random.between(2.0, 5.0) as u16;
    let mut groups = [
        Group {
            sizes: Sizes {
                median: random.between_logarithms(3e6, 60e6),
                spread: 1.5,
                larger: LARGER,
            },
            priority: random.between(1.0, 10.0) as u16,
            share: 0.8,
        },
        Group {
            sizes: Sizes {
                median: random.between_logarithms(10e3, 300e3),
                spread: 2.0,
                larger: 0.0,
            },
            priority: random.between(1.0, 10.0) as u16,
            share: 0.2,
        },
    ];
    groups.sort_by_key(|group| std::cmp::Reverse(group.priority));
    let link = Link {
        through,
        path,
        pipe,
        copies,
        bound: is_bounded.then_some(bound),
        fair: 0.0,
        shards: Vec::new(),
    };
    Ok((link, groups))
}

/// A path as `paths/` has them: the middle of what they have, with draws for what a campaign's
/// links differ in.
fn path(random: &mut Random, at: usize) -> Result<PathSpec, String> {
    let mut path = PathSpec::load("oc3-80ms").map_err(|error| error.to_string())?;
    path.name = format!("link-{at}");
    let rate = Rate::from_f64(random.between_logarithms(10e6, 155e6));
    let rtt = Span::from_secs_f64(random.between_logarithms(0.01, 0.3));
    let product = rate.bytes_in(rtt).as_f64();
    let queue = (product * random.between_logarithms(0.1, 1.0)).max(20.0 * 1500.0);
    let loss = random.between_logarithms(1e-6, 1e-3);
    let is_lossy = random.part() < 0.5;
    let is_reno = random.part() < 0.25;
    for link in [&mut path.forward, &mut path.reverse] {
        link.rate = rate;
        link.delay = Span::from_nanos(rtt.as_nanos() / 2);
    }
    path.forward.queue = QueueSpec::DropTail(QueueLimit::Bytes(Bytes::new(queue as u64)));
    path.forward.loss = match is_lossy {
        true => Loss::Random { rate: loss },
        false => Loss::None,
    };
    path.hosts.congestion = if is_reno { "reno" } else { "cubic" }.to_owned();
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Size = Size {
        hosts: 3,
        files: 30_000,
    };

    #[test]
    fn shards_are_made_of_all_files_and_keep_to_the_bounds() {
        let world = World::draw(SMALL, 7).unwrap();
        assert!(
            world.files().abs_diff(SMALL.files) < 20,
            "{}",
            world.files()
        );
        for shard in world.links.iter().flat_map(|link| &link.shards) {
            let bounds = CutBounds::default();
            assert!(shard.files <= bounds.names && shard.files > 0);
            assert!(shard.bytes <= bounds.bytes.get() || shard.files == 1);
        }
    }

    #[test]
    fn names_are_in_order() {
        let mut names: Vec<Vec<u8>> = Vec::new();
        for at in [0, 1, 999, 1_000, 12_345] {
            let mut name = Vec::new();
            write_name(&mut name, at);
            names.push(name);
        }
        assert!(names.is_sorted());
        assert_eq!(names[4], b"run000012/event-0000012345.root");
    }
}
