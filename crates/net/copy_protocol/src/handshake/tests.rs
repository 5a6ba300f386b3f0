//! Both ends, honest ones and others.

use super::*;
use crate::{COPYING_VERSION, Frames, HELLO_MAX, Secret};

const EXPORTER: Exporter = [3; 32];

fn name() -> KeyName {
    KeyName::new("ana").unwrap()
}

fn key(fill: u8) -> Key {
    Secret::new([fill; 32]).key()
}

/// What travels, without its length.
fn body(frame: &[u8]) -> Vec<u8> {
    let mut input = frame;
    Frames::hello().next_frame(&mut input).unwrap().unwrap()
}

fn near(fill: u8) -> (NearHandshake, Vec<u8>) {
    let (near, frame) = NearHandshake::new(name(), key(fill), EXPORTER, "trunkline 0.1.0");
    (near, body(&frame))
}

fn far(hello: &[u8]) -> Result<(Admitted, Vec<u8>), (HandshakeError, Vec<u8>)> {
    let find = |asked: &KeyName| (*asked == name()).then(|| (key(1), Rights::ALL));
    answer_hello(hello, &EXPORTER, "trunkline 0.1.1", find)
}

#[test]
fn two_ends_that_share_a_secret_share_a_session() {
    let (near, hello) = near(1);
    let (at_far, answer) = far(&hello).unwrap();
    let at_near = near.on_answer(&body(&answer)).unwrap();
    assert_eq!(at_near.software, "trunkline 0.1.1");
    assert_eq!(at_far.software, "trunkline 0.1.0");
    assert_eq!(at_near.rights, Rights::ALL);
    let greeting = at_near.session_key.greet(1, 1, None);
    assert!(at_far.session_key.accepts(&greeting, None));
}

#[test]
fn a_wrong_secret_and_an_unknown_name_are_answered_alike() {
    let (near, hello) = near(2);
    let (error, answer) = far(&hello).unwrap_err();
    assert_eq!(error, HandshakeError::NotAdmitted(name()));
    let no_owner = |_: &KeyName| None;
    let (_, unknown) = answer_hello(&hello, &EXPORTER, "x", no_owner).unwrap_err();
    assert_eq!(answer, unknown);
    let refused = near.on_answer(&body(&answer)).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("the far end refused: `ana`")
    );
    assert!(refused.hint().unwrap().contains("--new-token"));
}

#[test]
fn a_hello_passed_on_by_an_attacker_in_the_middle_proves_nothing() {
    let (_, hello) = near(1);
    let find = |_: &KeyName| Some((key(1), Rights::ALL));
    let other_connection = [4; 32];
    let refused = answer_hello(&hello, &other_connection, "x", find).unwrap_err();
    assert_eq!(refused.0, HandshakeError::NotAdmitted(name()));
}

#[test]
fn a_far_end_without_the_secret_is_found_out() {
    // It accepts any name, and knows another secret.
    let (near, _) = near(1);
    let (_, hello) = self::near(5);
    let (_, answer) =
        answer_hello(&hello, &EXPORTER, "x", |_| Some((key(5), Rights::ALL))).unwrap();
    let error = near.on_answer(&body(&answer)).unwrap_err();
    assert_eq!(error, HandshakeError::NotTheFarEnd(name()));
}

#[test]
fn a_near_proof_sent_back_is_no_far_proof() {
    let (near, hello) = near(1);
    let near_hello: NearHello = decode_as(&hello[PREFIX..]).unwrap();
    let reflected = FarHello {
        software: String::new(),
        rights: Rights::ALL,
        proof: near_hello.proof,
    };
    let error = near.on_hello(reflected).unwrap_err();
    assert_eq!(error, HandshakeError::NotTheFarEnd(name()));
}

#[test]
fn ends_of_other_versions_tell_each_other_both_numbers() {
    let (near, mut hello) = near(1);
    hello[4] = 7;
    hello.truncate(PREFIX + 1); // whatever their hello holds
    let (error, answer) = far(&hello).unwrap_err();
    assert_eq!(
        error,
        HandshakeError::Version {
            ours: COPYING_VERSION,
            theirs: 7
        }
    );
    let read: Refusal = decode_as(&body(&answer)[PREFIX..]).unwrap();
    assert!(read.what.contains("speaks version 7"), "{}", read.what);
    let mut later = body(&answer);
    later[4] = 7;
    let error = near.on_answer(&later).unwrap_err();
    assert_eq!(
        error,
        HandshakeError::Version {
            ours: COPYING_VERSION,
            theirs: 7
        }
    );
    assert!(error.hint().unwrap().contains("at this end"));
}

/// The two ends of a connection in which the near end says `version`: what each finds.
fn neighbours(
    version: u16,
    spoken: Versions,
    fill: u8,
) -> (Result<u16, HandshakeError>, Result<u16, HandshakeError>) {
    let key = self::key(fill);
    let (near, hello) =
        NearHandshake::with_purpose(version, Purpose::Copy, name(), key, EXPORTER, "x");
    let find = |_: &KeyName| Some((self::key(1), Rights::ALL));
    let answered = answer_in(spoken, &body(&hello), &EXPORTER, "x", find);
    let (far, answer) = match answered {
        Ok((admitted, answer)) => (Ok(admitted.version), answer),
        Err((error, answer)) => (Err(error), answer),
    };
    let near = near.on_answer(&body(&answer));
    (near.map(|admitted| admitted.version), far)
}

