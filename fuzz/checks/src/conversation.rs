//! Any bytes as messages of both ends in turn: refused, or passed with all that a referee promises.

use std::collections::BTreeSet;

use copy_protocol::{
    ConversationState, CopyDirection, CopyOptions, FileId, Frames, Message, Opening, Speaker, Want,
};

/// The check of this target.
pub fn check(bytes: &[u8]) {
    let Some((start, mut bytes)) = bytes.split_first() else {
        return;
    };
    // Frames of any bytes rarely open a copy.
    let mut protocol = match start & 1 {
        0 => ConversationState::default(),
        _ => ConversationState::opened(&opening(), start & 2 == 2).expect("a copy can be opened"),
    };
    let mut published = BTreeSet::new();
    let mut frames = Frames::messages();
    let mut turns = start >> 2;
    while let Ok(Some(message)) = frames.next_message(&mut bytes) {
        let speaker = if turns & 1 == 0 {
            Speaker::Near
        } else {
            Speaker::Far
        };
        turns = turns.rotate_right(1);
        pass(&mut protocol, speaker, message, &mut published);
    }
}

fn pass(
    protocol: &mut ConversationState,
    speaker: Speaker,
    message: Message,
    published: &mut BTreeSet<FileId>,
) {
    let before: Vec<Option<u64>> = (0..64).map(|id| protocol.size(id)).collect();
    let size = |id: FileId| before.get(id as usize).copied();
    match protocol.pass(speaker, message) {
        Ok(Message::Received(ranges)) => {
            for range in ranges {
                let end = range.start.checked_add(range.length);
                assert!(size(range.file).is_none_or(|size| end.is_some() && end <= size));
            }
        }
        Ok(Message::Wants(wants)) => {
            for want in wants {
                if let Want::Rest(id, parts) = want {
                    let end = parts.last().map(|(start, length)| start + length);
                    assert!(size(id).is_none_or(|size| end <= size));
                }
            }
        }
        Ok(Message::Published(list)) => {
            for one in list {
                assert!(published.insert(one.file), "published twice");
            }
        }
        Ok(Message::Failed(problem)) => {
            assert!(!problem.what.chars().any(char::is_control));
        }
        Ok(_) => (),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn opening() -> Opening {
    let options = CopyOptions {
        recursive: true,
        ..CopyOptions::default()
    };
    Opening {
        into_folder: true,
        ..Opening::new(CopyDirection::Put, vec![b"x".to_vec()], &options)
    }
}
