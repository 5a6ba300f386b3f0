//! Figures against the number of streams, a line for each window.

use super::curves::Curves;
use super::{Drawing, figure};
use crate::page::sweep::groups::Group;
use crate::page::sweep::metric::{
    ADDED_DELAY, FAIRNESS, GOODPUT, PROBES_LOST, SENT_AGAIN, STARVED,
};
use draw::format as number;

/// Goodput above, and what it costs: added delay, bytes resent, probes lost.
pub(super) fn goodput_and_its_price(group: &Group<'_>) -> Drawing {
    let metrics = [&GOODPUT, &ADDED_DELAY, &SENT_AGAIN, &PROBES_LOST];
    let Some(curves) = Curves::of(group) else {
        return Drawing::LeftOut(
            "One setting alone has no curve of goodput against streams or windows.".to_owned(),
        );
    };
    let chart = curves.chart(&metrics);
    let best = group.best().map(|(streams, window, median)| {
        let setting = crate::text::point(streams, window);
        format!(
            " The highest median goodput is {}, with {setting}.",
            number::rate(median as u64)
        )
    });
    let caption = format!(
        "Goodput and its price against {}: median of the visits with its quartiles, of lost probes \
            the mean{}, where the same small share at several settings is one lost probe at \
            each.{}{}{}{}",
        curves.along(),
        curves.missing(&metrics),
        curves.dashes(),
        curves.knees(),
        best.unwrap_or_default(),
        curves.selection(),
    );
    figure(group, "goodput-streams", chart, caption)
}

/// How evenly streams shared.
pub(super) fn sharing(group: &Group<'_>) -> Drawing {
    let metrics = [&FAIRNESS, &STARVED];
    let curves = Curves::of(group).filter(|curves| curves.tells(&metrics));
    let Some(curves) = curves else {
        return Drawing::LeftOut(
            "No curve of how evenly streams shared: it takes several settings with two streams or \
                more."
                .to_owned(),
        );
    };
    let caption = format!(
        "How evenly streams shared, against {}: Jain's index (1 when all get the same), and the \
            share of visits in which a stream got less than half of its fair share.{}",
        curves.along(),
        curves.selection(),
    );
    figure(group, "sharing-streams", curves.chart(&metrics), caption)
}
