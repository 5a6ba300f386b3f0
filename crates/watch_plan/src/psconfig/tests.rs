use super::iso::seconds;
use super::read;
use crate::model::Kind;
use crate::{GroupKind, Plan, Timetable};

const FILE: &str = include_str!("../../testdata/psconfig.json");

fn plan() -> Plan {
    read(FILE, "psconfig.json")
        .unwrap_or_else(|error| panic!("{error}"))
        .0
}

#[test]
fn tests_and_schedules_become_tasks() {
    let plan = plan();
    let tasks: Vec<(&str, Kind, i64, String)> = plan
        .tasks()
        .iter()
        .map(|task| {
            let every = task.schedule.shortest();
            (
                task.name.as_str(),
                task.kind,
                every,
                task.duration.to_string(),
            )
        })
        .collect();
    assert_eq!(
        tasks,
        [
            ("goodput", Kind::Throughput, 14_400, "30s".to_owned()),
            ("owamp", Kind::Ping, 300, "10s".to_owned()),
            ("rtt", Kind::Ping, 600, "15s".to_owned()),
            ("trace", Kind::Path, 600, "30s".to_owned()),
        ]
    );
}

#[test]
fn addresses_of_one_host_are_one_machine() {
    let plan = plan();
    let machine = |host: &str| plan.hosts()[host].machine.as_str();
    assert_eq!(machine("a-thr.example.org"), "a.example.org");
    assert_eq!(machine("a-lat.example.org"), "a.example.org");
    // Without `host`, the same address is the same machine.
    assert_eq!(machine("c-lat.example.org"), "c-thr.example.org");
    assert!(!plan.hosts().contains_key("old.example.org"));
    let six = &plan.hosts()["a-thr.example.org:ipv6"];
    assert_eq!(
        (six.address.as_str(), six.machine.as_str()),
        ("2001:db8::a", "a.example.org")
    );
}

#[test]
fn groups_leave_out_what_they_exclude() {
    let plan = plan();
    let pairs = |task: usize| -> Vec<String> {
        let short = |name: &crate::HostName| name.as_str().replace(".example.org", "");
        let pairs = plan.pairs(&plan.tasks()[task]);
        pairs
            .iter()
            .map(|pair| format!("{}>{}", short(&pair.from), short(&pair.to)))
            .collect()
    };
    // Three hosts, all ordered pairs but one.
    assert_eq!(
        pairs(0),
        [
            "a-thr>b-thr",
            "a-thr>c-thr",
            "b-thr>a-thr",
            "c-thr>a-thr",
            "c-thr>b-thr"
        ]
    );
    assert_eq!(pairs(1), ["a-lat>c-lat", "c-lat>a-lat"]);
    assert_eq!(pairs(2), ["a-thr:ipv6>b-thr"]);
    assert!(matches!(plan.groups()["latency"], GroupKind::Mesh(_)));
    assert!(Timetable::new(&plan, 0).is_ok());
}

#[test]
fn what_has_no_counterpart_is_named_with_its_line() {
    let (_, notices) = read(FILE, "psconfig.json").unwrap();
    let said = |field: &str, text: &str| {
        let fits = |notice: &&crate::Notice| notice.field == field && notice.text.contains(text);
        let notice = notices.iter().find(fits);
        let notice = notice.unwrap_or_else(|| panic!("{field} {text}: {notices:#?}"));
        let key = field.rsplit('.').next().unwrap_or(field);
        let line = FILE.lines().nth(notice.line - 1).unwrap();
        assert!(
            line.contains(key) || line.contains('{'),
            "line {}: {line}",
            notice.line
        );
    };
    said("includes", "no counterpart");
    said("archives", "no counterpart");
    said("addresses.old.example.org", "disabled");
    said("addresses.b-thr.example.org.contexts", "no counterpart");
    said("hosts.a.example.org.archives", "no counterpart");
    said("groups.singles.type", "single addresses");
    said("tests.goodput.spec", "parallel");
    said("tests.udp.spec.udp", "UDP");
    said("tests.owamp.spec", "all the time");
    said("tests.snmp.type", "snmpget");
    said("schedules.PT4H", "no slip");
    said("schedules.PT10M.until", "no counterpart");
    said("tasks.goodput.priority", "no counterpart");
    for task in ["udp", "snmp"] {
        said(&format!("tasks.{task}"), "not in the plan");
    }
    said("tasks.once", "runs once");
    said("tasks.off", "disabled");
}

