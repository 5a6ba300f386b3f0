//! What is visited: a grid of settings, how often, for how long.

use errors::{Fault, Hint};
use observe::{Amount, Direction, SamplePlan, Setting, StreamCount, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::{Bytes, ServerUser, Span, Via};

/// A sweep as it was asked for. The same plan is visited in the same order for ever.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepPlan {
    /// Every setting once, in the order of the grid.
    pub settings: Vec<Setting>,
    /// How often each is visited.
    pub cycles: u32,
    /// How long the streams of a visit run; with several, each setting is visited with each of
    /// them.
    #[serde(rename = "durations_seconds")]
    pub durations: Vec<Span>,
    /// How long the idle path is probed before each visit.
    #[serde(rename = "unloaded_seconds")]
    pub unloaded: Span,
    /// Decides the order of the visits, and what chance does on paths that this host makes.
    pub seed: u64,
    /// How packets leave this host; absent where the kernel decides.
    #[serde(default, skip_serializing_if = "Via::is_free")]
    pub via: Via,
    /// The user who logs in to the server; the password is never kept. Absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<ServerUser>,
}

/// The windows of a grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Windows {
    /// These, each with every number of streams.
    Each(Vec<Window>),
    /// Streams times window come to each of these sizes.
    Products(Vec<Bytes>),
}

/// What spans a grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// Numbers of streams.
    pub streams: Vec<StreamCount>,
    /// Their windows.
    pub windows: Windows,
    /// Ways to send, each a setting of its own.
    pub directions: Vec<Direction>,
    /// Everything else, the same for all.
    pub base: Setting,
}

/// A window of a product grid that no run could have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftOut {
    /// Streams.
    pub streams: StreamCount,
    /// What they were to come to together.
    pub product: Bytes,
    /// The window of each.
    pub window: Bytes,
}

/// A grid with nothing to visit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GridError {
    /// No window of a product grid is possible.
    #[error("no window of this grid is between {} and {max}", WINDOW_MIN)]
    NothingLeft {
        /// The largest window.
        max: Bytes,
    },
    /// More visits than their numbers can count.
    #[error("{settings} settings in {cycles} cycles are more than {VISITS_MAX} visits")]
    TooMany {
        /// Settings.
        settings: usize,
        /// Cycles.
        cycles: u32,
    },
}

impl Hint for GridError {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            GridError::NothingLeft { .. } => "ask for other products or numbers of streams",
            GridError::TooMany { .. } => "ask for fewer settings or cycles",
        };
        Some(hint.to_owned())
    }
}

/// One page: a smaller buffer cannot hold what a packet brings.
pub const WINDOW_MIN: Bytes = Bytes::from_kib(4);

/// More visits than this of ten seconds each take two weeks, so a larger number is a slip.
pub const VISITS_MAX: u64 = 100_000;

impl Grid {
    /// Every setting once, streams by streams, and what had to be left out.
    ///
    /// * `window_max`: the largest window that ends take.
    ///
    /// A product is divided by the number of streams and rounded down to whole bytes:
    /// ```
    /// use observe::{Direction, Setting, StreamCount, Window};
    /// use sweep::{Grid, Windows};
    /// use units::Bytes;
    /// let grid = Grid {
    ///     streams: [2, 32].map(|n| StreamCount::new(n).unwrap()).to_vec(),
    ///     windows: Windows::Products(vec![Bytes::new(25_000_000)]),
    ///     directions: vec![Direction::Forward],
    ///     base: Setting::new(StreamCount::ONE, Window::Auto),
    /// };
    /// let (settings, left_out) = grid.settings(Bytes::new(10_000_000)).unwrap();
    /// // 25 MB over 32 streams are 781.25 kB each; over two they are 12.5 MB, which is above 10 MB.
    /// assert_eq!(settings[0].window, Window::Fixed(Bytes::new(781_250)));
    /// assert_eq!((settings.len(), left_out.len()), (1, 1));
    /// ```
    ///
    /// # Errors
    /// When nothing is left.
    pub fn settings(&self, window_max: Bytes) -> Result<(Vec<Setting>, Vec<LeftOut>), GridError> {
        let (mut settings, mut left_out) = (Vec::new(), Vec::new());
        for direction in &self.directions {
            for streams in &self.streams {
                let (windows, too_much) = self.windows(*streams, window_max);
                settings.extend(windows.into_iter().map(|window| Setting {
                    streams: *streams,
                    window,
                    direction: *direction,
                    ..self.base.clone()
                }));
                left_out.extend(too_much);
            }
        }
        // The same ones for each direction.
        left_out.truncate(left_out.len() / self.directions.len().max(1));
        match settings.is_empty() {
            true => Err(GridError::NothingLeft { max: window_max }),
            false => Ok((settings, left_out)),
        }
    }

