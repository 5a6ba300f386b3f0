//! Sentences about one run: why it was not faster, and whether its figures can be trusted.

use record::{Cause, Measure, Run, Unsettled};

use units::Rate;

use super::{clamp, count, limit, sentence};
use draw::format;

/// Why a run was not faster; `None` when that was not asked for.
pub fn why(run: &Run) -> Option<String> {
    Some(cause("It was", run.verdict.as_ref()?))
}

pub(super) fn cause(subject: &str, found: &Cause) -> String {
    let others: Vec<String> = found
        .or
        .iter()
        .map(|or| format!("by {}", limit(*or)))
        .collect();
    let or = match others.is_empty() {
        true => String::new(),
        false => format!(" (or {})", others.join(" or ")),
    };
    let head = format!("{subject} limited by {}{or}", limit(found.limit));
    let mut sentences = vec![sentence(&head), sentence(&found.because)];
    let reach = found.could_reach.map(Rate::human);
    sentences.extend(reach.map(|rate| format!("Without that it could reach {rate}.")));
    sentences.join(" ").trim_end().to_owned()
}

/// A measurement in sentences: how fast, why not faster, and whether the figure can be trusted.
pub fn measure(measure: &Measure) -> Vec<String> {
    let run = &measure.run;
    let all = [why(run), clamp::clamped(run), unsettled(run)];
    all.into_iter().flatten().collect()
}

/// Segments sent again: in the part of the run that the other figures are of, and in all of it.
pub fn segments_again(run: &Run) -> Option<String> {
    let parts = run.directions.iter().map(|way| way.tcp.retransmits);
    let part = parts
        .sum::<Option<u64>>()
        .filter(|_| !run.directions.is_empty());
    match (part, run.retransmits) {
        (Some(part), Some(all)) if part != all => Some(format!(
            "{} in that time and {all} in the whole run",
            count(part, "segment")
        )),
        (Some(segments), _) => Some(count(segments, "segment")),
        (None, all) => Some(format!("{} in the whole run", count(all?, "segment"))),
    }
}

/// Why there is no interval, and how long a run would have to be.
fn unsettled(run: &Run) -> Option<String> {
    let (why, later_half) = match (run.steady.settled, run.steady.unsettled) {
        (true, _) => return None,
        (false, Some(Unsettled::TotalsOnly)) => {
            return Some(
                "The far end gave only totals, so the figures are over the whole run.".to_owned(),
            );
        }
        (false, Some(Unsettled::FewLosses)) => (
            "losses decide on the rate, and too few were seen to know how often they come",
            "",
        ),
        (false, Some(Unsettled::Uneven)) => {
            ("the rate varies too much for a run of this length", "")
        }
        (false, _) => (
            "the rate still rose or fell, or the run was too short to tell",
            ", and the figures are over its later half",
        ),
    };
    Some(format!(
        "Not settled: {why}. Another run may carry something quite different, so there is no \
            \u{b1}{later_half}.{}",
        takes(run)
    ))
}

fn takes(run: &Run) -> String {
    let Some(seconds) = run.steady.takes_seconds else {
        return String::new();
    };
    let streams = match run.setting.streams.get() {
        1 => "one stream takes",
        _ => "these streams take",
    };
    let rtt = run.rtt_loaded_seconds();
    let rtt = rtt.map(|rtt| format!(" at a round trip of {}", format::time(rtt)));
    format!(
        " To tell, {streams} about {}{}.",
        format::lasting(seconds),
        rtt.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use record::synthetic;

    use super::*;

    #[test]
    fn a_run_that_did_not_settle_says_how_long_it_takes() {
        let mut body = synthetic::measure(&record::synthetic::Case::streams(1, 7)).body;
        body.run.steady.settled = false;
        body.run.steady.unsettled = Some(Unsettled::FewLosses);
        body.run.steady.takes_seconds = Some(130.0);
        let text = unsettled(&body.run).unwrap();
        assert!(text.contains("Not settled: losses decide"), "{text}");
        assert!(
            text.contains("one stream takes about 2 min at a round trip of "),
            "{text}"
        );
    }
}
