//! Datagrams that are written here and read by the crate.

mod encode;
mod random;

use changes::UnixTime;
use encode::{Flow, IPFIX_FIELDS, UPTIME, V9_FIELDS};
use encode::{bytes, flow_sample, ipfix, raw_header, record, set, sflow, template, v5, v9};
use etherparse::PacketBuilder;
use watch_flows::FlowCounter;
use watch_plan::Plan;
use watch_store::{Crossing, RouterHour};

const NOW: UnixTime = UnixTime::from_seconds(1_800_000_000);
const ROUTER: &str = "192.0.2.254";

const IN: Flow = Flow {
    ends: ("198.51.100.7", "10.1.2.3"),
    ports: (443, 40_000),
    bytes: 6_000_000,
    packets: 4000,
    times: (UPTIME - 60_000, UPTIME),
};
const OUT: Flow = Flow {
    ends: ("10.1.2.3", "198.51.100.7"),
    ports: (50_500, 1094),
    bytes: 90_000,
    packets: 60,
    times: (UPTIME - 1000, UPTIME),
};

fn counter(more: &str) -> FlowCounter {
    let plan = format!(
        "[hosts]\na = {{ address = \"a\" }}\nb = {{ address = \"b\" }}\n\
         [groups]\ng = {{ mesh = [\"a\", \"b\"] }}\n[tasks.t]\nkind = \"ping\"\ngroup = \"g\"\n\
         every = \"1min\"\nduration = \"5s\"\n\
         [flows]\nlisten = \"127.0.0.1:0\"\ninside = [\"10.0.0.0/8\"]\n{more}\n"
    );
    let (plan, _) = Plan::parse(&plan, "plan.toml").unwrap();
    FlowCounter::new(plan.flows().unwrap())
}

fn take(counter: &mut FlowCounter, datagram: &[u8]) {
    counter.take(ROUTER.parse().unwrap(), datagram, NOW);
}

/// Bytes of an application one way.
fn sum(counter: &FlowCounter, way: Crossing, application: &str) -> u64 {
    let (traffic, _) = counter.sums();
    let own = traffic.iter();
    let own = own.filter(|one| one.way == way && one.application == application);
    own.map(|one| one.volume.bytes).sum()
}

/// The counts of the only router, of both hours at whose edge it tells.
fn router(counter: &FlowCounter) -> RouterHour {
    let (_, hours) = counter.sums();
    let mut all = hours[0].clone();
    for hour in &hours[1..] {
        assert_eq!(hour.router, all.router);
        all.covered += hour.covered;
        all.datagrams += hour.datagrams;
        all.repeated += hour.repeated;
        all.unreadable += hour.unreadable;
        all.waiting += hour.waiting;
        all.received += hour.received;
        all.lost += hour.lost;
    }
    all
}

/// A stream keeps the newest 64 templates.
#[test]
fn the_oldest_template_makes_room() {
    let mut counter = counter("");
    for id in 300..=364 {
        let template = template(0, id, &V9_FIELDS);
        take(&mut counter, &v9(id - 299, 7, 1, &[template]));
    }
    let data = |id| set(id, &record(&IN, 4));
    take(&mut counter, &v9(66, 7, 1, &[data(364)]));
    assert_eq!(sum(&counter, Crossing::In, "https"), IN.bytes);
    take(&mut counter, &v9(67, 7, 1, &[data(300)]));
    assert_eq!(sum(&counter, Crossing::In, "https"), IN.bytes);
    assert_eq!(router(&counter).waiting, 1);
}

#[test]
fn netflow_5_with_gaps_and_copies() {
    let mut counter = counter("");
    take(&mut counter, &v5(100, 10, &[IN, OUT]));
    take(&mut counter, &v5(100, 10, &[IN, OUT]));
    // Records 102 to 104 are missing.
    take(&mut counter, &v5(105, 0, &[OUT]));
    assert_eq!(sum(&counter, Crossing::In, "https"), 60_000_000);
    assert_eq!(sum(&counter, Crossing::Out, "xrootd"), 990_000);
    let counts = router(&counter);
    assert_eq!((counts.datagrams, counts.repeated), (3, 1));
    assert_eq!((counts.received, counts.lost), (3, 3));
    assert_eq!(counts.lost_share(), Some(0.5));
    // The minute that the flow lasted ended with an interval.
    let (traffic, _) = counter.sums();
    let https: Vec<u64> = traffic
        .iter()
        .filter(|one| one.application == "https")
        .map(|one| one.at.seconds())
        .collect();
    assert_eq!(https, [NOW.seconds() - 60]);
}

