//! What a plan says, checked.

use std::collections::BTreeMap;

use units::{Dscp, Family, Rate, RateLimit, Span, TimeOfDay};
use watch_plan::{Quiet, UtcOffset};

use crate::cut::CutBounds;
use crate::names::{GroupName, HostName, LinkName};

/// A checked plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Campaign {
    pub(crate) hosts: BTreeMap<HostName, Host>,
    pub(crate) links: BTreeMap<LinkName, Link>,
    pub(crate) groups: Vec<Group>,
    pub(crate) offset: UtcOffset,
    pub(crate) cut: CutBounds,
}

impl Campaign {
    /// The hosts that places name.
    pub fn hosts(&self) -> &BTreeMap<HostName, Host> {
        &self.hosts
    }

    /// The links, those that groups use without writing one included.
    pub fn links(&self) -> &BTreeMap<LinkName, Link> {
        &self.links
    }

    /// The groups, each behind those that it waits for, then by priority, deadline and name.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// A group by its name.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name.as_str() == name)
    }

    /// Local time of quiet hours.
    pub fn offset(&self) -> UtcOffset {
        self.offset
    }

    /// Where lists are cut.
    pub fn cut(&self) -> CutBounds {
        self.cut
    }
}

/// A host with files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// As ssh takes it, or `trunkline://HOST[:PORT]` of a standing server.
    pub address: String,
    /// Addresses of further hosts in front of the same file system, reached in the same way; each
    /// shard takes any.
    pub also: Vec<String>,
    /// The file with the token of a server.
    pub token: Option<String>,
    /// The program that ssh starts there.
    pub program: Option<String>,
    /// The folder that its server serves, from `/`: where tasks on that host find its places.
    pub root: Option<String>,
}

/// What copies share, and the bounds of all of them together.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The most that all copies send together, in the local time of quiet hours where it changes
    /// with the time of day.
    pub rate: Option<RateLimit>,
    /// Copies at a time.
    pub copies: u16,
    /// Streams of all copies together; each copy finds its own number without.
    pub streams: Option<u16>,
    /// When nothing is sent.
    pub quiet: Vec<Quiet>,
    /// Whether copies give way to all other traffic.
    pub gentle: Gentle,
    /// The version of the internet protocol, where the link asks for one.
    pub ip: Option<Family>,
    /// How packets are marked, where the link asks for a class.
    pub dscp: Option<Dscp>,
}

impl Link {
    /// The most that all copies send together at `now`, in seconds since 1970.
    pub fn rate_at(&self, now: i64, offset: UtcOffset) -> Option<Rate> {
        let limit = self.rate.as_ref()?;
        let minute = (now + offset.seconds()).rem_euclid(86_400) / 60;
        limit.at(TimeOfDay::after_midnight(minute as u16)).rate
    }

    /// Whether nothing is sent at `now`, in seconds since 1970.
    pub fn is_quiet(&self, now: i64, offset: UtcOffset) -> bool {
        self.quiet
            .iter()
            .any(|quiet| quiet.touches(now, now + 1, offset))
    }

    /// The first second from `now` on that is not quiet; `None` where there is none within a week.
    pub fn quiet_until(&self, now: i64, offset: UtcOffset) -> Option<i64> {
        const WEEK: i64 = 7 * 86_400;
        // Quiet times begin and end with a minute, and offsets are whole minutes.
        let minutes = (1..).map(|minute| now - now.rem_euclid(60) + 60 * minute);
        std::iter::once(now)
            .chain(minutes.take_while(|at| *at <= now + WEEK))
            .find(|at| !self.is_quiet(*at, offset))
    }

    /// Streams of each of the copies, where their sum is bounded.
    pub fn streams_each(&self) -> Option<u16> {
        let each = |streams: u16| (streams / self.copies.max(1)).max(1);
        self.streams.map(each)
    }
}

/// Whether copies give way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gentle {
    /// They compete as any flow does.
    No,
    /// They add no more than this to the round trip.
    Adding(Span),
}

/// Files that go from one folder to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: GroupName,
    /// The folder whose content is copied.
    pub from: Spot,
    /// The folder that it is copied into.
    pub to: Spot,
    /// The link that its copies share with others.
    pub link: LinkName,
    /// Asked in order; the first that fits decides.
    pub rules: Vec<Rule>,
    /// Higher goes first, 1 to 9.
    pub priority: u8,
    /// When it has to be there, in seconds since 1970.
    pub deadline: Option<i64>,
    /// Groups whose files have to be there before.
    pub after: Vec<GroupName>,
    /// The far file system takes names that differ only in case or encoding for one: all but the
    /// first of them are left out.
    pub folds_names: bool,
    /// Checksums of the BagIt bag whose payload the destination becomes; of none, it is no bag.
    pub bag: Vec<String>,
}

impl Group {
    /// The folder of the bag, whose `data` is the destination.
    pub fn bag_spot(&self) -> Option<Spot> {
        let path = self.to.path.strip_suffix("/data")?;
        let is_bag = !self.bag.is_empty() && !path.is_empty();
        is_bag.then(|| Spot {
            host: self.to.host.clone(),
            path: path.to_owned(),
        })
    }
}

/// A pattern and what is done with what fits, as `--include` and `--exclude` of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What fits is left out; otherwise it is copied.
    pub leaves_out: bool,
    /// As the user wrote it.
    pub pattern: String,
}

/// A folder of a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Whose; `None` is the machine that plans and runs.
    pub host: Option<HostName>,
    /// Without `/` at its end, unless it is `/`.
    pub path: String,
}

impl Spot {
    /// Whether one of both is the other, or lies below it.
    pub fn overlaps(&self, other: &Spot) -> bool {
        let below = |inner: &str, outer: &str| {
            let rest = inner.strip_prefix(outer);
            rest.is_some_and(|rest| rest.is_empty() || outer == "/" || rest.starts_with('/'))
        };
        self.host == other.host
            && (below(&self.path, &other.path) || below(&other.path, &self.path))
    }
}

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.host {
            Some(host) => write!(f, "{host}:{}", self.path),
            None => f.write_str(&self.path),
        }
    }
}
