//! A file whose length is not known while it arrives.

use std::fs;

use copy_protocol::ProblemKind;
use files::Root;
use files::store::StreamFile;

#[test]
fn a_file_has_its_name_once_it_is_whole_and_leaves_nothing_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::beneath(folder.path()).unwrap();
    let names = || {
        let all = fs::read_dir(folder.path()).unwrap();
        let names = all.map(|one| one.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<_>>()
    };
    fs::write(folder.path().join("a"), "old").unwrap();
    let mut given_up = StreamFile::create(&root, b"a").unwrap();
    given_up.write(b"half").unwrap();
    assert_eq!(names().len(), 2);
    let busy = StreamFile::create(&root, b"a").unwrap_err();
    assert_eq!(busy.kind, ProblemKind::Busy);
    drop(given_up);
    assert_eq!(names(), ["a"]);
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"old");
    let mut whole = StreamFile::create(&root, b"a").unwrap();
    whole.write(b"ne").unwrap();
    whole.write(b"w").unwrap();
    whole.publish().unwrap();
    assert_eq!(names(), ["a"]);
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"new");
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::beneath(folder.path()).unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    for name in [&b"d"[..], b"d/", b"new/"] {
        let refused = StreamFile::create(&root, name).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Request, "{refused:?}");
    }
    let missing = StreamFile::create(&root, b"no/such").unwrap_err();
    assert_eq!(missing.kind, ProblemKind::NotFound);
    let outside = StreamFile::create(&root, b"../x").unwrap_err();
    assert_eq!(outside.kind, ProblemKind::Permission);
    let read_only = root.restricted(true, false);
    let refused = StreamFile::create(&read_only, b"x").unwrap_err();
    assert_eq!(refused.kind, ProblemKind::Permission);
}
