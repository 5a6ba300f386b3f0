use super::*;

use units::Bytes;

#[derive(Debug, Clone, PartialEq)]
struct Numbered(u32, u64);

impl Packet for Numbered {
    fn size(&self) -> Bytes {
        Bytes::new(self.1)
    }
}

/// Three links: 1500 B take 1 ms, 2 ms and 0.5 ms.
fn path(load: &str) -> PathSpec {
    let link = |rate, more: &str| {
        format!(
            "rate = \"{rate}Mbit/s\"\ndelay = \"10ms\"\n\
             queue = {{ kind = \"drop-tail\", limit = \"20packets\" }}\n{more}\n"
        )
    };
    let text = format!(
        "[forward]\n{}[[before]]\n{}[[beyond]]\n{}",
        link(6, load),
        link(12, ""),
        link(24, "")
    );
    PathSpec::from_toml("row", &text).unwrap()
}

fn micros(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// Offers packets at these times and looks every `step`; what came out, and when it did.
fn run(path: &PathSpec, offers: &[u64], step: u64) -> Vec<(Time, u32)> {
    let mut chain = Chain::new(path, Way::Forward, 5);
    let mut out = Vec::new();
    let mut look = |chain: &mut Chain<Numbered>, now| {
        while let Some((at, packet)) = chain.poll_timed(now) {
            out.push((at, packet.0));
        }
    };
    let mut offers = (0..).zip(offers).peekable();
    for now in (0..2_000_000).step_by(step as usize) {
        while let Some((number, at)) = offers.next_if(|(_, at)| **at <= now) {
            let _ = chain.offer(Numbered(number, 1500), micros(*at));
        }
        look(&mut chain, micros(now));
    }
    assert!(chain.counters().all(|(own, load)| {
        own.are_conserved() && load.are_conserved() && own.in_flight.packets == 0
    }));
    out
}

#[test]
fn packets_leave_at_the_narrowest_rate_after_all_delays() {
    // 1 + 10 + 2 + 10 + 0.5 + 10 ms, and then each 2 ms after the one before.
    let out = run(&path(""), &[0, 0, 0], 100);
    let expected = [
        (micros(33_500), 0),
        (micros(35_500), 1),
        (micros(37_500), 2),
    ];
    assert_eq!(out, expected);
}

#[test]
fn how_often_one_looks_changes_nothing() {
    let load = "load = { rate = \"3Mbit/s\", packets = \"700B\" }";
    for text in ["", load, "loss = { kind = \"random\", rate = 0.2 }"] {
        let path = path(text);
        let offers: Vec<u64> = (0..200).map(|number| number * 3_700).collect();
        let fine = run(&path, &offers, 50);
        assert!(fine.len() > 100);
        // Looked at each 50 us or each 100 ms: offers are as early or late as the driver, so they
        // have their times here.
        assert_eq!(run(&path, &offers, 100_000), fine);
    }
}

#[test]
fn a_load_takes_its_share_of_a_link_that_is_full() {
    // Of a link of 6 Mbit/s others want 3, and we want 6: both lose, and the link carries what it
    // can.
    let path = path("load = { rate = \"3Mbit/s\" }");
    // Not in step with the link, or every packet would find a place that has just become free.
    let offers: Vec<u64> = (0..800)
        .map(|number| number * 2_000 + number * 7_919 % 2_000)
        .collect();
    let mut chain = Chain::new(&path, Way::Forward, 5);
    for at in &offers {
        let _ = chain.offer(Numbered(0, 1500), micros(*at));
        while chain.poll(micros(*at)).is_some() {}
    }
    let (own, load) = chain.counters().nth(1).unwrap();
    let rate = |bytes: Bytes| bytes.as_f64() * 8.0 / 1.6 / 1e6;
    // 400 packets in the mean, with a deviation of 20: four of these are 0.6 Mbit/s.
    assert!((rate(load.offered.bytes) - 3.0).abs() < 0.6, "{load:?}");
    let carried = rate(own.sent.bytes) + rate(load.sent.bytes);
    assert!((carried - 6.0).abs() < 0.15, "{own:?} {load:?}");
    assert!(load.dropped_queue_full.packets > 10, "{load:?}");
    assert!(own.dropped_queue_full.packets > 10, "{own:?}");
}

#[test]
fn a_load_alone_wakes_seldom_and_comes_out_nowhere() {
    let path = path("load = { rate = \"3Mbit/s\" }");
    let mut chain: Chain<Numbered> = Chain::new(&path, Way::Forward, 5);
    let mut now = Time::ZERO;
    let mut wakeups = 0;
    while now < micros(1_000_000) {
        assert_eq!(chain.poll(now), None);
        now = chain.next_wakeup().unwrap();
        wakeups += 1;
    }
    assert_eq!(wakeups, 500);
    let (own, load) = chain.counters().nth(1).unwrap();
    assert_eq!(own.offered.packets, 0);
    // 250 packets in the mean, with a deviation of 16.
    assert!(load.delivered.packets.abs_diff(250) < 64, "{load:?}");
}

#[test]
fn the_wakeup_is_never_after_a_packet_comes_out() {
    let path = path("load = { rate = \"2Mbit/s\" }");
    let offers: Vec<u64> = (0..300)
        .map(|number| number * 1_900 + number % 7 * 300)
        .collect();
    let exact = run(&path, &offers, 10);
    let mut chain: Chain<Numbered> = Chain::new(&path, Way::Forward, 5);
    let mut out = Vec::new();
    let mut offers = (0..).zip(&offers).peekable();
    let mut now = Time::ZERO;
    while now < micros(2_000_000) {
        while let Some((at, packet)) = chain.poll_timed(now) {
            // Woken in time: nothing lay there since an earlier moment.
            assert_eq!(at, now, "{packet:?}");
            out.push((at, packet.0));
        }
        let next = offers.peek().map(|(_, at)| micros(**at));
        let wakeup = chain.next_wakeup().unwrap();
        now = next.map_or(wakeup, |next| next.min(wakeup));
        while let Some((number, _)) = offers.next_if(|(_, at)| micros(**at) <= now) {
            let _ = chain.offer(Numbered(number, 1500), now);
        }
    }
    assert_eq!(out, exact);
}

/// Keeps every packet with an odd number.
#[derive(Default)]
struct Toll(Vec<(usize, u32, Time)>);

impl Router<Numbered> for Toll {
    fn pass(&mut self, router: usize, packet: Numbered, now: Time) -> Option<Numbered> {
        if packet.0.is_multiple_of(2) {
            return Some(packet);
        }
        self.0.push((router, packet.0, now));
        None
    }
}

#[test]
fn a_router_sees_packets_when_they_come_and_may_keep_them() {
    let mut chain = Chain::with_router(&path(""), Way::Forward, 5, Toll::default());
    for number in 0..2 {
        let _ = chain.offer(Numbered(number, 1500), Time::ZERO);
    }
    // One that the second router sends itself passes the last link only.
    let _ = chain.offer_at(2, Numbered(8, 1500), micros(500));
    let (at, packet) = chain.poll_timed(micros(1_000_000)).unwrap();
    assert_eq!((at, packet.0), (micros(11_000), 8));
    let (at, packet) = chain.poll_timed(micros(1_000_000)).unwrap();
    assert_eq!((at, packet.0), (micros(33_500), 0));
    assert!(chain.poll_timed(micros(1_000_000)).is_none());
    assert_eq!(chain.router_mut().0, [(0, 1, micros(12_000))]);
}

/// Lets packets above a thousand out behind the main link.
struct Exit;

impl Router<Numbered> for Exit {
    fn pass(&mut self, _: usize, packet: Numbered, _: Time) -> Option<Numbered> {
        Some(packet)
    }

    fn leaves(&self, router: usize, packet: &Numbered) -> bool {
        router == 1 && packet.0 > 1000
    }
}

#[test]
fn a_packet_may_enter_at_the_main_link_and_leave_behind_it() {
    let mut chain = Chain::with_router(&path(""), Way::Forward, 5, Exit);
    let _ = chain.offer(Numbered(1, 1500), Time::ZERO);
    let _ = chain.offer_at(1, Numbered(1001, 1500), Time::ZERO);
    let mut out = Vec::new();
    while let Some(now) = chain.next_wakeup() {
        while let Some((at, packet)) = chain.poll_timed(now) {
            out.push((at, packet.0));
        }
    }
    // 2 + 10 ms, and all of the row.
    assert_eq!(out, [(micros(12_000), 1001), (micros(33_500), 1)]);
}

#[test]
fn cross_datagrams_share_the_main_link_with_their_class_and_delay() {
    let cross = |more: &str| {
        let text = format!(
            "[forward]\nrate = \"6Mbit/s\"\ndelay = \"10ms\"\n\
             queue = {{ kind = \"strict\", limit = \"20packets\" }}\n\
             [[before]]\nrate = \"12Mbit/s\"\ndelay = \"10ms\"\n\
             queue = {{ kind = \"drop-tail\", limit = \"20packets\" }}\n\
             [[cross]]\nkind = \"on-off\"\nsources = 10\nrate = \"1Mbit/s\"\n\
             on = \"50ms\"\noff = \"50ms\"\n{more}"
        );
        PathSpec::from_toml("row", &text).unwrap()
    };
    let offered = |more: &str, from: u64| {
        let mut chain: Chain<Numbered> = Chain::new(&cross(more), Way::Forward, 5);
        assert_eq!(chain.poll(micros(from + 1_000_000)), None);
        let accounts: Vec<(Counters, Counters)> =
            chain.counters().map(|(own, load)| (*own, *load)).collect();
        assert_eq!(accounts[0].1, Counters::default());
        accounts[1].1.offered.packets
    };
    // Half of 10 Mbit/s in a second are 417 packets; ten periods of each kind of ten sources
    // scatter by 0.5 x sqrt(2 / 100) / 0.5 = 14 %.
    let packets = offered("", 0);
    assert!(packets.abs_diff(417) < 235, "{packets}");
    assert_eq!(offered("extra_delay = \"300ms\"", 300_000), packets);
    // A better class is not held up by what is offered in between.
    let wait = |class: &str| {
        let path = cross(&format!("class = \"{class}\""));
        let mut chain: Chain<Numbered> = Chain::new(&path, Way::Forward, 5);
        for number in 0..200 {
            let _ = chain.offer_at(1, Numbered(number, 1500), micros(u64::from(number) * 5_000));
        }
        while chain.poll(micros(2_000_000)).is_some() {}
        chain
            .counters()
            .nth(1)
            .unwrap()
            .0
            .dropped_queue_full
            .packets
    };
    assert_eq!(wait("scavenger"), 0);
    assert!(wait("priority") > 0);
}

#[test]
fn a_chain_of_one_link_is_that_link() {
    let path = PathSpec::load("lossy-wifi").unwrap();
    let mut chain = Chain::new(&path, Way::Forward, 9);
    let mut link = crate::Link::new(&path.forward, 9);
    for number in 0..2_000 {
        let now = micros(u64::from(number) * 300);
        let packet = Numbered(number, 1500);
        assert_eq!(chain.offer(packet.clone(), now), link.offer(packet, now));
        assert_eq!(chain.next_wakeup(), link.next_wakeup());
        assert_eq!(chain.poll_timed(now), link.poll_timed(now));
    }
    assert_eq!(chain.counters().next().unwrap().0, link.counters());
}
