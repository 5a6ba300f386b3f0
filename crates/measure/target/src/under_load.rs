//! Streams, and small packets beside them.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use observe::{
    Observation, Probes, RunObserver, SamplePlan, Setting, Target, TargetError, TargetKind,
};
use probing::Examined;
use probing::characterise::Work;
use units::Span;

/// A target that can be looked at from two sides at once: small packets are sent on a thread of
/// their own while streams run. In virtual time that is impossible.
pub struct UnderLoad {
    target: Box<dyn Target>,
    began: Instant,
}

impl UnderLoad {
    /// `target`; time is counted from now.
    pub fn new(target: Box<dyn Target>) -> Self {
        UnderLoad {
            target,
            began: Instant::now(),
        }
    }

    fn is_virtual(&self) -> bool {
        self.target.describe().kind == TargetKind::Simulated
    }
}

/// Cancels once the streams have failed.
struct UntilFailed<'a>(&'a AtomicBool);

impl RunObserver for UntilFailed<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Examined for UnderLoad {
    fn target(&mut self) -> &mut dyn Target {
        &mut *self.target
    }

    fn beside(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
        work: &mut Work<'_>,
    ) -> Result<Observation, TargetError> {
        if self.is_virtual() {
            return self.target.observe(setting, plan, watch);
        }
        // Without small packets there is still the run.
        let Ok(mut probes) = self.target.probes(watch) else {
            return self.target.observe(setting, plan, watch);
        };
        together(
            &mut *self.target,
            &mut *probes,
            (setting, plan),
            watch,
            work,
        )
    }

    fn elapsed(&self) -> Option<Span> {
        (!self.is_virtual()).then(|| span(self.began.elapsed()))
    }
}

fn together(
    target: &mut dyn Target,
    probes: &mut dyn Probes,
    (setting, plan): (&Setting, &SamplePlan),
    watch: &mut dyn RunObserver,
    work: &mut Work<'_>,
) -> Result<Observation, TargetError> {
    let has_failed = AtomicBool::new(false);
    thread::scope(|scope| {
        let looking = scope.spawn(|| work(probes, &mut UntilFailed(&has_failed)));
        let seen = target.observe(setting, plan, watch);
        has_failed.store(seen.is_err(), Ordering::Relaxed);
        if let Err(panicked) = looking.join() {
            panic::resume_unwind(panicked);
        }
        seen
    })
}

fn span(duration: Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimulatedPath;
    use netpath::PathSpec;
    use observe::{StreamCount, Window};

    #[test]
    fn a_run_in_virtual_time_cannot_be_probed_from_outside() {
        let path = PathSpec::load("slac-cern").unwrap();
        let mut beside = UnderLoad::new(Box::new(SimulatedPath::new(&path, 1)));
        assert_eq!(beside.elapsed(), None);
        let setting = Setting::new(StreamCount::ONE, Window::Auto);
        let plan = SamplePlan::lasting(Span::from_secs(1));
        let mut looked = false;
        let seen = beside.beside(&setting, &plan, &mut (), &mut |_, _| looked = true);
        assert!(seen.is_ok());
        assert!(!looked);
    }
}
