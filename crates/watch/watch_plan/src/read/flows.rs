//! The flow records of a plan.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;

use units::Span;

use crate::flows::{Flows, PortRange, Prefix};
use crate::names::ApplicationName;
use crate::section::{Field, Findings, Place, Section, parse};

/// As many prefixes, routers, applications, or ranges of ports of one, as a plan may have.
const ENTRIES_MAX: usize = 64;
const INTERVALS: RangeInclusive<Span> = Span::from_secs(10)..=Span::from_secs(3600);
/// The time over which bytes are summed up, where a plan gives none.
const INTERVAL: Span = Span::from_secs(60);
/// No router samples less.
const SAMPLING_MAX: f64 = 1e6;

pub(super) fn flows(root: &Section, found: &mut Findings) -> Option<Flows> {
    let section = root.section("flows", found)?;
    let keys = [
        "listen",
        "inside",
        "interval",
        "routers",
        "sampling",
        "applications",
    ];
    section.only(&keys, found);
    let listen = section.text("listen", found);
    let hint = "write where routers send to: `192.0.2.1:2055`, `[::]:2055`";
    let listen = section.required("listen", listen, hint, found);
    let listen = listen.and_then(|text| address(&text, found));
    let inside = list::<Prefix>(&section, "inside", found);
    let hint = "write the prefixes of your site: `[\"192.0.2.0/24\", \"2001:db8::/32\"]`";
    let inside = section.required("inside", inside, hint, found);
    let interval = interval(&section, found);
    let routers = routers(&section, found);
    let sampling = sampling(&section, found);
    let applications = applications(&section, found);
    Some(Flows {
        listen: listen?,
        inside: inside?,
        interval,
        routers,
        sampling,
        applications,
    })
}

fn address(text: &Field<&str>, found: &mut Findings) -> Option<SocketAddr> {
    let address = text.value.parse().ok();
    if address.is_none() {
        let shown: String = text.value.chars().take(60).collect();
        let problem = format!("`{shown}` is no address with a port");
        let hint = "write it like `192.0.2.1:2055`, or `[::]:2055` for all addresses";
        found.refuse(&text.place, problem, hint);
    }
    address
}

/// Values that are written as texts, one at least.
fn list<T: FromStr>(section: &Section, key: &str, found: &mut Findings) -> Option<Vec<T>>
where
    T::Err: std::fmt::Display,
{
    let texts = section.texts(key, found)?;
    bounded(texts.len(), &section.at(key), found)?;
    let values = texts
        .iter()
        .filter_map(|text| parse(text.value, &text.place, found));
    Some(values.collect())
}

fn bounded(count: usize, place: &Place, found: &mut Findings) -> Option<()> {
    if (1..=ENTRIES_MAX).contains(&count) {
        return Some(());
    }
    let problem = format!("{count} entries are not between 1 and {ENTRIES_MAX}");
    found.refuse(place, problem, "join some, or leave the key out");
    None
}

fn interval(section: &Section, found: &mut Findings) -> Span {
    let Some(interval) = section.whole_seconds("interval", INTERVALS, found) else {
        return INTERVAL;
    };
    if !Span::from_secs(3600)
        .as_nanos()
        .is_multiple_of(interval.value.as_nanos())
    {
        let problem = format!("{} is no whole part of an hour", interval.value);
        found.refuse(&interval.place, problem, "write 10s, 30s, 60s or 300s");
    }
    interval.value
}

fn routers(section: &Section, found: &mut Findings) -> Vec<IpAddr> {
    let Some(texts) = section.texts("routers", found) else {
        return Vec::new();
    };
    if bounded(texts.len(), &section.at("routers"), found).is_none() {
        return Vec::new();
    }
    let mut routers = Vec::new();
    for text in texts {
        match text.value.parse::<IpAddr>() {
            Ok(router) => routers.push(router.to_canonical()),
            Err(_) => {
                let shown: String = text.value.chars().take(60).collect();
                let problem = format!("`{shown}` is no address of a router");
                let hint = "write the address that its datagrams come from: `192.0.2.254`";
                found.refuse(&text.place, problem, hint);
            }
        }
    }
    routers
}

fn sampling(section: &Section, found: &mut Findings) -> u32 {
    let Some(sampling) = section.number("sampling", found) else {
        return 1;
    };
    if !(1.0..=SAMPLING_MAX).contains(&sampling) || sampling.fract() != 0.0 {
        let problem = format!("`sampling` is {sampling}, no whole number of 1 to {SAMPLING_MAX}");
        let hint = "write 1000 where the router samples one packet of 1000";
        found.refuse(&section.at("sampling"), problem, hint);
        return 1;
    }
    sampling as u32
}

fn applications(section: &Section, found: &mut Findings) -> Vec<(ApplicationName, Vec<PortRange>)> {
    let Some(own) = section.section("applications", found) else {
        return Vec::new();
    };
    own.once(found);
    let names = own.others(&[]);
    if bounded(names.len(), &own.place, found).is_none() {
        return Vec::new();
    }
    let mut applications = Vec::new();
    for (name, place) in names {
        let ports = list::<PortRange>(&own, name, found);
        let name = parse::<ApplicationName>(name, &place, found);
        applications.extend(name.zip(ports));
    }
    applications
}
