//! Writes the seeds of all targets but `path_file`, whose seeds are the named paths: real messages,
//! small, the same each time.
//!
//! `cargo run -p trunkline-fuzz-checks --example seeds` after a message became another.

use std::fs;
use std::io;
use std::path::Path;

use copy_protocol::{
    Activity, CallBack, Coding, CongestionChoice, CopyDirection, CopyOptions, Entry, KeyName, Kind,
    Message, Name, NearHandshake, Opening, PieceHeader, Problem, ProblemKind, Published, Range,
    Rights, SPOKEN, Secret, Sending, StartAnswer, StartRequest, Token, Tokens, Want, answer_hello,
    encode,
};
use files::store::Piece;
use files::store::testing::journal_of;
use measure_protocol::trains::{Announcement, Datagram, DatagramKind, TrainPlan};
use measure_protocol::{
    Answer, EchoToken, Offer, Results, State, StreamResult, StreamTelemetry, Telemetry, TestEnd,
    TestRequest, echo::Echo, encode_frame,
};
use record::synthetic;
use serde_json::Value;
use units::{Bytes, Span, Way};

const TOKEN: EchoToken = EchoToken(0x0123_4567_89AB_CDEF);

fn main() -> io::Result<()> {
    copying()?;
    conversation()?;
    tokens_file()?;
    pieces()?;
    trains()?;
    journal()?;
    start()?;
    iperf3()?;
    echo()?;
    place()?;
    wildcards()?;
    report()?;
    stream()
}

