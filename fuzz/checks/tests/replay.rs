//! Every seed, and some hundred random changes of each, through the check of its target: what the
//! fuzzer does for minutes, in a moment and on a stable compiler.
//!
//! `TRUNKLINE_FUZZ_SEED=n` repeats the changes of an earlier run, which printed its number;
//! `TRUNKLINE_FUZZ_CHANGES=n` makes more of them.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use checks::{TARGETS, Target};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Changes of each seed.
const CHANGES: u64 = 200;
/// Of those whose check flushes files or draws pages.
const CHANGES_OF_SLOW: u64 = 20;
const SLOW: [&str; 2] = ["report", "stream"];
const LENGTH_MAX: usize = 64 << 10;

/// Bytes and texts that mean something somewhere.
const PARTS: [&[u8]; 20] = [
    b"\0",
    b"\xff\xff\xff\xff",
    b"\0\0\0\0\0\0\0\x80",
    b"-1",
    b"0",
    b"1e300",
    b"-1e308",
    b"18446744073709551615",
    b"9223372036854775808",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"\"\"",
    b"\\u0000",
    b"\x1b[2J",
    b"../",
    b"*",
    b"{,}",
    "\u{202e}\u{1f4a5}".as_bytes(),
];

struct Changes(Pcg64);

impl Changes {
    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound.max(1) as u64) as usize
    }

    /// One to four changes of `bytes`.
    fn of(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut changed = bytes.to_vec();
        for _ in 0..=self.below(4) {
            self.change(&mut changed);
        }
        changed.truncate(LENGTH_MAX);
        changed
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = at + self.below((bytes.len() - at).min(64) + 1);
        let part = PARTS[self.below(PARTS.len())];
        match self.below(7) {
            0 => drop(bytes.splice(at..at, part.iter().copied())),
            1 => drop(bytes.splice(at..end, part.iter().copied())),
            2 => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 => {
                let again = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, again));
            }
            5 => self.change_number(bytes, at, part),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
        }
    }

    /// The next number that is written in digits becomes something else.
    fn change_number(&mut self, bytes: &mut Vec<u8>, from: usize, part: &[u8]) {
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let Some(start) = bytes[from..].iter().position(is_digit).map(|it| from + it) else {
            return;
        };
        let length = bytes[start..]
            .iter()
            .take_while(|byte| is_digit(byte))
            .count();
        drop(bytes.splice(start..start + length, part.iter().copied()));
    }
}

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = fuzz().join("seeds").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{target}: {error}"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.is_file());
    files.sort();
    let named = |file: PathBuf| (file.display().to_string(), fs::read(&file).unwrap());
    files.into_iter().map(named).collect()
}

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is `{text}`, which is no number")),
    )
}

/// A name for the first input that the check does not stand, and the input.
fn first_failure(
    check: fn(&[u8]),
    seeds: &[(String, Vec<u8>)],
    random: u64,
    changes: u64,
) -> Option<(String, Vec<u8>)> {
    let fails = |bytes: &[u8]| catch_unwind(AssertUnwindSafe(|| check(bytes))).is_err();
    for (position, (name, seed)) in seeds.iter().enumerate() {
        if fails(seed) {
            return Some((name.clone(), seed.clone()));
        }
        let mut random = Changes(Pcg64::seed_from_u64(random.wrapping_add(position as u64)));
        for change in 0..changes {
            let changed = random.of(seed);
            if fails(&changed) {
                return Some((format!("{name}, change {change}"), changed));
            }
        }
    }
    None
}

fn replay((name, check): Target, random: u64) {
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name} has no seed");
    let usual = if SLOW.contains(&name) {
        CHANGES_OF_SLOW
    } else {
        CHANGES
    };
    let changes = number("TRUNKLINE_FUZZ_CHANGES").unwrap_or(usual);
    if let Some((what, bytes)) = first_failure(check, &seeds, random, changes) {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
        fs::write(&file, bytes).unwrap();
        panic!(
            "{name} failed with {what}; TRUNKLINE_FUZZ_SEED={random} repeats it, and the input is \
                in {}",
            file.display()
        );
    }
}

#[test]
fn every_check_stands_its_seeds_and_changes_of_them() {
    let fresh = || RandomState::new().hash_one("changes of seeds");
    let random = number("TRUNKLINE_FUZZ_SEED").unwrap_or_else(fresh);
    println!("TRUNKLINE_FUZZ_SEED={random}");
    for target in TARGETS {
        println!("{}", target.0);
        replay(target, random);
    }
}

#[test]
fn a_check_that_breaks_its_promise_is_noticed() {
    let seeds = [(
        "seed".to_owned(),
        b"{\"count\":12345,\"name\":\"run7\"}".to_vec(),
    )];
    let check: fn(&[u8]) = |bytes| assert!(!bytes.windows(5).any(|five| five == b"1e300"));
    let (what, bytes) = first_failure(check, &seeds, 1, 2_000).expect("one of 2000 changes");
    assert!(what.starts_with("seed, change"), "{what}");
    assert!(bytes.windows(5).any(|five| five == b"1e300"));
}

/// A target is a file, a program, a check, seeds and a row of the page.
#[test]
fn targets_have_all_their_parts() {
    let names: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let in_folder = |folder: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(fuzz().join(folder)).unwrap();
        let stem = |path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
        entries.map(|entry| stem(entry.unwrap().path())).collect()
    };
    assert_eq!(names, in_folder("fuzz_targets"));
    assert_eq!(names, in_folder("seeds"));
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let page = fs::read_to_string(fuzz().join("README.md")).unwrap();
    for name in &names {
        assert!(
            manifest.contains(&format!("\nname = \"{name}\"\n")),
            "{name} is no program"
        );
        assert!(
            page.contains(&format!("| `{name}` |")),
            "{name} has no row in README.md"
        );
    }
    assert_eq!(manifest.matches("[[bin]]").count(), names.len());
}
