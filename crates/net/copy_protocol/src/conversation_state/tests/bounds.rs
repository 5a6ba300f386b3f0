//! Values that cannot be.

use super::*;
use crate::{CHUNK_HASH_LENGTH, Chunk, CongestionChoice, Inode, Shared};

#[test]
fn an_opening_keeps_to_its_bounds() {
    let with = |change: fn(&mut Opening)| {
        let mut opening = opening(CopyDirection::Get);
        change(&mut opening);
        let message = Message::Open(Box::new(opening));
        ConversationState::default().pass(Near, message).err()
    };
    assert_eq!(with(|_| ()), None);
    let wrong: [fn(&mut Opening); 9] = [
        |opening| opening.paths.clear(),
        |opening| opening.paths = vec![Vec::new(); 1025],
        |opening| opening.paths[0] = vec![b'a'; 4096],
        |opening| opening.paths[0].push(0),
        |opening| opening.objective = "\x1b[2J".to_owned(),
        |opening| opening.congestion = Some(CongestionChoice::required("x".repeat(33))),
        |opening| opening.streams = Some(0),
        |opening| opening.streams = Some(5000),
        |opening| opening.rate_max_bits_per_second = Some(0),
    ];
    for change in wrong {
        let error = with(change).unwrap();
        assert!(
            matches!(error.rule, ProtocolRule::Opening { .. }),
            "{error}"
        );
    }
    let mut put = opening(CopyDirection::Put);
    put.paths.push(Vec::new());
    let refused = refused(
        &mut ConversationState::default(),
        Near,
        Message::Open(Box::new(put)),
    );
    assert!(matches!(refused, ProtocolRule::Opening { value, .. } if value == "2"));
}

#[test]
fn entries_that_no_disk_can_have_are_refused() {
    let tell = |entry: Entry| refused(&mut open(false), Near, Message::Entries(vec![entry]));
    assert_eq!(
        tell(file("a", u64::MAX)),
        ProtocolRule::Size {
            file: 0,
            size: u64::MAX
        }
    );
    for name in [
        ".f.trunkline-part",
        "d/.f.trunkline-journal",
        ".d.trunkline-link/f",
    ] {
        assert_eq!(tell(file(name, 1)), ProtocolRule::Reserved(0), "{name}");
    }
    assert_eq!(
        tell(entry("l", Kind::Link(Vec::new()))),
        ProtocolRule::Link(0)
    );
    assert_eq!(
        tell(entry("l", Kind::Link(b"a\0".to_vec()))),
        ProtocolRule::Link(0)
    );
    assert_eq!(
        tell(entry("l", Kind::Link(vec![b'a'; 4096]))),
        ProtocolRule::Link(0)
    );
}

#[test]
fn a_sender_that_tells_without_end_is_stopped() {
    let mut protocol = open(false);
    let tell = |protocol: &mut ConversationState, name: &str| {
        let entries = vec![file(name, 1); 1024];
        (0..1 << 20).find(|_| {
            protocol
                .pass(Near, Message::Entries(entries.clone()))
                .is_err()
        })
    };
    assert!(!protocol.is_full());
    assert_eq!(tell(&mut protocol, "a"), Some(UNFINISHED_MAX / 1024));
    assert!(protocol.is_full());
    let long = vec!["x".repeat(255); 15].join("/");
    let batches = tell(&mut open(false), &long);
    assert_eq!(batches, Some(NAMES_MAX / 1024 / long.len()));
}

#[test]
fn wants_come_in_order_and_within_their_files() {
    let told = || {
        let mut protocol = open(false);
        let entries = vec![file("a", 100), entry("d", Kind::Folder)];
        protocol.pass(Near, Message::Entries(entries)).unwrap();
        protocol
    };
    let want = |want: Want| refused(&mut told(), Far, Message::Wants(vec![want]));
    let (said, expected) = (1, 0);
    assert_eq!(
        want(Want::Nothing(1)),
        ProtocolRule::WantOrder { said, expected }
    );
    assert_eq!(want(Want::Whole(2)), ProtocolRule::UnknownFile);
    let all_there = Message::Wants(vec![Want::Rest(0, vec![])]);
    assert_eq!(told().pass(Far, all_there.clone()), Ok(all_there));
    for parts in [
        vec![(0, 0)],
        vec![(0, 101)],
        vec![(100, 1)],
        vec![(50, 10), (20, 10)],
        vec![(0, 10), (5, 10)],
        vec![(u64::MAX, 2)],
        vec![(0, u64::MAX)],
        vec![(0, 1); PARTS_MAX + 1],
    ] {
        assert_eq!(want(Want::Rest(0, parts)), ProtocolRule::Parts(0));
    }
    let mut protocol = told();
    let wants = vec![Want::Nothing(0), Want::Whole(1)];
    assert_eq!(
        refused(&mut protocol, Far, Message::Wants(wants)),
        ProtocolRule::NoContent(1)
    );
}

