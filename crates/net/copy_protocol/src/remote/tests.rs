use proptest::prelude::*;

use super::*;
use crate::{CodecError, Name};

fn name(text: &str) -> Name {
    Name::new(text.into()).unwrap()
}

fn read(offset: u64, length: u32) -> Ask {
    Ask::Read {
        path: name("f"),
        offset,
        length,
        expected: None,
    }
}

const IDENTITY: FileIdentity = FileIdentity {
    size: 100,
    modified_nanoseconds: -1,
    version: u64::MAX,
};

fn data(id: u32, bytes: &[u8], is_last: bool) -> Answer {
    let hash = *blake3::hash(bytes).as_bytes();
    let told = Told::Data {
        identity: IDENTITY,
        mode: 0o644,
        hash,
        is_last,
    };
    let data = bytes.to_vec();
    Answer { id, told, data }
}

fn come(asking: &mut Asking, answer: Answer) -> Result<bool, RemoteViolation> {
    asking.on_answer(answer).map(|event| event.is_last())
}

#[test]
fn requests_and_answers_come_back_from_their_bytes() {
    let ask = Ask::Rename {
        from: name("a"),
        to: name("b/c"),
        replaces: true,
    };
    let request = Request { id: 7, ask };
    let bytes = request.encode().unwrap();
    let mut frames = RequestFrames::default();
    for (at, byte) in bytes.iter().enumerate() {
        let next = frames.next(&mut &[*byte][..]).unwrap();
        assert_eq!(next.is_some(), at + 1 == bytes.len());
        assert_eq!(frames.is_within(), at + 1 < bytes.len());
        assert!(next.is_none_or(|next| next == request));
    }
    let answer = data(3, b"bytes", true);
    let head = head_of(3, &answer.told, 5).unwrap();
    let frame = [&head[4..], b"bytes"].concat();
    assert_eq!(
        u32::from_be_bytes(head[..4].try_into().unwrap()) as usize,
        frame.len()
    );
    assert_eq!(decode_answer(frame).unwrap(), answer);
}

#[test]
fn bytes_behind_an_answer_that_has_none_are_too_many() {
    let mut frame = encode_answer(1, &Told::Done).unwrap().split_off(4);
    frame.push(0);
    assert_eq!(decode_answer(frame), Err(CodecError::Surplus(1)));
    let most = CHUNK_MAX as usize;
    let told = data(1, b"", true).told;
    let head = head_of(1, &told, most + 1).unwrap().split_off(4);
    let frame = [head, vec![0; most + 1]].concat();
    assert_eq!(decode_answer(frame), Err(CodecError::Surplus(1)));
}

#[test]
fn numbers_of_requests_go_up_by_one() {
    let mut answering = Answering::default();
    let mut take = |id| {
        answering.on_request(&Request {
            id,
            ask: read(0, 1),
        })
    };
    take(1).unwrap();
    take(2).unwrap();
    for wrong in [0, 1, 2, 4, u32::MAX] {
        let wanted = Some(3);
        let came = wrong;
        assert_eq!(
            take(wrong),
            Err(RemoteViolation::RequestNumber { wanted, came })
        );
    }
    take(3).unwrap();
}

#[test]
fn ranges_are_within_what_a_file_can_have() {
    let check = |offset, length| {
        Answering::default().on_request(&Request {
            id: 1,
            ask: read(offset, length),
        })
    };
    let most = i64::MAX as u64;
    for (offset, length) in [(0, READ_MAX), (most, 0), (most - 1, 1)] {
        assert_eq!(check(offset, length), Ok(()));
    }
    for (offset, length) in [(0, READ_MAX + 1), (most, 1), (u64::MAX, 1), (most + 1, 0)] {
        assert_eq!(
            check(offset, length),
            Err(RemoteViolation::Range { offset, length })
        );
    }
}

