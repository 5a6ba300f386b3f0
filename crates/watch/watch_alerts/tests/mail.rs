//! Mail through a real command.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use changes::UnixTime;
use common::{alerting, later, over, send_due, slower, with_one_event};
use watch_alerts::{Alerting, Situation};

const NOW: UnixTime = UnixTime::from_seconds(1_795_546_800);

fn script(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("mailer");
    fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

fn mailed_by(file: &Path) -> Alerting {
    alerting(&format!(
        "[[mail]]\ncommand = [\"{}\", \"-t\"]\nfrom = \"watch@example.org\"\n\
         to = [\"noc@example.org\", \"op@example.net\"]\n",
        file.display()
    ))
}

#[test]
fn the_command_gets_a_mail_that_a_reader_of_mails_understands() {
    if !testkit::has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let got = folder.path().join("mail");
    let file = script(
        folder.path(),
        &format!("echo \"$1\" >&2; cat > {}", got.display()),
    );
    let alerting = mailed_by(&file);
    let mut alerts = with_one_event(&alerting, NOW);
    assert_eq!(send_due(&mut alerts, &alerting, NOW), Vec::<String>::new());
    let text = fs::read_to_string(&got).unwrap();
    let header = text.split("\n\n").next().unwrap();
    assert!(header.is_ascii() && !text.contains('\r'), "{text}");
    let program = "import email, email.policy, sys, json\n\
        m = email.message_from_file(sys.stdin, policy=email.policy.default)\n\
        assert not m.defects, m.defects\n\
        keys = ['From', 'To', 'Subject', 'Date', 'Message-ID', 'Auto-Submitted']\n\
        print(json.dumps([str(m[k]) for k in keys] + [m.get_content()]))";
    let output = Command::new("python3")
        .args(["-c", program])
        .stdin(fs::File::open(&got).unwrap())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let read: Vec<String> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(read[0].trim_matches(['<', '>']), "watch@example.org");
    assert!(read[1].contains("noc@example.org") && read[1].contains("op@example.net"));
    assert_eq!(
        read[2],
        "[warning] Goodput from b\u{f6}nn to cern fell by 33 %, 90.0 Mbit/s -> 60.0 Mbit/s, \
         since 2026-11-24 18:00 UTC"
    );
    assert!(read[3].contains("24 Nov 2026 19:00:00"), "{}", read[3]);
    assert_eq!(read[4], "<1795543200-0-began@example.org>");
    assert_eq!(read[5], "auto-generated");
    assert!(
        read[6].contains("- b\u{f6}nn to cern, goodput: goodput fell"),
        "{}",
        read[6]
    );
}

#[test]
fn the_end_of_an_incident_answers_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let got = folder.path().join("mail");
    let file = script(folder.path(), &format!("cat > {}", got.display()));
    let alerting = mailed_by(&file);
    let mut alerts = with_one_event(&alerting, NOW);
    let first = UnixTime::from_seconds(NOW.seconds() - 3600);
    let at = |now| Situation {
        alerting: &alerting,
        pairs: &[],
        now,
    };
    alerts.insert(&over(slower("b\u{f6}nn", "cern", first), NOW), &at(NOW));
    alerts.advance(&at(later(NOW, 600)));
    assert_eq!(
        send_due(&mut alerts, &alerting, later(NOW, 600)),
        Vec::<String>::new()
    );
    let text = fs::read_to_string(&got).unwrap();
    assert!(
        text.contains("In-Reply-To: <1795543200-0-began@example.org>\n"),
        "{text}"
    );
    assert!(
        text.contains("Message-ID: <1795543200-0-over@example.org>\n"),
        "{text}"
    );
}

#[test]
fn a_command_that_fails_is_told_with_what_it_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = script(folder.path(), "echo 'no route to mail hub' >&2; exit 75");
    let alerting = mailed_by(&file);
    let mut alerts = with_one_event(&alerting, NOW);
    let errors = send_due(&mut alerts, &alerting, NOW);
    assert!(
        errors[0].ends_with("ended with exit status: 75: no route to mail hub"),
        "{errors:?}"
    );
    assert_eq!(alerts.unsent().len(), 1);
}

#[test]
fn a_command_that_reads_nothing_and_leaves_a_child_behind_blocks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = script(folder.path(), "sleep 3 & exit 0");
    let alerting = mailed_by(&file);
    let mut alerts = with_one_event(&alerting, NOW);
    assert_eq!(send_due(&mut alerts, &alerting, NOW), Vec::<String>::new());
}
