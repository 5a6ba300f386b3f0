//! Routes that were taken, and those that are new.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{Route, Visit};

/// Routes that are remembered; of more the one that was not taken for longest is forgotten.
const ROUTES_MAX: usize = 32;
/// Another route is an event where so many visits before showed the route ...
const ROUTED_MIN: u64 = 12;
/// ... and so many in a row show another one. As many in a row end it.
const IN_A_ROW: usize = 3;
/// A route is a usual one that so many visits took.
const USUAL_MIN: u32 = 2;

/// What is known of a path's routes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Routes {
    known: Vec<Taken>,
    routed: u64,
    /// The latest visits with a route: their number, and whether it is a usual one.
    latest: VecDeque<(u64, bool)>,
    /// Routes of the latest visits that are not usual: noted once a usual one follows.
    odd: Vec<Route>,
    /// The event of the route of now.
    pub event: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Taken {
    route: Route,
    times: u32,
    last: u64,
}

/// What a visit means for the route.
pub(crate) enum RouteTurn {
    Nothing,
    /// Packets take another route since the visit of this number.
    Begins(u64),
    /// They take a usual one again since the visit of this number.
    Ends {
        event: u64,
        visit: u64,
    },
}

impl Routes {
    pub fn push(&mut self, visit: &Visit, number: u64) -> RouteTurn {
        let Some(route) = visit.route.as_ref() else {
            return RouteTurn::Nothing;
        };
        let usual = self.is_usual(route);
        self.latest.push_back((number, usual));
        if self.latest.len() > IN_A_ROW {
            self.latest.pop_front();
        }
        self.routed += 1;
        let all = |usual: bool| {
            self.latest.len() == IN_A_ROW && self.latest.iter().all(|one| one.1 == usual)
        };
        let first = self.latest.front().map_or(number, |one| one.0);
        let turn = match self.event {
            Some(event) if all(true) => {
                self.event = None;
                RouteTurn::Ends {
                    event,
                    visit: first,
                }
            }
            None if all(false) && self.routed > ROUTED_MIN => RouteTurn::Begins(first),
            _ => RouteTurn::Nothing,
        };
        self.learn(route, number, usual);
        if !matches!(turn, RouteTurn::Nothing) {
            self.odd.clear();
        }
        turn
    }

    /// What an event is about, or may become one, is not usual yet.
    fn learn(&mut self, route: &Route, number: u64, usual: bool) {
        if usual || self.routed <= ROUTED_MIN {
            for odd in std::mem::take(&mut self.odd) {
                self.note(&odd, number);
            }
            self.note(route, number);
        } else if self.event.is_none() {
            self.odd.push(route.clone());
        }
    }

    /// The route of now is the usual one, whatever was before.
    pub fn adopt(&mut self, route: &Route, number: u64) {
        self.event = None;
        for _ in 0..USUAL_MIN {
            self.note(route, number);
        }
    }

    fn is_usual(&self, route: &Route) -> bool {
        let known = self.known.iter();
        let mut known = known.filter(|one| one.times >= USUAL_MIN);
        known.any(|one| one.route.may_be(route))
    }

    fn note(&mut self, route: &Route, number: u64) {
        let known = self.known.iter_mut();
        let mut known = known.filter(|one| one.route.may_be(route));
        if let Some(known) = known.next() {
            known.times = known.times.saturating_add(1);
            known.last = number;
            return;
        }
        self.known.push(Taken {
            route: route.clone(),
            times: 1,
            last: number,
        });
        if self.known.len() > ROUTES_MAX {
            let oldest = (0..self.known.len()).min_by_key(|index| self.known[*index].last);
            if let Some(oldest) = oldest {
                self.known.remove(oldest);
            }
        }
    }
}
