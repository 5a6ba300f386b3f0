//! What became of datagrams, in sentences.

use record::datagrams::{Ceiling, DatagramStream, DatagramWay, RateSearch, is_filling};
use record::{Datagrams, Peer};
use units::{Rate, Way};

use super::count;
use draw::format;

/// Less of the rate that was asked for is told.
const REACHED: f64 = 0.97;

/// The verdict first.
pub fn sentences(body: &Datagrams) -> Vec<String> {
    let mut all: Vec<String> = body
        .search
        .iter()
        .map(|search| found(body, search))
        .collect();
    for way in &body.ways {
        if body.search.is_none() {
            all.push(loss(body, way));
            all.extend(filling(body, way));
        }
        all.extend(not_sent(body, way));
        all.extend(in_hosts(way));
        all.extend(untold(body, way));
    }
    all.extend(body.search.as_ref().and_then(unseen));
    all
}

/// Which way, where there are two.
fn named(body: &Datagrams, way: Way) -> &'static str {
    match (body.ways.len(), way) {
        (..=1, _) => "The path",
        (_, Way::Forward) => "Forward, the path",
        (_, Way::Reverse) => "In reverse, the path",
    }
}

fn loss(body: &Datagrams, way: &DatagramWay) -> String {
    let path = named(body, way.way);
    let sent = format::rate(way.sent_bits_per_second);
    match (way.sent, way.arrived, way.lost_on_path) {
        (0, ..) => format!("{path} was sent no datagram."),
        (_, 0, _) => format!(
            "{path} carried none of {}: is UDP let through to this port?",
            count(way.sent, "datagram")
        ),
        (sent_count, _, 0) => format!(
            "{path} lost none of {} at {sent}.",
            count(sent_count, "datagram")
        ),
        _ => format!(
            "{path} lost {} at {sent}; {} arrived. `--udp find` looks for the highest rate that it \
             carries.",
            format::percent(way.path_loss_ratio),
            format::rate(way.goodput_bits_per_second)
        ),
    }
}

/// What has not been lost yet.
fn filling(body: &Datagrams, way: &DatagramWay) -> Option<String> {
    let grew = |one: &DatagramStream| {
        let growth = one.delay_growth?;
        is_filling(growth, one.sending).then_some(growth)
    };
    let most = way.streams.iter().filter_map(grew).max()?;
    Some(format!(
        "{} was filling a queue: the least delay grew by {} over the run. A longer run at this \
         rate loses more.",
        named(body, way.way),
        most.human()
    ))
}

fn found(body: &Datagrams, search: &RateSearch) -> String {
    let bound = format::percent(search.loss_max_ratio);
    let way = body.ways.first();
    let lost = way.map_or(0.0, |way| way.loss_ratio);
    let Some(rate) = search.found_bits_per_second.map(format::rate) else {
        return match search.tries.iter().min_by_key(|one| one.asked) {
            Some(slowest) if slowest.loss_ratio <= search.loss_max_ratio => format!(
                "No rate was found at which a queue does not fill: at {} it did, and {} was lost.",
                slowest.sent.human(),
                format::percent(slowest.loss_ratio)
            ),
            Some(slowest) => format!(
                "No rate was found at which less than {bound} is lost: at {} it was {}.",
                slowest.sent.human(),
                format::percent(slowest.loss_ratio)
            ),
            None => "Nothing was sent.".to_owned(),
        };
    };
    match search.ceiling {
        Some(Ceiling::Host) => format!(
            "The hosts at its ends go no faster than {rate}; the path carries that and may carry \
             more. It lost {}.",
            format::percent(lost)
        ),
        _ => {
            let faster = |one: &&record::datagrams::Try| {
                let over = Rate::from_bits_per_second(search.found_bits_per_second.unwrap_or(0));
                !one.carried && one.sent > over
            };
            let next = search
                .tries
                .iter()
                .filter(faster)
                .min_by_key(|one| one.sent);
            let next = next.map(|one| {
                let at = one.sent.human();
                match one.loss_ratio > search.loss_max_ratio {
                    true => format!("; at {at} it lost {}", format::percent(one.loss_ratio)),
                    false => format!("; at {at} its queue was filling"),
                }
            });
            format!(
                "The path carries {rate} below {bound} loss: it lost {} of it in {}{}.",
                format::percent(lost),
                body.duration.human(),
                next.unwrap_or_default()
            )
        }
    }
}

/// The rate that counts is what was sent.
fn not_sent(body: &Datagrams, way: &DatagramWay) -> Option<String> {
    let host = match way.way {
        Way::Forward => "This host",
        Way::Reverse => "The far host",
    };
    let sent = way.sent_bits_per_second;
    let asked = body
        .asked
        .filter(|asked| (sent as f64) < asked.as_f64() * REACHED);
    let missing = sum(way, |one| one.not_sent);
    let why = "it was too slow or too busy, or a queue of its device was full";
    match (asked, missing) {
        (None, 0) => None,
        (Some(asked), missing) => {
            let missing = match missing {
                0 => String::new(),
                missing => format!(" It could not send {}.", count(missing, "datagram")),
            };
            Some(format!(
                "{host} sent {} of the {} that were asked for: {why}, and the figures are of what \
                 it sent.{missing}",
                format::rate(sent),
                asked.human()
            ))
        }
        (None, missing) => Some(format!(
            "{host} could not send {} that were due, and they count neither as sent nor as lost: \
             {why}.",
            count(missing, "datagram")
        )),
    }
}

