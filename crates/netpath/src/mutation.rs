//! Named paths with random changes: refused with a hint, or within every bound; never a panic.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::{Bytes, Rate, Span};

use crate::{
    CrossTraffic, LinkSpec, Loss, PathError, PathSpec, QueueLimit, QueueSpec, Way, presets,
};

const RUNS: usize = 20_000;

/// Pieces that make a file wrong in interesting ways, or right in another.
const PIECES: [&str; 40] = [
    "0",
    "-1",
    "1e300",
    "nan",
    "inf",
    "0x7fffffffffffffff",
    "9223372036854775807",
    "1000000000packets",
    "0packets",
    "99999999999999999999T",
    "\"\"",
    "\"",
    "[",
    "]]",
    "{",
    "=",
    "\n",
    "#",
    "\u{0}",
    "\u{1f4a5}",
    "true",
    "1979-05-27",
    "\"0ms\"",
    "\"1TiB\"",
    "\"1packets\"",
    "kind = \"codel\"\n",
    "queue = { kind = \"red\", limit = \"9packets\", min = \"1packets\", max = \"9packets\" }\n",
    "queue = { kind = \"weighted\", limit = \"9packets\", scavenger = 0.5, priority = 0.4 }\n",
    "loss = { kind = \"gilbert-elliott\", enter = 1, leave = 1 }\n",
    "[hosts]\n",
    "[reverse]\n",
    "\n[[cross]]\nkind = \"on-off\"\nsources = 3\nrate = \"1Mbit/s\"\non = \"1s\"\noff = \"1s\"\n",
    "\n[[cross]]\nkind = \"transfers\"\nper_second = 3\nmean_size = \"9kB\"\nshape = 2\nwindow = \"64KiB\"\n",
    "\n[[before]]\nrate = \"9Mbit/s\"\ndelay = \"1ms\"\nqueue = { kind = \"drop-tail\", limit = \"9packets\" }\n",
    "\n[[beyond]]\nmtu = 576\n",
    "load = { rate = \"1Mbit/s\", arrivals = \"constant\" }\n",
    "packets = [{ size = \"40B\", share = 0.999 }, { size = \"576B\", share = 0.001 }]\n",
    "cut = [{ at = \"1s\", for = \"9ms\" }]\n",
    "corruption = 0.5\n",
    "class = \"scavenger\"\nextra_delay = \"9ms\"\n",
];

struct Mutator(Pcg64);

impl Mutator {
    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound.max(1) as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A place between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut place = self.below(text.len() + 1);
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        place
    }

    /// Something is put in, cut out, said twice, or one value is given to another field.
    fn change(&mut self, text: &mut String) {
        let (one, other) = (self.place(text), self.place(text));
        let range = one.min(other)..one.max(other).min(one.min(other) + 24);
        let end = (range.start..=range.end).rev();
        let end = end.into_iter().find(|end| text.is_char_boundary(*end));
        let range = range.start..end.unwrap_or(range.start);
        match self.below(5) {
            0 => text.insert_str(one, self.pick(&PIECES)),
            1 => text.replace_range(range, ""),
            2 => text.replace_range(range, self.pick(&PIECES)),
            3 => {
                let again = text[range].to_owned();
                text.insert_str(one, &again);
            }
            _ => self.swap_values(text),
        }
    }

    fn swap_values(&mut self, text: &mut String) {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (one, other) = (self.below(lines.len()), self.below(lines.len()));
        let value = |line: &str| line.split_once('=').map(|(_, value)| value.to_owned());
        let key = |line: &str| line.split_once('=').map(|(key, _)| key.to_owned());
        if let (Some(key), Some(value)) = (
            lines.get(one).and_then(|line| key(line)),
            lines.get(other).and_then(|line| value(line)),
        ) {
            lines[one] = format!("{key}={value}");
        }
        *text = lines.join("\n");
    }
}

#[test]
fn changed_files_are_refused_with_a_hint_or_within_every_bound() {
    let seed = 20_260_819;
    let mut mutator = Mutator(Pcg64::seed_from_u64(seed));
    let texts: Vec<&str> = presets::names().filter_map(presets::text).collect();
    let (mut accepted, mut refused) = (0, 0);
    for run in 0..RUNS {
        let mut text = mutator.pick(&texts).to_owned();
        for _ in 0..=mutator.below(3) {
            mutator.change(&mut text);
        }
        // Shown only when something below fails.
        println!("seed {seed}, run {run}:\n{text}");
        match PathSpec::from_toml("changed", &text) {
            Ok(path) => {
                assert_within_bounds(&path);
                accepted += 1;
            }
            Err(error) => {
                assert_helpful(&error, text.lines().count());
                refused += 1;
            }
        }
    }
    // Mutations that are all harmless, or all fatal, would test nothing.
    assert!(
        accepted > RUNS / 20 && refused > RUNS / 20,
        "{accepted} {refused}"
    );
}

