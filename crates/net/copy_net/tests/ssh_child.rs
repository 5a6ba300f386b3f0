//! A far end that was started through a pipe, as ssh does, and clients that are no ssh.

mod copies;

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use copies::{TIMEOUT, handler};
use copy_net::{
    AcceptedSession, CallbackTarget, Dialer, Handler, Listener, Ssh, SshChildError, SshError,
    SshPipes, new_secret, serve_ssh_child,
};
use copy_protocol::{CallBack, FarProgram, KeyName, SPOKEN, StartAnswer, StartRequest, Token};
use errors::Hint;
use sockets::StreamOptions;
use units::{Address, Span};

const FROM_LOOPBACK: Option<&str> = Some("127.0.0.1 40000 127.0.0.1 22");

struct FarEnd {
    pipe: BufReader<UnixStream>,
    sessions: Receiver<AcceptedSession>,
    opener: Receiver<(Token, Option<CallbackTarget>)>,
    thread: JoinHandle<Result<(), SshChildError>>,
}

/// All of them one socket, as sshd may make it.
fn pipes(far: UnixStream, errors: &UnixStream) -> SshPipes<'_, UnixStream, UnixStream> {
    SshPipes {
        output: far.try_clone().unwrap(),
        input: far,
        errors: errors.as_fd(),
    }
}

/// `timeout`: for a near end that has not said that it leaves.
fn start(request: &str, connection: Option<&'static str>, timeout: Span) -> FarEnd {
    let (near, far) = UnixStream::pair().unwrap();
    let (told, sessions, _) = handler();
    let (sender, opener) = std::sync::mpsc::channel();
    let thread = thread::spawn(move || {
        let errors = far.try_clone().unwrap();
        serve_ssh_child(
            pipes(far, &errors),
            connection,
            Default::default(),
            timeout,
            &|| false,
            |token, back| {
                sender.send((token, back)).unwrap();
                told
            },
        )
    });
    (&near).write_all(request.as_bytes()).unwrap();
    FarEnd {
        pipe: BufReader::new(near),
        sessions,
        opener,
        thread,
    }
}

/// The request of a near end whose token the test's handler knows.
fn request(back: Option<CallBack>) -> StartRequest {
    StartRequest {
        oldest: SPOKEN.oldest,
        secret: copy_protocol::Secret::new([1; 32]),
        ports: None,
        back,
    }
}

fn answer(far: &mut FarEnd) -> StartAnswer {
    let mut line = String::new();
    far.pipe.read_line(&mut line).unwrap();
    StartAnswer::parse(&line).unwrap()
}

#[test]
fn a_far_end_says_where_it_is_and_leaves_when_it_is_told_to() {
    let mut far = start(&request(None).line(), FROM_LOOPBACK, Span::from_secs(600));
    let answer = answer(&mut far);
    assert_eq!(
        answer.addresses,
        ["127.0.0.1".parse::<std::net::IpAddr>().unwrap()]
    );
    let (token, back) = far.opener.recv().unwrap();
    assert_eq!(token.secret.text(), request(None).secret.text());
    assert!(back.is_none());
    let place = Address::new("127.0.0.1", answer.port.unwrap());
    let near = Dialer::default()
        .control(&[place], &copies::token(1))
        .unwrap();
    let accepted = far.sessions.recv_timeout(TIMEOUT).unwrap();
    assert!(!far.thread.is_finished());
    drop((near, accepted));
    far.pipe.get_mut().write_all(b"leave\n").unwrap();
    far.thread.join().unwrap().unwrap();
}

#[test]
fn a_pipe_that_breaks_leaves_the_far_end_waiting_for_a_while() {
    let mut far = start(&request(None).line(), FROM_LOOPBACK, Span::from_millis(700));
    answer(&mut far);
    let broken = Instant::now();
    drop(far.pipe);
    far.thread.join().unwrap().unwrap();
    assert!(broken.elapsed() >= Duration::from_millis(700));
}

#[test]
fn a_far_end_whose_near_end_alone_was_killed_leaves() {
    let mut far = start(&request(None).line(), FROM_LOOPBACK, Span::from_secs(600));
    let place = Address::new("127.0.0.1", answer(&mut far).port.unwrap());
    drop(
        Dialer::default()
            .control(&[place], &copies::token(1))
            .unwrap(),
    );
    drop(far.sessions.recv_timeout(TIMEOUT).unwrap());
    // What ssh does at the end of its standard input; another pipe stays open.
    far.pipe.get_mut().shutdown(Shutdown::Write).unwrap();
    far.thread.join().unwrap().unwrap();
}

