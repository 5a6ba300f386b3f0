use units::Dscp;

use crate::{GroupKind, Kind, Plan, PlanError};

const EXAMPLE: &str = include_str!("../../testdata/plan.toml");

/// A plan of two hosts with one task, whose lines are `task`.
fn with_task(task: &str) -> String {
    format!(
        "[hosts]\na = {{ address = \"a\", link = \"1G\" }}\nb = {{ address = \"b\" }}\n\
         [groups]\ng = {{ mesh = [\"a\", \"b\"] }}\n[tasks.t]\n{task}\n"
    )
}

fn refused(text: &str) -> PlanError {
    match Plan::parse(text, "bad.toml") {
        Err(error) => error,
        Ok(_) => panic!("accepted: {text}"),
    }
}

#[test]
fn the_example_is_read_without_a_notice() {
    let (plan, notices) =
        Plan::parse(EXAMPLE, "plan.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(notices, []);
    assert_eq!(
        (plan.hosts().len(), plan.groups().len(), plan.tasks().len()),
        (6, 4, 7)
    );
    assert_eq!(plan.utc_offset().to_string(), "+01:00");
    assert_eq!(
        plan.hosts()["slac"].token.as_ref().unwrap().as_str(),
        "tokens/slac"
    );
    assert_eq!(
        plan.hosts()["bonn-v6"].machine,
        plan.hosts()["bonn"].machine
    );
    assert!(matches!(
        plan.groups()["universities"],
        GroupKind::Disjoint { .. }
    ));
    assert_eq!(plan.groups()["universities"].pairs().len(), 12);
    let copy = plan
        .tasks()
        .iter()
        .find(|task| task.name.as_str() == "disks")
        .unwrap();
    assert!(matches!(copy.kind, Kind::Copy { size } if size.get() == 20_000_000_000));
    // The text alone decides.
    assert_eq!(plan, Plan::parse(EXAMPLE, "copy.toml").unwrap().0);
}

#[test]
fn all_mistakes_are_shown_with_their_lines() {
    let text = r#"
gap = "2h"
zone = "CET"
[hosts]
slac = { address = "slac.example.org" }
cern = { adress = "cern.example.org" }
"two words" = { address = "x" }
[groups]
all = { mesh = ["slac", "cren", "slac"] }
none = {}
[tasks.goodput]
kind = "thoughput"
group = "al"
every = "30"
duration = "1500ms"
[tasks.pings]
kind = "ping"
group = "all"
every = "5min"
cron = "* * * * *"
budget = { share = "10%", quiet = ["8-18"] }
"#;
    let error = refused(text);
    let found: Vec<usize> = error
        .mistakes()
        .iter()
        .map(|mistake| mistake.line)
        .collect();
    // gap, zone, adress and the address, two words; cren, slac twice, none;
    // kind, group, every, duration; every and cron, no duration, share, quiet.
    assert_eq!(
        found,
        [2, 3, 6, 6, 7, 9, 9, 10, 12, 13, 14, 15, 16, 16, 21, 21, 21],
        "{error}"
    );
    let text = error.to_string();
    for part in [
        "at bad.toml:12, field `tasks.goodput.kind`",
        "did you mean `address`?",
        "did you mean `cern`?",
        "did you mean `throughput`?",
        "did you mean `all`?",
        "7200s is not between 1s and 600s",
        "the unit is missing",
        "not a whole number of seconds",
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
fn a_name_that_is_written_twice_is_refused_with_its_line() {
    let error = refused("[hosts.a]\naddress = \"a\"\n[hosts.a]\naddress = \"b\"\n");
    assert_eq!(error.mistakes()[0].line, 3, "{error}");
}

#[test]
fn one_address_of_two_machines_is_refused() {
    let text = with_task("kind = \"ping\"\ngroup = \"g\"\nevery = \"5min\"\nduration = \"10s\"");
    assert!(Plan::parse(&text, "good.toml").is_ok());
    let error = refused(&text.replace("address = \"b\"", "address = \"A\""));
    assert!(
        error
            .to_string()
            .contains("is the address of `a` and of `b`"),
        "{error}"
    );
    assert_eq!(error.mistakes()[0].line, 3);
}

#[test]
fn each_key_has_its_bounds() {
    let good = "kind = \"throughput\"\ngroup = \"g\"\nevery = \"1h\"\nduration = \"10s\"";
    assert!(Plan::parse(&with_task(good), "good.toml").is_ok());
    for (from, to, problem) in [
        ("\"1h\"", "\"9s\"", "9s is not between 10s"),
        ("\"1h\"", "\"8785h\"", "is not between"),
        (
            "\"1h\"",
            "3600",
            "a number stands where a string in quotes is wanted",
        ),
        ("\"10s\"", "\"0s\"", "0ns is not between 1s"),
        ("\"10s\"", "\"7h\"", "is not between"),
        ("every = \"1h\"", "cron = \"0 0 30 2 *\"", "never comes"),
        ("every = \"1h\"", "", "neither `every` nor `cron`"),
        ("every", "size = \"1GB\"\nevery", "`size` is of `copy`"),
        ("\"throughput\"", "\"copy\"", "`size` is missing"),
        ("group = \"g\"", "", "`group` is missing"),
        (
            "every",
            "gentle = \"yes\"\nevery",
            "a string stands where true or false",
        ),
        (
            "every",
            "budget = 5\nevery",
            "a number stands where a table",
        ),
    ] {
        let error = refused(&with_task(&good.replace(from, to)));
        assert!(error.to_string().contains(problem), "{from} {to}: {error}");
    }
}

#[test]
fn groups_need_pairs_of_known_hosts() {
    let text = with_task("kind = \"ping\"\ngroup = \"g\"\nevery = \"5min\"\nduration = \"10s\"");
    for (group, problem) in [
        ("mesh = [\"a\"]", "no pair of two hosts"),
        ("mesh = []", "no pair of two hosts"),
        ("mesh = \"a\"", "a string stands where a list"),
        ("disjoint = { a = [\"a\"], b = [\"a\"] }", "on both sides"),
        ("disjoint = { a = [\"a\"] }", "`b` is missing"),
        ("list = [[\"a\", \"a\"]]", "no new pair"),
        ("list = [[\"a\", \"b\"], [\"a\", \"b\"]]", "no new pair"),
        ("list = [[\"a\"]]", "a pair has 1 hosts"),
        ("list = [\"a\"]", "a string stands where a list"),
        (
            "list = [[\"a\", \"b\"]], mesh = [\"a\", \"b\"]",
            "has 2 of mesh",
        ),
    ] {
        let error = refused(&text.replace("mesh = [\"a\", \"b\"]", group));
        assert!(error.to_string().contains(problem), "{group}: {error}");
    }
}

#[test]
fn the_reference_page_has_every_key_and_its_example_is_read() {
    let page = include_str!("../../../../../docs/reference/watch-plan.md");
    let keys = EXAMPLE.lines().filter_map(|line| line.split_once(" = "));
    for (key, _) in keys.filter(|(key, _)| !key.starts_with('#')) {
        let named = ["everyone", "laboratories", "universities", "v6"].contains(&key);
        assert!(named || page.contains(&format!("| `{key}` |")), "{key}");
    }
    let example = page
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    Plan::parse(example.unwrap(), "page").unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn how_packets_leave_is_read() {
    let (plan, _) = Plan::parse(EXAMPLE, "plan.toml").unwrap();
    let bound = plan.hosts().values().filter_map(|host| host.bind.as_ref());
    assert_eq!(
        bound.map(ToString::to_string).collect::<Vec<_>>(),
        ["%eth1"]
    );
    let marked = plan.tasks().iter().filter_map(|task| task.dscp);
    assert_eq!(marked.collect::<Vec<_>>(), [Dscp::LOWER_EFFORT]);
    let rest = "kind = \"ping\"\ngroup = \"g\"\nevery = \"5min\"\nduration = \"10s\"";
    let told = refused(&with_task(&format!("{rest}\ndscp = \"AF44\""))).to_string();
    assert!(
        told.contains("`AF44`") && told.contains("0 to 63"),
        "{told}"
    );
}

#[test]
fn who_agents_are_is_read_and_is_whole() {
    let (plan, _) = Plan::parse(EXAMPLE, "plan.toml").unwrap();
    let mut logins = plan.hosts().values().filter_map(|host| host.login.as_ref());
    let login = logins.next().unwrap();
    assert_eq!(login.user.to_string(), "`ana` with the key keys/oslo.pem");
    assert_eq!(login.password_file.as_deref(), Some("passwords/oslo"));
    assert!(logins.next().is_none());
    let with = |keys: &str| EXAMPLE.replace("user = \"ana\" ", &format!("{keys} "));
    for (keys, problem) in [
        ("", "`user_key` goes with a `user`"),
        ("user = \"ana b\"", "has a space in it"),
        (
            "user = \"ana\"\nuser_padding = \"oeap\"",
            "`oeap` is no padding",
        ),
        (
            "user = \"ana\"\npassword = \"x\"",
            "did you mean `password_file`?",
        ),
    ] {
        let told = refused(&with(keys)).to_string();
        assert!(told.contains(problem), "{keys}: {told}");
    }
    let told = refused(&EXAMPLE.replace("user_key", "#")).to_string();
    assert!(told.contains("`user_key` is missing"), "{told}");
}

#[test]
fn a_task_for_both_versions_is_two_tasks() {
    let task = |ip: &str| {
        let rest = "kind = \"ping\"\ngroup = \"g\"\nevery = \"5min\"\nduration = \"10s\"";
        with_task(&format!("{rest}\nip = \"{ip}\""))
    };
    let names = |text: &str| -> Vec<String> {
        let (plan, _) = Plan::parse(text, "plan.toml").unwrap();
        let tasks = plan.tasks().iter();
        let shown = |task: &crate::Task| format!("{} {}", task.name, task.ip.unwrap());
        tasks.map(shown).collect()
    };
    assert_eq!(names(&task("6")), ["t IPv6"]);
    assert_eq!(names(&task("both")), ["t-ipv4 IPv4", "t-ipv6 IPv6"]);
    let other = refused(&task("5")).to_string();
    assert!(other.contains("`5` is no version"), "{other}");
    let number = task("both").replace("\"b\" }", "\"192.0.2.1\" }");
    let number = refused(&number).to_string();
    assert!(
        number.contains("no pair of `g` can have a `ping` over IPv6"),
        "{number}"
    );
    let twice = task("both")
        + "\n[tasks.t-ipv6]\nkind = \"ping\"\ngroup = \"g\"\nevery = \"5min\"\nduration = \"10s\"";
    let twice = refused(&twice).to_string();
    assert!(
        twice.contains("a task `t-ipv6` comes of two entries"),
        "{twice}"
    );
}

fn planned(task: &str) -> Result<Plan, PlanError> {
    let text = format!(
        r#"
hosts = {{ a = {{ address = "a", link = "1Gbit/s" }}, b = {{ address = "b" }} }}
groups.all = {{ mesh = ["a", "b"] }}
[tasks.t]
group = "all"
every = "10min"
duration = "10s"
{task}
"#
    );
    Plan::parse(&text, "plan.toml").map(|(plan, _)| plan)
}

#[test]
fn datagrams_have_a_rate_and_delays_each_way_none() {
    let plan = planned("kind = \"udp\"\nrate = \"50Mbit/s\"").unwrap();
    let task = &plan.tasks()[0];
    let rate = units::Rate::from_bits_per_second(50_000_000);
    assert_eq!(task.kind, Kind::Udp { rate });
    assert!(task.kind.is_exclusive());
    // 50 Mbit/s for 10 s, also where the path carries more, and where nothing is known of it.
    for link in [None, "1G".parse().ok()] {
        assert_eq!(task.expected_bytes(link).unwrap().get(), 62_500_000);
    }
    let plan = planned("kind = \"one-way\"").unwrap();
    assert!(!plan.tasks()[0].kind.is_exclusive());
    for (task, what) in [
        ("kind = \"udp\"", "`rate` is missing"),
        (
            "kind = \"udp\"\nrate = \"1kbit/s\"",
            "1kbit/s is not between 12kbit/s and 1Tbit/s",
        ),
        (
            "kind = \"udp\"\nrate = \"1Gbit/s\"\ngentle = true",
            "`udp` loads the path",
        ),
        (
            "kind = \"ping\"\nrate = \"1Gbit/s\"",
            "`rate` is of `udp`, and this task is `ping`",
        ),
        (
            "kind = \"udp\"\nrate = \"1G\"\nsize = \"1GB\"",
            "`size` is of `copy`",
        ),
        (
            "kind = \"udp\"\nrate = \"1Gbit/s\"\nbudget = { bytes_a_day = \"1GB\" }",
            "one visit of 1.25 GB is above the budget of 1GB a day",
        ),
        (
            "kind = \"one-way\"\nbudget = { share = \"10%\" }",
            "`one-way` sends too little",
        ),
        ("kind = \"oneway\"", "did you mean `one-way`?"),
    ] {
        let error = planned(task).unwrap_err().to_string();
        assert!(error.contains(what), "{task}: {error}");
    }
}

/// A plan with a table of flow records.
fn with_flows(lines: &str) -> String {
    let task = "kind = \"ping\"\ngroup = \"g\"\nevery = \"1min\"\nduration = \"5s\"";
    format!("{}\n[flows]\n{lines}\n", with_task(task))
}

#[test]
fn flow_records_are_taken_where_the_plan_says() {
    let text = with_flows(
        "listen = \"[::]:2055\"\ninside = [\"192.0.2.0/24\", \"2001:db8::/32\"]\n\
         interval = \"30s\"\nrouters = [\"192.0.2.254\"]\nsampling = 1000",
    );
    let (plan, _) = Plan::parse(&text, "plan.toml").unwrap_or_else(|error| panic!("{error}"));
    let flows = plan.flows().unwrap();
    assert_eq!(flows.listen.port(), 2055);
    assert_eq!(flows.interval.as_secs_f64(), 30.0);
    assert_eq!((flows.routers.len(), flows.sampling), (1, 1000));
    assert!(flows.inside[1].contains("2001:db8:1::".parse().unwrap()));
    let least = with_flows("listen = \"127.0.0.1:0\"\ninside = [\"10.0.0.0/8\"]");
    let (plan, _) = Plan::parse(&least, "plan.toml").unwrap();
    let flows = plan.flows().unwrap();
    assert_eq!((flows.interval.as_secs_f64(), flows.sampling), (60.0, 1));
}

#[test]
fn mistakes_of_flow_records_have_the_value_and_the_next_step() {
    let right = "listen = \"127.0.0.1:2055\"\ninside = [\"10.0.0.0/8\"]\n";
    let cases = [
        (
            "inside = [\"10.0.0.0/8\"]".to_owned(),
            "`listen` is missing from `flows`",
        ),
        (
            "listen = \"127.0.0.1:2055\"".to_owned(),
            "`inside` is missing from `flows`",
        ),
        (
            "listen = \"2055\"\ninside = []".to_owned(),
            "`2055` is no address with a port",
        ),
        (
            "listen = \"127.0.0.1:1\"\ninside = [\"10.0.0.0/33\"]".to_owned(),
            "`10.0.0.0/33` is no prefix",
        ),
        (
            format!("{right}interval = \"70s\""),
            "no whole part of an hour",
        ),
        (format!("{right}interval = \"2h\""), "not between"),
        (format!("{right}sampling = 0.5"), "`sampling` is 0.5"),
        (
            format!("{right}routers = [\"border\"]"),
            "`border` is no prefix",
        ),
        (format!("{right}port = 2055"), "`port` is not a key here"),
    ];
    for (lines, words) in cases {
        let error = refused(&with_flows(&lines)).to_string();
        assert!(error.contains(words), "{lines}: {error}");
        assert!(error.contains("hint: "), "{error}");
    }
}
