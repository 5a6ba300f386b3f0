//! Options of a copy: as the user gives them, and as the far end is told.
//!
//! An option stands here twice, in [`CopyOptions`] and in [`Opening`], and [`Opening::new`] leads
//! from one to the other. The command line, Python and the document of a copy each have it once. A
//! field more in [`Opening`] is another message: `version_5.rs` has what older ends are told.

use std::ops::Range;

use models::Objective;
use observe::{StreamCount, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, RateLimit, Span};

use crate::{Follow, Kept};

/// The options of a copy, as the user, both ends and the document have them.
#[derive(Debug, Clone, PartialEq)]
pub struct CopyOptions {
    /// Whether folders are copied with what is in them.
    pub recursive: bool,
    /// Which metadata is kept.
    pub attributes: Attributes,
    /// What is done with files that are there already.
    pub filter: Filter,
    /// Which of what the sources have is copied.
    pub selection: Selection,
    /// What the folders of the sources do not have is removed at the destination.
    pub delete: bool,
    /// Data without encryption.
    pub plain: bool,
    /// Files are read again from the receiver's disk before they have their final name.
    pub verify: bool,
    /// Nothing is written.
    pub dry_run: bool,
    /// Pieces may be compressed, for as long as that is faster.
    pub compress: bool,
    /// What the number of streams is chosen for.
    pub objective: Objective,
    /// This many streams and no search, where the user knows better.
    pub streams: Option<StreamCount>,
    /// Streams to begin with, from memory of this host.
    pub remembered: Option<StreamCount>,
    /// Socket buffers of each stream.
    pub window: Window,
    /// Congestion control of the sender.
    pub congestion: Option<CongestionChoice>,
    /// The most that is sent over all streams together, by the clock of the near end where it
    /// changes with the time of day.
    pub rate_max: Option<RateLimit>,
    /// Give way to all other traffic: the queueing delay that the copy may add.
    pub gentle: Option<Span>,
    /// The copy goes on with files that are new or changed. The end that has them keeps it to
    /// itself.
    pub follow: Option<Follow>,
    /// Of files that are there in an older version only what differs from it is sent.
    pub delta: bool,
    /// Only this part of each file is copied. For campaigns, which see to the others.
    pub part: Option<FilePart>,
}

impl CopyOptions {
    /// A knee closer to the maximum than [`Objective::KNEE`]: a user waits for the copy to end.
    pub const KNEE: Objective = Objective::Knee { share: 0.97 };
}

/// What the command line means where nothing else is said.
impl Default for CopyOptions {
    fn default() -> Self {
        CopyOptions {
            recursive: false,
            attributes: Attributes {
                permissions: true,
                times: true,
                links: true,
                kept: Kept::NOTHING,
            },
            filter: Filter::Changed,
            selection: Selection::default(),
            delete: false,
            plain: false,
            verify: false,
            dry_run: false,
            compress: false,
            objective: CopyOptions::KNEE,
            streams: None,
            remembered: None,
            window: Window::Auto,
            congestion: None,
            rate_max: None,
            gentle: None,
            follow: None,
            delta: false,
            part: None,
        }
    }
}

