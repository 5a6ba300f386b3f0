use std::fs;
use std::sync::mpsc::sync_channel;

use wire::copy::{Attributes, ProblemKind, Selection};

use super::*;
use crate::Root;
use crate::source::SourceSpec;

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
