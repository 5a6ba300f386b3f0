use errors::Hint;

use super::*;
use crate::spec::{Class, Cross, CrossTraffic, Cut, Loss, Variation};

pub(super) const GOOD: &str = r#"
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

pub(super) fn read(text: &str) -> Result<PathSpec, PathError> {
    parse("test", "test.toml", text)
}

/// The message and hint for `GOOD` with one piece of text replaced.
fn refusal(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "`{from}` is not in the good file");
    let error = read(&GOOD.replacen(from, to, 1)).expect_err("the file should be refused");
    format!("{error}\nhint: {}", error.hint().unwrap())
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
fn a_misspelt_congestion_control_is_told_with_line_and_what_was_meant() {
    let told = refusal("\"reno\"", "\"cubik\"");
    assert!(
        told.contains("test.toml:9, field `hosts.congestion`"),
        "{told}"
    );
    assert!(told.contains("hint: did you mean `cubic`?"), "{told}");
    for fine in ["bbr", "bbr3", "cubic2", "my_own", "yeah", "lp"] {
        let text = GOOD.replacen("\"reno\"", &format!("\"{fine}\""), 1);
        assert_eq!(read(&text).unwrap().hosts.congestion, fine);
    }
}

#[test]
fn a_second_table_is_named() {
    let error = read(&format!("{GOOD}\n[forward]\nrate = \"1Mbit/s\"\n")).unwrap_err();
    assert!(error.to_string().contains("forward"), "{error}");
}

#[test]
fn sizes_need_units() {
    let told = refusal("\"128KiB\"", "\"500\"");
    assert!(told.contains("may be bytes or packets"), "{told}");
    assert!(told.contains("`500packets`"), "{told}");
    let told = refusal("\"4MiB\"", "\"4194304\"");
    assert!(told.contains("`4194304` has no unit"), "{told}");
}

#[test]
fn too_few_and_too_many_streams_have_hints_of_their_own() {
    assert!(refusal("streams = 5", "streams = 0").contains("or leave the whole `[[cross]]` out"));
    assert!(refusal("streams = 5", "streams = 500").contains("give fewer streams"));
}

#[test]
fn a_percentage_is_told_as_a_probability() {
    let told = refusal("rate = 2e-5", "rate = \"1%\"");
    assert!(
        told.contains("`1%` is a percentage") && told.contains("write it as 0.01"),
        "{told}"
    );
}

