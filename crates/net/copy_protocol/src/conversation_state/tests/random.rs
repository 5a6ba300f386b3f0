//! Ends that say anything.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn small() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0_u64..6, 1 => any::<u64>()]
}

fn ids() -> impl Strategy<Value = Vec<FileId>> {
    proptest::collection::vec(small().prop_map(|id| id as FileId), 0..3)
}

fn ranges() -> impl Strategy<Value = Vec<Range>> {
    let one = (small(), small(), small());
    let one = one.prop_map(|(file, start, length)| range(file as FileId, start, length));
    proptest::collection::vec(one, 0..3)
}

fn any_want() -> impl Strategy<Value = Want> {
    let parts = proptest::collection::vec((small(), small()), 0..3);
    (0_u32..6, 0..3, parts).prop_map(|(id, kind, parts)| match kind {
        0 => Want::Nothing(id),
        1 => Want::Whole(id),
        _ => Want::Rest(id, parts),
    })
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let target = proptest::collection::vec(any::<u8>(), 0..3);
    (small(), 0..3, target).prop_map(|(size, kind, target)| match kind {
        0 => entry("d", Kind::Folder),
        1 => entry("l", Kind::Link(target)),
        _ => file("f", size),
    })
}

fn any_message() -> impl Strategy<Value = Message> {
    let publish = |ids: Vec<FileId>| {
        let digest = [0; 32];
        Message::Published(
            ids.into_iter()
                .map(|file| Published { file, digest })
                .collect(),
        )
    };
    prop_oneof![
        any::<bool>().prop_map(|put| {
            let direction = if put {
                CopyDirection::Put
            } else {
                CopyDirection::Get
            };
            Message::Open(Box::new(opening(direction)))
        }),
        any::<bool>().prop_map(|fresh| Message::Opened { session: 1, fresh }),
        proptest::collection::vec(any_entry(), 0..4).prop_map(Message::Entries),
        (small(), small()).prop_map(|(count, bytes)| Message::EntriesEnd {
            count: count as u32,
            bytes,
            linked: bytes as u32 % 3,
        }),
        proptest::collection::vec(any_want(), 0..4).prop_map(Message::Wants),
        ranges().prop_map(Message::Received),
        ranges().prop_filter_map("one", |ranges| ranges
            .first()
            .copied()
            .map(Message::Damaged)),
        ids().prop_map(Message::FileEnds),
        ids().prop_map(publish),
        small().prop_map(|file| failed(Some(file as FileId))),
        Just(Message::Complete),
        any::<u16>().prop_map(Message::Streams),
        Just(Message::RateMax(None)),
        any::<Option<u16>>().prop_map(Message::FixedStreams),
        any::<Option<u16>>().prop_map(Message::SharedStreams),
        any::<(Option<u64>, Option<u16>)>()
            .prop_map(|(rate, streams)| Message::ServerBounds { rate, streams }),
        Just(Message::Bye),
    ]
}

proptest! {
    /// A peer that says anything: no panic, and what passes keeps the promises.
    #[test]
    fn what_passes_can_be_believed(
        said in proptest::collection::vec((any::<bool>(), any_message()), 0..60), begun: bool,
    ) {
        let mut protocol = if begun { wanted() } else { ConversationState::default() };
        let mut over = BTreeSet::new();
        for (near, message) in said {
            let speaker = if near { Near } else { Far };
            let sizes: Vec<Option<u64>> = (0..20).map(|id| protocol.size(id)).collect();
            let size = |id: FileId| sizes.get(id as usize).copied().flatten();
            match protocol.pass(speaker, message) {
                Ok(Message::Received(ranges)) => {
                    for one in ranges {
                        let end = one.start.checked_add(one.length);
                        prop_assert!(size(one.file) >= end && one.length > 0);
                    }
                }
                Ok(Message::Published(published)) => {
                    for one in published {
                        prop_assert!(over.insert(one.file), "published once");
                    }
                }
                Ok(Message::Wants(wants)) => {
                    for want in wants {
                        if let Want::Rest(id, parts) = want {
                            let last = parts.last().map(|(start, length)| start + length);
                            prop_assert!(last.is_none_or(|last| Some(last) <= size(id)));
                        }
                    }
                }
                _ => (),
            }
        }
    }
}
