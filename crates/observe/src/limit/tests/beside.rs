//! What the other runs say: each limit that one run alone does not show.

use super::*;

/// A run of `mbit` Mbit/s that loses `percent` %, on 20 ms without a queue.
fn lossy(mbit: f64, percent: f64) -> Summary {
    let mut summary = summary([mbit, 1.0, 0.0, 0.0, percent, 21.0, 0.0, 0.0]);
    summary.directions[0].tcp.mss = Some(Bytes::new(1448));
    summary
}

/// No losses while it was steady, and `total` before.
fn cut_early(mbit: f64, total: u64, seconds: u64) -> Summary {
    let mut summary = lossy(mbit, 0.0);
    let way = &mut summary.directions[0];
    way.steady.to = Time::ZERO + Span::from_secs(seconds);
    way.retransmits_total = Some(total);
    way.tcp.retransmits = Some(0);
    way.tcp.congestion_window = Some(Bytes::new(60_000));
    summary
}

fn best(mbit: f64) -> Context {
    Context {
        best_seen: Some(Rate::from_f64(mbit * MBIT)),
        ..Context::default()
    }
}

fn with_others(streams: u64, mbit: f64, lost: f64, queue_ms: u64) -> Context {
    Context {
        by_streams: vec![OtherCount {
            streams: StreamCount::new(streams).unwrap(),
            goodput: Rate::from_f64(mbit * MBIT),
            retransmitted_share: Some(lost),
        }],
        queue_most: Some(Span::from_millis(queue_ms)),
        ..best(mbit)
    }
}

fn named(summary: &Summary, context: &Context) -> (Limit, Vec<Limit>) {
    let verdict = diagnose(summary, context);
    (verdict.limit, verdict.or)
}

#[test]
fn a_window_that_closes_while_data_wait_is_a_slow_reader() {
    let mut slow = summary([26.2, 1.0, 0.33, 0.0, 0.45, 40.0, 0.6, 0.0]);
    slow.directions[0].tcp.peer_window_fall = Some(0.9);
    let verdict = diagnose(&slow, &Context::default());
    assert_eq!(verdict.limit, Limit::SlowReader, "{}", verdict.because);
    slow.directions[0].tcp.peer_window_fall = Some(0.02);
    assert_eq!(
        named(&slow, &Context::default()),
        (Limit::ReceiveBuffer, vec![])
    );
}

#[test]
fn a_window_that_closes_behind_losses_is_no_slow_reader() {
    let mut lossy = summary([75.0, 1.0, 0.33, 0.0, 0.45, 100.0, 0.3, 0.0]);
    lossy.directions[0].tcp.peer_window_fall = Some(0.6);
    lossy.directions[0].tcp.retransmitted_share = Some(0.05);
    assert_eq!(
        named(&lossy, &Context::default()),
        (Limit::ReceiveBuffer, vec![Limit::Loss, Limit::SlowReader])
    );
    // One loss in several round trips leaves nothing missing for most of the time.
    lossy.directions[0].tcp.retransmitted_share = Some(1e-3);
    assert_eq!(named(&lossy, &Context::default()).0, Limit::SlowReader);
}

#[test]
fn streams_that_add_up_without_a_loss_have_a_limit_each() {
    let mut clean = lossy(10.0, 0.0);
    clean.directions[0].retransmits_total = Some(0);
    assert_eq!(
        named(&clean, &with_others(4, 39.0, 0.0, 0)),
        (Limit::PerFlow, vec![])
    );
    // Nearly as much with half the growth is no such thing.
    assert_eq!(
        named(&clean, &with_others(4, 20.0, 0.0, 0)).0,
        Limit::Unknown
    );
}

#[test]
fn heavy_loss_at_a_rate_that_nothing_raises_and_without_a_queue_is_a_policer() {
    let context = Context {
        plateau: Some(Rate::from_f64(20.0 * MBIT)),
        ..with_others(4, 20.0, 0.06, 1)
    };
    let (limit, or) = named(&lossy(19.0, 5.0), &context);
    assert_eq!(limit, Limit::Policer);
    assert_eq!(or, [Limit::ShallowQueue, Limit::Link]);
    // With a short queue, it is that which overflows.
    let short = Context {
        queue_most: Some(Span::from_millis(4)),
        ..context.clone()
    };
    assert_eq!(named(&lossy(19.0, 5.0), &short).0, Limit::ShallowQueue);
    // With a queue, the same is a link that many overload.
    let queue = Context {
        queue_most: Some(Span::from_millis(15)),
        ..context
    };
    assert_eq!(named(&lossy(19.0, 5.0), &queue).0, Limit::Link);
}

#[test]
fn small_packets_are_named_beside_the_losses_that_they_make_dear() {
    let mut small = lossy(5.0, 1.0);
    small.directions[0].tcp.mss = Some(Bytes::new(524));
    let verdict = diagnose(&small, &Context::default());
    assert!(verdict.or.contains(&Limit::PathMtu), "{verdict:?}");
    assert!(verdict.because.contains("524 bytes"), "{}", verdict.because);
}

#[test]
fn a_queue_that_has_held_much_is_not_too_short() {
    // 16 streams waited 12 ms of 20: no burst of one stream overflows that.
    let context = with_others(16, 47.0, 0.02, 12);
    assert_eq!(named(&lossy(5.2, 1.2), &context), (Limit::Loss, vec![]));
}

