//! Plans with random changes, and random bytes: refused with a line and a hint, or a plan whose
//! timetable can be asked; never a panic.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::{Notice, Plan, PlanError, Timetable, psconfig};

const RUNS: usize = 1_000;

/// Pieces that make a file wrong in interesting ways, or right in another.
const PIECES: [&str; 40] = [
    "0",
    "-1",
    "1e300",
    "nan",
    "inf",
    "9223372036854775807",
    "99999999999999999999T",
    "\"\"",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    ":",
    ",",
    "\n",
    "#",
    "\u{0}",
    "\u{1f4a5}",
    "\\u0000",
    "true",
    "null",
    "1979-05-27",
    "\"10s\"",
    "\"8784h\"",
    "\"* * * * *\"",
    "\"0 0 29 2 *\"",
    "\"@yearly\"",
    "\"00:00-00:00\"",
    "\"bonn\"",
    "\"PT10S\"",
    "\"P52W\"",
    "\"PT0.001S\"",
    "\"-14:00\"",
    "kind = \"tune\"\n",
    "[hosts.bonn]\n",
    "[tasks.bonn]\n",
    "\"host\": \"bonn\",",
    "\"mesh\"",
];

struct Mutator(Pcg64);

impl Mutator {
    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound.max(1) as u64) as usize
    }

    /// A place between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut place = self.below(text.len() + 1);
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        place
    }

    /// Something is put in, cut out, said twice, or one value is given to another key.
    fn change(&mut self, text: &mut String) {
        let (one, other) = (self.place(text), self.place(text));
        let start = one.min(other);
        let mut end = one.max(other).min(start + 24);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let piece = PIECES[self.below(PIECES.len())];
        match self.below(5) {
            0 => text.insert_str(one, piece),
            1 => text.replace_range(start..end, ""),
            2 => text.replace_range(start..end, piece),
            3 => {
                let again = text[start..end].to_owned();
                text.insert_str(one, &again);
            }
            _ => self.swap_values(text),
        }
    }

    fn swap_values(&mut self, text: &mut String) {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (one, other) = (self.below(lines.len()), self.below(lines.len()));
        let cut = |line: &String| {
            let at = line.find(['=', ':'])?;
            Some((line[..=at].to_owned(), line[at + 1..].to_owned()))
        };
        let (first, second) = (lines.get(one).and_then(cut), lines.get(other).and_then(cut));
        if let (Some((key, _)), Some((_, value))) = (first, second) {
            lines[one] = key + &value;
        }
        *text = lines.join("\n");
    }
}

type Read = fn(&str, &str) -> Result<(Plan, Vec<Notice>), PlanError>;

fn changed(seed: u64, original: &str, read: Read) {
    let mut mutator = Mutator(Pcg64::seed_from_u64(seed));
    let (mut accepted, mut refused) = (0, 0);
    for run in 0..RUNS {
        let mut text = original.to_owned();
        for _ in 0..=mutator.below(3) {
            mutator.change(&mut text);
        }
        // Shown only when something below fails.
        println!("seed {seed}, run {run}:\n{text}");
        match read(&text, "changed") {
            Ok((plan, _)) => {
                assert_usable(&plan);
                accepted += 1;
            }
            Err(error) => {
                assert_helpful(&error, text.lines().count());
                refused += 1;
            }
        }
    }
    // Changes that are all harmless, or all fatal, would test nothing.
    assert!(
        accepted > RUNS / 20 && refused > RUNS / 20,
        "{accepted} {refused}"
    );
}

fn assert_helpful(error: &PlanError, lines: usize) {
    assert!(!error.mistakes().is_empty());
    for mistake in error.mistakes() {
        assert!((1..=lines + 1).contains(&mistake.line), "{mistake}");
        assert!(
            !mistake.problem.is_empty() && !mistake.hint.is_empty(),
            "{mistake:?}"
        );
    }
}

fn assert_usable(plan: &Plan) {
    let table = Timetable::new(plan, 0).unwrap();
    assert!(!plan.tasks().is_empty());
    for host in plan.hosts().keys().take(2) {
        for now in [i64::MIN, 0, 1_795_478_400, 253_402_300_799, i64::MAX] {
            let next = table.next_visits(host, now).take(3);
            assert!(next.into_iter().all(|next| next.due().at >= now));
            table.busy_until(host, now);
        }
    }
}

#[test]
fn changed_plans_are_refused_with_a_hint_or_usable() {
    changed(
        20_261_124,
        include_str!("../testdata/plan.toml"),
        Plan::parse,
    );
}

#[test]
fn changed_psconfig_is_refused_with_a_hint_or_usable() {
    changed(
        20_261_125,
        include_str!("../testdata/psconfig.json"),
        psconfig::read,
    );
}

#[test]
fn random_text_is_refused() {
    let seed = 20_261_126;
    let mut mutator = Mutator(Pcg64::seed_from_u64(seed));
    for run in 0..20_000 {
        let bytes: Vec<u8> = (0..mutator.below(60))
            .map(|_| mutator.below(256) as u8)
            .collect();
        let text = String::from_utf8_lossy(&bytes);
        println!("seed {seed}, run {run}: {text:?}");
        assert!(Plan::parse(&text, "random").is_err());
        assert!(psconfig::read(&text, "random").is_err());
    }
}
