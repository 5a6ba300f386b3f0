//! Families of random paths, each path a function of its family and seed.
//!
//! | what | distribution, unless the family says otherwise |
//! |---|---|
//! | rate | log-uniform, 10 Mbit/s to 1 Gbit/s |
//! | round trip | log-uniform, 5 to 600 ms |
//! | queue | drop-tail, log-uniform, 0.5 to 3 bandwidth-delay products |
//! | buffers | every fourth path as Linux installs them, on the others eight products and more |
//! | congestion control | cubic |
//!
//! The family's own trouble comes on top. It may turn out not to matter: what limits a setting
//! follows from `truth.rs`, not from here. Losses are drawn as the share of the path that they
//! leave to a reno stream, so that they matter at all rates and round trips.
//!
//! Left out: several links in a row, which are not simulated, and hosts that are short of
//! processor.

use netpath::{PathError, PathSpec};

use crate::paths::{Draw, rounded};

const MTU: f64 = 1_500.0;
const SEGMENT: f64 = 1_448.0;
/// Bytes of receive buffer for a byte of window (the page of `buffers.rs` in `target`).
const BUFFER: f64 = 256.0 / 160.0;
const KIB: f64 = 1_024.0;
const BUFFER_MIN: f64 = 64.0 * KIB;
const BUFFER_MAX: f64 = 2e9;
/// One path in so many has the buffers of an installed Linux.
const INSTALLED_EVERY: u64 = 4;
/// Half as many acknowledgements of 52 bytes as packets of 1500.
const ACKNOWLEDGED: f64 = 52.0 / 3_000.0;

