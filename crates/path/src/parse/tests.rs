use super::*;
use crate::spec::{Class, CoDelSpec, Cross, CrossTraffic, Loss, QueueLimit, QueueSpec, RedSpec};

const GOOD: &str = r#"
[forward]
rate  = "45Mbit/s"
delay = "82.5ms"
queue = { kind = "drop-tail", limit = "128KiB" }
loss  = { kind = "random", rate = 2e-5 }
[hosts]
mtu = 1500
congestion = "reno"
send_buffer_max = "4MiB"
receive_buffer_max = "6MiB"
[[cross]]
streams = 5
window  = "64KiB"
"#;

fn read(text: &str) -> Result<PathSpec, PathError> {
    parse("test", "test.toml", text)
}

/// The message and hint for `GOOD` with one piece of text replaced.
fn refusal(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "`{from}` is not in the good file");
    let error = read(&GOOD.replacen(from, to, 1)).expect_err("the file should be refused");
    format!("{error}\nhint: {}", error.hint())
}

#[test]
fn a_full_file_is_read() {
    let path = read(GOOD).unwrap();
    assert_eq!(path.forward.rate.bits_per_second(), 45_000_000);
    assert_eq!(path.forward.loss, Loss::Random { rate: 2e-5 });
    assert_eq!(path.reverse.rate, path.forward.rate);
    assert_eq!(path.reverse.loss, Loss::None);
    assert_eq!(path.hosts.congestion, "reno");
    assert_eq!(
        path.cross,
        [Cross {
            traffic: CrossTraffic::Streams {
                streams: 5,
                window: Bytes::from_kib(64)
            },
            congestion: None,
            class: Class::BestEffort,
            extra_delay: Span::ZERO,
        }]
    );
    assert_eq!(
        path.to_string(),
        "45Mbit/s, RTT 165ms, queue 128KiB, loss 0.002 %, reno"
    );
}

#[test]
fn a_small_queue_names_value_bound_line_and_next_step() {
    assert_eq!(
        refusal("128KiB", "1KiB"),
        "a 1.5kB packet cannot pass a 1KiB queue\n  at test.toml:5, field `forward.queue.limit`\n\
         hint: raise `limit` to 1.5kB or more, or lower `hosts.mtu`"
    );
}

#[test]
fn wrong_values_are_refused_where_they_stand() {
    for (from, to, expected) in [
        (
            "45Mbit/s",
            "0Mbit/s",
            "a rate of 0bit/s is not between 300bit/s and 1Tbit/s\n  at test.toml:3, field `forward.rate`",
        ),
        (
            "45Mbit/s",
            "45MB",
            "`45MB` is not a rate: the unit `MB` is unknown",
        ),
        (
            "\"82.5ms\"",
            "82.5",
            "`82.5` is a float\n  at test.toml:4, field `forward.delay`\nhint: `delay` takes a string in quotes",
        ),
        ("82.5ms", "82s", "a delay of 82s is not between 0ns and 10s"),
        (
            "128KiB",
            "1000000000packets",
            "a queue of 1000000000 packets is not between 1 and 3000000 packets",
        ),
        ("128KiB", "0 packets", "a queue of 0 packets"),
        (
            "128KiB",
            "many packets",
            "`many packets` is not a number of packets",
        ),
        ("128KiB", "1TiB", "a queue of 1TiB is not between"),
        (
            "drop-tail",
            "fair",
            "`fair` is not a known kind\n  at test.toml:5, field `forward.queue.kind`\nhint: known kinds: drop-tail, red, codel, strict, weighted",
        ),
        ("2e-5", "1.5", "a probability of 1.5 is not between 0 and 1"),
        ("2e-5", "nan", "a probability of NaN"),
        (
            "2e-5",
            "1",
            "a link that loses every packet carries nothing",
        ),
        (
            "mtu = 1500",
            "mtu = 90000",
            "an MTU of 90000 is not between 576 and 65535",
        ),
        (
            "\"reno\"",
            "\"Reno!\"",
            "`Reno!` is not the name of a congestion control",
        ),
        (
            "\"4MiB\"",
            "\"1KiB\"",
            "a socket buffer of 1KiB is not between",
        ),
        (
            "streams = 5",
            "streams = 0",
            "a stream count of 0 is not between 1 and 128",
        ),
        (
            "streams = 5",
            "stream = 5",
            "`stream` is not a field of `cross`\n  at test.toml:13, field `cross.stream`\nhint: known here: kind, streams, window, congestion, class, extra_delay",
        ),
        (
            "[[cross]]",
            "[cross]",
            "a table\n  at test.toml:12, field `cross`\nhint: `cross` takes an array of tables",
        ),
        (
            "[hosts]",
            "[host]",
            "`host` is not a field of a path\n  at test.toml:7",
        ),
        (
            "delay = \"82.5ms\"",
            "",
            "`delay` is missing from `forward`\n  at test.toml:2, field `forward.delay`\nhint: add the one-way delay",
        ),
        ("[forward]", "[forward", "at test.toml:2"),
    ] {
        let message = refusal(from, to);
        assert!(message.contains(expected), "{from} -> {to}: {message}");
    }
}

