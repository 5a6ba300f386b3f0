//! Runs over UDP, whose sender is our own.

use super::*;
use crate::Transport;

fn context() -> Context {
    Context {
        transport: Transport::Udp,
        ..Context::default()
    }
}

/// 285 Mbit/s with so many per cent sent again at 20 ms.
fn seen(lost: f64) -> Summary {
    summary([285.0, 1.0, 0.0, 0.0, lost, 20.2, 0.0, 0.0])
}

#[test]
fn losses_below_two_per_cent_hold_it_back_where_a_queue_is_short_at_most() {
    let clean = diagnose(&seen(0.0), &context());
    assert_eq!((clean.limit, clean.or.len()), (Limit::Link, 0));
    let verdict = diagnose(&seen(1.0), &context());
    assert_eq!(
        (verdict.limit, verdict.or.as_slice()),
        (Limit::Link, [Limit::Loss].as_slice())
    );
    assert!(verdict.because.contains("1.0 %"), "{}", verdict.because);
    assert!(!verdict.because.contains("paced"), "{}", verdict.because);
}

#[test]
fn more_losses_do() {
    let verdict = diagnose(&seen(4.0), &context());
    assert_eq!(verdict.limit, Limit::Loss);
    assert!(verdict.or.contains(&Limit::Policer));
}

#[test]
fn a_thread_without_time_left_is_named_first() {
    let mut summary = seen(1.0);
    summary.directions[0].thread_cpu_share = Some(0.97);
    assert_eq!(diagnose(&summary, &context()).limit, Limit::Host);
}

#[test]
fn a_processor_that_is_nearly_full_is_named_too() {
    let mut summary = seen(0.0);
    summary.cpu_far = Some((0.5, 0.45));
    let verdict = diagnose(&summary, &context());
    assert_eq!(
        (verdict.limit, verdict.or),
        (Limit::Link, vec![Limit::Host])
    );
}
