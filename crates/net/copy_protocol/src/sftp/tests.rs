use proptest::prelude::*;

use super::request::string;
use super::*;

/// A server's packet: a type, fields, behind its length.
fn packet(code: u8, fields: &[u8]) -> Vec<u8> {
    let length = u32::try_from(fields.len() + 1).unwrap();
    [&length.to_be_bytes()[..], &[code], fields].concat()
}

fn text(bytes: &[u8]) -> Vec<u8> {
    let mut into = Vec::new();
    string(bytes, &mut into);
    into
}

fn stats() -> impl Strategy<Value = Stat> {
    any::<(Option<u64>, Option<u32>, Option<(u32, u32)>)>().prop_map(|(size, mode, times)| Stat {
        size,
        mode,
        times,
    })
}

proptest! {
    #[test]
    fn random_bytes_are_no_reason_to_panic(bytes: Vec<u8>, cut in 0_usize..300) {
        let _ = Reply::decode(&bytes);
        let _ = Server::decode(&bytes);
        for code in [2, 101, 102, 103, 104, 105, 201] {
            let packet = [&[code, 0, 0, 0, 7][..], &bytes].concat();
            if let Ok((number, reply)) = Reply::decode(&packet) {
                prop_assert_eq!(number, 7);
                let _ = (Space::decode(&reply), checked_sha256(&reply));
            }
            let _ = Server::decode(&packet);
        }
        let mut packets = Packets::default();
        packets.push(&bytes[..cut.min(bytes.len())]);
        while let Ok(Some(packet)) = packets.take() {
            prop_assert!(packet.len() >= 5);
        }
    }

    #[test]
    fn what_a_server_says_arrives(
        number: u32,
        stat in stats(),
        name: Vec<u8>,
        data in proptest::collection::vec(any::<u8>(), 0..5000),
        cuts in proptest::collection::vec(1_usize..700, 1..20),
    ) {
        let mut attributes = Vec::new();
        stat.encode(&mut attributes);
        let listed = [&1_u32.to_be_bytes()[..], &text(&name), &text(b"long"), &attributes].concat();
        let number_of = |fields: &[u8]| [&number.to_be_bytes()[..], fields].concat();
        let all = [
            packet(105, &number_of(&attributes)),
            packet(103, &number_of(&text(&data))),
            packet(104, &number_of(&listed)),
        ];
        let bytes = all.concat();
        let (mut packets, mut left, mut heard) = (Packets::default(), &bytes[..], Vec::new());
        for cut in cuts.iter().cycle() {
            let (now, rest) = left.split_at((*cut).min(left.len()));
            packets.push(now);
            while let Some(packet) = packets.take().unwrap() {
                heard.push(Reply::decode(packet).unwrap());
            }
            left = rest;
            if left.is_empty() {
                break;
            }
        }
        let expected = [
            Reply::Stat(stat),
            Reply::Data(data),
            Reply::Names(vec![Listed { name, stat }]),
        ];
        prop_assert_eq!(heard, expected.map(|reply| (number, reply)).to_vec());
    }

    #[test]
    fn each_request_is_one_packet(number: u32, name: Vec<u8>, offset: u64, stat in stats()) {
        let all = [
            Request::Open(&name, Open::Read, stat),
            Request::Read(&name, offset, 9),
            Request::Write(&name, offset, &name),
            Request::MakeFolder(&name, stat),
            Request::RemoveFolder(&name),
            Request::Rename(&name, b"b"),
            Request::PosixRename(&name, b"b"),
            Request::FSync(&name),
            Request::Limits,
            Request::LSetStat(&name, stat),
            Request::ReadFolder(&name),
            Request::CheckFile(&name),
        ];
        let mut bytes = Vec::new();
        all.iter().for_each(|request| request.encode(number, &mut bytes));
        let mut packets = Packets::default();
        packets.push(&bytes);
        for request in &all {
            let mut alone = Vec::new();
            request.encode(number, &mut alone);
            let packet = packets.take().unwrap().unwrap();
            prop_assert_eq!(packet, &alone[4..]);
            prop_assert_eq!(&packet[1..5], &number.to_be_bytes());
        }
        prop_assert_eq!(packets.take(), Ok(None));
    }
}

