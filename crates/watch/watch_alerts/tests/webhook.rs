//! Webhooks over real sockets.

mod common;

use std::fs;

use changes::UnixTime;
use common::{Server, alerting, answer, later, send_due, with_one_event};
use watch_alerts::{Alerts, send_test};

const NOW: UnixTime = UnixTime::from_seconds(1_795_546_800);

#[test]
fn a_webhook_gets_json_with_the_secret_header() {
    let server = Server::start(vec![answer("200 OK", "")]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("token"), "Bearer s3cret\n").unwrap();
    let text = format!(
        "base_url = \"https://watch.example.org/w\"\n[[webhook]]\n\
         url = \"http://127.0.0.1:{}/hook?a=1\"\n\
         header = {{ name = \"Authorization\", file = \"{}/token\" }}\n",
        server.port,
        folder.path().display()
    );
    let alerting = alerting(&text);
    let mut alerts = with_one_event(&alerting, NOW);
    assert_eq!(send_due(&mut alerts, &alerting, NOW), Vec::<String>::new());
    let request = server.request();
    assert_eq!(request.line, "POST /hook?a=1 HTTP/1.1");
    assert_eq!(request.headers["authorization"], "Bearer s3cret");
    assert_eq!(request.headers["content-type"], "application/json");
    let json: serde_json::Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(json["state"], "began");
    assert_eq!(json["severity"], "warning");
    assert_eq!(json["pairs"], 1);
    assert_eq!(json["since_unix_seconds"], 1_795_543_200);
    assert_eq!(
        json["link"],
        "https://watch.example.org/w/incident/goodput/b%C3%B6nn/cern/0"
    );
    assert!(
        json["text"]
            .as_str()
            .unwrap()
            .starts_with("Goodput from b\u{f6}nn to cern fell by 33")
    );
    // Sent once.
    assert_eq!(
        send_due(&mut alerts, &alerting, later(NOW, 7200)),
        Vec::<String>::new()
    );
    assert!(server.is_quiet());
}

#[test]
fn a_refusal_is_told_with_its_status_and_tried_again_later() {
    let refusal = answer("403 Forbidden", "no channel for s3cret\r\nhere");
    let server = Server::start(vec![refusal, answer("204 No Content", "")]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("url");
    fs::write(&file, format!("http://127.0.0.1:{}/s3cret\n", server.port)).unwrap();
    let header = folder.path().join("header");
    fs::write(&header, "s3cret").unwrap();
    let text = format!(
        "[[webhook]]\nurl_secret = {{ file = \"{}\" }}\n\
         header = {{ name = \"X-Token\", file = \"{}\" }}\n",
        file.display(),
        header.display()
    );
    let alerting = alerting(&text);
    let mut alerts = with_one_event(&alerting, NOW);
    let errors = send_due(&mut alerts, &alerting, NOW);
    let place = format!("http://127.0.0.1:{}", server.port);
    assert_eq!(
        errors,
        [format!(
            "{place} answered 403, not 200 to 299: no channel for (secret)  here"
        )]
    );
    server.request();
    // After a restart it is still there, and not before its time.
    let stored = serde_json::to_string(&alerts).unwrap();
    assert!(!stored.contains("s3cret"), "{stored}");
    let mut alerts: Alerts = serde_json::from_str(&stored).unwrap();
    assert_eq!(alerts.unsent().len(), 1);
    send_due(&mut alerts, &alerting, later(NOW, 29));
    assert!(server.is_quiet());
    assert_eq!(
        send_due(&mut alerts, &alerting, later(NOW, 30)),
        Vec::<String>::new()
    );
    server.request();
    assert_eq!(alerts.unsent(), []);
}

#[test]
fn a_redirect_is_not_followed() {
    let target = Server::start(vec![answer("200 OK", "")]);
    let location = format!("http://127.0.0.1:{}/", target.port);
    let redirect = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: {location}\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n"
    );
    let server = Server::start(vec![redirect]);
    let text = format!("[[webhook]]\nurl = \"http://127.0.0.1:{}/\"\n", server.port);
    let alerting = alerting(&text);
    let mut alerts = with_one_event(&alerting, NOW);
    let errors = send_due(&mut alerts, &alerting, NOW);
    assert!(errors[0].contains("answered 307"), "{errors:?}");
    server.request();
    assert!(target.is_quiet());
}

#[test]
fn what_is_never_taken_is_given_up_after_a_day_and_said() {
    // Nothing listens at the port of a listener that is gone.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let alerting = alerting(&format!(
        "[[webhook]]\nurl = \"http://127.0.0.1:{port}/\"\n"
    ));
    let mut alerts = with_one_event(&alerting, NOW);
    let mut errors = Vec::new();
    for minute in 0..48 * 60 {
        errors.extend(send_due(&mut alerts, &alerting, later(NOW, 60 * minute)));
    }
    assert!(errors[0].contains("does not answer"), "{errors:?}");
    assert!(
        (20..50).contains(&errors.len()),
        "{} attempts",
        errors.len()
    );
    let unsent = alerts.unsent();
    assert_eq!((unsent.len(), unsent[0].is_given_up), (1, true));
}

#[test]
fn a_test_gives_each_receiver_a_sentence() {
    let server = Server::start(vec![answer("200 OK", ""), answer("200 OK", "")]);
    let port = server.port;
    let text = format!(
        "[[webhook]]\nurl = \"http://127.0.0.1:{port}/hook\"\n\
         [[webhook]]\nurl_secret = {{ env = \"TRUNKLINE_NO_SUCH_VARIABLE\" }}\n\
         [[mail]]\ncommand = [\"/no/such/program\"]\nfrom = \"a@b\"\nto = [\"c@d\"]\n\
         [[alertmanager]]\nurl = \"http://127.0.0.1:{port}\"\n"
    );
    let results = send_test(&alerting(&text), NOW);
    let sentences: Vec<&str> = results.iter().map(|one| one.sentence.as_str()).collect();
    assert_eq!(
        sentences[0],
        "webhook 1 took the test message of 2026-11-24 19:00 UTC."
    );
    assert!(sentences[1].contains("variable `TRUNKLINE_NO_SUCH_VARIABLE` cannot be used"));
    assert!(
        sentences[2].contains("`/no/such/program` cannot be started"),
        "{}",
        sentences[2]
    );
    assert!(results[3].is_sent, "{}", sentences[3]);
    assert!(server.request().body.contains("Test of alerts"));
    assert_eq!(server.request().line, "POST /api/v2/alerts HTTP/1.1");
}
