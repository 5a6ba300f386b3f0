mod beside;
mod over_udp;
mod paced;

use units::{Bytes, Rate, Span, Time};

use super::*;
use crate::{
    Counted, DirectionSummary, Goodput, Steadiness, SteadyWindow, StreamDirection, StreamGoodput,
    Summary, TcpSummary,
};

const MBIT: f64 = 1e6;

/// One row of measured figures: Mbit/s, busy, receive share, send share, retransmitted %, srtt ms,
/// share of readings with a full peer window, share with nothing left to send.
struct Row {
    name: &'static str,
    figures: [f64; 8],
    expected: (Limit, Vec<Limit>),
}

fn row(name: &'static str, figures: [f64; 8], limit: Limit, or: &[Limit]) -> Row {
    Row {
        name,
        figures,
        expected: (limit, or.to_vec()),
    }
}

/// What a second stream brought.
fn two(rate: Rate) -> Vec<OtherCount> {
    vec![OtherCount {
        streams: StreamCount::new(2).unwrap(),
        goodput: rate,
        retransmitted_share: None,
    }]
}

fn summary(figures: [f64; 8]) -> Summary {
    let [mbit, busy, receive, send, retransmitted, rtt, full, empty] = figures;
    let goodput = Rate::from_f64(mbit * MBIT);
    let tcp = TcpSummary {
        busy_share: Some(busy),
        receive_window_share: Some(receive),
        send_buffer_share: Some(send),
        retransmitted_share: Some(retransmitted / 100.0),
        rtt: Some(Span::from_secs_f64(rtt / 1e3)),
        rtt_min: Some(Span::from_millis(20)),
        window_full_share: Some(full),
        not_sent_empty_share: Some(empty),
        peer_window: Some(Bytes::new(38_000)),
        ..TcpSummary::default()
    };
    let steady = SteadyWindow {
        from: Time::ZERO,
        to: Time::ZERO + Span::from_secs(5),
        steadiness: Steadiness::Settled,
    };
    let way = DirectionSummary {
        direction: StreamDirection::Sending,
        steady,
        goodput: Goodput {
            mean: goodput,
            interval: None,
            scatter: None,
        },
        unsettled: None,
        counted: Counted::ByReceiver,
        streams: vec![StreamGoodput { number: 1, goodput }],
        fairness: Some(1.0),
        tcp,
        retransmits_total: None,
        thread_cpu_share: Some(0.1),
    };
    Summary {
        directions: vec![way],
        cpu_near: None,
        cpu_far: None,
        rtt_unloaded: Some(Span::from_millis(20)),
        rtt_loaded: None,
    }
}

/// 50 Mbit/s, 20 ms, a bandwidth-delay product of 125 kB; five seconds each on Linux 6.18.
fn measured() -> Vec<Row> {
    use Limit::*;
    vec![
        row(
            "queue of one product, cubic",
            [42.2, 1.0, 0.0, 0.0, 1.16, 31.0, 0.0, 0.0],
            Link,
            &[],
        ),
        row(
            "queue of eight, cubic",
            [47.6, 1.0, 0.0, 0.0, 0.18, 148.0, 0.0, 0.0],
            Link,
            &[],
        ),
        row(
            "queue of eight, bbr",
            [47.5, 1.0, 0.0, 0.0, 0.0, 49.0, 0.0, 0.0],
            Link,
            &[],
        ),
        row(
            "loss 1 %, cubic",
            [5.2, 1.0, 0.0, 0.0, 1.21, 22.0, 0.0, 0.0],
            Loss,
            &[ShallowQueue],
        ),
        row(
            "loss 1 %, bbr, link nearly full",
            [45.0, 1.0, 0.0, 0.0, 1.3, 27.0, 0.0, 0.0],
            Link,
            &[],
        ),
        row(
            "receive buffer",
            [14.4, 1.0, 0.99, 0.0, 0.0, 21.6, 1.0, 0.0],
            ReceiveBuffer,
            &[],
        ),
        row(
            "slow reader",
            [26.2, 1.0, 0.33, 0.0, 0.45, 40.0, 0.6, 0.0],
            ReceiveBuffer,
            &[SlowReader],
        ),
        row(
            "send buffer",
            [20.0, 0.99, 0.0, 0.75, 0.0, 26.0, 0.0, 1.0],
            SendBuffer,
            &[],
        ),
        row(
            "application",
            [10.4, 0.64, 0.0, 0.0, 0.0, 29.0, 0.0, 1.0],
            Application,
            &[],
        ),
        row(
            "queue of 0.1",
            [12.0, 1.0, 0.0, 0.0, 1.1, 21.0, 0.0, 0.0],
            Loss,
            &[ShallowQueue],
        ),
    ]
}

