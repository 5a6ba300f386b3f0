//! A target whose streams send no more than a visit may.

use observe::{
    MoverCommand, Observation, Probes, ProbesError, RunObserver, SamplePlan, Setting, Target,
    TargetError, TargetInfo,
};
use units::Rate;

/// Gives each stream its part of the most that may be sent.
pub(super) struct Paced<'a> {
    pub target: &'a mut dyn Target,
    /// Over all streams; `None` bounds nothing.
    pub rate_max: Option<Rate>,
}

impl Paced<'_> {
    fn setting(&self, setting: &Setting) -> Setting {
        let each = |rate: Rate| Rate::from_f64(rate.as_f64() / f64::from(setting.streams.get()));
        let bound = self.rate_max.map(each);
        Setting {
            pacing: [setting.pacing, bound].into_iter().flatten().min(),
            ..setting.clone()
        }
    }
}

impl Target for Paced<'_> {
    fn describe(&self) -> TargetInfo {
        self.target.describe()
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        self.target.observe(&self.setting(setting), plan, watch)
    }

    fn stop(&mut self) {
        self.target.stop();
    }

    fn left_behind(&self) -> Option<String> {
        self.target.left_behind()
    }

    fn command(&self, setting: &Setting) -> Option<MoverCommand> {
        self.target.command(setting)
    }

    fn draw_from(&mut self, run: u64) {
        self.target.draw_from(run);
    }

    fn probes(&mut self, watch: &mut dyn RunObserver) -> Result<Box<dyn Probes>, ProbesError> {
        self.target.probes(watch)
    }
}
