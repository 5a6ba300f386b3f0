//! Several links in a row, and the loads on them.

use errors::Hint;

use super::*;
use crate::spec::{Arrivals, Way};

const THREE: &str = r#"
[forward]
rate  = "100Mbit/s"
delay = "10ms"
queue = { kind = "drop-tail", limit = "250kB" }
loss  = { kind = "random", rate = 0.01 }
load  = { rate = "30Mbit/s", arrivals = "constant", packets = [{ size = "40B", share = 0.5 }, { size = "1400B", share = 0.5 }] }
[[before]]
rate  = "1Gbit/s"
delay = "1ms"
queue = { kind = "drop-tail", limit = "1MB" }
mtu   = 1400
[[beyond]]
rate  = "622Mbit/s"
delay = "5ms"
queue = { kind = "drop-tail", limit = "1MB" }
loss  = { kind = "random", rate = 0.02 }
load  = { rate = "560Mbit/s" }
[beyond.reverse]
rate  = "34Mbit/s"
delay = "7ms"
queue = { kind = "drop-tail", limit = "100packets" }
"#;

fn refusal(from: &str, to: &str) -> String {
    assert!(THREE.contains(from), "`{from}` is not in the good file");
    let error = read(&THREE.replacen(from, to, 1)).expect_err("the file should be refused");
    format!("{error}\nhint: {}", error.hint().unwrap())
}

#[test]
fn three_links_are_read_in_order() {
    let path = read(THREE).unwrap();
    let rates = |way| -> Vec<String> {
        let links = path.links(way).into_iter();
        links.map(|link| link.rate.to_string()).collect()
    };
    assert_eq!(rates(Way::Forward), ["1Gbit/s", "100Mbit/s", "622Mbit/s"]);
    // The way back has the one that was described, then the mirrors.
    assert_eq!(rates(Way::Reverse), ["34Mbit/s", "100Mbit/s", "1Gbit/s"]);
    assert_eq!(path.hops(), 3);
    assert_eq!(Way::BOTH.map(|way| path.main_link(way)), [1, 1]);
}

#[test]
fn the_sums_and_the_least_of_a_row_are_those_of_its_links() {
    let path = read(THREE).unwrap();
    assert_eq!(path.base_rtt(), Span::from_millis(1 + 10 + 5 + 7 + 10 + 1));
    assert_eq!(path.narrowest(Way::Forward).rate.to_string(), "100Mbit/s");
    // 622 - 560 is less than 100 - 30: the narrow link is not the tight one.
    assert_eq!(path.available(Way::Forward).to_string(), "62Mbit/s");
    assert_eq!(path.available(Way::Reverse).to_string(), "34Mbit/s");
    // 100 Mbit/s x 34 ms / 8
    assert_eq!(path.bandwidth_delay_product(), Bytes::new(425_000));
    assert!((path.loss_rate(Way::Forward) - (1.0 - 0.99 * 0.98)).abs() < 1e-12);
    assert_eq!(path.loss_rate(Way::Reverse), 0.0);
}

#[test]
fn a_way_back_without_a_description_has_no_loss_and_no_load() {
    let path = read(THREE).unwrap();
    assert_eq!(path.reverse.loss, Loss::None);
    assert_eq!(path.reverse.load, None);
    let [before] = &path.before[..] else {
        panic!("one link before");
    };
    assert_eq!(before.reverse, before.forward);
    assert_eq!(before.reverse.mtu, Some(1400));
}

#[test]
fn a_load_has_its_mix_or_packets_as_large_as_fit() {
    let path = read(THREE).unwrap();
    let load = path.forward.load.as_ref().unwrap();
    assert_eq!(load.arrivals, Arrivals::Constant);
    assert_eq!(load.mean_size(), 720.0);
    let load = path.beyond[0].forward.load.as_ref().unwrap();
    assert_eq!(load.arrivals, Arrivals::Poisson);
    assert_eq!(load.mean_size(), 1500.0);
    let text = THREE.replace("mtu   = 1400", "load = { rate = \"1Mbit/s\" }\nmtu = 1400");
    let load = read(&text).unwrap().before[0].forward.load.clone().unwrap();
    assert_eq!(load.mean_size(), 1400.0);
}

