//! One cell of a grid: text, colour and what it says when pointed at.

use changes::UnixTime;
use maud::{Markup, html};
use report::format;
use watch_store::GridCell;

use crate::words;

/// What the cells of a grid show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Goodput as a share of what the pair has been shown to carry.
    Goodput,
    /// Median round trip and loss.
    RoundTrips,
}

/// A cell.
#[derive(Debug, PartialEq, Eq)]
pub struct Cell {
    /// What stands in it.
    pub text: String,
    /// Its class in the style sheet.
    pub class: &'static str,
    /// More of it.
    pub title: String,
    /// Whether the text is in percent.
    pub is_share: bool,
}

/// Shares of what was shown from which a class begins, and the class; the best first.
const SHARES: [(f64, &str, &str); 5] = [
    (0.90, "s5", "90 % and more"),
    (0.75, "s4", "75 to 90 %"),
    (0.50, "s3", "50 to 75 %"),
    (0.25, "s2", "25 to 50 %"),
    (0.00, "s1", "below 25 %"),
];
/// Losses from which a class begins, the worst first.
const LOSSES: [(f64, &str, &str); 5] = [
    (0.20, "s1", "20 % lost and more"),
    (0.05, "s2", "5 to 20 %"),
    (0.01, "s3", "1 to 5 %"),
    (1e-9, "s4", "below 1 %"),
    (0.00, "s5", "none lost"),
];

impl Shown {
    /// What a cell is, in a sentence.
    pub fn says(self) -> &'static str {
        match self {
            Shown::Goodput => {
                "Goodput of the latest visit in percent of what the pair has been shown to carry: \
                 the 95th percentile of 30 days."
            }
            Shown::RoundTrips => {
                "Median round trip of the latest visit in milliseconds, coloured by the share of \
                 its probes that was lost."
            }
        }
    }

    /// What the colours mean.
    pub fn legend(self) -> Markup {
        let mut classes = match self {
            Shown::Goodput => SHARES,
            Shown::RoundTrips => LOSSES,
        };
        if self == Shown::RoundTrips {
            classes.reverse();
        }
        html! {
            ul.legend aria-label="Colours" {
                @for (_, class, words) in classes {
                    li { span class={ "key " (class) } {} (words) }
                }
                li { span.key.fail { "✕" } "failed" }
                li { span.key.stale { "old" } "no visit for three intervals" }
                li { span.key.none { "–" } "no data yet" }
            }
        }
    }
}

impl Cell {
    /// Of the latest visit.
    pub fn of(cell: &GridCell, shown: Shown, now: UnixTime) -> Self {
        let age = words::ago(cell.at, now);
        if let Some(failure) = &cell.failure {
            return Cell {
                text: "✕".to_owned(),
                class: "fail",
                title: format!("failed: {}, {age}", report::text::plain(&failure.reason)),
                is_share: false,
            };
        }
        match shown {
            Shown::Goodput => Cell::goodput(cell, &age),
            Shown::RoundTrips => Cell::round_trips(cell, &age),
        }
    }

    fn goodput(cell: &GridCell, age: &str) -> Self {
        let Some(goodput) = cell.goodput else {
            return Cell {
                title: format!("no goodput, {age}"),
                ..Cell::none()
            };
        };
        let value = words::rate(goodput);
        let Some((share, shown)) = cell.share_of_shown().zip(cell.shown) else {
            return Cell {
                text: "new".to_owned(),
                class: "new",
                title: format!("{value}, {age}; nothing to compare with yet"),
                is_share: false,
            };
        };
        let class = SHARES.iter().find(|(bound, ..)| rounded(share) >= *bound);
        Cell {
            text: format!("{:.0}", share * 100.0),
            class: class.map_or("s1", |(_, class, _)| class),
            title: format!("{value} of {} shown, {age}", words::rate(shown)),
            is_share: true,
        }
    }

