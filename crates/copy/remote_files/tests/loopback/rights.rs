//! Every operation with every right.

use std::fs;

use copy_protocol::Rights;
use copy_protocol::remote::{FailureKind, Removing};
use files::Root;

use super::common::{GO_ON, Server, name, names_in, part, read, store};
use remote_files::{RemoteError, RemoteFiles};

/// What a token may do: `+` or `-` for each of [`OPERATIONS`].
///
/// | | read | write | removes |
const TABLE: [(bool, bool, bool, &str); 8] = [
    (true, true, true, "+++ ++ +++ +"),
    (true, true, false, "+++ ++ --- -"),
    (true, false, true, "+++ -- --- -"),
    (true, false, false, "+++ -- --- -"),
    (false, true, true, "--- ++ --- -"),
    (false, true, false, "--- ++ --- -"),
    (false, false, true, "--- -- --- -"),
    (false, false, false, "--- -- --- -"),
];

type Operation = fn(&RemoteFiles) -> Result<(), RemoteError>;

/// Each can be done by those who may.
const OPERATIONS: [(&str, Operation); 9] = [
    ("info", |files| files.info(&name("f"), GO_ON).map(drop)),
    ("list", |files| {
        files.list(&name(""), true, &mut |_| Ok(()), GO_ON)
    }),
    ("read", |files| read(files, part("f", 0, Some(1))).map(drop)),
    ("make", |files| files.make_folder(&name("new"), true, GO_ON)),
    ("store", |files| store(files, "f", b"other")),
    ("remove file", |files| {
        files.remove(&name("a"), Removing::File, GO_ON)
    }),
    ("remove folder", |files| {
        files.remove(&name("d"), Removing::EmptyFolder, GO_ON)
    }),
    ("remove tree", |files| {
        files.remove(&name("t"), Removing::Tree, GO_ON)
    }),
    ("rename", |files| {
        files.rename(&name("f"), &name("g"), true, GO_ON)
    }),
];

#[test]
fn every_operation_asks_for_its_right() {
    for (reads, writes, removes, expected) in TABLE {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        fs::write(place("f"), b"f").unwrap();
        fs::write(place("a"), b"a").unwrap();
        fs::create_dir(place("d")).unwrap();
        fs::create_dir_all(place("t/u")).unwrap();
        let before = names_in(folder.path());
        let mut root = Root::beneath(folder.path()).unwrap();
        if !removes {
            root = root.without_removing();
        }
        let rights = Rights {
            read: reads,
            write: writes,
        };
        // A token has at least one right; a server may take it away.
        let (token, root) = match (reads, writes) {
            (false, false) => (Rights::ALL, root.restricted(false, false)),
            _ => (rights, root),
        };
        let server = Server::with_rights(root, token);
        let files = server.files();
        assert_eq!(files.removes(GO_ON).unwrap(), removes);
        let expected = expected.chars().filter(|sign| *sign != ' ');
        for ((what, operation), sign) in OPERATIONS.iter().zip(expected) {
            let done = operation(&files);
            let case = format!("{what} with {rights}, removes: {removes}");
            match (sign, &done) {
                ('+', Ok(())) => {}
                ('-', Err(error)) if error.kind() == Some(FailureKind::Rights) => {}
                _ => panic!("{case}: {done:?}"),
            }
        }
        if !writes {
            assert_eq!(names_in(folder.path()), before, "nothing was changed");
        }
    }
}
