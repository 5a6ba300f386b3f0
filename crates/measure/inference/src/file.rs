//! The inferred path as a path file, each figure with its interval.

use std::fmt::Write;

use units::{Bytes, Rate, Span};

use crate::answer::mostly_marks;
use crate::path::Path;
use crate::posterior::Posterior;
use crate::prior::SWING;

/// Nine of ten paths lie between these two.
const LOW: f64 = 0.05;
const HIGH: f64 = 0.95;
/// IP and TCP headers with time stamps.
const HEADERS: f64 = 52.0;
/// What a path file takes: bytes of a packet, of a queue, of a bucket and of a socket buffer, bits
/// per second of a link.
const MTU: (f64, f64) = (576.0, 65535.0);
const QUEUE_MAX: f64 = 4e9;
const BUCKET_MAX: f64 = 1e9;
const BUFFER: (f64, f64) = (4096.0, 2e9);
const RATE: (f64, f64) = (300.0, 1e12);
/// Payload that a receiver offers of each byte of its buffer.
const OFFERED: f64 = 0.625;
/// What stands in a queue that drops early, at the most, as a share of it.
const EARLY: f64 = 0.6;
/// Buffers that hold nothing back, for hosts of which nothing was seen.
const AMPLE: f64 = 1e9;
/// A figure whose interval is wider than this factor was left open by the samples.
const OPEN: f64 = 2.0;
/// With fewer different paths than this the ends of intervals say little.
const FEW: usize = 12;
/// Losses of fewer packets than this are single ones.
const SINGLE: f64 = 1.5;

/// A link behind a policer is taken to be so many times as fast.
const FASTER_LINK: f64 = 4.0;
/// RFC 5681: an acknowledgement for every second segment.
const SEGMENTS_PER_ACKNOWLEDGEMENT: f64 = 2.0;

/// What takes the packets that the link cannot send at once.
enum Kind {
    /// A queue, of a kind that path files name.
    Queue(&'static str),
    /// A policer's bucket, in which none waits.
    Bucket,
}

impl Posterior {
    /// A path file with the middle of each figure, its interval as a comment, and what was guessed.
    ///
    /// * `congestion`: what the hosts use.
    pub fn path_file(&self, congestion: &str) -> String {
        let middle = |of: fn(&Path) -> f64| self.quantile(of, 0.5);
        let segment = middle(|path| path.segment);
        let mut text = String::new();
        let mut line = |key: &str, value: String, comment: String| {
            let _ = writeln!(text, "{key} = {value}  # {comment}");
        };
        line("rate", self.rate(), self.why_rate());
        let delay = Span::from_secs_f64(known(middle(|path| path.rtt) / 2.0));
        line(
            "delay",
            quoted(delay),
            "half of the shortest round trip seen".to_owned(),
        );
        let mtu = (segment + HEADERS).clamp(MTU.0, MTU.1);
        let most = match self.kind() {
            Kind::Queue(_) => QUEUE_MAX,
            Kind::Bucket => BUCKET_MAX,
        };
        let limit = Bytes::new(known(middle(wire_queue)).clamp(mtu, most) as u64);
        let ecn = if self.has_marks() { ", ecn = true" } else { "" };
        let of_kind =
            |kind: &str, ecn: &str| format!("{{ kind = \"{kind}\", limit = \"{limit}\"{ecn} }}");
        match self.kind() {
            Kind::Queue(kind) => line("queue", of_kind(kind, ecn), self.range(wire_queue, bytes)),
            Kind::Bucket => {
                let rate = link(middle(wire_rate));
                let bucket = format!("{{ rate = {rate}, bucket = \"{limit}\" }}");
                line("policer", bucket, self.range(wire_queue, bytes));
                let guess = "a guess: nothing stood in it".to_owned();
                line("queue", of_kind("drop-tail", ""), guess);
            }
        }
        let loss = self.loss();
        let mut file = format!(
            "# A path that explains {}. Nine of ten that do lie between the ends that\n\
             # comments give.\n{}{}[forward]\n{text}{loss}\n\n{}\n\
             [hosts]\nmtu = {:.0}\ncongestion = \"{congestion}\"\n",
            match self.evidence.len() {
                1 => "one sample".to_owned(),
                samples => format!("{samples} samples"),
            },
            self.few(),
            self.not_said(),
            self.way_back(),
            mtu
        );
        if self.has_marks() {
            file += "ecn = true\n";
        }
        file += &self.buffers();
        file + &self.others()
    }

    /// The interval of a figure as a comment, and whether the samples left it open.
    fn range(&self, of: fn(&Path) -> f64, text: fn(f64) -> String) -> String {
        let [low, high] = [LOW, HIGH].map(|share| self.quantile(of, share));
        let guess = match high > OPEN * low {
            true => "; a guess: the samples leave it open",
            false => "",
        };
        match high == 0.0 {
            true => "none was seen".to_owned(),
            false => format!("{} to {}{guess}", text(low), text(high)),
        }
    }

    /// The line of losses that come of no queue: single ones, or several packets at a time.
    fn loss(&self) -> String {
        let range = self.range(chance, share);
        let (events, run) = (
            self.quantile(|path| path.loss, 0.5),
            self.quantile(|path| path.run, 0.5),
        );
        let loss = match (events > 0.0, run < SINGLE) {
            (false, _) => return format!("# no loss beside the queue's: {range}"),
            (_, true) => format!("kind = \"random\", rate = {events:.1e}"),
            (_, false) => {
                let leave = 1.0 / run;
                format!("kind = \"gilbert-elliott\", enter = {events:.1e}, leave = {leave:.2}")
            }
        };
        format!("loss = {{ {loss} }}  # {range}")
    }

