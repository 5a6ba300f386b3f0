//! Random paths, each a function of its seed.
//!
//! | what | distribution |
//! |---|---|
//! | rate | log-uniform, 10 Mbit/s to 1 Gbit/s; every tenth path 1 to 10 Gbit/s with packets of 9000 bytes |
//! | round trip | log-uniform, 2 to 400 ms |
//! | queue | drop-tail, log-uniform, 0.05 to 4 bandwidth-delay products, ten packets at least |
//! | loss | a third without; else log-uniform, 1e-6 to 1e-2 |
//! | buffers | a third as Linux installs them; else the most of each end log-uniform, 256 KiB to 64 MiB |
//! | cross traffic | half without; else 1 to 40 streams, no more than half of the packets that the path holds, windows log-uniform, 64 KiB to 6 MiB, round trip longer by up to 40 ms |
//! | congestion control | cubic |
//!
//! Draws are rounded to three digits, so that a path's file says all of it. Left out: queues other
//! than drop-tail, loss in bursts, cross traffic that comes and goes, and links against the data
//! that are full: a tuner that stumbles there is not found out here.

use netpath::{PathError, PathSpec};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Paths that a tuner may be developed on.
pub const DEVELOPMENT: std::ops::Range<u64> = 0..150;
/// Paths for the table alone.
pub const TABLE: std::ops::Range<u64> = 150..300;

/// One path in so many is fast.
const FAST_EVERY: u64 = 10;
const QUEUE_PACKETS_MIN: f64 = 10.0;
const KIB: f64 = 1024.0;

/// The path with this seed.
///
/// # Errors
/// Never, unless the distribution has values that a path may not have.
pub fn path(seed: u64) -> Result<PathSpec, PathError> {
    PathSpec::from_toml(&format!("random-{seed}"), &text(seed))
}

/// The path's file.
pub fn text(seed: u64) -> String {
    let mut draw = Draw::new(seed);
    let fast = seed % FAST_EVERY == FAST_EVERY - 1;
    let (rate_min, rate_max, mtu) = if fast {
        (1e9, 1e10, 9_000.0)
    } else {
        (1e7, 1e9, 1_500.0)
    };
    let rate = draw.log_uniform(rate_min, rate_max);
    let rtt = draw.log_uniform(2e-3, 0.4);
    let product = rate * rtt / 8.0;
    let queue = draw.log_uniform(0.05, 4.0) * product;
    let queue = (queue / mtu).max(QUEUE_PACKETS_MIN).round();
    let mut text = format!(
        "[forward]\nrate = \"{}bit/s\"\ndelay = \"{}us\"\nqueue = {{ kind = \"drop-tail\", limit = \"{queue}packets\" }}\n",
        rate,
        rounded(rtt / 2.0 * 1e6),
    );
    text += &draw.loss();
    text += &format!("\n[hosts]\nmtu = {mtu}\ncongestion = \"cubic\"\n");
    text += &draw.buffers();
    text + &draw.cross(queue + product / mtu)
}

pub struct Draw(Pcg64);

impl Draw {
    /// Draws that follow from `seed` alone.
    pub fn new(seed: u64) -> Self {
        Draw(Pcg64::seed_from_u64(seed))
    }

    /// From 0 up to 1.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// To three digits.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        rounded(low * (high / low).powf(self.uniform()))
    }

    fn loss(&mut self) -> String {
        let (without, rate) = (self.uniform() < 1.0 / 3.0, self.log_uniform(1e-6, 1e-2));
        match without {
            true => String::new(),
            false => format!("loss = {{ kind = \"random\", rate = {rate:e} }}\n"),
        }
    }

    fn buffers(&mut self) -> String {
        let installed = self.uniform() < 1.0 / 3.0;
        let mut most = || self.log_uniform(256.0, 65_536.0).round();
        let (send, receive) = (most(), most());
        match installed {
            true => String::new(),
            false => {
                format!("send_buffer_max = \"{send}KiB\"\nreceive_buffer_max = \"{receive}KiB\"\n")
            }
        }
    }

    /// On a path that holds this many packets.
    fn cross(&mut self, packets: f64) -> String {
        let without = self.uniform() < 0.5;
        let streams = 1.0 + (self.uniform() * 40.0).floor();
        let streams = streams.min((packets / 2.0).floor());
        let window = self.log_uniform(64.0, 6.0 * KIB).round();
        let extra = rounded(self.uniform() * 20_000.0);
        match without {
            true => String::new(),
            false => format!(
                "\n[[cross]]\nstreams = {streams}\nwindow = \"{window}KiB\"\nextra_delay = \"{extra}us\"\n"
            ),
        }
    }
}

