use std::collections::BTreeSet;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::{Edge, degree, greedy, layered, rounds};

fn mesh(hosts: usize) -> Vec<Edge> {
    let from = |one| (0..hosts).map(move |two| (one, two));
    (0..hosts)
        .flat_map(from)
        .filter(|(one, two)| one != two)
        .collect()
}

fn assert_right(edges: &[Edge], rounds: &[Vec<usize>]) {
    let mut seen = BTreeSet::new();
    for round in rounds {
        assert!(!round.is_empty());
        let mut busy = BTreeSet::new();
        for index in round {
            let (one, two) = edges[*index];
            assert!(
                busy.insert(one) && busy.insert(two),
                "{one} {two} in {round:?}"
            );
            assert!(seen.insert(*index), "edge {index} twice");
        }
    }
    assert_eq!(seen.len(), edges.len(), "all edges");
}

#[test]
fn all_pairs_of_21_hosts_take_42_rounds_and_less_than_25_minutes() {
    let edges = mesh(21);
    assert_eq!(edges.len(), 420);
    let rounds = rounds(&edges);
    assert_right(&edges, &rounds);
    assert_eq!(rounds.len(), 42);
    assert!(rounds.iter().all(|round| round.len() == 10));
    // 30 s each and 5 s between them.
    assert!(rounds.len() * (30 + 5) < 25 * 60);
}

#[test]
fn meshes_of_all_sizes_take_no_round_too_many() {
    for hosts in 2..40 {
        let edges = mesh(hosts);
        let rounds = rounds(&edges);
        assert_right(&edges, &rounds);
        assert_eq!(rounds.len(), 2 * (hosts - 1 + hosts % 2), "{hosts} hosts");
    }
}

#[test]
fn two_sides_take_as_many_rounds_as_the_longer_has() {
    for (a, b) in [(1, 1), (1, 9), (4, 5), (7, 3), (6, 6)] {
        let one_way = (0..a).flat_map(|one| (0..b).map(move |two| (one, a + two)));
        let edges: Vec<Edge> = one_way.collect();
        let found = rounds(&edges);
        assert_right(&edges, &found);
        assert_eq!(found.len(), a.max(b));
        let back: Vec<Edge> = edges.iter().map(|(one, two)| (*two, *one)).collect();
        let both = [edges, back].concat();
        assert_eq!(rounds(&both).len(), 2 * a.max(b));
    }
}

#[test]
fn nothing_takes_no_round() {
    assert!(rounds(&[]).is_empty());
}

#[test]
fn random_graphs_have_no_collision_and_few_rounds() {
    let seed = 20_261_124;
    let mut random = Pcg64::seed_from_u64(seed);
    let mut below = |bound: usize| (random.next_u64() % bound as u64) as usize;
    let (mut simple_kept, mut vizing) = (0, 0);
    for run in 0..3_000 {
        let hosts = 2 + below(14);
        let wanted = below(hosts * hosts * 2);
        let mut edges: Vec<Edge> = (0..wanted).map(|_| (below(hosts), below(hosts))).collect();
        edges.retain(|(one, two)| one != two);
        if run % 2 == 0 {
            // Ordered pairs, each once, as tasks of hosts with one address have them.
            edges.sort();
            edges.dedup();
        }
        println!("seed {seed}, run {run}: {edges:?}");
        let found = rounds(&edges);
        assert_right(&edges, &found);
        assert_right(&edges, &greedy(&edges));
        let most = degree(&edges);
        assert!(
            found.len() <= (2 * most).saturating_sub(1),
            "{} of {most}",
            found.len()
        );
        if run % 4 == 0 {
            // One edge between two machines: Vizing's bound.
            let mut seen = BTreeSet::new();
            edges.retain(|(one, two)| seen.insert((*one.min(two), *one.max(two))));
            let simple = layered(&edges);
            assert_right(&edges, &simple);
            assert!(simple.len() <= degree(&edges) + 1);
            simple_kept += usize::from(simple.len() < greedy(&edges).len());
            vizing += 1;
        }
    }
    // A colouring that is never better than the greedy one would be worth nothing.
    assert!(simple_kept > vizing / 20, "{simple_kept} of {vizing}");
}
