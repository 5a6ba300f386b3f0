use super::iso::seconds;
use units::Family;

use crate::Kind;
use crate::{Notice, Plan, PlanError, Timetable};

const FILE: &str = include_str!("../../testdata/psconfig.json");
const SITES: &str = include_str!("../../testdata/psconfig-sites.json");
const COMMON: &str = include_str!("../../testdata/psconfig-common.json");

/// Reads a file whose includes are those of the tests.
fn read(text: &str, name: &str) -> Result<(Plan, Vec<Notice>), PlanError> {
    super::read(text, name, &mut |include| match include {
        "psconfig-common.json" | "/etc/psconfig/common.json" => Ok(COMMON.to_owned()),
        _ => Err("no such file".to_owned()),
    })
}

fn plan() -> Plan {
    read(FILE, "psconfig.json")
        .unwrap_or_else(|error| panic!("{error}"))
        .0
}

fn sites() -> (Plan, Vec<Notice>) {
    read(SITES, "sites.json").unwrap_or_else(|error| panic!("{error}"))
}

/// `from>to` of each pair of a task, without the domain.
fn pairs(plan: &Plan, task: &str) -> Vec<String> {
    let short = |name: &crate::HostName| name.as_str().replace(".example.org", "");
    let task = plan.tasks().iter().find(|one| one.name.as_str() == task);
    let pairs = plan.pairs(task.unwrap());
    let text = |pair: &crate::Pair| format!("{}>{}", short(&pair.from), short(&pair.to));
    pairs.iter().map(text).collect()
}

const UDP: Kind = Kind::Udp {
    rate: units::Rate::from_bits_per_second(50_000_000),
};

#[test]
fn a_rate_of_datagrams_is_a_number_or_a_text_and_in_bounds() {
    let with = |bandwidth: &str| {
        let text = FILE.replace("\"bandwidth\": 50000000", bandwidth);
        read(&text, "psconfig.json")
    };
    let kind = |bandwidth| {
        let (plan, _) = with(bandwidth).unwrap();
        let udp = plan.tasks().iter().find(|one| one.name.as_str() == "udp");
        udp.unwrap().kind
    };
    assert_eq!(kind("\"bandwidth\": \"50M\""), UDP);
    let (_, notices) = with("\"_meta\": {}").unwrap();
    let said = |notice: &Notice| notice.text.contains("sent at 1Mbit/s");
    assert!(notices.iter().any(said), "{notices:?}");
    for (wrong, what) in [
        (
            "\"bandwidth\": 5",
            "5bit/s is not between 12kbit/s and 1Tbit/s",
        ),
        ("\"bandwidth\": \"fast\"", "fast"),
    ] {
        let error = with(wrong).unwrap_err().to_string();
        assert!(
            error.contains(what) && error.contains("bandwidth"),
            "{error}"
        );
    }
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
            ("udp", UDP, 14_400, "10s".to_owned()),
            ("owamp", Kind::OneWay, 300, "10s".to_owned()),
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
    // Three hosts, all ordered pairs but one.
    assert_eq!(
        pairs(&plan, "goodput"),
        [
            "a-thr>b-thr",
            "a-thr>c-thr",
            "b-thr>a-thr",
            "c-thr>a-thr",
            "c-thr>b-thr"
        ]
    );
    assert_eq!(pairs(&plan, "owamp"), ["a-lat>c-lat", "c-lat>a-lat"]);
    assert_eq!(pairs(&plan, "rtt"), ["a-thr:ipv6>b-thr"]);
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
    said("archives", "no counterpart");
    said("addresses.old.example.org", "disabled");
    said("addresses.b-thr.example.org.contexts", "no counterpart");
    // What is said several times is one note with its lines.
    let archives = notices.iter().find(|notice| notice.field == "archives");
    assert_eq!(archives.unwrap().more.len(), 2);
    said("groups.singles.type", "single addresses");
    said("tests.goodput.spec.parallel", "settings of their own");
    said("tests.owamp.spec", "all the time");
    said("tests.snmp.type", "snmpget");
    said("schedules.PT4H", "no slip");
    said("schedules.PT10M.until", "no counterpart");
    said("tasks.goodput.priority", "no counterpart");
    said("tasks.once", "runs once");
}

