//! A far end in this process, and what tests compare with.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use copy_net::{AcceptLimits, CopyHandler, Listener, new_secret};
use copy_protocol::{CopyBounds, Name, Rights, Token, Tokens, remote::FailureKind};
use files::Root;
use remote_files::{ReadBytes, ReadRange, RemoteError, RemoteFiles, RemoteOptions, SmallFile};
use transfer::far::{FarEnd, FarEvent, Keys};
use units::Span;

/// Never stops.
pub const GO_ON: &dyn Fn() -> bool = &|| false;

/// A far end that serves one folder until it is dropped.
pub struct Server {
    pub port: u16,
    pub token: Token,
    pub events: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

pub fn token(name: &str) -> Token {
    Token {
        name: name.to_owned().try_into().unwrap(),
        secret: new_secret().unwrap(),
    }
}

/// A far end in a process of its own, which can be killed, and its port.
pub fn start_server_process(folder: &Path, token: &Token) -> (Child, u16) {
    let _ = fs::remove_file(folder.join("port"));
    let process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lost::server_process"])
        .env("TRUNKLINE_TEST_SERVES", folder)
        .env("TRUNKLINE_TEST_TOKEN", token.text())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let port = loop {
        let port = fs::read_to_string(folder.join("port"));
        if let Some(port) = port.ok().and_then(|text| text.parse().ok()) {
            break port;
        }
        thread::sleep(Duration::from_millis(10));
    };
    (process, port)
}

impl Server {
    pub fn start(root: &Path) -> Self {
        let token = token("test");
        let root = Root::beneath(root).unwrap();
        Server::with(root, Keys::One(token.clone()), token, None)
    }

    pub fn with_rights(root: Root, rights: Rights) -> Self {
        let token = token("test");
        let tokens = Tokens::parse(&Tokens::line(&token, rights)).unwrap();
        let keys = Keys::Tokens(Arc::new(std::sync::RwLock::new(tokens)));
        Server::with(root, keys, token, None)
    }

    pub fn with(root: Root, keys: Keys, token: Token, port: Option<u16>) -> Self {
        Server::bounded(root, keys, token, port, CopyBounds::default())
    }

    pub fn bounded(
        root: Root,
        keys: Keys,
        token: Token,
        port: Option<u16>,
        bounds: CopyBounds,
    ) -> Self {
        let listener = Listener::bind(port.map(|port| port..=port)).unwrap();
        let port = listener.port();
        let stop = Arc::new(AtomicBool::new(false));
        let events: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&events);
        let log = move |event: &FarEvent| told.lock().unwrap().push(format!("{event:?}"));
        let far = FarEnd::new(keys, root, Arc::clone(&stop), Box::new(log));
        let far = far.telling_files().bounded_by(bounds);
        let is_stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let handler: Arc<dyn CopyHandler> = Arc::new(far);
            let stopped = || is_stopped.load(Ordering::Relaxed);
            listener.run(AcceptLimits::default(), handler, &stopped);
        });
        Server {
            port,
            token,
            events,
            stop,
            thread: Some(thread),
        }
    }

    pub fn files(&self) -> RemoteFiles {
        self.files_with(options())
    }

    pub fn files_with(&self, options: RemoteOptions) -> RemoteFiles {
        open(self.port, &self.token, options).unwrap()
    }
}

pub fn open(port: u16, token: &Token, options: RemoteOptions) -> Result<RemoteFiles, RemoteError> {
    let address = units::Address::new(testkit::loopback().to_string(), port);
    RemoteFiles::open(address, token.clone(), options, GO_ON)
}

pub fn options() -> RemoteOptions {
    RemoteOptions {
        answer_timeout: Span::from_secs(10),
        patience: Span::from_secs(20),
        ..RemoteOptions::default()
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

pub fn name(text: &str) -> Name {
    Name::new(text.into()).unwrap()
}

pub fn whole(path: &str) -> ReadRange {
    part(path, 0, None)
}

pub fn part(path: &str, start: u64, end: Option<u64>) -> ReadRange {
    ReadRange {
        path: name(path),
        start,
        end,
        expected: None,
    }
}

pub fn read(files: &RemoteFiles, range: ReadRange) -> Result<ReadBytes, RemoteError> {
    files.read(range, GO_ON)
}

/// All names below a folder, sorted.
pub fn names(files: &RemoteFiles, folder: &str, is_recursive: bool) -> Vec<String> {
    let mut names = Vec::new();
    let mut each = |batch: Vec<copy_protocol::remote::Listed>| {
        names.extend(batch.iter().map(|entry| entry.name.to_string()));
        Ok(())
    };
    files
        .list(&name(folder), is_recursive, &mut each, GO_ON)
        .unwrap();
    names.sort();
    names
}

/// Stores a file as a program does that says nothing of it.
pub fn store(files: &RemoteFiles, path: &str, content: &[u8]) -> Result<(), RemoteError> {
    files.store(small_file(path, content), GO_ON)
}

/// A file that replaces what has its name.
pub fn small_file(path: &str, content: &[u8]) -> SmallFile {
    SmallFile {
        path: name(path),
        content: content.into(),
        attributes: None,
        replaces: true,
    }
}

/// The same, and it replaces nothing.
pub fn only_new(path: &str, content: &[u8]) -> SmallFile {
    SmallFile {
        replaces: false,
        ..small_file(path, content)
    }
}

/// All that is in a folder, temporary files too.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub fn kind<T: std::fmt::Debug>(result: Result<T, RemoteError>) -> FailureKind {
    match result {
        Err(error) => match error.kind() {
            Some(kind) => kind,
            None => panic!("{error:?} has no kind"),
        },
        Ok(value) => panic!("{value:?} came where a failure was due"),
    }
}

/// Bytes that do not repeat.
pub fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed | 1);
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend_from_slice(&random.next().to_ne_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Numbers from a seed.
pub struct Random(pub u64);

/// Another one each time, which a failure shows.
pub fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = now.as_nanos() as u64 | 1;
    println!("seed {seed}");
    seed
}

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}