/// Over all streams of a direction.
fn sum(way: &DatagramWay, of: fn(&DatagramStream) -> Option<u64>) -> u64 {
    let counts = way.streams.iter().filter_map(of);
    counts.fold(0, u64::saturating_add)
}

/// What the receiving end dropped itself.
fn in_hosts(way: &DatagramWay) -> Option<String> {
    let receiver = match way.way {
        Way::Forward => "the far host",
        Way::Reverse => "this host",
    };
    let dropped = sum(way, |one| one.dropped_by_receiver);
    (dropped > 0).then(|| {
        format!(
            "{} ({}) arrived and were dropped by {receiver}, whose receive buffer was full: it is \
             too slow or too busy, or its `net.core.rmem_max` is too small.",
            count(dropped, "datagram"),
            format::percent(dropped as f64 / way.sent.max(1) as f64)
        )
    })
}

/// What a search without delays does not see.
fn unseen(search: &RateSearch) -> Option<String> {
    let found = search
        .found_bits_per_second
        .filter(|_| !search.delays_seen)?;
    Some(format!(
        "The receiver does not tell how long datagrams took: only losses counted, and a queue that \
         was filling was not seen. For longer the path may carry less than {}; `trunkline serve` \
         at the far end tells it.",
        format::rate(found)
    ))
}

/// What cannot be told apart.
fn untold(body: &Datagrams, way: &DatagramWay) -> Option<String> {
    let tells = |one: &DatagramStream| match way.way {
        Way::Forward => one.dropped_by_receiver.is_some(),
        Way::Reverse => one.not_sent.is_some(),
    };
    let is_iperf3 = body.peer == Peer::Iperf3;
    let is_open = way.lost_on_path > 0 && !way.streams.iter().all(tells);
    (is_iperf3 && is_open).then(|| {
        "The far end is an iperf3 server, which does not tell what its own host dropped: that is \
         within the loss."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use record::synthetic;
    use units::Span;

    use super::*;

    fn said(change: impl FnOnce(&mut Datagrams)) -> String {
        let mut body = synthetic::datagrams(false).body;
        body.ways.truncate(1);
        change(&mut body);
        sentences(&body).join("\n")
    }

    #[test]
    fn losses_of_the_path_and_of_hosts_are_told_apart() {
        let text = said(|_| ());
        assert!(
            text.starts_with("The path lost 2.7 % at 43.0 Mbit/s; 41.6 Mbit/s arrived."),
            "{text}"
        );
        assert!(
            text.contains("170 datagrams (0.44 %) arrived and were dropped by the far host"),
            "{text}"
        );
    }

    #[test]
    fn a_rate_that_was_not_reached_is_told() {
        let text = said(|body| body.asked = Some(Rate::from_bits_per_second(100_000_000)));
        let what = "This host sent 43.0 Mbit/s of the 100 Mbit/s that were asked for";
        assert!(text.contains(what), "{text}");
    }

    #[test]
    fn a_queue_that_was_filling_is_told_where_nothing_was_lost() {
        let grown = |millis| {
            said(|body| {
                body.ways[0].lost_on_path = 0;
                body.ways[0].streams[0].delay_growth = Some(Span::from_millis(millis));
            })
        };
        let filling = grown(120);
        assert!(filling.contains("grew by 120 ms over the run"), "{filling}");
        assert!(!grown(90).contains("filling"));
    }

    #[test]
    fn what_was_not_sent_is_told_and_is_no_loss() {
        let some = said(|body| body.ways[0].streams[0].not_sent = Some(12));
        let what = "This host could not send 12 datagrams that were due, and they count neither";
        assert!(some.contains(what), "{some}");
        let slow = said(|body| {
            body.ways[0].streams[0].not_sent = Some(50_893);
            body.asked = Some(Rate::from_bits_per_second(100_000_000));
        });
        assert!(
            slow.contains("It could not send 50893 datagrams."),
            "{slow}"
        );
        assert!(!said(|_| ()).contains("could not send"));
    }

    #[test]
    fn a_search_that_saw_no_delays_says_so() {
        let mut body = synthetic::datagrams(true).body;
        assert!(!sentences(&body).join("\n").contains("only losses counted"));
        body.search.as_mut().unwrap().delays_seen = false;
        let text = sentences(&body).join("\n");
        assert!(text.contains("only losses counted"), "{text}");
        assert!(text.contains("may carry less than 43.0 Mbit/s"), "{text}");
    }

    #[test]
    fn a_path_without_loss_and_one_without_datagrams_are_told() {
        let none = said(|body| body.ways[0].lost_on_path = 0);
        assert!(
            none.starts_with("The path lost none of 38400 datagrams"),
            "{none}"
        );
        let nothing = said(|body| body.ways[0].arrived = 0);
        assert!(nothing.contains("is UDP let through"), "{nothing}");
    }

    #[test]
    fn a_search_says_what_is_carried_and_what_is_not() {
        let text = sentences(&synthetic::datagrams(true).body).join("\n");
        let what = "The path carries 43.0 Mbit/s below 1.0 % loss: it lost 0.031 % of it in \
            10.0 s; at 44.0 Mbit/s it lost 2.3 %.";
        assert!(text.starts_with(what), "{text}");
    }
}