#[test]
fn the_measured_scenarios_are_told_apart() {
    for row in measured() {
        let verdict = diagnose(&summary(row.figures), &Context::default());
        assert_eq!(
            (verdict.limit, verdict.or),
            row.expected,
            "{}: {}",
            row.name,
            verdict.because
        );
    }
}

#[test]
fn pacing_tells_a_shallow_queue_from_loss() {
    let lossy = summary([12.0, 1.0, 0.0, 0.0, 0.77, 21.0, 0.0, 0.0]);
    let paced = |percent: f64| Context {
        paced: Some(Paced {
            retransmitted_share: Some(percent / 100.0),
            ..Paced::default()
        }),
        ..Context::default()
    };
    let cured = diagnose(&lossy, &paced(0.007));
    assert_eq!((cured.limit, cured.or), (Limit::ShallowQueue, vec![]));
    assert_eq!(
        cured.because,
        "0.77 % of the bytes were sent twice and the queue, which adds 1.00 ms in the mean, does \
         not stay full; paced it is 0.0070 %: bursts overflow a queue too short for them"
    );
    // Seen on an emulated queue of a tenth of the product: 0.17 % and, paced, 0.038 %.
    let helped = diagnose(&lossy, &paced(0.2));
    assert_eq!(
        (helped.limit, helped.or),
        (Limit::ShallowQueue, vec![Limit::Loss])
    );
    let uncured = diagnose(&lossy, &paced(0.8));
    assert_eq!((uncured.limit, uncured.or), (Limit::Loss, vec![]));
}

#[test]
fn scaling_with_streams_leans_but_does_not_decide() {
    // Measured: 5, 10 Mbit/s with 1, 2 streams under loss; 15, 36 with 1, 4 over a shallow queue.
    let doubled = |rate: f64| Context {
        best_seen: Some(Rate::from_f64(46.0 * MBIT)),
        by_streams: two(Rate::from_f64(rate * MBIT)),
        ..Context::default()
    };
    let loss = diagnose(
        &summary([5.2, 1.0, 0.0, 0.0, 1.2, 22.0, 0.0, 0.0]),
        &doubled(10.0),
    );
    assert_eq!(
        (loss.limit, loss.or),
        (Limit::Loss, vec![Limit::ShallowQueue])
    );
    let queue = diagnose(
        &summary([15.0, 1.0, 0.0, 0.0, 1.1, 21.0, 0.0, 0.0]),
        &doubled(23.0),
    );
    assert_eq!(
        (queue.limit, queue.or),
        (Limit::ShallowQueue, vec![Limit::Loss])
    );
}

#[test]
fn a_buffer_limit_says_what_would_fill_the_path() {
    let context = Context {
        best_seen: Some(Rate::from_f64(50.0 * MBIT)),
        ..Context::default()
    };
    let verdict = diagnose(
        &summary([14.4, 1.0, 0.99, 0.0, 0.0, 21.6, 1.0, 0.0]),
        &context,
    );
    assert_eq!(verdict.window_needed, Some(Bytes::new(125_000)));
    assert_eq!(
        verdict.because,
        "99 % of the busy time the receiver's window (38.0 kB) held the stream back; filling 50.0 \
         Mbit/s at 20.0 ms needs 125 kB"
    );
}

