//! Rounds: pairs that may be visited at once, because no machine is in two of them.
//!
//! Ordered pairs are edges of a graph whose vertices are machines; rounds are its edge colours. The
//! graph is cut into layers, in each of which two machines share at most one edge. A complete layer
//! is coloured as a tournament (circle method), a complete bipartite one as a Latin rectangle, any
//! other after J. Misra and D. Gries, "A constructive proof of Vizing's theorem", Information
//! Processing Letters 41 (1992), with at most one colour more than the degree. Where layers cost
//! more rounds than a greedy colouring, the greedy one is taken: never more than twice the degree
//! less one.

mod vizing;

use std::collections::{BTreeMap, BTreeSet};

/// The numbers of two different machines.
pub(crate) type Edge = (usize, usize);

/// Rounds of indices into `edges`: each once, and no machine twice in a round.
pub(crate) fn rounds(edges: &[Edge]) -> Vec<Vec<usize>> {
    let layered = layered(edges);
    match layered.len() <= degree(edges) {
        true => layered,
        false => {
            let greedy = greedy(edges);
            if greedy.len() < layered.len() {
                greedy
            } else {
                layered
            }
        }
    }
}

/// The most edges at one machine.
pub(crate) fn degree(edges: &[Edge]) -> usize {
    let mut degrees: BTreeMap<usize, usize> = BTreeMap::new();
    for end in edges.iter().flat_map(|edge| [edge.0, edge.1]) {
        *degrees.entry(end).or_default() += 1;
    }
    degrees.values().copied().max().unwrap_or(0)
}

fn layered(edges: &[Edge]) -> Vec<Vec<usize>> {
    let mut parallel: BTreeMap<Edge, Vec<usize>> = BTreeMap::new();
    for (index, (one, two)) in edges.iter().enumerate() {
        let between = (*one.min(two), *one.max(two));
        parallel.entry(between).or_default().push(index);
    }
    let mut rounds = Vec::new();
    let most = parallel.values().map(Vec::len).max().unwrap_or(0);
    for layer in 0..most {
        let edges: Vec<(Edge, usize)> = parallel
            .iter()
            .filter_map(|(between, indices)| Some((*between, *indices.get(layer)?)))
            .collect();
        rounds.extend(layer_rounds(&edges));
    }
    rounds
}

/// The rounds of a layer, whose edges are all between different machines.
fn layer_rounds(layer: &[(Edge, usize)]) -> Vec<Vec<usize>> {
    let ends = layer.iter().flat_map(|((one, two), _)| [*one, *two]);
    let machines: BTreeSet<usize> = ends.collect();
    let number: BTreeMap<usize, usize> = machines.iter().copied().zip(0..).collect();
    let number = |machine: usize| number.get(&machine).copied().unwrap_or(0);
    let edges: Vec<Edge> = layer
        .iter()
        .map(|((one, two), _)| (number(*one), number(*two)))
        .collect();
    let colours = colours(machines.len(), &edges);
    let mut rounds: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (colour, (_, index)) in colours.into_iter().zip(layer) {
        rounds.entry(colour).or_default().push(*index);
    }
    rounds.into_values().collect()
}

fn colours(vertices: usize, edges: &[Edge]) -> Vec<usize> {
    if edges.len() * 2 == vertices * (vertices - 1) {
        return edges.iter().map(|edge| circle(vertices, *edge)).collect();
    }
    if let Some(colours) = latin(vertices, edges) {
        return colours;
    }
    vizing::colours(vertices, edges)
}

/// The round of a tournament in which two of `vertices` meet. With an odd number each rests once.
fn circle(vertices: usize, (one, two): Edge) -> usize {
    let rounds = if vertices.is_multiple_of(2) {
        vertices - 1
    } else {
        vertices
    };
    let fixed = vertices.is_multiple_of(2).then_some(vertices - 1);
    let sum = match fixed {
        Some(fixed) if two == fixed => 2 * one,
        Some(fixed) if one == fixed => 2 * two,
        _ => one + two,
    };
    sum % rounds
}

/// The colours of a complete bipartite graph, or `None` for any other.
fn latin(vertices: usize, edges: &[Edge]) -> Option<Vec<usize>> {
    let beside_first = edges.iter().filter_map(|(one, two)| match (one, two) {
        (0, other) | (other, 0) => Some(*other),
        _ => None,
    });
    let right: BTreeSet<usize> = beside_first.collect();
    let left = (0..vertices).filter(|vertex| !right.contains(vertex));
    let place: BTreeMap<usize, usize> = left
        .zip(0..)
        .chain(right.iter().copied().zip(0..))
        .collect();
    let crosses = |(one, two): &Edge| right.contains(one) != right.contains(two);
    let sides = (vertices - right.len(), right.len());
    if edges.len() != sides.0 * sides.1 || !edges.iter().all(crosses) {
        return None;
    }
    let longer = sides.0.max(sides.1);
    let colour = |(one, two): &Edge| Some((place.get(one)? + place.get(two)?) % longer);
    edges.iter().map(colour).collect()
}

/// Each edge takes the first round in which both of its machines are free.
fn greedy(edges: &[Edge]) -> Vec<Vec<usize>> {
    let mut rounds: Vec<(BTreeSet<usize>, Vec<usize>)> = Vec::new();
    for (index, (one, two)) in edges.iter().enumerate() {
        let free = rounds
            .iter_mut()
            .find(|(busy, _)| !busy.contains(one) && !busy.contains(two));
        match free {
            Some((busy, round)) => {
                busy.extend([*one, *two]);
                round.push(index);
            }
            None => rounds.push((BTreeSet::from([*one, *two]), vec![index])),
        }
    }
    rounds.into_iter().map(|(_, round)| round).collect()
}

#[cfg(test)]
mod tests;