#[test]
fn a_short_queue_leaves_one_stream_most_of_the_path_and_drops_more_of_many() {
    // Simulated: 15.3 of 17.3 Mbit/s and 0.13 %, with 16 streams 10.5 %, and 2 ms of 27 at the
    // most.
    let context = with_others(16, 17.3, 0.105, 2);
    let (limit, or) = named(&lossy(13.0, 0.13), &context);
    assert_eq!((limit, or), (Limit::ShallowQueue, vec![Limit::Loss]));
    // A tenth of the path is too little for a queue to have left, however short it is.
    assert_eq!(named(&lossy(1.7, 0.13), &context).0, Limit::Loss);
}

#[test]
fn a_paced_run_too_short_to_meet_a_loss_says_nothing() {
    // Simulated, oc3-80ms: three losses of 11,400 segments; the paced run met one in 20,900.
    let mut long = lossy(66.3, 0.026);
    long.rtt_unloaded = Some(Span::from_millis(80));
    let tcp = &mut long.directions[0].tcp;
    (tcp.rtt, tcp.rtt_min) = (Some(Span::from_millis(81)), Some(Span::from_millis(80)));
    let context = Context {
        paced: Some(Paced {
            segments: Some(20_900.0),
            retransmitted_share: Some(4.8e-5),
            retransmits: Some(1),
            ..Paced::default()
        }),
        ..best(149.0)
    };
    let (limit, or) = named(&long, &context);
    assert_eq!((limit, or), (Limit::Loss, vec![Limit::ShallowQueue]));
}

#[test]
fn losses_that_pacing_does_not_prevent_after_an_early_cut_are_random() {
    let context = Context {
        paced: Some(Paced {
            retransmits: Some(24),
            ..Paced::default()
        }),
        ..best(45.0)
    };
    assert_eq!(named(&cut_early(12.0, 40, 2), &context).0, Limit::Loss);
}

#[test]
fn a_long_time_without_a_loss_excludes_random_ones() {
    // 4 Mbit/s at 20 ms are 7 segments a round trip; Mathis gives them a loss of 3 %, and 345
    // segments a second.
    let (limit, or) = named(&cut_early(4.0, 40, 5), &best(45.0));
    assert_eq!((limit, or), (Limit::ShallowQueue, vec![Limit::Link]));
    // With a deep queue the window comes back: only time is missing.
    let deep = with_others(4, 45.0, 0.0, 15);
    let (limit, or) = named(&cut_early(4.0, 40, 5), &deep);
    assert_eq!((limit, or), (Limit::TooShort, vec![Limit::Link]));
}

#[test]
fn a_queue_before_anybody_of_ours_sends_is_that_of_others() {
    let mut shared = lossy(3.0, 1.0);
    let context = Context {
        rtt_unloaded: Some(Span::from_millis(34)),
        rtt_min: Some(Span::from_millis(20)),
        ..best(15.0)
    };
    shared.rtt_unloaded = None;
    let verdict = diagnose(&shared, &context);
    assert_eq!(verdict.limit, Limit::Link, "{}", verdict.because);
    // A little of it leaves the question open.
    let little = Context {
        rtt_unloaded: Some(Span::from_millis(22)),
        ..context
    };
    let (limit, or) = named(&shared, &little);
    assert_eq!(
        (limit, or),
        (Limit::Link, vec![Limit::Loss, Limit::ShallowQueue])
    );
}

#[test]
fn delayed_acknowledgements_are_no_queue() {
    // One segment at a time: the kernel counts the receiver's 40 ms, the probes beside it do not.
    let mut small = summary([0.24, 1.0, 0.99, 0.0, 0.0, 60.0, 1.0, 0.0]);
    small.rtt_loaded = Some(Span::from_millis(20));
    assert_eq!(named(&small, &Context::default()).0, Limit::ReceiveBuffer);
}

#[test]
fn the_gain_is_what_other_runs_have_shown_and_never_that_of_another_link() {
    let reach = |summary: &Summary, context: &Context| diagnose(summary, context).could_reach;
    let shown = reach(&lossy(5.2, 1.2), &best(46.0));
    assert_eq!(shown, Some(Rate::from_f64(46.0 * MBIT)));
    assert_eq!(reach(&lossy(5.2, 1.2), &best(5.3)), None);
    let full = summary([47.6, 1.0, 0.0, 0.0, 0.18, 148.0, 0.0, 0.0]);
    assert_eq!(reach(&full, &best(60.0)), None);
}

#[test]
fn idle_connections_beside_a_busy_processor_are_the_hosts() {
    let mut idle = summary([9_000.0, 0.4, 0.0, 0.0, 0.0, 20.0, 0.0, 1.0]);
    idle.cpu_near = Some((0.1, 0.3));
    assert_eq!(named(&idle, &Context::default()).0, Limit::Application);
    idle.cpu_near = Some((0.2, 1.1));
    let (limit, or) = named(&idle, &Context::default());
    assert_eq!((limit, or), (Limit::Host, vec![Limit::Application]));
}

#[test]
fn a_sending_thread_without_time_is_the_host_and_not_the_program() {
    // Over the loopback the buffer runs empty because the thread that fills it has no time left.
    let mut loopback = summary([9_000.0, 0.7, 0.0, 0.0, 0.0, 20.0, 0.0, 1.0]);
    loopback.directions[0].thread_cpu_share = Some(0.92);
    assert_eq!(named(&loopback, &Context::default()).0, Limit::Host);
}
