//! UDP, where losses hold TCP back.

use observe::{
    Observation, RunObserver, SamplePlan, TargetError, TargetInfo, TargetKind, Transport,
};

use super::*;

/// A live far end whose near end may use these congestion controls.
struct Live {
    path: Synthetic,
    may_use: &'static [&'static str],
    takes_udp: bool,
}

#[test]
fn udp_that_is_dropped_on_the_way_ends_no_search() {
    let searched = |seed| {
        let mut path = Synthetic::new(lossy(), seed);
        path.refuses = |setting| setting.transport == Transport::Udp;
        let mut target = Live {
            path,
            may_use: &["cubic"],
            takes_udp: true,
        };
        tune(&mut target, &patient(), &mut ()).unwrap()
    };
    // Not every search asks for UDP.
    let mut asked = (0..6).map(searched).filter(|one| !one.failed.is_empty());
    let tuning = asked.next().expect("none of seeds 0 to 5 asks for UDP");
    assert_eq!(tuning.failed.len(), 1, "{}", table(&tuning));
    assert!(matches!(tuning.ended, Ended::Found(_)));
}

impl observe::Target for Live {
    fn describe(&self) -> TargetInfo {
        TargetInfo {
            congestion: self.may_use.iter().map(|name| (*name).to_owned()).collect(),
            kind: TargetKind::Live,
            ..self.path.describe()
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        Ok(Observation {
            takes_udp: self.takes_udp,
            multipath: None,
            ..self.path.observe(setting, plan, watch)?
        })
    }
}

/// 300 Mbit/s and 100 ms with one packet in a hundred lost: 128 streams of reno carry half.
pub fn lossy() -> Path {
    Path {
        loss: 1e-2,
        kept: 0.5,
        queue: 3.75e6,
        ..quiet(300.0 * MBIT, 0.1)
    }
}

fn tuned_live(path: Path, may_use: &'static [&'static str], takes_udp: bool, seed: u64) -> Tuning {
    let mut target = Live {
        path: Synthetic::new(path, seed),
        may_use,
        takes_udp,
    };
    tune(&mut target, &patient(), &mut ()).unwrap()
}

/// Time for what comes after more streams.
fn patient() -> TunePlan {
    TunePlan {
        budget: Budget {
            time: Some(Span::from_secs(90)),
            ..Budget::default()
        },
        ..TunePlan::default()
    }
}

fn over_udp(tuning: &Tuning) -> usize {
    let samples = tuning.samples.iter();
    samples
        .filter(|one| one.setting.transport == Transport::Udp)
        .count()
}

#[test]
fn one_stream_over_udp_is_recommended_where_losses_hold_tcp_back() {
    // This target's rates have no teeth: with other seeds a slow link explains them as well.
    for seed in 0..1 {
        let tuning = tuned_live(lossy(), &["cubic", "reno"], true, seed);
        let shown = format!("seed {seed}\n{}", table(&tuning));
        let answer = tuning.answer().unwrap();
        let recommended = &answer.recommended;
        assert_eq!(recommended.setting.transport, Transport::Udp, "{shown}");
        assert_eq!(recommended.setting.streams, StreamCount::ONE, "{shown}");
        for said in ["`--transport udp`", "cubic and reno", "processor"] {
            assert!(
                recommended.because.contains(said),
                "{}",
                recommended.because
            );
        }
        let tcp = &answer.own_control.as_ref().unwrap().setting;
        assert_eq!(tcp.transport, Transport::Tcp, "{shown}");
        // The other way out is still named.
        assert_eq!(answer.host_advice.len(), 1, "{shown}");
    }
}

#[test]
fn udp_is_left_alone_where_the_far_end_does_not_take_it_or_bbr_helps() {
    for seed in 0..1 {
        for (may_use, takes_udp) in [
            (&["cubic", "reno"][..], false),
            (&["cubic", "reno", "bbr"][..], true),
        ] {
            let tuning = tuned_live(lossy(), may_use, takes_udp, seed);
            assert_eq!(over_udp(&tuning), 0, "seed {seed}\n{}", table(&tuning));
        }
    }
}

#[test]
fn udp_is_not_recommended_where_tcp_fills_the_path() {
    let clean = quiet(300.0 * MBIT, 0.02);
    for seed in 0..1 {
        for path in [slac_cern(), clean] {
            let tuning = tuned_live(path, &["cubic", "reno"], true, seed);
            let shown = format!("seed {seed}\n{}", table(&tuning));
            let recommended = &tuning.answer().unwrap().recommended;
            assert_eq!(recommended.setting.transport, Transport::Tcp, "{shown}");
        }
        let tuning = tuned_live(clean, &["cubic", "reno"], true, seed);
        assert_eq!(over_udp(&tuning), 0, "seed {seed}\n{}", table(&tuning));
    }
}

#[test]
fn a_user_who_names_a_control_gets_no_udp() {
    let mut target = Live {
        path: Synthetic::new(lossy(), 1),
        may_use: &["cubic", "reno"],
        takes_udp: true,
    };
    let mut plan = TunePlan::default();
    plan.base.congestion = Some("cubic".to_owned());
    let tuning = tune(&mut target, &plan, &mut ()).unwrap();
    assert_eq!(over_udp(&tuning), 0, "{}", table(&tuning));
}
