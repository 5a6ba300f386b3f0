use std::fs;
use std::thread;

use errors::Hint;
use netpath::PathSpec;
use observe::{Setting, StreamCount, TargetInfo, TargetKind};
use tempfile::TempDir;
use units::Bytes;

use super::*;
use record::synthetic::{self, Case};
use record::{Direction, Document, Simulate, Target, Tune, Window};

fn empty() -> (TempDir, Archive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(&folder.path().join("a/b/archive.sqlite")).unwrap();
    (folder, archive)
}

/// A search made on this day of March.
fn tune_on(day: u32) -> Document<Tune> {
    let mut document = synthetic::tune(u64::from(day));
    document.origin.created = format!("2026-03-{day:02}T15:09:26Z");
    document
}

fn ids(archive: &Archive, filter: &Filter) -> Vec<i64> {
    let entries = archive.list(filter).unwrap();
    entries.iter().map(|entry| entry.id).collect()
}

#[test]
fn every_kept_kind_comes_back_whole() {
    let (_folder, mut archive) = empty();
    let documents: [AnyDocument; 4] = [
        synthetic::measure(&Case::streams(2, 1)).into(),
        synthetic::tune(2).into(),
        synthetic::demo(3).into(),
        synthetic::simulate(4).into(),
    ];
    for document in documents {
        let id = archive.keep(&document).unwrap();
        assert_eq!(archive.load(id).unwrap(), document);
        let entry = archive.entry(id).unwrap();
        assert_eq!(entry.essence.schema, document.schema());
        let essence = Essence::of(&document).unwrap();
        assert_eq!(archive.samples(id).unwrap(), essence.samples);
        let without_samples = Essence {
            samples: Vec::new(),
            ..essence
        };
        assert_eq!(entry.essence, without_samples);
    }
}

#[test]
fn a_search_is_listed_with_its_recommendation_and_all_its_samples() {
    let document = synthetic::tune(7);
    let essence = Essence::of(&document.clone().into()).unwrap();
    let recommended = &document.body.answer.as_ref().unwrap().recommended;
    assert_eq!(essence.objective.as_deref(), Some("knee"));
    assert_eq!(
        essence.outcome.setting.streams,
        u32::from(recommended.streams)
    );
    assert_eq!(
        essence.outcome.goodput_bits_per_second,
        recommended.goodput_bits_per_second
    );
    assert_eq!(essence.outcome.limit.as_deref(), Some("link"));
    assert_eq!(essence.samples.len(), document.body.samples.len());
    assert_eq!(essence.samples[0].purpose, "streams");
}

/// Three runs of a simulation with 1, 2 and 3 Mbit/s: mean 2, standard deviation 1, so the standard
/// error is 1 / sqrt(3) and Student's t for two degrees of freedom 4.303.
#[test]
fn the_seeds_of_a_simulation_give_its_interval() {
    let mut document: Document<Simulate> = synthetic::simulate(4);
    let body = &mut document.body;
    body.runs.truncate(3);
    assert_eq!(body.runs.len(), 3);
    for (run, rate) in body.runs.iter_mut().zip([1_000_000, 2_000_000, 3_000_000]) {
        run.goodput_bits_per_second = rate;
    }
    body.figures.aggregate.goodput_bits_per_second = 2_000_000;
    let essence = Essence::of(&document.into()).unwrap();
    let outcome = &essence.outcome;
    assert_eq!(outcome.degrees_of_freedom, Some(2.0));
    let interval = outcome.interval.unwrap();
    assert_eq!(interval.low, units::Rate::ZERO, "cut off at zero");
    let high = interval.high.as_f64();
    assert!((high - 4_484_000.0).abs() < 1_000.0, "{high}");
    // The end that was cut off does not make the error smaller.
    let error = outcome.mean().unwrap().standard_error;
    assert!((error - 577_350.0).abs() < 100.0, "{error}");
    assert_eq!(essence.samples[2].purpose, format!("seed {}", 3));
}

#[test]
fn what_has_no_operating_point_is_refused() {
    let (_folder, mut archive) = empty();
    let error = archive.keep(&synthetic::campaign().into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "trunkline/campaign documents are not kept"
    );
    assert!(ids(&archive, &Filter::default()).is_empty());
}

#[test]
fn the_same_document_is_kept_once() {
    let (_folder, mut archive) = empty();
    let first = archive.keep(&tune_on(1).into()).unwrap();
    let other = archive.keep(&tune_on(2).into()).unwrap();
    assert_eq!(archive.keep(&tune_on(1).into()).unwrap(), first);
    assert_eq!(ids(&archive, &Filter::default()), [first, other]);
}

