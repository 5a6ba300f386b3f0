//! Honest ends, wrong messages, and messages at random.

use super::*;
use crate::copying::{
    Activity, Attributes, Entry, FileId, Filter, Kind, Name, Problem, ProblemKind, Published,
    Range, Want,
};

mod ends;

use Speaker::{Far, Near};

fn opening(way: Way) -> Opening {
    Opening {
        way,
        copy: [1; 16],
        paths: vec![b"data".to_vec()],
        recursive: true,
        attributes: Attributes {
            permissions: true,
            times: true,
            links: true,
        },
        filter: Filter::Changed,
        into_folder: true,
        plain: false,
        verify: false,
        dry_run: false,
        compress: false,
        rate_max_bits_per_second: None,
        gentle_nanoseconds: None,
        objective: "knee".to_owned(),
        streams: None,
        congestion: None,
        window_bytes: None,
    }
}

fn entry(name: &str, kind: Kind) -> Entry {
    Entry {
        name: Name::new(name.into()).unwrap(),
        kind,
        mode: 0o644,
        modified_nanoseconds: 0,
    }
}

fn file(name: &str, size: u64) -> Entry {
    entry(name, Kind::File(size))
}

fn range(file: FileId, start: u64, length: u64) -> Range {
    Range {
        file,
        start,
        length,
    }
}

fn published(file: FileId) -> Message {
    let digest = [0; 32];
    Message::Published(vec![Published { file, digest }])
}

fn failed(file: Option<FileId>) -> Message {
    Message::Failed(Problem {
        kind: ProblemKind::Disk,
        file,
        what: "\x1b]0;x\x07 gone".to_owned(),
        hint: None,
    })
}

/// A put that is open.
fn open(fresh: bool) -> Referee {
    let mut referee = Referee::default();
    let open = Message::Open(Box::new(opening(Way::Put)));
    referee.pass(Near, open).unwrap();
    referee
        .pass(Far, Message::Opened { session: 1, fresh })
        .unwrap();
    referee
}

/// A put with a folder, two files and a link, of which the files are wanted.
fn wanted() -> Referee {
    let mut referee = open(false);
    let entries = vec![
        entry("d", Kind::Folder),
        file("d/a", 100),
        file("d/b", 5 << 20),
        entry("l", Kind::Link(b"d/a".to_vec())),
    ];
    referee.pass(Near, Message::Entries(entries)).unwrap();
    let wants = vec![
        Want::Nothing(0),
        Want::Whole(1),
        Want::Rest(2, vec![(0, 1 << 20), (4 << 20, 1 << 20)]),
        Want::Nothing(3),
    ];
    referee.pass(Far, Message::Wants(wants)).unwrap();
    referee
}

fn refused(referee: &mut Referee, speaker: Speaker, message: Message) -> Rule {
    let text = format!("{message:?}");
    match referee.pass(speaker, message) {
        Err(error) => error.rule,
        Ok(passed) => panic!("{text} passed as {passed:?}"),
    }
}

#[test]
fn a_put_goes_from_opening_to_farewell() {
    let mut referee = wanted();
    let (count, bytes) = (4, 100 + (5 << 20));
    let end = Message::EntriesEnd { count, bytes };
    for (speaker, message) in [
        (Near, end),
        (Near, Message::FileEnds(vec![1])),
        (Far, Message::Received(vec![range(1, 0, 100)])),
        (Near, Message::Streams(4)),
        (Near, Message::Alive(Activity::default())),
        (Far, published(1)),
        (Near, Message::FileEnds(vec![2])),
        (Far, Message::Damaged(range(2, 0, 1 << 20))),
        (Near, Message::RateMax(None)),
        (Far, published(2)),
        (Far, Message::Complete),
        (Near, Message::Bye),
        (Far, Message::Bye),
    ] {
        assert_eq!(referee.pass(speaker, message.clone()), Ok(message));
    }
    assert_eq!(refused(&mut referee, Near, Message::Bye), Rule::AfterBye);
}

#[test]
fn nothing_is_said_before_the_opening_and_its_answer() {
    let mut referee = Referee::default();
    let entries = || Message::Entries(vec![file("a", 1)]);
    assert_eq!(refused(&mut referee, Near, entries()), Rule::NotOpen);
    let open = || Message::Open(Box::new(opening(Way::Put)));
    assert_eq!(refused(&mut referee, Far, open()), Rule::Speaker);
    referee.pass(Near, open()).unwrap();
    assert_eq!(refused(&mut referee, Near, open()), Rule::Again);
    assert_eq!(refused(&mut referee, Near, entries()), Rule::NotOpen);
    let opened = || Message::Opened {
        session: 1,
        fresh: false,
    };
    assert_eq!(refused(&mut referee, Near, opened()), Rule::Speaker);
    referee.pass(Far, opened()).unwrap();
    assert_eq!(refused(&mut referee, Far, opened()), Rule::Again);
}

