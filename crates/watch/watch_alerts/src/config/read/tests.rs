use changes::Metric;
use units::Span;

use crate::config::{Place, Secret};
use crate::{Alerting, Severity};

fn example() -> &'static str {
    let page = include_str!("../../../../../../docs/reference/watch-alerts.md");
    let rest = page.split("```toml\n").nth(1).unwrap();
    rest.split("```").next().unwrap()
}

fn refused(text: &str) -> String {
    match Alerting::parse(text, "alerts.toml") {
        Err(error) => error.to_string(),
        Ok(_) => panic!("accepted: {text}"),
    }
}

#[test]
fn the_example_of_the_page_is_read() {
    let alerting = Alerting::parse(example(), "etc/alerts.toml");
    let alerting = alerting.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(alerting.rules, super::RULES);
    let receivers = &alerting.receivers;
    let header = receivers.webhooks[0].header.as_ref().unwrap();
    assert_eq!(header.value, Secret::File("etc/secrets/chat".into()));
    let secret = Secret::Environment("CHAT_URL".to_owned());
    assert_eq!(receivers.webhooks[1].url, Place::Secret(secret));
    assert_eq!(receivers.mails[0].program, "sendmail");
    assert_eq!(receivers.mails[0].arguments, ["-t"]);
    assert_eq!(
        receivers.alertmanagers[0].url.to_string(),
        "http://localhost:9093"
    );
    let silence = &alerting.silences[0];
    assert_eq!(silence.host.as_ref().unwrap().as_str(), "slac");
    assert_eq!(
        (silence.until.seconds(), silence.reason.as_str()),
        (1_796_112_000, "new switch")
    );
}

#[test]
fn the_page_has_every_key_and_every_default() {
    let page = include_str!("../../../../../../docs/reference/watch-alerts.md");
    let keys = "base_url hold severity url url_secret header command from to host \
                pair task metric until reason";
    for key in keys.split(' ') {
        assert!(page.contains(&format!("| `{key}` |")), "{key}");
    }
    for metric in Metric::ALL {
        assert!(page.contains(&format!("`{}`", super::key_of(metric))));
        // The name is that of documents.
        let name = serde_json::to_value(metric).unwrap();
        assert_eq!(name, super::key_of(metric));
    }
    assert_eq!(super::RULES.hold, Span::from_secs(600));
    assert_eq!(super::RULES.severity, Severity::Warning);
}

#[test]
fn all_mistakes_are_shown_with_their_lines() {
    let text = r#"
base_url = "ftp://x"
colour = "red"
[defaults]
hold = "48h"
group_window = "1500ms"
severity = "warnings"
[[webhook]]
header = { name = "two words", file = "x", env = "Y" }
[[webhook]]
url = "https://chat.example.org/"
url_secret = { file = "x" }
[[mail]]
command = []
from = "watch"
to = ["noc@example.org\nBcc: all@example.org"]
[[alertmanager]]
url = 9093
[[silence]]
pair = ["a"]
metric = "speed"
until = "tomorrow"
[[silence]]
until = "2026-12-01T08:00:00Z"
reason = "no selector"
"#;
    let error = Alerting::parse(text, "alerts.toml").unwrap_err();
    let lines: Vec<usize> = error
        .mistakes()
        .iter()
        .map(|mistake| mistake.line)
        .collect();
    let all = [
        2, 3, 5, 6, 7, 8, 9, 9, 11, 14, 15, 16, 18, 19, 20, 21, 22, 23,
    ];
    assert_eq!(lines, all, "{error}");
    let text = error.to_string();
    for part in [
        "at alerts.toml:6, field `defaults.group_window`",
        "172800s is not between 0ns and 86400s",
        "did you mean `warning`?",
        "has both of `file` and `env`",
        "write one like `noc@example.org`",
        "`reason` is missing",
    ] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
    assert!(
        error
            .mistakes()
            .iter()
            .all(|mistake| !mistake.hint.is_empty())
    );
}

#[test]
fn a_file_without_a_receiver_is_refused() {
    for text in ["", "webhook = []", "[defaults]\nhold = \"1min\""] {
        assert!(refused(text).contains("has no receiver"), "{text}");
    }
}

#[test]
fn what_is_no_toml_is_refused_with_the_layout() {
    let error = refused("[[webhook]\nurl = x");
    assert!(
        error.contains("alerts.toml:1") && error.contains("`[[mail]]`"),
        "{error}"
    );
}

#[test]
fn a_secret_that_is_written_into_the_file_is_not_shown() {
    let text = "[[webhook]]\nurl = \"hunter2\"\nheader = { name = \"X\", env = \"hunter2 or so\" }";
    assert!(!refused(text).contains("hunter2"), "{}", refused(text));
    let good = "[[webhook]]\nurl = \"https://user:hunter2@host.example.org/hunter2?hunter2\"";
    let alerting = Alerting::parse(good, "alerts.toml").unwrap();
    assert!(!format!("{alerting:?}").contains("hunter2"), "{alerting:?}");
}

#[test]
fn changed_files_are_refused_with_a_hint_or_usable() {
    let pieces = [
        "=",
        "\"",
        "[[mail]]\n",
        "file",
        "\n",
        "{ }",
        "9093",
        "[",
        "until",
        "\u{e9}",
    ];
    testkit::read_changed(
        21,
        3000,
        &[example()],
        &pieces,
        |text| match Alerting::parse(text, "alerts.toml") {
            Ok(alerting) => {
                assert!(!alerting.receivers.all().is_empty());
                true
            }
            Err(error) => {
                let mistakes = error.mistakes();
                assert!(!mistakes.is_empty());
                assert!(
                    mistakes
                        .iter()
                        .all(|one| !one.hint.is_empty() && one.line > 0)
                );
                false
            }
        },
    );
}
