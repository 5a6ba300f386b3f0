//! Requests over loopback, answered from a drawn month.

mod common;
#[path = "http/traffic.rs"]
mod traffic;
#[path = "http/writing.rs"]
mod writing;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use changes::{LossPattern, NoSlope, SizeSlope, SlowestLink, Visit, VisitKind};
use common::{Mesh, START, Still, name, time};
use tempfile::TempDir;
use units::Rate;
use watch_store::{DatabaseName, Pair, Store, StoredVisit};
use watch_web::{WebOptions, WebServer};

const DAYS: u64 = 30;

/// A filled database; its folder lives as long as the tests.
static MONTH: LazyLock<(TempDir, DatabaseName)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseName::Sqlite(folder.path().join("watch.sqlite"));
    let (visits, events) = Mesh::new(1124, DAYS).fill(&mut Store::open(&database).unwrap());
    assert!(
        visits > 20_000 && events >= 4,
        "{visits} visits, {events} events"
    );
    (folder, database)
});

fn serve(database: &DatabaseName, token: Option<&str>, live: Arc<Still>) -> WebServer {
    let options = WebOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        database: database.clone(),
        token: token.map(str::to_owned),
    };
    WebServer::start(options, live).unwrap()
}

fn month() -> WebServer {
    serve(&MONTH.1, None, Arc::new(Still::new(DAYS)))
}

/// An answer: status, head, body.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

fn ask(address: SocketAddr, request: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    // A server that refuses a request may reset the connection behind its answer.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_lowercase(),
        body: body.to_owned(),
    }
}

fn get(server: &WebServer, path: &str) -> Answer {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    ask(server.address(), &request)
}

fn post(server: &WebServer, path: &str, head: &str, body: &str) -> Answer {
    let length = body.len();
    let kind = "application/x-www-form-urlencoded";
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\n\
         Content-Length: {length}\r\n{head}\r\n{body}"
    );
    ask(server.address(), &request)
}

/// The addresses that a page links to.
fn links(page: &str) -> BTreeSet<String> {
    let parts = page.split(" href=\"").skip(1);
    let links = parts.filter_map(|part| part.split('"').next());
    let links = links.filter(|link| link.starts_with('/'));
    links.map(|link| link.replace("&amp;", "&")).collect()
}

#[test]
fn every_page_shows_what_it_is_for() {
    let server = month();
    let pages: [(&str, &[&str]); 11] = [
        (
            "/events?range=year",
            &[
                "goodput −70 %",
                "over after",
                "<bdi>cern</bdi> → <bdi>ral</bdi>",
            ],
        ),
        (
            "/",
            &[
                "goodput",
                "reach",
                "Open incidents",
                "bnl",
                "class=\"stale\"",
                "<b>Worst</b><a href=\"/pair/kek/desy?task=goodput\"",
            ],
        ),
        (
            "/charts",
            &[
                "Charts of goodput",
                "1 to 30 of 30 pairs",
                "slac to cern over time",
            ],
        ),
        ("/charts?task=reach&range=day", &["1 to 12 of 12 pairs"]),
        ("/?task=reach", &["Median round trip", "less than 1 % lost"]),
        (
            "/pair/slac/cern?task=goodput",
            &[
                "Forecast of goodput",
                "a copy of 1.00 TB",
                "median, none lost",
                "resent [%]",
                "<title id=\"over-time-title\">",
            ],
        ),
        (
            "/pair/slac/cern?task=goodput&range=year",
            &["goodput [Mbit/s]"],
        ),
        (
            "/event/goodput/slac/cern/0",
            &[
                "Before and after",
                "Causes, the likeliest first",
                "/visit/",
                "goodput",
            ],
        ),
        (
            "/months?task=goodput",
            &["Oct 2026", "Mbit/s", "kek to desy"],
        ),
        (
            "/months?task=goodput&by=group&figure=loss",
            &["transatlantic", "probes lost"],
        ),
        (
            "/hosts",
            &[
                "has another plan",
                "last heard of 2 h ago",
                "<strong>gone, 2 h ago</strong>",
                "visits that wait",
                "What is next",
                "Who waits",
                "watch.sqlite, 41 MB",
            ],
        ),
    ];
    for (path, words) in pages {
        let page = get(&server, path);
        assert_eq!(page.status, 200, "{path}");
        for word in words {
            assert!(page.body.contains(word), "{path} lacks {word}");
        }
    }
}

