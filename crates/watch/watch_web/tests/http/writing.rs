//! What those who know the token write: notes, acknowledgements, silences.

use std::sync::Arc;

use watch_store::{DatabaseName, Store};

use super::common::{Still, pair};
use super::{DAYS, MONTH, get, month, post, serve};

#[test]
fn silences_need_the_token() {
    let live = Arc::new(Still::new(DAYS));
    let server = serve(&MONTH.1, Some("secret"), Arc::clone(&live));
    let body = "from=slac&to=cern&task=goodput&hours=2&reason=works";
    assert_eq!(post(&server, "/silence", "", body).status, 403);
    let wrong = "Authorization: Bearer wrong\r\n";
    assert_eq!(post(&server, "/silence", wrong, body).status, 403);
    assert!(live.silences.lock().unwrap().is_empty());
    let right = "Authorization: Bearer secret\r\n";
    let answer = post(&server, "/silence", right, body);
    assert_eq!(answer.status, 303);
    assert!(
        answer.head.contains("location: /silences"),
        "{}",
        answer.head
    );
    let in_form = format!("{body}&token=secret");
    assert_eq!(post(&server, "/silence", "", &in_form).status, 303);
    let silences = live.silences.lock().unwrap();
    assert_eq!(silences.len(), 2);
    assert_eq!(silences[0].pair, Some(pair("slac", "cern")));
    assert_eq!(silences[0].until.seconds(), live.now.seconds() + 7200);
    let wrong = [
        ("hours=0&reason=x", "from 1 to 744"),
        ("hours=2", "not 1 to 500"),
        ("hours=2&reason=x&from=slac", "only one of"),
        ("hours=2&reason=x&of=world", "none of incident"),
        (
            "hours=2&reason=x&of=incident&task=goodput&from=slac",
            "`to` is missing",
        ),
    ];
    drop(silences);
    for (body, words) in wrong {
        let answer = post(&server, "/silence", right, body);
        assert_eq!(answer.status, 400, "{body}");
        let page = marked(&answer.body).to_lowercase();
        assert!(page.contains(words), "{body}: {page}");
    }
    let page = get(&server, "/incident/goodput/slac/cern/0");
    assert!(page.body.contains("name=\"token\""));
    let reader = month();
    assert_eq!(post(&reader, "/silence", right, body).status, 403);
    let page = get(&reader, "/incident/goodput/slac/cern/0");
    assert!(!page.body.contains("name=\"token\""));
}

/// A page without the marks around code.
fn marked(page: &str) -> String {
    page.replace("<code>", "`").replace("</code>", "`")
}

#[test]
fn a_silence_of_a_form_is_listed_and_can_be_ended() {
    let live = Arc::new(Still::new(DAYS));
    let server = serve(&MONTH.1, Some("secret"), Arc::clone(&live));
    let of = "token=secret&hours=5&reason=known&task=goodput&from=slac&to=cern&event=0";
    for (choice, about) in [
        ("incident", "an incident with "),
        ("pair", "Pair slac to cern"),
        ("from", "Host slac"),
        ("to", "Host cern"),
        ("task", "Task goodput"),
    ] {
        assert_eq!(
            post(&server, "/silence", "", &format!("{of}&of={choice}")).status,
            303
        );
        let page = get(&server, "/silences").body;
        assert!(
            page.to_lowercase().contains(&about.to_lowercase()),
            "{page}"
        );
        assert!(page.contains("for 5 h") && page.contains("known"), "{page}");
        let ended = post(&server, "/silence/end", "", "silence=0&token=secret");
        assert_eq!(ended.status, 303);
        assert!(live.silences.lock().unwrap().is_empty());
    }
    assert_eq!(
        post(&server, "/silence/end", "", "silence=0&token=secret").status,
        404
    );
    assert_eq!(post(&server, "/silence/end", "", "silence=0").status, 403);
    assert!(get(&server, "/events").body.contains("href=\"/silences\""));
}

#[test]
fn an_incident_is_acknowledged_and_notes_stay() {
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseName::Sqlite(folder.path().join("watch.sqlite"));
    let mut own = Store::open(&database).unwrap();
    let mut month = Store::open(&MONTH.1).unwrap();
    for stored in month.open_events(100).unwrap() {
        own.insert_event(&stored.pair, &stored.task, &stored.event)
            .unwrap();
    }
    let live = Arc::new(Still::new(DAYS));
    let server = serve(&database, Some("secret"), Arc::clone(&live));
    let of = "task=goodput&from=slac&to=cern&event=0";
    let page = "/incident/goodput/slac/cern/0";
    let before = get(&server, page);
    assert_eq!(before.status, 200, "{}", before.body);
    assert!(before.body.contains("Acknowledge or write a note"));
    let words = "words=Fibre+cut%0D%0AETA+%3Cb%3Etonight";
    let note = format!("{of}&kind=acknowledge&author=Ada+%3Ci%3E&{words}");
    assert_eq!(post(&server, "/note", "", &note).status, 403);
    let note = format!("{note}&token=secret");
    let answer = post(&server, "/note", "", &note);
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert!(
        answer.head.contains(&format!("location: {page}")),
        "{}",
        answer.head
    );
    let after = get(&server, page).body;
    for text in [
        "Ada &lt;i&gt;",
        "Fibre cut\nETA &lt;b&gt;tonight",
        "acknowledged by",
        "Take the",
    ] {
        assert!(after.contains(text), "{text}: {after}");
    }
    for list in ["/", "/events"] {
        assert!(
            get(&server, list).body.contains("acknowledged by"),
            "{list}"
        );
    }
    let release = format!("{of}&kind=release&author=Ada&token=secret");
    assert_eq!(post(&server, "/note", "", &release).status, 303);
    let released = get(&server, page).body;
    assert!(released.contains("took that back") && !released.contains("acknowledged by"));
    let wrong = [
        (
            format!("{of}&kind=note&author=A&token=secret"),
            400,
            "`words` is missing",
        ),
        (
            format!("{of}&kind=note&words=x&token=secret"),
            400,
            "`author` is missing",
        ),
        (
            format!("{of}&kind=shout&author=A&words=x&token=secret"),
            400,
            "give note,",
        ),
        (
            format!(
                "{of}&kind=note&author={}&words=x&token=secret",
                "A".repeat(81)
            ),
            400,
            "81 bytes, more than 80",
        ),
        (
            format!("{of}7&kind=note&author=A&words=x&token=secret"),
            404,
            "no event",
        ),
    ];
    for (body, status, text) in wrong {
        let answer = post(&server, "/note", "", &body);
        assert_eq!(answer.status, status, "{body}");
        let page = marked(&answer.body);
        assert!(page.to_lowercase().contains(text), "{body}: {page}");
    }
}
