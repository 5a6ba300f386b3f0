//! Any bytes as what an unknown or a hostile peer of `trunkline copy` says.

use copy_protocol::{
    Frames, GREETING_LENGTH, Greeting, HEADER_LENGTH, HELLO_MAX, KeyName, MESSAGE_MAX,
    NearHandshake, PIECE_MAX, PieceHeader, Rights, Secret, answer_hello, encode,
};

const EXPORTER: [u8; 32] = [3; 32];

/// The check of this target.
pub fn check(bytes: &[u8]) {
    frames(Frames::hello(), bytes, HELLO_MAX);
    frames(Frames::messages(), bytes, MESSAGE_MAX);
    hello(bytes);
    answer(bytes);
    fixed(bytes);
}

/// Frames stay within their bound; what can be read can be written.
fn frames(mut frames: Frames, mut bytes: &[u8], bound: u32) {
    while let Ok(Some(frame)) = frames.next_frame(&mut bytes) {
        assert!((1..=bound as usize).contains(&frame.len()));
        if let Ok(message) = copy_protocol::decode(&frame) {
            encode(&message).expect("it came in one frame");
        }
    }
}

/// Nobody gets in without the secret, and every refusal fits into its frame.
fn hello(bytes: &[u8]) {
    let find = |_: &KeyName| Some((Secret::new([1; 32]).key(), Rights::ALL));
    let (_, answer) =
        answer_hello(bytes, &EXPORTER, "fuzz", find).expect_err("a proof was guessed");
    assert!(answer.len() <= HELLO_MAX as usize + 4);
}

fn answer(bytes: &[u8]) {
    let name = KeyName::new("fuzz").expect("four letters");
    let key = Secret::new([1; 32]).key();
    let (near, _) = NearHandshake::new(name, key, EXPORTER, "fuzz");
    let error = near.on_answer(bytes).expect_err("a proof was guessed");
    assert!(!error.to_string().chars().any(char::is_control));
}

/// What has a fixed length comes back as it was, or is refused.
fn fixed(bytes: &[u8]) {
    if let Some(header) = bytes.first_chunk::<HEADER_LENGTH>()
        && let Ok(piece) = PieceHeader::decode(header)
    {
        assert_eq!(piece.encode(), *header);
        assert!((1..=PIECE_MAX).contains(&piece.length) && piece.wire_length <= piece.length);
        assert!(piece.offset.checked_add(piece.length.into()).is_some());
    }
    if let Some(greeting) = bytes.first_chunk::<GREETING_LENGTH>()
        && let Ok(read) = Greeting::decode(greeting)
    {
        assert_eq!(read.encode(), *greeting);
    }
}