#[test]
fn all_mistakes_are_shown_with_their_lines() {
    let text = r#"{
    "addresses": {
        "a": { "address": "a.example.org" },
        "b": { "address": "b.example.org" },
        "a": { "address": "c.example.org" }
    },
    "groups": {
        "mesh": {
            "type": "mesh",
            "addresses": [
                { "name": "a" },
                { "name": "bb" }
            ]
        }
    },
    "tests": {
        "t": { "type": "throughput", "spec": { "duration": "30s" } }
    },
    "schedules": {
        "s": { "repeat": "P1Y" }
    },
    "tasks": {
        "one": { "group": "mash", "test": "u", "schedule": "r" },
        "two": { "group": 7, "test": "t" }
    }
}"#;
    let error = read(text, "bad.json").unwrap_err();
    let found: Vec<(usize, &str)> = error
        .mistakes()
        .iter()
        .map(|mistake| (mistake.line, mistake.problem.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (5, "`a` is written twice, first in line 3"),
            (12, "`bb` is not in `addresses`"),
            (17, "`30s` is no duration of ISO 8601"),
            (20, "`P1Y` is no duration of ISO 8601"),
            (23, "`mash` is not in `groups`"),
            (23, "`u` is not in `tests`"),
            (23, "`r` is not in `schedules`"),
            (24, "a number stands where a string in quotes is wanted"),
        ]
    );
    assert!(
        error.to_string().contains("did you mean `mesh`?"),
        "{error}"
    );
}

#[test]
fn what_is_no_psconfig_is_refused() {
    for (text, line, problem) in [
        ("", 1, "no JSON"),
        ("{\n\"addresses\": {,}\n}", 2, "no JSON"),
        ("[]", 1, "a list stands where a table is wanted"),
        ("{}", 1, "`addresses` is missing"),
        ("{} // done", 1, "no JSON"),
    ] {
        let error = read(text, "bad.json").unwrap_err();
        let first = &error.mistakes()[0];
        assert_eq!(first.line, line, "{text}: {error}");
        assert!(first.problem.contains(problem), "{text}: {error}");
    }
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(
        read(&deep, "deep.json")
            .unwrap_err()
            .to_string()
            .contains("nested 100001 deep")
    );
}

#[test]
fn a_file_without_any_counterpart_says_why() {
    let text = r#"{ "addresses": { "a": { "address": "a" } },
        "groups": { "g": { "type": "list", "addresses": [{ "name": "a" }] } },
        "tests": { "t": { "type": "snmpget", "spec": {} } },
        "schedules": { "s": { "repeat": "PT10M" } },
        "tasks": { "k": { "group": "g", "test": "t", "schedule": "s" } } }"#;
    let error = read(text, "snmp.json").unwrap_err().to_string();
    assert!(
        error.contains("no task of this file has a counterpart"),
        "{error}"
    );
    assert!(error.contains("`snmpget` has no counterpart"), "{error}");
}

#[test]
fn durations_of_iso_8601() {
    assert_eq!(seconds("PT4H"), Some(14_400.0));
    assert_eq!(seconds("P1W2DT3H4M5.5S"), Some(9.0 * 86_400.0 + 11_045.5));
    for text in [
        "", "P", "PT", "P1Y", "P1M", "PT1M2H", "PTS", "P-1D", "4H", "PT1e3S", "P1DT",
    ] {
        assert_eq!(seconds(text), None, "{text}");
    }
}