/// The request of the near end: the options of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// Which way.
    pub direction: CopyDirection,
    /// The same number each time this copy connects, so that an older conversation of it is given
    /// up.
    pub copy: [u8; 16],
    /// Names at the far end, as the user wrote them: the destination (one) or the sources, which
    /// may have wildcards.
    pub paths: Vec<Vec<u8>>,
    /// Whether folders are copied with what is in them.
    pub recursive: bool,
    /// Which metadata is kept.
    pub attributes: Attributes,
    /// What is done with files that are there already.
    pub filter: Filter,
    /// Which of what the sources have is copied.
    pub selection: Selection,
    /// What the folders of the sources do not have is removed from those of the destination, once
    /// all is copied.
    pub delete: bool,
    /// Several sources, or a source that is a folder: the destination has to be a folder.
    pub into_folder: bool,
    /// Streams carry data without encryption; the control connection never does.
    pub plain: bool,
    /// The receiver reads each file again from its disk before it has its final name.
    pub verify: bool,
    /// The near end receives, and its destination is new or an empty folder; see
    /// [`crate::Message::Opened`].
    pub fresh: bool,
    /// Nothing is written; the receiver only says what it would want.
    pub dry_run: bool,
    /// Pieces may be compressed.
    pub compress: bool,
    /// The most that may be sent, over all streams together, in bits per second; what changes
    /// with the time of day is set by the near end when it connects, and told when it changes.
    pub rate_max_bits_per_second: Option<u64>,
    /// Queueing delay that a gentle copy may cause, in nanoseconds.
    pub gentle_nanoseconds: Option<u64>,
    /// What the sender aims at, by the name of the objective.
    pub objective: String,
    /// Fixed number of streams; `None` leaves it to the sender.
    pub streams: Option<u16>,
    /// Number of streams that served the last time: the sender begins with it.
    pub remembered: Option<u16>,
    /// Congestion control asked for.
    pub congestion: Option<CongestionChoice>,
    /// Socket buffers asked for, in bytes; `None` leaves them to the kernel.
    pub window_bytes: Option<u64>,
    /// Over so many pairs of addresses the near end deals the streams, so that there are to be no
    /// fewer; zero where it has named none. On the wire it stands behind the opening, and only
    /// where it is not zero.
    #[serde(skip)]
    pub pairs: u16,
    /// The far end tells its addresses, and the near end deals the streams over those that it can
    /// reach; see [`crate::Message::Addresses`]. On the wire it stands behind the opening, and only
    /// where it is asked for.
    #[serde(skip)]
    pub asks_addresses: bool,
    /// The receiver tells which files it has in an older version, and the sender offers pieces of
    /// those by their hashes first. On the wire it stands behind what else is kept, and only where
    /// it is asked for.
    #[serde(skip)]
    pub delta: bool,
    /// Only this part of each file is copied, and other copies bring the others; see [`FilePart`].
    /// On the wire it stands behind the opening, and only where it is asked for.
    #[serde(skip)]
    pub part: Option<FilePart>,
}

/// One part of a file whose parts are copied each for itself, by several hosts perhaps.
///
/// ```
/// use copy_protocol::FilePart;
/// let part = FilePart { index: 1, length: FilePart::LENGTH_MIN };
/// let (start, size) = (FilePart::LENGTH_MIN, FilePart::LENGTH_MIN + 7);
/// assert_eq!(part.within(size), start..size);
/// assert!(part.within(9).is_empty());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilePart {
    /// Its place among the parts, from 0.
    pub index: u32,
    /// Bytes of each part but the last, which may have fewer: a power of two, so that each is a
    /// subtree of the file's BLAKE3.
    pub length: u64,
}

impl FilePart {
    /// Shortest part, in bytes.
    pub const LENGTH_MIN: u64 = 64 << 20;
    /// Longest part, in bytes.
    pub const LENGTH_MAX: u64 = 1 << 50;

    /// Its bytes of a file of `size` bytes; empty where the file has no such part.
    pub fn within(&self, size: u64) -> Range<u64> {
        let start = u64::from(self.index).saturating_mul(self.length).min(size);
        start..start.saturating_add(self.length).min(size)
    }

    /// Whether its length is one that parts can have.
    pub fn is_legal(&self) -> bool {
        let bounds = FilePart::LENGTH_MIN..=FilePart::LENGTH_MAX;
        self.length.is_power_of_two() && bounds.contains(&self.length)
    }
}

/// Delay and loss that a gentle objective may add when only its name is known.
const GENTLE: Objective = Objective::Gentle {
    added_rtt_max: Span::from_millis(30),
    loss_max: 0.01,
};

impl Opening {
    /// The request for `paths` of the far end with these options, of a copy without a number.
    pub fn new(direction: CopyDirection, paths: Vec<Vec<u8>>, options: &CopyOptions) -> Self {
        Opening {
            direction,
            copy: [0; 16],
            paths,
            recursive: options.recursive,
            attributes: options.attributes,
            filter: options.filter,
            selection: options.selection.clone(),
            delete: options.delete,
            into_folder: false,
            plain: options.plain,
            verify: options.verify,
            fresh: false,
            dry_run: options.dry_run,
            compress: options.compress,
            rate_max_bits_per_second: options
                .rate_max
                .as_ref()
                .and_then(RateLimit::always)
                .map(Rate::bits_per_second),
            gentle_nanoseconds: options.gentle.map(Span::as_nanos),
            objective: name(&options.objective),
            streams: options.streams.map(StreamCount::get),
            remembered: options.remembered.map(StreamCount::get),
            congestion: options.congestion.clone(),
            window_bytes: match options.window {
                Window::Auto => None,
                Window::Fixed(bytes) => Some(bytes.get()),
            },
            pairs: 0,
            asks_addresses: false,
            delta: options.delta,
            part: options.part,
        }
    }

