//! What is stored of a visit, and its identity.

use std::fmt;
use std::str::FromStr;

use changes::{UnixTime, Visit};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::{Rate, Span};

use crate::{Name, Pair};

/// Identity of a visit, made once by the agent: 48 bits of its time and 80 random bits.
///
/// A counter would repeat after an agent's disk was restored from a copy, or a host took the name
/// of another; random bits do neither. 15 million visits a year with equal seconds among 30 agents
/// meet by chance less than once in 10^20 pairs. The time in front only keeps new rows together in
/// the index (as UUID version 7, RFC 9562 section 5.7); after a clock step identities stay unique.
///
/// ```
/// use changes::UnixTime;
/// use watch_store::VisitId;
/// let id = VisitId::new(UnixTime::from_seconds(255), [7; 10]);
/// assert_eq!(id.to_string(), "0000000000ff07070707070707070707");
/// assert_eq!(id.to_string().parse(), Ok(id));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct VisitId([u8; 16]);

impl VisitId {
    /// The identity of a visit.
    ///
    /// * `at`: when it began.
    /// * `random`: drawn anew for each visit, from the kernel.
    pub fn new(at: UnixTime, random: [u8; 10]) -> Self {
        let mut id = [0; 16];
        let (time, rest) = id.split_at_mut(6);
        time.copy_from_slice(&at.seconds().to_be_bytes()[2..]);
        rest.copy_from_slice(&random);
        VisitId(id)
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0.to_vec()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(VisitId)
    }
}

impl fmt::Display for VisitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl FromStr for VisitId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| hex);
        let number = number.ok_or_else(|| format!("{text:?} is not 32 hexadecimal digits"))?;
        Ok(VisitId(number.to_be_bytes()))
    }
}

impl TryFrom<String> for VisitId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<VisitId> for String {
    fn from(id: VisitId) -> String {
        id.to_string()
    }
}

/// A visit with everything that is stored of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredVisit {
    /// Its identity.
    pub id: VisitId,
    /// Which path.
    pub pair: Pair,
    /// The task of the plan that it belongs to.
    pub task: Name,
    /// What it showed.
    pub visit: Visit,
    /// Goodput of each tenth of a second.
    #[serde(
        rename = "rates_bits_per_second",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub rates: Option<Vec<Rate>>,
    /// The whole JSON document of the measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// Most rates of a visit: 2.7 hours of tenths of a second.
const RATES_MAX: usize = 100_000;
/// Most round trips of a visit.
const ROUND_TRIPS_MAX: usize = 10_000;
/// Most hops of a route: as many as the field for them in an IP packet counts.
const HOPS_MAX: usize = 255;
/// Most bytes of the document of a visit: a search that tries 128 streams has 2.7 MB. An agent's
/// message takes twice as much.
const DOCUMENT_MAX: usize = 8 << 20;

impl StoredVisit {
    /// Refuses what no agent sends: visits are shown whole, so a large one costs every reader.
    pub(crate) fn check_size(&self) -> Result<(), Refusal> {
        let visit = &self.visit;
        let trips = visit.round_trips.as_ref();
        let sizes = [
            (
                "the number of rates",
                self.rates.as_ref().map(Vec::len),
                RATES_MAX,
            ),
            (
                "the number of round trips",
                trips.map(|trips| trips.sorted().len()),
                ROUND_TRIPS_MAX,
            ),
            (
                "the number of loss periods and distances",
                visit
                    .losses
                    .as_ref()
                    .map(|losses| losses.periods.len() + losses.distances.len()),
                2 * ROUND_TRIPS_MAX,
            ),
            (
                "the number of hops",
                visit.route.as_ref().map(|route| route.hops.len()),
                HOPS_MAX,
            ),
            (
                "the length of the document in bytes",
                self.document.as_ref().map(String::len),
                DOCUMENT_MAX,
            ),
        ];
        for (what, size, bound) in sizes {
            if let Some(size) = size.filter(|size| *size > bound) {
                return Err(Refusal::Large {
                    what: what.to_owned(),
                    value: size as u64,
                    bound: bound as u64,
                });
            }
        }
        Ok(())
    }

    /// Its JSON, from which the content is compared. Absent parts are left out, so a later version
    /// with more parts writes the same for the visits of today.
    pub(crate) fn canonical(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }
}

/// What became of a visit that was handed to the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receipt {
    /// It is stored.
    Stored,
    /// It was stored before, with the same content.
    Known,
    /// It is not stored, and sending it again changes nothing.
    Refused(Refusal),
}

/// Why a visit is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Another visit has its identity.
    #[error(
        "another visit has the identity {0}; the stored one stays. Two agents may share one disk \
         image, or one is forged: give each its own key"
    )]
    Conflict(VisitId),
    /// A number that no database column holds.
    #[error("{what} is {value}, more than {bound}; check the agent that sent it")]
    Large {
        /// Which number.
        what: String,
        /// What it is.
        value: u64,
        /// The largest that is stored.
        bound: u64,
    },
    /// It is dated after the clock of the collector.
    #[error(
        "the visit is dated {} s after the collector's clock, which allows {}; set the clock of \
         the agent",
        ahead.as_secs_f64(), bound.as_secs_f64()
    )]
    Future {
        /// How far ahead it is.
        ahead: Span,
        /// How far it may be.
        bound: Span,
    },
    /// It is dated longer before the clock of the collector than any disk keeps visits.
    #[error(
        "the visit is dated {:.0} days before the collector's clock, which allows {:.0}; set the \
         clock of the agent",
        behind.as_secs_f64() / 86_400.0, bound.as_secs_f64() / 86_400.0
    )]
    Past {
        /// How far behind it is.
        behind: Span,
        /// How far it may be.
        bound: Span,
    },
    /// No plan can have its path or its task.
    #[error(
        "no plan has `{task}` from {pair}: names have letters, digits and `. : _ -`, and a path \
         two hosts; check the agent that sent it"
    )]
    Unnamed {
        /// The pair.
        pair: Pair,
        /// The task.
        task: Name,
    },
    /// Its series is not in the collector's plan, and its host has begun enough of those.
    #[error(
        "the collector's plan has no `{task}` from {pair}, and {bound} of that kind have come from \
         this host; give the collector the plan of its agents, and start it again"
    )]
    Unplanned {
        /// The pair.
        pair: Pair,
        /// The task.
        task: Name,
        /// How many a host may begin.
        bound: u64,
    },
    /// It begins at a host that the agent is not.
    #[error("the visit begins at {from}, and the token is that of {token}; give it its own token")]
    Foreign {
        /// Where it says that it begins.
        from: Name,
        /// The name of the token that the agent showed.
        token: String,
    },
    /// It cannot be read: another version wrote it, or it is outside of the bounds of its numbers.
    #[error("the visit cannot be read: {0}; use the same version of trunkline at both ends")]
    Unreadable(String),
    /// It cannot be written as JSON.
    #[error("the visit {0} cannot be written as JSON; check the agent that sent it")]
    Unwritable(VisitId),
}
