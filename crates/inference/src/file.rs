//! The inferred path as a path file, each figure with its interval.

use std::fmt::Write;

use units::{Bytes, Rate, Span};

use crate::path::Path;
use crate::posterior::Posterior;

/// Nine of ten paths lie between these two.
const LOW: f64 = 0.05;
const HIGH: f64 = 0.95;
/// IP and TCP headers with time stamps.
const HEADERS: f64 = 52.0;
/// Payload that a receiver offers of each byte of its buffer.
const OFFERED: f64 = 0.625;
/// What stands in a queue that drops early, at the most, as a share of it.
const EARLY: f64 = 0.6;
/// Buffers that hold nothing back, for hosts of which nothing was seen.
const AMPLE: f64 = 1e9;

impl Posterior {
    /// A path file with the middle of each figure, its interval as a comment, and what was guessed.
    ///
    /// * `congestion`: what the hosts use.
    pub fn path_file(&self, congestion: &str) -> String {
        let middle = |of: fn(&Path) -> f64| self.quantile(of, 0.5);
        let range = |of: fn(&Path) -> f64, text: fn(f64) -> String| {
            let ends = [LOW, HIGH].map(|share| text(self.quantile(of, share)));
            format!("{} to {}", ends[0], ends[1])
        };
        let segment = middle(|path| path.segment);
        let mut text = String::new();
        let mut line = |key: &str, value: String, comment: String| {
            let _ = writeln!(text, "{key} = {value}  # {comment}");
        };
        line("rate", self.rate(), range(wire_rate, rate));
        let delay = Span::from_secs_f64(middle(|path| path.rtt) / 2.0);
        line(
            "delay",
            quoted(delay),
            "half of the shortest round trip seen".to_owned(),
        );
        let is_early = middle(|path| path.standing) < EARLY;
        let kind = if is_early { "codel" } else { "drop-tail" };
        let limit = Bytes::new(middle(wire_queue) as u64);
        let queue = format!("{{ kind = \"{kind}\", limit = \"{limit}\" }}");
        line("queue", queue, range(wire_queue, bytes));
        let most = self.quantile(|path| path.loss, HIGH);
        match middle(|path| path.loss) {
            0.0 if most == 0.0 => line(
                "loss",
                "{ kind = \"none\" }".to_owned(),
                "none was seen".to_owned(),
            ),
            0.0 => line(
                "loss",
                "{ kind = \"none\" }".to_owned(),
                format!("none has to be assumed; no more than {most:.1e}"),
            ),
            loss => line(
                "loss",
                format!("{{ kind = \"random\", rate = {loss:.1e} }}"),
                range(|path| path.loss, |share| format!("{share:.1e}")),
            ),
        }
        let mut file = format!(
            "# A path that explains {} samples. Nine of ten that do lie between the ends that\n\
             # comments give. The way back is a guess: it is taken to be like the way there.\n\
             [forward]\n{text}\n[hosts]\nmtu = {:.0}\ncongestion = \"{congestion}\"\n",
            self.evidence.len(),
            segment + HEADERS
        );
        file += &self.buffers();
        file + &self.others()
    }

    /// A rate, or how it varies.
    fn rate(&self) -> String {
        let mean = self.quantile(wire_rate, 0.5);
        let swing = self.quantile(|path| path.swing, 0.5);
        if swing == 0.0 {
            return quoted(Rate::from_f64(mean));
        }
        let wide = 3.0_f64.sqrt() * swing;
        let every = Span::from_secs_f64(self.quantile(|path| path.swing_every, 0.5));
        format!(
            "{{ low = {}, high = {}, every = {} }}",
            quoted(Rate::from_f64(mean * (1.0 - wide).max(0.02))),
            quoted(Rate::from_f64(mean * (1.0 + wide))),
            quoted(every)
        )
    }

    fn buffers(&self) -> String {
        let window = self.quantile(|path| path.window, 0.5);
        let held = self.evidence.iter().any(|one| one.held.is_some());
        let (size, why) = match held {
            true => (window / OFFERED, "as the kernels counted"),
            false => (
                AMPLE.min(window / OFFERED),
                "a guess: no buffer held a stream back",
            ),
        };
        let size = quoted(Bytes::from_kib((size / 1024.0) as u64));
        format!("send_buffer_max = {size}  # {why}\nreceive_buffer_max = {size}  # {why}\n")
    }

    fn others(&self) -> String {
        let streams = self.quantile(|path| path.others, 0.5).round();
        if streams < 1.0 {
            return String::new();
        }
        let ends = [LOW, HIGH].map(|share| self.quantile(|path| path.others, share));
        format!(
            "\n[[cross]]\nstreams = {streams}  # {:.0} to {:.0}\nwindow = \"16MiB\"  # a guess\n",
            ends[0], ends[1]
        )
    }

    /// A figure of the paths, below which lies this share of them.
    pub fn quantile(&self, of: impl Fn(&Path) -> f64, share: f64) -> f64 {
        let mut values: Vec<f64> = self.particles.iter().map(|one| of(&one.path)).collect();
        values.sort_by(f64::total_cmp);
        let last = values.len().saturating_sub(1);
        values
            .get((share * last as f64).round() as usize)
            .copied()
            .unwrap_or(0.0)
    }
}

/// The link's rate with headers.
fn wire_rate(path: &Path) -> f64 {
    let wire = path.rate * (path.segment + HEADERS) / path.segment;
    // To three digits: more were never known.
    let unit = 10_f64.powf(wire.max(1.0).log10().floor() - 2.0);
    (wire / unit).round() * unit
}

fn wire_queue(path: &Path) -> f64 {
    path.queue * (path.segment + HEADERS) / path.segment
}

fn rate(bits: f64) -> String {
    Rate::from_f64(bits).human()
}

fn bytes(bytes: f64) -> String {
    Bytes::new(bytes as u64).human()
}

fn quoted(value: impl std::fmt::Display) -> String {
    format!("\"{value}\"")
}