/// Written by hand from the draft, section 6.3.
#[test]
fn packets_are_those_of_the_draft() {
    let mut bytes = Vec::new();
    let stat = Stat {
        mode: Some(0o644),
        ..Stat::default()
    };
    Request::Open(b"a", Open::Make, stat).encode(1, &mut bytes);
    let expected = [
        0, 0, 0, 22, 3, 0, 0, 0, 1, 0, 0, 0, 1, b'a', 0, 0, 0, 10, 0, 0, 0, 4, 0, 0, 1, 0xa4,
    ];
    assert_eq!(bytes, expected);
    assert_eq!(hello(), [0, 0, 0, 5, 1, 0, 0, 0, 3]);
}

#[test]
fn lengths_and_counts_that_are_made_up_are_refused() {
    for length in [0, 4, SFTP_PACKET_MAX as u32 + 1, u32::MAX] {
        let mut packets = Packets::default();
        packets.push(&length.to_be_bytes());
        assert_eq!(packets.take(), Err(SftpMistake::Length(length)));
    }
    let many = [&[104, 0, 0, 0, 1][..], &u32::MAX.to_be_bytes()].concat();
    assert_eq!(Reply::decode(&many), Err(SftpMistake::Short));
    let handle = [&[102, 0, 0, 0, 1][..], &text(&[7; 257])].concat();
    assert_eq!(Reply::decode(&handle), Err(SftpMistake::Handle(257)));
    assert_eq!(
        Server::decode(&[2, 0, 0, 0, 2]),
        Err(SftpMistake::Version(2))
    );
}

#[test]
fn a_server_says_what_it_can() {
    let says = |name: &[u8], version: &[u8]| [text(name), text(version)].concat();
    let hello = [
        &[2, 0, 0, 0, 3][..],
        &says(b"posix-rename@openssh.com", b"1"),
        &says(b"statvfs@openssh.com", b"2"),
        &says(b"fsync@openssh.com", b"9"),
    ]
    .concat();
    let mut server = Server::decode(&hello).unwrap();
    assert!(server.posix_rename && server.statvfs && !server.fsync && !server.limits);
    let limits = |all: [u64; 4]| Reply::Extended(all.map(u64::to_be_bytes).concat());
    server.set_limits(&limits([262_144, u64::MAX, 1, 0]));
    assert_eq!(
        (server.read_max, server.write_max),
        (SFTP_DATA_MAX, SFTP_DATA_MIN)
    );
    assert_eq!(server.handles_max, 128, "it does not say");
    server.set_limits(&limits([262_144, 1, 1, 19]));
    assert_eq!(server.handles_max, 19);
    let space = Space::decode(&Reply::Extended(
        [4096_u64, 4096, 9, 9, 2, 5, 3, 3, 77, 0, 0]
            .map(u64::to_be_bytes)
            .concat(),
    ));
    let expected = Space {
        free: 8192,
        files: Some(3),
        filesystem: Some(77),
    };
    assert_eq!(space, Some(expected));
}

#[test]
fn digests_are_read_with_and_without_the_name_of_the_extension() {
    let digest = [7; 32];
    let reply = |names: &[&[u8]], digest: &[u8]| {
        let names: Vec<Vec<u8>> = names.iter().map(|name| text(name)).collect();
        checked_sha256(&Reply::Extended([&names.concat(), digest].concat()))
    };
    assert_eq!(reply(&[b"sha256"], &digest), Some(digest));
    assert_eq!(reply(&[b"check-file", b"sha256"], &digest), Some(digest));
    assert_eq!(reply(&[b"md5"], &digest), None);
    assert_eq!(reply(&[b"sha256"], &digest[1..]), None);
    assert_eq!(reply(&[b"check-file"], &digest), None);
    assert_eq!(checked_sha256(&Reply::Data(digest.to_vec())), None);
}
