//! Each cause as what the two ends and the kernel show of it.

use units::Bytes;

use super::*;
use crate::online::RateMax;

/// A quarter of a second of four threads: the shares in hundredths of what they wait for; the rest
/// they compute.
fn end(disk: u64, network: u64, idle: u64, held: u64) -> Activity {
    let part = |hundredths: u64| Span::from_millis(10 * hundredths);
    Activity {
        length: Span::from_millis(250),
        streams: 4,
        disk: part(disk),
        network: part(network),
        idle: part(idle),
        held: part(held),
        computed: part(100 - disk - network - idle - held),
        processor: Span::from_millis(100),
        processors: 8,
        host_busy: Span::from_millis(400),
        ..Activity::default()
    }
}

/// Four streams at 80 Mbit/s, of which so many had nothing left to send.
fn streams(without_data: u16) -> Streams {
    Streams {
        count: 4,
        arrived: Bytes::new(2_500_000),
        busy: Some(Span::from_secs(1)),
        rtt: Some(Span::from_millis(101)),
        rtt_min: Some(Span::from_millis(100)),
        without_data: Some(without_data),
        ..Streams::default()
    }
}

fn interval(sender: Activity, receiver: Activity, without_data: u16) -> Interval {
    Interval {
        length: Span::from_millis(250),
        streams: streams(without_data),
        sender: Some(sender),
        receiver: Some(receiver),
        ..Interval::default()
    }
}

const FAR: Option<Span> = Some(Span::from_millis(100));
const WAITS: u64 = 95;

fn decided(interval: &Interval) -> Option<Limit> {
    binds(interval, FAR)
}

/// A receiver that waits for data.
fn hungry() -> Activity {
    end(1, WAITS, 0, 0)
}

#[test]
fn a_slow_source_leaves_everybody_behind_it_waiting() {
    let slow = interval(end(90, 2, 0, 0), hungry(), 4);
    assert_eq!(decided(&slow), Some(Limit::SenderDisk));
}

#[test]
fn a_source_that_just_keeps_a_path_full_is_not_what_binds() {
    // It reads for 80 % of its time, and still the connections always have data.
    let enough = interval(end(80, 15, 0, 0), hungry(), 0);
    assert_eq!(decided(&enough), Some(Limit::Network));
}

#[test]
fn a_source_out_of_the_page_cache_is_no_disk() {
    // Its reads are copies in memory, which is time on a processor.
    let cached = interval(end(1, 3, 0, 0), hungry(), 4);
    assert_eq!(decided(&cached), Some(Limit::SenderProcessor));
}

#[test]
fn a_slow_destination_leaves_the_sender_waiting_and_the_network_full() {
    let slow = interval(end(1, WAITS, 0, 0), end(92, 3, 0, 0), 0);
    assert_eq!(decided(&slow), Some(Limit::ReceiverDisk));
}

#[test]
fn a_destination_that_flushes_when_all_has_arrived_binds() {
    let mut flushing = interval(end(0, 0, 100, 0), end(0, 100, 0, 0), 4);
    flushing.receiver.as_mut().unwrap().flush = Span::from_millis(240);
    assert_eq!(decided(&flushing), Some(Limit::ReceiverDisk));
}

#[test]
fn a_busy_receiver_is_told_from_the_network_by_what_it_waits_for() {
    let busy = interval(end(1, WAITS, 0, 0), end(4, 10, 0, 0), 0);
    assert_eq!(decided(&busy), Some(Limit::ReceiverProcessor));
    let waits = interval(end(1, WAITS, 0, 0), end(4, 60, 0, 0), 0);
    assert_eq!(decided(&waits), Some(Limit::Network));
}

#[test]
fn a_receiver_that_has_not_come_to_what_is_in_its_buffers_binds() {
    // The sender has handed over everything.
    let busy = interval(end(0, 0, 98, 0), end(4, 10, 0, 0), 4);
    assert_eq!(decided(&busy), Some(Limit::ReceiverProcessor));
    let disk = interval(end(0, 0, 98, 0), end(90, 2, 0, 0), 4);
    assert_eq!(decided(&disk), Some(Limit::ReceiverDisk));
}

#[test]
fn waiting_for_a_processor_counts_as_computing() {
    let mut busy = interval(end(0, 2, 0, 0), hungry(), 4);
    let sender = busy.sender.as_mut().unwrap();
    std::mem::swap(&mut sender.computed, &mut sender.queued);
    assert_eq!(decided(&busy), Some(Limit::SenderProcessor));
}

#[test]
fn a_window_is_told_from_the_path() {
    let mut small = interval(end(1, WAITS, 0, 0), hungry(), 0);
    small.streams.receive_window_limited = Some(Span::from_millis(900));
    assert_eq!(decided(&small), Some(Limit::ReceiveBuffer));
    small.streams.receive_window_limited = Some(Span::from_millis(110));
    assert_eq!(decided(&small), Some(Limit::Network));
    small.streams.send_buffer_limited = Some(Span::from_millis(800));
    assert_eq!(decided(&small), Some(Limit::SendBuffer));
    // Packets wait in a queue: the buffer bounds that queue only, and the link is full.
    small.streams.rtt = Some(Span::from_millis(180));
    assert_eq!(decided(&small), Some(Limit::Network));
}

#[test]
fn threads_that_wait_for_a_kernel_that_has_sent_all_have_too_small_a_buffer() {
    let small = interval(end(1, WAITS, 0, 0), hungry(), 4);
    assert_eq!(decided(&small), Some(Limit::SendBuffer));
    let some = interval(end(1, WAITS, 0, 0), hungry(), 2);
    assert_eq!(decided(&some), Some(Limit::Network));
}

