//! Each baseline on paths where its paper says what it does, then all of them on any path.

mod any_path;
mod as_published;

use observe::{HostLimits, Observation, SamplePlan, Setting, StreamCount, Target};
use observe::{RunObserver, TargetError, TargetInfo, Window};
use tune::synthetic::{Path, Synthetic};
use tune::{Cost, Sample, TunePlan, samples_with};
use units::Bytes;

use super::*;

fn count(streams: u64) -> StreamCount {
    StreamCount::new(streams).unwrap()
}

fn fixed(kib: u64) -> Window {
    Window::Fixed(Bytes::from_kib(kib))
}

/// A path without noise, loss or binding buffers, and a queue of one bandwidth-delay product.
fn clean(capacity: f64, rtt: f64) -> Path {
    let path = Path {
        capacity,
        rtt,
        queue: 0.0,
        loss: 0.0,
        bursts: 0.0,
        together: 0.0,
        kept: 0.7,
        limits: Path::AMPLE,
        noise: 0.0,
    };
    Path {
        queue: path.product(),
        ..path
    }
}

/// A target that carries what a function of the setting says, in bit/s.
struct Told<F> {
    rate: F,
    synthetic: Synthetic,
}

impl<F: Fn(&Setting) -> f64> Told<F> {
    fn new(rate: F) -> Self {
        let synthetic = Synthetic::new(clean(1e6, 0.05), 1);
        Told { rate, synthetic }
    }
}

impl<F: Fn(&Setting) -> f64> Target for Told<F> {
    fn describe(&self) -> TargetInfo {
        TargetInfo {
            limits: Some(Path::AMPLE),
            ..self.synthetic.describe()
        }
    }

    /// Automatic buffers of 105 % of the bandwidth-delay product fill a link of this rate and
    /// overflow nothing.
    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        let path = clean((self.rate)(setting), 0.05);
        let each = 1.05 * path.product() / f64::from(setting.streams.get());
        let auto = Bytes::new(2 * (each as u64 + 1));
        let limits = HostLimits {
            send_auto_max: auto,
            receive_auto_max: auto,
            ..Path::AMPLE
        };
        self.synthetic.path = Path { limits, ..path };
        let setting = Setting::new(setting.streams, Window::Auto);
        self.synthetic.observe(&setting, plan, watch)
    }
}

/// More than any of them asks for.
fn unbounded() -> TunePlan {
    let mut plan = TunePlan::default();
    plan.budget.samples = 1_000;
    plan
}

/// What a strategy samples and chooses. What the driver infers of it takes a second of a processor.
struct Tuning {
    samples: Vec<Sample>,
    cost: Cost,
    chosen: Option<Setting>,
    cut: Option<TargetError>,
}

impl Tuning {
    fn of(strategy: &dyn Strategy, target: &mut dyn Target, plan: &TunePlan) -> Self {
        let (history, cut) = samples_with(strategy, target, plan, &mut ());
        let choice = strategy.choose(&history);
        Tuning {
            chosen: choice.map(|choice| history.samples[choice.sample].setting.clone()),
            cost: history.cost(),
            samples: history.samples,
            cut,
        }
    }

    fn recommended(&self) -> &Setting {
        self.chosen.as_ref().unwrap()
    }
}

fn run(strategy: &dyn Strategy, path: Path, plan: &TunePlan) -> Tuning {
    Tuning::of(strategy, &mut Synthetic::new(path, 1), plan)
}

fn streams(tuning: &Tuning) -> Vec<u16> {
    let all = tuning.samples.iter();
    all.map(|sample| sample.setting.streams.get()).collect()
}

fn windows(tuning: &Tuning) -> Vec<Window> {
    let all = tuning.samples.iter();
    all.map(|sample| sample.setting.window).collect()
}
