use proptest::prelude::*;

use super::*;
use crate::{Params, TestEnd, TestRequest};

const NOW: i64 = 1_800_000_000;
const SKEW: Span = Span::from_secs(10);

/// `echo -n '{ana}tenerife' | sha256sum`, and iperf3's own example.
const FILE: &str = "# users\r\n\r\n\
    ana,d68a7e0753bac9e4c4dd4706b9c24ff3e0d7198248140e1ef326e05b30dd0014,since May\r\n\
    mario,BF7A49A846D44B454A5D11E7ACFAF13D138BBE0B7483AA3E050879700572709B\n";

fn admitted(user: &str, password: &str, at: i64) -> Result<String, NotAdmitted> {
    let users = Users::parse(FILE).unwrap();
    users.admit(&Credentials::new(user, password, at).unwrap(), NOW, SKEW)
}

#[test]
fn the_plaintext_is_that_of_iperf3() {
    let said = Credentials::new("mario", "rossi", NOW).unwrap();
    let text = said.to_plaintext();
    assert_eq!(text, b"user: mario\npwd:  rossi\nts:   1800000000");
    assert_eq!(Credentials::from_plaintext(&text), Some(said));
}

#[test]
fn users_are_let_in_with_their_password_alone() {
    assert_eq!(admitted("mario", "rossi", NOW).as_deref(), Ok("mario"));
    assert_eq!(admitted("ana", "tenerife", NOW).as_deref(), Ok("ana"));
    for (user, password) in [
        ("mario", "tenerife"),
        ("ana", "rossi"),
        ("mari", "rossi"),
        ("mario", "ross"),
        ("luigi", "rossi"),
        ("}mario{", "rossi"),
    ] {
        assert_eq!(admitted(user, password, NOW), Err(NotAdmitted::Unknown));
    }
}

#[test]
fn a_login_is_of_now() {
    for off in [-10, -1, 10] {
        assert!(admitted("mario", "rossi", NOW - off).is_ok(), "{off}");
    }
    for off in [-11, 11, NOW, i64::MAX] {
        let refused = admitted("mario", "rossi", NOW.saturating_sub(off));
        assert!(matches!(refused, Err(NotAdmitted::Time { .. })), "{off}");
        // Whether the password was right shows nowhere.
        assert_eq!(admitted("mario", "verdi", NOW.saturating_sub(off)), refused);
    }
    assert!(admitted("mario", "rossi", i64::MIN).is_err());
}

#[test]
fn wrong_lines_of_users_are_named_and_not_shown() {
    let hash = "d68a7e0753bac9e4c4dd4706b9c24ff3e0d7198248140e1ef326e05b30dd0014";
    for (text, wrong) in [
        (String::new(), UsersError::Empty),
        ("# ana\n".to_owned(), UsersError::Empty),
        (format!("ana,{hash}\nmario\n"), UsersError::Line(2)),
        (format!("\n,{hash}\n"), UsersError::Line(2)),
        (format!("ana, {hash}\n"), UsersError::Line(1)),
        (format!("ana,{}\n", &hash[1..]), UsersError::Line(1)),
        (format!("ana,{}é\n", &hash[2..]), UsersError::Line(1)),
        ("ana,tenerife\n".to_owned(), UsersError::Line(1)),
    ] {
        let error = Users::parse(&text).unwrap_err();
        assert_eq!(error, wrong, "{text}");
        assert!(!error.to_string().contains("tenerife"));
    }
    assert_eq!(format!("{:?}", Users::parse(FILE)), "Ok(Users(2))");
}

#[test]
fn words_at_which_iperf3_stops_are_refused() {
    let long = "x".repeat(WORD_MAX + 1);
    for word in ["", "a b", "a\n", "\u{7}", "a\u{a0}b", &long] {
        assert!(Credentials::new(word, "rossi", NOW).is_err(), "{word:?}");
        let refused = Credentials::new("mario", word, NOW).unwrap_err();
        assert!(refused.to_string().contains("password"), "{refused}");
    }
}

#[test]
fn a_token_goes_through_the_parameters_and_into_no_log() {
    let token = AuthToken::from_ciphertext(&[0xAB; 256]);
    let request = TestRequest {
        token: Some(token.clone()),
        ..TestRequest::new(1, TestEnd::Client)
    };
    let json = request.to_params().to_json();
    let text = String::from_utf8(json.clone()).unwrap();
    assert!(text.contains(r#""authtoken":"q6urq6ur"#), "{text}");
    let read = TestRequest::from_params(&Params::from_json(&json).unwrap()).unwrap();
    assert_eq!(read.token, Some(token));
    assert!(!format!("{read:?}").contains("q6ur"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn garbage_is_none(text in prop::collection::vec(any::<u8>(), 0..300), cut in 0usize..40) {
        prop_assert_eq!(Credentials::from_plaintext(&text), None);
        let whole = Credentials::new("mario", "rossi", NOW).unwrap().to_plaintext();
        // A cut in the seconds is another time, one before them no login.
        let cut = cut.min(whole.len());
        let read = Credentials::from_plaintext(&whole[..cut]);
        prop_assert_eq!(read.is_some(), cut > whole.len() - 10);
        let _ = AuthToken::from_text(String::from_utf8_lossy(&text).into_owned()).ciphertext();
        let _ = Users::parse(&String::from_utf8_lossy(&text));
    }
}