#[test]
fn classes_match_by_host_tag_version_and_each_other() {
    let (plan, _) = sites();
    // Hosts with the tag of a site, in any letters, but those that another class has.
    assert_eq!(
        pairs(&plan, "west"),
        ["slac-lat>slac-thr", "slac-thr>slac-lat"]
    );
    // `not`, `or` and a class of a class.
    assert_eq!(
        pairs(&plan, "others"),
        [
            "bonn>cern-thr",
            "bonn>kek",
            "cern-thr>bonn",
            "cern-thr>kek",
            "kek>bonn",
            "kek>cern-thr"
        ]
    );
    assert_eq!(pairs(&plan, "numbers"), ["bonn>kek", "kek>bonn"]);
}

#[test]
fn remote_addresses_and_labels_go_by_the_other_end() {
    let (plan, notices) = sites();
    // Only these two have addresses of the backup path, towards each other.
    let backup = [
        "cern-thr:slac-thr:backup>slac-thr:cern-thr:backup",
        "slac-thr:cern-thr:backup>cern-thr:slac-thr:backup",
    ];
    let names = pairs(&plan, "backup");
    assert_eq!(names, backup);
    let name = "slac-thr.example.org:cern-thr.example.org:backup";
    let host = &plan.hosts()[name];
    assert_eq!(
        (host.address.as_str(), host.machine.as_str()),
        ("192.0.2.33", "slac.example.org")
    );
    let typo = notices
        .iter()
        .find(|notice| notice.field == "groups.typo.default-address-label");
    assert!(
        typo.unwrap().text.contains("did you mean `backup`?"),
        "{typo:?}"
    );
}

#[test]
fn tests_turn_round_and_have_a_version() {
    let (plan, _) = sites();
    let usual = ["kek>bonn"];
    let turned = ["bonn>kek"];
    assert_eq!(pairs(&plan, "usual"), usual);
    assert_eq!(pairs(&plan, "from-second"), turned);
    assert_eq!(pairs(&plan, "reverse"), turned);
    assert_eq!(pairs(&plan, "reverse-from-second"), usual);
    let ip = |name: &str| {
        plan.tasks()
            .iter()
            .find(|task| task.name.as_str() == name)
            .unwrap()
            .ip
    };
    assert_eq!((ip("usual"), ip("reverse")), (Some(Family::V4), None));
    // 192.0.2.1 does not speak IPv6.
    assert!(plan.tasks().iter().all(|task| task.name.as_str() != "six"));
}

/// Nothing asks such a host to send small packets.
#[test]
fn hosts_without_an_agent_are_visited_by_others() {
    let (plan, _) = sites();
    let quiet = &plan.hosts()["quiet.example.org"];
    assert!(!quiet.agent && plan.hosts()["bonn.example.org"].agent);
    assert_eq!(pairs(&plan, "quiet-trips"), ["bonn>quiet"]);
    assert_eq!(pairs(&plan, "quiet-goodput"), ["bonn>quiet", "quiet>bonn"]);
    let table = Timetable::new(&plan, 0).unwrap();
    let bonn = "bonn.example.org".parse().unwrap();
    let mut dues = table
        .next_visits(&bonn, 0)
        .filter_map(crate::Planned::visit);
    let turned = dues.find(crate::Due::is_turned).unwrap();
    assert_eq!(
        (turned.by.as_str(), turned.far().as_str()),
        ("bonn.example.org", "quiet.example.org")
    );
}

#[test]
fn included_files_add_what_is_not_there() {
    let (plan, notices) = sites();
    // From the included file; the one of the same name stays as it was.
    assert_eq!(plan.hosts()["kek.example.org"].address, "192.0.2.1");
    assert_eq!(plan.hosts()["bonn.example.org"].address, "192.0.2.2");
    let kept = notices
        .iter()
        .find(|notice| notice.text.contains("before it was included"));
    let kept = kept.unwrap();
    assert_eq!(
        (kept.file.as_deref(), kept.field.as_str()),
        (Some("psconfig-common.json"), "addresses.bonn.example.org")
    );
    assert!(COMMON.lines().nth(kept.line - 1).unwrap().contains("bonn"));
    assert!(
        kept.to_string().starts_with("psconfig-common.json, line "),
        "{kept}"
    );
}

