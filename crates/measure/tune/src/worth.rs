//! What a setting is worth for what is sought, on each path that explains the samples.
//!
//! Worth is a number up to 1 on each path; a setting is worth its mean over all of them. More
//! streams, a congestion control that takes from others, UDP and fixed windows cost a little, so
//! that of settings that carry the same the plainest is chosen.

use inference::Forecast;
use observe::{Setting, Transport, Window};

use crate::belief::moves_as_usual;
use crate::history::History;
use crate::moving;
use crate::plan::Objective;
use crate::settings::goes_by_rate;

/// What doubling the streams costs: of the highest goodput next to nothing, of the knee what makes
/// half of the streams worth two hundredths of its share.
const DOUBLING_MAX: f64 = 0.003;
const DOUBLING_KNEE: f64 = 0.02;
/// bbr costs others what four times its streams would. UDP costs this host more, and no other
/// program speaks it: it has to carry a third more where the knee is sought. In doublings.
const RATE_DOUBLINGS: f64 = 2.0;
const UDP_DOUBLINGS: f64 = 12.0;
/// A fixed window or a pace is one more thing to set; doublings.
const SET_DOUBLINGS: f64 = 1.5;
/// Outcomes of a sample that differ by less, as a logarithm, are not told apart.
const TOLD_APART: f64 = 0.12;

/// The candidates, and what each is worth on each path.
#[derive(Debug)]
pub(crate) struct Table {
    pub settings: Vec<Setting>,
    pub forecasts: Vec<Forecast>,
    /// By half of the forecast's time, by setting, then by path.
    worth: [Vec<Vec<f64>>; 2],
}

impl Table {
    /// `None` where the samples tell nothing of the path.
    pub fn of(history: &History, settings: Vec<Setting>) -> Option<Table> {
        let belief = history.belief()?;
        let forecast = |setting: &Setting| {
            let usual = belief.forecast(setting);
            match moves_as_usual(history, setting) {
                true => usual,
                false => usual.times(moving::gain(history, setting)),
            }
        };
        let forecasts = settings.iter().map(forecast).collect();
        Table::valued(history, settings, forecasts)
    }

    /// The same for those settings alone that `may` be chosen: worth is a share of the best of
    /// them.
    pub fn within(&self, history: &History, may: impl Fn(&Setting) -> bool) -> Option<Table> {
        let all = self.settings.iter().zip(&self.forecasts);
        let within = all.filter(|(setting, _)| may(setting));
        let (settings, forecasts) = within
            .map(|(setting, forecast)| (setting.clone(), forecast.clone()))
            .unzip();
        Table::valued(history, settings, forecasts)
    }

    fn valued(
        history: &History,
        settings: Vec<Setting>,
        forecasts: Vec<Forecast>,
    ) -> Option<Table> {
        let paths = forecasts.first()?.goodput.len();
        let worth = [0, 1].map(|half| {
            let mut worth = vec![vec![0.0; paths]; settings.len()];
            for path in 0..paths {
                let column = on_path(history, &settings, &forecasts, half, path);
                for (row, value) in worth.iter_mut().zip(column) {
                    row[path] = value;
                }
            }
            worth
        });
        Some(Table {
            settings,
            forecasts,
            worth,
        })
    }

    /// The setting of the highest worth among those that `may` be chosen.
    pub fn best(&self, may: impl Fn(&Setting) -> bool) -> Option<usize> {
        let rows = 0..self.settings.len();
        let rows = rows.filter(|row| may(&self.settings[*row]));
        rows.max_by(|a, b| self.worth(*a).total_cmp(&self.worth(*b)))
    }

    pub fn worth(&self, row: usize) -> f64 {
        (mean(&self.worth[0][row]) + mean(&self.worth[1][row])) / 2.0
    }

    /// Whether a setting keeps to the bounds of what is sought on most paths: what leaves them is
    /// worth less than nothing.
    pub fn keeps_bounds(&self, setting: &Setting) -> bool {
        let row = self.settings.iter().position(|one| one == setting);
        row.is_some_and(|row| {
            let worth = self.worth.iter().flat_map(|half| &half[row]);
            let kept = worth.clone().filter(|worth| **worth > -1.0).count();
            2 * kept > worth.count()
        })
    }

