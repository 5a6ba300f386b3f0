//! The colouring of Misra and Gries: at most one colour more than the degree.

use super::{Edge, degree};

/// Per vertex and colour, the neighbour along the edge of that colour.
struct Colouring {
    across: Vec<Vec<Option<usize>>>,
}

/// A colour for each edge of a graph without parallel edges.
pub(super) fn colours(vertices: usize, edges: &[Edge]) -> Vec<usize> {
    let palette = degree(edges) + 1;
    let mut colouring = Colouring {
        across: vec![vec![None; palette]; vertices],
    };
    for (one, two) in edges {
        colouring.add(*one, *two);
    }
    let colour = |(one, two): &Edge| colouring.colour(*one, *two).unwrap_or(0);
    edges.iter().map(colour).collect()
}

impl Colouring {
    fn at(&self, vertex: usize, colour: usize) -> Option<usize> {
        *self.across.get(vertex)?.get(colour)?
    }

    fn set(&mut self, vertex: usize, colour: usize, neighbour: Option<usize>) {
        let row = self.across.get_mut(vertex);
        if let Some(place) = row.and_then(|row| row.get_mut(colour)) {
            *place = neighbour;
        }
    }

    fn colour(&self, one: usize, two: usize) -> Option<usize> {
        let row = self.across.get(one)?;
        row.iter().position(|neighbour| *neighbour == Some(two))
    }

    /// The first colour that no edge of `vertex` has; one more than the degree always leaves one.
    fn free(&self, vertex: usize) -> usize {
        let row = self.across.get(vertex);
        row.and_then(|row| row.iter().position(Option::is_none))
            .unwrap_or(0)
    }

    fn is_free(&self, vertex: usize, colour: usize) -> bool {
        self.at(vertex, colour).is_none()
    }

    fn add(&mut self, centre: usize, leaf: usize) {
        let fan = self.fan(centre, leaf);
        let last = fan.last().copied().unwrap_or(leaf);
        let (ours, theirs) = (self.free(centre), self.free(last));
        self.invert(centre, ours, theirs);
        let end = self.end(&fan, centre, theirs);
        self.rotate(centre, fan.get(..=end).unwrap_or(&fan), theirs);
    }

    /// Neighbours of `centre`, from `leaf` on, where the colour of each next edge is free at the
    /// neighbour before; as long as can be.
    fn fan(&self, centre: usize, leaf: usize) -> Vec<usize> {
        let mut fan = vec![leaf];
        while let Some(last) = fan.last() {
            let row = self.across.get(centre).into_iter().flatten().enumerate();
            let free = row.filter(|(colour, _)| self.is_free(*last, *colour));
            let next = free.filter_map(|(_, neighbour)| *neighbour);
            match next.into_iter().find(|next| !fan.contains(next)) {
                Some(next) => fan.push(next),
                None => break,
            }
        }
        fan
    }

    /// Exchanges two colours on the path that begins at `centre` with colour `theirs`.
    fn invert(&mut self, centre: usize, ours: usize, theirs: usize) {
        if ours == theirs {
            return;
        }
        let mut path = vec![centre];
        let (mut vertex, mut colour, mut other) = (centre, theirs, ours);
        while let Some(next) = self.at(vertex, colour) {
            path.push(next);
            vertex = next;
            (colour, other) = (other, colour);
        }
        for vertex in path {
            let (one, two) = (self.at(vertex, ours), self.at(vertex, theirs));
            self.set(vertex, ours, two);
            self.set(vertex, theirs, one);
        }
    }

    /// The last place up to which the fan is still one, and `colour` is free.
    fn end(&self, fan: &[usize], centre: usize, colour: usize) -> usize {
        let mut end = 0;
        for (place, leaf) in fan.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|before| fan.get(before));
            let still = before.is_none_or(|before| {
                let edge = self.colour(centre, *leaf);
                edge.is_some_and(|edge| self.is_free(*before, edge))
            });
            if !still {
                break;
            }
            if self.is_free(*leaf, colour) {
                end = place;
                break;
            }
        }
        end
    }

    /// Gives each edge of the fan the colour of the next one, and `colour` to the last.
    fn rotate(&mut self, centre: usize, fan: &[usize], colour: usize) {
        let next = fan.iter().skip(1);
        let mut colours: Vec<usize> = next.filter_map(|leaf| self.colour(centre, *leaf)).collect();
        for (leaf, old) in fan.iter().skip(1).zip(&colours) {
            self.set(centre, *old, None);
            self.set(*leaf, *old, None);
        }
        colours.push(colour);
        for (leaf, new) in fan.iter().zip(colours) {
            self.set(centre, new, Some(*leaf));
            self.set(*leaf, new, Some(centre));
        }
    }
}
