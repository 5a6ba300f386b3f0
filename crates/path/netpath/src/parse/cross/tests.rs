use errors::Hint;

use super::*;
use crate::parse::tests::{GOOD, read};

/// The groups of `GOOD` with this table in place of its own.
fn with_cross(text: &str) -> Result<Vec<Cross>, String> {
    let head = GOOD.split("[[cross]]").next().unwrap();
    let path = read(&format!("{head}{text}"));
    path.map(|path| path.cross)
        .map_err(|error| format!("{error}\nhint: {}", error.hint().unwrap()))
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
            "`flood` is not a known kind\n  at test.toml:15, field `cross.kind`\nhint: known \
                kinds: streams, on-off, transfers",
        ),
        (
            streams("sources = 5"),
            "`sources` is not a field of `cross`\n  at test.toml:15, field `cross.sources`\nhint: \
                known here: kind, streams, window",
        ),
        (
            streams("class = \"gold\""),
            "`gold` is not a class of service\n  at test.toml:15, field `cross.class`\nhint: known \
                classes: scavenger, best-effort, priority",
        ),
        (
            streams("congestion = \"Big One\""),
            "`Big One` is not the name of a congestion control\n  at test.toml:15, field \
                `cross.congestion`",
        ),
        (
            streams("extra_delay = \"1min\""),
            "a delay of 60s is not between 0ns and 10s\n  at test.toml:15, field \
                `cross.extra_delay`",
        ),
        (
            on_off("rate = \"0bit/s\""),
            "a rate of 0bit/s is not between 300bit/s and 1Tbit/s\n  at test.toml:17, field \
                `cross.rate`",
        ),
        (
            on_off("rate = \"9Mbit/s\""),
            "cross traffic of 45.0 Mbit/s on average fills the forward link of 45Mbit/s\n  at \
                test.toml:17, field `cross.rate`\nhint: lower `rate`, `sources` or `on`, or raise \
                `off`",
        ),
        (
            on_off("rate = \"5Mbit/s\"").repeat(2),
            "cross traffic of 50.0 Mbit/s on average fills the forward link of 45Mbit/s\n  at \
                test.toml:23, field `cross.rate`",
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
            "a Pareto shape of 1 is not between 1.01 and 10\n  at test.toml:17, field \
                `cross.shape`\nhint: web transfers have about 1.2",
        ),
        (
            transfers("per_second = -1\nshape = 1.2"),
            "a count per second of -1 is not between 0.001 and 100000",
        ),
        (
            transfers("per_second = 200\nshape = 1.2"),
            "cross traffic of 80.0 Mbit/s on average fills the forward link of 45Mbit/s\n  at \
                test.toml:16, field `cross.per_second`\nhint: lower `per_second` or `mean_size`",
        ),
        (
            transfers("per_second = \"often\"\nshape = 1.2"),
            "`\"often\"` is a string\n  at test.toml:16, field `cross.per_second`\nhint: \
                `per_second` takes a number",
        ),
    ] {
        let message = with_cross(&text).expect_err(&text);
        assert!(message.contains(expected), "{text}: {message}");
    }
}