    /// The options that ends of older versions do not know, for people; none where it is empty.
    pub fn newest_options(&self) -> String {
        let kept = self.attributes.kept.options();
        let delta = if self.delta { "`--delta`" } else { "" };
        let is_get = self.direction == CopyDirection::Get;
        let via = match self.asks_addresses {
            true => "`--via all`",
            false if self.pairs > 0 && is_get => "`--via`",
            false => "",
        };
        let part = self.part.map_or("", |_| "parts of a file");
        let asked = [kept.as_str(), delta, via, part];
        let asked: Vec<&str> = asked.into_iter().filter(|one| !one.is_empty()).collect();
        asked.join(", ")
    }

    /// What the sender aims at; [`CopyOptions::KNEE`] for a name that this version does not know.
    pub fn objective(&self) -> Objective {
        objective(&self.objective)
    }

    /// Socket buffers as they were asked for.
    pub fn window(&self) -> Window {
        let fixed = |bytes| Window::Fixed(Bytes::new(bytes));
        self.window_bytes.map_or(Window::Auto, fixed)
    }
}

/// A congestion control that the sender is to use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CongestionChoice {
    /// Its kernel name.
    pub name: String,
    /// A sender that may not use it keeps its own, and does not refuse.
    pub if_allowed: bool,
}

impl CongestionChoice {
    /// The one that a user asked for.
    pub fn required(name: String) -> Self {
        CongestionChoice {
            name,
            if_allowed: false,
        }
    }
}

/// Which metadata is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    /// Permission bits.
    pub permissions: bool,
    /// Time of last modification.
    pub times: bool,
    /// Symbolic links as links; otherwise what they point to is copied.
    pub links: bool,
    /// What else is. On the wire it stands behind the opening, and only where something is asked
    /// for.
    #[serde(skip)]
    pub kept: Kept,
}

/// What is done with files that are there already.
// The words are those of documents; messages count the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Filter {
    /// Those of the same size and time of modification are skipped, others replaced.
    #[serde(rename = "update")]
    Changed,
    /// All are sent again.
    #[serde(rename = "overwrite")]
    All,
    /// Whatever is there stays.
    #[serde(rename = "keep")]
    Missing,
    /// Those of the same content are skipped, others replaced.
    #[serde(rename = "compare")]
    Content,
}

/// Which of what the sources have is copied.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Selection {
    /// In order: the first that fits a name decides, and what none fits is copied. What is left out
    /// is not removed either.
    pub rules: Vec<SelectionRule>,
    /// Names below the one source, which alone are copied, with the folders that they are in. A
    /// sender at the near end keeps them to itself.
    pub listed: Option<Vec<Vec<u8>>>,
}

/// A pattern and what is done with what fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectionRule {
    /// What fits is left out; otherwise it is copied.
    pub leaves_out: bool,
    /// For names below the destination, as the user wrote it.
    pub pattern: String,
}

/// Which way the files go, seen from the near end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CopyDirection {
    /// The near end sends.
    Put,
    /// The near end receives.
    Get,
}

/// The share of a knee stands in thousandths.
fn name(objective: &Objective) -> String {
    match objective {
        Objective::Knee { share } => format!("knee-{}", (share * 1000.0).round()),
        Objective::Max => "max".to_owned(),
        Objective::Power => "power".to_owned(),
        Objective::Gentle { .. } => "gentle".to_owned(),
    }
}

/// The inverse of [`name`].
fn objective(name: &str) -> Objective {
    let mut words = name.split('-');
    match (words.next(), words.next().map(str::parse::<u16>)) {
        (Some("max"), _) => Objective::Max,
        (Some("power"), _) => Objective::Power,
        (Some("gentle"), _) => GENTLE,
        (Some("knee"), Some(Ok(share @ 1..=1000))) => Objective::Knee {
            share: f64::from(share) / 1000.0,
        },
        _ => CopyOptions::KNEE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_arrive_as_they_were_meant() {
        for meant in [Objective::Max, Objective::Power, Objective::KNEE] {
            assert_eq!(objective(&name(&meant)), meant);
        }
        assert_eq!(objective("something new"), CopyOptions::KNEE);
        assert_eq!(objective("knee-7000"), CopyOptions::KNEE);
    }
}