#[test]
fn confirmations_are_of_pieces_that_can_be() {
    let mut protocol = wanted();
    for (wrong, rule) in [
        (range(4, 0, 1), ProtocolRule::UnknownFile),
        (range(1, 0, 101), ProtocolRule::Range(range(1, 0, 101))),
        (range(1, 0, 0), ProtocolRule::Range(range(1, 0, 0))),
        (
            range(1, u64::MAX, 2),
            ProtocolRule::Range(range(1, u64::MAX, 2)),
        ),
        (
            range(2, 0, 5 << 20),
            ProtocolRule::Range(range(2, 0, 5 << 20)),
        ),
    ] {
        let said = Message::Received(vec![range(1, 0, 100), wrong]);
        assert_eq!(refused(&mut protocol, Far, said), rule);
        assert_eq!(refused(&mut protocol, Far, Message::Damaged(wrong)), rule);
    }
    protocol
        .pass(Near, Message::Entries(vec![file("x", 9)]))
        .unwrap();
    let early = Message::Received(vec![range(4, 0, 9)]);
    assert_eq!(
        refused(&mut protocol, Far, early),
        ProtocolRule::FileState(4)
    );
}

#[test]
fn the_end_of_the_entries_agrees_with_them() {
    let mut protocol = wanted();
    let bytes = 100 + (5 << 20);
    let linked = 2;
    let end = |count, bytes| Message::EntriesEnd {
        count,
        bytes,
        linked,
    };
    let too_many = Message::EntriesEnd {
        count: 4,
        bytes,
        linked: 5,
    };
    let rule = ProtocolRule::Linked { said: 5, told: 4 };
    assert_eq!(refused(&mut protocol, Near, too_many), rule);
    let wrong = refused(&mut protocol, Near, end(5, bytes));
    let rule = ProtocolRule::Sum {
        what: "entries",
        told: 4,
        said: 5,
    };
    assert_eq!(wrong, rule);
    assert!(matches!(
        refused(&mut protocol, Near, end(4, 1)),
        ProtocolRule::Sum { .. }
    ));
    assert_eq!(
        refused(&mut protocol, Far, Message::Complete),
        ProtocolRule::Unfinished
    );
    protocol.pass(Near, end(4, bytes)).unwrap();
    assert_eq!(
        refused(&mut protocol, Near, end(4, bytes)),
        ProtocolRule::Again
    );
    assert_eq!(
        refused(&mut protocol, Near, Message::Entries(Vec::new())),
        ProtocolRule::Again
    );
}

#[test]
fn a_file_ends_after_what_was_left_of_it_was_read_back() {
    let begun = || {
        let mut protocol = open(false);
        let entries = Message::Entries(vec![file("a", 100 << 10)]);
        protocol.pass(Near, entries).unwrap();
        protocol
            .pass(Far, Message::Wants(vec![Want::Rest(0, vec![])]))
            .unwrap();
        protocol
    };
    let back = |parts: Vec<(u64, u64)>, is_all| Message::ReadBack {
        file: 0,
        parts,
        is_all,
    };
    let ends = Message::FileEnds(vec![0]);
    assert_eq!(
        refused(&mut begun(), Near, ends.clone()),
        ProtocolRule::FileState(0)
    );
    let mut protocol = begun();
    protocol
        .pass(Far, back(vec![(0, 16 << 10)], false))
        .unwrap();
    assert_eq!(
        refused(&mut protocol, Near, ends.clone()),
        ProtocolRule::FileState(0)
    );
    let mut protocol = begun();
    protocol.pass(Far, back(vec![], true)).unwrap();
    protocol.pass(Near, ends).unwrap();
    assert_eq!(
        refused(&mut protocol, Far, back(vec![], true)),
        ProtocolRule::FileState(0)
    );
    assert_eq!(
        refused(&mut begun(), Near, back(vec![], true)),
        ProtocolRule::Speaker
    );
    let beyond = back(vec![(0, 101 << 10)], true);
    assert_eq!(refused(&mut begun(), Far, beyond), ProtocolRule::Parts(0));
}

