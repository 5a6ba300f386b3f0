//! A search over an emulated path that loses packets, at a sender that may not use bbr. It needs
//! root; without it it is skipped.

use netpath::PathSpec;
use observe::{
    Observation, SamplePlan, Setting, StreamCount, Target, TargetError, TargetInfo, Transport,
    Watch,
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
        watch: &mut dyn Watch,
    ) -> Result<Observation, TargetError> {
        self.0.observe(setting, plan, watch)
    }

    fn stop(&mut self) {
        self.0.stop();
    }
}

#[test]
fn one_stream_over_udp_is_found_where_losses_hold_tcp_back() {
    if !testkit::can_emulate() {
        return;
    }
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
    let rates = (tried(Transport::Udp), tried(Transport::Tcp));
    let answer = tuning.answer().unwrap();
    let recommended = &answer.recommended;
    assert_eq!(
        recommended.setting.transport,
        Transport::Udp,
        "{rates:?}: {}",
        recommended.because
    );
    let tcp = &answer.own_control.as_ref().unwrap().setting;
    assert_eq!(tcp.transport, Transport::Tcp);
}
