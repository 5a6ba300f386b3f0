//! What connections of multipath TCP went over.

use draw::format;
use draw::page::Fact;
use record::{Multipath, Subflow};

/// Addresses and their shares, the largest first, or that there is none; `None` where nothing was
/// connected.
pub(super) fn fact(seen: &Multipath) -> Option<Fact> {
    let parts = [carried(seen), seen.plain_words()];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| Fact::plain("multipath", parts.join("; ")))
}

fn carried(seen: &Multipath) -> Option<String> {
    let mut subflows: Vec<&Subflow> = seen.subflows.iter().collect();
    subflows.sort_by_key(|one| std::cmp::Reverse(one.carried_bytes));
    if let [one] = &subflows[..] {
        let (local, far) = (one.local, one.far);
        return Some(format!(
            "{local}={far} alone; `ip mptcp endpoint` at both hosts names more"
        ));
    }
    let all: f64 = subflows.iter().map(|one| one.carried_bytes as f64).sum();
    let shown = |one: &&Subflow| {
        let share = one.carried_bytes as f64 / all.max(1.0);
        let (local, far) = (one.local, one.far);
        format!("{local}={far} carried {}", format::percent(share))
    };
    let shown: Vec<String> = subflows.iter().map(shown).collect();
    (!shown.is_empty()).then(|| shown.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(links: &[u8], plain_connections: u32) -> Option<String> {
        let subflow = |link: &u8| Subflow {
            local: [10, 0, *link, 1].into(),
            far: [10, 0, *link, 2].into(),
            count: 1,
            carried_bytes: u64::from(*link),
        };
        let seen = Multipath {
            connections: 1,
            plain_connections,
            subflows: links.iter().map(subflow).collect(),
        };
        fact(&seen).map(|fact| fact.before + &fact.value + &fact.after)
    }

    #[test]
    fn the_link_that_carried_most_comes_first_and_plain_tcp_is_said() {
        let both = "10.0.3.1=10.0.3.2 carried 75 %; 10.0.1.1=10.0.1.2 carried 25 %";
        assert_eq!(told(&[1, 3], 0).as_deref(), Some(both));
        assert!(told(&[1], 0).unwrap().contains("ip mptcp endpoint"));
        assert!(told(&[], 1).unwrap().contains("plain TCP"));
        assert_eq!(told(&[], 0), None);
    }
}