/// The queue of `GOOD` with another text in its place.
fn with_queue(text: &str) -> Result<QueueSpec, String> {
    let from = r#"{ kind = "drop-tail", limit = "128KiB" }"#;
    let path = read(&GOOD.replace(from, text));
    path.map(|path| path.forward.queue)
        .map_err(|error| format!("{error}\nhint: {}", error.hint()))
}

#[test]
fn every_queue_is_read_with_its_defaults() {
    let limit = QueueLimit::Packets(1000);
    let red = RedSpec {
        limit,
        min: 50,
        max: 150,
        probability: 0.1,
        weight: 0.002,
        ecn: true,
    };
    let codel = CoDelSpec {
        limit,
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        ecn: false,
    };
    let weighted = QueueSpec::Weighted {
        limit: QueueLimit::Bytes(Bytes::from_kib(64)),
        scavenger: 0.01,
        priority: 0.3,
    };
    for (text, expected) in [
        (
            r#"{ kind = "red", limit = "1000packets", min = "50packets", max = "150packets", ecn = true }"#,
            QueueSpec::Red(red),
        ),
        (
            r#"{ kind = "red", limit = "1000packets", min = "50packets", max = "150packets", probability = 0.02, weight = 1 }"#,
            QueueSpec::Red(RedSpec {
                probability: 0.02,
                weight: 1.0,
                ecn: false,
                ..red
            }),
        ),
        (
            r#"{ kind = "codel", limit = "1000packets" }"#,
            QueueSpec::CoDel(codel),
        ),
        (
            r#"{ kind = "codel", limit = "1000packets", target = "1ms", interval = "20ms", ecn = true }"#,
            QueueSpec::CoDel(CoDelSpec {
                target: Span::from_millis(1),
                interval: Span::from_millis(20),
                ecn: true,
                ..codel
            }),
        ),
        (
            r#"{ kind = "strict", limit = "1000packets" }"#,
            QueueSpec::Strict { limit },
        ),
        (
            r#"{ kind = "weighted", limit = "64KiB", scavenger = 0.01, priority = 0.30 }"#,
            weighted,
        ),
    ] {
        assert_eq!(with_queue(text), Ok(expected), "{text}");
    }
}

