//! Honest ends, wrong messages, and messages at random.

use super::*;
use crate::{
    Activity, CopyOptions, Entry, FileId, Filter, Kind, Name, Problem, ProblemKind, Published,
    Range, Want,
};

mod bounds;
mod ends;
mod random;

use Speaker::{Far, Near};

fn opening(direction: CopyDirection) -> Opening {
    let options = CopyOptions {
        recursive: true,
        ..CopyOptions::default()
    };
    Opening {
        copy: [1; 16],
        into_folder: true,
        ..Opening::new(direction, vec![b"data".to_vec()], &options)
    }
}

fn entry(name: &str, kind: Kind) -> Entry {
    Entry {
        name: Name::new(name.into()).unwrap(),
        kind,
        mode: 0o644,
        modified_nanoseconds: 0,
        version: 0,
        is_sparse: false,
        digest: None,
    }
}

fn bounds() -> Message {
    Message::ServerBounds {
        rate: Some(1_000_000),
        streams: None,
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

/// All that was left of it is right.
fn read_back(file: FileId) -> Message {
    Message::ReadBack {
        file,
        parts: Vec::new(),
        is_all: true,
    }
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
fn open(fresh: bool) -> ConversationState {
    ConversationState::opened(&opening(CopyDirection::Put), fresh).unwrap()
}

/// A put with a folder, two files and a link, of which the files are wanted.
fn wanted() -> ConversationState {
    let mut protocol = open(false);
    let entries = vec![
        entry("d", Kind::Folder),
        file("d/a", 100),
        file("d/b", 5 << 20),
        entry("l", Kind::Link(b"d/a".to_vec())),
    ];
    protocol.pass(Near, Message::Entries(entries)).unwrap();
    let wants = vec![
        Want::Nothing(0),
        Want::Whole(1),
        Want::Rest(2, vec![(0, 1 << 20), (4 << 20, 1 << 20)]),
        Want::Nothing(3),
    ];
    protocol.pass(Far, Message::Wants(wants)).unwrap();
    protocol
}

fn refused(protocol: &mut ConversationState, speaker: Speaker, message: Message) -> ProtocolRule {
    let text = format!("{message:?}");
    match protocol.pass(speaker, message) {
        Err(error) => error.rule,
        Ok(passed) => panic!("{text} passed as {passed:?}"),
    }
}

#[test]
fn a_put_goes_from_opening_to_farewell() {
    let mut protocol = wanted();
    let (count, bytes) = (4, 100 + (5 << 20));
    let end = Message::EntriesEnd {
        count,
        bytes,
        linked: 0,
    };
    for (speaker, message) in [
        (Near, end),
        (Near, Message::FileEnds(vec![1])),
        (Far, Message::Received(vec![range(1, 0, 100)])),
        (Near, Message::Streams(4)),
        (Near, Message::Alive(Activity::default())),
        (Far, published(1)),
        (Far, read_back(2)),
        (Near, Message::FileEnds(vec![2])),
        (Far, Message::Damaged(range(2, 0, 1 << 20))),
        (Near, Message::RateMax(None)),
        (Near, Message::FixedStreams(Some(3))),
        (Far, Message::SharedStreams(Some(9))),
        (Far, bounds()),
        (Far, published(2)),
        (Far, Message::Complete),
        (Near, Message::Bye),
        (Far, Message::Bye),
    ] {
        assert_eq!(protocol.pass(speaker, message.clone()), Ok(message));
    }
    assert_eq!(
        refused(&mut protocol, Near, Message::Bye),
        ProtocolRule::AfterBye
    );
}

#[test]
fn nothing_is_said_before_the_opening_and_its_answer() {
    let mut protocol = ConversationState::default();
    let entries = || Message::Entries(vec![file("a", 1)]);
    assert_eq!(
        refused(&mut protocol, Near, entries()),
        ProtocolRule::NotOpen
    );
    let open = || Message::Open(Box::new(opening(CopyDirection::Put)));
    assert_eq!(refused(&mut protocol, Far, open()), ProtocolRule::Speaker);
    protocol.pass(Near, open()).unwrap();
    assert_eq!(refused(&mut protocol, Near, open()), ProtocolRule::Again);
    assert_eq!(
        refused(&mut protocol, Near, entries()),
        ProtocolRule::NotOpen
    );
    let opened = || Message::Opened {
        session: 1,
        fresh: false,
    };
    assert_eq!(
        refused(&mut protocol, Near, opened()),
        ProtocolRule::Speaker
    );
    protocol.pass(Far, opened()).unwrap();
    assert_eq!(refused(&mut protocol, Far, opened()), ProtocolRule::Again);
}

#[test]
fn each_end_says_its_own_part_only() {
    let mut protocol = wanted();
    for message in [
        Message::Entries(Vec::new()),
        Message::FileEnds(vec![1]),
        Message::Streams(1),
        Message::RateMax(None),
        Message::FixedStreams(None),
    ] {
        assert_eq!(refused(&mut protocol, Far, message), ProtocolRule::Speaker);
    }
    for message in [
        Message::Wants(Vec::new()),
        Message::Received(Vec::new()),
        published(1),
        Message::SharedStreams(None),
        bounds(),
        Message::Complete,
    ] {
        assert_eq!(refused(&mut protocol, Near, message), ProtocolRule::Speaker);
    }
}

#[test]
fn a_file_is_read_and_published_once() {
    let mut protocol = wanted();
    assert_eq!(
        refused(&mut protocol, Far, published(1)),
        ProtocolRule::FileState(1),
        "not read"
    );
    assert_eq!(
        refused(&mut protocol, Far, published(9)),
        ProtocolRule::UnknownFile
    );
    let end = |file| Message::FileEnds(vec![file]);
    protocol.pass(Near, end(1)).unwrap();
    assert_eq!(
        refused(&mut protocol, Near, end(1)),
        ProtocolRule::FileState(1)
    );
    protocol.pass(Far, published(1)).unwrap();
    assert_eq!(
        refused(&mut protocol, Far, published(1)),
        ProtocolRule::FileState(1)
    );
    assert_eq!(
        refused(&mut protocol, Far, published(0)),
        ProtocolRule::FileState(0),
        "a folder"
    );
    // Over: nothing comes out.
    assert_eq!(
        protocol.pass(Near, end(1)),
        Ok(Message::FileEnds(Vec::new()))
    );
}

#[test]
fn what_crossed_a_failure_is_taken_out() {
    let mut protocol = wanted();
    protocol.pass(Near, Message::FileEnds(vec![1])).unwrap();
    protocol.pass(Near, failed(Some(1))).unwrap();
    assert_eq!(protocol.size(1), None);
    let late = Message::Received(vec![range(1, 0, 100), range(2, 0, 1 << 20)]);
    let kept = Message::Received(vec![range(2, 0, 1 << 20)]);
    assert_eq!(protocol.pass(Far, late), Ok(kept));
    let none = Message::Published(Vec::new());
    assert_eq!(protocol.pass(Far, published(1)), Ok(none));
    assert_eq!(
        refused(&mut protocol, Far, published(1)),
        ProtocolRule::FileState(1)
    );
}

#[test]
fn a_new_destination_lets_data_come_before_the_answer() {
    let mut protocol = open(true);
    protocol
        .pass(Near, Message::Entries(vec![file("a", 9)]))
        .unwrap();
    protocol.pass(Near, Message::FileEnds(vec![0])).unwrap();
    let mut other = open(false);
    other
        .pass(Near, Message::Entries(vec![file("a", 9)]))
        .unwrap();
    let early = refused(&mut other, Near, Message::FileEnds(vec![0]));
    assert_eq!(early, ProtocolRule::FileState(0));
}

#[test]
fn a_get_into_a_new_folder_needs_no_answers_either() {
    let mut protocol = ConversationState::opened(&opening(CopyDirection::Get), true).unwrap();
    let entries = Message::Entries(vec![file("a", 0)]);
    protocol.pass(Far, entries).unwrap();
    protocol.pass(Far, Message::FileEnds(vec![0])).unwrap();
    protocol
        .pass(Near, Message::Wants(vec![Want::Whole(0)]))
        .unwrap();
    protocol.pass(Near, published(0)).unwrap();
}

#[test]
fn a_dry_run_ends_with_the_wants() {
    let dry = Opening {
        dry_run: true,
        ..opening(CopyDirection::Get)
    };
    let mut protocol = ConversationState::opened(&dry, true).unwrap();
    protocol
        .pass(Far, Message::Entries(vec![file("a", 9)]))
        .unwrap();
    protocol
        .pass(Near, Message::Wants(vec![Want::Whole(0)]))
        .unwrap();
    let (count, bytes) = (1, 9);
    protocol
        .pass(
            Far,
            Message::EntriesEnd {
                count,
                bytes,
                linked: 0,
            },
        )
        .unwrap();
    protocol.pass(Near, Message::Complete).unwrap();
}

#[test]
fn what_people_are_told_can_be_printed() {
    let mut protocol = wanted();
    let passed = protocol.pass(Near, failed(None)).unwrap();
    let Message::Failed(problem) = passed else {
        panic!("{passed:?}");
    };
    assert!(!problem.what.contains('\x1b') && problem.what.ends_with(" gone"));
    let name = "\x1b[2J".to_owned();
    let left_out = Message::LeftOut { name, problem };
    let passed = protocol.pass(Near, left_out).unwrap();
    assert!(matches!(passed, Message::LeftOut { name, .. } if name == "\u{FFFD}[2J"));
    assert_eq!(protocol.pass(Far, Message::Bye), Ok(Message::Bye));
}
