//! What a binding for another language needs: calls on threads of their own, progress that can be
//! polled, cancellation, documents and tables.

use std::sync::{Arc, Mutex};
use std::thread;

use trunkline::copy::{Access, CopyControl, CopyOptions, CopyRequest, Patience};
use trunkline::history::History;
use trunkline::measure::{SamplePlan, Setting, StreamCount, Window};
use trunkline::simulate::{self, Grid};
use trunkline::sweep::{Sweep, SweepPlan, kept};
use trunkline::tune::TunePlan;
use trunkline::units::Span;
use trunkline::{AnyDocument, Cancel, Fault, Progress, Target, report};

/// One stream, and a plan of 20 s of virtual time.
fn question() -> (Setting, SamplePlan) {
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    (setting, SamplePlan::lasting(Span::from_secs(20)))
}

#[test]
fn a_call_on_its_own_thread_is_polled_and_gives_documents_and_tables() {
    let seen = Arc::new(Mutex::new(0_usize));
    let told = Arc::clone(&seen);
    let work = move || {
        let mut target = Target::open("sim:oc3-80ms", 3)?;
        let (setting, plan) = question();
        trunkline::measure(&mut target, &setting, &plan, &Cancel::new(), &mut |event| {
            if let Progress::Running(_) = event {
                *told.lock().unwrap() += 1;
            }
        })
    };
    let measured = thread::spawn(work).join().unwrap().unwrap();
    // Ten times a second of virtual time, but for the ends.
    assert!(*seen.lock().unwrap() > 150, "{seen:?}");
    assert_eq!(measured.document.origin.seed, Some(3));
    let document = AnyDocument::from(measured.document);
    let again = trunkline::record::parse("again.json".as_ref(), &document.to_json()).unwrap();
    assert_eq!(again, document);
    assert!(report::rows::rows(&document).unwrap().lines().count() > 1);
}

#[test]
fn a_cancelled_call_says_so() {
    let cancel = Cancel::new();
    let mut target = Target::open("sim:slac-cern", 1).unwrap();
    let (setting, plan) = question();
    let from_within = cancel.clone();
    let ended = trunkline::measure(&mut target, &setting, &plan, &cancel, &mut |_| {
        from_within.cancel();
    });
    assert_eq!(ended.unwrap_err().fault(), Fault::Cancelled);

    let plan = TunePlan::default();
    let ended = trunkline::tune(&mut target, &plan, &cancel, &mut |_| {});
    assert_eq!(ended.unwrap_err().fault(), Fault::Cancelled);
}

#[test]
fn a_search_that_is_cancelled_between_samples_shows_what_it_has() {
    let cancel = Cancel::new();
    let mut target = Target::open("sim:slac-cern", 1).unwrap();
    let from_within = cancel.clone();
    let plan = TunePlan::default();
    let tuned = trunkline::tune(&mut target, &plan, &cancel, &mut |event| {
        if let Progress::SampleDone { number: 2, .. } = event {
            from_within.cancel();
        }
    });
    let tuned = tuned.unwrap();
    assert_eq!(tuned.tuning.samples.len(), 2);
    assert!(tuned.answer().is_none());
}

#[test]
fn a_cancelled_campaign_says_so() {
    let base = simulate::scenario(trunkline::load_path("oc3-80ms").unwrap(), None).unwrap();
    let grid = Grid {
        variants: vec![base.variant],
        streams: vec![1, 2],
        windows: vec![None],
        seed: 1,
        seeds: 2,
        base,
    };
    let cancel = Cancel::new();
    cancel.cancel();
    let ended = trunkline::simulate(&grid, None, false, &cancel, &mut |_| {});
    assert_eq!(ended.unwrap_err().fault(), Fault::Cancelled);
}

#[test]
fn a_copy_to_a_server_that_is_not_there_is_an_error_with_a_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    std::fs::write(&file, "a").unwrap();
    let tokens = folder.path().join("tokens");
    let rights = trunkline::serve::Rights::ALL;
    let token = trunkline::serve::add_token(&tokens, "ana", rights).unwrap();
    let access = Access {
        token: Some(token.parse().unwrap()),
        patience: Patience::from_the_first(Span::from_secs(1)),
        ..Access::default()
    };
    // Port 1 of loopback has no server.
    let places = [file, "trunkline://127.0.0.1:1/".into()];
    let request = CopyRequest::new(&places, CopyOptions::default(), access).unwrap();
    let control = CopyControl::from(&Cancel::new());
    let error = trunkline::copy(&request, &control, &mut ()).unwrap_err();
    assert_eq!(error.fault(), Fault::Run);
    assert!(error.hint().is_some(), "{error}");
}

#[test]
fn a_cancelled_sweep_goes_on_with_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("archive.sqlite");
    let asked = "sim:oc3-80ms";
    let setting = |streams| Setting::new(StreamCount::new(streams).unwrap(), Window::Auto);
    let plan = SweepPlan {
        settings: vec![setting(1), setting(2)],
        cycles: 2,
        durations: vec![Span::from_secs(2)],
        unloaded: Span::from_secs(1),
        seed: 5,
        via: units::Via::default(),
        user: None,
    };
    let target = Target::open(asked, plan.seed).unwrap();
    let mut sweep = Sweep::begin(&place, asked, target, plan).unwrap();
    let cancel = Cancel::new();
    let from_within = cancel.clone();
    let ended = sweep.run(&cancel, &mut |event| {
        if let Progress::VisitDone { .. } = event {
            from_within.cancel();
        }
    });
    assert_eq!(ended.unwrap_err().error.fault(), Fault::Cancelled);
    assert_eq!(sweep.ledger().measured(), 1);
    let id = sweep.id();
    drop(sweep);

    let kept = kept(&place, None).unwrap();
    assert_eq!(kept.id, id);
    let mut sweep = Sweep::resume(&place, kept, None).unwrap();
    let mut visits = 0;
    let ended = sweep.run(&Cancel::new(), &mut |event| {
        visits += usize::from(matches!(event, Progress::VisitDone { .. }));
    });
    assert!(ended.is_ok());
    assert_eq!(visits, 3);
    assert!(matches!(sweep.document().unwrap(), AnyDocument::Sweep(_)));
}

#[test]
fn a_kept_search_is_remembered_on_the_same_target() {
    let folder = tempfile::tempdir().unwrap();
    let history = History::at(folder.path().join("archive.sqlite"));
    let mut target = Target::open("sim:slac-cern", 1).unwrap();
    let plan = TunePlan::default();
    assert!(history.remembered(&target, &plan.base).is_empty());
    let tuned = trunkline::tune(&mut target, &plan, &Cancel::new(), &mut |_| {}).unwrap();
    let setting = tuned.answer().unwrap().recommended.setting.clone();
    assert_eq!(history.keep(&tuned.document.into()).unwrap(), Some(1));
    let remembered = history.remembered(&target, &plan.base);
    assert_eq!(remembered[0].setting, setting);
    assert!(History::NOTHING.remembered(&target, &plan.base).is_empty());
}