#[test]
fn full_windows_over_a_standing_queue_mean_a_full_link() {
    // Eight streams of 64 KiB hold 524 kB in flight where 125 kB fill the link: 84 ms of round
    // trip.
    let verdict = diagnose(
        &summary([47.0, 1.0, 0.98, 0.0, 0.0, 84.0, 1.0, 0.0]),
        &Context::default(),
    );
    assert_eq!(verdict.limit, Limit::Link, "{}", verdict.because);
}

#[test]
fn at_the_best_seen_with_nothing_to_gain_the_link_is_full_whatever_the_buffers_say() {
    let context = Context {
        best_seen: Some(Rate::from_f64(941.0 * MBIT)),
        by_streams: two(Rate::from_f64(938.0 * MBIT)),
        ..Context::default()
    };
    let verdict = diagnose(
        &summary([940.0, 1.0, 0.4, 0.0, 0.0, 20.2, 0.0, 0.0]),
        &context,
    );
    assert_eq!(verdict.limit, Limit::Link, "{}", verdict.because);
}

#[test]
fn a_rate_that_falls_with_more_streams_is_no_sign_of_a_full_link() {
    // As on the emulated slac-cern: 17.3 and 14.5 Mbit/s of 45 with 1 and 2 streams.
    let context = Context {
        best_seen: Some(Rate::from_f64(17.3 * MBIT)),
        by_streams: two(Rate::from_f64(14.5 * MBIT)),
        ..Context::default()
    };
    let verdict = diagnose(
        &summary([17.3, 1.0, 0.0, 0.0, 2.5, 20.4, 0.0, 0.0]),
        &context,
    );
    assert_eq!(
        (verdict.limit, verdict.or),
        (Limit::Loss, vec![Limit::ShallowQueue])
    );
}

#[test]
fn loss_is_named_first_where_the_scaling_tells_nothing() {
    let lossy = summary([20.0, 1.0, 0.0, 0.0, 1.2, 22.0, 0.0, 0.0]);
    let doubled = |best: f64, rate: f64| {
        let context = Context {
            best_seen: Some(Rate::from_f64(best * MBIT)),
            by_streams: two(Rate::from_f64(rate * MBIT)),
            ..Context::default()
        };
        let verdict = diagnose(&lossy, &context);
        (verdict.limit, verdict.or)
    };
    let loss = (Limit::Loss, vec![Limit::ShallowQueue]);
    // 1.5 times as much leans to a queue, unless the path itself allowed no more: 30 of 31.
    assert_eq!(
        doubled(46.0, 30.0),
        (Limit::ShallowQueue, vec![Limit::Loss])
    );
    assert_eq!(doubled(31.0, 30.0), loss);
    // 1.15 times as much: the two runs differ by chance.
    assert_eq!(doubled(46.0, 23.0), loss);
}

#[test]
fn close_to_the_plateau_the_link_is_full_without_another_sign() {
    let figures = summary([46.0, 1.0, 0.0, 0.0, 0.0, 20.0, 0.0, 0.0]);
    let plateau = |rate: f64| Context {
        plateau: Some(Rate::from_f64(rate * MBIT)),
        ..Context::default()
    };
    assert_eq!(diagnose(&figures, &plateau(48.0)).limit, Limit::Link);
    assert_eq!(diagnose(&figures, &plateau(90.0)).limit, Limit::Unknown);
}

#[test]
fn rare_losses_count_where_they_explain_the_rate() {
    // 3e-6 at 274 ms: Mathis gives 1448 B/274 ms sqrt(1.5/3e-6) = 29.9 Mbit/s.
    let seen = |mbit: f64| {
        let mut summary = summary([mbit, 1.0, 0.0, 0.0, 3e-4, 274.0, 0.0, 0.0]);
        summary.rtt_unloaded = Some(Span::from_millis(274));
        let tcp = &mut summary.directions[0].tcp;
        (tcp.rtt_min, tcp.mss) = (Some(Span::from_millis(274)), Some(Bytes::new(1448)));
        diagnose(&summary, &Context::default()).limit
    };
    assert_eq!(seen(28.0), Limit::Loss);
    assert_eq!(seen(5.0), Limit::Unknown);
}

