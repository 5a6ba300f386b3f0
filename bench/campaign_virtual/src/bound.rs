//! The least time of a campaign, whatever the rule: each link and each host carries its bytes at
//! its full rate while it is there.

use units::Time;

use crate::failure::{Failures, Part, Schedule, together};
use crate::world::World;

/// The latest end of all links and hosts.
pub fn least_time(world: &World, failures: &Failures, seed: u64) -> Time {
    let schedule = |part| Schedule::new(failures, part, seed);
    let links = world.links.iter().enumerate().map(|(at, link)| {
        let [from, to] = link.through;
        let parts = [Part::Link(at), Part::Host(from), Part::Host(to)];
        let seconds = link.bytes() * 8.0 / link.most();
        together(parts.map(schedule).to_vec(), seconds)
    });
    let hosts = world.hosts.iter().enumerate().map(|(at, host)| {
        let its = world.links.iter().filter(|link| link.through.contains(&at));
        let bytes: f64 = its.map(|link| link.bytes()).sum();
        together(vec![schedule(Part::Host(at))], bytes * 8.0 / host.rate)
    });
    links.chain(hosts).max().unwrap_or(Time::ZERO)
}