#[test]
fn ports_are_those_that_were_allowed() {
    let taken = Listener::bind(None).unwrap();
    let mut request = request(None);
    request.ports = Some(taken.port()..=taken.port());
    let far = start(&request.line(), FROM_LOOPBACK, Span::from_secs(600));
    let error = far.thread.join().unwrap().unwrap_err();
    assert!(matches!(error, SshChildError::Listen(_)), "{error}");
    assert!(
        error.to_string().contains(&taken.port().to_string()),
        "{error}"
    );
}

#[test]
fn a_far_end_connects_where_only_that_gets_through() {
    let listener = Listener::bind(None).unwrap();
    let callbacks = listener.callbacks();
    let back = CallBack {
        port: listener.port(),
        fingerprint: listener.fingerprint().0,
    };
    let mut far = start(
        &request(Some(back)).line(),
        FROM_LOOPBACK,
        Span::from_secs(600),
    );
    assert_eq!(answer(&mut far).port, None);
    let (_, back) = far.opener.recv().unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let is_stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
    let (copies, _, _) = handler();
    thread::scope(|scope| {
        scope.spawn(|| listener.run(Default::default(), Handler::Copies(copies), &is_stopped));
        let near = callbacks
            .control(&Dialer::default(), &copies::token(1), &|| false)
            .unwrap();
        let accepted = far.sessions.recv_timeout(TIMEOUT).unwrap();
        let incoming = callbacks.expect(near.admitted.session_key.clone());
        let streams = back.unwrap().streams(&accepted, Span::from_secs(5));
        let session = accepted.streams.session().unwrap();
        let there = streams.stream(session, 9, &StreamOptions::default(), false);
        assert_eq!(incoming.next(TIMEOUT).unwrap().number, 9);
        drop((there, near, accepted));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    far.pipe.get_mut().write_all(b"leave\n").unwrap();
    far.thread.join().unwrap().unwrap();
}

#[test]
fn a_silent_stranger_does_not_use_up_the_far_ends_time() {
    let listener = Listener::bind(None).unwrap();
    let callbacks = listener.callbacks();
    let at = ([127, 0, 0, 1], listener.port());
    let back = CallBack {
        port: listener.port(),
        fingerprint: listener.fingerprint().0,
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let is_stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
    let (copies, _, _) = handler();
    thread::scope(|scope| {
        scope.spawn(|| listener.run(Default::default(), Handler::Copies(copies), &is_stopped));
        let mut stranger = std::net::TcpStream::connect(std::net::SocketAddr::from(at)).unwrap();
        stranger.write_all(b"TLr1").unwrap();
        // It is first in the row.
        thread::sleep(Duration::from_millis(500));
        let line = request(Some(back)).line();
        let far = start(&line, FROM_LOOPBACK, Span::from_secs(600));
        let near = callbacks.control(&Dialer::default(), &copies::token(1), &|| false);
        let failure = near.as_ref().err().map(ToString::to_string);
        drop((near, stranger));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let mut far = far;
        far.pipe.get_mut().write_all(b"leave\n").unwrap();
        drop(far.sessions);
        far.thread.join().unwrap().unwrap();
        assert_eq!(failure, None);
    });
}

#[test]
fn a_far_end_does_not_begin_on_anything_else() {
    for line in [
        "\n",
        "hello\n",
        "{}\n",
        "{\"trunkline_copy\":3,\"key\":\"aaa\"}\n",
    ] {
        let far = start(line, FROM_LOOPBACK, Span::from_secs(600));
        let error = far.thread.join().unwrap().unwrap_err();
        assert!(
            error.to_string().contains("started by `trunkline copy`"),
            "{error}"
        );
    }
    let line = "{\"trunkline_copy\":9}\n";
    let error = start(line, None, Span::from_secs(600)).thread.join();
    let text = error.unwrap().unwrap_err().to_string();
    assert!(
        text.contains("version 6") && text.contains("version 9"),
        "{text}"
    );
    let back = CallBack {
        port: 7,
        fingerprint: [0; 32],
    };
    let far = start(&request(Some(back)).line(), None, Span::from_secs(600));
    let error = far.thread.join().unwrap().unwrap_err();
    assert!(matches!(error, SshChildError::NoNearAddress), "{error}");
}

/// A client that takes ssh's place and does what `script` says.
fn client(name: &str, script: &str) -> (Ssh, PathBuf) {
    let file = std::env::temp_dir().join(format!("trunkline-{name}-{}", std::process::id()));
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = -G ]; then echo 'user x'; echo 'hostname dtn7.example.org'; \
        exit; fi\n{script}\n"
    );
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
    let ssh = Ssh {
        client: file.to_str().unwrap().to_owned(),
        destination: "ana@dtn7".to_owned(),
        options: vec!["-p".to_owned(), "2222".to_owned()],
        program: FarProgram::default(),
        runs_programs: false,
    };
    (ssh, file)
}

fn error_of(name: &str, script: &str) -> SshError {
    let (ssh, file) = client(name, script);
    let error = ssh.start(&request(None), &|| false, &mut |_| ());
    std::fs::remove_file(file).unwrap();
    error.unwrap_err()
}

const ANSWER: &str =
    r#"{"trunkline_copy":6,"software":"trunkline 0.1.0","port":50000,"addresses":["192.0.2.7"]}"#;

#[test]
fn the_secret_goes_over_the_pipe_and_never_on_the_command_line() {
    let folder = std::env::temp_dir().join(format!("trunkline-heard-{}", std::process::id()));
    let script = format!(
        "echo \"$@\" > {0}.words; echo 'Welcome to host7'; read line; echo \"$line\" > {0}.line; \
        echo '{ANSWER}'; read line; echo \"$line\" > {0}.leave",
        folder.display()
    );
    let (ssh, file) = client("secret", &script);
    let secret = new_secret().unwrap();
    let request = StartRequest {
        secret: secret.clone(),
        ..request(None)
    };
    let started = ssh.start(&request, &|| false, &mut |_| ()).unwrap();
    assert_eq!(started.token.name, KeyName::new("ssh").unwrap());
    let places: Vec<String> = started.places.iter().map(ToString::to_string).collect();
    assert_eq!(places, ["dtn7.example.org:50000", "192.0.2.7:50000"]);
    assert!(!format!("{started:?}").contains(&secret.text()));
    drop(started);
    let read = |ending: &str| {
        let file = folder.with_extension(ending);
        // No thread waits for ssh to end, so the last line may still be on its way.
        let until = Instant::now() + Duration::from_secs(30);
        let mut text = String::new();
        while !text.ends_with('\n') && Instant::now() < until {
            text = std::fs::read_to_string(&file).unwrap_or_default();
            thread::sleep(Duration::from_millis(5));
        }
        std::fs::remove_file(file).unwrap();
        text
    };
    assert!(read("line").contains(&secret.text()));
    let words = read("words");
    assert_eq!(
        words,
        "-T -x -o ClearAllForwardings=yes -o ForwardAgent=no -o PermitLocalCommand=no -o \
        RequestTTY=no -o RemoteCommand=none -p 2222 -- ana@dtn7 trunkline copy-far\n"
    );
    assert_eq!(read("leave"), "leave\n");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn an_old_client_is_not_given_an_option_that_it_does_not_know() {
    let words = std::env::temp_dir().join(format!("trunkline-old-words-{}", std::process::id()));
    let script = format!(
        "echo \"$@\" > {}; read line; echo '{ANSWER}'; read line",
        words.display()
    );
    let (ssh, file) = client("older", &script);
    let text = std::fs::read_to_string(&file).unwrap();
    let first = "#!/bin/sh\ncase \"$*\" in *RemoteCommand*) exit 255;; esac";
    std::fs::write(&file, text.replacen("#!/bin/sh", first, 1)).unwrap();
    drop(ssh.start(&request(None), &|| false, &mut |_| ()).unwrap());
    let given = std::fs::read_to_string(&words).unwrap();
    assert!(given.contains("-o ForwardAgent=no"), "{given}");
    assert!(!given.contains("RemoteCommand"), "{given}");
    std::fs::remove_file(file).unwrap();
    std::fs::remove_file(words).unwrap();
}

#[test]
fn what_goes_wrong_behind_ssh_is_told_with_the_next_step() {
    let error = error_of("lost", "exit 255");
    assert_eq!(error.to_string(), "ssh did not get through to ana@dtn7");
    assert!(
        error
            .hint()
            .unwrap()
            .contains("`ssh ana@dtn7` has to work first")
    );
    assert!(error.may_pass());
    let error = error_of("missing", "exit 127");
    assert_eq!(
        error.to_string(),
        "there is no program `trunkline` at ana@dtn7"
    );
    assert!(error.hint().unwrap().contains("--far-program"));
    let error = error_of("old", "read line; echo 'usage: trunkline'; exit 2");
    assert_eq!(
        error.to_string(),
        "`trunkline copy-far` at ana@dtn7 ended with status 2 without saying where it listens; it \
        said `usage: trunkline`"
    );
    let error = error_of("version", "echo '{\"trunkline_copy\":9}'; sleep 1");
    assert!(error.to_string().contains("the peer version 9"), "{error}");
    assert!(error.hint().unwrap().contains("at this end"));
    let error = error_of("noise", "yes 'all work'");
    assert!(matches!(error, SshError::Noise(_)), "{error}");
    let ssh = Ssh {
        client: "/nonexistent/ssh".to_owned(),
        ..client("gone", "").0
    };
    let error = ssh
        .start(&request(None), &|| false, &mut |_| ())
        .unwrap_err();
    assert!(matches!(error, SshError::Client { .. }), "{error}");
}

/// The answer to a far end whose shell does what `script` says, with a program here that may be
/// sent; and how often it was.
fn delivery(name: &str, script: &str) -> (SshError, usize) {
    let (ssh, file) = client(name, script);
    let ssh = Ssh {
        program: FarProgram::ThereOrSent(std::env::current_exe().unwrap()),
        ..ssh
    };
    let mut sent = 0;
    let error = ssh.start(&request(None), &|| false, &mut |_| sent += 1);
    std::fs::remove_file(file).unwrap();
    (error.unwrap_err(), sent)
}

#[test]
fn a_far_shell_that_lies_gets_the_program_once_at_most() {
    let lacks = "echo trunkline-far lacks $(uname -sm); read request; read script";
    let send = "echo trunkline-far send raw '/tmp/\\033[31mx'; head -c 100000 > /dev/null";
    let table = [
        (
            "ready",
            "echo trunkline-far ready".to_owned(),
            "out of turn",
            0,
        ),
        ("early", send.to_owned(), "out of turn", 0),
        ("twice", format!("{lacks}; {lacks}"), "out of turn", 0),
        (
            "again",
            format!("{lacks}; {send}; {send}"),
            "out of turn",
            1,
        ),
        (
            "done",
            "echo trunkline-far done".to_owned(),
            "out of turn",
            0,
        ),
        (
            "place",
            "echo trunkline-far lacks Linux ../../etc".to_owned(),
            "it is `Linux ../../etc`",
            0,
        ),
        (
            "steers",
            format!("{lacks}; printf 'trunkline-far failed \\033[31mred\\n'"),
            "red",
            0,
        ),
    ];
    for (name, script, part, times) in table {
        let (error, sent) = delivery(name, &script);
        let text = error.to_string();
        assert!(matches!(error, SshError::NotSent { .. }), "{name}: {text}");
        assert!(text.contains(part), "{name}: {text}");
        assert!(!text.contains('\x1b'), "{name}: {text}");
        assert_eq!(sent, times, "{name}");
    }
    let (error, _) = delivery("endless", &format!("{lacks}; yes trunkline-far"));
    assert!(matches!(error, SshError::Noise(_)), "{error}");
}

#[test]
fn a_user_who_stops_is_not_kept_waiting_by_ssh() {
    let (ssh, file) = client("slow", "exec sleep 60");
    let began = std::time::Instant::now();
    let error = ssh
        .start(&request(None), &|| true, &mut |_| ())
        .unwrap_err();
    assert!(matches!(error, SshError::Stopped));
    assert!(began.elapsed() < TIMEOUT);
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_stop_before_the_request_ends_it() {
    let (_near, far) = UnixStream::pair().unwrap();
    let errors = far.try_clone().unwrap();
    let (told, ..) = handler();
    let day = Span::from_secs(86_400);
    let ended = serve_ssh_child(
        pipes(far, &errors),
        None,
        Default::default(),
        day,
        &|| true,
        |_, _| told,
    );
    assert!(ended.is_ok(), "{ended:?}");
}
