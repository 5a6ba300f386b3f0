use errors::Hint;

use super::*;
use crate::parse::tests::{GOOD, read};

/// The queue of `GOOD` with another text in its place.
fn with_queue(text: &str) -> Result<QueueSpec, String> {
    let from = r#"{ kind = "drop-tail", limit = "128KiB" }"#;
    let path = read(&GOOD.replace(from, text));
    path.map(|path| path.forward.queue)
        .map_err(|error| format!("{error}\nhint: {}", error.hint().unwrap()))
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
        gentle: true,
        wait: false,
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
            r#"{ kind = "red", limit = "1000packets", min = "50packets", max = "150packets", probability = 0.02, weight = 1, gentle = false, wait = true }"#,
            QueueSpec::Red(RedSpec {
                probability: 0.02,
                weight: 1.0,
                gentle: false,
                wait: true,
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
            "`min` is missing from `forward.queue`\n  at test.toml:5, field \
                `forward.queue.min`\nhint: add `min = \"50packets\"`",
        ),
        (
            red(r#"min = "50packets", max = "50packets""#),
            "`max` of 50 packets is not above `min` of 50 packets\n  at test.toml:5, field \
                `forward.queue.max`\nhint: three times `min` is usual",
        ),
        (
            red(r#"min = "50packets", max = "101packets""#),
            "`max` of 101 packets is above the queue's limit of 100 packets\n  at test.toml:5, \
                field `forward.queue.max`\nhint: raise `limit`",
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
            "with a `probability` of 0 the queue never drops early\n  at test.toml:5, field \
                `forward.queue.probability`",
        ),
        (
            red(r#"min = "5packets", max = "90packets", weight = 1.5"#),
            "a probability of 1.5 is not between 0 and 1",
        ),
        (
            red(r#"min = "5packets", max = "90packets", ecn = "yes""#),
            "`\"yes\"` is a string\n  at test.toml:5, field `forward.queue.ecn`\nhint: `ecn` takes \
                true or false",
        ),
        (
            red(r#"min = "5packets", max = "90packets", gentle = 1"#),
            "field `forward.queue.gentle`\nhint: `gentle` takes true or false",
        ),
        (
            codel(r#"target = "0ms""#),
            "a wait of 0ns is not between 1us and 10s",
        ),
        (
            codel(r#"target = "100ms""#),
            "a target of 100ms is not below the interval of 100ms\n  at test.toml:5, field \
                `forward.queue.target`\nhint: RFC 8289",
        ),
        (
            codel(r#"interval = "4ms""#),
            "a target of 5ms is not below the interval of 4ms\n  at test.toml:5, field \
                `forward.queue.interval`",
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
            "shares of 0.5 for scavenger and 0.5 for priority leave nothing for best effort\n  at \
                test.toml:5, field `forward.queue.priority`\nhint: best effort gets the rest",
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

#[test]
fn thresholds_of_classes_are_read_and_those_of_best_effort_serve_for_the_rest() {
    let thresholds = |min, max, probability| Thresholds {
        min,
        max,
        probability,
    };
    let usual = thresholds(50, 150, 0.1);
    let text = concat!(
        r#"{ kind = "wred", limit = "1000packets", rio = true, "#,
        r#"scavenger = { min = "20packets", max = "60packets", probability = 0.2 }, "#,
        r#"best-effort = { min = "50packets", max = "150packets" } }"#
    );
    let expected = WredSpec {
        limit: QueueLimit::Packets(1000),
        scavenger: thresholds(20, 60, 0.2),
        best_effort: usual,
        priority: usual,
        weight: 0.002,
        gentle: false,
        rio: true,
        ecn: false,
    };
    assert_eq!(with_queue(text), Ok(QueueSpec::Wred(expected)));
    let path = read(&GOOD.replace(r#"{ kind = "drop-tail", limit = "128KiB" }"#, text)).unwrap();
    let extra = path.beyond_formulas().unwrap();
    assert_eq!(
        (extra.field, &*extra.value),
        ("forward.queue", "wred 1000 packets")
    );
}

#[test]
fn thresholds_of_classes_that_make_no_sense_are_refused() {
    let wred = |rest: &str| format!(r#"{{ kind = "wred", limit = "100packets", {rest} }}"#);
    let usual = r#"best-effort = { min = "5packets", max = "90packets" }"#;
    for (text, expected) in [
        (
            r#"scavenger = { min = "5packets", max = "90packets" }"#.to_owned(),
            "`best-effort` is missing from `forward.queue`\n  at test.toml:5, field \
                `forward.queue.best-effort`\nhint: add `best-effort = {",
        ),
        (
            usual.to_owned(),
            "`best-effort` alone has thresholds, which is what `red` is\n  at test.toml:5, field \
                `forward.queue`\nhint: add `scavenger` or `priority`",
        ),
        (
            format!(r#"{usual}, scavenger = {{ min = "60packets", max = "60packets" }}"#),
            "`max` of 60 packets is not above `min` of 60 packets\n  at test.toml:5, field \
                `forward.queue.scavenger.max`",
        ),
        (
            format!(r#"{usual}, priority = {{ min = "60packets", max = "101packets" }}"#),
            "`max` of 101 packets is above the queue's limit of 100 packets",
        ),
        (
            format!(r#"{usual}, priority = {{ min = "6packets", max = "10packets", weight = 1 }}"#),
            "`weight` is not a field of `forward.queue.priority`",
        ),
        (
            format!("{usual}, priority = 0.3"),
            "`0.3` is a float\n  at test.toml:5, field `forward.queue.priority`\nhint: `priority` \
                takes a table",
        ),
        (
            format!(r#"{usual}, gold = {{ min = "6packets", max = "10packets" }}"#),
            "`gold` is not a field of `forward.queue`",
        ),
    ] {
        let message = with_queue(&wred(&text)).expect_err(&text);
        assert!(message.contains(expected), "{text}: {message}");
    }
}
