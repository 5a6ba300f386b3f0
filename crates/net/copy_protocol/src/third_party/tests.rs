//! Orders and reports in bytes.

use super::*;
use crate::{Frames, Incoming, KeyName, Problem, ProblemKind, SPOKEN, Secret, Token};

fn token() -> Token {
    Token {
        name: KeyName::new("ana.x7").unwrap(),
        secret: Secret::new([7; 32]),
    }
}

fn heard(report: &Report) -> Report {
    let frame = report.encode().unwrap();
    let mut input = frame.as_slice();
    Frames::messages()
        .next_message(&mut input)
        .unwrap()
        .unwrap()
}

#[test]
fn a_token_arrives_and_is_never_shown() {
    let report = Report::Granted(token());
    assert!(!format!("{report:?}").contains(&token().secret.text()));
    let Report::Granted(came) = heard(&report) else {
        panic!("another report came");
    };
    assert_eq!(came.text(), token().text());
}

#[test]
fn what_a_source_says_steers_no_terminal() {
    let problem = Problem {
        kind: ProblemKind::Disk,
        file: None,
        what: "a\x1b[2Jb".to_owned(),
        hint: Some("\u{202e}".to_owned()),
    };
    let name = "run7/\x1b".to_owned();
    let reports = [
        Report::Failed {
            name,
            problem: problem.clone(),
        },
        Report::Removed("\x1b".to_owned()),
        Report::Steered {
            streams: 2,
            why: "\x1b".to_owned(),
        },
        Report::Connected {
            peer: "\x1b".to_owned(),
            rtt: None,
        },
        Report::Ended {
            end: End::Problem(problem),
            totals: Box::default(),
        },
        Report::Ended {
            end: End::Lost("\x1b".to_owned()),
            totals: Box::default(),
        },
    ];
    for report in reports {
        let shown = format!("{:?}", heard(&report));
        assert!(
            !shown.contains("\\u{1b}") && !shown.contains("202e"),
            "{shown}"
        );
    }
}

#[test]
fn bytes_that_are_no_order_are_an_error() {
    for body in [&[][..], &[99], &[1, 0xFF, 0xFF]] {
        assert!(
            Order::decode(SPOKEN.newest, body.to_vec()).is_err(),
            "{body:?}"
        );
        assert!(
            Report::decode(SPOKEN.newest, body.to_vec()).is_err(),
            "{body:?}"
        );
    }
}
