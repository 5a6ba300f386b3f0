//! The links of a path, in a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span, Way};

use super::{LinkSpec, Loss, PathSpec, QueueSpec};

/// Both directions between two neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Duplex {
    /// The way of the data.
    pub forward: LinkSpec,
    /// The way back.
    pub reverse: LinkSpec,
}

impl Duplex {
    fn exchanged(&self) -> Self {
        Duplex {
            forward: self.reverse.clone(),
            reverse: self.forward.clone(),
        }
    }
}

/// Something that a path has and that one link without company has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extra {
    /// The field of the path file.
    pub field: &'static str,
    /// What it says.
    pub value: String,
}

impl LinkSpec {
    /// What others' load leaves of the rate.
    ///
    /// ```
    /// let text = r#"
    ///     [forward]
    ///     rate = "100Mbit/s"
    ///     delay = "10ms"
    ///     queue = { kind = "drop-tail", limit = "125kB" }
    ///     load = { rate = "30Mbit/s" }
    /// "#;
    /// let path = netpath::PathSpec::from_toml("example", text).unwrap();
    /// assert_eq!(path.forward.available().to_string(), "70Mbit/s");
    /// ```
    pub fn available(&self) -> Rate {
        let load = self.load.as_ref().map_or(Rate::ZERO, |load| load.rate);
        let (rate, load) = (self.rate.bits_per_second(), load.bits_per_second());
        Rate::from_bits_per_second(rate.saturating_sub(load))
    }
}

impl PathSpec {
    /// How many links there are in a row.
    pub fn hops(&self) -> usize {
        self.before.len() + 1 + self.beyond.len()
    }

    /// The size of others' datagrams in [`cross`](PathSpec::cross): the largest that fits their
    /// link.
    pub fn cross_datagram(&self) -> Bytes {
        Bytes::new(self.forward.mtu.unwrap_or(self.hosts.mtu).into())
    }

    /// Where the main link stands among [`links`](PathSpec::links) of this way, from 0.
    pub fn main_link(&self, way: Way) -> usize {
        match way {
            Way::Forward => self.before.len(),
            Way::Reverse => self.beyond.len(),
        }
    }

    /// The largest packet that passes all links of both ways.
    pub fn mtu(&self) -> u16 {
        let links = Way::BOTH.into_iter().flat_map(|way| self.links(way));
        let least = links.filter_map(|link| link.mtu).min();
        least.unwrap_or(self.hosts.mtu).min(self.hosts.mtu)
    }

    /// The same path seen from its other end, with the same cross traffic, which then goes the
    /// other way.
    ///
    /// ```
    /// use netpath::{PathSpec, Way};
    /// let path = PathSpec::load("three-links").unwrap();
    /// let back = path.exchanged();
    /// assert_eq!(back.links(Way::Forward), path.links(Way::Reverse));
    /// assert_eq!(back.main_link(Way::Forward), path.main_link(Way::Reverse));
    /// assert_eq!(back.exchanged(), path);
    /// ```
    pub fn exchanged(&self) -> Self {
        let turned = |links: &[Duplex]| links.iter().rev().map(Duplex::exchanged).collect();
        PathSpec {
            forward: self.reverse.clone(),
            reverse: self.forward.clone(),
            before: turned(&self.beyond),
            beyond: turned(&self.before),
            hosts: self.hosts.exchanged(),
            ..self.clone()
        }
    }

    /// The links of one way, in the order in which its packets pass them.
    ///
    /// ```
    /// use netpath::{PathSpec, Way};
    /// let path = PathSpec::load("slac-cern").unwrap();
    /// assert_eq!(path.links(Way::Reverse), [&path.reverse]);
    /// ```
    pub fn links(&self, way: Way) -> Vec<&LinkSpec> {
        let forward = |duplex| -> &LinkSpec {
            let duplex: &Duplex = duplex;
            &duplex.forward
        };
        let reverse = |duplex| -> &LinkSpec {
            let duplex: &Duplex = duplex;
            &duplex.reverse
        };
        let (before, beyond) = (self.before.iter(), self.beyond.iter());
        match way {
            Way::Forward => before
                .map(forward)
                .chain([&self.forward])
                .chain(beyond.map(forward))
                .collect(),
            Way::Reverse => beyond
                .rev()
                .map(reverse)
                .chain([&self.reverse])
                .chain(before.rev().map(reverse))
                .collect(),
        }
    }

