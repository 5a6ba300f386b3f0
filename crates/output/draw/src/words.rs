//! Words: text that cannot steer a terminal, sentences, counts, limits.

use observe::{Limit, LossPattern};

/// `text` in one line, without characters that could steer a terminal.
pub fn plain(text: &str) -> String {
    let safe = text.chars().map(|c| if units::steers(c) { ' ' } else { c });
    safe.collect()
}

/// `text` as a sentence: a capital at the front, a full stop at the end.
///
/// ```
/// assert_eq!(draw::words::sentence("the path is full"), "The path is full.");
/// ```
pub fn sentence(text: &str) -> String {
    let text = plain(text);
    let mut rest = text.trim().chars();
    let Some(first) = rest.next() else {
        return String::new();
    };
    let stop = if text.trim_end().ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{}{}{stop}", first.to_uppercase(), rest.as_str())
}

/// So many of something: `1 visit`, `30 visits`.
///
/// ```
/// assert_eq!(draw::words::count(1, "visit"), "1 visit");
/// assert_eq!(draw::words::count(30, "visit"), "30 visits");
/// ```
pub fn count(number: u64, name: &str) -> String {
    match number {
        1 => format!("1 {name}"),
        many => format!("{many} {name}s"),
    }
}

/// The end of a sentence.
pub fn full_stop(text: &str) -> String {
    format!("{}.", plain(text).trim().trim_end_matches('.'))
}

/// Whether losses come one by one or many in a row (RFC 3357).
///
/// ```
/// let lost = [true, false, true, true].into_iter();
/// let seen = observe::LossPattern::of(lost).unwrap();
/// let words = "2 loss periods, the longest of 2 packets, 1 to 2 from loss to loss";
/// assert_eq!(draw::words::losses(&seen), words);
/// ```
pub fn losses(seen: &LossPattern) -> String {
    let periods = count(seen.periods.len() as u64, "loss period");
    let longest = seen.periods.iter().max().copied().unwrap_or(0);
    let longest = count(u64::from(longest), "packet");
    let (low, high) = (seen.distances.iter().min(), seen.distances.iter().max());
    match low.zip(high) {
        Some((low, high)) if low == high => {
            format!("{periods}, the longest of {longest}, {low} from loss to loss")
        }
        Some((low, high)) => {
            format!("{periods}, the longest of {longest}, {low} to {high} from loss to loss")
        }
        None => format!("{periods} of {longest}"),
    }
}

/// What a limit means, to stand after "limited by".
pub fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Link => "the link, which is full",
        Limit::Loss => "packet loss",
        Limit::Policer => "a policer, which drops what exceeds a rate",
        Limit::ShallowQueue => "a queue too short for bursts",
        Limit::Marks => "a queue that marks packets, to which senders give way",
        Limit::Others => "what others send",
        Limit::WayBack => "the way back, which is narrow",
        Limit::VaryingRate => "a rate that varies",
        Limit::Reordering => "packets that arrive out of order",
        Limit::PathMtu => "small packets",
        Limit::PerFlow => "something that holds each stream to one rate",
        Limit::ReceiveBuffer => "the receiver's buffer",
        Limit::SlowReader => "the receiving program, which reads slowly",
        Limit::SendBuffer => "the sender's buffer",
        Limit::Application => "the sending program",
        Limit::Host => "a processor",
        Limit::Network => "the network",
        Limit::SenderDisk => "the sender's disk",
        Limit::ReceiverDisk => "the receiver's disk",
        Limit::SenderProcessor => "the sender's processors",
        Limit::ReceiverProcessor => "the receiver's processors",
        Limit::RateLimit => "the rate that was set",
        Limit::Gentle => "being gentle",
        Limit::RoundTrips => "round trips",
        Limit::Several => "several parts",
        Limit::TooShort => "the length of the run",
        Limit::Unknown => "something that the numbers do not show",
    }
}
