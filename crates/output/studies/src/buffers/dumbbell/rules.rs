//! What has to be seen for the findings about buffers and streams to hold.

use super::{FITTING, KIB, RTT, STREAMS_MAX};
use crate::figure::{Line, Values};
use crate::finding::{Check, Finding, digits, list};

/// A point this close to the highest is at the peak: more than seeds scatter, less than shows.
const PEAK: f64 = 0.02;

/// What five streams of 64 KiB at 40 ms leave of 100 Mbit/s: each asks for 13.1.
const LEFT_MBIT: f64 = 100.0 - 5.0 * 13.1;
/// Up to so many streams a single window is a large share of the link.
const FEW: f64 = 8.0;

/// Without cross traffic.
pub(crate) fn alone(lines: &[Line]) -> Vec<Finding> {
    vec![
        Finding {
            claim: "A larger buffer moves the peak to fewer streams.",
            rule: "For buffers that fit into path and queue (up to 512 KiB), the fewest streams \
                within 2 % of a curve's highest throughput never rise from one buffer to the next \
                larger one, and are fewer for the largest than for the smallest.",
            checks: vec![Check::of(peaks_move(lines))],
        },
        Finding {
            claim: "Larger still, it lowers the peak.",
            rule: "The highest throughput with 1024 KiB, more than path and queue hold, is at \
                least 1 % below the best of all buffers: up to 8 streams; up to 40.",
            checks: vec![
                Check::of(peak_falls(lines, FEW)),
                Check::of(peak_falls(lines, f64::from(STREAMS_MAX))),
            ],
        },
    ]
}

fn peaks_move(lines: &[Line]) -> Option<(bool, String)> {
    let fitting = lines.iter().take(FITTING);
    let peaks: Option<Vec<f64>> = fitting.map(|line| line.peak(PEAK)).collect();
    let peaks = peaks?;
    let holds = peaks.is_sorted_by(|a, b| a >= b) && peaks.last()? < peaks.first()?;
    let words = format!(
        "with buffers of {} KiB the peak lies at {} streams",
        list(KIB[..FITTING].iter().map(u64::to_string)),
        list(peaks.iter().map(|peak| format!("{peak:.0}")))
    );
    Some((holds, words))
}

fn peak_falls(lines: &[Line], most: f64) -> Option<(bool, String)> {
    let highest = |line: &Line| {
        let points = line.points.iter().filter(|point| point.x <= most);
        points.map(|point| point.y).reduce(f64::max)
    };
    let peaks: Option<Vec<f64>> = lines.iter().map(highest).collect();
    let peaks = peaks?;
    let best = peaks.iter().copied().fold(0.0, f64::max);
    let last = *peaks.last()?;
    let words = format!(
        "up to {most:.0} streams 1024 KiB reach {} Mbit/s and the best buffer {}",
        digits(last),
        digits(best)
    );
    Some((last <= best * 0.99, words))
}

/// Beside cross traffic that leaves room.
pub(crate) fn room(alone: &[Line], lines: &[Line], cross: &[Line]) -> Vec<Finding> {
    vec![Finding {
        claim: "Until the capacity is reached all is as without cross traffic; then more streams \
            win.",
        rule: "While the streams' windows ask for no more than the cross traffic leaves, \
            throughput is within 10 % of that on the empty path; with every buffer, 40 streams \
            carry at least 10 % more than the fewest streams that ask for more than is left; the \
            cross traffic beside 40 streams gets at most 90 % of what it gets beside one.",
        checks: vec![
            Check::of(as_alone(alone, lines)),
            Check::of(more_win(lines)),
            Check::of(others_lose(cross, 0.9)),
        ],
    }]
}

/// What `streams` windows of `kib` ask for, in Mbit/s.
fn asked(kib: u64, streams: f64) -> f64 {
    streams * kib as f64 * 1024.0 * 8.0 / RTT / 1e6
}

fn as_alone(alone: &[Line], lines: &[Line]) -> Option<(bool, String)> {
    let mut worst: f64 = 0.0;
    let mut points = 0;
    for ((kib, free), line) in KIB.into_iter().zip(alone).zip(lines) {
        let fits = |x| asked(kib, x) <= LEFT_MBIT;
        for point in line.points.iter().filter(|point| fits(point.x)) {
            worst = worst.max((point.y / free.at(point.x)? - 1.0).abs());
            points += 1;
        }
    }
    let words = format!(
        "in the {points} settings that ask for no more than is left, throughput differs by at most \
            {} % from that on the empty path",
        digits(worst * 100.0)
    );
    Some((points > 0 && worst <= 0.1, words))
}

fn more_win(lines: &[Line]) -> Option<(bool, String)> {
    let gain = |(kib, line): (u64, &Line)| {
        let mut points = line.points.iter();
        let full = points.find(|point| asked(kib, point.x) > LEFT_MBIT)?;
        Some(line.last()? / full.y)
    };
    let gains: Option<Vec<f64>> = KIB.into_iter().zip(lines).map(gain).collect();
    let gains = gains?;
    let words = format!(
        "40 streams carry {} times as much as the fewest that ask for more than is left",
        list(gains.iter().map(|gain| digits(*gain)))
    );
    Some((gains.iter().all(|gain| *gain >= 1.1), words))
}

/// Whether with every buffer the cross traffic keeps at most `share` of what it had beside one
/// stream.
fn others_lose(cross: &[Line], share: f64) -> Option<(bool, String)> {
    let kept = |line: &Line| Some(line.last()? / line.at(1.0)?);
    let kept: Option<Vec<f64>> = cross.iter().map(kept).collect();
    let kept = kept?;
    let words = format!(
        "beside 40 streams the cross traffic keeps {} % of what it has beside one",
        list(kept.iter().map(|share| digits(share * 100.0)))
    );
    Some((kept.iter().all(|kept| *kept <= share), words))
}