fn seed(target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../seeds")
        .join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

fn key_name() -> KeyName {
    KeyName::new("seed").expect("four letters")
}

fn copying() -> io::Result<()> {
    let (key, exporter) = (Secret::new([2; 32]).key(), [3; 32]);
    let (_, hello) = NearHandshake::new(key_name(), key.clone(), exporter, "trunkline 0.1.0");
    seed("copying", "hello", &hello)?;
    seed("copying", "hello-body", &hello[4..])?;
    let find = |_: &KeyName| Some((key.clone(), Rights::ALL));
    if let Ok((admitted, answer)) = answer_hello(&hello[4..], &exporter, "trunkline 0.1.0", find) {
        seed("copying", "answer", &answer)?;
        seed("copying", "answer-body", &answer[4..])?;
        let greeting = admitted.session_key.greet(7, 1, None);
        seed("copying", "greeting", &greeting.encode())?;
    }
    let header = PieceHeader {
        file: 1,
        offset: 1 << 20,
        length: 1 << 20,
        wire_length: 70_000,
        coding: Coding::Zstd,
    };
    seed("copying", "piece", &header.encode())?;
    seed("copying", "messages", &frames(&all_messages()))
}

fn frames(messages: &[Message]) -> Vec<u8> {
    let frame = |message| encode(message).expect("it is small");
    messages.iter().flat_map(frame).collect()
}

fn opening() -> Message {
    let options = CopyOptions {
        recursive: true,
        verify: true,
        compress: true,
        congestion: Some(CongestionChoice::required("cubic".to_owned())),
        ..CopyOptions::default()
    };
    Message::Open(Box::new(Opening {
        copy: [1; 16],
        into_folder: true,
        rate_max_bits_per_second: Some(1_000_000_000),
        streams: Some(4),
        remembered: Some(8),
        window_bytes: Some(1 << 20),
        ..Opening::new(CopyDirection::Put, vec![b"run7".to_vec()], &options)
    }))
}

fn entry(name: &str, kind: Kind) -> Entry {
    Entry {
        name: Name::new(name.as_bytes().to_vec()).expect("a good name"),
        kind,
        mode: 0o644,
        modified_nanoseconds: 1_700_000_000_000_000_000,
        version: 7,
        is_sparse: false,
        digest: None,
    }
}

fn entries() -> Message {
    Message::Entries(vec![
        entry("run7", Kind::Folder),
        entry("run7/hits", Kind::File(200_000)),
        entry("run7/last", Kind::Link(b"hits".to_vec())),
        entry("run7/small", Kind::File(5)),
    ])
}

fn ends() -> Message {
    Message::EntriesEnd {
        count: 4,
        bytes: 200_005,
        linked: 0,
    }
}

fn wants() -> Message {
    Message::Wants(vec![
        Want::Nothing(0),
        Want::Rest(1, vec![(65_536, 65_536), (131_072, 68_928)]),
        Want::Nothing(2),
        Want::Whole(3),
    ])
}

fn range(file: u32, start: u64, length: u64) -> Range {
    Range {
        file,
        start,
        length,
    }
}

fn failed() -> Problem {
    Problem {
        kind: ProblemKind::Permission,
        file: Some(3),
        what: "cannot read `run7/small`".to_owned(),
        hint: Some("look at its mode".to_owned()),
    }
}

fn all_messages() -> Vec<Message> {
    let published = Published {
        file: 1,
        digest: [5; 32],
    };
    vec![
        opening(),
        Message::Opened {
            session: 7,
            fresh: false,
        },
        entries(),
        ends(),
        wants(),
        Message::Received(vec![range(1, 65_536, 65_536)]),
        Message::Damaged(range(1, 131_072, 68_928)),
        Message::FileEnds(vec![1, 3]),
        Message::Published(vec![published]),
        Message::Failed(failed()),
        Message::LeftOut {
            name: "run7/pipe".to_owned(),
            problem: Problem {
                file: None,
                ..failed()
            },
        },
        Message::Streams(4),
        Message::RateMax(Some(8_000_000)),
        Message::Alive(Activity::default()),
        Message::Sending(
            Sending {
                streams: 4,
                rate: 100_000_000,
                rtt: Some(165_000_000),
                retransmitted_share: Some(0.25),
                binds: None,
                ecn: Some(true),
                mark_echoed_share: Some(0.125),
            },
            None,
        ),
        Message::Complete,
        Message::Cancel,
        Message::Bye,
    ]
}

/// The first byte says whether the copy is open and, from its third bit on, who speaks.
fn conversation() -> io::Result<()> {
    let opened = Message::Opened {
        session: 7,
        fresh: false,
    };
    seed(
        "conversation",
        "opening",
        &[&[2 << 2][..], &frames(&[opening(), opened, entries()])].concat(),
    )?;
    let near = [entries(), ends(), Message::Streams(4), Message::Bye];
    seed("conversation", "near", &[&[1][..], &frames(&near)].concat())?;
    // Near, near, far, far, near, far, far, far.
    let turns = 0b1110_1100_u8;
    let both = [
        entries(),
        ends(),
        wants(),
        Message::Received(vec![range(3, 0, 5)]),
    ];
    seed(
        "conversation",
        "both",
        &[&[turns | 1][..], &frames(&both)].concat(),
    )?;
    seed(
        "conversation",
        "all",
        &[&[1][..], &frames(&all_messages())].concat(),
    )
}

fn tokens_file() -> io::Result<()> {
    let token = Token {
        name: key_name(),
        secret: Secret::new([7; 32]),
    };
    let line = Tokens::line(&token, Rights::ALL);
    seed("tokens_file", "token", token.text().as_bytes())?;
    seed(
        "tokens_file",
        "file",
        format!("# who may copy\n\n{line}\n").as_bytes(),
    )
}

/// Numbers of four bytes; see the check for what they mean.
fn pieces() -> io::Result<()> {
    let words = |all: &[u32]| -> Vec<u8> { all.iter().flat_map(|one| one.to_le_bytes()).collect() };
    // Three MiB: 3 << 20. Pieces of one MiB and of 64 KiB.
    let number = |value: u32, shift: u32| value << 8 | shift;
    let whole = [
        number(3, 20),
        number(0, 0),
        number(0, 0),
        number(1, 20),
        number(1, 20),
        number(1, 20),
        number(2, 20),
        number(1, 20),
    ];
    seed("pieces", "whole", &words(&whole))?;
    let parts = [
        number(3, 20),
        number(2, 0),
        number(1, 16),
        number(1, 16),
        number(1, 20),
        number(1, 20),
        number(5, 16),
        number(1, 16),
        number(4, 0),
        number(1, 20),
    ];
    seed("pieces", "parts", &words(&parts))
}

fn trains() -> io::Result<()> {
    let packet = Datagram {
        kind: DatagramKind::Packet,
        token: TOKEN,
        train: 2,
        packet: 99,
    };
    seed("trains", "packet", &packet.encode())?;
    let plan = TrainPlan {
        way: Way::Reverse,
        packet: Bytes::new(1_500),
        departures: vec![Span::ZERO, Span::from_micros(120)],
    };
    let announcement = Announcement::new(1, &plan);
    let announced = measure_protocol::trains::FromClient::Train(announcement).encode();
    seed("trains", "announcement", &announced)?;
    seed("trains", "announcement-body", &announced[5..])
}

fn journal() -> io::Result<()> {
    let piece = |index: u64| Piece {
        offset: index << 16,
        length: 1 << 16,
        hash: [index as u8; 32],
    };
    let pieces: Vec<Piece> = (0..3).map(piece).collect();
    let journal = journal_of(300_000, 1_700_000_000_000_000_000, 7, &pieces);
    seed("journal", "three-notes", &journal)?;
    seed("journal", "cut", &journal[..journal.len() - 9])?;
    // A plan: no damage, 1 << 22 bytes, then offset and length with their shifts, and a byte of the
    // hash.
    let mut plan = vec![0; 8];
    plan.extend((1_u64 << 22).to_le_bytes());
    plan.push(0);
    plan.extend(5_u64.to_le_bytes());
    plan.extend([9; 16]);
    plan.extend([0, 0, 1, 16, 1, 1, 16, 1, 16, 2]);
    seed("journal", "plan", &plan)?;
    plan[..8].copy_from_slice(&(50_u64 << 8 | 7).to_le_bytes());
    seed("journal", "damaged-plan", &plan)
}

fn start() -> io::Result<()> {
    let request = StartRequest {
        oldest: SPOKEN.oldest,
        secret: Secret::new([9; 32]),
        ports: Some(50_000..=50_100),
        back: Some(CallBack {
            port: 7,
            fingerprint: [3; 32],
        }),
    };
    let answer = StartAnswer {
        version: SPOKEN.newest,
        software: "trunkline 0.1.0".to_owned(),
        port: Some(50_000),
        addresses: ["192.0.2.7", "2001:db8::1"]
            .map(|one| one.parse().expect("an address"))
            .into(),
        fingerprint: Some([255; 32]),
    };
    seed("start", "request", request.line().as_bytes())?;
    seed("start", "answer", answer.line().as_bytes())?;
    seed("start", "newer", br#"{"trunkline_copy":9,"where":{}}"#)
}

fn results() -> Results {
    let mut telemetry = Telemetry::new(["time_us", "bytes", "rtt_us"].map(str::to_owned).into());
    telemetry.streams.push(StreamTelemetry {
        id: 1,
        role: measure_protocol::Role::Sender,
        send_buffer: Some(87_040),
        receive_buffer: Some(131_072),
        rows: vec![vec![Some(100_000), Some(1_250_000), None]; 3],
    });
    Results {
        cpu_util_total: Some(1.5),
        sender_has_retransmits: Some(1),
        congestion_used: Some("cubic".to_owned()),
        streams: vec![StreamResult {
            id: 1,
            bytes: 1_250_000_000,
            retransmits: Some(3),
            end_time: Some(1.0),
            ..StreamResult::default()
        }],
        trunkline: Some(telemetry),
        ..Results::default()
    }
}

/// The first byte is what the other end does, the second how the bytes are split.
fn iperf3() -> io::Result<()> {
    let results = results().to_json();
    seed("iperf3_server", "results", &results)?;
    for (name, choice, offer) in [
        ("plain", 2, None),
        ("ours", 2, Some(Offer::default())),
        ("probing", 1, Some(Offer::probing())),
        ("lasting", 2, Some(Offer::lasting())),
    ] {
        let request = TestRequest {
            offer,
            ..TestRequest::new(2, TestEnd::After(Span::from_secs(1)))
        };
        let params = request.to_params().to_json();
        let mut said = vec![choice, 255];
        said.extend(encode_frame(&params));
        if name == "lasting" {
            said.push(State::Report.byte());
        }
        said.push(State::TestEnd.byte());
        said.extend(encode_frame(&results));
        said.push(State::Done.byte());
        seed("iperf3_server", name, &said)?;
        answered(name, offer, &results)?;
        seed("iperf3_server", "params", &params)?;
    }
    Ok(())
}

/// What a server says to each of these requests.
fn answered(name: &str, offer: Option<Offer>, results: &[u8]) -> io::Result<()> {
    let choice = match name {
        "plain" => 0,
        "ours" => 1,
        "lasting" => 2 | 4,
        _ => 3,
    };
    let mut said = vec![choice, 255, State::ParamExchange.byte()];
    if let Some(offer) = offer {
        let answer = Answer::new(offer, TOKEN, Span::from_millis(100));
        let json = serde_json::to_vec(&answer).expect("numbers and texts");
        said.push(State::Capabilities.byte());
        said.extend(encode_frame(&json));
    }
    said.extend([State::CreateStreams, State::TestStart, State::TestRunning].map(State::byte));
    if name == "lasting" {
        said.push(State::Report.byte());
        said.extend(encode_frame(results));
    }
    said.push(State::ExchangeResults.byte());
    said.extend(encode_frame(results));
    said.push(State::DisplayResults.byte());
    seed("iperf3_client", name, &said)
}

fn echo() -> io::Result<()> {
    let request = Echo::request(TOKEN, 70_000, 1_000_000);
    seed("echo", "request", &request.encode())?;
    seed("echo", "reply", &request.reply().encode())?;
    seed("echo", "padded", &request.encode_padded(48))?;
    // What a router quotes of an ICMP request, and an answer behind an IP header.
    let mut icmp = vec![8, 0, 0x54, 0x4C, 0xCD, 0xEF, 0x11, 0x70];
    icmp.extend(TOKEN.0.to_be_bytes());
    icmp.extend(70_000_u64.to_be_bytes());
    seed("echo", "quoted", &[&[2 | 10 << 2, 255][..], &icmp].concat())?;
    seed(
        "echo",
        "quoted-short",
        &[&[2 | 10 << 2, 255][..], &icmp[..8]].concat(),
    )?;
    icmp[0] = 0;
    let header = [&[0, 0, 0x45][..], &[0; 19]].concat();
    seed("echo", "answer-raw", &[&header[..], &icmp].concat())
}

fn place() -> io::Result<()> {
    for (name, text) in [
        ("here", "./a:b"),
        ("ssh", "me@[2001:db8::1]:~/run7/*.root"),
        ("server", "trunkline://dtn.example.org:6000/a%20b/%ff?#"),
        ("server-v6", "trunkline://[2001:db8::1]:6000/a"),
        ("scheme", "rsync://host/module"),
    ] {
        seed("place", name, text.as_bytes())?;
    }
    Ok(())
}

fn wildcards() -> io::Result<()> {
    for (name, text) in [
        ("names", "\0*.root"),
        ("folders", "\0run7/*/{1,2,\\{1\\}}"),
        ("brackets", "\0[a-b]*\n.h?dden"),
        ("up", "\0*/../*"),
        ("out", "\x04out\nup/OUTSIDE"),
        ("round", "\x04run7/round/round/"),
    ] {
        seed("wildcards", name, text.as_bytes())?;
    }
    Ok(())
}

fn report() -> io::Result<()> {
    let documents = [
        ("copy", synthetic::copy().to_json()),
        ("predict", synthetic::predict().to_json()),
        ("fit", synthetic::fit().to_json()),
        ("simulate", synthetic::simulate(1).to_json()),
        ("responsiveness", synthetic::responsiveness().to_json()),
        ("characteristics", synthetic::characteristics().to_json()),
    ];
    for (name, json) in documents {
        let document = serde_json::from_str(&json).expect("a document of ours");
        seed("report", name, shortened(document).to_string().as_bytes())?;
    }
    Ok(())
}

/// The same with no more than three of each list.
fn shortened(value: Value) -> Value {
    match value {
        Value::Array(list) => list.into_iter().take(3).map(shortened).collect(),
        Value::Object(keys) => {
            let short = |(key, value)| (key, shortened(value));
            Value::Object(keys.into_iter().map(short).collect())
        }
        other => other,
    }
}

/// See the check for what the bytes mean.
fn stream() -> io::Result<()> {
    // A piece each: choice, place, byte of its content.
    seed(
        "stream",
        "in-order",
        &[
            0, 0x12, 0, 1, 0x12, 1, 2, 0x02, 2, 3, 0x22, 3, 4, 0x2A, 0, 5,
        ],
    )?;
    seed(
        "stream",
        "whole-and-packed",
        &[1, 0x12, 4, 7, 0, 0x22, 2, 8, 0x2A, 4, 9, 0],
    )?;
    seed(
        "stream",
        "damaged",
        &[1, 0x02, 0x81, 3, 9, 1, 0x55, 0x02, 1, 3, 0, 0x12, 0, 1],
    )?;
    seed("stream", "raw", &[1, 0x12, 0, 1, 1, 7, 7, 7, 7, 7, 7, 7, 7])
}
