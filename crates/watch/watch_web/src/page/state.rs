//! How a pair does now: in words, in one figure, and in a colour.

use changes::UnixTime;
use draw::format;
use maud::{Markup, html};
use watch_store::GridCell;

use crate::words;

/// What is shown of the pairs of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Goodput as a share of what the pair has been shown to carry.
    Goodput,
    /// Median round trip and loss.
    RoundTrips,
}

/// How a pair does, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The latest visit failed.
    Failed,
    /// Much less than it could.
    Bad,
    /// The latest visit is too old.
    Stale,
    /// Less than it could.
    Less,
    /// As usual.
    Good,
    /// There is nothing to compare with.
    New,
    /// It has not been visited.
    Unknown,
}

/// A pair in one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// How it does.
    pub state: State,
    /// What stands in it.
    pub text: String,
    /// What stands smaller behind it: a unit, or what was lost.
    pub after: String,
    /// More of it.
    pub title: String,
    /// The lower, the worse, among those of one state.
    pub rank: f64,
}

/// Shares of what was shown from which a state begins.
const SHARES: [(f64, State); 3] = [(0.80, State::Good), (0.50, State::Less), (0.0, State::Bad)];
/// Losses from which a state begins.
const LOSSES: [(f64, State); 3] = [(0.10, State::Bad), (0.01, State::Less), (0.0, State::Good)];

impl State {
    /// All of them, the best first.
    pub const ALL: [State; 7] = [
        State::Good,
        State::Less,
        State::Bad,
        State::Failed,
        State::Stale,
        State::New,
        State::Unknown,
    ];

    /// Its class in the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            State::Failed => "failed",
            State::Stale => "stale",
            State::Bad => "bad",
            State::Less => "less",
            State::Good => "good",
            State::New => "new",
            State::Unknown => "unknown",
        }
    }

    /// Whether someone should look.
    pub fn is_trouble(self) -> bool {
        self < State::Good
    }

    /// What stands on its colour in a legend.
    fn sign(self) -> &'static str {
        match self {
            State::Failed => "✕",
            State::Stale => "old",
            State::New => "new",
            State::Unknown => words::ABSENT,
            State::Bad | State::Less | State::Good => "",
        }
    }

    fn words(self, shown: Shown) -> &'static str {
        match (self, shown) {
            (State::Good, Shown::Goodput) => "80 % and more",
            (State::Less, Shown::Goodput) => "50 to 80 %",
            (State::Bad, Shown::Goodput) => "below 50 %",
            (State::Good, Shown::RoundTrips) => "less than 1 % lost",
            (State::Less, Shown::RoundTrips) => "1 to 10 % lost",
            (State::Bad, Shown::RoundTrips) => "10 % lost and more",
            (State::Failed, _) => "failed",
            (State::Stale, _) => "no visit for three intervals",
            (State::New, _) => "nothing to compare with yet: its goodput",
            (State::Unknown, _) => "not visited yet",
        }
    }
}

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

    /// What the colours mean, and how many of `cells` have them.
    pub fn legend<'a>(self, cells: impl Iterator<Item = &'a Cell> + Clone) -> Markup {
        let count = |state| cells.clone().filter(|cell| cell.state == state).count();
        let is_shown = |state: State, count| state <= State::Good || count > 0;
        html! {
            ul.legend aria-label="Colours" {
                @for (state, count) in State::ALL.map(|state| (state, count(state))) {
                    @if is_shown(state, count) {
                        li.empty[count == 0] {
                            b { (count) } " "
                            span class={ "key " (state.class()) } { (state.sign()) }
                            (state.words(self))
                        }
                    }
                }
            }
        }
    }
}

impl Cell {
    /// Of the latest visit.
    pub fn of(cell: &GridCell, shown: Shown, now: UnixTime) -> Self {
        let age = words::ago(cell.at, now);
        if let Some(failure) = &cell.failure {
            let reason = draw::words::plain(&failure.reason);
            return Cell::signed(State::Failed, format!("failed: {reason}, {age}"));
        }
        match shown {
            Shown::Goodput => Cell::goodput(cell, &age),
            Shown::RoundTrips => Cell::round_trips(cell, &age),
        }
    }

    /// Of a visit that is too old.
    pub fn stale(cell: &GridCell, now: UnixTime) -> Self {
        let title = format!("the latest visit began {}", words::ago(cell.at, now));
        Cell::signed(State::Stale, title)
    }

    /// Of a pair that has not been visited.
    pub fn unknown() -> Self {
        Cell::signed(State::Unknown, "not visited yet".to_owned())
    }

    /// What stands in it.
    pub fn figure(&self) -> Markup {
        html! { (self.text) @if !self.after.is_empty() { small { " " (self.after) } } }
    }

    /// Without a figure.
    fn signed(state: State, title: String) -> Self {
        Cell {
            state,
            text: state.sign().to_owned(),
            after: String::new(),
            title,
            rank: 0.0,
        }
    }

