use crate::{Notice, Plan, PlanError};

/// Two hosts with links of 1 Gbit/s, and a task each 6 hours, of 10 s: 1.25 GB a visit, eight
/// visits a day at each host.
fn parse(kind: &str, budget: &str) -> Result<(Plan, Vec<Notice>), PlanError> {
    let text = format!(
        "[hosts]\na = {{ address = \"a\", link = \"1G\" }}\n\
         b = {{ address = \"b\", link = \"10G\" }}\n[groups]\n\
         g = {{ mesh = [\"a\", \"b\"] }}\n[tasks.t]\ngroup = \"g\"\nevery = \"6h\"\n\
         duration = \"10s\"\n{kind}\nbudget = {{ {budget} }}\n"
    );
    Plan::parse(&text, "budget.toml")
}

fn problem(kind: &str, budget: &str) -> String {
    parse(kind, budget).unwrap_err().to_string()
}

const THROUGHPUT: &str = "kind = \"throughput\"";

#[test]
fn a_budget_below_one_visit_is_refused() {
    let text = problem(THROUGHPUT, "bytes_a_day = \"1.2GB\"");
    assert!(
        text.contains("one visit of 1.25 GB is above the budget of 1.2GB a day"),
        "{text}"
    );
    assert!(text.contains("budget.toml:6, field `tasks.t`"), "{text}");
}

#[test]
fn a_budget_below_a_day_is_refused_with_the_interval_that_keeps_it() {
    assert!(parse(THROUGHPUT, "bytes_a_day = \"10GB\"").is_ok());
    let text = problem(THROUGHPUT, "bytes_a_day = \"9.99GB\"");
    assert!(text.contains("up to 10.0 GB a day"), "{text}");
    // Three cycles of 2.5 GB.
    assert!(text.contains("visit every 28800s or less often"), "{text}");
    // No interval keeps to less than a cycle.
    let text = problem(THROUGHPUT, "bytes_a_day = \"2.4GB\"");
    assert!(text.contains("one cycle has 2.50 GB at one host"), "{text}");
    // A fifth of the link needs a fifth of the bytes.
    assert!(parse(THROUGHPUT, "bytes_a_day = \"2GB\", share = \"20%\"").is_ok());
}

#[test]
fn a_copy_that_the_link_cannot_carry_in_time_is_refused() {
    assert!(parse("kind = \"copy\"\nsize = \"1.25GB\"", "").is_ok());
    let text = problem("kind = \"copy\"\nsize = \"2.5GB\"", "");
    assert!(
        text.contains("take 20.0 s at 1Gbit/s, longer than `duration`, 10s"),
        "{text}"
    );
    let text = problem("kind = \"copy\"\nsize = \"1GB\"", "bytes_a_day = \"500MB\"");
    assert!(text.contains("one visit of 1.00 GB"), "{text}");
}

#[test]
fn visits_that_quiet_hours_never_let_run_are_refused() {
    assert!(parse(THROUGHPUT, "quiet = [\"11:00-13:00\"]").is_ok());
    let text = problem(THROUGHPUT, "quiet = [\"00:00-24:00\"]");
    assert!(
        text.contains("2 of 2 rounds fall into quiet hours"),
        "{text}"
    );
    let text = problem(THROUGHPUT, "quiet = [\"22:00-20:00\"]");
    assert!(text.contains("2 of 2 rounds"), "{text}");
    // 60 cycles are over within these hours, and later ones are not.
    for quiet in [
        "23:30-01:30",
        "00:00-06:00",
        "22:00-20:00",
        "Thu-Fri 00:00-24:00",
    ] {
        let text = format!(
            "[hosts]\na = {{ address = \"a\" }}\nb = {{ address = \"b\" }}\n[groups]\n\
             g = {{ mesh = [\"a\", \"b\"] }}\n[tasks.t]\nkind = \"ping\"\ngroup = \"g\"\n\
             every = \"40s\"\nduration = \"2s\"\nbudget = {{ quiet = [\"{quiet}\"] }}\n"
        );
        let read = Plan::parse(&text, "quiet.toml");
        assert!(read.is_ok(), "{quiet}: {}", read.unwrap_err());
    }
}

