//! Random changes of text files, for tests of what reads them.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Most bytes that one change cuts out or says twice.
const CUT_MAX: usize = 24;

/// Changes texts as its seed decides.
pub struct Mutator<'a> {
    draws: Pcg64,
    pieces: &'a [&'a str],
}

/// Reads `runs` texts, each one of `texts` with up to three random changes.
///
/// * `pieces`: what is put in between.
/// * `is_accepted`: reads a text, asserts what holds of it, and says whether it was accepted.
///
/// # Panics
/// When `is_accepted` does, after printing the seed and the text; and when fewer than one text in
/// twenty is accepted or refused, since changes that are all harmless, or all fatal, test nothing.
pub fn read_changed(
    seed: u64,
    runs: usize,
    texts: &[&str],
    pieces: &[&str],
    mut is_accepted: impl FnMut(&str) -> bool,
) {
    let mut mutator = Mutator::new(seed, pieces);
    let mut accepted = 0;
    for run in 0..runs {
        let mut text = mutator.pick(texts).to_owned();
        for _ in 0..=mutator.below(3) {
            mutator.change(&mut text);
        }
        // Shown only when something below fails.
        println!("seed {seed}, run {run}:\n{text}");
        accepted += usize::from(is_accepted(&text));
    }
    let refused = runs - accepted;
    assert!(
        accepted > runs / 20 && refused > runs / 20,
        "{accepted} accepted, {refused} refused"
    );
}

impl<'a> Mutator<'a> {
    /// * `pieces`: what is put into texts.
    pub fn new(seed: u64, pieces: &'a [&'a str]) -> Self {
        Mutator {
            draws: Pcg64::seed_from_u64(seed),
            pieces,
        }
    }

    /// A number below `bound`; zero where that is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draws.next_u64() % bound.max(1) as u64) as usize
    }

    /// One of `from`.
    ///
    /// # Panics
    /// When there is none.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Puts something in, cuts something out, says something twice, or gives one value to another
    /// key.
    pub fn change(&mut self, text: &mut String) {
        let (one, other) = (self.place(text), self.place(text));
        let start = one.min(other);
        let mut end = one.max(other).min(start + CUT_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        match self.below(5) {
            0 => text.insert_str(one, self.pick(self.pieces)),
            1 => text.replace_range(start..end, ""),
            2 => text.replace_range(start..end, self.pick(self.pieces)),
            3 => {
                let again = text[start..end].to_owned();
                text.insert_str(one, &again);
            }
            _ => self.swap_values(text),
        }
    }

    /// A place between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut place = self.below(text.len() + 1);
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        place
    }

    fn swap_values(&mut self, text: &mut String) {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (one, other) = (self.below(lines.len()), self.below(lines.len()));
        let halves = |line: &String| {
            let at = line.find(['=', ':'])?;
            Some((line[..=at].to_owned(), line[at + 1..].to_owned()))
        };
        let (first, second) = (
            lines.get(one).and_then(halves),
            lines.get(other).and_then(halves),
        );
        if let (Some((key, _)), Some((_, value))) = (first, second) {
            lines[one] = key + &value;
        }
        *text = lines.join("\n");
    }
}