/// One file with one include, and one mistake.
fn with_include(include: &str, included: &str) -> String {
    let text = SITES.replacen("psconfig-common.json", include, 1);
    let read = super::read(&text, "sites.json", &mut |_| Ok(included.to_owned()));
    read.unwrap_err().to_string()
}

#[test]
fn includes_are_bounded_and_their_mistakes_have_their_lines() {
    for (include, included, said) in [
        (
            "https://example.org/x.json",
            "{}",
            "all agents have to read the same",
        ),
        ("x.json", "{\n\n\"hosts\": 7}", "at x.json:3, field `hosts`"),
        (
            "x.json",
            "{\n\"addresses\": {\"a b\":\n{\"address\": 7}}}",
            "at x.json:3",
        ),
        ("x.json", "{\n", "at x.json:2"),
        ("x.json", "[]", "an included file is one object"),
        (
            "x.json",
            &" ".repeat(super::BYTES_MAX),
            "bytes, above 4194304",
        ),
        ("x.json", &"[".repeat(100_000), "at x.json:1"),
    ] {
        let error = with_include(include, included);
        assert!(error.contains(said), "{include}: {error}");
    }
    let many = vec!["\"x.json\""; super::INCLUDES_MAX + 1].join(",");
    let text = SITES.replacen("\"psconfig-common.json\"", &many, 1);
    let error = read(&text, "sites.json").unwrap_err().to_string();
    assert!(error.contains("33 files are above 32"), "{error}");
    let error = read(
        &SITES.replacen("psconfig-common.json", "gone.json", 1),
        "sites.json",
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("`gone.json` cannot be included: no such file"),
        "{error}"
    );
    // What an included file includes is not followed: nothing can go in circles.
    let text = SITES.replacen(
        "psconfig-common.json",
        "file:///etc/psconfig/common.json",
        1,
    );
    let (_, notices) = read(&text, "sites.json").unwrap();
    let own = notices.iter().find(|notice| notice.field == "includes");
    assert!(
        own.unwrap()
            .text
            .contains("of an included file is not used"),
        "{own:?}"
    );
}

#[test]
fn classes_that_cannot_be_resolved_are_refused() {
    let file = |classes: &str| {
        let group = r#"{ "type": "mesh", "addresses": [{ "class": "a" }, { "name": "x" }] }"#;
        let text = format!(
            r#"{{ "addresses": {{ "x": {{ "address": "x" }}, "y": {{ "address": "y" }} }},
            "address-classes": {{ {classes} }},
            "groups": {{ "g": {group} }},
            "tests": {{ "t": {{ "type": "rtt", "spec": {{}} }} }},
            "schedules": {{ "s": {{ "repeat": "PT10M" }} }},
            "tasks": {{ "k": {{ "group": "g", "test": "t", "schedule": "s" }} }} }}"#
        );
        read(&text, "f.json")
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let class = |name: &str, filter: &str| {
        let source = r#""data-source": { "type": "current-config" }"#;
        format!(r#""{name}": {{ {source}, "match-filter": {filter} }}"#)
    };
    let by = |name: &str| format!(r#"{{ "type": "address-class", "class": "{name}" }}"#);
    let own = file(&class("a", &by("a"))).unwrap_err();
    assert!(own.contains("`a` is part of itself"), "{own}");
    // Each names the next one twice: without memory it would be 2 to the power of 30.
    let twice = |name: &str| format!(r#"{{ "type": "or", "filters": [{0}, {0}] }}"#, by(name));
    let chain: Vec<String> = (0..30)
        .map(|at| class(&format!("c{at}"), &twice(&format!("c{}", at + 1))))
        .collect();
    let deep = format!(
        "{}, {}, {}",
        class("a", &by("c0")),
        chain.join(","),
        class("c30", &by("c0"))
    );
    let deep = file(&deep).unwrap_err();
    assert!(deep.contains("more than 16 deep"), "{deep}");
    let typo = file(&class("a", r#"{ "type": "hosts" }"#)).unwrap_err();
    assert!(typo.contains("did you mean `host`?"), "{typo}");
    let jq = file(&class("a", r#"{ "type": "jq", "jq": { "script": "." } }"#)).unwrap_err();
    assert!(jq.contains("give addresses or hosts a tag"), "{jq}");
    let empty = r#"{ "type": "and", "filters": [] }"#;
    assert!(file(&class("a", empty)).is_ok());
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
