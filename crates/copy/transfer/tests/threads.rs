//! Threads that share something, in many orders: `make threads`.

use transfer::threads::{budget, publisher, stream_set};

macro_rules! tests {
    ($($room:ident $test:ident)*) => { $(#[test] fn $test() { $room::$test(); })* };
}

tests! {
    budget copies_at_the_same_time_have_the_whole_at_most_and_leave_it_when_they_go
    publisher every_file_that_was_given_is_published_once
    publisher a_publisher_that_is_closed_ends
    stream_set arrivals_end_with_the_session_although_the_queue_is_full
    stream_set every_stream_is_taken_that_the_session_waits_for
}