fn assert_helpful(error: &PathError, lines: usize) {
    assert!(!error.hint().is_empty());
    match error {
        PathError::Field { line, field, .. } => {
            assert!((1..=lines + 1).contains(line), "{error}");
            assert!(!field.is_empty());
        }
        PathError::Syntax { line, .. } => assert!((1..=lines + 1).contains(line), "{error}"),
        PathError::Several(errors) => {
            assert!(errors.len() > 1);
            errors.iter().for_each(|error| assert_helpful(error, lines));
        }
        PathError::Unreadable { .. } => panic!("nothing was to be read: {error}"),
    }
}

fn assert_within_bounds(path: &PathSpec) {
    assert!(!path.to_string().is_empty());
    assert!((1..=8).contains(&path.hops()));
    for way in Way::BOTH {
        assert_eq!(path.links(way).len(), path.hops());
        assert!(
            path.available(way) > Rate::ZERO && path.available(way) <= path.narrowest(way).rate
        );
        for link in path.links(way) {
            assert_link(link, path.hosts.mtu);
        }
    }
    assert!((576..=65_535).contains(&path.hosts.mtu));
    for host in [path.hosts.near(), path.hosts.far()] {
        assert_buffer(host.send);
        assert_buffer(host.receive);
    }
    let mut load = 0.0;
    for group in &path.cross {
        assert!(group.extra_delay <= Span::from_secs(10));
        assert_traffic(&group.traffic);
        load += group.traffic.mean_load().map_or(0.0, Rate::as_f64);
    }
    assert!(load < path.forward.available().as_f64() || path.cross.is_empty());
}

fn assert_link(link: &LinkSpec, hosts_mtu: u16) {
    let mtu = link.mtu.unwrap_or(hosts_mtu);
    assert!((576..=hosts_mtu).contains(&mtu));
    if let Some(load) = &link.load {
        assert!(load.rate < link.rate && load.packets_per_second() > 0.0);
        let sizes = Bytes::new(28)..=Bytes::new(mtu.into());
        assert!(
            load.packets
                .iter()
                .all(|packet| sizes.contains(&packet.size))
        );
        let shares: f64 = load.packets.iter().map(|packet| packet.share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    }
    assert!((300..=1_000_000_000_000).contains(&link.rate.bits_per_second()));
    assert!(link.delay <= Span::from_secs(10));
    match link.queue.limit() {
        QueueLimit::Bytes(limit) => {
            assert!((u64::from(mtu)..=4 << 30).contains(&limit.get()));
        }
        QueueLimit::Packets(limit) => assert!((1..=3_000_000).contains(&limit)),
    }
    match link.queue {
        QueueSpec::DropTail(_) | QueueSpec::Strict { .. } => {}
        QueueSpec::Red(red) => {
            assert!(1 <= red.min && red.min < red.max);
            assert!(red.probability > 0.0 && red.probability <= 1.0);
            assert!(red.weight > 0.0 && red.weight <= 1.0);
        }
        QueueSpec::CoDel(codel) => {
            assert!(Span::ZERO < codel.target && codel.target < codel.interval);
        }
        QueueSpec::Weighted {
            scavenger,
            priority,
            ..
        } => assert!(scavenger > 0.0 && priority > 0.0 && scavenger + priority < 1.0),
    }
    match link.loss {
        Loss::None => {}
        Loss::Random { rate } => assert!((0.0..1.0).contains(&rate)),
        Loss::GilbertElliott {
            enter,
            leave,
            loss_bad,
            loss_good,
        } => {
            assert!(enter > 0.0 && leave > 0.0 && link.loss.mean_rate() < 1.0);
            for probability in [enter, leave, loss_bad, loss_good] {
                assert!((0.0..=1.0).contains(&probability), "{probability}");
            }
        }
    }
}

fn assert_traffic(traffic: &CrossTraffic) {
    match *traffic {
        CrossTraffic::Streams { streams, window } => {
            assert!((1..=128).contains(&streams));
            assert_buffer(window);
        }
        CrossTraffic::OnOff {
            sources, on, off, ..
        } => {
            assert!((1..=1000).contains(&sources));
            assert!(on > Span::ZERO && off > Span::ZERO);
        }
        CrossTraffic::Transfers {
            per_second,
            mean_size,
            shape,
            window,
        } => {
            assert!(per_second > 0.0 && mean_size > Bytes::ZERO);
            assert!(shape > 1.0 && shape <= 10.0);
            assert_buffer(window);
        }
    }
}

fn assert_buffer(size: Bytes) {
    assert!((4096..1 << 31).contains(&size.get()), "{size}");
}
