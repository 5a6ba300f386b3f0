//! Who waits for a place, in the order in which they asked first.
//!
//! A near end that finds no place asks again every few seconds; its ticket keeps its turn
//! meanwhile. It is known by the name of its token and its address: copies of one user on one host
//! share a ticket, and the one that asks first when it is their turn takes the place.

use std::net::IpAddr;

use copy_protocol::KeyName;
use units::{Span, Time};

/// A ticket that was not shown for so long is void: three times the pause of a near end.
const VOID_AFTER: Span = Span::from_secs(15);
/// Tickets at once; those that come then have no turn until one is void.
const TICKETS_MAX: usize = 1024;

#[derive(Debug)]
struct Ticket {
    name: KeyName,
    address: IpAddr,
    shown: Time,
}

/// Those who wait.
#[derive(Debug, Default)]
pub(super) struct Queue(Vec<Ticket>);

impl Queue {
    /// How many wait before this one, of those that `may_come` next.
    pub fn ahead(
        &mut self,
        name: &KeyName,
        address: IpAddr,
        now: Time,
        may_come: impl Fn(&KeyName) -> bool,
    ) -> usize {
        self.0.retain(|ticket| now.since(ticket.shown) < VOID_AFTER);
        let own = self.position(name, address);
        let before = &self.0[..own.unwrap_or(self.0.len())];
        before
            .iter()
            .filter(|ticket| may_come(&ticket.name))
            .count()
    }

    /// This one waits, or goes on waiting. Returns whether its ticket is a new one.
    pub fn wait(&mut self, name: &KeyName, address: IpAddr, now: Time) -> bool {
        let own = self.position(name, address);
        let is_new = own.is_none() && self.0.len() < TICKETS_MAX;
        match own {
            Some(at) => self.0[at].shown = now,
            None if is_new => self.0.push(Ticket {
                name: name.clone(),
                address,
                shown: now,
            }),
            None => {}
        }
        is_new
    }

    /// This one waits no longer.
    pub fn leave(&mut self, name: &KeyName, address: IpAddr) {
        if let Some(at) = self.position(name, address) {
            self.0.remove(at);
        }
    }

    fn position(&self, name: &KeyName, address: IpAddr) -> Option<usize> {
        let is_own = |ticket: &Ticket| ticket.name == *name && ticket.address == address;
        self.0.iter().position(is_own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> KeyName {
        KeyName::new(text).unwrap()
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn turns_are_those_of_the_first_question() {
        let (ana, bob, any) = (name("ana"), name("bob"), |_: &KeyName| true);
        let mut queue = Queue::default();
        assert!(queue.wait(&ana, HERE, at(0)));
        assert!(queue.wait(&bob, HERE, at(1)));
        assert!(!queue.wait(&ana, HERE, at(2)));
        assert_eq!(queue.ahead(&ana, HERE, at(3), any), 0);
        assert_eq!(queue.ahead(&bob, HERE, at(3), any), 1);
        assert_eq!(queue.ahead(&name("cy"), HERE, at(3), any), 2);
        queue.leave(&ana, HERE);
        assert_eq!(queue.ahead(&bob, HERE, at(4), any), 0);
    }

    #[test]
    fn those_who_went_away_and_those_who_may_not_come_hold_up_no_other() {
        let (ana, bob) = (name("ana"), name("bob"));
        let mut queue = Queue::default();
        queue.wait(&ana, HERE, at(0));
        queue.wait(&bob, HERE, at(10));
        assert_eq!(queue.ahead(&bob, HERE, at(11), |name| *name == bob), 0);
        assert_eq!(queue.ahead(&bob, HERE, at(11), |_| true), 1);
        assert_eq!(queue.ahead(&bob, HERE, at(15), |_| true), 0);
    }

    #[test]
    fn tickets_are_bounded() {
        let mut queue = Queue::default();
        for number in 0..2 * TICKETS_MAX {
            queue.wait(&name(&format!("n{number}")), HERE, at(0));
        }
        assert_eq!(queue.0.len(), TICKETS_MAX);
    }
}
