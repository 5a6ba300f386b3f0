use super::*;

fn pair(text: &str) -> Pair {
    let (from, to) = text.split_once('-').unwrap();
    Pair {
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
    }
}

fn pairs(text: &str) -> Vec<Pair> {
    text.split_whitespace().map(pair).collect()
}

/// Hosts as `name` with `s` for one that sends nothing and `r` for one that is not reached.
fn found(silent: &str, visited: &str) -> Vec<String> {
    let (silent, visited) = (pairs(silent), pairs(visited));
    let hosts = silent_hosts(silent.iter(), &visited);
    let shown = hosts.iter().map(|host| {
        let sends = if host.sends_nothing { "s" } else { "" };
        let reached = if host.is_not_reached { "r" } else { "" };
        format!("{}:{sends}{reached}", host.name)
    });
    shown.collect()
}

const MESH: &str = "a-b a-c a-d b-a b-c b-d c-a c-b c-d d-a d-b d-c";

#[test]
fn a_host_is_silent_when_all_its_pairs_are() {
    assert_eq!(found("a-b a-c a-d", MESH), ["a:s"]);
    assert_eq!(found("b-a c-a d-a", MESH), ["a:r"]);
    assert_eq!(found("a-b a-c a-d b-a c-a d-a", MESH), ["a:sr"]);
    assert_eq!(found("a-b a-c", MESH), Vec::<String>::new());
    assert_eq!(found("", MESH), Vec::<String>::new());
}

#[test]
fn one_pair_alone_shows_no_silent_host() {
    assert_eq!(found("a-b", "a-b b-a"), Vec::<String>::new());
    assert_eq!(found("a-b b-a", "a-b b-a"), Vec::<String>::new());
}

#[test]
fn the_fewest_hosts_that_explain_all_are_named() {
    // All that is sent to a and b fails, and all from them: c and d still reach each other.
    let silent = "a-b a-c a-d b-a b-c b-d c-a c-b d-a d-b";
    assert_eq!(found(silent, MESH), ["a:sr", "b:sr"]);
    // Three of four: the last has no pair that the others do not explain.
    let all = MESH;
    assert_eq!(found(all, MESH).len(), 3);
}