#[test]
fn netflow_9_reads_data_before_and_behind_its_template() {
    let mut counter = counter("");
    let data = set(300, &[record(&IN, 4), record(&OUT, 4)].concat());
    take(&mut counter, &v9(1, 7, 2, std::slice::from_ref(&data)));
    assert_eq!(sum(&counter, Crossing::In, "https"), 0);
    assert_eq!(router(&counter).waiting, 1);
    take(&mut counter, &v9(2, 7, 1, &[template(0, 300, &V9_FIELDS)]));
    assert_eq!(sum(&counter, Crossing::In, "https"), IN.bytes);
    take(&mut counter, &v9(3, 7, 2, std::slice::from_ref(&data)));
    assert_eq!(sum(&counter, Crossing::In, "https"), 2 * IN.bytes);
    assert_eq!(sum(&counter, Crossing::Out, "xrootd"), 2 * OUT.bytes);
    let counts = router(&counter);
    assert_eq!((counts.waiting, counts.lost, counts.unreadable), (1, 0, 0));
}

#[test]
fn the_same_template_number_is_another_one_at_another_stream() {
    let mut counter = counter("");
    let other: Vec<(u64, u64)> = V9_FIELDS.iter().rev().copied().collect();
    take(&mut counter, &v9(1, 1, 1, &[template(0, 256, &V9_FIELDS)]));
    take(&mut counter, &v9(1, 2, 1, &[template(0, 256, &other)]));
    take(&mut counter, &v9(2, 1, 1, &[set(256, &record(&IN, 4))]));
    assert_eq!(sum(&counter, Crossing::In, "https"), IN.bytes);
    // A new template takes the place of the old one.
    take(
        &mut counter,
        &v9(3, 1, 1, &[template(0, 256, &V9_FIELDS[..6])]),
    );
    take(
        &mut counter,
        &v9(4, 1, 1, &[set(256, &record(&OUT, 4)[..21])]),
    );
    assert_eq!(sum(&counter, Crossing::Out, "xrootd"), OUT.bytes);
}

#[test]
fn sampling_of_options_the_record_and_the_plan_is_multiplied() {
    // The sampler 5 takes one packet of 100, and records name it.
    let mut all = counter("sampling = 7");
    let mut fields = V9_FIELDS.to_vec();
    fields.push((48, 1));
    let options = bytes(&[
        (257, 2),
        (4, 2),
        (8, 2),
        (1, 2),
        (4, 2),
        (48, 2),
        (1, 2),
        (50, 2),
        (4, 2),
    ]);
    let sets = [set(1, &options), template(0, 256, &fields)];
    take(&mut all, &v9(1, 1, 2, &sets));
    let with_sampler = [record(&IN, 4), vec![5]].concat();
    // Before the options data, the plan's.
    take(&mut all, &v9(2, 1, 1, &[set(256, &with_sampler)]));
    assert_eq!(sum(&all, Crossing::In, "https"), 7 * IN.bytes);
    let data = bytes(&[(0, 4), (5, 1), (100, 4)]);
    take(&mut all, &v9(3, 1, 1, &[set(257, &data)]));
    take(&mut all, &v9(4, 1, 1, &[set(256, &with_sampler)]));
    assert_eq!(sum(&all, Crossing::In, "https"), 107 * IN.bytes);
}

#[test]
fn ipfix_with_both_ways_texts_and_counted_records() {
    let mut counter = counter("interval = \"10s\"");
    // A text of the enterprise 9 of any length, and bytes and packets of the other way.
    let mut body = bytes(&[(400, 2), (12, 2)]);
    for (field, length) in IPFIX_FIELDS {
        body.extend(bytes(&[(field, 2), (length, 2)]));
    }
    body.extend(bytes(&[(0x8000 | 99, 2), (65_535, 2), (9, 4)]));
    body.extend(bytes(&[(0x8000 | 1, 2), (4, 2), (29_305, 4)]));
    body.extend(bytes(&[(0x8000 | 2, 2), (4, 2), (29_305, 4)]));
    let end = NOW.seconds() * 1000;
    let flow = Flow {
        times: (end - 30_000, end),
        ..IN
    };
    let mut data = record(&flow, 8);
    data.extend([5, b'h', b'e', b'l', b'l', b'o']);
    data.extend(bytes(&[(1000, 4), (10, 4)]));
    take(&mut counter, &ipfix(50, 1, &[set(2, &body)]));
    take(&mut counter, &ipfix(50, 1, &[set(400, &data)]));
    // Records 51 and 52 are missing.
    take(&mut counter, &ipfix(53, 1, &[set(400, &data)]));
    assert_eq!(sum(&counter, Crossing::In, "https"), 2 * IN.bytes);
    assert_eq!(sum(&counter, Crossing::Out, "https"), 2000);
    let counts = router(&counter);
    assert_eq!((counts.received, counts.lost, counts.unreadable), (2, 2, 0));
    // Half a minute is three intervals.
    let (traffic, _) = counter.sums();
    let of_in = traffic.iter().filter(|one| one.way == Crossing::In);
    assert_eq!(of_in.count(), 3);
    assert_eq!(counts.covered, 30);
    take(&mut counter, &ipfix(54, 1, &[set(999, &data)]));
    assert_eq!(router(&counter).waiting, 1);
}

