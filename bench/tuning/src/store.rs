//! Outcomes of long runs in one file, so that a grid of thousands of them is read in a moment.
//!
//! A line is a digest of what was run, the simulator that ran it, and the outcome; numbers in full.
//! A line that is cut or wrong is as good as absent. [`simulation_grid::Cache`] beside it keeps the
//! runs themselves while a campaign goes on, and knows only the present simulator; here those of
//! others are found too, for whoever changes both the simulator and a search and does not want to
//! wait for either.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use netpath::PathSpec;
use sim::Scenario;
use simulation_grid::ENGINE;

use crate::runs::Outcome;

/// The outcomes that are known.
#[derive(Debug)]
pub struct Store {
    file: PathBuf,
    known: HashMap<String, Outcome>,
}

impl Store {
    /// The outcomes in `file`, if it exists; `foreign` believes those of other simulators where
    /// this one has none.
    pub fn open(file: &Path, foreign: bool) -> Self {
        let text = fs::read_to_string(file).unwrap_or_default();
        let lines: Vec<Line> = text.lines().filter_map(Line::read).collect();
        let believed = lines.iter().filter(|line| foreign || line.engine == ENGINE);
        let mut ordered: Vec<&Line> = believed.collect();
        // What stands later wins: the present simulator's.
        ordered.sort_by_key(|line| line.engine == ENGINE);
        let known = ordered
            .into_iter()
            .map(|line| (line.key.to_owned(), line.outcome));
        Store {
            file: file.to_owned(),
            known: known.collect(),
        }
    }

    /// The outcome of a run, if it is known.
    pub fn get(&self, key: &str) -> Option<Outcome> {
        self.known.get(key).copied()
    }

    /// Keeps outcomes, each with its key.
    ///
    /// # Errors
    /// When the file cannot be written; they are known all the same.
    pub fn add(&mut self, outcomes: Vec<(String, Outcome)>) -> io::Result<()> {
        let lines: String = outcomes
            .iter()
            .map(|(key, outcome)| line(key, outcome))
            .collect();
        self.known.extend(outcomes);
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.file)?;
        file.write_all(lines.as_bytes())
    }
}

/// The name of what a scenario runs: everything that this benchmark sets. Of the path, what
/// documents say of it: they leave out what it does not have, so a new field changes no name.
pub fn key(scenario: &Scenario) -> String {
    let Scenario {
        path,
        streams,
        window,
        variant,
        pacing,
        ..
    } = scenario;
    let Scenario {
        idle,
        warmup,
        duration,
        seed,
        ..
    } = scenario;
    let PathSpec {
        forward,
        reverse,
        before,
        beyond,
        hosts,
        cross,
        ..
    } = path;
    let links = serde_json::json!([forward, reverse, hosts, cross]);
    let text = format!(
        "{links} {before:?} {beyond:?} {streams} {window:?} {variant:?} {pacing:?} {idle} {warmup} {duration} {seed}"
    );
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

struct Line<'a> {
    key: &'a str,
    engine: &'a str,
    outcome: Outcome,
}

impl<'a> Line<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let [key, engine, goodput, cross, wait, resent, "."] = words[..] else {
            return None;
        };
        let outcome = Outcome {
            goodput: goodput.parse().ok()?,
            cross: cross.parse().ok()?,
            wait: wait.parse().ok()?,
            resent: resent.parse().ok()?,
        };
        Some(Line {
            key,
            engine,
            outcome,
        })
    }
}

/// The full stop at the end tells a whole line from a cut one.
fn line(key: &str, outcome: &Outcome) -> String {
    let Outcome {
        goodput,
        cross,
        wait,
        resent,
    } = outcome;
    format!("{key} {ENGINE} {goodput} {cross} {wait} {resent} .\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTCOME: Outcome = Outcome {
        goodput: 1.0 / 3.0,
        cross: 0.0,
        wait: 1e-9,
        resent: 0.5,
    };

    #[test]
    fn what_is_kept_comes_back_and_a_cut_line_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("outcomes");
        let mut store = Store::open(&file, false);
        store
            .add(vec![("a".to_owned(), OUTCOME), ("b".to_owned(), OUTCOME)])
            .unwrap();
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, &text[..text.len() - 3]).unwrap();
        let again = Store::open(&file, false);
        assert_eq!((again.get("a"), again.get("b")), (Some(OUTCOME), None));
    }

    #[test]
    fn another_simulators_outcome_counts_only_where_it_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("outcomes");
        fs::write(&file, line("a", &OUTCOME).replace(ENGINE, "other")).unwrap();
        assert_eq!(Store::open(&file, false).get("a"), None);
        assert_eq!(Store::open(&file, true).get("a"), Some(OUTCOME));
    }
}
