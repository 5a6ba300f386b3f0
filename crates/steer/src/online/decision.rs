//! What bound a copy during one interval.
//!
//! A copy is a chain: the sender reads, the sender's processors hash and encrypt, the network carries, the receiver's processors
//! decrypt and hash, the receiver writes and flushes. A part that waits for the next one is not what binds, and neither is one that
//! waits for the one before. So the search goes along the chain: a sender whose connections take no more points downstream, a
//! receiver that waits for data points back at the network, and an end that waits for neither has it in its own files or processors.
//! Where no part has half of an end's time, none is named.

use observe::Limit;
use units::{Rate, Span};

use super::activity::Shares;
use super::{Activity, Interval, Streams};

/// An end's threads do one thing mostly.
const MOSTLY: f64 = 0.5;
/// A receiver whose threads wait for data for this share of their time is not what keeps the data back.
const RECEIVER_WAITS: f64 = 0.3;
/// Connections with data ready at nearly every reading are never short of it, ...
const FED: f64 = 0.8;
/// ... if their threads wait for them at all.
const WAITS_AT_ALL: f64 = 0.05;
/// A rate limit counts as reached at this share of it.
const RATE_REACHED: f64 = 0.9;
/// A gentle rate is another one forty times a second.
const GENTLE_REACHED: f64 = 0.75;
/// Packets that wait for longer than this, and than this share of the empty path's round trip, keep a link full behind a buffer
/// that holds the streams back.
const QUEUE_MIN: Span = Span::from_millis(2);
const QUEUE_SHARE: f64 = 0.5;
/// A process that uses this much of one processor while its streams are idle has a thread that computes all the time.
const THREAD_BUSY: f64 = 0.7;
/// On one host both ends' processes together.
const OWN_ON_ONE_HOST: f64 = 0.4;
const HOST_FULL: f64 = 0.85;
/// A round trip below this is within one host, where packets wait for processors and not in a queue.
const PATH_RTT_MIN: Span = Span::from_micros(20);
/// Shorter round trips take no time that is worth a word.
const ROUND_TRIP_MIN: Span = Span::from_millis(1);

/// What bound; `None` where no single part did.
pub(super) fn binds(interval: &Interval, rtt_min: Option<Span>) -> Option<Limit> {
    if is_reached(interval, interval.rate_max, RATE_REACHED) {
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

/// Whether the connections always have data. A sender that gets its turn now and then looks at them when it has just filled them, so
/// they must have had some on the way all the time, too.
fn is_fed(interval: &Interval) -> bool {
    let streams = &interval.streams;
    let whole = interval.length.times(streams.count.into()).as_secs_f64();
    let is_busy = streams
        .busy
        .is_none_or(|busy| busy.as_secs_f64() >= FED * whole);
    is_busy && with_data(streams).is_some_and(|share| share >= FED)
}

/// Whether the connections take no more than they do.
fn waits_for_network(sender: &Shares, interval: &Interval) -> bool {
    let is_fed = is_fed(interval);
    // Threads that have handed over everything wait for work while the kernel still sends.
    let waits = sender.network + sender.idle;
    sender.network >= MOSTLY || (is_fed && (sender.network >= WAITS_AT_ALL || waits >= MOSTLY))
}

/// The connections take no more: the receiver does not, or the network.
fn downstream(interval: &Interval) -> Option<Limit> {
    let Some(receiver) = interval.receiver.as_ref().and_then(Activity::shares) else {
        return Some(network_or_send_buffer(interval));
    };
    match receiver.network >= RECEIVER_WAITS {
        true => Some(network_or_send_buffer(interval)),
        false => within_receiver(&receiver),
    }
}

/// What a receiver does that does not wait for data.
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

/// The network, of which the sender's kernel has sent all that its buffers hold while threads wait to hand over more: then more
/// than they hold could be on the way.
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

/// A socket buffer that holds the streams back most of the time, unless packets wait in a queue: then it bounds the queue only.
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

/// Whether the queue holds so much that a smaller window would still fill the path.
fn waits_in_queue(streams: &Streams) -> bool {
    let waited = streams.rtt.zip(streams.rtt_min);
    waited.is_some_and(|(loaded, empty)| {
        loaded - empty > QUEUE_MIN.max(Span::from_secs_f64(QUEUE_SHARE * empty.as_secs_f64()))
    })
}

/// The connections would take more: the sender has it in its files, its processors, or in what it waits for.
fn upstream(interval: &Interval, sender: &Shares, rtt_min: Option<Span>) -> Option<Limit> {
    if sender.idle >= MOSTLY {
        return awaited(interval, rtt_min);
    }
    larger([
        (sender.disk, Limit::SenderDisk),
        (sender.processor, Limit::SenderProcessor),
    ])
}

/// What the sender's streams wait for while there is nothing to send: the receiver's flushes, whoever computes, or an answer.
fn awaited(interval: &Interval, rtt_min: Option<Span>) -> Option<Limit> {
    let (sender, receiver) = (interval.sender.as_ref(), interval.receiver.as_ref());
    if receiver.is_some_and(|it| it.flush_share() >= MOSTLY) {
        return Some(Limit::ReceiverDisk);
    }
    // All is in its socket buffers, and it has not come to it.
    let busy = receiver.and_then(Activity::shares);
    if let Some(busy) = busy.filter(|it| it.network < RECEIVER_WAITS) {
        return within_receiver(&busy);
    }
    let used = |end: Option<&Activity>| end.map_or(0.0, Activity::processors_used);
    match (used(sender), used(receiver)) {
        (ours, theirs) if theirs >= THREAD_BUSY && theirs >= ours => Some(Limit::ReceiverProcessor),
        (ours, _) if ours >= THREAD_BUSY => Some(Limit::SenderProcessor),
        _ => rtt_min
            .is_some_and(|rtt| rtt >= ROUND_TRIP_MIN)
            .then_some(Limit::RoundTrips),
    }
}

/// Both ends share the processors and there is no path. What the network seems to hold back is late because of them, or is not
/// known.
fn within_one_host(interval: &Interval, found: Option<Limit>) -> Option<Limit> {
    match found {
        Some(Limit::SenderProcessor | Limit::ReceiverProcessor) => Some(Limit::Host),
        None => is_full(interval).then_some(Limit::Host),
        Some(limit) if limit.is_of_the_network() => is_full(interval).then_some(Limit::Host),
        found => found,
    }
}

/// Whether the two ends together take the time of the one host.
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
