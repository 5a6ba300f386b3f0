//! Servers that know the token and answer what they like.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use copy_net::{
    AcceptLimits, AcceptedRemote, AcceptedSession, Channel, CopyHandler, Listener, RemoteHandler,
};
use copy_protocol::remote::{
    Failure, FailureKind, FileIdentity, FileInfo, FileKind, Listed, Request, RequestFrames, Told,
    Welcome, encode_answer, head_of,
};
use copy_protocol::{Key, KeyName, Name, Rights, Token};
use errors::Hint;
use remote_files::{RemoteError, RemoteFiles, RemoteOptions};
use units::Span;

use super::common::{GO_ON, name, only_new, open, part, read, store, token, whole};

/// What it answers to a request, in bytes; nothing more comes after `None`.
type Reply = dyn Fn(&Request, u32) -> Option<Vec<u8>> + Send + Sync;

struct Wicked {
    token: Token,
    reply: Box<Reply>,
    sessions: AtomicUsize,
}

impl CopyHandler for Wicked {
    fn find(&self, _name: &KeyName) -> Option<(Key, Rights)> {
        Some((self.token.secret.key(), Rights::ALL))
    }

    fn serve(&self, _accepted: AcceptedSession) {}

    fn remote(&self) -> Option<&dyn RemoteHandler> {
        Some(self)
    }
}

impl RemoteHandler for Wicked {
    fn serve_remote(&self, accepted: AcceptedRemote) {
        self.sessions.fetch_add(1, Ordering::Relaxed);
        let mut channel = accepted.channel;
        let welcome = Told::Welcome(Welcome {
            session: accepted.streams.session().unwrap(),
            streams_max: 1,
            removes: true,
        });
        let _ = channel.write_all(&encode_answer(0, &welcome).unwrap());
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    if let Some(arrived) = accepted.streams.next(Duration::from_millis(50)) {
                        self.converse(arrived.channel);
                    }
                }
            });
            self.converse(channel);
            is_over.store(true, Ordering::Relaxed);
        });
    }
}

impl Wicked {
    fn converse(&self, mut channel: Channel) {
        let mut frames = RequestFrames::default();
        let mut buffer = [0; 4096];
        let mut count = 0;
        while let Ok(got @ 1..) = channel.read(&mut buffer) {
            let mut rest = &buffer[..got];
            while let Ok(Some(request)) = frames.next(&mut rest) {
                count += 1;
                let Some(bytes) = (self.reply)(&request, count) else {
                    return;
                };
                if channel.write_all(&bytes).is_err() {
                    return;
                }
            }
        }
    }
}

struct Server {
    port: u16,
    wicked: Arc<Wicked>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(reply: impl Fn(&Request, u32) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        let wicked = Arc::new(Wicked {
            token: token("test"),
            reply: Box::new(reply),
            sessions: AtomicUsize::new(0),
        });
        let listener = Listener::bind(None).unwrap();
        let port = listener.port();
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        let handler: Arc<dyn CopyHandler> = wicked.clone();
        let thread = thread::spawn(move || {
            let stopped = || is_stopped.load(Ordering::Relaxed);
            listener.run(AcceptLimits::default(), handler, &stopped);
        });
        Server {
            port,
            wicked,
            stop,
            thread: Some(thread),
        }
    }

    fn files(&self) -> RemoteFiles {
        let options = RemoteOptions {
            answer_timeout: Span::from_millis(500),
            patience: Span::from_secs(2),
            ..RemoteOptions::default()
        };
        open(self.port, &self.wicked.token, options).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().unwrap();
        if !thread::panicking() {
            thread.join().unwrap();
        }
    }
}

const IDENTITY: FileIdentity = FileIdentity {
    size: 10,
    modified_nanoseconds: 1,
    version: 2,
};

fn data(id: u32, identity: FileIdentity, bytes: &[u8], is_last: bool) -> Vec<u8> {
    let hash = *blake3::hash(bytes).as_bytes();
    let told = Told::Data {
        identity,
        mode: 0o644,
        hash,
        is_last,
    };
    [head_of(id, &told, bytes.len()).unwrap(), bytes.to_vec()].concat()
}

fn told(id: u32, told: &Told) -> Vec<u8> {
    encode_answer(id, told).unwrap()
}

fn entry(path: &str) -> Listed {
    let info = FileInfo {
        kind: FileKind::File,
        identity: IDENTITY,
        mode: 0o644,
        link: None,
    };
    Listed {
        name: Name::new(path.into()).unwrap(),
        info,
    }
}

/// What is read of a file of ten bytes from such a server.
fn reading(reply: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) -> Result<Vec<u8>, RemoteError> {
    let server = Server::start(move |request, _| Some(reply(request.id)));
    let got = read(&server.files(), part("f", 0, Some(8)));
    got.map(|got| got.bytes)
}

#[test]
fn right_answers_are_taken() {
    assert_eq!(
        reading(|id| data(id, IDENTITY, b"12345678", true)).unwrap(),
        b"12345678"
    );
    let twice = |id| {
        [
            data(id, IDENTITY, b"123", false),
            data(id, IDENTITY, b"45678", true),
        ]
        .concat()
    };
    assert_eq!(reading(twice).unwrap(), b"12345678");
}

