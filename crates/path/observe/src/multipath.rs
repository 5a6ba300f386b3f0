//! What connections of multipath TCP (RFC 8684) went over.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

/// What became of connections that were asked to be of multipath TCP.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Multipath {
    /// Connections that carried data.
    pub connections: u32,
    /// Those of them that are plain TCP: the far end has no multipath TCP, or something on the way
    /// removes it.
    pub plain_connections: u32,
    /// What the others went over, by addresses.
    pub subflows: Vec<Subflow>,
}

/// Subflows between two addresses, of all connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subflow {
    /// This end.
    #[schemars(with = "String")]
    pub local: IpAddr,
    /// The far end.
    #[schemars(with = "String")]
    pub far: IpAddr,
    /// How many there were, one after another or at once.
    pub count: u32,
    /// What they carried, both ways together.
    pub carried_bytes: u64,
}

/// One connection, as far as its subflows were seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MultipathConnection {
    /// It is plain TCP.
    pub is_plain: bool,
    /// What each subflow has carried, both ways together; by the addresses of this end and the far
    /// one.
    pub subflows: BTreeMap<(SocketAddr, SocketAddr), Bytes>,
}

impl MultipathConnection {
    /// Takes in a later look at it. Subflows that are gone stay with what they had carried.
    pub fn see(&mut self, now: Self) {
        self.is_plain |= now.is_plain;
        for (ends, carried) in now.subflows {
            let known = self.subflows.entry(ends).or_default();
            *known = carried.max(*known);
        }
    }
}

impl Multipath {
    /// Adds a connection.
    pub fn add(&mut self, connection: &MultipathConnection) {
        self.connections += 1;
        self.plain_connections += u32::from(connection.is_plain);
        for ((local, far), carried) in &connection.subflows {
            let (local, far) = (local.ip(), far.ip());
            let is_same = |one: &&mut Subflow| (one.local, one.far) == (local, far);
            match self.subflows.iter_mut().find(is_same) {
                Some(known) => {
                    known.count += 1;
                    known.carried_bytes = known.carried_bytes.saturating_add(carried.get());
                }
                None => self.subflows.push(Subflow {
                    local,
                    far,
                    count: 1,
                    carried_bytes: carried.get(),
                }),
            }
        }
    }

    /// What is to be said where connections are plain TCP; `None` where none is.
    ///
    /// ```
    /// let plain = observe::Multipath { connections: 1, plain_connections: 1, subflows: vec![] };
    /// assert!(plain.plain_words().unwrap().ends_with(": plain TCP"));
    /// assert_eq!(observe::Multipath::default().plain_words(), None);
    /// ```
    pub fn plain_words(&self) -> Option<String> {
        const WHY: &str = "the far end has no multipath TCP, or something on the way removes it";
        match self.plain_connections {
            0 => None,
            all if all == self.connections => Some(format!("{WHY}: plain TCP")),
            some => Some(format!(
                "{WHY} from {some} of {} connections: those are plain TCP",
                self.connections
            )),
        }
    }
}

impl<'a> FromIterator<&'a MultipathConnection> for Multipath {
    fn from_iter<I: IntoIterator<Item = &'a MultipathConnection>>(connections: I) -> Self {
        let mut all = Multipath::default();
        connections.into_iter().for_each(|one| all.add(one));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(subflows: &[(u8, u16, u64)]) -> MultipathConnection {
        let subflow = |(link, port, carried): &(u8, u16, u64)| {
            let end = |last| SocketAddr::from(([10, 0, *link, last], *port));
            ((end(1), end(2)), Bytes::new(*carried))
        };
        MultipathConnection {
            is_plain: subflows.is_empty(),
            subflows: subflows.iter().map(subflow).collect(),
        }
    }

    #[test]
    fn a_subflow_that_is_gone_keeps_what_it_carried() {
        let mut connection = seen(&[(1, 7, 100), (2, 8, 5)]);
        connection.see(seen(&[(2, 8, 50)]));
        // The first link is back, with another port.
        connection.see(seen(&[(2, 8, 60), (1, 9, 1)]));
        let all: Multipath = [&connection, &seen(&[(1, 10, 4)]), &seen(&[])]
            .into_iter()
            .collect();
        let told = |one: &Subflow| (one.local.to_string(), one.count, one.carried_bytes);
        let told: Vec<_> = all.subflows.iter().map(told).collect();
        let expected = [
            ("10.0.1.1".to_owned(), 3, 105),
            ("10.0.2.1".to_owned(), 1, 60),
        ];
        assert_eq!(told, expected);
        assert!(all.plain_words().unwrap().contains("1 of 3 connections"));
    }
}
