//! Servers with users: both our ends, and real iperf3.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use endpoints::server::{SessionError, SessionSummary};
use endpoints::{Accounts, Client, ClientError, Login, Padding, PathProbes, ServerLimits};
use errors::{Error, Fault};
use measure_protocol::AuthToken;
use observe::{Probes, SamplePlan, Setting, StreamCount, Train, Way, Window};
use support::{Iperf3Server, Running, both};
use units::{Bytes, Span};

/// The password is `rossi`.
const USERS: &str = "mario,bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b\n";

/// A server's key and users; `None`, told as a skip, without `openssl`.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Option<Self> {
        if !testkit::has_program("openssl") {
            return None;
        }
        let name = format!("trunkline-users-{}-{name}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        fs::create_dir(&folder.0).unwrap();
        folder.openssl("genrsa -out key.pem 2048");
        folder.openssl("rsa -in key.pem -pubout -out pub.pem");
        folder.write("users", USERS, 0o644);
        Some(folder)
    }

    fn openssl(&self, words: &str) {
        let mut openssl = Command::new("openssl");
        let run = openssl.args(words.split(' ')).current_dir(&self.0).output();
        assert!(run.unwrap().status.success(), "{words}");
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        fs::write(self.0.join(name), text).unwrap();
        fs::set_permissions(self.0.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn accounts(&self, padding: Padding) -> Result<Accounts, Error> {
        let (key, users) = (self.0.join("key.pem"), self.0.join("users"));
        Ok(Accounts::open(&key, &users, padding, Span::from_secs(10))?)
    }

    fn server(&self, padding: Padding) -> Running {
        Running::with(ServerLimits {
            accounts: Some(Arc::new(self.accounts(padding).unwrap())),
            ..ServerLimits::default()
        })
    }

    fn login(&self, user: &str, password: &str, padding: Padding) -> Login {
        Login::new(user, password, &self.0.join("pub.pem"), padding).unwrap()
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What the iperf3 that is installed pads with.
fn padding_of_iperf3() -> Padding {
    let said = both(&Command::new("iperf3").arg("--version").output().unwrap());
    let version = said.split_whitespace().nth(1).unwrap_or_default();
    let minor = version.split('.').nth(1).and_then(|minor| {
        let digits: String = minor.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    });
    match minor {
        Some(..17) => Padding::Pkcs1,
        _ => Padding::Oaep,
    }
}

fn run(client: &Client) -> Result<observe::Observation, ClientError> {
    let plan = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(1))
    };
    let setting = Setting::new(StreamCount::new(2).unwrap(), Window::Auto);
    client.run(&setting, &plan, &mut ())
}

fn is_refused(end: &Result<SessionSummary, SessionError>) -> bool {
    matches!(end, Err(SessionError::Login(_)))
}

#[test]
fn garbage_is_unreadable() {
    const SEED: u64 = 41;
    let Some(folder) = Folder::new("draws") else {
        return;
    };
    let accounts = folder.accounts(Padding::Oaep).unwrap();
    let mut draws = testkit::Mutator::new(SEED, &[]);
    // One in three hundred has the length of a ciphertext, and is decrypted.
    for _ in 0..10_000 {
        let length = 250 + draws.below(300);
        let bytes: Vec<u8> = (0..length).map(|_| draws.below(256) as u8).collect();
        let said = accounts.admit(Some(&AuthToken::from_ciphertext(&bytes)));
        let why = said.unwrap_err().to_string();
        assert!(
            why.starts_with("what it sent cannot be read"),
            "seed {SEED}: {why}"
        );
    }
}

#[test]
fn files_that_cannot_be_used_are_refused_when_the_server_starts() {
    let Some(folder) = Folder::new("files") else {
        return;
    };
    let refused = |why: &str| {
        let error = folder.accounts(Padding::Oaep).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(error.fault(), Fault::Request);
        assert!(error.hint().is_some());
    };
    folder.write("users", "mario,rossi\n", 0o644);
    refused("line 1 is no `NAME,HASH`");
    folder.write("users", &"#".repeat((1 << 20) + 1), 0o644);
    refused("more than 1048576 bytes");
    folder.write("users", USERS, 0o666);
    refused("mode 666");
    fs::remove_file(folder.0.join("users")).unwrap();
    refused("cannot read");
    folder.write("users", USERS, 0o644);
    let key = fs::read_to_string(folder.0.join("key.pem")).unwrap();
    folder.write("key.pem", &key, 0o644);
    refused("mode 644");
    folder.write("key.pem", "no key", 0o600);
    refused("cannot use the RSA key");
    folder.openssl("genrsa -out key.pem 1024");
    refused("it has 1024 bits; 2048 to 8192");
    folder.openssl("genrsa -aes128 -passout pass:secret -out key.pem 2048");
    refused("cannot use the RSA key");
}

#[test]
fn a_client_is_told_what_is_wrong_with_its_login() {
    let Some(folder) = Folder::new("words") else {
        return;
    };
    let long = "x".repeat(300);
    for (password, key, why) in [
        ("two words", "pub.pem", "the password for the server needs"),
        (long.as_str(), "pub.pem", "data too large"),
        ("rossi", "key.pem", "cannot use the RSA key"),
        ("rossi", "none.pem", "cannot read"),
    ] {
        let login = Login::new("mario", password, &folder.0.join(key), Padding::Oaep);
        let error = login.unwrap_err().to_string();
        assert!(error.contains(why) && !error.contains("two"), "{error}");
    }
}

#[test]
fn our_client_is_let_in_with_its_password_and_told_the_same_without() {
    let Some(folder) = Folder::new("ours") else {
        return;
    };
    let older = folder.server(Padding::Pkcs1);
    let login = folder.login("mario", "rossi", Padding::Pkcs1);
    run(&Client::new(older.target()).with_login(Some(login))).unwrap();
    let server = folder.server(Padding::Oaep);
    let client = |login| run(&Client::new(server.target()).with_login(login));
    client(Some(folder.login("mario", "rossi", Padding::Oaep))).unwrap();
    assert!(server.next_end().is_ok());
    let mut answers = Vec::new();
    for login in [
        None,
        Some(folder.login("mario", "verdi", Padding::Oaep)),
        Some(folder.login("luigi", "rossi", Padding::Oaep)),
        Some(folder.login("mario", "rossi", Padding::Pkcs1)),
    ] {
        let error = client(login).unwrap_err();
        assert!(error.hint().unwrap().contains("--user"), "{error}");
        answers.push(error.to_string());
        let end = server.next_end();
        assert!(is_refused(&end), "{end:?}");
    }
    assert!(answers[0].contains("iperf3 error 142"), "{answers:?}");
    assert!(answers.iter().all(|answer| *answer == answers[0]));
}

#[test]
fn trains_need_a_user_as_tests_do() {
    let Some(folder) = Folder::new("trains") else {
        return;
    };
    let server = folder.server(Padding::Oaep);
    let train = |login| {
        let probes = PathProbes::connect_as(&server.target(), login, &mut ());
        let train = Train::back_to_back(20, Bytes::new(1_000));
        probes.unwrap().train(Way::Forward, &train, &mut ())
    };
    assert!(train(None).is_err());
    assert!(is_refused(&server.next_end()));
    assert!(train(Some(folder.login("mario", "rossi", Padding::Oaep))).is_ok());
}

/// The whole conversation after the cookie, for what no client of ours says.
#[test]
fn garbage_gets_the_same_bytes() {
    let Some(folder) = Folder::new("garbage") else {
        return;
    };
    let server = folder.server(Padding::Oaep);
    let random = "A".repeat(340) + "AA==";
    let tokens = ["", "***", "AAAA", &random, &"x".repeat(7_000)];
    for (token, letter) in tokens.into_iter().zip(b'a'..) {
        let mut socket = TcpStream::connect(server.address).unwrap();
        socket.write_all(&[letter; 36]).unwrap();
        socket.write_all(&[0]).unwrap();
        let json = format!(r#"{{"tcp":true,"parallel":1,"time":1,"authtoken":"{token}"}}"#);
        let mut said = u32::try_from(json.len()).unwrap().to_be_bytes().to_vec();
        said.extend(json.bytes());
        socket.write_all(&said).unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).unwrap();
        // Ask for parameters; then SERVER_ERROR, 142, and no number of the system.
        assert_eq!(answer, [9, 254, 0, 0, 0, 142, 0, 0, 0, 0], "{token}");
        assert!(is_refused(&server.next_end()));
    }
}

#[test]
fn iperf3_logs_in_here() {
    let Some(folder) = Folder::new("iperf3-client").filter(|_| testkit::has_program("iperf3"))
    else {
        return;
    };
    let server = folder.server(padding_of_iperf3());
    let client = |password: &str| {
        let mut iperf3 = Command::new("iperf3");
        let port = server.address.port().to_string();
        iperf3.args(["-c", &server.address.ip().to_string(), "-p", &port]);
        iperf3.args(["-t", "1", "-P", "2"]);
        iperf3.args([
            "--username",
            "mario",
            "--rsa-public-key-path",
            &folder.path("pub.pem"),
        ]);
        iperf3.env("IPERF3_PASSWORD", password).output().unwrap()
    };
    let right = client("rossi");
    assert!(right.status.success(), "{}", both(&right));
    assert!(server.next_end().is_ok());
    let wrong = client("verdi");
    assert!(!wrong.status.success());
    assert!(
        both(&wrong).contains("authorization failed"),
        "{}",
        both(&wrong)
    );
    assert!(is_refused(&server.next_end()));
}

#[test]
fn our_client_logs_in_at_iperf3() {
    let Some(folder) = Folder::new("iperf3-server").filter(|_| testkit::has_program("iperf3"))
    else {
        return;
    };
    let (key, users) = (folder.path("key.pem"), folder.path("users"));
    let words = [
        "--rsa-private-key-path",
        &key,
        "--authorized-users-path",
        &users,
    ];
    let server = Iperf3Server::with(&words);
    let client = |password| {
        let login = folder.login("mario", password, padding_of_iperf3());
        run(&Client::new(server.target.clone()).with_login(Some(login)))
    };
    client("rossi").unwrap();
    // Some versions say why, others close the connection.
    let refused = client("verdi").unwrap_err();
    assert!(refused.hint().unwrap().contains("--user"), "{refused}");
}
