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
    // 6 h x 10 / 9.99.
    assert!(text.contains("visit every 21622s or less often"), "{text}");
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
}

#[test]
fn a_budget_without_a_known_link_is_noticed() {
    let text = "hosts = { a = { address = \"a\" }, b = { address = \"b\" } }\n\
                groups.g = { mesh = [\"a\", \"b\"] }\n\
                [tasks.t]\nkind = \"tune\"\ngroup = \"g\"\nevery = \"6h\"\nduration = \"10s\"\n\
                budget = { bytes_a_day = \"1GB\" }\n";
    let (_, notices) = Plan::parse(text, "budget.toml").unwrap();
    assert_eq!(notices.len(), 1);
    assert!(
        notices[0].text.contains("no host has a `link`"),
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