#[test]
fn a_far_end_speaks_the_version_of_a_neighbour_and_refuses_in_it() {
    let (oldest, newest) = (5, 6);
    let spoken = Versions { oldest, newest };
    for version in [5, 6] {
        assert_eq!(neighbours(version, spoken, 1), (Ok(version), Ok(version)));
        let (near, far) = neighbours(version, spoken, 2);
        assert!(matches!(near, Err(HandshakeError::Refused(_))), "{near:?}");
        assert_eq!(far, Err(HandshakeError::NotAdmitted(name())));
    }
    // One that is too new or too old hears the newest.
    for version in [4, 7] {
        let (near, far) = neighbours(version, spoken, 1);
        let wrong = |ours, theirs| Err(HandshakeError::Version { ours, theirs });
        assert_eq!((near, far), (wrong(version, 6), wrong(6, version)));
    }
}

#[test]
fn other_programs_are_strangers() {
    for bytes in [
        &b""[..],
        b"TL",
        b"SSH-2.0-OpenSSH",
        b"TLx\0\x05",
        b"TLF\0\x05",
    ] {
        let error = far(bytes).unwrap_err().0;
        assert_eq!(error, HandshakeError::Stranger, "{bytes:?}");
    }
    assert!(matches!(
        far(b"TLN\0\x05abc").unwrap_err().0,
        HandshakeError::Codec(_)
    ));
}

#[test]
fn every_bit_of_a_hello_and_of_an_answer_counts() {
    let (_, hello) = near(1);
    let software = PREFIX
        ..PREFIX
            + 1
            + "trunkline \
        0.1.0"
                .len(); // told to people, nothing hangs on it
    for bit in (0..hello.len() * 8).filter(|bit| !software.contains(&(bit / 8))) {
        let mut bytes = hello.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(far(&bytes).is_err(), "hello, bit {bit}");
    }
    let answer = body(&far(&hello).unwrap().1);
    for bit in (0..answer.len() * 8).filter(|bit| !software.contains(&(bit / 8))) {
        let mut bytes = answer.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(near(1).0.on_answer(&bytes).is_err(), "answer, bit {bit}");
    }
}

#[test]
fn what_a_peer_says_to_people_is_short_and_printable() {
    let long = "\x1b[31m\u{1F6A2}\u{1F6A2}\u{1F6A2}".repeat(500);
    let (_, frame) = NearHandshake::new(name(), key(1), EXPORTER, &long);
    assert!(frame.len() < HELLO_MAX as usize);
    let answer = refusal(
        SPOKEN.newest,
        &Refusal {
            what: long.clone(),
            hint: Some(long),
        },
    );
    assert!(answer.len() <= HELLO_MAX as usize + 4, "{}", answer.len());
    let error = near(1).0.on_answer(&body(&answer)).unwrap_err();
    assert!(!error.to_string().contains('\x1b'));
    let full = no_place(
        SPOKEN.newest,
        &NoPlace {
            what: "\x1b[31m".repeat(500),
            ahead: 7,
            seconds: Some(90),
        },
    );
    assert!(full.len() <= HELLO_MAX as usize + 4, "{}", full.len());
    match near(1).0.on_answer(&body(&full)).unwrap_err() {
        HandshakeError::NoPlace(told) => {
            assert_eq!((told.ahead, told.seconds), (7, Some(90)));
            assert!(!told.what.contains('\x1b'), "{}", told.what);
        }
        other => panic!("{other:?}"),
    }
}

fn near_for_files(fill: u8) -> (NearHandshake, Vec<u8>) {
    let purpose = Purpose::Remote;
    let version = SPOKEN.newest;
    let (near, frame) =
        NearHandshake::with_purpose(version, purpose, name(), key(fill), EXPORTER, "x");
    (near, body(&frame))
}

#[test]
fn both_ends_know_what_a_connection_is_for() {
    let (near_end, hello) = near_for_files(1);
    let (at_far, answer) = far(&hello).unwrap();
    assert_eq!(at_far.purpose, Purpose::Remote);
    let at_near = near_end.on_answer(&body(&answer)).unwrap();
    assert_eq!(at_near.purpose, Purpose::Remote);
    // An answer to one purpose proves nothing for the other.
    let error = near(1).0.on_answer(&body(&answer)).unwrap_err();
    assert_eq!(error, HandshakeError::NotTheFarEnd(name()));
    // Neither does a proof: a copy's hello with the other letter, and the version behind it.
    let mut relabelled = near(1).1;
    relabelled[2] = b'A';
    relabelled.push(REMOTE_VERSION as u8);
    let (error, _) = far(&relabelled).unwrap_err();
    assert_eq!(error, HandshakeError::NotAdmitted(name()));
}

#[test]
fn another_version_of_file_access_is_said_to_both() {
    let (near, mut hello) = near_for_files(1);
    *hello.last_mut().unwrap() = 9;
    let (error, answer) = far(&hello).unwrap_err();
    let (ours, theirs) = (REMOTE_VERSION, 9);
    assert_eq!(error, HandshakeError::RemoteVersion { ours, theirs });
    let refused = near.on_answer(&body(&answer)).unwrap_err().to_string();
    assert!(
        refused.contains("version 9 of file access, the peer version 2"),
        "{refused}"
    );
    hello.push(0);
    assert!(matches!(
        far(&hello).unwrap_err().0,
        HandshakeError::Codec(_)
    ));
}