/// Three significant digits.
pub fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    let decimals = 2 - value.abs().log10().floor() as i32;
    match decimals >= 0 {
        true => (value * 10f64.powi(decimals)).round() / 10f64.powi(decimals),
        false => (value / 10f64.powi(-decimals)).round() * 10f64.powi(-decimals),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netpath::{CrossTraffic, Loss, QueueLimit};

    fn all() -> Vec<PathSpec> {
        let seeds = DEVELOPMENT.start..TABLE.end;
        seeds
            .map(|seed| path(seed).unwrap_or_else(|error| panic!("seed {seed}: {error}")))
            .collect()
    }

    fn share(paths: &[PathSpec], is: impl Fn(&PathSpec) -> bool) -> f64 {
        paths.iter().filter(|path| is(path)).count() as f64 / paths.len() as f64
    }

    #[test]
    fn every_path_lies_within_the_bounds() {
        for (seed, path) in all().iter().enumerate() {
            let mbit = path.forward.rate.as_f64() / 1e6;
            let fast = path.hosts.mtu == 9_000;
            assert!((10.0..=10_000.0).contains(&mbit), "seed {seed}: {mbit}");
            assert_eq!(fast, seed % 10 == 9, "seed {seed}");
            assert_eq!(mbit > 1_000.0, fast, "seed {seed}: {mbit}");
            let rtt = path.base_rtt().as_secs_f64();
            assert!((0.0019..=0.401).contains(&rtt), "seed {seed}: {rtt}");
            let QueueLimit::Packets(queue) = path.forward.queue.limit() else {
                panic!("seed {seed}: a queue in bytes");
            };
            let product = path.bandwidth_delay_product().as_f64() / f64::from(path.hosts.mtu);
            assert!(
                queue >= 10 && f64::from(queue) <= (4.05 * product).max(10.0),
                "seed {seed}"
            );
            assert!(
                f64::from(queue) >= 0.049 * product,
                "seed {seed}: {queue} of {product}"
            );
        }
    }

    #[test]
    fn loss_buffers_and_cross_traffic_come_in_their_shares() {
        let paths = all();
        let clean = share(&paths, |path| path.forward.loss == Loss::None);
        assert!((0.25..0.42).contains(&clean), "{clean}");
        let alone = share(&paths, |path| path.cross.is_empty());
        assert!((0.42..0.58).contains(&alone), "{alone}");
        let installed = share(&paths, |path| {
            path.hosts.receive_buffer_max.get() == 6 << 20
        });
        assert!((0.25..0.42).contains(&installed), "{installed}");
        for path in &paths {
            assert!(path.forward.loss.mean_rate() <= 0.01);
            for group in &path.cross {
                let CrossTraffic::Streams { streams, window } = group.traffic else {
                    panic!("{}: not streams", path.name);
                };
                assert!((1..=40).contains(&streams), "{}", path.name);
                assert!(
                    (64 << 10..=6 << 20).contains(&window.get()),
                    "{}",
                    path.name
                );
            }
        }
    }

    #[test]
    fn a_seed_is_a_path_for_ever() {
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }

    #[test]
    fn three_digits_are_kept() {
        assert_eq!(rounded(123_456.0), 123_000.0);
        assert_eq!(rounded(0.001_234_5), 0.001_23);
        assert_eq!(rounded(0.0), 0.0);
    }
}