#[test]
fn nothing_is_removed_unasked_or_before_all_else_is_done() {
    let removed = || {
        let name = Name::new(b"d/old".to_vec()).unwrap();
        let is_folder = false;
        Message::Removed(vec![crate::Removed { name, is_folder }])
    };
    let asked = |delete| {
        let opening = Opening {
            delete,
            ..opening(CopyDirection::Put)
        };
        ConversationState::opened(&opening, false).unwrap()
    };
    let told = |protocol: &mut ConversationState| {
        let (count, bytes) = (0, 0);
        let end = Message::EntriesEnd {
            count,
            bytes,
            linked: 0,
        };
        protocol.pass(Near, end).unwrap();
    };
    let mut unasked = asked(false);
    told(&mut unasked);
    let refused = unasked.pass(Far, removed()).unwrap_err();
    assert_eq!(refused.rule, ProtocolRule::NotAsked);
    let mut early = asked(true);
    let refused = early.pass(Far, removed()).unwrap_err();
    assert_eq!(refused.rule, ProtocolRule::Unfinished);
    let mut sender = asked(true);
    told(&mut sender);
    let refused = sender.pass(Near, removed()).unwrap_err();
    assert_eq!(refused.rule, ProtocolRule::Speaker);
    assert!(sender.pass(Far, removed()).is_ok());
    sender.pass(Far, Message::Complete).unwrap();
    let refused = sender.pass(Far, removed()).unwrap_err();
    assert_eq!(refused.rule, ProtocolRule::AfterComplete);
}

#[test]
fn a_digest_comes_where_contents_are_compared_and_of_files_alone() {
    let open = |filter| {
        let opening = Opening {
            filter,
            ..opening(CopyDirection::Put)
        };
        ConversationState::opened(&opening, false).unwrap()
    };
    let with = |entry| Entry {
        digest: Some([7; 32]),
        ..entry
    };
    let tell = |filter, entry| open(filter).pass(Near, Message::Entries(vec![with(entry)]));
    assert!(tell(Filter::Content, file("a", 1)).is_ok());
    for (filter, entry) in [
        (Filter::Changed, file("a", 1)),
        (Filter::Content, entry("d", Kind::Folder)),
    ] {
        assert_eq!(
            tell(filter, entry).unwrap_err().rule,
            ProtocolRule::Digest(0)
        );
    }
}

#[test]
fn a_further_name_has_a_size_that_a_disk_can_have_and_no_digest() {
    let mut asked = opening(CopyDirection::Put);
    asked.filter = Filter::Content;
    asked.attributes.kept.hard_links = true;
    let tell = |further: Entry| {
        let mut protocol = ConversationState::opened(&asked, false).unwrap();
        let inode = Inode {
            shared: Some(Shared::With(0)),
            ..Inode::of(1)
        };
        protocol.pass(Near, Message::Inodes(vec![inode])).unwrap();
        let passed = protocol.pass(Near, Message::Entries(vec![file("a", 1), further]));
        passed.map_err(|error| error.rule)
    };
    assert!(tell(file("b", 1)).is_ok());
    let size = u64::MAX;
    let wrong = ProtocolRule::Size { file: 1, size };
    assert_eq!(tell(file("b", size)), Err(wrong));
    let with_digest = Entry {
        digest: Some([7; 32]),
        ..file("b", 1)
    };
    assert_eq!(tell(with_digest), Err(ProtocolRule::Digest(1)));
}

#[test]
fn a_file_is_not_made_like_a_folder() {
    let mut protocol = open(false);
    let entries = vec![entry("d", Kind::Folder), file("d/a", 1)];
    protocol.pass(Near, Message::Entries(entries)).unwrap();
    let made = |id| Message::Wants(vec![Want::Made(id)]);
    assert!(protocol.pass(Far, made(0)).is_ok());
    assert_eq!(
        protocol.pass(Far, made(1)).unwrap_err().rule,
        ProtocolRule::FileState(1)
    );
}

#[test]
fn a_selection_keeps_to_its_bounds() {
    let with = |rules: usize, listed: Option<usize>, delete| {
        let rule = |_| crate::SelectionRule {
            leaves_out: true,
            pattern: "*.tmp".to_owned(),
        };
        let opening = Opening {
            selection: crate::Selection {
                rules: (0..rules).map(rule).collect(),
                listed: listed.map(|count| vec![b"name".to_vec(); count]),
            },
            delete,
            ..opening(CopyDirection::Get)
        };
        ConversationState::opened(&opening, false)
    };
    assert!(with(1024, Some(8192), false).is_ok());
    assert!(with(1025, None, false).is_err());
    assert!(with(0, Some(8193), false).is_err());
    assert!(
        with(0, Some(1), true).is_err(),
        "a list says nothing of folders"
    );
}