#[test]
fn one_line_names_the_narrowest_of_several() {
    assert_eq!(
        read(THREE).unwrap().to_string(),
        "100Mbit/s as the narrowest of 3 links, RTT 34ms, queue 250kB, loss 3 %, load 30Mbit/s, \
            cubic"
    );
}

#[test]
fn what_one_link_alone_has_not_is_told() {
    let mut path = read(THREE).unwrap();
    let told = |path: &PathSpec| {
        let extra = path.extra().unwrap();
        format!("{} {}", extra.field, extra.value)
    };
    assert_eq!(told(&path), "before 1 of 3 links");
    path.before.clear();
    assert_eq!(told(&path), "beyond 1 of 2 links");
    path.beyond.clear();
    assert_eq!(told(&path), "forward.load 30Mbit/s");
    path.forward.load = None;
    assert_eq!(path.extra(), None);
    path.reverse.mtu = Some(1400);
    assert_eq!(told(&path), "reverse.mtu 1400");
}

#[test]
fn wrong_rows_and_loads_are_refused_where_they_stand() {
    for (from, to, expected) in [
        (
            "560Mbit/s",
            "622Mbit/s",
            "a load of 622Mbit/s leaves nothing of a link of 622Mbit/s\n  at test.toml:18, field \
                `beyond.load.rate`",
        ),
        (
            "\"constant\"",
            "\"bursty\"",
            "`bursty` is not a way to arrive\n  at test.toml:7, field \
                `forward.load.arrivals`\nhint: known here: poisson, constant",
        ),
        (
            "\"40B\"",
            "\"20B\"",
            "a packet of 20B is not between 28B and 1.5kB",
        ),
        (
            "\"1400B\"",
            "\"9000B\"",
            "a packet of 9kB is not between 28B and 1.5kB",
        ),
        (
            "share = 0.5 }]",
            "share = 0.4 }]",
            "the shares of the packets sum to 0.900 and not to 1\n  at test.toml:7, field \
                `forward.load.packets`",
        ),
        (
            "share = 0.5 }]",
            "share = 0.0 }]",
            "a share of 0 is not between 0.001 and 1",
        ),
        (
            "mtu   = 1400",
            "mtu = 9000",
            "an MTU of 9000 is above that of the hosts, 1500",
        ),
        (
            "mtu   = 1400",
            "mtu = 68",
            "an MTU of 68 is not between 576 and 65535",
        ),
        ("[[before]]", "[before]", "is a table\n"),
        (
            "[beyond.reverse]",
            "[beyond.back]",
            "`back` is not a field of `beyond`",
        ),
    ] {
        let seen = refusal(from, to);
        assert!(seen.contains(expected), "{seen}");
    }
}

#[test]
fn a_row_has_at_most_eight_links() {
    let link = "[[beyond]]\nrate = \"1Gbit/s\"\ndelay = \"1ms\"\n\
                queue = { kind = \"drop-tail\", limit = \"9packets\" }\n";
    assert_eq!(
        read(&format!("{GOOD}{}", link.repeat(7))).unwrap().hops(),
        8
    );
    let error = read(&format!("{GOOD}{}", link.repeat(8))).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("9 links in a row are more than 8\n  at test.toml:"),
        "{error}"
    );
}

#[test]
fn load_and_cross_traffic_share_the_rate() {
    let sources = "[[cross]]\nkind = \"on-off\"\nsources = 1\nrate = \"70Mbit/s\"\non = \
        \"1s\"\noff = \"1us\"\n";
    let error = read(&format!(
        "{THREE}{}",
        sources.replace("1us", "10us").replace("70", "71")
    ));
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("fills what its load leaves of the forward link of 100Mbit/s"),
        "{error}"
    );
    assert!(
        read(&format!(
            "{THREE}{}",
            sources.replace("1us", "10us").replace("70", "69")
        ))
        .is_ok()
    );
}