#[test]
fn mistakes_of_several_parts_are_told_together() {
    let text = GOOD
        .replacen("\"45Mbit/s\"", "\"45\"", 1)
        .replacen("\"4MiB\"", "\"4\"", 1);
    let told = read(&text).unwrap_err().to_string();
    assert!(told.starts_with("2 mistakes:\n"), "{told}");
    let text = text
        .replacen("mtu = 1500", "mtu = 15", 1)
        .replacen("\"4\"", "\"4MiB\"", 1);
    let alone = read(&text).unwrap_err().to_string();
    assert!(
        !alone.contains("mistakes"),
        "what links may be depends on the MTU: {alone}"
    );
    assert!(
        told.contains("field `hosts.send_buffer_max`") && told.contains("field `forward.rate`"),
        "{told}"
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
            "a rate of 0bit/s is not between 300bit/s and 1Tbit/s\n  at test.toml:3, field \
                `forward.rate`",
        ),
        (
            "45Mbit/s",
            "45MB",
            "`45MB` is not a rate: the unit `MB` is unknown",
        ),
        (
            "\"82.5ms\"",
            "82.5",
            "`82.5` is a float\n  at test.toml:4, field `forward.delay`\nhint: `delay` takes a \
                string in quotes",
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
            "`fair` is not a known kind\n  at test.toml:5, field `forward.queue.kind`\nhint: known \
                kinds: drop-tail, red, wred, codel, strict, weighted",
        ),
        ("2e-5", "1.5", "a probability of 1.5 is not between 0 and 1"),
        ("2e-5", "nan", "a probability of NaN"),
        (
            "2e-5",
            "1",
            "a link that loses every packet carries nothing",
        ),
        (
            r#"kind = "random", rate = 2e-5"#,
            r#"kind = "gilbert-elliott", enter = 0.1, leave = 0.1, loss_good = 1"#,
            "a link that loses every packet carries nothing\n  at test.toml:6, field \
                `forward.loss.loss_good`",
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
            "`stream` is not a field of `cross`\n  at test.toml:13, field `cross.stream`\nhint: \
                known here: kind, streams, window, congestion, class, extra_delay",
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
            "`delay` is missing from `forward`\n  at test.toml:2, field `forward.delay`\nhint: add \
                the one-way delay",
        ),
        (
            "delay = \"82.5ms\"",
            "delay = \"82.5ms\"\ncorruption = -0.1",
            "a probability of -0.1 is not between 0 and 1",
        ),
        (
            "delay = \"82.5ms\"",
            "delay = \"82.5ms\"\ncut = [{ at = \"5s\" }]",
            "`for` is missing from `forward.cut`",
        ),
        (
            "delay = \"82.5ms\"",
            "delay = \"82.5ms\"\ncut = [{ at = \"5s\", for = \"0s\" }]",
            "a cut of 0ns is not between 1ms and",
        ),
        (
            "delay = \"82.5ms\"",
            "delay = \"82.5ms\"\ncut = [{ at = \"5s\", for = \"2s\" }, { at = \"6s\", for = \"2s\" \
                }]",
            "a cut at 6s begins before the one at 5s is over\n  at test.toml:5, field \
                `forward.cut.at`",
        ),
        (
            "delay = \"82.5ms\"",
            "delay = \"82.5ms\"\ncut = { at = \"5s\", for = \"2s\" }",
            "`cut` takes an array of tables",
        ),
        (
            "rate  = \"45Mbit/s\"",
            "rate = { low = \"80Mbit/s\", high = \"20Mbit/s\", every = \"2s\" }",
            "of 20Mbit/s\n  at test.toml:3, field `forward.rate.low`",
        ),
        (
            "rate  = \"45Mbit/s\"",
            "rate = { low = \"8Mbit/s\", high = \"20Mbit/s\" }",
            "add how long a rate holds, `every = \"2s\"`",
        ),
        (
            "delay = \"82.5ms\"",
            "delay = \"82.5ms\"\npolicer = { rate = \"20Mbit/s\", bucket = \"1kB\" }",
            "a bucket of 1kB is not between 1.5kB and 1GiB",
        ),
        (
            "delay = \"82.5ms\"",
            "delay = \"82.5ms\"\npolicer = { rate = \"20Mbit/s\" }",
            "`bucket = \"100kB\"`",
        ),
        (
            "delay = \"82.5ms\"",
            "delay = \"82.5ms\"\nreorder = { rate = 2, delay = \"5ms\" }",
            "a probability of 2 is not between 0 and 1",
        ),
        (
            "mtu = 1500",
            "mtu = 1000\nipv6 = true",
            "`ipv6 = true` on a path with an MTU of 1000, below 1280\n  at test.toml:7",
        ),
        ("[forward]", "[forward", "at test.toml:2"),
    ] {
        let message = refusal(from, to);
        assert!(message.contains(expected), "{from} -> {to}: {message}");
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
fn a_rate_that_varies_a_policer_and_reordering_are_read_and_stay_on_their_way() {
    let text = GOOD.replace(
        "rate  = \"45Mbit/s\"",
        "rate = { low = \"20Mbit/s\", high = \"80Mbit/s\", every = \"2s\" }\n\
         policer = { rate = \"30Mbit/s\", bucket = \"100kB\" }\n\
         reorder = { rate = 0.01, delay = \"5ms\" }",
    );
    let path = read(&text).unwrap();
    assert_eq!(path.forward.rate.bits_per_second(), 50_000_000);
    assert_eq!(path.forward.variation, path.reverse.variation);
    let policer = path.forward.policer.unwrap();
    assert_eq!(policer.bucket, Bytes::new(100_000));
    assert_eq!((path.reverse.policer, path.reverse.reorder), (None, None));
    assert_eq!(path.beyond_formulas().unwrap().field, "forward.policer");
    assert!(
        path.to_string()
            .starts_with("20Mbit/s to 80Mbit/s, RTT 165ms")
    );
    assert!(path.to_string().contains("policed to 30Mbit/s"));
}

/// A path whose rate is recorded in a file with this text.
fn read_trace(text: &str) -> Result<PathSpec, PathError> {
    let folder = std::env::temp_dir().join(format!("netpath-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("my.trace"), text).unwrap();
    let path = GOOD.replace("\"45Mbit/s\"", "{ trace = \"my.trace\" }");
    PathSpec::from_toml(folder.join("my.toml").to_str().unwrap(), &path)
}

#[test]
fn a_recorded_rate_is_read_from_beside_the_path_and_refused_line_by_line() {
    // 4 packets of 12,000 bits in 8 ms.
    let path = read_trace("0\n3\n3\n8\n").unwrap();
    assert_eq!(path.forward.rate.bits_per_second(), 6_000_000);
    let Some(Variation::Recorded(trace)) = &path.forward.variation else {
        panic!("{:?}", path.forward.variation);
    };
    assert_eq!(
        (&trace.millis[..], trace.opportunities),
        (&[0, 3, 3, 8][..], 4)
    );
    assert_eq!(path.forward.variation, path.reverse.variation);
    assert!(
        path.to_string()
            .starts_with("6.00 Mbit/s in the mean of my.trace"),
        "{path}"
    );
    assert!(path.beyond_formulas().is_none());
    for (text, expected) in [
        (
            "0\n3.5\n",
            "`3.5` is not a whole number of milliseconds\n  at",
        ),
        ("0\n\n4\n", "my.trace:2, field `forward.rate.trace`"),
        (
            "0\n5\n4\n",
            "4 ms come after 5 ms, and times cannot go back\n  at",
        ),
        ("86400001\n", "86400001 ms are beyond 86400000 ms, a day"),
        ("0\n0\n", "ends at 0 ms, so it lasts for no time"),
        ("", "has no lines"),
        ("86400000\n", "a rate of 0bit/s is not between 300bit/s"),
    ] {
        let error = read_trace(text).unwrap_err();
        assert!(error.to_string().contains(expected), "{text}: {error}");
        assert!(!error.hint().unwrap().is_empty());
    }
    let missing = GOOD.replace("\"45Mbit/s\"", "{ trace = \"no.trace\" }");
    let error = read(&missing).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`no.trace` cannot be read as a trace"),
        "{error}"
    );
}

#[test]
fn cuts_go_both_ways_without_a_described_way_back() {
    let faults = "loss = { kind = \"random\", rate = 0.1 }\ncorruption = 1e-3\n[[forward.cut]]\nat \
        = \"5s\"\nfor = \"60s\"\n";
    let text = GOOD.replace("loss  = { kind = \"random\", rate = 2e-5 }\n", faults);
    let path = read(&text).unwrap();
    let cut = Cut {
        at: Span::from_secs(5),
        length: Span::from_secs(60),
    };
    assert_eq!(path.forward.cuts, [cut]);
    assert_eq!(path.reverse.cuts, [cut]);
    assert_eq!(
        (path.forward.corruption, path.reverse.corruption),
        (1e-3, 0.0)
    );
    assert_eq!(path.beyond_formulas().unwrap().value, "60s");
    assert_eq!(path.extra().unwrap().field, "forward.corruption");
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
    assert!(
        error.hint().unwrap().contains("slac-cern"),
        "{}",
        error.hint().unwrap()
    );
}

mod row;