#[test]
fn addresses_are_told_once_by_the_far_end_where_they_are_asked_for() {
    let asked = |asks_addresses| {
        let opening = Opening {
            asks_addresses,
            ..opening(CopyDirection::Put)
        };
        ConversationState::opened(&opening, false).unwrap()
    };
    let told = |count| Message::Addresses(vec!["192.0.2.7".parse().unwrap(); count]);
    let rule = |asks, speaker, count| refused(&mut asked(asks), speaker, told(count));
    assert_eq!(rule(false, Far, 1), ProtocolRule::Addresses);
    assert_eq!(rule(true, Near, 1), ProtocolRule::Speaker);
    assert_eq!(rule(true, Far, 17), ProtocolRule::Addresses);
    let mut protocol = asked(true);
    assert_eq!(protocol.pass(Far, told(16)), Ok(told(16)));
    assert_eq!(
        refused(&mut protocol, Far, told(1)),
        ProtocolRule::Addresses
    );
}

#[test]
fn older_versions_are_told_where_they_are_asked_for_and_before_the_answer() {
    let asked = |delta| {
        let opening = Opening {
            delta,
            ..opening(CopyDirection::Put)
        };
        let mut protocol = ConversationState::opened(&opening, false).unwrap();
        let entries = Message::Entries(vec![entry("a", Kind::File(100))]);
        protocol.pass(Near, entries).unwrap();
        protocol
    };
    let older = |file, bytes| Message::Older(vec![(file, bytes)]);
    let rule = |delta, speaker, message| refused(&mut asked(delta), speaker, message);
    assert_eq!(rule(false, Far, older(0, 7)), ProtocolRule::OlderUnasked);
    assert_eq!(rule(true, Near, older(0, 7)), ProtocolRule::Speaker);
    assert_eq!(rule(true, Far, older(1, 7)), ProtocolRule::UnknownFile);
    assert_eq!(rule(true, Far, older(0, 0)), ProtocolRule::Older(0));
    let mut protocol = asked(true);
    assert_eq!(protocol.pass(Far, older(0, 7)), Ok(older(0, 7)));
    let wants = Message::Wants(vec![Want::Whole(0)]);
    protocol.pass(Far, wants).unwrap();
    let late = refused(&mut protocol, Far, older(0, 7));
    assert_eq!(late, ProtocolRule::Older(0));
}

#[test]
fn chunks_are_told_of_files_that_are_wanted_and_lie_within_what_a_file_can_have() {
    let wanted = |delta| {
        let opening = Opening {
            delta,
            ..opening(CopyDirection::Put)
        };
        let mut protocol = ConversationState::opened(&opening, false).unwrap();
        let entries = ["a", "b"].map(|name| entry(name, Kind::File(100)));
        protocol
            .pass(Near, Message::Entries(entries.to_vec()))
            .unwrap();
        let wants = Message::Wants(vec![Want::Whole(0)]);
        protocol.pass(Far, wants).unwrap();
        protocol
    };
    let told = |file, start, lengths: &[u32]| {
        let chunk = |length: &u32| Chunk {
            length: *length,
            hash: [7; CHUNK_HASH_LENGTH],
        };
        let chunks = lengths.iter().map(chunk).collect();
        Message::Chunks {
            file,
            start,
            chunks,
        }
    };
    let rule = |speaker, message| refused(&mut wanted(true), speaker, message);
    let unasked = refused(&mut wanted(false), Far, told(0, 0, &[5]));
    assert_eq!(unasked, ProtocolRule::OlderUnasked);
    assert_eq!(rule(Near, told(0, 0, &[5])), ProtocolRule::Speaker);
    assert_eq!(rule(Far, told(2, 0, &[5])), ProtocolRule::UnknownFile);
    assert_eq!(rule(Far, told(1, 0, &[5])), ProtocolRule::FileState(1));
    let beyond = i64::MAX as u64 - 8;
    let wrong: [(u64, &[u32]); 4] = [(0, &[]), (0, &[5, 0]), (beyond, &[5, 4]), (u64::MAX, &[1])];
    for (start, lengths) in wrong {
        let rule = rule(Far, told(0, start, lengths));
        assert_eq!(rule, ProtocolRule::Older(0), "{start} {lengths:?}");
    }
    let fine = told(0, beyond, &[5, 3]);
    assert_eq!(wanted(true).pass(Far, fine.clone()), Ok(fine));
}