    fn goodput(cell: &GridCell, age: &str) -> Self {
        let Some(goodput) = cell.goodput else {
            return Cell::signed(State::Unknown, format!("no goodput, {age}"));
        };
        let value = words::rate(goodput);
        let Some((share, shown)) = cell.share_of_shown().zip(cell.shown) else {
            let (text, after) = value.split_once(' ').unwrap_or((&value, ""));
            return Cell {
                text: text.to_owned(),
                after: after.to_owned(),
                ..Cell::signed(
                    State::New,
                    format!("{value}, {age}; nothing to compare with yet"),
                )
            };
        };
        let state = SHARES.iter().find(|(bound, _)| rounded(share) >= *bound);
        Cell {
            state: state.map_or(State::Bad, |(_, state)| *state),
            text: format!("{:.0}", share * 100.0),
            after: "%".to_owned(),
            title: format!("{value} of {} shown, {age}", words::rate(shown)),
            rank: share,
        }
    }

    fn round_trips(cell: &GridCell, age: &str) -> Self {
        let loss = cell.loss.unwrap_or(0.0);
        let lost = format!("{} lost", format::percent(loss));
        let Some(trip) = cell.rtt_median.map(words::milliseconds) else {
            return Cell {
                text: "lost".to_owned(),
                rank: -loss,
                ..Cell::signed(State::Bad, format!("no round trip, {lost}, {age}"))
            };
        };
        let state = LOSSES.iter().find(|(bound, _)| loss >= *bound);
        let state = state.map_or(State::Good, |(_, state)| *state);
        Cell {
            state,
            title: format!("{trip} ms, {lost}, {age}"),
            text: trip,
            after: if state.is_trouble() {
                lost
            } else {
                String::new()
            },
            rank: -loss,
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
        let cells = [0.0, 49.4, 49.6, 79.4, 79.6, 130.0].map(at_share);
        let shown = cells.map(|cell| (cell.text, cell.state));
        let wanted = [
            ("0", State::Bad),
            ("49", State::Bad),
            ("50", State::Less),
            ("79", State::Less),
            ("80", State::Good),
            ("130", State::Good),
        ];
        assert_eq!(shown, wanted.map(|(text, state)| (text.to_owned(), state)));
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
            goodput: Some(Rate::from_bits_per_second(38_200_000)),
            shown: None,
            ..latest()
        };
        let new = Cell::of(&new, Shown::Goodput, NOW);
        assert_eq!((new.text.as_str(), new.after.as_str()), ("38.2", "Mbit/s"));
        let cells = [failed, Cell::stale(&latest(), NOW), Cell::unknown()];
        assert_eq!(
            cells.each_ref().map(|cell| cell.text.as_str()),
            ["✕", "old", "–"]
        );
        let legend = Shown::Goodput
            .legend([new].iter().chain(&cells))
            .into_string();
        assert_eq!(legend.matches("<b>1</b>").count(), 4, "{legend}");
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
            (cell.text, cell.after, cell.state)
        };
        let text = |text: &str, after: &str, state| (text.to_owned(), after.to_owned(), state);
        assert_eq!(cell(Some(0.0), Some(12_340)), text("12.3", "", State::Good));
        assert_eq!(
            cell(Some(0.05), Some(165_000)),
            text("165", "5.0 % lost", State::Less)
        );
        assert_eq!(cell(Some(1.0), None), text("lost", "", State::Bad));
    }

    /// A colour of the style sheet, of its light or dark part.
    fn colour(part: &str, name: &str) -> [f64; 3] {
        let (_, rest) = part.split_once(&format!("--{name}: #")).unwrap();
        let value = u32::from_str_radix(&rest[..6], 16).unwrap();
        [16, 8, 0].map(|shift| f64::from(value >> shift & 0xff) / 255.0)
    }

    /// The contrast of two colours, as WCAG 2.2 has it.
    fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
        let linear = |c: f64| match c <= 0.04045 {
            true => c / 12.92,
            false => ((c + 0.055) / 1.055).powf(2.4),
        };
        let light = |[red, green, blue]: [f64; 3]| {
            0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) + 0.05
        };
        let (one, other) = (light(one), light(other));
        one.max(other) / one.min(other)
    }

    #[test]
    fn neighbouring_colours_can_be_told_apart_and_read() {
        let style = include_str!("../../assets/style.css");
        let (light, dark) = style.split_once("prefers-color-scheme: dark").unwrap();
        for part in [light, dark] {
            let of = |name: &str| colour(part, name);
            for pair in [["good", "less"], ["less", "bad"]] {
                let steps = contrast(of(pair[0]), of(pair[1]));
                assert!(steps >= 3.0, "{pair:?}: {steps}");
            }
            for name in ["good", "less", "bad"] {
                let text = contrast(of(name), of(&format!("{name}-ink")));
                assert!(text >= 4.5, "{name}: {text}");
            }
        }
    }
}