#[test]
fn queues_that_make_no_sense_are_refused() {
    let red = |rest: &str| format!(r#"{{ kind = "red", limit = "100packets", {rest} }}"#);
    let codel = |rest: &str| format!(r#"{{ kind = "codel", limit = "100packets", {rest} }}"#);
    let weighted = |rest: &str| format!(r#"{{ kind = "weighted", limit = "9packets", {rest} }}"#);
    for (text, expected) in [
        (
            red(r#"max = "50packets""#),
            "`min` is missing from `forward.queue`\n  at test.toml:5, field `forward.queue.min`\nhint: add `min = \"50packets\"`",
        ),
        (
            red(r#"min = "50packets", max = "50packets""#),
            "`max` of 50 packets is not above `min` of 50 packets\n  at test.toml:5, field `forward.queue.max`\nhint: three times `min` is usual: `150packets`",
        ),
        (
            red(r#"min = "50packets", max = "101packets""#),
            "`max` of 101 packets is above the queue's limit of 100 packets\n  at test.toml:5, field `forward.queue.max`\nhint: raise `limit`",
        ),
        (
            red(r#"min = "50packets", max = "90packets""#).replace("100packets", "64KiB"),
            "`max` of 90 packets of 1.5kB is above the queue's limit of 64KiB",
        ),
        (
            red(r#"min = "0packets", max = "90packets""#),
            "a threshold of 0 packets is not between 1 and 3000000 packets",
        ),
        (
            red(r#"min = "75kB", max = "90packets""#),
            "`75kB` is not a number of packets",
        ),
        (
            red(r#"min = "5packets", max = "90packets", probability = 0"#),
            "with a `probability` of 0 the queue never drops early\n  at test.toml:5, field `forward.queue.probability`",
        ),
        (
            red(r#"min = "5packets", max = "90packets", weight = 1.5"#),
            "a probability of 1.5 is not between 0 and 1",
        ),
        (
            red(r#"min = "5packets", max = "90packets", ecn = "yes""#),
            "`\"yes\"` is a string\n  at test.toml:5, field `forward.queue.ecn`\nhint: `ecn` takes true or false",
        ),
        (
            codel(r#"target = "0ms""#),
            "a wait of 0ns is not between 1us and 10s",
        ),
        (
            codel(r#"target = "100ms""#),
            "a target of 100ms is not below the interval of 100ms\n  at test.toml:5, field `forward.queue.target`\nhint: RFC 8289",
        ),
        (
            codel(r#"interval = "4ms""#),
            "a target of 5ms is not below the interval of 4ms\n  at test.toml:5, field `forward.queue.interval`",
        ),
        (
            codel(r#"min = "5packets""#),
            "`min` is not a field of `forward.queue`",
        ),
        (
            weighted("scavenger = 0.01"),
            "`priority` is missing from `forward.queue`",
        ),
        (
            weighted("scavenger = 0, priority = 0.3"),
            "a share of 0 is not between 0.001 and 1",
        ),
        (
            weighted("scavenger = 0.5, priority = 0.5"),
            "shares of 0.5 for scavenger and 0.5 for priority leave nothing for best effort\n  at test.toml:5, field `forward.queue.priority`\nhint: best effort gets the rest",
        ),
        (
            weighted("scavenger = nan, priority = 0.5"),
            "a share of NaN",
        ),
    ] {
        let message = with_queue(&text).expect_err(&text);
        assert!(message.contains(expected), "{text}: {message}");
    }
}

/// The groups of `GOOD` with this table in place of its own.
fn with_cross(text: &str) -> Result<Vec<Cross>, String> {
    let head = GOOD.split("[[cross]]").next().unwrap();
    let path = read(&format!("{head}{text}"));
    path.map(|path| path.cross)
        .map_err(|error| format!("{error}\nhint: {}", error.hint()))
}

#[test]
fn every_kind_of_cross_traffic_is_read() {
    let groups = with_cross(
        r#"
        [[cross]]
        kind = "streams"
        streams = 3
        window = "1MiB"
        congestion = "bbr"
        class = "scavenger"
        extra_delay = "30ms"
        [[cross]]
        kind = "on-off"
        sources = 10
        rate = "2Mbit/s"
        on = "500ms"
        off = "1s"
        class = "priority"
        [[cross]]
        kind = "transfers"
        per_second = 20
        mean_size = "50kB"
        shape = 1.2
        window = "64KiB"
        "#,
    )
    .unwrap();
    let [streams, on_off, transfers] = &groups[..] else {
        panic!("{groups:?}");
    };
    assert_eq!(streams.congestion.as_deref(), Some("bbr"));
    assert_eq!(streams.class, Class::Scavenger);
    assert_eq!(streams.extra_delay, Span::from_millis(30));
    assert_eq!(on_off.class, Class::Priority);
    assert_eq!(
        on_off.traffic,
        CrossTraffic::OnOff {
            sources: 10,
            rate: Rate::from_bits_per_second(2_000_000),
            on: Span::from_millis(500),
            off: Span::from_secs(1),
        }
    );
    assert_eq!(
        transfers.traffic,
        CrossTraffic::Transfers {
            per_second: 20.0,
            mean_size: Bytes::new(50_000),
            shape: 1.2,
            window: Bytes::from_kib(64),
        }
    );
}

#[test]
fn cross_traffic_that_makes_no_sense_is_refused() {
    let on_off = |rest: &str| {
        format!("[[cross]]\nkind = \"on-off\"\nsources = 10\non = \"1s\"\noff = \"1s\"\n{rest}\n")
    };
    let transfers = |rest: &str| {
        format!(
            "[[cross]]\nkind = \"transfers\"\nwindow = \"64KiB\"\nmean_size = \"50kB\"\n{rest}\n"
        )
    };
    let streams = |rest: &str| format!("[[cross]]\nstreams = 1\nwindow = \"64KiB\"\n{rest}\n");
    for (text, expected) in [
        (
            streams("kind = \"flood\""),
            "`flood` is not a known kind\n  at test.toml:15, field `cross.kind`\nhint: known kinds: streams, on-off, transfers",
        ),
        (
            streams("sources = 5"),
            "`sources` is not a field of `cross`\n  at test.toml:15, field `cross.sources`\nhint: known here: kind, streams, window",
        ),
        (
            streams("class = \"gold\""),
            "`gold` is not a class of service\n  at test.toml:15, field `cross.class`\nhint: known classes: scavenger, best-effort, priority",
        ),
        (
            streams("congestion = \"Big One\""),
            "`Big One` is not the name of a congestion control\n  at test.toml:15, field `cross.congestion`",
        ),
        (
            streams("extra_delay = \"1min\""),
            "a delay of 60s is not between 0ns and 10s\n  at test.toml:15, field `cross.extra_delay`",
        ),
        (
            on_off("rate = \"0bit/s\""),
            "a rate of 0bit/s is not between 300bit/s and 1Tbit/s\n  at test.toml:17, field `cross.rate`",
        ),
        (
            on_off("rate = \"9Mbit/s\""),
            "cross traffic of 45.0 Mbit/s on average fills the forward link of 45Mbit/s\n  at test.toml:17, field `cross.rate`\nhint: lower `rate`, `sources` or `on`, or raise `off`",
        ),
        (
            on_off("rate = \"5Mbit/s\"").repeat(2),
            "cross traffic of 50.0 Mbit/s on average fills the forward link of 45Mbit/s\n  at test.toml:23, field `cross.rate`",
        ),
        (
            on_off("congestion = \"reno\""),
            "`congestion` is not a field of `cross`",
        ),
        (
            on_off("rate = \"1Mbit/s\"").replace("off = \"1s\"", "off = \"0s\""),
            "a mean period of 0ns is not between 10us and 3600s",
        ),
        (
            on_off("rate = \"1Mbit/s\"").replace("sources = 10", "sources = 100000"),
            "a source count of 100000 is not between 1 and 1000",
        ),
        (
            transfers("per_second = 10\nshape = 1"),
            "a Pareto shape of 1 is not between 1.01 and 10\n  at test.toml:17, field `cross.shape`\nhint: web transfers have about 1.2",
        ),
        (
            transfers("per_second = -1\nshape = 1.2"),
            "a count per second of -1 is not between 0.001 and 100000",
        ),
        (
            transfers("per_second = 200\nshape = 1.2"),
            "cross traffic of 80.0 Mbit/s on average fills the forward link of 45Mbit/s\n  at test.toml:16, field `cross.per_second`\nhint: lower `per_second` or `mean_size`",
        ),
        (
            transfers("per_second = \"often\"\nshape = 1.2"),
            "`\"often\"` is a string\n  at test.toml:16, field `cross.per_second`\nhint: `per_second` takes a number",
        ),
    ] {
        let message = with_cross(&text).expect_err(&text);
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn a_number_in_hexadecimal_is_what_it_says() {
    let text = GOOD.replace("streams = 5", "streams = 0x10");
    let path = read(&text).unwrap();
    assert!(matches!(
        path.cross[0].traffic,
        CrossTraffic::Streams { streams: 16, .. }
    ));
}

#[test]
fn bursty_loss_is_read() {
    let path = read(&GOOD.replace(
        r#"kind = "random", rate = 2e-5"#,
        r#"kind = "gilbert-elliott", enter = 0.01, leave = 0.24"#,
    ));
    let Loss::GilbertElliott {
        loss_bad,
        loss_good,
        ..
    } = path.unwrap().forward.loss
    else {
        panic!("not bursty");
    };
    assert_eq!((loss_bad, loss_good), (1.0, 0.0));
}

#[test]
fn a_reverse_link_of_its_own_is_read_whole() {
    let reverse = "[reverse]\nrate = \"1Mbit/s\"\ndelay = \"300ms\"\n";
    let message = read(&format!("{GOOD}{reverse}")).unwrap_err().to_string();
    assert!(
        message.contains("`queue` is missing from `reverse`"),
        "{message}"
    );
}

#[test]
fn an_unknown_name_lists_the_presets() {
    let error = PathSpec::load("slac-cren").unwrap_err();
    assert!(error.hint().contains("slac-cern"), "{}", error.hint());
}
