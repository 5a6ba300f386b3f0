//! Several links in a row, with load on them.

use netpath::PathSpec;
use sim::{RunResult, Scenario, run};
use units::{Bytes, Span};

/// 50 Mbit/s and 5 ms, and what else the file says.
fn scenario(more: &str) -> Scenario {
    let text = format!(
        "[forward]\nrate = \"50Mbit/s\"\ndelay = \"5ms\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"100packets\" }}\n{more}"
    );
    let path = PathSpec::from_toml("row", &text).unwrap_or_else(|error| panic!("{error}"));
    Scenario {
        duration: Span::from_secs(20),
        warmup: Span::from_secs(5),
        ..Scenario::new(path).unwrap()
    }
}

fn link(kind: &str, rate: &str, delay: &str) -> String {
    format!(
        "[[{kind}]]\nrate = \"{rate}\"\ndelay = \"{delay}\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"100packets\" }}\n"
    )
}

/// Mbit/s of all streams.
fn goodput(run: &RunResult) -> f64 {
    let streams = run.streams.iter();
    streams.map(|stream| stream.goodput.as_f64()).sum::<f64>() / 1e6
}

#[test]
fn the_narrowest_link_holds_wherever_it_stands_and_delays_add_up() {
    let narrow = link("before", "20Mbit/s", "10ms");
    let wide = link("beyond", "100Mbit/s", "2ms");
    for more in [
        format!("{narrow}{wide}"),
        format!("{wide}{}", narrow.replace("before", "beyond")),
    ] {
        let shown = run(&scenario(&more)).unwrap();
        // 1448 of 1500 bytes of 20 Mbit/s are 19.3.
        assert!(
            (18.8..19.32).contains(&goodput(&shown)),
            "{}",
            goodput(&shown)
        );
        assert!(shown.utilisation > 0.97, "{}", shown.utilisation);
        assert!(shown.queue.mean_packets > 10.0, "{:?}", shown.queue);
        let short = Scenario {
            window: Some(Bytes::from_kib(20)),
            ..scenario(&more)
        };
        // Without a queue: 17 ms each way, a data packet at 20, 50 and 100 Mbit/s takes 0.96 ms,
        // and the second of two that are acknowledged together 0.6 ms more.
        let round_trips = run(&short).unwrap().round_trips.unwrap();
        let least = round_trips.min.as_secs_f64() * 1e3;
        assert!((34.9..35.9).contains(&least), "{least} ms");
    }
}

#[test]
fn a_chain_of_one_link_is_what_it_was() {
    let alone = run(&scenario("loss = { kind = \"random\", rate = 1e-4 }")).unwrap();
    // The link beside it is never busy and loses nothing: the main one loses the same packets, if
    // they come in the same order.
    let wide = link("before", "1Tbit/s", "0ms");
    let beside = run(&scenario(&format!(
        "loss = {{ kind = \"random\", rate = 1e-4 }}\n{wide}"
    )));
    let beside = beside.unwrap();
    assert_eq!(alone.drops.wire_loss, beside.drops.wire_loss);
    let ratio = goodput(&beside) / goodput(&alone);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn a_load_takes_what_it_asks_for_and_streams_get_the_rest() {
    let mut loaded = scenario("load = { rate = \"30Mbit/s\" }");
    loaded.streams = 8;
    let shown = run(&loaded).unwrap();
    // Of 50 Mbit/s 20 are left, 19.3 of payload; a full queue drops some of the load as well,
    // which leaves a little more.
    assert!(
        (17.5..21.5).contains(&goodput(&shown)),
        "{}",
        goodput(&shown)
    );
    assert!(shown.utilisation > 0.97, "{}", shown.utilisation);
}

#[test]
fn cross_traffic_shares_the_main_link_alone() {
    let cross = "[[cross]]\nkind = \"on-off\"\nsources = 50\nrate = \"1Mbit/s\"\n\
                 on = \"50ms\"\noff = \"50ms\"\n";
    let narrow = link("before", "20Mbit/s", "1ms");
    let shown = run(&scenario(&format!("{narrow}{cross}"))).unwrap();
    // 25 Mbit/s of others beside 20 on a link of 50: there is room for both.
    assert!(goodput(&shown) > 18.5, "{}", goodput(&shown));
    let others = shown.cross[0].goodput.as_f64() / 1e6;
    // A source whose period ends within the 12 ms of a datagram sends it whole: 6 % more. 150
    // periods of 50 sources scatter by 1.6 %.
    assert!((others - 26.0).abs() < 1.7, "{others}");
}

#[test]
fn segments_fit_the_smallest_link() {
    let narrow = format!("{}mtu = 1000\n", link("beyond", "20Mbit/s", "1ms"));
    let shown = run(&scenario(&narrow)).unwrap();
    // 948 of 1000 bytes of 20 Mbit/s.
    assert!(
        (18.4..18.97).contains(&goodput(&shown)),
        "{}",
        goodput(&shown)
    );
}

#[test]
fn the_same_seed_shows_the_same_on_a_row_with_load() {
    let more = format!(
        "load = {{ rate = \"10Mbit/s\" }}\n{}",
        link("before", "60Mbit/s", "1ms")
    );
    let base = scenario(&more);
    let again = run(&base).unwrap();
    assert_eq!(run(&base).unwrap(), again);
    let other = Scenario { seed: 2, ..base };
    assert_ne!(run(&other).unwrap().streams, again.streams);
}

#[test]
fn corruption_is_refused_on_any_link() {
    let problem = run(&scenario(&format!(
        "{}corruption = 0.1",
        link("before", "9Mbit/s", "1ms")
    )));
    let problem = problem.unwrap_err().to_string();
    assert!(problem.contains("`corruption = 0.1`"), "{problem}");
}