    /// The link of one way with the lowest rate, the first of several: the way's capacity is its
    /// rate.
    pub fn narrowest(&self, way: Way) -> &LinkSpec {
        let links = self.links(way);
        let narrowest = links.into_iter().min_by_key(|link| link.rate);
        narrowest.unwrap_or(match way {
            Way::Forward => &self.forward,
            Way::Reverse => &self.reverse,
        })
    }

    /// What others' loads leave of one way: the lowest rate less load of its links. Streams in
    /// `[[cross]]` give way and are not counted.
    pub fn available(&self, way: Way) -> Rate {
        let links = self.links(way).into_iter();
        let least = links.map(LinkSpec::available).min();
        least.unwrap_or(Rate::ZERO)
    }

    /// Propagation delay of one way.
    pub fn delay(&self, way: Way) -> Span {
        let delays = self.links(way).into_iter().map(|link| link.delay);
        delays.fold(Span::ZERO, |sum, delay| sum + delay)
    }

    /// The share of packets that the wires of one way lose in the long run.
    pub fn loss_rate(&self, way: Way) -> f64 {
        let mut links = self.links(way).into_iter();
        match (links.next(), links.next()) {
            // Not 1 - (1 - p), which is not p to the last bit.
            (Some(only), None) => only.loss.mean_rate(),
            _ => {
                let kept = |link: &LinkSpec| 1.0 - link.loss.mean_rate();
                1.0 - self.links(way).into_iter().map(kept).product::<f64>()
            }
        }
    }

    /// The first thing that makes this more than one link in each direction that carries no load
    /// and that keeps what it carries as it is; `None` when there is none. Who can run only such
    /// paths asks here.
    ///
    /// ```
    /// use netpath::PathSpec;
    /// assert_eq!(PathSpec::load("slac-cern").unwrap().extra(), None);
    /// ```
    pub fn extra(&self) -> Option<Extra> {
        let several = |field, links: &[Duplex]| {
            let value = format!("{} of {} links", links.len(), self.hops());
            (!links.is_empty()).then_some(Extra { field, value })
        };
        several("before", &self.before)
            .or_else(|| several("beyond", &self.beyond))
            .or_else(|| of_link(FORWARD, &self.forward))
            .or_else(|| of_link(REVERSE, &self.reverse))
    }

    /// The first thing that no formula for the long run knows: a cut, a policer, packets that are
    /// overtaken, a queue that drops by class.
    pub fn beyond_formulas(&self) -> Option<Extra> {
        let forward = self.links(Way::Forward).into_iter();
        let reverse = self.links(Way::Reverse).into_iter();
        let mut found = forward.filter_map(|link| unknown_to_formulas(FORMULAS_FORWARD, link));
        let mut back = reverse.filter_map(|link| unknown_to_formulas(FORMULAS_REVERSE, link));
        found.next().or_else(|| back.next())
    }

    pub(super) fn has_loss(&self, way: Way) -> bool {
        self.links(way).iter().any(|link| link.loss != Loss::None)
    }
}

/// Fields of a link that [`PathSpec::extra`] tells of.
const FORWARD: [&str; 3] = ["forward.load", "forward.mtu", "forward.corruption"];
const REVERSE: [&str; 3] = ["reverse.load", "reverse.mtu", "reverse.corruption"];

fn of_link(fields: [&'static str; 3], link: &LinkSpec) -> Option<Extra> {
    let values = [
        link.load.as_ref().map(|load| load.rate.to_string()),
        link.mtu.map(|mtu| mtu.to_string()),
        (link.corruption > 0.0).then(|| link.corruption.to_string()),
    ];
    first(fields, values)
}

/// Fields of a link that [`PathSpec::beyond_formulas`] tells of.
const FORMULAS_FORWARD: [&str; 4] = [
    "forward.cut",
    "forward.policer",
    "forward.reorder",
    "forward.queue",
];
const FORMULAS_REVERSE: [&str; 4] = [
    "reverse.cut",
    "reverse.policer",
    "reverse.reorder",
    "reverse.queue",
];

fn unknown_to_formulas(fields: [&'static str; 4], link: &LinkSpec) -> Option<Extra> {
    let values = [
        link.cuts.first().map(|cut| cut.length.to_string()),
        link.policer.map(|policer| policer.rate.to_string()),
        link.reorder.map(|reorder| reorder.rate.to_string()),
        matches!(link.queue, QueueSpec::Wred(_)).then(|| link.queue.to_string()),
    ];
    first(fields, values)
}

/// The first field that has a value.
fn first<const N: usize>(fields: [&'static str; N], values: [Option<String>; N]) -> Option<Extra> {
    let mut told = fields.into_iter().zip(values);
    told.find_map(|(field, value)| {
        Some(Extra {
            field,
            value: value?,
        })
    })
}