#[test]
fn a_window_cut_early_is_put_down_to_loss_once_better_was_seen() {
    let mut cut = summary([12.0, 1.0, 0.0, 0.0, 0.0, 20.0, 0.0, 0.0]);
    cut.directions[0].retransmits_total = Some(40);
    cut.directions[0].tcp.congestion_window = Some(Bytes::new(30_000));
    let better = Context {
        best_seen: Some(Rate::from_f64(45.0 * MBIT)),
        ..Context::default()
    };
    assert_eq!(diagnose(&cut, &Context::default()).limit, Limit::Unknown);
    assert_eq!(diagnose(&cut, &better).limit, Limit::Loss);
}

#[test]
fn a_full_processor_comes_before_everything_else() {
    let mut summary = summary([900.0, 1.0, 0.3, 0.0, 0.0, 20.0, 0.0, 0.0]);
    summary.directions[0].thread_cpu_share = Some(0.97);
    assert_eq!(diagnose(&summary, &Context::default()).limit, Limit::Host);
}

#[test]
fn a_process_on_several_processors_is_no_sign_of_a_full_one() {
    let mut summary = summary([940.0, 1.0, 0.0, 0.0, 0.0, 31.0, 0.0, 0.0]);
    summary.cpu_far = Some((0.2, 1.09));
    assert_eq!(diagnose(&summary, &Context::default()).limit, Limit::Link);
}

#[test]
fn spurious_retransmissions_are_blamed_on_reordering() {
    let mut summary = summary([12.0, 1.0, 0.0, 0.0, 0.8, 21.0, 0.0, 0.0]);
    summary.directions[0].tcp.reorderings = Some(40);
    summary.directions[0].tcp.duplicate_share = Some(0.9);
    let verdict = diagnose(&summary, &Context::default());
    assert_eq!(verdict.limit, Limit::Reordering);
    assert!(verdict.because.contains("reorders"), "{}", verdict.because);
}

#[test]
fn a_window_that_still_grows_is_not_given_a_cause() {
    let mut summary = summary([12.0, 1.0, 0.0, 0.0, 0.0, 20.5, 0.0, 0.0]);
    summary.directions[0].tcp.congestion_window_growth = Some(0.6);
    let verdict = diagnose(&summary, &Context::default());
    assert_eq!(verdict.limit, Limit::TooShort);
    assert!(verdict.because.contains("too short"), "{}", verdict.because);
}

#[test]
fn a_foreign_sender_is_judged_by_comparison_or_not_at_all() {
    let mut summary = summary([47.0, 1.0, 0.0, 0.0, 0.0, 20.0, 0.0, 0.0]);
    summary.directions[0].tcp = TcpSummary::default();
    assert_eq!(
        diagnose(&summary, &Context::default()).limit,
        Limit::Unknown
    );
    let flat = Context {
        by_streams: two(Rate::from_f64(47.0 * MBIT)),
        ..Context::default()
    };
    assert_eq!(diagnose(&summary, &flat).limit, Limit::Link);
}

#[test]
fn a_far_end_that_uses_a_whole_processor_is_named_where_nothing_else_tells() {
    let mut summary = summary([47.0, 1.0, 0.0, 0.0, 0.0, 20.0, 0.0, 0.0]);
    summary.directions[0].tcp = TcpSummary::default();
    summary.cpu_far = Some((0.007, 0.94));
    let verdict = diagnose(&summary, &Context::default());
    assert_eq!(verdict.limit, Limit::Host);
    assert!(
        verdict
            .because
            .starts_with("the far end used 95 % of a processor"),
        "{}",
        verdict.because
    );
    summary.cpu_far = Some((0.1, 0.5));
    assert_eq!(
        diagnose(&summary, &Context::default()).limit,
        Limit::Unknown
    );
}