#[test]
fn the_newest_stands_last_whenever_it_was_kept() {
    let (_folder, mut archive) = empty();
    for day in [3, 1, 2] {
        archive.keep(&tune_on(day).into()).unwrap();
    }
    assert_eq!(ids(&archive, &Filter::default()), [2, 3, 1]);
    let last = |last| Filter {
        last: Some(last),
        ..Filter::default()
    };
    assert_eq!(ids(&archive, &last(2)), [3, 1]);
    assert!(ids(&archive, &last(0)).is_empty());
    let since = Filter {
        since: Some(since("2026-03-02").unwrap()),
        ..Filter::default()
    };
    assert_eq!(ids(&archive, &since), [3, 1]);
}

#[test]
fn a_part_of_the_target_s_name_finds_it_and_nothing_is_a_pattern() {
    let (_folder, mut archive) = empty();
    for (day, name) in [(1, "dtn_1.example.org:5201"), (2, "dtn21.example.org:5201")] {
        let mut document = tune_on(day);
        document.body.target.name = name.to_owned();
        archive.keep(&document.into()).unwrap();
    }
    let named = |name: &str| Filter {
        target: Some(name.to_owned()),
        ..Filter::default()
    };
    assert_eq!(ids(&archive, &named("example")), [1, 2]);
    assert_eq!(ids(&archive, &named("dtn_1")), [1]);
    assert!(ids(&archive, &named("%2%")).is_empty());
    assert!(ids(&archive, &named("';--")).is_empty());
}

fn host() -> TargetInfo {
    TargetInfo {
        name: "dtn.example.org:5201".to_owned(),
        kind: TargetKind::Live,
        limits: None,
        congestion: vec!["cubic".to_owned(), "bbr".to_owned()],
        mover: None,
    }
}

/// A finished search on `target` that recommends `streams`.
fn found(day: u32, target: &Target, streams: u16) -> Document<Tune> {
    let count = StreamCount::new(streams.into()).unwrap();
    let mut document = tune_on(day);
    document.body.target = target.clone();
    let sample = document.body.answer.as_ref().unwrap().recommended.sample;
    document.body.answer.as_mut().unwrap().recommended.streams = count;
    let setting = &mut document.body.samples[sample].run.setting;
    setting.streams = count;
    setting.congestion = None;
    document.origin.host = record::Host::read();
    document
}

fn forward() -> Setting {
    Setting::new(StreamCount::ONE, observe::Window::Auto)
}

fn streams(archive: &Archive, info: &TargetInfo, path: Option<&PathSpec>) -> Vec<u16> {
    let remembered = archive.remembered(info, path, &forward()).unwrap();
    let streams = remembered.iter().map(|one| one.setting.streams.get());
    streams.collect()
}

#[test]
fn the_latest_settings_are_remembered_first_and_each_once() {
    let (_folder, mut archive) = empty();
    let target = Target::from(&host());
    for (day, streams) in [(1, 4), (2, 8), (3, 8), (4, 16), (5, 8), (6, 32)] {
        archive.keep(&found(day, &target, streams).into()).unwrap();
    }
    assert_eq!(streams(&archive, &host(), None), [32, 8, 16]);
    let all = archive.remembered(&host(), None, &forward()).unwrap();
    assert_eq!(all[0].when, "2026-03-06 15:09 UTC");
    assert!(all[0].goodput.bits_per_second() > 0);
    let back = Setting {
        direction: observe::Direction::Reverse,
        ..forward()
    };
    let back = archive.remembered(&host(), None, &back).unwrap();
    assert!(back.is_empty(), "another direction is another path");
}

/// An archive may hold results of other hosts, as after an import from a watch.
#[test]
fn what_another_host_found_is_not_remembered() {
    let (_folder, mut archive) = empty();
    let mut document = found(1, &Target::from(&host()), 4);
    document.origin.host.name = Some("another.example.org".to_owned());
    archive.keep(&document.into()).unwrap();
    assert!(streams(&archive, &host(), None).is_empty());
    archive
        .keep(&found(2, &Target::from(&host()), 8).into())
        .unwrap();
    assert_eq!(streams(&archive, &host(), None), [8]);
}