#[test]
fn wrong_bytes_are_never_given_to_the_caller() {
    let longer = FileIdentity {
        size: 11,
        ..IDENTITY
    };
    let mut spoilt = data(1, IDENTITY, b"12345678", true);
    *spoilt.last_mut().unwrap() ^= 1;
    let cases: [(&str, Vec<u8>); 12] = [
        ("too short", data(1, IDENTITY, b"1234567", true)),
        ("too long", data(1, IDENTITY, b"123456789", true)),
        ("nothing", data(1, IDENTITY, b"", true)),
        ("no progress", data(1, IDENTITY, b"", false)),
        ("not the last", data(1, IDENTITY, b"12345678", false)),
        ("spoilt", spoilt),
        ("another number", data(2, IDENTITY, b"12345678", true)),
        ("number 0", data(0, IDENTITY, b"12345678", true)),
        (
            "two versions",
            [
                data(1, IDENTITY, b"1234", false),
                data(1, longer, b"5678", true),
            ]
            .concat(),
        ),
        ("another answer", told(1, &Told::Done)),
        ("entries", told(1, &Told::Listed(vec![entry("f")]))),
        ("noise", vec![0, 0, 0, 5, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
    ];
    for (what, bytes) in cases {
        let result = reading(move |_| bytes.clone());
        let error = result.expect_err(what);
        assert_eq!(
            error.kind(),
            Some(FailureKind::Protocol),
            "{what}: {error:?}"
        );
    }
}

#[test]
fn announcements_beyond_all_bounds_are_refused() {
    let error = reading(|_| vec![0xFF; 8]).unwrap_err();
    assert!(error.to_string().contains("4294967295 bytes"), "{error}");
    let error = reading(|_| vec![0; 8]).unwrap_err();
    assert_eq!(error.kind(), Some(FailureKind::Protocol), "{error:?}");
}

#[test]
fn silence_ends_with_an_error_in_bounded_time() {
    let server = Server::start(|_, _| Some(Vec::new()));
    let files = server.files();
    let began = Instant::now();
    let error = read(&files, whole("f")).unwrap_err();
    assert!(matches!(error, RemoteError::Lost { .. }), "{error:?}");
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    // It was tried again on a new connection meanwhile.
    assert!(server.wicked.sessions.load(Ordering::Relaxed) >= 2);
}

#[test]
fn a_server_that_closes_each_time_is_given_up() {
    let server = Server::start(|_, _| None);
    let error = server.files().info(&name("f"), GO_ON).unwrap_err();
    assert!(matches!(error, RemoteError::Lost { .. }), "{error:?}");
}

#[test]
fn what_cannot_be_asked_twice_is_not() {
    let server = Server::start(|request, _| match request.ask {
        copy_protocol::remote::Ask::Info { .. } => {
            Some(told(request.id, &Told::Info(entry("f").info)))
        }
        _ => None,
    });
    let files = server.files();
    let renamed = files.rename(&name("a"), &name("b"), true, GO_ON);
    assert!(
        matches!(renamed, Err(RemoteError::Unsure { .. })),
        "{renamed:?}"
    );
    let removed = files.remove(&name("a"), copy_protocol::remote::Removing::Tree, GO_ON);
    assert!(
        matches!(removed, Err(RemoteError::Unsure { .. })),
        "{removed:?}"
    );
    let stored = files.store(only_new("a", b"x"), GO_ON);
    assert!(
        matches!(stored, Err(RemoteError::Unsure { .. })),
        "{stored:?}"
    );
    // Until the patience is over.
    let stored = store(&files, "a", b"x");
    assert!(
        matches!(stored, Err(RemoteError::Lost { .. })),
        "{stored:?}"
    );
}

#[test]
fn only_done_means_that_a_file_is_stored() {
    for wrong in [
        Told::Info(entry("f").info),
        Told::ListEnd { count: 0 },
        Told::Listed(Vec::new()),
    ] {
        let server = Server::start(move |request, _| Some(told(request.id, &wrong)));
        let stored = store(&server.files(), "f", b"x");
        let error = stored.unwrap_err();
        assert_eq!(error.kind(), Some(FailureKind::Protocol), "{error:?}");
    }
    let working = |request: &Request, _| {
        let answers = [
            Told::Working { count: 1 },
            Told::Working { count: 1 },
            Told::Done,
        ];
        Some(
            answers
                .iter()
                .flat_map(|one| told(request.id, one))
                .collect(),
        )
    };
    store(&Server::start(working).files(), "f", b"x").unwrap();
}

#[test]
fn entries_that_cannot_be_there_end_a_listing() {
    for (what, is_recursive, wrong) in [
        ("deeper", false, entry("a/b")),
        ("itself", false, entry("")),
        ("itself", true, entry("")),
    ] {
        let server = Server::start(move |request, _| {
            Some(told(request.id, &Told::Listed(vec![wrong.clone()])))
        });
        let listed = server.list(is_recursive);
        assert_eq!(
            listed.unwrap_err().kind(),
            Some(FailureKind::Protocol),
            "{what}"
        );
    }
    let server = Server::start(|request, _| {
        let listed = told(request.id, &Told::Listed(vec![entry("f")]));
        let end = told(request.id, &Told::ListEnd { count: 2 });
        Some([listed, end].concat())
    });
    assert_eq!(
        server.list(false).unwrap_err().kind(),
        Some(FailureKind::Protocol)
    );
}

impl Server {
    fn list(&self, is_recursive: bool) -> Result<(), RemoteError> {
        self.files()
            .list(&name(""), is_recursive, &mut |_| Ok(()), GO_ON)
    }
}

#[test]
fn words_of_a_server_cannot_steer_the_terminal() {
    let failure = Failure::new(FailureKind::NotFound, "\x1b[2J\u{202E}gone").with_hint("\n\r\x07");
    let server =
        Server::start(move |request, _| Some(told(request.id, &Told::Failed(failure.clone()))));
    let error = server.files().info(&name("f"), GO_ON).unwrap_err();
    assert_eq!(error.to_string(), "\u{FFFD}[2J\u{FFFD}gone");
    assert_eq!(error.hint().as_deref(), Some("\u{FFFD}\u{FFFD}\u{FFFD}"));
}
