//! Tokens and their file.

use super::*;

fn token(name: &str, fill: u8) -> Token {
    Token {
        name: KeyName::new(name).unwrap(),
        secret: Secret::new([fill; 32]),
    }
}

fn mistake(text: &str) -> (usize, TokensMistake) {
    let error = Tokens::parse(text).unwrap_err();
    (error.line, error.what)
}

#[test]
fn a_name_with_hyphens_comes_back() {
    for name in ["a", "a-b", "-", "x.y_z-9", &"n".repeat(KEY_NAME_MAX)] {
        let token = token(name, 3);
        let again: Token = token.text().parse().unwrap();
        assert_eq!(again.name, token.name);
        assert_eq!(again.secret.text(), token.secret.text());
    }
}

#[test]
fn what_is_no_token_is_refused_without_repeating_it() {
    let secret = "a".repeat(52);
    let cases = [
        (String::new(), TokenTextError::Form),
        (format!("tl2-x-{secret}"), TokenTextError::Form),
        (format!("tl1-{secret}"), TokenTextError::Form),
        (format!("tl1-x-{secret}a"), TokenTextError::Secret),
        (
            format!("tl1--{secret}"),
            TokenTextError::Name(KeyNameError {
                length: 0,
                wrong: None,
            }),
        ),
        (
            format!("tl1-a b-{secret}"),
            TokenTextError::Name(KeyNameError {
                length: 3,
                wrong: Some(' '),
            }),
        ),
    ];
    for (text, expected) in cases {
        let error = text.parse::<Token>().unwrap_err();
        assert_eq!(error, expected, "{text}");
        assert!(!error.to_string().contains(&secret));
    }
}

#[test]
fn a_file_gives_each_name_its_key_and_rights() {
    let read = Rights {
        write: false,
        ..Rights::ALL
    };
    let file = format!(
        "# people\n\n{}  {}",
        Tokens::line(&token("ana", 1), Rights::ALL),
        Tokens::line(&token("bo", 2), read)
    );
    let tokens = Tokens::parse(&file).unwrap();
    let (key, rights) = tokens.find(&KeyName::new("bo").unwrap()).unwrap();
    assert_eq!(rights, read);
    let proof = token("bo", 2).secret.key().proof(&[b"x"]);
    assert_eq!(key.proof(&[b"x"]), proof);
    assert!(tokens.find(&KeyName::new("eve").unwrap()).is_none());
    assert_eq!(tokens.names().count(), 2);
    assert!(!format!("{tokens:?}").contains(&token("bo", 2).secret.text()));
}

#[test]
fn a_wrong_line_is_named_by_its_number() {
    let good = Tokens::line(&token("ana", 1), Rights::ALL);
    let secret = token("ana", 1).secret.text();
    assert_eq!(mistake("#\nx"), (2, TokensMistake::Words(1)));
    assert_eq!(
        mistake(&format!("{good}a rx {secret}")),
        (2, TokensMistake::Rights)
    );
    assert_eq!(mistake("a r bbb"), (1, TokensMistake::Secret));
    let (line, what) = mistake(&format!("{good}\n{good}"));
    assert_eq!(line, 3);
    assert!(matches!(what, TokensMistake::Twice { first: 1, .. }));
    let error = Tokens::parse(&format!("ana rw {secret} x")).unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(!text.contains(&secret), "{text}");
}

#[test]
fn a_fourth_word_binds_a_token_to_a_folder() {
    let line = |word: &str| {
        let line = Tokens::line(&token("ana", 1), Rights::ALL);
        format!("{} {word}\n", line.trim_end())
    };
    let tokens = Tokens::parse(&line("root=labs/ana")).unwrap();
    let ana = KeyName::new("ana").unwrap();
    assert_eq!(tokens.folder(&ana).unwrap().as_bytes(), b"labs/ana");
    let whole = Tokens::parse(&line("")).unwrap();
    assert!(whole.folder(&ana).unwrap().is_empty());
    assert!(whole.folder(&KeyName::new("eve").unwrap()).is_none());
    for wrong in [
        "root=",
        "root=/etc",
        "root=..",
        "root=a/../..",
        "labs",
        "Root=a",
    ] {
        assert_eq!(
            mistake(&line(wrong)),
            (1, TokensMistake::Further),
            "{wrong}"
        );
    }
    assert_eq!(mistake(&line("root=a b")), (1, TokensMistake::Further));
    assert_eq!(mistake(&line("root=a to=b c")), (1, TokensMistake::Further));
}

#[test]
fn hosts_that_files_may_be_sent_to_stand_behind_a_token() {
    let line = |words: &str| {
        let line = Tokens::line(&token("ana", 1), Rights::ALL);
        format!("{} {words}\n", line.trim_end())
    };
    let ana = KeyName::new("ana").unwrap();
    let read = |words: &str| Tokens::parse(&line(words)).unwrap();
    assert!(read("").targets(&ana).unwrap().is_empty());
    let both = read("to=b.example.org:5201,192.0.2.7 root=labs");
    let targets = both.targets(&ana).unwrap();
    assert_eq!(targets.to_string(), "b.example.org:5201,192.0.2.7");
    assert!(targets.allows("B.example.org", 5201) && !targets.allows("b.example.org", 22));
    assert!(targets.allows("192.0.2.7", 1) && !targets.allows("192.0.2.70", 1));
    assert_eq!(both.folder(&ana).unwrap().as_bytes(), b"labs");
    for wrong in [
        "to=",
        "to=a,,b",
        "to=a:x",
        "to=a b=c",
        "to=*",
        "to=a to=b",
        "to=[::1",
        "to=a/b",
    ] {
        assert_eq!(
            mistake(&line(wrong)),
            (1, TokensMistake::Further),
            "{wrong}"
        );
    }
}

#[test]
fn bounds_on_copies_stand_behind_a_token() {
    let line = |words: &str| {
        let line = Tokens::line(&token("ana", 1), Rights::ALL);
        format!("{} {words}\n", line.trim_end())
    };
    let (ana, eve) = (KeyName::new("ana").unwrap(), KeyName::new("eve").unwrap());
    let all = "copies=2 streams=16 rate=500Mbit/s";
    let tokens = Tokens::parse(&line(&format!("{all} root=labs to=b"))).unwrap();
    let bounds = tokens.bounds(&ana);
    assert_eq!((bounds.copies, bounds.streams), (Some(2), Some(16)));
    assert_eq!(bounds.rate, Some("500M".parse().unwrap()));
    assert_eq!(bounds.to_string(), format!(" {all}"));
    assert_eq!(tokens.bounds(&eve), CopyBounds::default());
    let wrongs = [
        "copies=0",
        "copies=1025",
        "copies=x",
        "streams=",
        "streams=-1",
        "rate=0",
        "rate=fast",
        "rate=1G rate=2G",
        "Rate=1G",
        "rate",
    ];
    for wrong in wrongs {
        assert_eq!(
            mistake(&line(wrong)),
            (1, TokensMistake::Further),
            "{wrong}"
        );
    }
}

#[test]
fn rights_are_cut_by_what_the_server_allows() {
    let write = Rights {
        read: false,
        write: true,
    };
    assert_eq!(Rights::ALL.and(write), write);
    let read = Rights {
        read: true,
        write: false,
    };
    assert_eq!(read.and(write).to_string(), "-");
}