#[test]
fn another_path_kind_or_description_remembers_nothing() {
    let (_folder, mut archive) = empty();
    let path = PathSpec::load("lan").unwrap();
    let mut other = path.clone();
    other.forward.delay += units::Span::from_nanos(1);
    let info = |kind| TargetInfo {
        name: "emu:lan".to_owned(),
        kind,
        ..host()
    };
    let here = info(TargetKind::Emulated);
    let target = Target::from(&here).on_path(Some(&path));
    archive.keep(&found(1, &target, 4).into()).unwrap();
    assert_eq!(streams(&archive, &here, Some(&path)), [4]);
    let simulated = info(TargetKind::Simulated);
    for (info, path) in [
        (&simulated, Some(&path)),
        (&here, Some(&other)),
        (&here, None),
    ] {
        assert!(streams(&archive, info, path).is_empty(), "{info:?}");
    }
}

/// A target fills in what it uses where the user asked for nothing.
#[test]
fn the_default_congestion_control_is_left_open_where_it_was_left_open() {
    let (_folder, mut archive) = empty();
    for (day, name) in [(1, "cubic"), (2, "bbr")] {
        let mut document = found(day, &Target::from(&host()), 4);
        let sample = document.body.answer.as_ref().unwrap().recommended.sample;
        document.body.samples[sample].run.setting.congestion = Some(name.to_owned());
        archive.keep(&document.into()).unwrap();
    }
    let congestion = |base: &Setting| {
        let all = archive.remembered(&host(), None, base).unwrap();
        let names = all.into_iter().map(|one| one.setting.congestion);
        names.collect::<Vec<_>>()
    };
    assert_eq!(congestion(&forward()), [Some("bbr".to_owned()), None]);
    let cubic = Setting {
        congestion: Some("cubic".to_owned()),
        ..forward()
    };
    let both = ["bbr", "cubic"].map(|name| Some(name.to_owned()));
    assert_eq!(congestion(&cubic), both);
}

#[test]
fn what_was_cut_short_or_only_measured_is_not_remembered() {
    let (_folder, mut archive) = empty();
    let target = Target::from(&host());
    let mut cut = found(1, &target, 4);
    cut.body.cut_because = Some("the server went away".to_owned());
    archive.keep(&cut.into()).unwrap();
    let mut measured = synthetic::measure(&Case::streams(2, 1));
    measured.body.target = target;
    archive.keep(&measured.into()).unwrap();
    assert!(streams(&archive, &host(), None).is_empty());
}

#[test]
fn a_stopped_search_is_listed_as_stopped_and_not_remembered() {
    let (_folder, mut archive) = empty();
    let mut stopped = found(1, &Target::from(&host()), 4);
    stopped.body.answer = None;
    stopped.body.cut_because = Some("cancelled".to_owned());
    let id = archive.keep(&stopped.clone().into()).unwrap();
    let essence = Essence::of(&stopped.clone().into()).unwrap();
    let rates = stopped
        .body
        .samples
        .iter()
        .map(|sample| sample.run.goodput_bits_per_second);
    assert_eq!(essence.outcome.limit.as_deref(), Some("stopped"));
    assert_eq!(Some(essence.outcome.goodput_bits_per_second), rates.max());
    assert!(streams(&archive, &host(), None).is_empty());
    assert_eq!(archive.load(id).unwrap(), stopped.into());
}

#[test]
fn a_path_s_digest_covers_all_of_it() {
    let path = PathSpec::load("slac-cern").unwrap();
    let digest = |path: &PathSpec| {
        let target = Target::from(&host()).on_path(Some(path));
        target.path_digest.unwrap()
    };
    assert_eq!(digest(&path), digest(&path.clone()));
    assert_eq!(digest(&path).len(), 16);
    let mut others = vec![path.clone(); 3];
    others[0].forward.delay += units::Span::from_nanos(1);
    others[1].hosts.receive_buffer_max += Bytes::new(1);
    others[2].name = "other".to_owned();
    for other in &others {
        assert_ne!(digest(&path), digest(other));
    }
    assert_eq!(Target::from(&host()).on_path(None).path_digest, None);
}