/// The name, and what the family makes of a path.
type Family = (&'static str, fn(&mut Draft));

/// All of them.
const FAMILIES: [Family; 18] = [
    ("full-link", |path| path.queue_of(1.0, 3.0)),
    ("loss", |path| path.lose()),
    ("loss-in-runs", |path| path.lose_in_runs()),
    ("shallow-queue", |path| path.shallow()),
    ("red", |path| path.red()),
    ("codel", |path| path.codel()),
    ("receive-buffer", |path| path.buffers = Some(path.short())),
    ("send-buffer", |path| path.send_short()),
    ("policer", |path| path.police()),
    ("reordering", |path| path.reorder()),
    ("way-back", |path| path.narrow_back()),
    ("others-elastic", |path| path.elastic()),
    ("others-on-off", |path| path.on_off()),
    ("varying-rate", |path| path.vary()),
    ("reno", |path| {
        path.congestion = "reno";
        path.queue_of(0.1, 2.0);
    }),
    ("loss+shallow-queue", |path| {
        path.lose();
        path.shallow();
    }),
    ("loss+others", |path| {
        path.lose();
        path.elastic();
    }),
    ("receive-buffer+loss", |path| {
        path.buffers = Some(path.short());
        path.lose();
    }),
];

/// The names of all families.
pub fn names() -> Vec<String> {
    FAMILIES.map(|(name, _)| name.to_owned()).into()
}

/// The path of a family with this seed.
///
/// # Errors
/// When there is no such family.
pub fn path(family: &str, seed: u64) -> Result<PathSpec, String> {
    let text = text(family, seed)?;
    let path = PathSpec::from_toml(&format!("{family}-{seed}"), &text);
    path.map_err(|error: PathError| error.to_string())
}

/// The path's file.
///
/// # Errors
/// When there is no such family.
pub fn text(family: &str, seed: u64) -> Result<String, String> {
    let found = FAMILIES.iter().find(|(name, _)| *name == family);
    let (name, change) =
        found.ok_or_else(|| format!("`{family}` is not one of {}", names().join(", ")))?;
    let mut draft = Draft::new(name, seed);
    change(&mut draft);
    Ok(draft.text())
}

/// A path that is being made.
struct Draft {
    draw: Draw,
    /// Bits per second.
    rate: f64,
    /// Seconds.
    rtt: f64,
    /// The values of `rate` and `queue` in the file.
    rate_said: String,
    queue: String,
    /// Further lines of `[forward]`.
    lines: String,
    /// Bits per second of a way back that is not as the way there.
    back: Option<f64>,
    congestion: &'static str,
    /// Bytes of the send and the receive buffer; `None` leaves them as installed.
    buffers: Option<(f64, f64)>,
    cross: String,
}

impl Draft {
    fn new(family: &str, seed: u64) -> Self {
        let digest = blake3::hash(format!("{family} {seed}").as_bytes());
        let [a, b, c, d, e, f, g, h, ..] = *digest.as_bytes();
        let mut draw = Draw::new(u64::from_le_bytes([a, b, c, d, e, f, g, h]));
        let (rate, rtt) = (draw.log_uniform(1e7, 1e9), draw.log_uniform(5e-3, 0.6));
        let mut path = Draft {
            draw,
            rate,
            rtt,
            rate_said: format!("\"{rate}bit/s\""),
            queue: String::new(),
            lines: String::new(),
            back: None,
            congestion: "cubic",
            buffers: None,
            cross: String::new(),
        };
        let roomy = (8.0 * path.product(), 8.0 * BUFFER * path.product());
        path.buffers = (seed % INSTALLED_EVERY != INSTALLED_EVERY - 1).then_some(roomy);
        path.queue_of(0.5, 3.0);
        path
    }

    /// Bandwidth times delay, bytes.
    fn product(&self) -> f64 {
        self.rate * self.rtt / 8.0
    }

    /// Packets of a share of the bandwidth-delay product, `least` at least.
    fn packets(&self, share: f64, least: f64) -> f64 {
        (share * self.product() / MTU).max(least).round()
    }

    /// A drop-tail queue of a number of products between these.
    fn queue_of(&mut self, low: f64, high: f64) {
        let share = self.draw.log_uniform(low, high);
        let limit = self.packets(share, 4.0);
        self.queue = format!("{{ kind = \"drop-tail\", limit = \"{limit}packets\" }}");
    }

    fn shallow(&mut self) {
        self.queue_of(0.02, 0.15);
    }

    /// How often losses come that leave a reno stream a share of the path (Mathis et al. 1997: a
    /// window of sqrt(1.5 / p) segments), at most one in 250 packets.
    fn losses(&mut self) -> f64 {
        let left = self.draw.log_uniform(0.05, 0.7);
        let window = (left * self.product() / SEGMENT).max(20.0);
        rounded(1.5 / (window * window))
    }

    fn lose(&mut self) {
        let rate = self.losses();
        self.lines += &format!("loss = {{ kind = \"random\", rate = {rate:e} }}\n");
    }

    fn lose_in_runs(&mut self) {
        let (enter, leave) = (self.losses(), self.draw.log_uniform(0.1, 0.5));
        self.lines += &format!(
            "loss = {{ kind = \"gilbert-elliott\", enter = {enter:e}, leave = {leave} }}\n"
        );
    }

    fn red(&mut self) {
        let share = self.draw.log_uniform(0.05, 0.5);
        let low = self.packets(share, 5.0);
        let (high, limit) = (3.0 * low, 12.0 * low);
        self.queue = format!(
            "{{ kind = \"red\", limit = \"{limit}packets\", min = \"{low}packets\", \
             max = \"{high}packets\" }}"
        );
    }

    fn codel(&mut self) {
        let limit = self.packets(2.0, 20.0);
        self.queue = format!("{{ kind = \"codel\", limit = \"{limit}packets\" }}");
    }

    /// A receive buffer that holds a stream to a part of the path.
    fn short(&mut self) -> (f64, f64) {
        let share = self.draw.log_uniform(0.08, 0.7);
        (8.0 * self.product(), share * BUFFER * self.product())
    }

    fn send_short(&mut self) {
        let (receive, send) = self.short();
        self.buffers = Some((send / BUFFER, receive * BUFFER));
    }

    fn police(&mut self) {
        let share = self.draw.log_uniform(0.2, 0.9);
        let rate = rounded(share * self.rate);
        let bucket = self.draw.log_uniform(0.05, 1.0) * self.rtt * rate / 8.0;
        let bucket = bucket.max(10.0 * MTU).round();
        self.lines += &format!("policer = {{ rate = \"{rate}bit/s\", bucket = \"{bucket}B\" }}\n");
    }

    fn reorder(&mut self) {
        let rate = self.draw.log_uniform(1e-4, 3e-2);
        let delay = self.draw.log_uniform(0.02, 0.5) * self.rtt * 1e6;
        let delay = delay.round();
        self.lines += &format!("reorder = {{ rate = {rate:e}, delay = \"{delay}us\" }}\n");
    }

    /// Too narrow for the acknowledgements of a full link, mostly.
    fn narrow_back(&mut self) {
        let share = self.draw.log_uniform(0.2, 1.5);
        self.back = Some(rounded(share * ACKNOWLEDGED * self.rate));
    }

    fn elastic(&mut self) {
        let room = (self.product() / MTU / 2.0).max(1.0);
        let streams = self.draw.log_uniform(1.0, 20.0).min(room).floor();
        let window = (4.0 * self.product()).clamp(BUFFER_MIN, BUFFER_MAX) / KIB;
        let extra = rounded(self.draw.uniform() * 20_000.0);
        self.cross = format!(
            "\n[[cross]]\nstreams = {streams}\nwindow = \"{}KiB\"\nextra_delay = \"{extra}us\"\n",
            window.round()
        );
    }

    /// Datagrams that take a fifth to two thirds of the link on average.
    fn on_off(&mut self) {
        let sources = self.draw.log_uniform(2.0, 20.0).floor();
        let load = self.draw.log_uniform(0.2, 0.66);
        let on = self.draw.log_uniform(50.0, 2_000.0).round();
        let rate = rounded(2.0 * load * self.rate / sources);
        self.cross = format!(
            "\n[[cross]]\nkind = \"on-off\"\nsources = {sources}\nrate = \"{rate}bit/s\"\n\
             on = \"{on}ms\"\noff = \"{on}ms\"\n"
        );
    }

    fn vary(&mut self) {
        let low = rounded(self.draw.log_uniform(0.2, 0.8) * self.rate);
        let high = 2.0 * self.rate - low;
        let every = self.draw.log_uniform(100.0, 5_000.0).round();
        self.rate_said =
            format!("{{ low = \"{low}bit/s\", high = \"{high}bit/s\", every = \"{every}ms\" }}");
    }

    fn text(&self) -> String {
        let delay = (self.rtt / 2.0 * 1e6).round();
        let mut text = format!(
            "[forward]\nrate = {}\ndelay = \"{delay}us\"\nqueue = {}\n{}",
            self.rate_said, self.queue, self.lines
        );
        if let Some(rate) = self.back {
            text += &format!(
                "\n[reverse]\nrate = \"{rate}bit/s\"\ndelay = \"{delay}us\"\n\
                 queue = {{ kind = \"drop-tail\", limit = \"200packets\" }}\n"
            );
        }
        text += &format!("\n[hosts]\ncongestion = \"{}\"\n", self.congestion);
        if let Some((send, receive)) = self.buffers {
            let kib = |bytes: f64| (bytes.clamp(BUFFER_MIN, BUFFER_MAX) / KIB).round();
            text += &format!(
                "send_buffer_max = \"{}KiB\"\nreceive_buffer_max = \"{}KiB\"\n",
                kib(send),
                kib(receive)
            );
        }
        text + &self.cross
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::{DEVELOPMENT, TABLE};

    #[test]
    fn every_seed_of_every_family_is_a_path_within_the_bounds() {
        for family in names() {
            for seed in DEVELOPMENT.start..TABLE.end {
                let path =
                    path(&family, seed).unwrap_or_else(|error| panic!("{family} {seed}: {error}"));
                let mbit = path.forward.rate.as_f64() / 1e6;
                let rtt = path.base_rtt().as_secs_f64();
                assert!((9.9..=1_001.0).contains(&mbit), "{family} {seed}: {mbit}");
                assert!((0.0049..=0.61).contains(&rtt), "{family} {seed}: {rtt}");
            }
        }
    }

    #[test]
    fn a_seed_is_a_path_for_ever_and_no_two_families_share_one() {
        assert_eq!(text("loss", 3), text("loss", 3));
        assert_ne!(text("loss", 3), text("loss", 4));
        assert_ne!(text("full-link", 3), text("receive-buffer", 3));
    }

    #[test]
    fn a_family_that_is_none_is_refused_with_those_that_are() {
        let error = text("fog", 1).unwrap_err();
        assert!(
            error.starts_with("`fog` is not one of full-link, loss,"),
            "{error}"
        );
    }
}
