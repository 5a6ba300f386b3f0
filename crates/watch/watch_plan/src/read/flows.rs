//! The flow records of a plan.

use std::net::SocketAddr;
use std::ops::RangeInclusive;

use units::Span;

use crate::flows::{Flows, Prefix};
use crate::section::{Field, Findings, Section, parse};

/// As many prefixes as a list of a plan may have.
const PREFIXES_MAX: usize = 64;
const INTERVALS: RangeInclusive<Span> = Span::from_secs(10)..=Span::from_secs(3600);
/// The time over which bytes are summed up, where a plan gives none.
const INTERVAL: Span = Span::from_secs(60);
/// No router samples less.
const SAMPLING_MAX: f64 = 1e6;

pub(super) fn flows(root: &Section, found: &mut Findings) -> Option<Flows> {
    let section = root.section("flows", found)?;
    let keys = ["listen", "inside", "interval", "routers", "sampling"];
    section.only(&keys, found);
    let listen = section.text("listen", found);
    let hint = "write where routers send to: `192.0.2.1:2055`, `[::]:2055`";
    let listen = section.required("listen", listen, hint, found);
    let listen = listen.and_then(|text| address(&text, found));
    let inside = prefixes(&section, "inside", found);
    let hint = "write the prefixes of your site: `[\"192.0.2.0/24\", \"2001:db8::/32\"]`";
    let inside = section.required("inside", inside, hint, found);
    let interval = interval(&section, found);
    let routers = prefixes(&section, "routers", found).unwrap_or_default();
    let sampling = sampling(&section, found);
    Some(Flows {
        listen: listen?,
        inside: inside?,
        interval,
        routers,
        sampling,
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

fn prefixes(section: &Section, key: &str, found: &mut Findings) -> Option<Vec<Prefix>> {
    let texts = section.texts(key, found)?;
    if !(1..=PREFIXES_MAX).contains(&texts.len()) {
        let problem = format!(
            "{} prefixes are not between 1 and {PREFIXES_MAX}",
            texts.len()
        );
        let hint = "join some to shorter prefixes, or leave the key out";
        found.refuse(&section.at(key), problem, hint);
    }
    let values = texts
        .iter()
        .filter_map(|text| parse(text.value, &text.place, found));
    Some(values.collect())
}

fn interval(section: &Section, found: &mut Findings) -> Span {
    let Some(interval) = section.whole_seconds("interval", INTERVALS, found) else {
        return INTERVAL;
    };
    let hour = Span::from_secs(3600).as_nanos();
    if !hour.is_multiple_of(interval.value.as_nanos()) {
        let problem = format!("{} is no whole part of an hour", interval.value);
        found.refuse(&interval.place, problem, "write 10s, 30s, 60s or 300s");
    }
    interval.value
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
