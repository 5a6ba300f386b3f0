//! What the search is asked for and what it may use.

use observe::{Snapshot, Window};
use units::{Bytes, Rate, Span, Time};

use super::{Impatient, MBIT, quiet, slac_cern, streams, table};
use crate::drift::drift;
use crate::guard::Guard;
use crate::history::History;
use crate::settings::candidates;
use crate::synthetic::{Path, Synthetic};
use crate::*;
use observe::{Limit, RunObserver, Setting, Target};

fn tuned_with(path: Path, plan: &TunePlan) -> Tuning {
    tune(&mut Synthetic::new(path, 1), plan, &mut ()).unwrap()
}

fn counts(tuning: &Tuning, purpose: Purpose) -> Vec<u16> {
    let those = tuning
        .samples
        .iter()
        .filter(|sample| sample.purpose == purpose);
    those.map(|sample| sample.setting.streams.get()).collect()
}

fn remembering(count: u64) -> TunePlan {
    TunePlan {
        remembered: vec![Remembered {
            setting: Setting::new(streams(count), Window::Auto),
            goodput: Rate::from_f64(40.0 * MBIT),
            when: "yesterday".to_owned(),
        }],
        ..TunePlan::default()
    }
}

#[test]
fn what_was_remembered_is_the_second_sample() {
    let plan = TunePlan {
        controls: Controls::Kept,
        ..remembering(16)
    };
    let tuning = tuned_with(slac_cern(), &plan);
    assert_eq!(tuning.samples[1].purpose, Purpose::Remembered);
    assert_eq!(counts(&tuning, Purpose::Remembered), [16]);
}

#[test]
fn a_memory_that_no_longer_holds_costs_a_sample_and_decides_nothing() {
    // One stream fills this path; 64 were right yesterday.
    let path = quiet(50.0 * MBIT, 0.02);
    let tuning = tuned_with(path, &remembering(64));
    assert_eq!(counts(&tuning, Purpose::Remembered), [64]);
    assert!(
        tuning.answer().unwrap().recommended.setting.streams.get() <= 2,
        "{}",
        table(&tuning)
    );
}

#[test]
fn a_memory_outside_the_plan_is_not_tried() {
    let plan = TunePlan {
        streams_max: streams(8),
        ..remembering(16)
    };
    assert!(counts(&tuned_with(slac_cern(), &plan), Purpose::Remembered).is_empty());
}

pub fn bbr(tuning: &Tuning) -> usize {
    let samples = tuning.samples.iter();
    samples
        .filter(|one| one.setting.congestion.as_deref() == Some("bbr"))
        .count()
}

#[test]
fn bbr_is_left_alone_where_the_user_or_the_objective_does_not_want_it() {
    let usual = TunePlan::default();
    let named = Setting {
        congestion: Some("cubic".to_owned()),
        ..usual.base.clone()
    };
    let plans = [
        TunePlan {
            base: named,
            ..usual.clone()
        },
        TunePlan {
            controls: Controls::Kept,
            ..usual.clone()
        },
        TunePlan {
            objective: Objective::GENTLE,
            ..usual.clone()
        },
        TunePlan {
            objective: Objective::Power,
            ..usual
        },
    ];
    for plan in plans {
        let tuning = tuned_with(slac_cern(), &plan);
        assert_eq!(bbr(&tuning), 0, "{}", table(&tuning));
    }
}

/// A sender that may use less than the path's, or says that it did.
struct Restricted {
    path: Synthetic,
    may_use: Vec<String>,
    kind: observe::TargetKind,
}

