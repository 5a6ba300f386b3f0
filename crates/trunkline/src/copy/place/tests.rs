use std::ffi::OsString;

use super::*;

fn place(text: &str) -> Result<Place, PlaceError> {
    Place::parse(OsStr::new(text))
}

fn ssh(destination: &str, path: &str) -> Place {
    Place::Ssh {
        destination: destination.to_owned(),
        path: path.as_bytes().to_vec(),
    }
}

fn server(address: &str, path: &[u8]) -> Place {
    Place::Server {
        address: Address::parse_with(address, PORT_DEFAULT).unwrap(),
        path: path.to_vec(),
    }
}

#[test]
fn places_are_read_as_scp_reads_them() {
    let here = |text: &str| Place::Here(text.into());
    let table = [
        ("run7", here("run7")),
        ("/store/run7", here("/store/run7")),
        ("./a:b", here("./a:b")),
        ("/tmp/a:b", here("/tmp/a:b")),
        (":a", here(":a")),
        ("-", here("-")),
        ("dtn:", ssh("dtn", ".")),
        ("dtn:~", ssh("dtn", ".")),
        ("dtn:~/run7", ssh("dtn", "run7")),
        ("dtn:/store/a:b", ssh("dtn", "/store/a:b")),
        ("dtn:run7/", ssh("dtn", "run7/")),
        ("me@dtn.example.org:x", ssh("me@dtn.example.org", "x")),
        ("me@realm@dtn:x", ssh("me@realm@dtn", "x")),
        ("[2001:db8::1]:/x", ssh("2001:db8::1", "/x")),
        ("me@[2001:db8::1]:/x", ssh("me@2001:db8::1", "/x")),
        ("dtn:*.root", ssh("dtn", "*.root")),
        ("trunkline://dtn", server("dtn", b"")),
        ("trunkline://dtn/", server("dtn", b"")),
        ("trunkline://dtn/a/b/", server("dtn", b"a/b/")),
        ("trunkline://dtn:6000/a", server("dtn:6000", b"a")),
        (
            "trunkline://[2001:db8::1]:6000/a",
            server("[2001:db8::1]:6000", b"a"),
        ),
        ("trunkline://[2001:db8::1]/a", server("[2001:db8::1]", b"a")),
        ("trunkline://dtn/a%20b%2fc", server("dtn", b"a b/c")),
        ("trunkline://dtn/%ff?#", server("dtn", b"\xff?#")),
    ];
    for (text, expected) in table {
        assert_eq!(place(text), Ok(expected), "{text}");
    }
}

#[test]
fn places_that_are_none_are_told_with_the_next_step() {
    let table = [
        ("", "a place is empty", "`.`"),
        ("scp://dtn/x", "`scp://` is not a way", "HOST:PATH"),
        ("rsync://dtn/x", "`rsync://` is not a way", "trunkline://"),
        ("me@:x", "`me@` names no host", "./a:b"),
        ("-oProxyCommand=x:y", "names no host", "./a:b"),
        ("me@-oProxyCommand=x:y", "names no host", "./a:b"),
        ("dtn:~you/x", "another user's home", "./~name"),
        ("trunkline://me@dtn/x", "knows no user `me`", "--token-file"),
        ("trunkline://dtn:0/x", "port `0`", "trunkline://"),
        ("trunkline:///x", "names no host", "trunkline://"),
        ("trunkline://dtn/50%", "a % that", "%25"),
        ("trunkline://dtn/%zz", "a % that", "%25"),
        ("trunkline://dtn/a%00", "a % that", "%25"),
    ];
    for (text, what, hint) in table {
        let error = place(text).unwrap_err();
        assert!(error.what.contains(what), "{text}: {}", error.what);
        assert!(error.hint.contains(hint), "{text}: {}", error.hint);
    }
}

#[test]
fn a_name_here_need_not_be_utf8() {
    let bytes = b"run\xff".to_vec();
    let text = OsString::from(OsStr::from_bytes(&bytes));
    assert_eq!(Place::parse(&text), Ok(Place::Here(text.into())));
    let there = OsStr::from_bytes(b"dtn:run\xff");
    assert_eq!(Place::parse(there).unwrap().path(), b"run\xff");
}
