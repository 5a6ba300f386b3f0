use std::fs;
use std::sync::mpsc::sync_channel;

use copy_protocol::{Attributes, ProblemKind, Selection};
use units::{Bytes, Rate, Span};

use super::*;
use files::Root;
use files::source::SourceSpec;

impl PieceSink for Vec<u8> {
    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        self.extend_from_slice(&parts.concat());
        Ok(())
    }
}

fn source(path: &std::path::Path) -> Arc<Source> {
    let attributes = Attributes {
        permissions: false,
        times: false,
        links: true,
        kept: copy_protocol::Kept::NOTHING,
    };
    let spec = SourceSpec {
        paths: vec![path.as_os_str().as_encoded_bytes().to_vec()],
        wildcards: false,
        recursive: false,
        attributes,
        selection: Selection::default(),
    };
    Source::new(&Root::own(), spec).unwrap()
}

/// The lengths of what is written at a time.
struct Lengths(Vec<usize>);

impl PieceSink for Lengths {
    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        self.0.push(parts.iter().map(|part| part.len()).sum());
        Ok(())
    }
}

/// Gathered until its buffer was full, a stream wrote what its link carries in a second at once.
#[test]
fn a_stream_under_a_limit_writes_no_more_at_once_than_the_limit_lets_out() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("f");
    let mut noise = [0; 60 << 10];
    blake3::Hasher::new().finalize_xof().fill(&mut noise);
    fs::write(&path, noise).unwrap();
    let source = source(&path);
    assert_eq!(source.walk().count(), 1);
    let rate: Rate = "1Mbit/s".parse().unwrap();
    // A portion, what a bucket saves, and as much as this thread may be late.
    let most = Bytes::from_kib(2) + rate.bytes_in(Span::from_millis(240));
    for is_packed in [false, true] {
        let queue = Arc::new(SendQueue::new(Some(rate), false));
        let (report, _events) = sync_channel(8);
        let (piece_size, sink) = (PieceSize::default(), Lengths(Vec::new()));
        let source = Arc::clone(&source);
        let mut stream = SendStream::new(0, sink, queue, source, report, piece_size, is_packed);
        let whole = Range {
            file: 0,
            start: 0,
            length: 60 << 10,
        };
        stream.send_as(whole, is_packed).unwrap();
        stream.flush().unwrap();
        let lengths = stream.channel.0;
        assert!(lengths.iter().sum::<usize>() > 60 << 10, "{lengths:?}");
        let longest = lengths.iter().max().copied().unwrap_or(0);
        assert!(longest as u64 <= most.get(), "{lengths:?}");
    }
}

#[test]
fn a_piece_that_is_sent_again_is_one_of_the_version_that_was_told() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("f");
    fs::write(&path, [1; 32 << 10]).unwrap();
    let source = source(&path);
    assert_eq!(source.walk().count(), 1);
    let queue = Arc::new(SendQueue::new(None, false));
    let (report, events) = sync_channel(8);
    let piece_size = PieceSize::default();
    let of = |start| Range {
        file: 0,
        start,
        length: 16 << 10,
    };
    let sent = |start: u64, is_packed| {
        let (queue, source) = (Arc::clone(&queue), Arc::clone(&source));
        let (report, piece_size) = (report.clone(), piece_size.clone());
        let mut stream = SendStream::new(0, Vec::new(), queue, source, report, piece_size, true);
        stream.send_as(of(start), is_packed).unwrap();
        stream.flush().unwrap();
        stream.channel.ends_with(&[0; HASH_LENGTH])
    };
    for is_packed in [false, true] {
        assert!(!sent(0, is_packed) && !sent(16 << 10, is_packed));
    }
    // Its end was told, and its stream broke. The first piece is read again before the file
    // changes, the second one after.
    assert!(source.finished(0).is_ok() && !sent(0, false));
    fs::remove_file(&path).unwrap();
    fs::write(&path, [2; 32 << 10]).unwrap();
    for is_packed in [false, true] {
        assert!(sent(16 << 10, is_packed), "no seal that a receiver takes");
        let told = events.try_iter().last();
        let Some(Event::Failed(problem)) = told else {
            panic!("{told:?}");
        };
        assert_eq!(problem.kind, ProblemKind::SourceChanged);
    }
}