    /// How much more the best setting of each path would be worth than the one that is chosen for
    /// all.
    pub fn regret(&self, chosen: usize) -> f64 {
        let each = (0..self.paths()).map(|path| self.best_of(&[path]));
        each.sum::<f64>() / self.paths().max(1) as f64 - self.worth(chosen)
    }

    /// How much more a choice would be worth once a setting has been sampled: the paths then fall
    /// into groups that agree on what it carries.
    pub fn gain(&self, sampled: usize) -> f64 {
        let goodput = &self.forecasts[sampled].goodput;
        let group = |path: &usize| (goodput[*path].max(1.0).ln() / TOLD_APART) as i64;
        let mut paths: Vec<usize> = (0..self.paths()).collect();
        let all = self.best_of(&paths);
        paths.sort_by_key(group);
        let groups = paths.chunk_by(|a, b| group(a) == group(b));
        let after: f64 = groups.map(|paths| self.best_of(paths)).sum();
        (after - all) / self.paths().max(1) as f64
    }

    fn paths(&self) -> usize {
        self.worth[0].first().map_or(0, Vec::len)
    }

    /// The worth, summed over some paths, of the one setting that is best on them together: chosen
    /// by one half of the time and worth what the other half shows, so that chance is no gain.
    fn best_of(&self, paths: &[usize]) -> f64 {
        let sum = |half: usize, row: usize| -> f64 {
            paths.iter().map(|path| self.worth[half][row][*path]).sum()
        };
        let crossed = |by: usize| {
            let rows = 0..self.settings.len();
            let best = rows.max_by(|a, b| sum(by, *a).total_cmp(&sum(by, *b)));
            best.map_or(0.0, |best| sum(1 - by, best))
        };
        (crossed(0) + crossed(1)) / 2.0
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// What each setting is worth on one path.
fn on_path(
    history: &History,
    settings: &[Setting],
    forecasts: &[Forecast],
    half: usize,
    path: usize,
) -> Vec<f64> {
    let goodput: Vec<f64> = forecasts.iter().map(|one| one.halves[half][path]).collect();
    let rtt: Vec<f64> = forecasts.iter().map(|one| one.rtt[path]).collect();
    let most = goodput.iter().copied().fold(1.0, f64::max);
    let power = |row: usize| goodput[row] / rtt[row].max(1e-6);
    let most_power = (0..goodput.len()).map(power).fold(1.0, f64::max);
    let idle = history.rtt_min().map_or(0.0, |rtt| rtt.as_secs_f64());
    let of = |row: usize| {
        let cost = doublings(&settings[row]);
        let share = goodput[row] / most;
        match history.plan.objective {
            Objective::Max => share - DOUBLING_MAX * cost,
            Objective::Knee { share: enough } => (share / enough).min(1.0) - DOUBLING_KNEE * cost,
            Objective::Power => power(row) / most_power - DOUBLING_MAX * cost,
            Objective::Gentle {
                added_rtt_max,
                loss_max,
            } => {
                let delay = (rtt[row] - idle) / added_rtt_max.as_secs_f64().max(1e-6);
                let loss = forecasts[row].lost[path] / loss_max.max(1e-9);
                let excess = delay.max(loss);
                let share = if excess <= 1.0 {
                    share
                } else {
                    -excess.min(100.0)
                };
                share - DOUBLING_MAX * cost
            }
        }
    };
    (0..settings.len()).map(of).collect()
}

/// What a setting costs, in doublings of streams.
fn doublings(setting: &Setting) -> f64 {
    let streams = f64::from(setting.streams.get()).log2();
    let control = match setting.transport {
        Transport::Udp => UDP_DOUBLINGS,
        Transport::Tcp if goes_by_rate(setting) => RATE_DOUBLINGS,
        Transport::Tcp => 0.0,
    };
    let window = if setting.window == Window::Auto {
        0.0
    } else {
        SET_DOUBLINGS
    };
    let pace = if setting.pacing.is_some() {
        SET_DOUBLINGS
    } else {
        0.0
    };
    streams + control + window + pace
}