#[test]
fn sflow_samples_are_multiplied_and_counters_passed_over() {
    let mut counter = counter("");
    let mut frame = Vec::new();
    PacketBuilder::ethernet2([2; 6], [4; 6])
        .single_vlan(7.try_into().unwrap())
        .ipv4([198, 51, 100, 7], [10, 1, 2, 3], 60)
        .tcp(443, 40_000, 1, 1000)
        .write(&mut frame, &[0; 1460])
        .unwrap();
    let raw = raw_header(1, frame.len() as u64 + 4, &frame[..128]);
    let v4 = bytes(&[
        (1500, 4),
        (6, 4),
        encode::address("10.1.2.3"),
        encode::address("198.51.100.7"),
        (50_500, 4),
        (1094, 4),
        (0, 4),
        (0, 4),
    ]);
    let samples = [
        (
            1,
            flow_sample(false, 1000, &[(1001, vec![0; 16]), (1, raw.clone())]),
        ),
        (2, vec![0; 40]),
        (3, flow_sample(true, 400, &[(3, v4)])),
        ((4_413 << 12) | 7, vec![1; 12]),
    ];
    let datagram = sflow(1, &samples);
    take(&mut counter, &datagram);
    assert_eq!(sum(&counter, Crossing::In, "https"), 1500 * 1000);
    assert_eq!(sum(&counter, Crossing::Out, "xrootd"), 1500 * 400);
    assert_eq!(router(&counter).unreadable, 0);
    // IPv6 by itself, from elsewhere to elsewhere; two datagrams before it are missing.
    let mut packet = Vec::new();
    PacketBuilder::ipv6([0x20; 16], [0x30; 16], 60)
        .udp(53, 53)
        .write(&mut packet, &[0; 100])
        .unwrap();
    let raw = raw_header(12, packet.len() as u64, &packet[..60]);
    take(
        &mut counter,
        &sflow(4, &[(1, flow_sample(false, 10, &[(1, raw)]))]),
    );
    assert_eq!(sum(&counter, Crossing::Through, "dns"), 1480);
    let counts = router(&counter);
    assert_eq!((counts.received, counts.lost), (2, 2));
    // What is cut is told, and what stands before the cut counts.
    take(&mut counter, &datagram[..datagram.len() - 30]);
    assert_eq!(router(&counter).unreadable, 1);
    assert_eq!(sum(&counter, Crossing::In, "https"), 2 * 1500 * 1000);
}

#[test]
fn cut_datagrams_are_told_and_break_nothing() {
    let sets = [template(0, 300, &V9_FIELDS), set(300, &record(&IN, 4))];
    let wholes = [
        v5(1, 0, &[IN, OUT]),
        v9(1, 1, 2, &sets),
        ipfix(
            1,
            1,
            &[template(2, 300, &IPFIX_FIELDS), set(300, &record(&IN, 8))],
        ),
    ];
    for whole in wholes {
        // A datagram of version 9 may end behind its template.
        let ends = 20 + template(0, 300, &V9_FIELDS).len();
        let is_whole = |length: &usize| whole[1] == 9 && *length == ends;
        for length in (24..whole.len()).filter(|length| !is_whole(length)) {
            let mut counter = counter("");
            take(&mut counter, &whole[..length]);
            let counts = router(&counter);
            assert_eq!((counts.datagrams, counts.unreadable), (1, 1), "{length}");
            assert!(sum(&counter, Crossing::In, "https") <= IN.bytes);
        }
        let mut counter = counter("");
        take(&mut counter, &whole);
        assert_eq!(sum(&counter, Crossing::In, "https"), IN.bytes);
        assert_eq!(router(&counter).unreadable, 0);
    }
}

#[test]
fn only_routers_of_the_plan_are_listened_to() {
    let mut counter = counter("routers = [\"192.0.2.1\"]");
    take(&mut counter, &v5(1, 0, &[IN]));
    assert_eq!(counter.strangers().datagrams, 1);
    assert!(counter.sums().0.is_empty());
    let mapped = "::ffff:192.0.2.1".parse().unwrap();
    counter.take(mapped, &v5(1, 0, &[IN]), NOW);
    assert_eq!(sum(&counter, Crossing::In, "https"), IN.bytes);
    assert_eq!(router(&counter).router, "192.0.2.1");
    counter.stored(NOW);
    assert!(counter.sums().0.is_empty() && counter.sums().1.is_empty());
}
