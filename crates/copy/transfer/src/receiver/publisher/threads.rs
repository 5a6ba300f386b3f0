//! Orders in which files become whole, are published, and the publisher is closed.

use shuttle::sync::Arc;
use shuttle::{check_random, thread};

use super::*;

/// Publishes what two threads give while a third closes; returns what was given before, and what
/// was published.
fn published(closes_early: bool) {
    let (publisher, files) = Publisher::queue();
    let hurry = std::sync::Arc::clone(&publisher.is_last);
    let publisher = Arc::new(publisher);
    let publishing = thread::spawn(move || {
        let mut published = Vec::new();
        let mut publish = |whole: Vec<Whole>| {
            assert!(whole.len() <= 2, "a batch is bounded");
            published.extend(whole.into_iter().map(|(id, _)| id));
            true
        };
        publish_all(&files, &hurry, &|| 2, &mut publish);
        published
    });
    let giving = Arc::clone(&publisher);
    let stream = thread::spawn(move || {
        giving.take(1, [0; HASH_LENGTH]);
        giving.take(2, [0; HASH_LENGTH]);
    });
    publisher.take(3, [0; HASH_LENGTH]);
    publisher.hurry(true);
    if !closes_early {
        stream.join().unwrap();
        publisher.close();
        let mut published = publishing.join().unwrap();
        published.sort();
        assert_eq!(published, [1, 2, 3]);
        return;
    }
    publisher.close();
    // The thread ends although files may still be given: those are let go.
    let published = publishing.join().unwrap();
    stream.join().unwrap();
    assert!(published.contains(&3), "{published:?}");
    let once = |id| published.iter().filter(|one| **one == id).count() <= 1;
    assert!(once(1) && once(2), "{published:?}");
}

/// Orders that are drawn; of a failure the order is printed.
const ORDERS: usize = 10_000;

/// Closed once all are given.
pub fn every_file_that_was_given_is_published_once() {
    check_random(|| published(false), ORDERS);
}

/// Closed before.
pub fn a_publisher_that_is_closed_ends() {
    check_random(|| published(true), ORDERS);
}
