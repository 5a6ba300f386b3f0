use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;

use super::*;

/// A rate that the test can read.
#[derive(Clone, Default)]
struct Copy(Arc<Mutex<Option<Rate>>>);

impl Controllable for Copy {
    fn rate_max(&self) -> Option<Rate> {
        *self.0.lock().unwrap()
    }

    fn set_rate_max(&self, rate: Option<Rate>) {
        *self.0.lock().unwrap() = rate;
    }

    fn status(&self) -> Status {
        Status {
            rate: Rate::from_bits_per_second(7),
            done: Bytes::new(5),
            total: None,
        }
    }
}

/// A folder of this test's own, removed by the test.
fn empty_folder(name: &str) -> PathBuf {
    let folder = env::temp_dir().join(format!("trunkline-{name}-{}", process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn a_running_copy_is_found_told_another_rate_and_gone_when_it_ends() {
    let folder = empty_folder("reins-told");
    assert_eq!(running(&folder).unwrap(), []);
    let copy = Copy::default();
    let reins = ControlSocket::offer(&folder, "a\nb to far:c d", copy.clone()).unwrap();
    let found = running(&folder).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].process, found[0].rate_max), (process::id(), None));
    assert_eq!(found[0].what, "a?b to far:c d");
    assert_eq!(found[0].status, copy.status());
    let rate = Some(Rate::from_bits_per_second(80_000_000));
    found[0].set_rate_max(rate).unwrap();
    assert_eq!(copy.rate_max(), rate);
    assert_eq!(running(&folder).unwrap()[0].rate_max, rate);
    found[0].set_rate_max(None).unwrap();
    assert_eq!(copy.rate_max(), None);
    drop(reins);
    assert!(matches!(
        found[0].set_rate_max(rate),
        Err(ControlError::Silent { .. })
    ));
    assert_eq!(running(&folder).unwrap(), []);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn other_users_may_not_look_in() {
    let folder = empty_folder("reins-modes");
    let reins = ControlSocket::offer(&folder, "", Copy::default()).unwrap();
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(&reins.path).unwrap().mode() & 0o777, 0o600);
    drop(reins);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_a_killed_copy_left_is_cleared_away() {
    let folder = empty_folder("reins-stale");
    fs::create_dir_all(&folder).unwrap();
    let left = folder.join("copy-4294967295.socket");
    drop(UnixListener::bind(&left).unwrap());
    let other = folder.join("history.sqlite");
    fs::write(&other, "not ours").unwrap();
    assert_eq!(running(&folder).unwrap(), []);
    assert!(!left.exists() && other.exists());
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_next_copy_clears_away_what_a_killed_one_left() {
    let folder = empty_folder("reins-next");
    let other = ControlSocket::offer(&folder, "", Copy::default()).unwrap();
    let left = folder.join("copy-4294967295.socket");
    drop(UnixListener::bind(&left).unwrap());
    let living = folder.join("copy-4294967294.socket");
    let _listener = UnixListener::bind(&living).unwrap();
    drop(ControlSocket::offer(&folder, "", Copy::default()).unwrap());
    assert!(!left.exists() && living.exists());
    drop(other);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn who_asks_for_nothing_or_nonsense_changes_nothing() {
    let folder = empty_folder("reins-nonsense");
    let copy = Copy::default();
    let reins = ControlSocket::offer(&folder, "", copy.clone()).unwrap();
    drop(UnixStream::connect(&reins.path).unwrap());
    for question in [
        "rate 0\n",
        "rate -1\n",
        "rate 99999999999999999999\n",
        "rate\n",
        "\n",
        "x y\n",
    ] {
        let mut socket = UnixStream::connect(&reins.path).unwrap();
        socket.write_all(question.as_bytes()).unwrap();
        assert_ne!(read_line(&socket).unwrap(), "done", "{question}");
    }
    let mut endless = UnixStream::connect(&reins.path).unwrap();
    let _ = endless.write_all(&[b'a'; 2 * LINE_MAX as usize]);
    assert_eq!(running(&folder).unwrap().len(), 1);
    assert_eq!(copy.rate_max(), None);
    drop(reins);
    fs::remove_dir_all(&folder).unwrap();
}
