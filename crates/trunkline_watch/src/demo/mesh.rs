//! The paths between the laboratories of the demonstration, at any time of the month.

use changes::{FarHost, Route, UnixTime};
use netpath::{Class, Cross, CrossTraffic, Hosts, Loss, PathSpec, QueueLimit, QueueSpec};
use observe::HostLimits;
use units::{Bytes, Rate, Span};

use super::troubles::{Effect, Trouble};

/// Round trips of the idle paths in milliseconds, roughly those of the published tables of 2000 to
/// 2005; the same both ways.
const ROUND_TRIPS: [(&str, &str, u64); 15] = [
    ("slac", "caltech", 9),
    ("slac", "cern", 165),
    ("slac", "in2p3", 166),
    ("slac", "ral", 152),
    ("slac", "kek", 118),
    ("caltech", "cern", 170),
    ("caltech", "in2p3", 171),
    ("caltech", "ral", 158),
    ("caltech", "kek", 112),
    ("cern", "in2p3", 8),
    ("cern", "ral", 24),
    ("cern", "kek", 280),
    ("in2p3", "ral", 21),
    ("in2p3", "kek", 284),
    ("ral", "kek", 262),
];

/// Rates of the laboratories' links in Mbit/s, as the plan has them.
const LINKS: [(&str, u64); 6] = [
    ("slac", 45),
    ("caltech", 45),
    ("cern", 34),
    ("in2p3", 34),
    ("ral", 25),
    ("kek", 20),
];

/// Others' share of a link in the quietest and in the busiest hour.
const QUIET: f64 = 0.03;
const BUSY: f64 = 0.22;

/// A path at a moment, with what its hosts say of themselves.
pub(super) struct Moment {
    pub path: PathSpec,
    pub route: Route,
    pub far_host: FarHost,
    /// The share of this host's processor that others have.
    pub stolen: f64,
    /// Whether the far host is down.
    pub is_down: bool,
}

/// The path from one laboratory to another at `at`, with the troubles of that time.
pub(super) fn moment(
    base: &PathSpec,
    (from, to): (&str, &str),
    at: UnixTime,
    troubles: &[&Trouble],
) -> Moment {
    let mut moment = Moment {
        path: quiet(base, from, to),
        route: route(from, to, 0),
        far_host: far_host("6.1.0", Hosts::default().receive_buffer_max),
        stolen: 0.0,
        is_down: false,
    };
    for trouble in troubles {
        apply(trouble.effect, &mut moment, (from, to));
    }
    let load = moment.path.forward.rate.as_f64() * share_of_others(at, to);
    moment.path.cross.push(others(load));
    moment
}

/// The idle path.
fn quiet(base: &PathSpec, from: &str, to: &str) -> PathSpec {
    let mut path = base.clone();
    let rate = Rate::from_bits_per_second(link(from).min(link(to)) * 950_000);
    let one_way = Span::from_micros(round_trip(from, to) * 500);
    let queue = Bytes::new((rate.as_f64() * 0.04 / 8.0) as u64);
    for link in [&mut path.forward, &mut path.reverse] {
        link.rate = rate;
        link.delay = one_way;
        link.queue = QueueSpec::DropTail(QueueLimit::Bytes(queue));
        link.loss = Loss::None;
    }
    path.hosts = Hosts::default();
    path
}

fn apply(effect: Effect, moment: &mut Moment, (from, to): (&str, &str)) {
    let forward = &mut moment.path.forward;
    match effect {
        Effect::RateCut(share) => {
            forward.rate = Rate::from_f64(forward.rate.as_f64() * (1.0 - share))
        }
        Effect::Detour(span) => {
            forward.delay += span;
            moment.route = route(from, to, 1);
        }
        Effect::Loss(rate) => forward.loss = Loss::Random { rate },
        Effect::SmallBuffers(kernel, bytes) => {
            moment.path.hosts.receive_buffer_max = bytes;
            moment.far_host = far_host(kernel, bytes);
        }
        Effect::Stolen(share) => moment.stolen = share,
        Effect::Down => moment.is_down = true,
    }
}

fn link(name: &str) -> u64 {
    LINKS
        .iter()
        .find(|(known, _)| *known == name)
        .map_or(10, |(_, rate)| *rate)
}

fn round_trip(one: &str, other: &str) -> u64 {
    let found = ROUND_TRIPS
        .iter()
        .find(|(a, b, _)| [(*a, *b), (*b, *a)].contains(&(one, other)));
    found.map_or(50, |(_, _, milliseconds)| *milliseconds)
}

/// Of the working day at the far end: most in the afternoon, less at weekends.
fn share_of_others(at: UnixTime, to: &str) -> f64 {
    let offset = match to {
        "slac" | "caltech" => -8.0,
        "kek" => 9.0,
        _ => 1.0,
    };
    let hour = (at.hour() + offset).rem_euclid(24.0);
    let day = (1.0 + ((hour - 15.0) / 24.0 * std::f64::consts::TAU).cos()) / 2.0;
    let work = if at.is_weekend() { 0.4 } else { 1.0 };
    QUIET + (BUSY - QUIET) * day * day * work
}

/// Eight sources of datagrams that send half of the time, `rate` bits per second on average.
fn others(rate: f64) -> Cross {
    Cross {
        traffic: CrossTraffic::OnOff {
            sources: 8,
            rate: Rate::from_f64(rate / 4.0),
            on: Span::from_millis(200),
            off: Span::from_millis(200),
        },
        congestion: None,
        class: Class::BestEffort,
        extra_delay: Span::ZERO,
    }
}

/// Two hops of each laboratory and one in between, other ones for a detour. The addresses are for
/// documentation (RFC 5737).
fn route(from: &str, to: &str, detour: u8) -> Route {
    let number = |name: &str| {
        LINKS
            .iter()
            .position(|(known, _)| *known == name)
            .unwrap_or(9)
    };
    let (from, to) = (number(from), number(to));
    let hops = vec![
        format!("192.0.2.{}", 10 * from + 1),
        format!("198.51.100.{}", 100 * usize::from(detour) + 10 * from + to),
        format!("192.0.2.{}", 10 * to + 2),
    ];
    let hash = blake3::hash(hops.join(" ").as_bytes());
    let first = hash.as_bytes().first_chunk().copied().unwrap_or_default();
    Route {
        hash: u64::from_be_bytes(first),
        hops,
    }
}

fn far_host(kernel: &str, receive: Bytes) -> FarHost {
    let fixed = Bytes::from_kib(208);
    FarHost {
        kernel: Some(kernel.to_owned()),
        limits: Some(HostLimits {
            send_fixed_max: fixed,
            receive_fixed_max: fixed,
            send_auto_max: Hosts::default().send_buffer_max,
            receive_auto_max: receive,
        }),
    }
}
