//! Orders in which streams arrive, are taken, and the session ends.

use shuttle::check_random;
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicBool, Ordering};
use shuttle::sync::mpsc::{channel, sync_channel};

use super::*;

/// Orders that are drawn; of a failure the order is printed.
const ORDERS: usize = 10_000;

/// Three streams arrive while the queue of events has room for one, and the session takes `taken`
/// events before it ends.
fn arrivals(taken: usize) {
    let (arrive, incoming) = channel();
    let (report, events) = sync_channel(1);
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let passing = thread::spawn(move || {
        let next = || {
            let next = incoming.try_recv().ok();
            if next.is_none() {
                thread::yield_now();
            }
            next
        };
        let is_over = || over.load(Ordering::Relaxed);
        pass_on(&next, &|event| report.try_send(event), &is_over);
    });
    (1..=3).for_each(|number| arrive.send(number).unwrap());
    let got: Vec<i32> = (0..taken).map(|_| events.recv().unwrap()).collect();
    assert_eq!(
        got,
        (1..=taken as i32).collect::<Vec<_>>(),
        "in their order"
    );
    is_over.store(true, Ordering::Relaxed);
    // The session waits for the thread while nothing takes events any more.
    passing.join().unwrap();
    drop(events);
}

/// The session is over while streams wait.
pub fn arrivals_end_with_the_session_although_the_queue_is_full() {
    check_random(|| arrivals(0), ORDERS);
    check_random(|| arrivals(1), ORDERS);
}

/// The session waits for three.
pub fn every_stream_is_taken_that_the_session_waits_for() {
    check_random(|| arrivals(3), ORDERS);
}
