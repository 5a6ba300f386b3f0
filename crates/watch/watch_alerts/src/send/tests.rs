use std::time::Instant;

use super::*;

fn mail(command: &str) -> Mail {
    Mail {
        program: "/bin/sh".to_owned(),
        arguments: vec!["-c".to_owned(), command.to_owned()],
        to: vec!["noc@example.org".parse().unwrap()],
        from: "watch@example.org".parse().unwrap(),
    }
}

#[test]
fn a_command_that_does_not_end_is_ended_with_its_children() {
    let file = tempfile::NamedTempFile::new().unwrap();
    // The child would write after the limit.
    let command = format!("(sleep 2; echo late > {}) & wait", file.path().display());
    let began = Instant::now();
    let error = mail::run(&mail(&command), "", Duration::from_millis(100)).unwrap_err();
    assert!(error.to_string().contains("was ended after"), "{error}");
    std::thread::sleep(Duration::from_millis(2500).saturating_sub(began.elapsed()));
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "");
}

#[test]
fn no_name_adds_a_header_to_a_mail() {
    let now = UnixTime::from_seconds(1_795_543_200);
    let mut notification = Notification::test(now);
    notification.headline = "Goodput\r\nBcc: all@example.org\n\nfrom \u{f6}".to_owned();
    let text = mail::text(&mail(""), &notification, now).unwrap();
    let header = text.split("\n\n").next().unwrap();
    let names = header.lines().filter(|line| !line.starts_with([' ', '\t']));
    let names: Vec<&str> = names.filter_map(|line| line.split(':').next()).collect();
    assert!(
        !names.contains(&"Bcc") && names.contains(&"Subject"),
        "{header}"
    );
    assert!(header.is_ascii() && header.contains("=?utf-8?"), "{header}");
}

#[test]
fn a_secret_is_read_without_its_line_end_and_an_empty_one_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let secret = Secret::File(file.path().to_owned());
    assert!(
        read(&secret)
            .unwrap_err()
            .to_string()
            .contains("it is empty")
    );
    fs::write(file.path(), "Bearer x\r\n").unwrap();
    assert_eq!(read(&secret).unwrap(), "Bearer x");
    let gone = Secret::File("/no/such/file".into());
    assert!(
        read(&gone)
            .unwrap_err()
            .to_string()
            .contains("the file `/no/such/file` cannot be used")
    );
}