#[test]
fn a_budget_without_a_known_link_is_noticed() {
    let text = "hosts = { a = { address = \"a\" }, b = { address = \"b\" } }\n\
                groups.g = { mesh = [\"a\", \"b\"] }\n\
                [tasks.t]\nkind = \"tune\"\ngroup = \"g\"\nevery = \"6h\"\nduration = \"10s\"\n\
                budget = { bytes_a_day = \"1GB\" }\n";
    let (_, notices) = Plan::parse(text, "budget.toml").unwrap();
    assert_eq!(notices.len(), 1);
    // Eight visits a day of 10 s: 125 MB each.
    assert!(
        notices[0]
            .text
            .contains("no host of `g` has a `link`, so each visit sends at most 100 Mbit/s"),
        "{}",
        notices[0]
    );
    let error = Plan::parse(
        &text.replace("bytes_a_day = \"1GB\"", "share = \"5%\""),
        "p",
    )
    .unwrap_err();
    assert!(
        error.to_string().contains("no host has a `link`"),
        "{error}"
    );
}

/// However a day is cut, visits at the rate that they may have send no more than the budget.
#[test]
fn visits_at_the_most_that_they_may_send_keep_to_the_bytes_a_day() {
    for (every, link, share) in [
        ("7h", "1G", ""),
        ("6h", "1G", ", share = \"20%\""),
        ("5h", "", ""),
    ] {
        let link = match link {
            "" => String::new(),
            rate => format!(", link = \"{rate}\""),
        };
        let text = format!(
            "[hosts]\na = {{ address = \"a\"{link} }}\nb = {{ address = \"b\" }}\n\
             c = {{ address = \"c\" }}\n[groups]\ng = {{ mesh = [\"a\", \"b\", \"c\"] }}\n\
             [tasks.t]\nkind = \"throughput\"\ngroup = \"g\"\nevery = \"{every}\"\n\
             duration = \"10s\"\nbudget = {{ bytes_a_day = \"30GB\"{share} }}\n"
        );
        let (plan, _) = Plan::parse(&text, "p").unwrap_or_else(|error| panic!("{error}"));
        let table = crate::Timetable::new(&plan, 0).unwrap();
        let task = &plan.tasks()[0];
        for host in plan.hosts().keys() {
            for begin in (0..40).map(|hour| hour * 3600) {
                let visits = table.next_visits(host, begin);
                let day = visits.take_while(|visit| visit.due().at < begin + 86_400);
                let bytes = day.map(|visit| {
                    let due = visit.due().clone();
                    let pair = crate::Pair {
                        from: due.from,
                        to: due.to,
                    };
                    plan.rate_max(task, &pair)
                        .unwrap()
                        .bytes_in(due.duration)
                        .get()
                });
                let sent: u64 = bytes.sum();
                assert!(sent <= 30_000_000_000, "{every} {host} {begin}: {sent}");
            }
        }
    }
}

#[test]
fn a_share_of_no_link_is_noticed() {
    let text = "hosts = { a = { address = \"a\", link = \"1G\" }, b = { address = \"b\" }, \
                c = { address = \"c\" } }\ngroups.g = { mesh = [\"a\", \"b\", \"c\"] }\n\
                [tasks.t]\nkind = \"throughput\"\ngroup = \"g\"\nevery = \"6h\"\n\
                duration = \"10s\"\nbudget = { share = \"5%\" }\n";
    let (_, notices) = Plan::parse(text, "budget.toml").unwrap();
    assert_eq!(notices.len(), 1);
    let text = &notices[0].text;
    assert!(
        text.contains("nothing on 2 of 6 pairs, from `b` to `c`"),
        "{text}"
    );
}

#[test]
fn responsiveness_cannot_be_gentle() {
    let text = problem("kind = \"responsiveness\"\ngentle = true", "");
    assert!(text.contains("`responsiveness` loads the path"), "{text}");
}