/// Beside cross traffic that fills the path.
pub(crate) fn full(lines: &[Line], cross: &[Line]) -> Vec<Finding> {
    // The smallest buffer binds: its window is less than a stream's share of the path.
    let binding = &lines[..lines.len().min(1)];
    let free = lines.get(1..).unwrap_or_default();
    vec![
        Finding {
            claim: "The buffer has no effect.",
            rule: "At each number of streams the lowest throughput of all buffers is at most 20 % \
                below the highest: from 8 streams on with buffers of 32 KiB or more; with fewer \
                streams and the same buffers; from 8 streams on with 16 KiB against the highest.",
            checks: vec![
                Check::of(buffers_differ(
                    free,
                    free,
                    |streams| streams >= FEW,
                    "from 8 streams on buffers of 32 KiB or more",
                )),
                Check::of(buffers_differ(
                    free,
                    free,
                    |streams| streams < FEW,
                    "with fewer streams those buffers",
                )),
                Check::of(buffers_differ(
                    binding,
                    free,
                    |streams| streams >= FEW,
                    "from 8 streams on 16 KiB and the others",
                )),
            ],
        },
        Finding {
            claim: "Streams take throughput from the cross traffic.",
            rule: "With every buffer, 40 streams carry at least three times as much as one, and \
                the cross traffic keeps at most 60 % of what it had beside one.",
            checks: vec![
                Check::of(streams_gain(lines)),
                Check::of(others_lose(cross, 0.6)),
            ],
        },
    ]
}

/// How far the lowest of `lines` is below the highest of `others`, where it is furthest.
fn buffers_differ(
    lines: &[Line],
    others: &[Line],
    wanted: fn(f64) -> bool,
    subject: &str,
) -> Option<(bool, String)> {
    let (mut worst, mut place) = (None, 0.0);
    let points = lines.first()?.points.iter();
    for x in points.map(|point| point.x).filter(|x| wanted(*x)) {
        let at = |line: &Line| line.at(x);
        let low = lines.iter().filter_map(at).reduce(f64::min)?;
        let high = others.iter().filter_map(at).reduce(f64::max)?;
        let below = 1.0 - low / high;
        if worst.is_none_or(|worst| below > worst) {
            (worst, place) = (Some(below), x);
        }
    }
    let worst = worst?;
    let words = format!(
        "{subject} differ by at most {} % (at {place:.0} streams)",
        digits(worst * 100.0)
    );
    Some((worst <= 0.2, words))
}

fn streams_gain(lines: &[Line]) -> Option<(bool, String)> {
    let gain = |line: &Line| Some(line.last()? / line.at(1.0)?);
    let gains: Option<Vec<f64>> = lines.iter().map(gain).collect();
    let gains = gains?;
    let words = format!(
        "40 streams carry {} times as much as one",
        list(gains.iter().map(|gain| digits(*gain)))
    );
    Some((gains.iter().all(|gain| *gain >= 3.0), words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Origin;
    use crate::finding::Verdict;

    /// A curve for each buffer, with a point for each number of streams.
    fn curves(value: impl Fn(f64, f64) -> f64) -> Vec<Line> {
        let line = |kib: u64| {
            let streams = (1..=STREAMS_MAX).map(f64::from);
            let places = streams.map(|n| (n, value(kib as f64, n))).collect();
            Line::new(kib.to_string(), Origin::Formula, places)
        };
        KIB.into_iter().map(line).collect()
    }

    fn verdicts(findings: &[Finding]) -> Vec<Verdict> {
        findings.iter().map(Finding::verdict).collect()
    }

    /// Windows that fill 97 Mbit/s, of which a buffer that overflows the queue loses some.
    fn textbook(kib: f64, n: f64) -> f64 {
        let lost = if kib > 633.0 { 3.0 } else { 0.0 };
        asked(kib as u64, n).min(97.0 - lost)
    }

    #[test]
    fn the_textbook_holds_without_cross_traffic() {
        let seen = verdicts(&alone(&curves(textbook)));
        assert_eq!(seen, [Verdict::Holds, Verdict::Holds]);
    }

    #[test]
    fn a_peak_that_does_not_move_or_fall_does_not_hold() {
        let seen = verdicts(&alone(&curves(|_, n| n.min(10.0))));
        assert_eq!(seen, [Verdict::DoesNotHold, Verdict::DoesNotHold]);
    }

    #[test]
    fn beside_others_each_part_counts() {
        let free = curves(textbook);
        let taking = curves(|kib, n| asked(kib as u64, n).min(30.0 + 1.4 * n));
        let losing = curves(|_, n| 65.0 - n);
        let keeping = curves(|_, _| 65.0);
        let verdict = |lines: &[Line], cross: &[Line]| room(&free, lines, cross)[0].verdict();
        assert_eq!(verdict(&taking, &losing), Verdict::Holds);
        assert_eq!(verdict(&taking, &keeping), Verdict::InPart);
        let slow = curves(|kib, n| asked(kib as u64, n).min(30.0) / 2.0);
        assert_eq!(verdict(&slow, &keeping), Verdict::DoesNotHold);
    }

    #[test]
    fn on_a_full_path_shares_go_by_streams() {
        let shared = curves(|_, n| 100.0 * n / (n + 12.0));
        let left = curves(|_, n| 1200.0 / (n + 12.0));
        let seen = verdicts(&full(&shared, &left));
        assert_eq!(seen, [Verdict::Holds, Verdict::Holds]);
        let by_buffer = curves(|kib, _| kib);
        let seen = verdicts(&full(&by_buffer, &by_buffer));
        assert_eq!(seen, [Verdict::DoesNotHold, Verdict::DoesNotHold]);
    }
}
