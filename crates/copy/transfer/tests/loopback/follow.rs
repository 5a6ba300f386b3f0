//! Copies that go on while their sources are written.

use copy_protocol::Follow;

use super::*;

/// * `until_idle`: it ends once nothing has changed for so many milliseconds.
fn follow(spec: &mut CopySpec, until_idle: Option<u64>) {
    spec.options.follow = Some(Follow {
        every: Span::from_millis(50),
        until_idle: until_idle.map(Span::from_millis),
    });
}

/// Whether so many files are copied and none waits.
fn has_copied(wanted: u64) -> impl Fn(&CopyEvent) -> bool {
    move |event| matches!(event, CopyEvent::Following { files, waiting: 0, .. } if *files == wanted)
}

#[test]
fn what_comes_or_changes_later_is_copied_and_what_goes_stays() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = |name: &str| near.path().join(name);
    fs::write(at("changes"), noise(200_000)).unwrap();
    fs::write(at("goes"), b"stays there").unwrap();
    let server = Server::start(far.path());
    let mut spec = spec(CopyDirection::Put, &at(""), &server, "t");
    follow(&mut spec, Some(400));
    let (is_first, meanwhile) = (has_copied(2), || {
        fs::write(at("changes"), noise(300_000)).unwrap();
        fs::remove_file(at("goes")).unwrap();
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/comes"), noise(5_000)).unwrap();
    });
    let mut observer = At {
        log: Log(Vec::new()),
        when: &is_first,
        what: Some(Box::new(meanwhile)),
    };
    let outcome = copy(&spec, &CopyControl::default(), &mut observer).unwrap();
    assert!(observer.what.is_none(), "both were copied");
    let got = |name: &str| fs::read(far.path().join("t").join(name)).unwrap();
    assert!(got("changes") == noise(300_000));
    assert_eq!(got("goes"), b"stays there");
    assert!(got("sub/comes") == noise(5_000));
    assert_eq!((outcome.files, outcome.waiting), (4, 0), "{outcome:?}");
    assert_eq!(outcome.failed, []);
    assert_eq!(outcome.sent.get(), 200_000 + 11 + 300_000 + 5_000);
    let planned = |event: &CopyEvent| match event {
        CopyEvent::Planned { files, .. } => Some(*files),
        _ => None,
    };
    let planned: Vec<u64> = observer.log.0.iter().filter_map(planned).collect();
    assert_eq!(planned.last(), Some(&4), "each pass counts those before");
}

#[test]
fn a_stop_between_two_passes_is_an_end_and_tells_what_waited() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(near.path().join("sub")).unwrap();
    fs::write(near.path().join("sub/a"), b"just found").unwrap();
    let server = Server::start(far.path());
    let mut spec = spec(CopyDirection::Put, &near.path().join(""), &server, "t");
    follow(&mut spec, None);
    let control = CopyControl::default();
    let reins = control.clone();
    let mut observer = At {
        log: Log(Vec::new()),
        when: &|event| matches!(event, CopyEvent::Following { .. }),
        what: Some(Box::new(move || reins.stop())),
    };
    let outcome = copy(&spec, &control, &mut observer).unwrap();
    assert_eq!((outcome.files, outcome.waiting), (0, 1), "{outcome:?}");
    assert!(far.path().join("t/sub").is_dir(), "folders come at once");
    assert!(!far.path().join("t/sub/a").exists());
}

#[test]
fn the_same_command_again_sends_nothing_twice() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = tree(near.path());
    let server = Server::start(far.path());
    let mut spec = spec(CopyDirection::Put, &near.path().join(""), &server, "t");
    follow(&mut spec, Some(200));
    for (files, skipped) in [(6, 0), (0, 6)] {
        let control = CopyControl::default();
        let outcome = copy(&spec, &control, &mut Log(Vec::new())).unwrap();
        assert_eq!((outcome.files, outcome.skipped), (files, skipped));
    }
    assert_tree(&far.path().join("t"), &files);
}

#[test]
fn files_of_the_other_end_are_not_followed() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(far.path().join("a"), b"a").unwrap();
    let ended = run_as(
        &|spec| follow(spec, None),
        CopyDirection::Get,
        &near.path().join("a"),
        far.path(),
        "a",
    );
    let Err(CopyError::Problem { kind, .. }) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!(kind, ProblemKind::Request);
}