    /// Whether so few paths are left that their ends say little.
    fn few(&self) -> &'static str {
        let mut rates: Vec<u64> = self
            .particles
            .iter()
            .map(|one| one.path.rate.to_bits())
            .collect();
        rates.sort_unstable();
        rates.dedup();
        match rates.len() < FEW {
            true => "# Few of the paths that were tried do: the ends are too close together.\n",
            false => "",
        }
    }

    /// What hosts do to a run and no path file can say.
    fn not_said(&self) -> String {
        let hosts = self.quantile(|path| path.hosts, 0.5);
        let stream = self.quantile(|path| path.per_stream, 0.5);
        let bound = |most: f64, of: &str| match most.is_finite() {
            true => format!("# Not in this file: {of} at most {}.\n", rate(most)),
            false => String::new(),
        };
        bound(hosts, "the programs at both ends move") + &bound(stream, "a stream's thread moves")
    }

    /// Whether a queue marked: which kind it is, no sample tells.
    fn has_marks(&self) -> bool {
        mostly_marks(&self.evidence)
    }

    /// What takes the packets that the link cannot send at once.
    fn kind(&self) -> Kind {
        if self.has_marks() {
            return Kind::Queue("codel");
        }
        match self.quantile(|path| path.standing, 0.5) {
            0.0 => Kind::Bucket,
            standing if standing < EARLY => Kind::Queue("codel"),
            _ => Kind::Queue("drop-tail"),
        }
    }

    /// A link whose rate a policer bounds is faster.
    fn why_rate(&self) -> String {
        match self.kind() {
            Kind::Bucket => format!("a guess: {FASTER_LINK} times what the policer lets through"),
            Kind::Queue(_) => self.range(wire_rate, rate),
        }
    }

    /// The way back: as the way there, but where acknowledgements fill it.
    fn way_back(&self) -> String {
        if !self.quantile(|path| path.back, 0.5).is_finite() {
            let guess = "The way back is a guess: like the way there, without its loss.";
            return format!("# {guess}\n");
        }
        let delay = Span::from_secs_f64(known(self.quantile(|path| path.rtt / 2.0, 0.5)));
        let back = self.quantile(back_rate, 0.5);
        let packets = |path: &Path| path.back_wait * back_rate(path) / 8.0 / HEADERS;
        let packets = self.quantile(packets, 0.5).max(1.0);
        format!(
            "[reverse]\nrate = {}  # {}\ndelay = {}\n\
             queue = {{ kind = \"drop-tail\", limit = \"{packets:.0}packets\" }}\n",
            link(back),
            self.range(back_rate, rate),
            quoted(delay),
        )
    }

    /// A rate, or how it varies.
    fn rate(&self) -> String {
        let faster = match self.kind() {
            Kind::Bucket => FASTER_LINK,
            Kind::Queue(_) => 1.0,
        };
        let mean = faster * self.quantile(wire_rate, 0.5);
        let swing = self.quantile(|path| path.swing, 0.5);
        if swing < SWING.0 {
            return link(mean);
        }
        let wide = 3.0_f64.sqrt() * swing;
        let low = link(known(mean * (1.0 - wide).max(0.02)));
        let high = link(known(mean * (1.0 + wide)));
        if low == high {
            return high;
        }
        let every = Span::from_secs_f64(known(self.quantile(|path| path.swing_every, 0.5)));
        format!(
            "{{ low = {low}, high = {high}, every = {} }}",
            quoted(every)
        )
    }

    fn buffers(&self) -> String {
        let window = self.quantile(|path| path.window, 0.5);
        use crate::Held::{ReceiveBuffer, SendBuffer, SlowReader};
        let is_buffer =
            |held| matches!(held, Some(ReceiveBuffer(_) | SendBuffer(_) | SlowReader(_)));
        let held = self.evidence.iter().any(|one| is_buffer(one.held));
        let (size, why) = match held {
            true => (window / OFFERED, "as the kernels counted"),
            false => (
                AMPLE.min(window / OFFERED),
                "a guess: no buffer held a stream back",
            ),
        };
        let size = quoted(Bytes::from_kib(
            (size.clamp(BUFFER.0, BUFFER.1) / 1024.0) as u64,
        ));
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
    known(path.rate * (path.segment + HEADERS) / path.segment)
}

/// To four digits: more were never known.
fn known(figure: f64) -> f64 {
    let unit = 10_f64.powf(figure.max(1e-9).log10().floor() - 3.0);
    (figure / unit).round() * unit
}

/// What acknowledgements fill, where anything of the way back bounds them.
fn back_rate(path: &Path) -> f64 {
    let share = HEADERS / path.segment / SEGMENTS_PER_ACKNOWLEDGEMENT;
    known((path.back * share).min(wire_rate(path)))
}

fn wire_queue(path: &Path) -> f64 {
    path.queue * (path.segment + HEADERS) / path.segment
}

/// The share of packets that is lost in no queue.
fn chance(path: &Path) -> f64 {
    path.loss * path.run
}

fn share(lost: f64) -> String {
    match lost {
        0.0 => "none".to_owned(),
        lost => format!("{lost:.1e}"),
    }
}

fn rate(bits: f64) -> String {
    Rate::from_f64(bits).human()
}

fn bytes(bytes: f64) -> String {
    Bytes::new(bytes as u64).human()
}

/// A rate that a path file takes.
fn link(bits: f64) -> String {
    quoted(Rate::from_f64(bits.clamp(RATE.0, RATE.1)))
}

fn quoted(value: impl std::fmt::Display) -> String {
    format!("\"{value}\"")
}