#[test]
fn months_of_a_group_have_a_mean_and_the_visits_behind_it() {
    let path = "/months?task=goodput&by=group&figure=loss";
    let page = get(&month(), path).body;
    let rows: Vec<&str> = page
        .split("<tr")
        .filter(|row| row.contains("transatlantic"))
        .collect();
    let [means, counts] = rows[..] else {
        panic!("{} rows of the group", rows.len());
    };
    let cell = |row: &str| {
        let (_, rest) = row.split_once("data-name=\"Oct 2026\">").unwrap();
        rest.split('<').next().unwrap().to_owned()
    };
    // A thousandth of the probes, of 12 pairs with a visit an hour.
    let mean = cell(means);
    let loss: f64 = mean.strip_suffix(" %").unwrap().parse().unwrap();
    assert!((0.06..0.14).contains(&loss), "{mean}");
    let counts = cell(counts);
    let visits: u64 = counts.strip_prefix("12 / ").unwrap().parse().unwrap();
    assert!((8_500..=12 * 24 * DAYS).contains(&visits), "{counts}");
}

/// The axis of time of the chart of a page, in seconds since 1970.
fn axis(page: &str) -> (u64, u64) {
    let end = |name: &str| {
        let (_, rest) = page.split_once(name).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    };
    (end("data-from=\""), end("data-to=\""))
}

#[test]
fn charts_show_the_range_that_is_asked_for_where_there_are_visits() {
    let server = month();
    let now = Still::new(DAYS).now.seconds();
    let shown = |path: &str| axis(&get(&server, path).body);
    let of_pair = |query: &str| shown(&format!("/pair/slac/cern?task=goodput&{query}"));
    let (from, to) = of_pair("range=year");
    assert!(from < START + 3600, "the year begins with the first visit");
    assert_eq!(to, now + 1);
    assert_eq!(of_pair("range=month").1 - from, now + 1 - from);
    let six = of_pair("from=2026-10-05T06:00&to=2026-10-05T12:00");
    assert_eq!(six.1 - six.0, 6 * 3600);
    let event = "/event/goodput/slac/cern/0";
    let (from, to) = shown(&format!("{event}?range=6%20hours"));
    assert_eq!(to - from, 6 * 3600);
    let usual = shown(event);
    assert!(
        usual.0 < from && to < usual.1 && usual.1 <= now,
        "{usual:?}"
    );
    let chosen = shown(&format!("{event}?from={}&to={to}", from + 60));
    assert_eq!(chosen, (from + 60, to));
}

#[test]
fn a_demonstration_has_no_columns_of_agents_and_what_begins_now_is_not_next() {
    let live = Still {
        agents: Vec::new(),
        ..Still::new(DAYS)
    };
    let page = get(&serve(&MONTH.1, None, Arc::new(live)), "/hosts").body;
    for word in ["agent seen", "never", "clock"] {
        assert!(!page.contains(word), "{word}");
    }
    let (_, row) = page.split_once("data-name=\"host\">bnl</td>").unwrap();
    let next = row.split("</td>").nth(1).unwrap();
    assert!(next.contains(", in 10 min"), "{next}");
}

#[test]
fn two_pairs_or_two_times_stand_on_one_chart() {
    let server = month();
    let page = "/pair/slac/cern?task=goodput&range=week";
    let strokes = |query: &str| {
        let answer = get(&server, &format!("{page}{query}"));
        assert_eq!(answer.status, 200, "{query}");
        (answer.body.matches("#CC79A7").count(), answer.body)
    };
    assert_eq!(strokes("").0, 0);
    assert_eq!(
        strokes("&days=0&with_from=slac&with_to=cern").0,
        0,
        "itself"
    );
    let (week, body) = strokes("&days=7");
    assert!(
        week > 100 && body.contains("slac → cern, 7 days earlier: median"),
        "{week}"
    );
    assert!(body.contains("range=day&amp;with") || body.contains("days=7&amp;range=day"));
    let (other, body) = strokes("&with_from=kek&with_to=desy");
    assert!(other > 100 && body.contains("beside kek → desy"), "{other}");
    let (none, _) = strokes("&days=3000");
    assert_eq!(none, 1, "the legend alone");
}

#[test]
fn small_charts_stand_in_the_order_of_the_worst() {
    let server = month();
    let page = get(&server, "/charts?task=goodput").body;
    let place = |pair: &str| page.find(&format!("/pair/{pair}?task=goodput&amp;range=week"));
    let [kek, ral, slac, bnl] = ["kek/desy", "ral/desy", "slac/cern", "cern/bnl"].map(place);
    assert!(kek.is_some() && kek < ral && ral < slac && slac < bnl);
    let rest = get(&server, "/charts?task=goodput&skip=29").body;
    assert!(rest.contains("30 to 30 of 30 pairs") && rest.contains("← worse"));
    let none = get(&server, "/charts?task=goodput&skip=1000000");
    assert_eq!(none.status, 200);
}