#[test]
fn each_end_says_its_own_part_only() {
    let mut referee = wanted();
    for message in [
        Message::Entries(Vec::new()),
        Message::FileEnds(vec![1]),
        Message::Streams(1),
        Message::RateMax(None),
    ] {
        assert_eq!(refused(&mut referee, Far, message), Rule::Speaker);
    }
    for message in [
        Message::Wants(Vec::new()),
        Message::Received(Vec::new()),
        published(1),
        Message::Complete,
    ] {
        assert_eq!(refused(&mut referee, Near, message), Rule::Speaker);
    }
}

#[test]
fn an_opening_keeps_to_its_bounds() {
    let with = |change: fn(&mut Opening)| {
        let mut opening = opening(Way::Get);
        change(&mut opening);
        let message = Message::Open(Box::new(opening));
        Referee::default().pass(Near, message).err()
    };
    assert_eq!(with(|_| ()), None);
    let wrong: [fn(&mut Opening); 9] = [
        |opening| opening.paths.clear(),
        |opening| opening.paths = vec![Vec::new(); 1025],
        |opening| opening.paths[0] = vec![b'a'; 4096],
        |opening| opening.paths[0].push(0),
        |opening| opening.objective = "\x1b[2J".to_owned(),
        |opening| opening.congestion = Some("x".repeat(33)),
        |opening| opening.streams = Some(0),
        |opening| opening.streams = Some(5000),
        |opening| opening.rate_max_bits_per_second = Some(0),
    ];
    for change in wrong {
        let error = with(change).unwrap();
        assert!(matches!(error.rule, Rule::Opening { .. }), "{error}");
    }
    let mut put = opening(Way::Put);
    put.paths.push(Vec::new());
    let refused = refused(&mut Referee::default(), Near, Message::Open(Box::new(put)));
    assert!(matches!(refused, Rule::Opening { value, .. } if value == "2"));
}

#[test]
fn entries_that_no_disk_can_have_are_refused() {
    let tell = |entry: Entry| refused(&mut open(false), Near, Message::Entries(vec![entry]));
    assert_eq!(
        tell(file("a", u64::MAX)),
        Rule::Size {
            file: 0,
            size: u64::MAX
        }
    );
    assert_eq!(tell(entry("l", Kind::Link(Vec::new()))), Rule::Link(0));
    assert_eq!(tell(entry("l", Kind::Link(b"a\0".to_vec()))), Rule::Link(0));
    assert_eq!(
        tell(entry("l", Kind::Link(vec![b'a'; 4096]))),
        Rule::Link(0)
    );
}

#[test]
fn a_sender_that_tells_without_end_is_stopped() {
    let mut referee = open(false);
    let tell = |referee: &mut Referee, name: &str| {
        let entries = vec![file(name, 1); 1024];
        (0..1 << 20).find(|_| {
            referee
                .pass(Near, Message::Entries(entries.clone()))
                .is_err()
        })
    };
    assert!(!referee.is_full());
    assert_eq!(tell(&mut referee, "a"), Some(UNFINISHED_MAX / 1024));
    assert!(referee.is_full());
    let long = vec!["x".repeat(255); 15].join("/");
    let batches = tell(&mut open(false), &long);
    assert_eq!(batches, Some(NAMES_MAX / 1024 / long.len()));
}

#[test]
fn the_end_of_the_entries_agrees_with_them() {
    let mut referee = wanted();
    let bytes = 100 + (5 << 20);
    let end = |count, bytes| Message::EntriesEnd { count, bytes };
    let wrong = refused(&mut referee, Near, end(5, bytes));
    let rule = Rule::Sum {
        what: "number",
        told: 4,
        said: 5,
    };
    assert_eq!(wrong, rule);
    assert!(matches!(
        refused(&mut referee, Near, end(4, 1)),
        Rule::Sum { .. }
    ));
    assert_eq!(
        refused(&mut referee, Far, Message::Complete),
        Rule::Unfinished
    );
    referee.pass(Near, end(4, bytes)).unwrap();
    assert_eq!(refused(&mut referee, Near, end(4, bytes)), Rule::Again);
    assert_eq!(
        refused(&mut referee, Near, Message::Entries(Vec::new())),
        Rule::Again
    );
}

#[test]
fn wants_come_in_order_and_within_their_files() {
    let told = || {
        let mut referee = open(false);
        let entries = vec![file("a", 100), entry("d", Kind::Folder)];
        referee.pass(Near, Message::Entries(entries)).unwrap();
        referee
    };
    let want = |want: Want| refused(&mut told(), Far, Message::Wants(vec![want]));
    let (said, expected) = (1, 0);
    assert_eq!(want(Want::Nothing(1)), Rule::WantOrder { said, expected });
    assert_eq!(want(Want::Whole(2)), Rule::UnknownFile);
    for parts in [
        vec![],
        vec![(0, 0)],
        vec![(0, 101)],
        vec![(100, 1)],
        vec![(50, 10), (20, 10)],
        vec![(0, 10), (5, 10)],
        vec![(u64::MAX, 2)],
        vec![(0, u64::MAX)],
        vec![(0, 1); PARTS_MAX + 1],
    ] {
        assert_eq!(want(Want::Rest(0, parts)), Rule::Parts(0));
    }
    let mut referee = told();
    let wants = vec![Want::Nothing(0), Want::Whole(1)];
    assert_eq!(
        refused(&mut referee, Far, Message::Wants(wants)),
        Rule::NoContent(1)
    );
}

