//! Weighted max-min fair rates of flows that each pass two resources.

/// One flow.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// Its part where a resource is shared; above 0.
    pub weight: f64,
    /// The most that it takes.
    pub most: f64,
    /// What it passes.
    pub through: [usize; 2],
}

/// The rate of each flow: all grow in proportion to their weights until each is at its most or
/// passes a resource that is full (Bertsekas and Gallager, Data Networks, 6.5.2).
///
/// * `room`: of each resource.
pub fn max_min(flows: &[Flow], room: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..flows.len()).collect();
    let level = |at: usize| flows[at].most / flows[at].weight;
    order.sort_by(|one, other| level(*one).total_cmp(&level(*other)));
    let mut filling = Filling::new(flows, room);
    for at in order {
        // Resources that fill up before this flow has its most.
        while filling.rates[at].is_none() {
            match filling.fullest() {
                Some((resource, full)) if full < level(at) => filling.fill(resource, full),
                _ => filling.settle(at, flows[at].most),
            }
        }
    }
    filling
        .rates
        .into_iter()
        .map(|rate| rate.unwrap_or(0.0))
        .collect()
}

struct Filling<'a> {
    flows: &'a [Flow],
    rates: Vec<Option<f64>>,
    /// What settled flows leave of each resource, and the weights of the others.
    left: Vec<f64>,
    weights: Vec<f64>,
    /// Of the others.
    count: Vec<usize>,
}

impl<'a> Filling<'a> {
    fn new(flows: &'a [Flow], room: &[f64]) -> Self {
        let (mut weights, mut count) = (vec![0.0; room.len()], vec![0; room.len()]);
        for flow in flows {
            for resource in flow.through {
                weights[resource] += flow.weight;
                count[resource] += 1;
            }
        }
        Filling {
            flows,
            rates: vec![None; flows.len()],
            left: room.to_vec(),
            weights,
            count,
        }
    }

    /// The resource that is full first, and the rate for each part of weight then.
    fn fullest(&self) -> Option<(usize, f64)> {
        let level = |at: usize| (at, (self.left[at] / self.weights[at]).max(0.0));
        let shared = (0..self.left.len()).filter(|at| self.count[*at] > 0);
        shared
            .map(level)
            .min_by(|one, other| one.1.total_cmp(&other.1))
    }

    fn fill(&mut self, resource: usize, level: f64) {
        for at in 0..self.flows.len() {
            if self.rates[at].is_none() && self.flows[at].through.contains(&resource) {
                self.settle(at, level * self.flows[at].weight);
            }
        }
    }

    fn settle(&mut self, at: usize, rate: f64) {
        self.rates[at] = Some(rate);
        for resource in self.flows[at].through {
            self.left[resource] -= rate;
            self.weights[resource] -= self.flows[at].weight;
            self.count[resource] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn flow(weight: f64, most: f64, through: [usize; 2]) -> Flow {
        Flow {
            weight,
            most,
            through,
        }
    }

    #[test]
    fn a_shared_resource_is_shared_by_weight() {
        let flows = [flow(1.0, 100.0, [0, 1]), flow(3.0, 100.0, [0, 2])];
        assert_eq!(max_min(&flows, &[40.0, 99.0, 99.0]), [10.0, 30.0]);
        // What the second cannot take, the first has.
        assert_eq!(max_min(&flows, &[40.0, 99.0, 20.0]), [20.0, 20.0]);
        let flows = [flow(1.0, 5.0, [0, 1]), flow(3.0, 100.0, [0, 2])];
        assert_eq!(max_min(&flows, &[40.0, 99.0, 99.0]), [5.0, 35.0]);
    }

    #[test]
    fn nothing_passes_its_room_and_each_flow_is_held_by_something() {
        for seed in 0..50 {
            let mut random = Random::new(seed, 0, 0);
            let room: Vec<f64> = (0..8).map(|_| random.between(10.0, 100.0)).collect();
            let mut drawn = |at: usize| {
                let through = [at % 4, 4 + at / 4 % 4];
                flow(
                    random.between(1.0, 50.0),
                    random.between(1.0, 60.0),
                    through,
                )
            };
            let flows: Vec<Flow> = (0..16).map(&mut drawn).collect();
            let rates = max_min(&flows, &room);
            let used = |resource: usize| -> f64 {
                let passing = flows.iter().zip(&rates);
                let passing = passing.filter(|(flow, _)| flow.through.contains(&resource));
                passing.map(|(_, rate)| rate).sum()
            };
            let is_full = |resource: usize| used(resource) > room[resource] - 1e-6;
            for (flow, rate) in flows.iter().zip(&rates) {
                let is_held = *rate > flow.most - 1e-6 || flow.through.into_iter().any(is_full);
                assert!(is_held, "seed {seed}: {flow:?} {rate}");
            }
            let over = (0..8).any(|at| used(at) > room[at] + 1e-6);
            assert!(!over, "seed {seed}");
        }
    }
}
