//! What the user asked for beside names.

use copy_protocol::{CopySpec, Filter, Follow, Kept, OwnersBy, SelectionRule};
use observe::{Transport, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, RateLimit, RateSchedule, Span};

/// What the user asked for beside names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// Folders with what is in them.
    pub recursive: bool,
    /// What was to happen with files that were there already.
    pub existing: Filter,
    /// Names that were left out, or taken nevertheless, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<SelectionRule>,
    /// How many names a list had, which alone were copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<u64>,
    /// Permission bits were kept.
    pub permissions: bool,
    /// Times of modification were kept.
    pub times: bool,
    /// Symbolic links were copied as links.
    pub links: bool,
    /// What else was: `hard-links`, `xattrs`, `acls`, `owner-names`, `owner-numbers`, `atimes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Files were read again from the receiver's disk.
    pub verify: bool,
    /// What carried the streams; absent from what older versions wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Pairs of addresses over which the streams were dealt: `10.0.1.1=10.0.1.2`, or the far
    /// address alone; `all` alone where the far end told its addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// Connections of multipath TCP; absent where none were asked for.
    #[serde(default, skip_serializing_if = "is_not")]
    pub mptcp: bool,
    /// Data without encryption.
    pub plain: bool,
    /// Pieces could be compressed.
    pub compress: bool,
    /// Nothing was to be written.
    pub dry_run: bool,
    /// What the number of streams was chosen for.
    pub objective: String,
    /// A fixed number of streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<u16>,
    /// Streams to begin with, from memory of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams_remembered: Option<u16>,
    /// Socket buffers of each stream.
    pub window: Window,
    /// Congestion control: asked for, or found by a search on this path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// The most that was to be sent over all streams together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_max_bits_per_second: Option<u64>,
    /// The same by the time of day of the near end: `08:00=50Mbit/s,18:00=none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_schedule: Option<String>,
    /// The queueing delay that a gentle copy could add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gentle_added_rtt_max_seconds: Option<f64>,
    /// The copy was to go on with files that were new or changed; absent where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<AskedFollow>,
    /// Only what differed from older versions at the receiver was to be sent; absent where all was.
    #[serde(default, skip_serializing_if = "is_not")]
    pub delta: bool,
}

fn is_not(flag: &bool) -> bool {
    !flag
}

/// How a copy was to go on while its sources were written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AskedFollow {
    /// Between two looks at the sources.
    pub every_seconds: f64,
    /// It was to end once nothing had changed for so long; absent where the user was to end it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_idle_seconds: Option<f64>,
}

impl From<Follow> for AskedFollow {
    fn from(follow: Follow) -> Self {
        AskedFollow {
            every_seconds: follow.every.as_secs_f64(),
            until_idle_seconds: follow.until_idle.map(Span::as_secs_f64),
        }
    }
}

impl From<&CopySpec> for Asked {
    fn from(spec: &CopySpec) -> Self {
        let gentle = spec.options.gentle;
        let rate_max = spec.options.rate_max.as_ref();
        let always = rate_max.and_then(RateLimit::always);
        let by_clock = rate_max.and_then(RateLimit::by_clock);
        Asked {
            recursive: spec.options.recursive,
            existing: spec.options.filter,
            rules: spec.options.selection.rules.clone(),
            listed: spec
                .options
                .selection
                .listed
                .as_ref()
                .map(|names| names.len() as u64),
            permissions: spec.options.attributes.permissions,
            times: spec.options.attributes.times,
            links: spec.options.attributes.links,
            kept: names(spec.options.attributes.kept),
            verify: spec.options.verify,
            transport: Some(spec.transport),
            via: match spec.all_addresses {
                true => vec!["all".to_owned()],
                false => spec.pairs.iter().map(ToString::to_string).collect(),
            },
            mptcp: spec.is_multipath(),
            plain: spec.options.plain,
            compress: spec.options.compress,
            dry_run: spec.options.dry_run,
            objective: spec.options.objective.name().to_owned(),
            streams: spec.options.streams.map(|streams| streams.get()),
            streams_remembered: spec.options.remembered.map(|streams| streams.get()),
            window: spec.options.window,
            congestion: spec.options.congestion.as_ref().map(|one| one.name.clone()),
            rate_max_bits_per_second: always.map(Rate::bits_per_second),
            rate_schedule: by_clock.map(RateSchedule::to_string),
            gentle_added_rtt_max_seconds: gentle.map(Span::as_secs_f64),
            follow: spec.options.follow.map(AskedFollow::from),
            delta: spec.options.delta,
        }
    }
}

fn names(kept: Kept) -> Vec<String> {
    let all = [
        (kept.hard_links, "hard-links"),
        (kept.user_attributes, "xattrs"),
        (kept.acls, "acls"),
        (kept.owners == Some(OwnersBy::Names), "owner-names"),
        (kept.owners == Some(OwnersBy::Numbers), "owner-numbers"),
        (kept.access_times, "atimes"),
    ];
    let asked = all.into_iter().filter(|(is_kept, _)| *is_kept);
    asked.map(|(_, name)| name.to_owned()).collect()
}
