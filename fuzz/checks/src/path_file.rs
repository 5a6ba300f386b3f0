//! Any bytes as a path file: refused with a hint, or a path whose links carry packets.

use errors::Hint;
use link::{Element, Link, Packet};
use netpath::{Class, LinkSpec, PathSpec, Way};
use units::{Bytes, Span, Time};

struct Full {
    size: Bytes,
    class: Class,
}

impl Packet for Full {
    fn size(&self) -> Bytes {
        self.size
    }

    fn ecn_capable(&self) -> bool {
        self.class == Class::BestEffort
    }

    fn class(&self) -> Class {
        self.class
    }
}

/// The check of this target.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match PathSpec::from_toml("fuzz", text) {
        Ok(path) => {
            assert!(!path.to_string().is_empty());
            for spec in Way::BOTH.into_iter().flat_map(|way| path.links(way)) {
                carry(spec, path.hosts.mtu);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty() && error.hint().is_some()),
    }
}

/// Four full packets of each class at once, and then the link runs dry.
fn carry(spec: &LinkSpec, mtu: u16) {
    let mut link = Link::new(spec, 1);
    for class in Class::ALL.into_iter().cycle().take(12) {
        let size = Bytes::new(u64::from(mtu));
        let _ = link.offer(Full { size, class }, Time::ZERO);
    }
    let mut now = Time::ZERO;
    while let Some(wakeup) = link.next_wakeup() {
        assert!(wakeup >= now, "{wakeup:?} is before {now:?}");
        now = wakeup;
        while link.poll(now).is_some() {}
    }
    // Twelve packets of 64 kB at 300 bit/s, and the longest delay.
    assert!(now.since(Time::ZERO) < Span::from_secs(30_000));
    assert!(link.counters().are_conserved());
    assert_eq!(link.counters().in_flight.packets, 0);
}
