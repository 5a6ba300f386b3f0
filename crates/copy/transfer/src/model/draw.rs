//! Choices from a seed, kept so that a case can be repeated and made smaller.

use std::time::{Duration, Instant};

/// How long a smaller case is looked for.
const SHRINK_MAX: Duration = Duration::from_secs(20);

/// Makes the choices of one case. Zero is always the simplest one.
pub(super) struct Draw {
    tape: Vec<u32>,
    at: usize,
    /// What comes behind the tape: random numbers, or only zeros.
    random: Option<u64>,
    log: Option<Vec<String>>,
}

impl Draw {
    pub fn seeded(seed: u64) -> Self {
        Draw {
            tape: Vec::new(),
            at: 0,
            random: Some(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            log: None,
        }
    }

    /// The same choices, and the simplest ones behind them.
    pub fn again(tape: Vec<u32>) -> Self {
        Draw {
            tape,
            at: 0,
            random: None,
            log: None,
        }
    }

    /// What happens is written down.
    pub fn telling(self) -> Self {
        Draw {
            log: Some(Vec::new()),
            ..self
        }
    }

    /// 0 to `bound - 1`; 0 where there is no choice.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound < 2 {
            return 0;
        }
        if self.at == self.tape.len() {
            let next = self.next();
            self.tape.push(next);
        }
        let chosen = self.tape[self.at] as usize % bound;
        self.tape[self.at] = chosen as u32;
        self.at += 1;
        chosen
    }

    /// Once in `of` times.
    pub fn chance(&mut self, of: usize) -> bool {
        self.below(of) == of - 1
    }

    pub fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }

    pub fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log {
            log.push(text());
        }
    }

    pub fn log(&self) -> &[String] {
        self.log.as_deref().unwrap_or_default()
    }

    /// The choices that were made.
    pub fn tape(&self) -> Vec<u32> {
        self.tape[..self.at].to_vec()
    }

    /// SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
    /// 2014.
    fn next(&mut self) -> u32 {
        let Some(state) = &mut self.random else {
            return 0;
        };
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 32) as u32
    }
}

/// The smallest choices that are found with which a case still fails; `fails` returns those that it
/// made.
pub(super) fn shrink(tape: Vec<u32>, fails: impl Fn(&[u32]) -> Option<Vec<u32>>) -> Vec<u32> {
    let until = Instant::now() + SHRINK_MAX;
    let mut best = tape;
    loop {
        let before = best.clone();
        let mut length = best.len();
        while length > 0 {
            let mut at = 0;
            while at < best.len() && Instant::now() < until {
                let end = (at + length).min(best.len());
                let shorter = [&best[..at], &best[end..]].concat();
                let mut simpler = best.clone();
                simpler[at..end].iter_mut().for_each(|choice| *choice /= 2);
                let zeros = [&best[..at], &vec![0; end - at], &best[end..]].concat();
                let found = [shorter, zeros, simpler].iter().find_map(|one| {
                    let is_new = is_simpler(one, &best);
                    is_new.then(|| fails(one)).flatten()
                });
                match found.filter(|found| is_simpler(found, &best)) {
                    Some(found) => best = found,
                    None => at += length,
                }
            }
            length /= 2;
        }
        if best == before || Instant::now() >= until {
            return best;
        }
    }
}

fn is_simpler(one: &[u32], other: &[u32]) -> bool {
    (one.len(), one) < (other.len(), other)
}

#[test]
fn a_case_shrinks_to_what_makes_it_fail() {
    let tape = Draw::seeded(7);
    let mut tape = tape;
    let choices: Vec<usize> = (0..200).map(|_| tape.below(1000)).collect();
    assert!(choices.iter().any(|choice| *choice > 500));
    let fails = |tape: &[u32]| {
        tape.iter()
            .any(|choice| *choice > 500)
            .then(|| tape.to_vec())
    };
    let small = shrink(tape.tape(), fails);
    assert_eq!(small.len(), 1);
    assert!((501..=1000).contains(&small[0]));
}
