//! A search over an emulated path that loses packets, at a sender that may not use bbr. It needs
//! root; without it it is skipped.

use netpath::PathSpec;
use observe::{
    Observation, RunObserver, SamplePlan, Setting, StreamCount, Target, TargetError, TargetInfo,
    Transport,
};
use target::EmulatedPath;
use tune::{TunePlan, tune};

/// A path whose sender has cubic and reno alone.
struct WithoutBbr(EmulatedPath);

impl Target for WithoutBbr {
    fn describe(&self) -> TargetInfo {
        let mut info = self.0.describe();
        info.congestion.retain(|name| name != "bbr");
        info
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        self.0.observe(setting, plan, watch)
    }

    fn stop(&mut self) {
        self.0.stop();
    }
}

/// Losses without a queue may be a policer, too, and now and then a search ends with that: one of
/// three may.
#[test]
fn one_stream_over_udp_is_found_where_losses_hold_tcp_back() {
    if !testkit::can_emulate() {
        return;
    }
    if let Err(first) = search() {
        for _ in 0..2 {
            search().unwrap_or_else(|again| panic!("{first}; again: {again}"));
        }
    }
}

/// What was tried, where one stream over UDP is not what is recommended.
fn search() -> Result<(), String> {
    // Four streams of cubic carry an eighth of it.
    let lossy = "[forward]\nrate = \"40Mbit/s\"\ndelay = \"50ms\"\n\
                 queue = { kind = \"drop-tail\", limit = \"500kB\" }\n\
                 loss = { kind = \"random\", rate = 0.01 }\n\
                 [hosts]\ncongestion = \"cubic\"\n";
    let path = PathSpec::from_toml("lossy", lossy).unwrap();
    let mut target = WithoutBbr(EmulatedPath::up(&path, 1).unwrap());
    let plan = TunePlan {
        streams_max: StreamCount::new(4).unwrap(),
        ..TunePlan::default()
    };
    let tuning = tune(&mut target, &plan, &mut ()).unwrap();
    let tried = |transport| {
        let samples = tuning.samples.iter();
        let samples = samples.filter(move |one| one.setting.transport == transport);
        samples.map(|one| one.goodput().mean).max()
    };
    let answer = tuning.answer().unwrap();
    let recommended = &answer.recommended;
    if recommended.setting.transport != Transport::Udp {
        let rates = (tried(Transport::Udp), tried(Transport::Tcp));
        return Err(format!("{rates:?}: {}", recommended.because));
    }
    let tcp = &answer.own_control.as_ref().unwrap().setting;
    assert_eq!(tcp.transport, Transport::Tcp);
    Ok(())
}
