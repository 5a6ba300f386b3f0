//! Random paths, each a function of its seed.

use netpath::PathSpec;

/// 10 Mbit/s to 1 Gbit/s, 2 to 400 ms, a queue of 0.05 to 4 bandwidth-delay products, mostly with
/// losses; some with small buffers, some with other streams.
pub fn random(seed: u64) -> PathSpec {
    let mut draw = Draw(seed);
    let rate = draw.between(1e7, 1e9);
    let rtt = draw.between(2e-3, 0.4);
    let queue = (draw.between(0.05, 4.0) * rate * rtt / 8.0 / 1500.0).max(10.0);
    let mut text = format!(
        "[forward]\nrate = \"{rate:.0}bit/s\"\ndelay = \"{:.0}us\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"{queue:.0}packets\" }}\n",
        rtt / 2.0 * 1e6
    );
    if draw.one_of(3) != 0 {
        let loss = draw.between(1e-6, 1e-2);
        text += &format!("loss = {{ kind = \"random\", rate = {loss:e} }}\n");
    }
    let congestion = ["cubic", "reno"][draw.one_of(2) as usize];
    text += &format!("\n[hosts]\ncongestion = \"{congestion}\"\n");
    if draw.one_of(2) == 0 {
        let buffer = draw.between(256.0, 65_536.0);
        text += &format!("receive_buffer_max = \"{buffer:.0}KiB\"\n");
    }
    if draw.one_of(3) == 0 {
        let streams = 1 + draw.one_of(10);
        text += &format!("\n[[cross]]\nstreams = {streams}\nwindow = \"256KiB\"\n");
    }
    let spec = PathSpec::from_toml(&format!("random-{seed}"), &text);
    spec.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"))
}

/// Sebastiano Vigna's splitmix64.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Log-uniform.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        low * (high / low).powf(uniform)
    }

    fn one_of(&mut self, count: u64) -> u64 {
        self.next() % count
    }
}
