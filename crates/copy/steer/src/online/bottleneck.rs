//! The part that bound a copy during one interval.
//!
//! A copy is a chain: the sender reads, the sender's processors hash and encrypt, the network
//! carries, the receiver's processors decrypt and hash, the receiver writes and flushes. A part
//! that waits for its neighbour does not bind. So the search follows the chain: a sender whose
//! connections take no more points downstream, a receiver that waits for data points at the
//! network, and an end that waits for neither is limited by its own files or processors. A part
//! that has less than half of an end's time is not named.

use copy_protocol::{Activity, Shares};
use observe::Limit;
use units::{Rate, Span};

use super::{Interval, Streams};

/// Share of the threads' time from which an activity is what they mostly do.
const MOSTLY: f64 = 0.5;
/// A receiver whose threads wait for data for this share of their time does not bind.
const RECEIVER_WAITS: f64 = 0.3;
/// With this share of its time on or waiting for a processor, a receiver may be what keeps an
/// answer back.
const RECEIVER_COMPUTES: f64 = 0.2;
/// Share of readings with data ready from which connections are never short of it.
const FED: f64 = 0.8;
/// Such connections must also keep their threads waiting for at least this share of the time.
const WAITS_AT_ALL: f64 = 0.05;
/// A rate limit counts as reached at this share of it.
const RATE_REACHED: f64 = 0.9;
/// Share at which a gentle rate counts as reached: it changes forty times a second.
const GENTLE_REACHED: f64 = 0.75;
/// A queue longer than this, and than this share of the base round trip, keeps a link full even
/// behind a buffer that limits the streams.
const QUEUE_MIN: Span = Span::from_millis(2);
const QUEUE_SHARE: f64 = 0.5;
/// Share of one processor from which a process with idle streams has a thread that only computes.
const THREAD_BUSY: f64 = 0.7;
/// On one host both ends' processes together.
const OWN_ON_ONE_HOST: f64 = 0.4;
const HOST_FULL: f64 = 0.85;
/// Round trips below this are within one host, where packets wait for processors and not in a
/// queue.
const PATH_RTT_MIN: Span = Span::from_micros(20);
/// Shorter round trips are not mentioned.
const ROUND_TRIP_MIN: Span = Span::from_millis(1);

/// The part that bound; `None` where no single part did.
pub(super) fn binds(interval: &Interval, rtt_min: Option<Span>) -> Option<Limit> {
    if is_reached(
        interval,
        interval.rate_max.map(|bound| bound.rate),
        RATE_REACHED,
    ) {
        return Some(Limit::RateLimit);
    }
    let Some(sender) = interval.sender.as_ref().and_then(Activity::shares) else {
        return of_streams_alone(&interval.streams);
    };
    if sender.held >= MOSTLY {
        return Some(Limit::RateLimit);
    }
    let found = match waits_for_network(&sender, interval) {
        true => downstream(interval),
        false => upstream(interval, &sender, rtt_min),
    };
    let is_one_host = interval.is_one_host || rtt_min.is_some_and(|rtt| rtt < PATH_RTT_MIN);
    match found {
        Some(Limit::Network) if is_reached(interval, interval.rate_gentle, GENTLE_REACHED) => {
            Some(Limit::Gentle)
        }
        found if is_one_host => within_one_host(interval, found),
        found => found,
    }
}

/// Whether more streams may bring more while that binds.
pub(super) fn streams_may_help(interval: &Interval, binds: Option<Limit>) -> bool {
    let ends = [&interval.sender, &interval.receiver];
    let is_full = ends.into_iter().flatten().any(Activity::host_is_full);
    match binds {
        None => interval.sender.is_none_or(|sender| !is_idle(&sender)) && !is_full,
        Some(Limit::SenderProcessor | Limit::ReceiverProcessor | Limit::Host) => !is_full,
        Some(limit) => limit.is_of_the_network(),
    }
}

fn is_idle(sender: &Activity) -> bool {
    sender
        .shares()
        .is_some_and(|it| it.idle + it.held >= MOSTLY)
}

fn is_reached(interval: &Interval, limit: Option<Rate>, share: f64) -> bool {
    let rate = Rate::of(interval.streams.arrived, interval.length).as_f64();
    limit.is_some_and(|limit| rate >= share * limit.as_f64())
}

/// Of the streams, the share whose kernel had something to send; `None` where it does not tell.
fn with_data(streams: &Streams) -> Option<f64> {
    let without = f64::from(streams.without_data?);
    Some(1.0 - without / f64::from(streams.count.max(1)))
}

/// What binds where nothing is known of the ends: streams that have data wait for the network.
fn of_streams_alone(streams: &Streams) -> Option<Limit> {
    let is_fed = with_data(streams).is_none_or(|share| share >= FED);
    is_fed.then(|| network(streams))
}

/// Whether the connections always have data. A sender that runs now and then reads `TCP_INFO` when
/// it has just filled them, so they must also have had data in flight all the time.
fn is_fed(interval: &Interval) -> bool {
    let streams = &interval.streams;
    let whole = interval.length.times(streams.count.into()).as_secs_f64();
    let is_busy = streams
        .busy
        .is_none_or(|busy| busy.as_secs_f64() >= FED * whole);
    is_busy && with_data(streams).is_some_and(|share| share >= FED)
}

/// Whether the connections are full.
fn waits_for_network(sender: &Shares, interval: &Interval) -> bool {
    let is_fed = is_fed(interval);
    // Threads that have handed over everything are idle while the kernel still sends.
    let waits = sender.network + sender.idle;
    sender.network >= MOSTLY || (is_fed && (sender.network >= WAITS_AT_ALL || waits >= MOSTLY))
}

