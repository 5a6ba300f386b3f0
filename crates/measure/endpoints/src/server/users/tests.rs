use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::client::{Login, LoginError};
use testkit::Mutator;

const SKEW: Span = Span::from_secs(10);
/// The password is `rossi`.
const USERS: &str = "mario,bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b\n";

/// Two keys and a file of users, for the length of a test.
struct Folder(PathBuf);

impl Folder {
    /// `None`, told as a skip, where there is no `openssl`.
    fn new() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        if !testkit::has_program("openssl") {
            return None;
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("trunkline-users-{}-{number}", std::process::id());
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

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        fs::write(self.at(name), text).unwrap();
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn accounts(&self, padding: Padding) -> Result<Accounts, AccountsError> {
        Accounts::open(&self.at("key.pem"), &self.at("users"), padding, SKEW)
    }

    fn token(&self, user: &str, password: &str, padding: Padding) -> AuthToken {
        let login = Login::new(user, password, &self.at("pub.pem"), padding).unwrap();
        crate::client::login::token(Some(&login)).unwrap().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refused(accounts: &Accounts, token: &AuthToken) -> NotAdmitted {
    match accounts.admit(Some(token)) {
        Err(NotLetIn::Client(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn users_are_let_in_under_both_paddings_and_under_no_other() {
    let Some(folder) = Folder::new() else { return };
    for (padding, other) in [
        (Padding::Oaep, Padding::Pkcs1),
        (Padding::Pkcs1, Padding::Oaep),
    ] {
        let accounts = folder.accounts(padding).unwrap();
        let right = folder.token("mario", "rossi", padding);
        assert_eq!(accounts.admit(Some(&right)).unwrap(), "mario");
        let wrong = folder.token("mario", "rossi", other);
        assert_eq!(refused(&accounts, &wrong), NotAdmitted::Unreadable);
        for (user, password) in [("mario", "verdi"), ("luigi", "rossi")] {
            let token = folder.token(user, password, padding);
            assert_eq!(refused(&accounts, &token), NotAdmitted::Unknown);
        }
        let none = accounts.admit(None);
        assert!(matches!(none, Err(NotLetIn::Client(NotAdmitted::NoToken))));
    }
}

#[test]
fn a_login_of_another_time_is_refused() {
    let Some(folder) = Folder::new() else { return };
    let accounts = folder.accounts(Padding::Oaep).unwrap();
    for off in [-3_600, 3_600] {
        let said = Credentials::new("mario", "rossi", seconds_now() + off).unwrap();
        let ciphertext = accounts.rsa.encrypt_to_self(&said.to_plaintext()).unwrap();
        let why = refused(&accounts, &AuthToken::from_ciphertext(&ciphertext));
        assert!(matches!(why, NotAdmitted::Time { .. }), "{off}: {why}");
    }
}

#[test]
fn garbage_is_unreadable() {
    const SEED: u64 = 41;
    let Some(folder) = Folder::new() else { return };
    let accounts = folder.accounts(Padding::Oaep).unwrap();
    let mut draws = Mutator::new(SEED, &[]);
    // One in some hundred has the length of a ciphertext, and is decrypted.
    for _ in 0..10_000 {
        let length = 250 + draws.below(300);
        let bytes: Vec<u8> = (0..length).map(|_| draws.below(256) as u8).collect();
        let token = AuthToken::from_ciphertext(&bytes);
        let why = refused(&accounts, &token);
        assert_eq!(why, NotAdmitted::Unreadable, "seed {SEED}");
    }
}

#[test]
fn files_that_cannot_be_used_are_refused_when_the_server_starts() {
    let Some(folder) = Folder::new() else { return };
    let refused = || folder.accounts(Padding::Oaep).unwrap_err();
    folder.write("users", "mario,rossi\n", 0o644);
    let error = refused().to_string();
    assert!(
        error.ends_with("line 1 is no `NAME,HASH` with 64 hexadecimal digits"),
        "{error}"
    );
    folder.write("users", USERS, 0o666);
    assert_eq!(
        refused().hint().unwrap(),
        format!("chmod 644 {}", folder.at("users").display())
    );
    folder.write("users", &"#".repeat(FILE_MAX as usize + 1), 0o644);
    assert!(matches!(refused(), AccountsError::Long(_)));
    fs::remove_file(folder.at("users")).unwrap();
    assert!(matches!(refused(), AccountsError::Unreadable { .. }));
    folder.write("users", USERS, 0o644);
    let key = fs::read_to_string(folder.at("key.pem")).unwrap();
    folder.write("key.pem", &key, 0o644);
    assert!(matches!(refused(), AccountsError::Open { mode: 0o644, .. }));
    folder.write("key.pem", "no key", 0o600);
    assert!(matches!(
        refused(),
        AccountsError::Rsa(RsaError::Refused { .. })
    ));
    folder.openssl("genrsa -out key.pem 1024");
    let short = refused();
    assert!(
        short.to_string().contains("1024 bits; 2048 to 8192"),
        "{short}"
    );
    folder.openssl("genrsa -aes128 -passout pass:secret -out key.pem 2048");
    assert!(matches!(
        refused(),
        AccountsError::Rsa(RsaError::Refused { .. })
    ));
}

#[test]
fn a_file_of_users_is_read_anew_at_each_login() {
    let Some(folder) = Folder::new() else { return };
    let accounts = folder.accounts(Padding::Oaep).unwrap();
    let token = folder.token("mario", "rossi", Padding::Oaep);
    folder.write("users", &USERS.replace("mario", "luigi"), 0o644);
    assert_eq!(refused(&accounts, &token), NotAdmitted::Unknown);
    folder.write("users", "broken", 0o644);
    let broken = accounts.admit(Some(&token));
    assert!(matches!(broken, Err(NotLetIn::Accounts(_))), "{broken:?}");
}

#[test]
fn a_client_is_told_what_is_wrong_with_its_login() {
    let Some(folder) = Folder::new() else { return };
    let login =
        |password: &str, key: &str| Login::new("mario", password, &folder.at(key), Padding::Oaep);
    let blank = login("two words", "pub.pem").unwrap_err();
    assert!(matches!(blank, LoginError::Word(_)), "{blank}");
    assert!(!blank.to_string().contains("two"));
    let private = login("rossi", "key.pem").unwrap_err();
    assert!(private.hint().unwrap().contains("public"), "{private}");
    let long = login(&"x".repeat(300), "pub.pem").unwrap_err();
    assert!(long.to_string().contains("data too large"), "{long}");
    let missing = login("rossi", "none.pem").unwrap_err();
    assert!(missing.to_string().contains("cannot read"), "{missing}");
    assert_eq!(
        format!("{:?}", login("rossi", "pub.pem").unwrap()),
        "Login(mario)"
    );
}