#[test]
fn a_comparison_has_welch_s_interval_where_both_sides_have_one() {
    let (_folder, mut archive) = empty();
    let keep = |archive: &mut Archive, day: u32, rate: u64, half: Option<u64>| {
        let mut document = tune_on(day);
        let recommended = &mut document.body.answer.as_mut().unwrap().recommended;
        recommended.goodput_bits_per_second = rate;
        recommended.interval = half.map(|half| record::Interval {
            low: units::Rate::from_bits_per_second(rate - half),
            high: units::Rate::from_bits_per_second(rate + half),
            confidence: 0.95,
        });
        let sample = document.body.answer.as_ref().unwrap().recommended.sample;
        document.body.samples[sample].run.interval =
            document.body.answer.as_ref().unwrap().recommended.interval;
        let id = archive.keep(&document.into()).unwrap();
        archive.entry(id).unwrap()
    };
    let from = keep(&mut archive, 1, 26_800_000, Some(1_131_000));
    let to = keep(&mut archive, 2, 29_800_000, Some(1_131_000));
    let bare = keep(&mut archive, 3, 29_800_000, None);
    let change = Comparison::new(from.clone(), to).goodput;
    assert_eq!(change.difference_bits_per_second, 3_000_000.0);
    // Standard errors of 0.5 Mbit/s each and 18 degrees of freedom: 2.101 x 0.7071 = 1.486.
    let interval = change.interval.unwrap();
    assert!(
        (interval.low_bits_per_second - 1_514_000.0).abs() < 2_000.0,
        "{interval:?}"
    );
    assert!(change.confidence.unwrap() > 0.999);
    let change = Comparison::new(from, bare).goodput;
    assert_eq!((change.interval, change.confidence), (None, None));
    assert!((change.difference_ratio.unwrap() - 3.0 / 26.8).abs() < 1e-9);
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.sqlite");
    thread::scope(|scope| {
        for writer in 0..8_u32 {
            let path = &path;
            scope.spawn(move || {
                // Each opens the file by itself, as a process would; the first ones make it.
                for round in 0..3 {
                    let mut archive = Archive::open(path).unwrap();
                    let document = tune_on(1 + writer * 3 + round);
                    archive.keep(&document.into()).unwrap();
                }
            });
        }
    });
    let archive = Archive::open_existing(&path).unwrap();
    assert_eq!(archive.list(&Filter::default()).unwrap().len(), 24);
    archive.check().unwrap();
}

/// What a process leaves that dies between the first row and the last: the log of an unfinished
/// transaction.
#[test]
fn a_write_that_broke_off_leaves_no_trace() {
    let (_folder, mut archive) = empty();
    archive.keep(&tune_on(1).into()).unwrap();
    let copy = archive.path().with_file_name("copy.sqlite");
    let essence = Essence::of(&tune_on(2).into()).unwrap();
    archive.connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    rows::insert_document(&archive.connection, &essence, b"half").unwrap();
    for ending in ["", "-wal"] {
        fs::copy(
            with_ending(archive.path(), ending),
            with_ending(&copy, ending),
        )
        .unwrap();
    }
    let after = Archive::open_existing(&copy).unwrap();
    after.check().unwrap();
    assert_eq!(ids(&after, &Filter::default()), [1]);
}

#[test]
fn files_that_are_no_archive_are_told_apart_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.sqlite");
    fs::write(&path, "this is a letter, not a database. ".repeat(100)).unwrap();
    let before = fs::read(&path).unwrap();
    let error = Archive::open(&path).unwrap_err();
    assert!(matches!(error, ArchiveError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("x.sqlite"));
    assert_eq!(fs::read(&path).unwrap(), before);

    let other = folder.path().join("other.sqlite");
    let connection = Connection::open(&other).unwrap();
    connection
        .execute_batch("CREATE TABLE songs (title TEXT)")
        .unwrap();
    drop(connection);
    let error = Archive::open(&other).unwrap_err();
    assert!(matches!(error, ArchiveError::Foreign { .. }), "{error:?}");

    let missing = folder.path().join("missing.sqlite");
    let error = Archive::open_existing(&missing).unwrap_err();
    assert!(matches!(error, ArchiveError::Missing { .. }), "{error:?}");
    assert!(!missing.exists());
}

#[test]
fn a_newer_archive_is_left_to_newer_programs() {
    let (_folder, archive) = empty();
    archive
        .connection
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let path = archive.path().to_owned();
    drop(archive);
    let error = Archive::open(&path).unwrap_err();
    assert!(
        matches!(error, ArchiveError::Newer { found: 99, .. }),
        "{error:?}"
    );
}

#[test]
fn a_damaged_archive_is_set_aside_and_a_whole_one_is_not() {
    let (_folder, mut archive) = empty();
    archive.keep(&tune_on(1).into()).unwrap();
    let path = archive.path().to_owned();
    drop(archive);
    let error = set_aside(&path).unwrap_err();
    assert!(matches!(error, ArchiveError::Whole { .. }), "{error:?}");
    let mut bytes = fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[1024..length].fill(0x5a);
    fs::write(&path, &bytes).unwrap();
    let aside = set_aside(&path).unwrap();
    assert!(!path.exists());
    assert_eq!(fs::read(aside).unwrap(), bytes, "nothing is lost");
    Archive::open(&path)
        .unwrap()
        .keep(&tune_on(1).into())
        .unwrap();
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("taken");
    fs::write(&file, "").unwrap();
    let error = Archive::open(&file.join("below/archive.sqlite")).unwrap_err();
    assert!(error.to_string().contains("taken/below"), "{error}");
    assert!(error.hint().unwrap().contains("--no-history"));
}