    fn windows(&self, streams: StreamCount, max: Bytes) -> (Vec<Window>, Vec<LeftOut>) {
        let products = match &self.windows {
            Windows::Each(windows) => return (windows.clone(), Vec::new()),
            Windows::Products(products) => products,
        };
        let share = |product: &Bytes| LeftOut {
            streams,
            product: *product,
            window: Bytes::new(product.get() / u64::from(streams.get())),
        };
        let shares = products.iter().map(share);
        let (fitting, left_out): (Vec<_>, Vec<_>) =
            shares.partition(|share| (WINDOW_MIN..=max).contains(&share.window));
        let windows = fitting.iter().map(|share| Window::Fixed(share.window));
        (windows.collect(), left_out)
    }
}

impl SweepPlan {
    /// How many visits there are in a cycle: every setting with every duration.
    pub fn places(&self) -> usize {
        self.settings.len() * self.durations.len()
    }

    /// What is visited at a place: all settings with the first duration, then with the next. `None`
    /// beyond the last.
    pub fn at(&self, place: usize) -> Option<(&Setting, Span)> {
        let duration = self
            .durations
            .get(place.checked_div(self.settings.len())?)?;
        let setting = self.settings.get(place % self.settings.len())?;
        Some((setting, *duration))
    }

    /// How many visits there are in all.
    pub fn visits(&self) -> u64 {
        (self.places() as u64).saturating_mul(self.cycles.into())
    }

    /// Checks that there is something to do, and that its end can be lived to see.
    ///
    /// # Errors
    /// When there are too many visits.
    pub fn check(&self) -> Result<(), GridError> {
        match self.visits() {
            1..=VISITS_MAX => Ok(()),
            _ => Err(GridError::TooMany {
                settings: self.places(),
                cycles: self.cycles,
            }),
        }
    }

    /// How a visit is carried out: one loaded/unloaded cycle.
    pub fn sample_plan(&self, duration: Span) -> SamplePlan {
        SamplePlan {
            amount: Amount::Time(duration),
            unloaded: self.unloaded,
            ..SamplePlan::lasting(duration)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(counts: &[u64]) -> Vec<StreamCount> {
        let counts = counts.iter().map(|n| StreamCount::new(*n));
        counts.collect::<Result<_, _>>().unwrap()
    }

    fn grid(counts: &[u64], windows: Windows, directions: &[Direction]) -> Grid {
        Grid {
            streams: streams(counts),
            windows,
            directions: directions.to_vec(),
            base: Setting::new(StreamCount::ONE, Window::Auto),
        }
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let fixed = Window::Fixed(Bytes::from_kib(64));
        let both = [Direction::Forward, Direction::Reverse];
        let grid = grid(&[1, 2, 8], Windows::Each(vec![Window::Auto, fixed]), &both);
        let (settings, left_out) = grid.settings(Bytes::from_mib(512)).unwrap();
        assert_eq!(settings.len(), 12);
        assert!(left_out.is_empty());
        for (number, setting) in settings.iter().enumerate() {
            assert!(!settings[..number].contains(setting), "{setting:?} twice");
        }
    }

    #[test]
    fn windows_that_no_run_could_have_are_left_out_once_and_told() {
        let products = Windows::Products(vec![Bytes::from_kib(64), Bytes::from_mib(4)]);
        let both = [Direction::Forward, Direction::Reverse];
        let grid = grid(&[1, 32], products, &both);
        let (settings, left_out) = grid.settings(Bytes::from_mib(1)).unwrap();
        // 1 x 64 KiB and 32 x 128 KiB, both ways; 1 x 4 MiB and 32 x 2 KiB are impossible.
        assert_eq!(settings.len(), 4);
        let windows: Vec<Bytes> = left_out.iter().map(|one| one.window).collect();
        assert_eq!(windows, [Bytes::from_mib(4), Bytes::from_kib(2)]);
    }

    #[test]
    fn a_grid_without_a_possible_window_is_refused_with_the_bounds() {
        let grid = grid(
            &[128],
            Windows::Products(vec![Bytes::from_kib(64)]),
            &[Direction::Forward],
        );
        let error = grid.settings(Bytes::from_mib(512)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no window of this grid is between 4KiB and 512MiB"
        );
    }

    #[test]
    fn a_sweep_of_years_is_a_slip() {
        let plan = |cycles| SweepPlan {
            settings: vec![Setting::new(StreamCount::ONE, Window::Auto); 100],
            cycles,
            durations: vec![Span::from_secs(10)],
            unloaded: Span::from_secs(1),
            seed: 1,
            via: units::Via::default(),
            user: None,
        };
        assert_eq!(plan(21).visits(), 2_100);
        assert!(plan(1_000).check().is_ok());
        assert!(plan(1_001).check().is_err());
        assert!(plan(0).check().is_err());
    }
}