/// What binds while the connections are full: the receiver or the network.
fn downstream(interval: &Interval) -> Option<Limit> {
    let Some(receiver) = interval.receiver.as_ref().and_then(Activity::shares) else {
        return Some(network_or_send_buffer(interval));
    };
    match receiver.network >= RECEIVER_WAITS {
        true => Some(network_or_send_buffer(interval)),
        false => within_receiver(&receiver),
    }
}

/// What binds in a receiver that does not wait for data.
fn within_receiver(receiver: &Shares) -> Option<Limit> {
    larger([
        (receiver.disk, Limit::ReceiverDisk),
        (receiver.processor, Limit::ReceiverProcessor),
    ])
}

fn larger(parts: [(f64, Limit); 2]) -> Option<Limit> {
    let (share, limit) = parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    (share >= MOSTLY).then_some(limit)
}

/// What binds in the network: the send buffer where the kernel has sent all that it holds while
/// threads wait to hand over more.
fn network_or_send_buffer(interval: &Interval) -> Limit {
    match network(&interval.streams) {
        Limit::Network if is_sent(interval) && !waits_in_queue(&interval.streams) => {
            Limit::SendBuffer
        }
        found => found,
    }
}

fn is_sent(interval: &Interval) -> bool {
    let sender = interval.sender.as_ref().and_then(Activity::shares);
    sender.is_some_and(|it| it.network >= MOSTLY)
        && with_data(&interval.streams).is_some_and(|share| share < 1.0 - FED)
}

/// A socket buffer that limits the streams most of the time. With a queue it only bounds the queue.
fn network(streams: &Streams) -> Limit {
    let mostly = |part: Option<Span>| {
        let busy = streams.busy.filter(|busy| *busy > Span::ZERO);
        let share = part
            .zip(busy)
            .map(|(part, busy)| part.as_secs_f64() / busy.as_secs_f64());
        share.is_some_and(|share| share >= MOSTLY)
    };
    match streams {
        it if waits_in_queue(it) => Limit::Network,
        it if mostly(it.receive_window_limited) => Limit::ReceiveBuffer,
        it if mostly(it.send_buffer_limited) => Limit::SendBuffer,
        _ => Limit::Network,
    }
}

/// Whether the queue is so long that a smaller window would still fill the path.
fn waits_in_queue(streams: &Streams) -> bool {
    let waited = streams.rtt.zip(streams.rtt_min);
    waited.is_some_and(|(loaded, empty)| {
        loaded - empty > QUEUE_MIN.max(Span::from_secs_f64(QUEUE_SHARE * empty.as_secs_f64()))
    })
}

/// What binds while the connections would take more: the sender's files, its processors, or what it
/// waits for.
fn upstream(interval: &Interval, sender: &Shares, rtt_min: Option<Span>) -> Option<Limit> {
    if sender.idle >= MOSTLY {
        return awaited(interval, rtt_min);
    }
    larger([
        (sender.disk, Limit::SenderDisk),
        (sender.processor, Limit::SenderProcessor),
    ])
}

/// What the sender's streams wait for without data: the receiver's flushes, a thread that computes,
/// or an answer.
fn awaited(interval: &Interval, rtt_min: Option<Span>) -> Option<Limit> {
    let (sender, receiver) = (interval.sender.as_ref(), interval.receiver.as_ref());
    if receiver.is_some_and(|it| it.flush_share() >= MOSTLY) {
        return Some(Limit::ReceiverDisk);
    }
    // All is in the receiver's socket buffers, not yet read.
    let busy = receiver.and_then(Activity::shares);
    if let Some(busy) = busy.filter(|it| it.network < RECEIVER_WAITS) {
        return within_receiver(&busy);
    }
    let used = |end: Option<&Activity>| end.map_or(0.0, Activity::processors_used);
    match (used(sender), used(receiver)) {
        (ours, theirs) if theirs >= THREAD_BUSY && theirs >= ours => Some(Limit::ReceiverProcessor),
        (ours, _) if ours >= THREAD_BUSY => Some(Limit::SenderProcessor),
        // A receiver that waits for a processor for part of its time keeps the answer back, too.
        _ if busy.is_some_and(|it| it.processor >= RECEIVER_COMPUTES) => None,
        _ => rtt_min
            .is_some_and(|rtt| rtt >= ROUND_TRIP_MIN)
            .then_some(Limit::RoundTrips),
    }
}

/// What binds when both ends share one host: there is no path, so the network stands for the
/// processors or for something unknown.
fn within_one_host(interval: &Interval, found: Option<Limit>) -> Option<Limit> {
    match found {
        Some(Limit::SenderProcessor | Limit::ReceiverProcessor) => Some(Limit::Host),
        None => is_full(interval).then_some(Limit::Host),
        Some(limit) if limit.is_of_the_network() => is_full(interval).then_some(Limit::Host),
        found => found,
    }
}

/// Whether the two ends together fill the host's processors.
fn is_full(interval: &Interval) -> bool {
    let (Some(sender), Some(receiver)) = (&interval.sender, &interval.receiver) else {
        return false;
    };
    let processors = f64::from(sender.processors.max(1));
    let own = (sender.processors_used() + receiver.processors_used()) / processors;
    let busy = sender.host_busy_share().max(receiver.host_busy_share());
    own >= OWN_ON_ONE_HOST && busy >= HOST_FULL
}

#[cfg(test)]
mod tests;
