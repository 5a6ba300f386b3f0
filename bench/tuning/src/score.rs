//! What a search is worth: its recommendation against the grid's best, and what it took.

use crate::grid::{GENTLE, Grid, streams_max};
use crate::runs::Outcome;
use crate::search::Found;

/// Seconds that a search may take, and round trips where those are longer.
const TIME: (f64, f64) = (20.0, 200.0);
/// A search that recommends nothing has given up everything.
const NOTHING: f64 = 1.0;

/// One search on one path, scored.
#[derive(Debug, Clone)]
pub struct Row {
    pub label: Label,
    pub found: Result<Found, String>,
    /// What the recommended setting gives in long runs; all zero where nothing was recommended.
    pub given: Outcome,
    /// Share of the best goodput that it does not give, 0 to 1.
    pub regret: f64,
    /// ... of the best goodput that keeps to the gentle budget; `None` where no cell does.
    pub regret_gentle: Option<f64>,
    /// Recommended streams over the fewest that reach 95, 90 and 88 % of the best.
    pub streams_over: [f64; 3],
    /// Whether more streams are recommended than path and queue hold packets.
    pub crowded: bool,
    /// Time of the search over what it may take.
    pub time_share: f64,
    /// Delay that the recommended setting adds, seconds.
    pub added: f64,
    /// Goodput that the cross traffic loses to it, as a share; `None` without cross traffic.
    pub taken: Option<f64>,
}

/// Shares of the best goodput for which the fewest streams are told.
pub const SHARES: [f64; 3] = [0.95, 0.90, 0.88];

/// What `given` falls short of `best`, as a share; nothing when it is more.
pub fn regret(given: f64, best: f64) -> f64 {
    if best <= 0.0 {
        return 0.0;
    }
    (1.0 - given / best).max(0.0)
}

/// Which search is scored.
#[derive(Debug, Clone)]
pub struct Label {
    /// Its path's place among the grids.
    pub place: usize,
    /// Its path's seed.
    pub seed: u64,
    pub objective: &'static str,
    pub strategy: String,
}

impl Row {
    /// `given` is what the recommended setting shows in long runs; `None` where nothing was
    /// recommended.
    pub fn new(
        label: Label,
        grid: &Grid,
        found: Result<Found, String>,
        given: Option<Outcome>,
    ) -> Self {
        let (lost, given) = (given.is_none(), given.unwrap_or_default());
        let against = |best: f64| {
            if lost {
                NOTHING
            } else {
                regret(given.goodput, best)
            }
        };
        let streams = found
            .as_ref()
            .map_or(1, |found| found.setting.streams.get());
        let over = |share| f64::from(streams) / f64::from(grid.fewest(share));
        let allowed = (TIME.1 * grid.path.base_rtt().as_secs_f64()).max(TIME.0);
        Row {
            label,
            regret: against(grid.best.outcome.goodput),
            regret_gentle: grid
                .gentle
                .as_ref()
                .map(|cell| against(cell.outcome.goodput)),
            streams_over: SHARES.map(over),
            crowded: u64::from(streams) > streams_max(&grid.path),
            time_share: found.as_ref().map_or(0.0, |found| found.seconds) / allowed,
            added: grid.added(&given),
            taken: (grid.alone.cross > 0.0).then(|| regret(given.cross, grid.alone.cross)),
            found,
            given,
        }
    }

    pub fn seconds(&self) -> f64 {
        self.found.as_ref().map_or(0.0, |found| found.seconds)
    }

    pub fn bytes(&self) -> f64 {
        self.found.as_ref().map_or(0.0, |found| found.bytes)
    }

    pub fn samples(&self) -> f64 {
        self.found
            .as_ref()
            .map_or(0.0, |found| found.tried.len() as f64)
    }

    /// Whether the delay that is added keeps to the gentle budget.
    pub fn is_gentle(&self) -> bool {
        self.added <= GENTLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Cell;
    use crate::search::Promise;
    use crate::search::Said;
    use observe::{Limit, Setting, StreamCount, Window};

    fn cell(streams: u64, goodput: f64, wait: f64) -> Cell {
        let outcome = Outcome {
            goodput,
            cross: 10.0,
            wait,
            resent: 0.0,
        };
        let setting = Setting::new(StreamCount::new(streams).unwrap(), Window::Auto);
        Cell { setting, outcome }
    }

    /// 200 round trips of 200 ms are 40 s.
    fn grid() -> Grid {
        let text = "[forward]\nrate = \"100bit/s\"\ndelay = \"100ms\"\n";
        let text = format!(
            "{}queue = {{ kind = \"drop-tail\", limit = \"10packets\" }}",
            text.replace("100bit", "100kbit")
        );
        Grid {
            path: netpath::PathSpec::from_toml("made-up", &text).unwrap(),
            cells: vec![
                cell(1, 50.0, 0.01),
                cell(2, 89.0, 0.02),
                cell(4, 96.0, 0.05),
                cell(8, 101.0, 0.06),
            ],
            alone: Outcome {
                goodput: 0.0,
                cross: 40.0,
                wait: 0.005,
                resent: 0.0,
            },
            best: cell(8, 100.0, 0.06),
            gentle: Some(cell(2, 88.0, 0.02)),
        }
    }

    fn found(streams: u64, seconds: f64) -> Found {
        Found {
            setting: cell(streams, 0.0, 0.0).setting,
            because: String::new(),
            promise: Promise {
                goodput: 0.0,
                interval: None,
            },
            limits: Said::from(vec![Limit::Link]),
            limits_default: Said::from(vec![Limit::Link]),
            default: None,
            tried: Vec::new(),
            seconds,
            bytes: 1e6,
            own: 0.0,
            cut: None,
        }
    }

    fn label() -> Label {
        Label {
            place: 0,
            seed: 1,
            objective: "max",
            strategy: "ours".to_owned(),
        }
    }

    #[test]
    fn regret_is_a_share_and_never_negative() {
        assert!((regret(95.0, 100.0) - 0.05).abs() < 1e-12);
        assert_eq!(regret(101.0, 100.0), 0.0);
        assert_eq!(regret(0.0, 100.0), 1.0);
        assert_eq!(regret(1.0, 0.0), 0.0);
    }

    #[test]
    fn the_fewest_streams_are_those_that_reach_a_share_of_the_judged_best() {
        assert_eq!(
            [0.95, 0.90, 0.88].map(|share| grid().fewest(share)),
            [4, 4, 2]
        );
    }

    #[test]
    fn a_recommendation_is_scored_against_the_best() {
        let given = cell(16, 92.0, 0.045).outcome;
        let row = Row::new(label(), &grid(), Ok(found(16, 10.0)), Some(given));
        assert!((row.regret - 0.08).abs() < 1e-12);
        assert_eq!(row.regret_gentle, Some(0.0));
        assert_eq!(row.streams_over, [4.0, 4.0, 8.0]);
        assert_eq!(row.time_share, 0.25);
        assert!((row.added - 0.04).abs() < 1e-12 && !row.is_gentle());
        assert_eq!(row.taken, Some(0.75));
    }

    #[test]
    fn a_search_that_found_nothing_regrets_everything() {
        let row = Row::new(label(), &grid(), Err("nothing arrived".to_owned()), None);
        assert_eq!((row.regret, row.regret_gentle), (1.0, Some(1.0)));
    }
}
