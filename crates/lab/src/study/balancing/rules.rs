//! What has to be seen for the findings about buffers and streams to hold.

use crate::study::figure::Line;
use crate::study::finding::{Check, Finding, digits, list};

/// A point this close to the highest is at the peak: more than seeds scatter, less than shows.
const PEAK: f64 = 0.02;

/// What five streams of 64 KiB at 40 ms leave of 100 Mbit/s: each asks for 13.1.
const LEFT_MBIT: f64 = 100.0 - 5.0 * 13.1;
/// The round trip of the paths, in seconds.
const RTT: f64 = 0.04;

/// Without cross traffic.
pub(super) fn alone(lines: &[Line]) -> Vec<Finding> {
    vec![
        Finding {
            claim: "A larger buffer moves the peak to fewer streams.",
            rule: "The fewest streams within 2 % of a curve's highest throughput never rise from one \
                buffer to the next larger one, and are fewer for the largest than for the smallest.",
            checks: vec![Check::of(peaks_move(lines))],
        },
        Finding {
            claim: "Larger still, it lowers the peak.",
            rule: "The highest throughput with the largest buffer is at least 1 % below the best of \
                all buffers.",
            checks: vec![Check::of(peak_falls(lines))],
        },
    ]
}

fn peaks_move(lines: &[Line]) -> Option<(bool, String)> {
    let peaks: Option<Vec<f64>> = lines.iter().map(|line| line.peak(PEAK)).collect();
    let peaks = peaks?;
    let holds = peaks.is_sorted_by(|a, b| a >= b) && peaks.last()? < peaks.first()?;
    let (first, last) = (&lines.first()?.label, &lines.last()?.label);
    let places = list(peaks.iter().map(|peak| format!("{peak:.0}")));
    let words = format!("with buffers from {first} to {last} the peak lies at {places} streams");
    Some((holds, words))
}

fn peak_falls(lines: &[Line]) -> Option<(bool, String)> {
    let peaks: Option<Vec<f64>> = lines.iter().map(Line::highest).collect();
    let peaks = peaks?;
    let best = peaks.iter().copied().fold(0.0, f64::max);
    let last = *peaks.last()?;
    let words = format!(
        "the peaks are {} Mbit/s: the largest buffer's is {} % below the best",
        list(peaks.iter().map(|peak| digits(*peak))),
        digits((1.0 - last / best) * 100.0)
    );
    Some((last <= best * 0.99, words))
}

/// Beside cross traffic that leaves room.
pub(super) fn room(alone: &[Line], lines: &[Line], cross: &[Line]) -> Vec<Finding> {
    vec![Finding {
        claim: "Until the capacity is reached all is as without cross traffic; then more streams win.",
        rule: "While the streams' windows ask for no more than the cross traffic leaves, throughput is \
            within 10 % of that on the empty path; with every buffer, 40 streams carry at least 10 % \
            more than the fewest streams that ask for more than is left; the cross traffic beside 40 \
            streams gets at most 90 % of what it gets beside one.",
        checks: vec![
            Check::of(as_alone(alone, lines)),
            Check::of(more_win(lines)),
            Check::of(others_lose(cross, 0.9)),
        ],
    }]
}

/// What `streams` windows of the line's size ask for, in Mbit/s.
fn asked(line: &Line, streams: f64) -> Option<f64> {
    let kib: f64 = line.label.split(' ').next()?.parse().ok()?;
    Some(streams * kib * 1024.0 * 8.0 / RTT / 1e6)
}

fn as_alone(alone: &[Line], lines: &[Line]) -> Option<(bool, String)> {
    let mut worst: f64 = 0.0;
    let mut points = 0;
    for (free, line) in alone.iter().zip(lines) {
        for point in &line.points {
            if asked(line, point.x)? <= LEFT_MBIT {
                worst = worst.max((point.y / free.at(point.x)? - 1.0).abs());
                points += 1;
            }
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
    let gain = |line: &Line| {
        let full = line
            .points
            .iter()
            .find(|point| asked(line, point.x).is_some_and(|asked| asked > LEFT_MBIT))?;
        Some(line.last()? / full.y)
    };
    let gains: Option<Vec<f64>> = lines.iter().map(gain).collect();
    let gains = gains?;
    let words = format!(
        "40 streams carry {} times as much as the fewest that ask for more than is left",
        list(gains.iter().map(|gain| digits(*gain)))
    );
    Some((gains.iter().all(|gain| *gain >= 1.1), words))
}

/// Whether with every buffer the cross traffic keeps at most `share` of what it had beside one stream.
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
pub(super) fn full(lines: &[Line], cross: &[Line]) -> Vec<Finding> {
    vec![
        Finding {
            claim: "The buffer has no effect.",
            rule: "At each number of streams, throughput with buffers from 64 KiB on differs by at most \
                20 % between the largest and the smallest value; the same with all buffers.",
            checks: vec![
                Check::of(buffers_differ(lines, 64.0)),
                Check::of(buffers_differ(lines, 0.0)),
            ],
        },
        Finding {
            claim: "Streams take throughput from the cross traffic.",
            rule: "With every buffer, 40 streams carry at least three times as much as one, and the \
                cross traffic keeps at most 60 % of what it had beside one.",
            checks: vec![
                Check::of(streams_gain(lines)),
                Check::of(others_lose(cross, 0.6)),
            ],
        },
    ]
}

/// The largest difference between buffers of `least` KiB or more, over all numbers of streams.
fn buffers_differ(lines: &[Line], least: f64) -> Option<(bool, String)> {
    let kib = |line: &&Line| {
        let size = line
            .label
            .split(' ')
            .next()
            .and_then(|kib| kib.parse().ok());
        size.is_some_and(|kib: f64| kib >= least)
    };
    let lines: Vec<&Line> = lines.iter().filter(kib).collect();
    let (mut worst, mut place): (f64, f64) = (0.0, 0.0);
    for point in &lines.first()?.points {
        let values: Option<Vec<f64>> = lines.iter().map(|line| line.at(point.x)).collect();
        let values = values?;
        let high = values.iter().copied().fold(0.0, f64::max);
        let low = values.iter().copied().fold(high, f64::min);
        if 1.0 - low / high > worst {
            (worst, place) = (1.0 - low / high, point.x);
        }
    }
    let words = format!(
        "from {} on, buffers differ by at most {} % (at {place:.0} streams)",
        lines.first()?.label,
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
