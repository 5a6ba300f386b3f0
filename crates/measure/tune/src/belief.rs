//! What the samples say of the path, and of any setting on it.
//!
//! All answers of a search come from here: what a setting carries, how surely, and what holds it
//! back. Where samples say nothing of a path, as those of a far end that tells no readings over
//! time, a setting is taken to carry what it showed.

use inference::{Forecast, Posterior, Run, of_setting};
use observe::{RateInterval, Setting, Verdict};
use units::Rate;

use crate::history::History;
use crate::tuning::{Promise, Sample};

/// The share of long runs that lie in a promised interval.
const LOW: f64 = 0.025;

/// What the samples say.
#[derive(Debug)]
pub(crate) struct Belief {
    posterior: Posterior,
    congestion: Option<String>,
}

impl Belief {
    /// `None` where the samples tell nothing of the path.
    pub fn of(history: &History) -> Option<Belief> {
        let congestion = history.target.congestion.first().cloned();
        let seen = history
            .samples
            .iter()
            .filter(|one| moves_as_usual(history, &one.setting))
            .map(|one| &one.observation);
        let posterior = Posterior::explaining(seen, history.limits(), congestion.as_deref())?;
        Some(Belief {
            posterior,
            congestion,
        })
    }

    fn run(&self, setting: &Setting) -> Run {
        of_setting(setting, self.congestion.as_deref())
    }

    /// What a minute of a setting carries, path by path.
    pub fn forecast(&self, setting: &Setting) -> Forecast {
        self.posterior.forecast(&self.run(setting))
    }

    /// What a minute of a setting carries.
    pub fn promise(&self, setting: &Setting) -> Promise {
        let forecast = self.posterior.promise(&self.run(setting));
        let rate = |share| Rate::from_f64(forecast.quantile(share));
        Promise {
            goodput: rate(0.5),
            interval: Some(RateInterval::new(rate(LOW), rate(1.0 - LOW))),
        }
    }

    /// What holds a setting back.
    pub fn verdict(&self, setting: &Setting) -> Option<Verdict> {
        self.posterior.verdict(&self.run(setting))
    }

    /// The path as a path file.
    pub fn path_file(&self) -> String {
        let congestion = self.congestion.as_deref();
        self.posterior.path_file(congestion.unwrap_or("cubic"))
    }

    /// The paths that explain the samples.
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }
}

/// Whether another program moves the data as it would by itself: what it makes of more requests or
/// larger blocks says nothing of the path.
pub(crate) fn moves_as_usual(history: &History, setting: &Setting) -> bool {
    setting.moving == history.plan.base.moving
}

/// What a minute of a sample's setting carries, of both directions where both carried data.
pub(crate) fn promise(history: &History, sample: &Sample) -> Promise {
    let belief = history.belief();
    let Some(belief) = belief.filter(|_| moves_as_usual(history, &sample.setting)) else {
        let seen = sample.goodput();
        return Promise {
            goodput: seen.mean,
            interval: seen.interval,
        };
    };
    belief.promise(&sample.setting)
}
