//! Copies that break off and go on, and sources that change meanwhile.

use super::*;

/// The far end is stopped in the middle and started again; what had arrived is not sent again.
fn far_end_comes_back(direction: CopyDirection) {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bytes = noise(20_000_001);
    let (from, to) = match direction {
        CopyDirection::Put => (near.path().join("a"), far.path().join("b")),
        CopyDirection::Get => (far.path().join("b"), near.path().join("a")),
    };
    fs::write(&from, &bytes).unwrap();
    let server = Server::start(far.path());
    let mut spec = spec(direction, &near.path().join("a"), &server, "b");
    slowly(&mut spec);
    let (port, token) = (server.port, server.token.clone());
    let (done, again) = std::sync::mpsc::channel();
    let root = far.path().to_owned();
    let what = move || {
        drop(server);
        thread::sleep(std::time::Duration::from_millis(300));
        done.send(Server::start_with(&root, token, Some(port)))
            .unwrap();
    };
    let mut at = At {
        log: Log(Vec::new()),
        when: &has_moved,
        what: Some(Box::new(what)),
    };
    let outcome = copy(&spec, &CopyControl::default(), &mut at).unwrap();
    let _server = again.recv().unwrap();
    assert!(fs::read(to).unwrap() == bytes);
    assert_eq!(outcome.reconnects.min(1), 1, "{outcome:?}");
    assert!(
        outcome.sent.get() < 20_000_001 + 8_000_000,
        "what had arrived was sent again: {outcome:?}"
    );
    assert_eq!((outcome.files, outcome.skipped), (1, 0));
}

#[test]
fn a_put_goes_on_when_the_far_end_comes_back() {
    far_end_comes_back(CopyDirection::Put);
}

#[test]
fn a_get_goes_on_when_the_far_end_comes_back() {
    far_end_comes_back(CopyDirection::Get);
}

#[test]
fn a_stopped_copy_goes_on_with_the_next() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bytes = noise(20_000_001);
    let source = near.path().join("a");
    fs::write(&source, &bytes).unwrap();
    let server = Server::start(far.path());
    let mut spec = spec(CopyDirection::Put, &source, &server, "b");
    slowly(&mut spec);
    let control = CopyControl::default();
    let reins = control.clone();
    let mut at = At {
        log: Log(Vec::new()),
        when: &has_moved,
        what: Some(Box::new(move || reins.stop())),
    };
    let Err(CopyError::Cancelled { so_far }) = copy(&spec, &control, &mut at) else {
        panic!("it was stopped")
    };
    assert!(!far.path().join("b").exists(), "no final name yet");
    spec.options.rate_max = None;
    let outcome = copy(&spec, &CopyControl::default(), &mut Log(Vec::new())).unwrap();
    assert!(fs::read(far.path().join("b")).unwrap() == bytes);
    let both = so_far.sent.get() + outcome.sent.get();
    assert!(both < 20_000_001 + 8_000_000, "{so_far:?} {outcome:?}");
}

/// Leaves what a receiver leaves that ends between its last note and the file's name.
fn all_but_its_name(source: &Path, folder: &Path) {
    let spec = SourceSpec {
        paths: vec![source.as_os_str().as_encoded_bytes().to_vec()],
        wildcards: false,
        recursive: false,
        attributes: ATTRIBUTES,
        selection: copy_protocol::Selection::default(),
    };
    let walked = Source::new(&Root::own(), spec).unwrap();
    let Some(Found::Entry(entry, _)) = walked.walk().next() else {
        panic!("it is there")
    };
    let store = Store::open(
        &Root::own(),
        StoreSpec {
            destination: folder.as_os_str().as_encoded_bytes().to_vec(),
            into_folder: true,
            attributes: ATTRIBUTES,
            filter: Filter::Changed,
            verify: false,
            dry_run: false,
            claim_timeout: std::time::Duration::ZERO,
        },
    )
    .unwrap();
    let (file, _) = store.add(&entry);
    let bytes = fs::read(source).unwrap();
    for (index, chunk) in bytes.chunks(1 << 16).enumerate() {
        let offset = (index << 16) as u64;
        let mut hasher = PieceHasher::new(bytes.len() as u64, offset, chunk.len() as u64);
        hasher.update(chunk);
        store.write(file, offset, chunk).unwrap();
        let piece = Piece {
            offset,
            length: chunk.len() as u32,
            hash: hasher.finish().unwrap(),
        };
        store.note(file, &piece).unwrap();
    }
}