#[test]
fn every_link_leads_to_a_page() {
    let server = month();
    let mut known = BTreeSet::from(["/".to_owned()]);
    let mut waiting: Vec<String> = known.iter().cloned().collect();
    let mut visited = 0;
    while let Some(path) = waiting.pop().filter(|_| visited < 250) {
        visited += 1;
        let page = get(&server, &path);
        assert_eq!(page.status, 200, "{path}");
        for link in links(&page.body) {
            // One pair's visits stand for those of all.
            let is_new = !link.starts_with("/visit/") || known.len() < 200;
            if is_new && known.insert(link.clone()) {
                waiting.push(link);
            }
        }
    }
    assert!(visited > 60, "{visited} pages");
}

#[test]
fn a_visit_has_all_its_raw_values() {
    let server = month();
    let lines = get(&server, "/stream.ndjson?limit=3&from=2026-10-02");
    assert_eq!(lines.status, 200);
    let visits = lines
        .body
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let visits: Vec<StoredVisit> = visits.collect();
    assert_eq!(visits.len(), 3);
    assert!(
        visits
            .windows(2)
            .all(|pair| pair[0].visit.at <= pair[1].visit.at)
    );
    let stored = &visits[0];
    let loaded = Store::open(&MONTH.1)
        .unwrap()
        .load(stored.id)
        .unwrap()
        .unwrap();
    assert_eq!(loaded.stored, *stored);
    let page = get(&server, &format!("/visit/{}", stored.id));
    for trip in stored.visit.round_trips.as_ref().unwrap().sorted() {
        let text = format!("{:.3}", trip.as_secs_f64() * 1e3);
        assert!(page.body.contains(&text), "{text}");
    }
    assert!(page.body.contains("192.0.1.8") && page.body.contains("100 values"));
}

#[test]
fn what_is_asked_wrongly_is_named_with_the_next_step() {
    let server = month();
    let wrong = [
        ("/nothing", 404, "begin with the list"),
        ("/?task=x", 404, "no task is called"),
        ("/pair/slac/mars", 404, "choose a pair from the grid"),
        ("/pair/slac/cern?task=other", 404, "does not visit the pair"),
        (
            "/pair/slac/cern?range=age",
            400,
            "none of hour, 6 hours, day, week, month, year",
        ),
        (
            "/pair/slac/cern?from=2026-10-02&to=2026-10-01",
            400,
            "has no length",
        ),
        ("/pair/slac/cern?from=0", 400, "longer than ten years"),
        ("/pair/%00/cern", 400, "control character"),
        ("/event/goodput/slac/cern/77", 404, "has no event"),
        ("/event/goodput/slac/cern/x", 404, "has no event"),
        ("/incident/goodput/slac/cern/77", 404, "has no event"),
        ("/visit/12", 404, "no visit has the identity"),
        (
            "/visit/00000000000000000000000000000000",
            404,
            "choose one from",
        ),
        ("/months?year=99999", 400, "no whole number up to 9998"),
        ("/months?year=9", 400, "not between 1970"),
        ("/months?figure=x", 400, "none of goodput"),
        ("/months?task=x", 404, "no task"),
        (
            "/pair/slac/cern?with_to=mars",
            404,
            "no task visits the pair slac to mars",
        ),
        ("/pair/slac/cern?days=x", 400, "no whole number up to 3660"),
        ("/charts?task=x", 404, "no task is called"),
        ("/charts?skip=-1", 400, "no whole number up to 1000000"),
        (
            "/stream.ndjson?limit=10001",
            400,
            "no whole number up to 10000",
        ),
        (
            "/stream.ndjson?from=2026-01-01&to=2026-03-01",
            400,
            "31 days",
        ),
    ];
    for (path, status, words) in wrong {
        let answer = get(&server, path);
        assert_eq!(answer.status, status, "{path}");
        let text = answer.body.replace("&quot;", "\"");
        assert!(
            text.to_lowercase().contains(&words.to_lowercase()),
            "{path}: {text}"
        );
    }
}

