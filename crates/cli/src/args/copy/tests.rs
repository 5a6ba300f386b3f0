use clap::Parser;

use super::*;
use crate::args::{Arguments, Command};

fn parsed(words: &str) -> Result<Copy, String> {
    let words = ["trunkline", "copy"]
        .into_iter()
        .chain(words.split_whitespace());
    match Arguments::try_parse_from(words) {
        Ok(Arguments {
            command: Command::Copy(copy),
            ..
        }) => Ok(*copy),
        Ok(_) => unreachable!("the command is copy"),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn flags_mean_what_users_of_scp_and_rsync_expect() {
    for words in [
        "-r a h:b",
        "-R a h:b",
        "-a a h:b",
        "-avz a h:b",
        "-rp a h:b",
    ] {
        let copy = parsed(words).unwrap();
        assert!(copy.recursive || copy.archive, "{words}");
    }
    let copy = parsed("-nv a h:b").unwrap();
    assert!(copy.dry_run && copy.verbose && !copy.recursive);
    assert!(parsed("-z a h:b").unwrap().compress);
    assert!(parsed("-L a h:b").unwrap().copy_links);
    assert_eq!(
        parsed("-P 8 a h:b").unwrap().streams,
        StreamCount::new(8).ok()
    );
}

#[test]
fn options_may_stand_between_places() {
    for words in [
        "a -v b h:c",
        "a b h:c -v",
        "a -z b -v h:c --max-rate 10M",
        "a -e ssh b h:c -v",
    ] {
        let copy = parsed(words).unwrap();
        let places: Vec<&str> = copy.places.iter().filter_map(|one| one.to_str()).collect();
        assert_eq!(places, ["a", "b", "h:c"], "{words}");
        assert!(copy.verbose || copy.compress, "{words}");
    }
}

#[test]
fn rules_keep_their_order() {
    let copy = parsed("--include */ a --exclude x --include *.root h:b --exclude *").unwrap();
    let rules: Vec<(bool, &str)> = copy
        .rules
        .0
        .iter()
        .map(|rule| (rule.leaves_out, &*rule.pattern))
        .collect();
    let expected = [(false, "*/"), (true, "x"), (false, "*.root"), (true, "*")];
    assert_eq!(rules, expected);
}

#[test]
fn gentle_alone_and_with_a_bound() {
    assert_eq!(parsed("a h:b").unwrap().gentle, None);
    let gentle = |words| parsed(words).unwrap().gentle;
    assert_eq!(gentle("--gentle a h:b"), Some(Span::from_millis(10)));
    assert_eq!(gentle("--gentle=5ms a h:b"), Some(Span::from_millis(5)));
}

#[test]
fn wrong_flags_are_told() {
    let table = [
        ("", "required arguments were not provided"),
        ("--max-rate 12MB a h:b", "12MB a second is written `96M`"),
        ("--max-rate 1GB/s a h:b", "1GB a second is written `8G`"),
        ("-P 2222 a h:b", "`-e 'ssh -p PORT'`"),
        ("-avP a h:b", "rsync's -P is not needed"),
        ("-c --overwrite a h:b", "cannot be used with"),
        ("-0 a h:b", "--files-from"),
        ("--exclude [ a h:b", "pattern `[`"),
        ("-v -q a h:b", "cannot be used with"),
        ("--overwrite --ignore-existing a h:b", "cannot be used with"),
        (
            "-P 0 a h:b",
            "0 streams are not between 1 and 128; leave `-P` out",
        ),
        ("--max-rate 1k a h:b", "is not between 64kbit/s"),
        ("--max-rate 08:00=1k a h:b", "is not between 64kbit/s"),
        (
            "--max-rate 08:00=12MB a h:b",
            "12MB a second is written `96M`",
        ),
        (
            "--max-rate 8:00=50M a h:b",
            "`8:00` is no time of day from 00:00 to 23:59; write it like `08:00`",
        ),
        (
            "--max-rate 08:00=50M,18:00 a h:b",
            "TIME=RATE,TIME=RATE, like `08:00=50M,18:00=none`",
        ),
        ("--max-rate 08:00=5M,08:00=6M a h:b", "08:00 comes twice"),
        ("--gentle=1h a h:b", "is not between 1ms"),
        (
            "--objective gentle a h:b",
            "possible values: max, knee, power",
        ),
        (
            "--port-range 9-5 a h:b",
            "ends at 5, below its first port 9",
        ),
        ("--port-range 0-5 a h:b", "not a port from 1 to 65535"),
        ("--port-range x a h:b", "like `50000-50100`"),
        ("--patience 0 a h:b", "is not between 1s"),
    ];
    for (words, expected) in table {
        let error = parsed(words).unwrap_err();
        assert!(error.contains(expected), "{words}: {error}");
    }
}

#[test]
fn a_command_is_split_as_a_shell_would() {
    let split = |text| words(text).unwrap().0;
    assert_eq!(split("ssh"), ["ssh"]);
    assert_eq!(split(" ssh  -p 2222 "), ["ssh", "-p", "2222"]);
    assert_eq!(
        split("ssh -i 'my key' -o \"ProxyCommand=nc %h %p\" ''"),
        ["ssh", "-i", "my key", "-o", "ProxyCommand=nc %h %p", ""]
    );
    assert!(words("ssh 'x").unwrap_err().contains("never closed"));
    assert!(words("  ").unwrap_err().contains("a command is wanted"));
}

#[test]
fn a_port_or_a_range() {
    assert_eq!(ports("50000-50100"), Ok(50000..=50100));
    assert_eq!(ports("50000:50100"), Ok(50000..=50100));
    assert_eq!(ports("443"), Ok(443..=443));
}