#[test]
fn a_file_that_lacks_only_its_name_gets_it() {
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (from, to) = match direction {
            CopyDirection::Put => (near.path(), far.path()),
            CopyDirection::Get => (far.path(), near.path()),
        };
        let bytes = noise(300_000);
        fs::write(from.join("a"), &bytes).unwrap();
        fs::write(from.join("b"), b"another").unwrap();
        all_but_its_name(&from.join("a"), to);
        assert!(to.join(".a.trunkline-journal").exists());
        let outcome = run(direction, &near.path().join(""), far.path(), "");
        assert_eq!(outcome.failed, []);
        assert!(fs::read(to.join("a")).unwrap() == bytes);
        assert_eq!(fs::read(to.join("b")).unwrap(), b"another");
        assert_eq!(fs::read_dir(to).unwrap().count(), 2, "nothing else is left");
    }
}

/// Both ways: an earlier try left everything but the name, and something happens before the next
/// one.
fn after_meddling(meddle: fn(source: &Path, part: &Path)) {
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (from, to) = match direction {
            CopyDirection::Put => (near.path(), far.path()),
            CopyDirection::Get => (far.path(), near.path()),
        };
        fs::write(from.join("a"), noise(3_000_000)).unwrap();
        all_but_its_name(&from.join("a"), to);
        meddle(&from.join("a"), &to.join(".a.trunkline-part"));
        let outcome = run(direction, &near.path().join(""), far.path(), "");
        assert_eq!(outcome.failed, []);
        let (is, should) = (fs::read(to.join("a")), fs::read(from.join("a")));
        assert!(is.unwrap() == should.unwrap(), "{direction:?}");
        assert_eq!(fs::read_dir(to).unwrap().count(), 1, "nothing else is left");
    }
}

#[test]
fn an_unfinished_file_that_was_changed_meanwhile_is_mended() {
    after_meddling(|_, part| {
        let part = fs::File::options().write(true).open(part).unwrap();
        for at in [0, 65_536 * 3 + 5, 2_000_000, 2_999_999] {
            part.write_all_at(b"!", at).unwrap();
        }
    });
}

#[test]
fn an_unfinished_file_that_is_all_zeros_by_now_is_sent_again() {
    after_meddling(|_, part| fs::write(part, vec![0; 3_000_000]).unwrap());
}

#[test]
fn two_versions_of_a_source_of_one_size_and_time_never_mix() {
    after_meddling(|source, _| {
        let time = fs::metadata(source).unwrap().modified().unwrap();
        fs::remove_file(source).unwrap();
        let mut bytes = noise(3_000_001);
        bytes.remove(0);
        fs::write(source, bytes).unwrap();
        let file = fs::File::options().write(true).open(source).unwrap();
        file.set_modified(time).unwrap();
    });
}

#[test]
fn a_source_that_changes_is_told_and_not_published() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(near.path().join("a"), noise(20_000_000)).unwrap();
    fs::write(near.path().join("b"), noise(70_000)).unwrap();
    let server = Server::start(far.path());
    let mut spec = spec(CopyDirection::Put, &near.path().join(""), &server, "t");
    slowly(&mut spec);
    let source = near.path().join("a");
    let shrink = move || {
        let file = fs::OpenOptions::new().write(true).open(source).unwrap();
        file.set_len(19_000_000).unwrap();
    };
    let mut at = At {
        log: Log(Vec::new()),
        when: &has_moved,
        what: Some(Box::new(shrink)),
    };
    let outcome = copy(&spec, &CopyControl::default(), &mut at).unwrap();
    assert_eq!(outcome.failed.len(), 1, "{outcome:?}");
    let kind = outcome.failed[0].kind;
    assert_eq!(kind, copy_protocol::ProblemKind::SourceChanged);
    assert!(!far.path().join("t/a").exists());
    assert_eq!(fs::read(far.path().join("t/b")).unwrap().len(), 70_000);
}