#[test]
fn confirmations_are_of_pieces_that_can_be() {
    let mut referee = wanted();
    for (wrong, rule) in [
        (range(4, 0, 1), Rule::UnknownFile),
        (range(1, 0, 101), Rule::Range(range(1, 0, 101))),
        (range(1, 0, 0), Rule::Range(range(1, 0, 0))),
        (range(1, u64::MAX, 2), Rule::Range(range(1, u64::MAX, 2))),
        (range(2, 0, 5 << 20), Rule::Range(range(2, 0, 5 << 20))),
    ] {
        let said = Message::Received(vec![range(1, 0, 100), wrong]);
        assert_eq!(refused(&mut referee, Far, said), rule);
        assert_eq!(refused(&mut referee, Far, Message::Damaged(wrong)), rule);
    }
    referee
        .pass(Near, Message::Entries(vec![file("x", 9)]))
        .unwrap();
    let early = Message::Received(vec![range(4, 0, 9)]);
    assert_eq!(refused(&mut referee, Far, early), Rule::FileState(4));
}

#[test]
fn a_file_is_read_and_published_once() {
    let mut referee = wanted();
    assert_eq!(
        refused(&mut referee, Far, published(1)),
        Rule::FileState(1),
        "not read"
    );
    assert_eq!(refused(&mut referee, Far, published(9)), Rule::UnknownFile);
    let end = |file| Message::FileEnds(vec![file]);
    referee.pass(Near, end(1)).unwrap();
    assert_eq!(refused(&mut referee, Near, end(1)), Rule::FileState(1));
    referee.pass(Far, published(1)).unwrap();
    assert_eq!(refused(&mut referee, Far, published(1)), Rule::FileState(1));
    assert_eq!(
        refused(&mut referee, Far, published(0)),
        Rule::FileState(0),
        "a folder"
    );
    // Over: nothing comes out.
    assert_eq!(
        referee.pass(Near, end(1)),
        Ok(Message::FileEnds(Vec::new()))
    );
}

#[test]
fn what_crossed_a_failure_is_taken_out() {
    let mut referee = wanted();
    referee.pass(Near, Message::FileEnds(vec![1])).unwrap();
    referee.pass(Near, failed(Some(1))).unwrap();
    assert_eq!(referee.size(1), None);
    let late = Message::Received(vec![range(1, 0, 100), range(2, 0, 1 << 20)]);
    let kept = Message::Received(vec![range(2, 0, 1 << 20)]);
    assert_eq!(referee.pass(Far, late), Ok(kept));
    let none = Message::Published(Vec::new());
    assert_eq!(referee.pass(Far, published(1)), Ok(none));
    assert_eq!(refused(&mut referee, Far, published(1)), Rule::FileState(1));
}

#[test]
fn a_new_destination_lets_data_come_before_the_answer() {
    let mut referee = open(true);
    referee
        .pass(Near, Message::Entries(vec![file("a", 9)]))
        .unwrap();
    referee.pass(Near, Message::FileEnds(vec![0])).unwrap();
    let mut other = open(false);
    other
        .pass(Near, Message::Entries(vec![file("a", 9)]))
        .unwrap();
    let early = refused(&mut other, Near, Message::FileEnds(vec![0]));
    assert_eq!(early, Rule::FileState(0));
}

#[test]
fn a_dry_run_ends_with_the_wants() {
    let mut referee = Referee::default();
    let dry = Opening {
        dry_run: true,
        ..opening(Way::Get)
    };
    referee.pass(Near, Message::Open(Box::new(dry))).unwrap();
    referee
        .pass(
            Far,
            Message::Opened {
                session: 1,
                fresh: true,
            },
        )
        .unwrap();
    referee
        .pass(Far, Message::Entries(vec![file("a", 9)]))
        .unwrap();
    referee
        .pass(Near, Message::Wants(vec![Want::Whole(0)]))
        .unwrap();
    let (count, bytes) = (1, 9);
    referee
        .pass(Far, Message::EntriesEnd { count, bytes })
        .unwrap();
    referee.pass(Near, Message::Complete).unwrap();
}

#[test]
fn what_people_are_told_can_be_printed() {
    let mut referee = wanted();
    let passed = referee.pass(Near, failed(None)).unwrap();
    let Message::Failed(problem) = passed else {
        panic!("{passed:?}");
    };
    assert!(!problem.what.contains('\x1b') && problem.what.ends_with(" gone"));
    assert_eq!(referee.pass(Far, Message::Bye), Ok(Message::Bye));
}