#[test]
fn a_sender_that_gets_its_turn_now_and_then_is_not_taken_for_one_that_keeps_up() {
    // It is looked at when it has just filled its buffers, which are empty for most of the time.
    let mut bursts = interval(end(0, 10, 0, 0), hungry(), 0);
    bursts.streams.busy = Some(Span::from_millis(300));
    assert_eq!(decided(&bursts), Some(Limit::SenderProcessor));
}

#[test]
fn a_rate_that_is_reached_binds_whatever_else_is_busy() {
    let mut held = interval(end(80, 10, 0, 0), hungry(), 2);
    held.rate_max = RateMax::lower(Some(Rate::from_bits_per_second(82_000_000)), None);
    assert_eq!(decided(&held), Some(Limit::RateLimit));
    held.rate_max = RateMax::lower(None, Some(Rate::from_bits_per_second(1_000_000_000)));
    assert_eq!(decided(&held), Some(Limit::SenderDisk));
    let bucket = interval(end(0, 0, 0, 95), hungry(), 4);
    assert_eq!(decided(&bucket), Some(Limit::RateLimit));
}

#[test]
fn a_gentle_copy_that_has_its_rate_is_limited_by_that() {
    let mut gentle = interval(end(1, WAITS, 0, 0), hungry(), 0);
    gentle.rate_gentle = Some(Rate::from_bits_per_second(90_000_000));
    assert_eq!(decided(&gentle), Some(Limit::Gentle));
    // Losses keep it far below what it allows itself.
    gentle.rate_gentle = Some(Rate::from_bits_per_second(400_000_000));
    assert_eq!(decided(&gentle), Some(Limit::Network));
}

#[test]
fn idle_streams_wait_for_an_answer_or_for_the_end_that_computes() {
    let idle = interval(end(0, 0, 98, 0), hungry(), 4);
    assert_eq!(decided(&idle), Some(Limit::RoundTrips));
    assert_eq!(binds(&idle, Some(Span::from_micros(300))), None);
    let mut busy = idle.clone();
    busy.receiver.as_mut().unwrap().processor = Span::from_millis(230);
    assert_eq!(decided(&busy), Some(Limit::ReceiverProcessor));
    busy.sender.as_mut().unwrap().processor = Span::from_millis(240);
    assert_eq!(decided(&busy), Some(Limit::SenderProcessor));
    // A receiver that gets no processor at times answers late; the round trip alone is not it.
    let mut late = idle.clone();
    let receiver = late.receiver.as_mut().unwrap();
    (receiver.network, receiver.queued) = (Span::from_millis(600), Span::from_millis(400));
    assert_eq!(decided(&late), None);
    // All is handed over, and the kernel still sends.
    let sent = interval(end(0, 0, 98, 0), hungry(), 0);
    assert_eq!(decided(&sent), Some(Limit::Network));
}

#[test]
fn what_is_balanced_is_laid_on_nothing() {
    let sender = interval(end(35, 25, 0, 0), hungry(), 2);
    assert_eq!(decided(&sender), None);
    let receiver = interval(end(0, WAITS, 0, 0), end(45, 15, 0, 0), 0);
    assert_eq!(decided(&receiver), None);
}

#[test]
fn within_one_host_there_is_no_path_and_no_queue() {
    let mut near = interval(end(1, WAITS, 0, 0), hungry(), 0);
    near.streams.rtt = Some(Span::from_millis(2));
    near.streams.rtt_min = Some(Span::from_micros(30));
    near.is_one_host = true;
    assert_eq!(binds(&near, near.streams.rtt_min), None);
    // The same where only the round trip tells.
    near.is_one_host = false;
    assert_eq!(binds(&near, Some(Span::from_micros(8))), None);
    near.is_one_host = true;
    for end in [&mut near.sender, &mut near.receiver] {
        let end = end.as_mut().unwrap();
        (end.processors, end.processor) = (2, Span::from_millis(220));
        end.host_busy = Span::from_millis(490);
    }
    assert_eq!(binds(&near, near.streams.rtt_min), Some(Limit::Host));
    let mut computes = interval(end(1, 10, 0, 0), hungry(), 4);
    computes.is_one_host = true;
    assert_eq!(decided(&computes), Some(Limit::Host));
    // Disks are disks on one host, too.
    let mut disk = interval(end(1, WAITS, 0, 0), end(92, 3, 0, 0), 0);
    disk.is_one_host = true;
    assert_eq!(decided(&disk), Some(Limit::ReceiverDisk));
}

#[test]
fn nothing_is_claimed_of_ends_that_say_nothing() {
    let mut silent = interval(end(0, 0, 0, 0), hungry(), 4);
    silent.sender = None;
    assert_eq!(decided(&silent), None);
    silent.streams.without_data = Some(0);
    assert_eq!(decided(&silent), Some(Limit::Network));
}

#[test]
fn streams_are_added_where_they_may_help() {
    let full = |end: Activity| Activity {
        processors: 2,
        processor: Span::from_millis(450),
        host_busy: Span::from_millis(490),
        ..end
    };
    let one = interval(end(1, 3, 0, 0), hungry(), 4);
    assert!(streams_may_help(&one, Some(Limit::SenderProcessor)));
    let busy = interval(full(end(1, 3, 0, 0)), hungry(), 4);
    assert!(!streams_may_help(&busy, Some(Limit::SenderProcessor)));
    for limit in [Limit::SenderDisk, Limit::RateLimit, Limit::RoundTrips] {
        assert!(!streams_may_help(&one, Some(limit)), "{limit}");
    }
    assert!(streams_may_help(&one, Some(Limit::ReceiveBuffer)));
}
