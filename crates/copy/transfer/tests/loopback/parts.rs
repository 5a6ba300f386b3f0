//! One file by several copies, each of which brings a part of it.

use std::fs::File;

use copy_protocol::FilePart;

use super::*;

const LENGTH: u64 = FilePart::LENGTH_MIN;
const SIZE: u64 = LENGTH + 300_000;

/// Mostly holes, so that it costs little.
fn large(path: &Path) {
    let file = File::create(path).unwrap();
    file.set_len(SIZE).unwrap();
    for start in [0, LENGTH - 100_000, LENGTH + 200_000] {
        file.write_all_at(&noise(100_000), start).unwrap();
    }
    file.sync_all().unwrap();
}

#[test]
fn parts_arrive_in_any_order_and_the_last_one_names_the_file() {
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (here, there) = (near.path().join("a"), far.path().join("b"));
        let (from, to) = match direction {
            CopyDirection::Put => (&here, &there),
            CopyDirection::Get => (&there, &here),
        };
        large(from);
        for index in [1, 0, 1] {
            let length = LENGTH;
            let part = Some(FilePart { index, length });
            let change = |spec: &mut CopySpec| spec.options.part = part;
            let is_there = to.exists();
            let outcome = run_as(&change, direction, &here, far.path(), "b").unwrap();
            assert_eq!(outcome.files, u64::from(!is_there), "{direction:?} {index}");
            assert_eq!(to.exists(), index == 0 || is_there, "{direction:?} {index}");
        }
        assert!(fs::read(from).unwrap() == fs::read(to).unwrap());
        let left = fs::read_dir(to.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "nothing is beside it");
    }
}
