//! What a visit does. All that a plan has to know of a kind of task is here.

use std::ops::RangeInclusive;

use serde::Serialize;
use units::{Bytes, Rate, Span};

use crate::section::{Findings, Section, closest};

const SIZE: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 50);
/// A datagram a second, and more than any link.
pub(crate) const RATE: RangeInclusive<Rate> =
    Rate::from_bits_per_second(12_000)..=Rate::from_bits_per_second(1_000_000_000_000);

/// What a visit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Small and large packets: round trips, loss, duplicates, order (PingER's).
    Ping,
    /// The same with delays each way, by the clocks of both hosts (OWAMP's).
    OneWay,
    /// `trunkline path --quick`, with the route.
    Path,
    /// Round trips while the path is loaded.
    Responsiveness,
    /// Goodput at the tuned setting (IEPM-BW's).
    Throughput,
    /// Datagrams at a steady rate: what arrives, loss, jitter (`iperf3 -u`).
    Udp {
        /// How fast they are sent.
        rate: Rate,
    },
    /// A search for the setting.
    Tune,
    /// A copy of a test file from disk to disk.
    Copy {
        /// The size of the file.
        size: Bytes,
    },
}

/// The words of plan files.
const WORDS: [&str; 8] = [
    "ping",
    "one-way",
    "path",
    "responsiveness",
    "throughput",
    "udp",
    "tune",
    "copy",
];
/// Keys that one kind alone has.
pub(crate) const OWN_KEYS: [(&str, &str); 2] = [("size", "copy"), ("rate", "udp")];

impl Kind {
    /// The word of plan files.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Ping => "ping",
            Kind::OneWay => "one-way",
            Kind::Path => "path",
            Kind::Responsiveness => "responsiveness",
            Kind::Throughput => "throughput",
            Kind::Udp { .. } => "udp",
            Kind::Tune => "tune",
            Kind::Copy { .. } => "copy",
        }
    }

    /// Whether a visit needs both machines for itself. Visits of small packets do not: they run
    /// beside each other, but never beside an exclusive visit at one of their machines.
    pub fn is_exclusive(self) -> bool {
        !matches!(self, Kind::Ping | Kind::OneWay | Kind::Path)
    }

    /// Whether it can leave the path to others.
    pub(crate) fn can_be_gentle(self) -> bool {
        !matches!(self, Kind::Responsiveness | Kind::Udp { .. })
    }

    /// Whether a server without an agent can be its far end, which takes no files.
    pub(crate) fn needs_both_agents(self) -> bool {
        matches!(self, Kind::Copy { .. })
    }

    /// Whether the near end can ask the far one to send.
    pub(crate) fn goes_both_ways(self) -> bool {
        matches!(self, Kind::Throughput | Kind::Udp { .. } | Kind::Tune)
    }

    /// How much a visit of this length sends, where its path carries `path`: of copies the file,
    /// of other exclusive visits what goes in all of their time, of light ones nothing that counts.
    pub(crate) fn bytes(self, duration: Span, path: Option<Rate>) -> Option<Bytes> {
        match self {
            Kind::Copy { size } => Some(size),
            Kind::Udp { rate } => Some(rate.min(path.unwrap_or(rate)).bytes_in(duration)),
            kind if kind.is_exclusive() => Some(path?.bytes_in(duration)),
            _ => Some(Bytes::ZERO),
        }
    }

    /// Reads `kind` of a task, and the keys that belong to it.
    pub(crate) fn read(section: &Section, found: &mut Findings) -> Option<Kind> {
        let known = format!("known kinds: {}", WORDS.join(", "));
        let word = section.text("kind", found);
        let word = section.required("kind", word, &known, found)?;
        for (key, of) in OWN_KEYS {
            if of != word.value && section.has(key) {
                let problem = format!("`{key}` is of `{of}`, and this task is `{}`", word.value);
                found.refuse(&section.at(key), problem, "remove it");
            }
        }
        match word.value {
            "ping" => Some(Kind::Ping),
            "one-way" => Some(Kind::OneWay),
            "path" => Some(Kind::Path),
            "responsiveness" => Some(Kind::Responsiveness),
            "throughput" => Some(Kind::Throughput),
            "udp" => {
                let hint = "write how fast datagrams are sent: `rate = \"100Mbit/s\"`";
                let rate = section.parsed::<Rate>("rate", found);
                let rate = section.required("rate", rate, hint, found)?;
                let rate = rate.within(RATE, found)?;
                Some(Kind::Udp { rate: rate.value })
            }
            "tune" => Some(Kind::Tune),
            "copy" => {
                let hint = "write the size of the test file: `size = \"2GB\"`";
                let size = section.parsed::<Bytes>("size", found);
                let size = section.required("size", size, hint, found)?;
                let size = size.within(SIZE, found)?;
                Some(Kind::Copy { size: size.value })
            }
            other => {
                let shown: String = other.chars().take(60).collect();
                let near = closest(other, WORDS.into_iter());
                let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                let problem = format!("`{shown}` is not a kind of task");
                found.refuse(&word.place, problem, format!("{near}{known}"));
                None
            }
        }
    }
}
