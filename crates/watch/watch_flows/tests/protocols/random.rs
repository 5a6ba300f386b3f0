//! Forged datagrams: no panic, and no more memory than the bounds allow.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};

use changes::UnixTime;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::encode::{
    IPFIX_FIELDS, V9_FIELDS, bytes, flow_sample, ipfix, raw_header, record, set, sflow, template,
    v5, v9,
};
use crate::{IN, NOW, OUT, counter};

const SEED: u64 = 40;
const RUNS: u64 = 10_000;
const FLOODS: u64 = 4000;
/// What bounds of the crate's page come to, with room.
const MEMORY_MAX: u64 = 200 << 20;

fn valid() -> Vec<Vec<u8>> {
    let raw = raw_header(1, 1500, &[8; 60]);
    let options = bytes(&[(257, 2), (4, 2), (4, 2), (1, 2), (4, 2), (34, 2), (4, 2)]);
    vec![
        v5(1, 10, &[IN, OUT]),
        v9(1, 1, 3, &[template(0, 256, &V9_FIELDS), set(1, &options)]),
        v9(2, 1, 2, &[set(256, &record(&IN, 4)), set(257, &[1; 8])]),
        ipfix(
            1,
            1,
            &[template(2, 256, &IPFIX_FIELDS), set(256, &record(&IN, 8))],
        ),
        ipfix(2, 1, &[set(256, &record(&OUT, 8)), set(300, &[7; 60])]),
        sflow(1, &[(1, flow_sample(false, 10, &[(1, raw.clone())]))]),
        sflow(2, &[(3, flow_sample(true, 10, &[(1, raw)]))]),
    ]
}

/// Pages of this process in memory, in bytes.
fn memory() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let resident: u64 = pages.split(' ').nth(1).unwrap().parse().unwrap();
    resident * 4096
}

#[test]
fn random_datagrams_never_panic() {
    println!("seed {SEED}");
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let mut below = move |bound: usize| (random.next_u64() % bound.max(1) as u64) as usize;
    let valid = valid();
    let mut counter = counter("");
    for run in 0..RUNS {
        let mut datagram: Vec<u8> = match run % 4 {
            0 => (0..below(1500)).map(|_| below(256) as u8).collect(),
            // Random behind a right version.
            1 => {
                let heads: [&[u8]; 4] = [&[0, 5], &[0, 9], &[0, 10], &[0, 0, 0, 5]];
                let head = heads[below(4)];
                let rest: Vec<u8> = (0..below(200)).map(|_| below(256) as u8).collect();
                [head, &rest[..]].concat()
            }
            _ => valid[below(valid.len())].clone(),
        };
        if run % 4 > 1 {
            for _ in 0..below(6) {
                let place = below(datagram.len());
                datagram[place] = below(256) as u8;
            }
            datagram.truncate(1 + below(datagram.len() * 3));
        }
        let from = IpAddr::V4(Ipv4Addr::from(below(3) as u32));
        let now = UnixTime::from_seconds(NOW.seconds() + run);
        counter.take(from, &datagram, now);
        if run % 100 == 0 {
            counter.stored(now);
        }
    }
    // Those that are right are read as before, when silent streams have made room.
    let later = UnixTime::from_seconds(NOW.seconds() + 2 * RUNS);
    counter.stored(later);
    counter.take(IpAddr::from([9, 9, 9, 9]), &v5(1, 10, &[IN]), later);
    let (traffic, _) = counter.sums();
    let sum: u64 = traffic.iter().map(|one| one.volume.bytes).sum();
    assert_eq!(sum, 10 * IN.bytes);
}

/// Routers, streams, templates and sets without one, all of them new each time.
#[test]
fn floods_stay_within_bounds() {
    let mut counter = counter("");
    let before = memory();
    let fields: Vec<(u64, u64)> = (0..250).map(|field| (field + 1, 4)).collect();
    for run in 0..FLOODS {
        let router = |number: u64| IpAddr::V4(Ipv4Addr::from(number as u32));
        let id = 256 + run % 60_000;
        let sets = [template(0, id, &fields)];
        counter.take(router(run % 20), &v9(run, 0, 1, &sets), NOW);
        counter.take(router(1000 + run), &v9(run, run, 1, &sets), NOW);
        let sets = [template(2, id, &fields), set(id ^ 1, &[1; 1200])];
        counter.take(router(run % 20), &ipfix(run, 0, &sets), NOW);
    }
    let (traffic, hours) = counter.sums();
    assert!(hours.len() <= 64, "{} routers", hours.len());
    assert!(traffic.len() <= 100_000, "{} sums", traffic.len());
    assert!(counter.strangers().datagrams > FLOODS / 2);
    let grown = memory().saturating_sub(before);
    assert!(grown < MEMORY_MAX, "{grown} bytes more");
}