#[test]
fn answers_load_nothing_from_elsewhere_and_set_no_cookie() {
    let server = month();
    for path in [
        "/",
        "/hosts",
        "/nothing",
        "/style.css",
        "/stream.ndjson",
        "/metrics",
    ] {
        let head = get(&server, path).head;
        assert!(
            head.contains("content-security-policy: default-src 'none'"),
            "{path}"
        );
        assert!(head.contains("x-content-type-options: nosniff"), "{path}");
        assert!(!head.contains("set-cookie"), "{path}");
    }
    for path in [
        "/",
        "/style.css",
        "/script.js",
        "/icon.svg",
        "/pair/slac/cern?task=goodput",
    ] {
        let body = get(&server, path)
            .body
            .replace("http://www.w3.org/2000/svg", "");
        assert!(!body.contains("://"), "{path}");
    }
}

/// The head of an answer to a client that takes these encodings, and its bytes.
fn taking(server: &WebServer, path: &str, encodings: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Accept-Encoding: {encodings}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    (head.to_lowercase(), bytes)
}

#[test]
fn answers_are_compressed_for_those_who_take_it() {
    let server = month();
    let month = "/pair/slac/cern?task=goodput&range=month";
    for path in [
        month,
        "/style.css",
        "/script.js",
        "/stream.ndjson?from=2026-10-02",
    ] {
        let (head, packed) = taking(&server, path, "br, gzip;q=0.8");
        assert!(head.contains("content-encoding: gzip"), "{path}: {head}");
        assert!(packed.ends_with(b"\r\n0\r\n\r\n"), "{path} is broken off");
        let (head, plain) = taking(&server, path, "gzip;q=0, identity");
        assert!(!head.contains("content-encoding"), "{path}: {head}");
        assert!(packed.len() * 2 < plain.len(), "{path}: {}", packed.len());
    }
}

#[test]
fn hostile_names_are_only_names() {
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseName::Sqlite(folder.path().join("watch.sqlite"));
    let script = "<script>alert(1)</script>";
    let names = [script, "..", "a/b?c#d&e=\"f'", "東%2F", "u\u{202e}v"];
    let mut mesh = Mesh::new(7, 1);
    let mut store = Store::open(&database).unwrap();
    for from in names {
        let of = Pair {
            from: name(from),
            to: name("~x"),
        };
        let mut visit = Visit::new(time(START + 3600), VisitKind::Ping);
        let reason = "<img src=x onerror=alert(2)>\u{1b}[31m\u{202e}".to_owned();
        visit.failure = Some(changes::Failure { reason });
        let stored = mesh.stored(&of, from, visit, None);
        store.insert(&[stored]).unwrap();
    }
    let live = Still {
        table: None,
        agents: Vec::new(),
        ..Still::new(1)
    };
    let server = serve(&database, None, Arc::new(live));
    let grid = get(&server, "/");
    let links = links(&grid.body);
    let pairs: Vec<&String> = links
        .iter()
        .filter(|link| link.starts_with("/pair/"))
        .collect();
    assert_eq!(pairs.len(), names.len(), "{links:?}");
    for path in pairs
        .into_iter()
        .map(String::as_str)
        .chain(["/", "/hosts", "/months"])
    {
        let page = get(&server, path);
        assert_eq!(page.status, 200, "{path}");
        for bad in ["<script>alert", "<img", "\u{1b}", "\u{202e}"] {
            assert!(!page.body.contains(bad), "{path}: {bad}");
        }
    }
}

#[test]
fn pages_have_the_slowest_link_and_loss_periods() {
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseName::Sqlite(folder.path().join("watch.sqlite"));
    let of = Pair {
        from: name("a"),
        to: name("b"),
    };
    let [rate, low, high] = [22, 20, 25].map(|mbit| Rate::from_bits_per_second(mbit * 1_000_000));
    let mut known = Visit::new(time(START + 3600), VisitKind::Ping);
    known.losses = LossPattern::of([true, true, false, true]);
    known.slowest_link = Some(SlowestLink::Slope(SizeSlope { rate, low, high }));
    let mut unknown = Visit::new(time(START + 7200), VisitKind::Ping);
    unknown.slowest_link = Some(SlowestLink::Unknown(NoSlope::NotGrowing));
    let mut mesh = Mesh::new(9, 1);
    let visits = [known, unknown].map(|visit| mesh.stored(&of, "trips", visit, None));
    Store::open(&database).unwrap().insert(&visits).unwrap();
    let live = Still {
        table: None,
        agents: Vec::new(),
        ..Still::new(1)
    };
    let server = serve(&database, None, Arc::new(live));
    let has = |path: &str, words: &str| {
        let body = get(&server, path).body;
        assert!(body.contains(words), "{path} lacks `{words}`: {body}");
    };
    has("/pair/a/b", "at least 20.0 Mbit/s, median of 1 visit.");
    let [known, unknown] = visits.map(|stored| format!("/visit/{}", stored.id));
    has(&known, "at least 20.0 Mbit/s");
    has(
        &known,
        "2 loss periods, the longest of 2 packets, 1 to 2 from loss to loss",
    );
    has(&unknown, "do not grow with the size of packets");
}