    fn round_trips(cell: &GridCell, age: &str) -> Self {
        let loss = cell.loss.unwrap_or(0.0);
        let class = LOSSES.iter().find(|(bound, ..)| loss >= *bound);
        let trip = cell.rtt_median.map(words::milliseconds);
        let lost = format!("{} lost", format::percent(loss));
        let Some(trip) = trip else {
            return Cell {
                text: "lost".to_owned(),
                class: "s1",
                title: format!("no round trip, {lost}, {age}"),
                is_share: false,
            };
        };
        Cell {
            title: format!("{trip} ms, {lost}, {age}"),
            text: trip,
            class: class.map_or("s5", |(_, class, _)| class),
            is_share: false,
        }
    }

    /// Of a visit that is too old.
    pub fn stale(cell: &GridCell, now: UnixTime) -> Self {
        Cell {
            text: "old".to_owned(),
            class: "stale",
            title: format!("the latest visit began {}", words::ago(cell.at, now)),
            is_share: false,
        }
    }

    /// Of a pair that has not been visited.
    pub fn none() -> Self {
        Cell {
            text: "–".to_owned(),
            class: "none",
            title: "no data yet".to_owned(),
            is_share: false,
        }
    }
}

/// To whole percents, so that a colour never contradicts the number on it.
fn rounded(share: f64) -> f64 {
    (share * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use changes::Failure;
    use units::{Rate, Span};
    use watch_store::Pair;

    use super::*;

    const NOW: UnixTime = UnixTime::from_seconds(7200);

    fn latest() -> GridCell {
        GridCell {
            pair: Pair {
                from: "a".parse().unwrap(),
                to: "b".parse().unwrap(),
            },
            at: UnixTime::from_seconds(3600),
            goodput: None,
            shown: Some(Rate::from_bits_per_second(100_000_000)),
            rtt_min: None,
            rtt_median: None,
            loss: None,
            failure: None,
        }
    }

    fn at_share(percent: f64) -> Cell {
        let goodput = Some(Rate::from_f64(percent * 1e6));
        Cell::of(
            &GridCell {
                goodput,
                ..latest()
            },
            Shown::Goodput,
            NOW,
        )
    }

    #[test]
    fn colours_go_by_the_share_that_is_written() {
        let cells = [0.0, 24.4, 24.6, 50.0, 89.4, 89.6, 130.0].map(at_share);
        let shown = cells.map(|cell| (cell.text, cell.class));
        let wanted = [
            ("0", "s1"),
            ("24", "s1"),
            ("25", "s2"),
            ("50", "s3"),
            ("89", "s4"),
            ("90", "s5"),
            ("130", "s5"),
        ];
        assert_eq!(shown, wanted.map(|(text, class)| (text.to_owned(), class)));
        assert_eq!(
            at_share(92.0).title,
            "92.0 Mbit/s of 100 Mbit/s shown, 60 min ago"
        );
    }

    #[test]
    fn what_is_no_share_has_a_text_of_its_own() {
        let reason = "connection refused".to_owned();
        let failed = GridCell {
            failure: Some(Failure { reason }),
            ..latest()
        };
        let failed = Cell::of(&failed, Shown::Goodput, NOW);
        assert!(failed.title.contains("connection refused"));
        let new = GridCell {
            goodput: Some(Rate::from_bits_per_second(1)),
            shown: None,
            ..latest()
        };
        let new = Cell::of(&new, Shown::Goodput, NOW);
        let cells = [failed, Cell::stale(&latest(), NOW), new, Cell::none()];
        assert_eq!(cells.map(|cell| cell.text), ["✕", "old", "new", "–"]);
    }

    #[test]
    fn round_trips_are_coloured_by_loss() {
        let cell = |loss, trip: Option<u64>| {
            let rtt_median = trip.map(Span::from_micros);
            let cell = GridCell {
                loss,
                rtt_median,
                ..latest()
            };
            let cell = Cell::of(&cell, Shown::RoundTrips, NOW);
            (cell.text, cell.class)
        };
        let text = |text: &str, class| (text.to_owned(), class);
        assert_eq!(cell(Some(0.0), Some(12_340)), text("12.3", "s5"));
        assert_eq!(cell(Some(0.05), Some(165_000)), text("165", "s2"));
        assert_eq!(cell(Some(1.0), None), text("lost", "s1"));
    }
}
