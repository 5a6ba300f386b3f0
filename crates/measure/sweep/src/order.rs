//! In which order settings are visited.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use observe::Setting;
use units::Span;

use crate::SweepPlan;

/// One visit of one setting, still to be made or made.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// Its place in the order of visits, from 1.
    pub number: u32,
    /// The cycle that it belongs to, from 1.
    pub cycle: u32,
    /// Its place in the plan, from 0: see [`SweepPlan::at`].
    pub index: usize,
    /// What is asked for.
    pub setting: Setting,
    /// For how long.
    pub duration: Span,
}

impl Visit {
    /// What tells it from all others of the sweep.
    pub fn key(&self) -> VisitKey {
        VisitKey {
            cycle: self.cycle,
            index: self.index,
        }
    }
}

/// A cycle and the place of a setting in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitKey {
    /// From 1.
    pub cycle: u32,
    /// From 0.
    pub index: usize,
}

impl SweepPlan {
    /// All visits in order: cycle after cycle, every setting once in each, shuffled anew for each.
    ///
    /// Blocks that are complete and shuffled by themselves keep a path that gets slower over the
    /// hours from making the settings look slow that happened to come last (randomised complete
    /// blocks).
    pub fn order(&self) -> Vec<Visit> {
        let mut random = Pcg64::seed_from_u64(self.seed);
        let mut visits = Vec::new();
        for cycle in 1..=self.cycles {
            let places = shuffled(self.places(), &mut random).into_iter();
            for (index, (setting, duration)) in places.filter_map(|n| Some((n, self.at(n)?))) {
                visits.push(Visit {
                    number: u32::try_from(visits.len() + 1).unwrap_or(u32::MAX),
                    cycle,
                    index,
                    setting: setting.clone(),
                    duration,
                });
            }
        }
        visits
    }
}

/// In which order several paths have their visits of a cycle: each cycle has another.
///
/// ```
/// let cycles: Vec<Vec<usize>> = (1..=40).map(|cycle| sweep::turns(3, cycle, 1)).collect();
/// // Each path is first about as often as the others.
/// for path in 0..3 {
///     let first = cycles.iter().filter(|turns| turns[0] == path).count();
///     assert!((7..=20).contains(&first), "{path}: {first}");
/// }
/// ```
pub fn turns(paths: usize, cycle: u32, seed: u64) -> Vec<usize> {
    let mut random = Pcg64::seed_from_u64(seed ^ (u64::from(cycle) << 32));
    shuffled(paths, &mut random)
}

impl SweepPlan {
    /// The visits up to and with a cycle: the same, in the same order.
    pub fn until(&self, cycle: u32) -> SweepPlan {
        SweepPlan {
            cycles: cycle.min(self.cycles),
            ..self.clone()
        }
    }
}

/// The numbers below `count` in an order in which each is equally likely at each place (Fisher and
/// Yates).
fn shuffled(count: usize, random: &mut Pcg64) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        all.swap(last, below(last + 1, random));
    }
    all
}

/// A number below `bound`, by the high half of a product: for the few thousand settings of a grid,
/// as even as 64 random bits are.
fn below(bound: usize, random: &mut Pcg64) -> usize {
    let product = u128::from(random.next_u64()) * bound as u128;
    (product >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::{StreamCount, Window};

    fn plan(settings: u64, cycles: u32, seed: u64) -> SweepPlan {
        let setting = |n| Setting::new(StreamCount::new(n).unwrap(), Window::Auto);
        SweepPlan {
            settings: (1..=settings).map(setting).collect(),
            cycles,
            durations: vec![Span::from_secs(10)],
            unloaded: Span::from_secs(1),
            seed,
            via: units::Via::default(),
            user: None,
        }
    }

    fn indices(plan: &SweepPlan) -> Vec<usize> {
        plan.order().iter().map(|visit| visit.index).collect()
    }

    #[test]
    fn each_cycle_has_every_setting_once_in_another_order() {
        let order = plan(20, 21, 7).order();
        assert_eq!(order.len(), 420);
        let numbers: Vec<u32> = order.iter().map(|visit| visit.number).collect();
        assert_eq!(numbers, (1..=420).collect::<Vec<u32>>());
        let cycles: Vec<Vec<usize>> = order
            .chunks(20)
            .map(|cycle| cycle.iter().map(|visit| visit.index).collect())
            .collect();
        for (number, cycle) in cycles.iter().enumerate() {
            let mut sorted = cycle.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..20).collect::<Vec<usize>>());
            assert!(!cycles[..number].contains(cycle), "cycle {number} repeats");
        }
    }

    #[test]
    fn the_seed_alone_decides() {
        assert_eq!(indices(&plan(8, 3, 1)), indices(&plan(8, 3, 1)));
        assert_ne!(indices(&plan(8, 3, 1)), indices(&plan(8, 3, 2)));
    }

    /// A sweep that was begun goes on in this order under every later version.
    #[test]
    fn the_order_is_fixed_for_ever() {
        assert_eq!(indices(&plan(6, 2, 1)), FIXED);
    }

    const FIXED: [usize; 12] = [3, 1, 2, 4, 0, 5, 4, 5, 3, 1, 0, 2];

    /// 6000 cycles of 6 settings: each place has each setting 1000 times, with a standard deviation
    /// of 29. A shuffle that favours one place is off by far more than six of those.
    #[test]
    fn every_setting_is_as_likely_at_every_place() {
        let order = indices(&plan(6, 6_000, 3));
        let mut counts = [[0_i32; 6]; 6];
        for cycle in order.chunks(6) {
            for (place, index) in cycle.iter().enumerate() {
                counts[place][*index] += 1;
            }
        }
        let off = counts.iter().flatten().map(|n| (n - 1_000).abs()).max();
        assert!(off.unwrap() < 174, "{counts:?}");
    }
}