impl Target for Restricted {
    fn describe(&self) -> observe::TargetInfo {
        observe::TargetInfo {
            congestion: self.may_use.clone(),
            kind: self.kind,
            ..self.path.describe()
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &observe::SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<observe::Observation, observe::TargetError> {
        let cubic = Setting {
            congestion: None,
            ..setting.clone()
        };
        Ok(observe::Observation {
            setting: setting.clone(),
            congestion_used: Some("cubic".to_owned()),
            takes_udp: false,
            multipath: None,
            ..self.path.observe(&cubic, plan, watch)?
        })
    }
}

fn tuned_restricted(may_use: &[&str], direction: observe::Direction) -> Tuning {
    let mut target = Restricted {
        path: Synthetic::new(super::over_udp::lossy(), 0),
        may_use: may_use.iter().map(|name| (*name).to_owned()).collect(),
        kind: observe::TargetKind::Live,
    };
    let usual = TunePlan::default();
    let plan = TunePlan {
        base: Setting {
            direction,
            ..usual.base.clone()
        },
        ..usual
    };
    tune(&mut target, &plan, &mut ()).unwrap()
}

#[test]
fn where_the_sender_may_not_use_bbr_the_advice_says_what_it_would_bring() {
    let tuning = tuned_restricted(&["cubic", "reno"], observe::Direction::Forward);
    let table = table(&tuning);
    assert_eq!(bbr(&tuning), 0, "{table}");
    let answer = tuning.answer().unwrap();
    assert_eq!(answer.recommended.setting.congestion, None, "{table}");
    let texts: Vec<String> = answer.host_advice.iter().map(SysctlLine::text).collect();
    assert_eq!(
        texts,
        ["net.ipv4.tcp_allowed_congestion_control = cubic reno bbr"],
        "{table}"
    );
    assert!(
        answer.host_advice[0]
            .why
            .contains("one stream may carry what"),
        "{table}"
    );
}

#[test]
fn a_far_sender_that_may_not_use_bbr_gets_the_advice_and_no_recommendation_of_it() {
    let tuning = tuned_restricted(&["cubic"], observe::Direction::Reverse);
    let table = table(&tuning);
    assert!(bbr(&tuning) <= 1, "{table}");
    let answer = tuning.answer().unwrap();
    assert_eq!(answer.recommended.setting.congestion, None, "{table}");
    let texts: Vec<String> = answer.host_advice.iter().map(SysctlLine::text).collect();
    assert_eq!(
        texts,
        ["net.ipv4.tcp_allowed_congestion_control = reno cubic bbr"],
        "{table}"
    );
}

#[test]
fn a_remembered_stream_of_bbr_is_the_second_sample() {
    let mut plan = remembering(1);
    plan.remembered[0].setting.congestion = Some("bbr".to_owned());
    let tuning = tuned_with(slac_cern(), &plan);
    assert_eq!(tuning.samples[1].purpose, Purpose::Remembered);
    assert_eq!(tuning.samples[1].setting.congestion.as_deref(), Some("bbr"));
    let gentle = TunePlan {
        objective: Objective::GENTLE,
        ..plan
    };
    assert_eq!(bbr(&tuned_with(slac_cern(), &gentle)), 0);
}

#[test]
fn what_the_budget_left_untried_is_told() {
    let with_time = |seconds| TunePlan {
        budget: Budget {
            time: Some(Span::from_secs(seconds)),
            ..Budget::default()
        },
        ..TunePlan::default()
    };
    let short = tuned_with(slac_cern(), &with_time(8));
    let untried = short.untried.as_deref().unwrap_or_default();
    assert!(untried.contains("may carry"), "{}", table(&short));
    assert_eq!(tuned_with(slac_cern(), &with_time(90)).untried, None);
}

#[test]
fn congestion_and_pacing_are_candidates_where_they_are_axes() {
    let plan = TunePlan {
        axes: Axis::ALL.to_vec(),
        controls: Controls::All,
        budget: Budget {
            time: Some(Span::from_secs(300)),
            ..Budget::default()
        },
        ..TunePlan::default()
    };
    let mut history = history();
    history.plan = plan;
    let found = candidates(&history);
    let has = |of: fn(&Setting) -> bool| found.iter().any(of);
    assert!(has(|setting| setting.congestion.is_some()), "{found:?}");
    assert!(has(|setting| setting.pacing.is_some()), "{found:?}");
}

#[test]
fn a_path_that_changes_while_it_is_measured_is_told() {
    let longer = Path {
        rtt: 0.3,
        ..slac_cern()
    };
    let mut history = history();
    assert_eq!(drift(&history), None);
    let later = begun(longer).samples;
    later.into_iter().for_each(|one| history.add(one));
    let drift = drift(&history).unwrap();
    assert!(
        drift.contains("165 ms") && drift.contains("300 ms"),
        "{drift}"
    );
}

/// A history of one stream and several on the lossy path.
fn history() -> History {
    begun(slac_cern())
}

/// The first two samples of a search.
fn begun(path: Path) -> History {
    let (mut target, mut two) = (Synthetic::new(path, 1), Impatient { samples: 2 });
    samples_with(&Inferred, &mut target, &TunePlan::default(), &mut two).0
}

fn snapshot(bytes: u64, rtt_ms: u64) -> Snapshot {
    Snapshot {
        at: Time::ZERO,
        duration_max: None,
        bytes: Bytes::new(bytes),
        rate: Rate::ZERO,
        rtt: None,
        probe_rtt: Some(Span::from_millis(rtt_ms)),
        retransmitted_share: None,
    }
}

#[test]
fn a_gentle_sample_ends_after_half_a_second_beyond_its_delay() {
    let mut history = history();
    history.plan.objective = Objective::GENTLE;
    let mut no_watch = ();
    let mut guard = Guard::new(&history, &mut no_watch);
    // 165 ms and 30 allowed: four readings beyond, one within, and then five.
    for (rtt, ends) in [
        (200, false),
        (200, false),
        (200, false),
        (200, false),
        (190, false),
    ] {
        guard.on_progress(&snapshot(0, rtt));
        assert_eq!(guard.has_enough(), ends);
    }
    (0..5).for_each(|_| guard.on_progress(&snapshot(0, 200)));
    assert!(guard.has_enough());
}

#[test]
fn the_bytes_of_the_budget_end_a_sample() {
    let mut history = history();
    let spent = history.cost().bytes.get();
    history.plan.budget.bytes = Some(Bytes::new(spent + 1_000));
    let mut no_watch = ();
    let mut guard = Guard::new(&history, &mut no_watch);
    guard.on_progress(&snapshot(999, 165));
    assert!(!guard.has_enough());
    guard.on_progress(&snapshot(1_000, 165));
    assert!(guard.has_enough());
}

#[test]
fn gentle_takes_windows_that_leave_a_deep_queue_alone() {
    let path = Path {
        queue: 8.0 * 125_000.0,
        ..quiet(50.0 * MBIT, 0.02)
    };
    let plan = TunePlan {
        objective: Objective::GENTLE,
        ..TunePlan::default()
    };
    let tuning = tuned_with(path, &plan);
    let recommended = &tuning.answer().unwrap().recommended;
    assert!(
        matches!(recommended.setting.window, Window::Fixed(_)),
        "{}",
        table(&tuning)
    );
    let added = recommended.rtt_loaded.unwrap() - recommended.rtt_unloaded.unwrap();
    assert!(added <= Span::from_millis(30), "{}", table(&tuning));
    assert!(
        tuning.answer().unwrap().limit_default.limit == Limit::Link,
        "{}",
        table(&tuning)
    );
}