#[test]
fn a_range_comes_whole_or_not_at_all() {
    let mut asking = Asking::default();
    asking.ask(read(90, 50)).unwrap();
    assert_eq!(come(&mut asking, data(1, b"1234", false)), Ok(false));
    // The file ends at 100.
    assert_eq!(come(&mut asking, data(1, b"567890", true)), Ok(true));
    assert_eq!(asking.open(), 0);
    for (bytes, is_last) in [(&b"123"[..], true), (b"12345678901", true), (b"", false)] {
        let mut asking = Asking::default();
        asking.ask(read(90, 50)).unwrap();
        let came = come(&mut asking, data(1, bytes, is_last));
        assert!(
            matches!(came, Err(RemoteViolation::Length { .. })),
            "{bytes:?}: {came:?}"
        );
    }
}

#[test]
fn answers_come_in_the_order_of_the_requests() {
    let mut asking = Asking::default();
    let nothing = come(&mut asking, data(1, b"", true));
    let wanted = None;
    assert_eq!(
        nothing,
        Err(RemoteViolation::AnswerNumber { wanted, came: 1 })
    );
    asking.ask(read(0, 1)).unwrap();
    asking.ask(read(1, 1)).unwrap();
    let early = come(&mut asking, data(2, b"x", true));
    assert!(matches!(early, Err(RemoteViolation::AnswerNumber { .. })));
    assert_eq!(come(&mut asking, data(1, b"x", true)), Ok(true));
    assert_eq!(come(&mut asking, data(2, b"x", true)), Ok(true));
}

#[test]
fn bytes_with_a_wrong_hash_are_not_taken() {
    let mut asking = Asking::default();
    asking.ask(read(90, 5)).unwrap();
    let mut spoilt = data(1, b"12345", true);
    spoilt.data[2] ^= 1;
    let came = come(&mut asking, spoilt);
    assert!(
        matches!(came, Err(RemoteViolation::Hash { offset: 90, .. })),
        "{came:?}"
    );
}

fn store(length: u32) -> Ask {
    Ask::Store(NewFile {
        path: name("f"),
        length,
        digest: [7; 32],
        attributes: None,
        replaces: true,
    })
}

#[test]
fn a_file_that_is_stored_is_small_and_answered_once() {
    for (length, is_legal) in [(0, true), (STORE_MAX, true), (STORE_MAX + 1, false)] {
        let ask = store(length);
        let taken = Answering::default().on_request(&Request { id: 1, ask });
        let expected = if is_legal {
            Ok(())
        } else {
            Err(RemoteViolation::TooLong(length))
        };
        assert_eq!(taken, expected);
    }
    let answer = |told| Answer {
        id: 1,
        told,
        data: Vec::new(),
    };
    let mut asking = Asking::default();
    asking.ask(store(5)).unwrap();
    assert_eq!(
        come(&mut asking, answer(Told::Working { count: 3 })),
        Ok(false)
    );
    assert_eq!(come(&mut asking, answer(Told::Done)), Ok(true));
    asking.ask(store(5)).unwrap();
    let other = come(&mut asking, data(2, b"", true));
    assert_eq!(other, Err(RemoteViolation::Kind("f".to_owned())));
}

/// What is new under a name may have been put there by another; what replaces it may be put again.
#[test]
fn only_a_file_that_replaces_is_stored_again() {
    let Ask::Store(file) = store(5) else {
        unreachable!()
    };
    assert!(store(5).is_idempotent());
    let replaces = false;
    assert!(!Ask::Store(NewFile { replaces, ..file }).is_idempotent());
}

proptest! {
    #[test]
    fn any_bytes_are_an_answer_or_an_error(body: Vec<u8>) {
        if let Ok(answer) = decode_answer(body) {
            let head = head_of(answer.id, &answer.told, answer.data.len());
            prop_assert!(head.is_ok());
            let mut asking = Asking::default();
            asking.ask(read(0, 10)).unwrap();
            let _ = asking.on_answer(answer);
        }
    }

    #[test]
    fn any_bytes_are_requests_or_an_error(bytes: Vec<u8>) {
        let mut frames = RequestFrames::default();
        let mut rest = bytes.as_slice();
        while let Ok(Some(request)) = frames.next(&mut rest) {
            let _ = Answering::default().on_request(&request);
        }
    }
}
