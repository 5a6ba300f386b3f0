//! The choice of a range of time: named ones, those beside it, and any other.

use changes::UnixTime;
use maud::{Markup, html};
use units::Span;

use crate::calendar;
use crate::href::Place;
use crate::range::{Ago, LONGEST, Range, earlier};

/// Links to all named ranges of a page.
pub fn named(place: &Place, range: Range) -> Markup {
    let all = Ago::ALL.into_iter().map(|ago| {
        let place = place.clone().with("range", ago.word());
        (ago.word().to_owned(), place, range.ago == Some(ago))
    });
    super::links("Range", all)
}

/// All ranges of a page with a chart of `shown`. The script takes `data-key` for keys on the chart.
pub fn all(place: &Place, range: Range, shown: Range, now: UnixTime) -> Markup {
    let fields = html! {
        label { "from " input type="datetime-local" name="from" required
            value=(calendar::field(shown.from)); }
        label { "to " input type="datetime-local" name="to" required
            value=(calendar::field(shown.to)); }
        "UTC "
        button { "Show" }
    };
    html! {
        (named(place, range))
        nav.links aria-label="Neighbouring ranges" {
            @for (text, key, range) in beside(shown, now) {
                a href=(place.clone().within(range)) data-key=(key) { (text) }
            }
        }
        (place.form("fields", fields))
    }
}

/// What can be done to the axis of time of a chart.
pub fn hint() -> Markup {
    html! {
        p.hint { "Drag over the chart to see that time alone, double-click for ten times as much. \
            On the chart, the keys ← → + − move and zoom." }
    }
}

/// Ranges that differ by one step, with the keys that lead to them.
fn beside(shown: Range, now: UnixTime) -> Vec<(&'static str, &'static str, Range)> {
    let length = shown.length().as_secs_f64();
    let part = |share: f64| Span::from_secs_f64((length * share).round());
    let (from, to) = shown.ends();
    let mut all = vec![(
        "← earlier",
        "ArrowLeft",
        (earlier(from, part(0.5)), earlier(to, part(0.5))),
    )];
    if to < now {
        all.push(("later →", "ArrowRight", (from + part(0.5), to + part(0.5))));
    }
    all.push(("shorter", "+", (from + part(0.25), earlier(to, part(0.25)))));
    if length * 2.0 <= LONGEST as f64 {
        all.push((
            "longer",
            "-",
            (earlier(from, part(0.5)), (to + part(0.5)).min(now.max(to))),
        ));
    }
    let has_length = |(_, _, (from, to)): &(_, _, (UnixTime, UnixTime))| from < to;
    let all = all.into_iter().filter(has_length);
    all.map(|(text, key, ends)| (text, key, Range::between(ends)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_beside_one_have_a_length_and_end_now() {
        let at = UnixTime::from_seconds;
        let now = at(1_000_000);
        for (from, to) in [(0, 1), (999_999, 1_000_000), (0, 1_000_000), (500, 900_000)] {
            let shown = Range::between((at(from), at(to)));
            for (text, _, range) in beside(shown, now) {
                assert!(range.from < range.to, "{text} of {shown:?}: {range:?}");
                assert!(
                    text == "later →" || range.to <= now,
                    "{text} of {shown:?}: {range:?}"
                );
            }
        }
    }
}