#[test]
fn requests_are_bounded() {
    let server = month();
    let long = "x".repeat(200_000);
    let status = get(&server, &format!("/?task={long}")).status;
    assert!(matches!(status, 414 | 431), "{status}");
    let body = format!("reason={long}");
    assert_eq!(post(&server, "/silence", "", &body).status, 413);
    let name = "x".repeat(300);
    assert_eq!(get(&server, &format!("/?task={name}")).status, 400);
    assert_eq!(get(&server, "/pair/%ff/cern").status, 400);
    // A client that says nothing keeps no other from an answer.
    let silent: Vec<TcpStream> = (0..50)
        .map(|_| TcpStream::connect(server.address()).unwrap())
        .collect();
    assert_eq!(get(&server, "/").status, 200);
    drop(silent);
}

#[test]
fn a_broken_database_is_named_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("watch.sqlite");
    std::fs::write(
        &file,
        "no database at all, but long enough to look like one",
    )
    .unwrap();
    let server = serve(
        &DatabaseName::Sqlite(file.clone()),
        None,
        Arc::new(Still::new(1)),
    );
    for path in ["/", "/hosts", "/pair/slac/cern", "/stream.ndjson"] {
        let answer = get(&server, path);
        assert_eq!(answer.status, 503, "{path}");
        assert!(
            answer.body.to_lowercase().contains("move it away"),
            "{path}: {}",
            answer.body
        );
    }
    // Once it is mended the same server answers.
    std::fs::remove_file(&file).unwrap();
    assert_eq!(get(&server, "/").status, 200);
}

#[test]
fn open_pages_hear_of_changes_until_the_server_stops() {
    let server = month();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream
        .write_all(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut text = String::new();
    let mut read_until = |word: &str| {
        let mut bytes = [0; 1024];
        while !text.contains(word) {
            let count = stream.read(&mut bytes).unwrap();
            assert!(count > 0, "ended without {word}: {text}");
            text += &String::from_utf8_lossy(&bytes[..count]);
        }
    };
    read_until("text/event-stream");
    server.notify();
    read_until("event: changed");
    let address = server.address();
    server.stop();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_web_site_that_points_its_name_at_this_host_reads_nothing() {
    let server = month();
    let status = |host: &str| {
        let head = format!("GET /hosts HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        ask(server.address(), &head).status
    };
    assert_eq!(status("evil.example"), 421);
    assert_eq!(status(&server.address().to_string()), 200);
}

/// 300 of each: bodies that do not come, heads that do not end, and readers that read nothing.
#[test]
fn connections_that_stand_still_keep_no_place() {
    let server = month();
    let half = "GET / HTTP/1.1\r\nHost: local";
    let body = "POST /silence HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\na";
    let unread = "GET /stream.ndjson?from=0&limit=10000 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for words in [half, body, unread] {
        let begin = |_| {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            let _ = stream.write_all(words.as_bytes());
            stream
        };
        let still: Vec<TcpStream> = (0..300).map(begin).collect();
        // It ends long before the time of a head, a body or a reader is over.
        assert_eq!(get(&server, "/metrics").status, 200, "{words}");
        drop(still);
    }
}

#[test]
fn visits_are_streamed_from_the_beginning_in_parts_that_join() {
    let server = month();
    let mut seen = BTreeSet::new();
    let mut from = 0.0;
    loop {
        let lines = get(&server, &format!("/stream.ndjson?from={from}&limit=900")).body;
        let before = seen.len();
        for line in lines.lines().filter(|line| line.starts_with('{')) {
            let visit: serde_json::Value = serde_json::from_str(line).unwrap();
            from = visit["visit"]["at_unix_seconds"].as_f64().unwrap();
            seen.insert(visit["id"].to_string());
        }
        if seen.len() == before {
            break;
        }
    }
    let mut store = Store::open(&MONTH.1).unwrap();
    let (begin, end) = (time(0), time(4_000_000_000));
    let all = store.all_visits((begin, end), u32::MAX).unwrap();
    assert_eq!(seen.len(), all.len());
}
