//! Where a sorted list of files is cut into shards.
//!
//! A shard ends where it would pass a bound of files or bytes. From half of a bound on it ends
//! before the first name whose hash says so, so that a file more or less moves the cuts near it
//! and leaves the others: what content-defined chunking does with bytes (LBFS, SOSP 2001, section
//! 3.1).

use units::Bytes;

/// The most that a shard may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutBounds {
    /// Files, folders and links.
    pub names: u32,
    /// Bytes of all files; a larger file is a shard of its own.
    pub bytes: Bytes,
    /// Larger files are cut into parts of so many, each a shard of its own.
    pub part: Option<Bytes>,
}

/// 5,000 names are ten million in 2,000 to 4,000 tasks, few for any engine; 64 GB take nine
/// minutes at 1 Gbit/s, little to repeat when a task is lost between two checks of its engine.
impl Default for CutBounds {
    fn default() -> Self {
        CutBounds {
            names: 5_000,
            bytes: Bytes::new(64_000_000_000),
            part: None,
        }
    }
}

/// Cuts one list.
/// ```
/// use campaign_plan::{CutBounds, Cutter};
/// use units::Bytes;
/// let mut cutter = Cutter::new(CutBounds {
///     names: 10,
///     bytes: Bytes::new(100),
///     part: None,
/// });
/// assert!(!cutter.begins_with(b"a", 60), "the first name begins no other shard");
/// assert!(cutter.begins_with(b"b", 60), "both together would be 120 bytes");
/// ```
#[derive(Debug, Clone)]
pub struct Cutter {
    bounds: CutBounds,
    names: u32,
    bytes: u64,
}

impl Cutter {
    /// At the beginning of a list.
    pub fn new(bounds: CutBounds) -> Self {
        Cutter {
            bounds,
            names: 0,
            bytes: 0,
        }
    }

    /// Takes the next name of the list, with the bytes of its file. Returns whether a shard begins
    /// with it, other than the first.
    pub fn begins_with(&mut self, name: &[u8], bytes: u64) -> bool {
        let begins = self.names > 0 && self.is_cut_before(name, bytes);
        if begins {
            (self.names, self.bytes) = (0, 0);
        }
        self.names += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        begins
    }

    fn is_cut_before(&self, name: &[u8], bytes: u64) -> bool {
        let CutBounds {
            names, bytes: most, ..
        } = self.bounds;
        let is_full = self.names >= names || self.bytes.saturating_add(bytes) > most.get();
        let is_half = self.names >= names / 2 || self.bytes >= most.get() / 2;
        // On average an eighth of the bound behind its half: few lists reach the bound itself.
        let one_in = u64::from(names / 8).max(1);
        is_full || is_half && hash(name).is_multiple_of(one_in)
    }
}

/// FNV-1a with the finalizer of MurmurHash3, whose low bits depend on all bytes.
fn hash(name: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let hash = name.iter().fold(0xcbf2_9ce4_8422_2325, step);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand_core::Rng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    fn shards(names: &[(String, u64)], bounds: CutBounds) -> Vec<Vec<(String, u64)>> {
        let mut cutter = Cutter::new(bounds);
        let mut shards = vec![Vec::new()];
        for (name, bytes) in names {
            if cutter.begins_with(name.as_bytes(), *bytes) {
                shards.push(Vec::new());
            }
            shards.last_mut().unwrap().push((name.clone(), *bytes));
        }
        shards
    }

    fn random_list(seed: u128, count: usize) -> Vec<(String, u64)> {
        let mut random = Pcg64Mcg::new(seed);
        let mut name = |at| {
            let bytes = match random.next_u32() % 100 {
                0 => u64::from(random.next_u32()),
                _ => u64::from(random.next_u32() % 100_000),
            };
            (format!("run{:04}/event{at:08}", at / 700), bytes)
        };
        (0..count).map(&mut name).collect()
    }

    const BOUNDS: CutBounds = CutBounds {
        names: 500,
        bytes: Bytes::new(5_000_000_000),
        part: None,
    };

    #[test]
    fn no_shard_passes_a_bound_and_none_is_small_but_the_last() {
        for seed in 0..20 {
            let list = random_list(seed, 20_000);
            let shards = shards(&list, BOUNDS);
            assert_eq!(shards.concat(), list, "seed {seed}");
            for (at, shard) in shards.iter().enumerate() {
                let bytes: u64 = shard.iter().map(|(_, bytes)| bytes).sum();
                assert!(shard.len() <= 500, "seed {seed}");
                assert!(
                    bytes <= BOUNDS.bytes.get() || shard.len() == 1,
                    "seed {seed}"
                );
                // A file of up to 4.3 GB may end a shard of less than half.
                let is_half = shard.len() >= 250 || bytes >= 700_000_000;
                assert!(
                    is_half || at + 1 == shards.len(),
                    "seed {seed}: {}",
                    shard.len()
                );
            }
        }
    }

    /// With fixed counts, half of all shards would differ on average.
    #[test]
    fn a_file_more_or_less_leaves_nearly_all_shards_as_they_are() {
        for seed in 0..20 {
            let list = random_list(seed, 20_000);
            let before: BTreeSet<_> = shards(&list, BOUNDS).into_iter().collect();
            let mut random = Pcg64Mcg::new(seed + 1_000);
            let mut changed = list.clone();
            let at = random.next_u32() as usize % list.len();
            match random.next_u32() % 2 {
                0 => drop(changed.remove(at)),
                _ => changed.insert(at, (format!("{}x", list[at].0), 7)),
            }
            changed.sort();
            let after: BTreeSet<_> = shards(&changed, BOUNDS).into_iter().collect();
            let others = after.difference(&before).count();
            assert!(others <= 8, "seed {seed}: {others} of {}", after.len());
        }
    }
}