#[test]
fn an_unknown_number_is_told_with_the_file() {
    let (_folder, archive) = empty();
    for error in [archive.load(7).unwrap_err(), archive.entry(7).unwrap_err()] {
        assert!(
            error.to_string().starts_with("there is no run 7 in"),
            "{error}"
        );
    }
}

#[test]
fn a_fixed_window_and_an_automatic_one_stay_apart() {
    let (_folder, mut archive) = empty();
    let fixed = Case {
        window: observe::Window::Fixed(Bytes::from_kib(64)),
        ..Case::streams(2, 1)
    };
    let window = |archive: &Archive, id| archive.entry(id).unwrap().essence.outcome.setting.window;
    let id = archive.keep(&synthetic::measure(&fixed).into()).unwrap();
    assert_eq!(window(&archive, id), Window::Fixed(Bytes::from_kib(64)));
    let id = archive
        .keep(&synthetic::measure(&Case::streams(2, 1)).into())
        .unwrap();
    assert_eq!(window(&archive, id), Window::Auto);
}

/// A copy at this minute of the day, with so many streams.
fn copied(minute: u32, streams: u16) -> record::Document<record::Copy> {
    let mut copy = synthetic::copy();
    copy.origin.created = format!("2026-03-14T15:{minute:02}:00Z");
    copy.body.streams = streams;
    copy
}

#[test]
fn the_latest_copy_that_says_something_of_the_path_is_remembered() {
    let (_folder, mut archive) = empty();
    let asked = |archive: &Archive, target| {
        let found = archive.streams_of_copies(target, Direction::Forward);
        found.unwrap().map(|streams| streams.get())
    };
    assert_eq!(asked(&archive, "dtn1.example.org"), None);
    archive.keep(&copied(2, 16).into()).unwrap();
    archive.keep(&copied(1, 4).into()).unwrap();
    let mut imposed = copied(3, 2);
    imposed.body.asked.streams = Some(2);
    archive.keep(&imposed.into()).unwrap();
    assert_eq!(asked(&archive, "dtn1.example.org"), Some(16));
    assert_eq!(asked(&archive, "dtn2.example.org"), None);
    let reverse = archive.streams_of_copies("dtn1.example.org", Direction::Reverse);
    assert_eq!(reverse.unwrap(), None);
}

#[test]
fn a_copy_that_sent_nothing_is_not_kept() {
    let (_folder, mut archive) = empty();
    let mut dry = synthetic::copy();
    dry.body.goodput_bits_per_second = None;
    let error = archive.keep(&dry.into()).unwrap_err();
    assert!(matches!(error, ArchiveError::NotKept { .. }), "{error:?}");
}

/// A search that recommends one stream of bbr.
fn with_bbr(day: u32, target: &Target) -> Document<Tune> {
    let mut document = found(day, target, 1);
    let answer = document.body.answer.as_mut().unwrap();
    answer.recommended.congestion = Some("bbr".to_owned());
    document
}

#[test]
fn the_control_of_the_latest_search_is_found_by_the_host_whatever_the_port() {
    let (_folder, mut archive) = empty();
    let asked = |archive: &Archive, far| {
        let found = archive
            .control_of_searches(far, Direction::Forward)
            .unwrap();
        found.map(|found| (found.name, found.streams.get()))
    };
    let target = Target::from(&host());
    archive.keep(&with_bbr(1, &target).into()).unwrap();
    let bbr = Some(("bbr".to_owned(), 1));
    for far in ["dtn.example.org", "dtn.example.org:5311"] {
        assert_eq!(asked(&archive, far), bbr, "{far}");
    }
    assert_eq!(asked(&archive, "dtn2.example.org"), None);
    let reverse = archive.control_of_searches("dtn.example.org", Direction::Reverse);
    assert_eq!(reverse.unwrap(), None);
    // Later the default control does.
    archive.keep(&found(2, &target, 8).into()).unwrap();
    assert_eq!(asked(&archive, "dtn.example.org"), None);
}

#[test]
fn a_control_that_the_user_named_for_a_search_is_none_that_it_found() {
    let (_folder, mut archive) = empty();
    let mut named = with_bbr(1, &Target::from(&host()));
    for sample in &mut named.body.samples {
        sample.run.setting.congestion = Some("bbr".to_owned());
    }
    archive.keep(&named.into()).unwrap();
    let found = archive.control_of_searches("dtn.example.org", Direction::Forward);
    assert_eq!(found.unwrap(), None);
}
