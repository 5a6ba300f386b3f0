//! Every sentence about a search follows from the rows beside it: over simulated paths, whatever is
//! sought.
//!
//! `cargo test` takes a sample of the paths and seeds: every other named path. With
//! `TRUNKLINE_SENTENCES=all` it takes all of them with 20 seeds and 200 random paths, each with all
//! objectives: some 2,300 searches.

mod check;
mod paths;

use netpath::PathSpec;
use observe::Target;
use record::Tune;
use target::SimulatedPath;
use tune::{Controls, Objective, TuneError, TunePlan};
use units::Rate;

const OBJECTIVES: [Objective; 4] = [
    Objective::KNEE,
    Objective::GENTLE,
    Objective::Max,
    Objective::Power,
];

/// How much of everything is looked at.
struct Scope {
    /// Of the named paths every so many-th.
    every: usize,
    seeds: u64,
    random: u64,
    objectives: usize,
}

impl Scope {
    fn asked() -> Self {
        match std::env::var("TRUNKLINE_SENTENCES").as_deref() {
            Ok("all") => Scope {
                every: 1,
                seeds: 20,
                random: 200,
                objectives: OBJECTIVES.len(),
            },
            _ => Scope {
                every: 2,
                seeds: 1,
                random: 3,
                objectives: 1,
            },
        }
    }
}

/// The document of one search; `None` where nothing arrived, which is an error that recommends
/// nothing.
fn search(path: &PathSpec, objective: Objective, seed: u64) -> Option<Tune> {
    let plan = TunePlan {
        objective,
        ..TunePlan::default()
    };
    search_with(path, &plan, seed)
}

fn search_with(path: &PathSpec, plan: &TunePlan, seed: u64) -> Option<Tune> {
    let mut target = SimulatedPath::new(path, seed);
    match tune::tune(&mut target, plan, &mut ()) {
        Ok(tuning) => Some(Tune::new(&target.describe(), &tuning)),
        Err(TuneError::NothingDelivered { .. }) => None,
        Err(error) => panic!("{} with seed {seed}: {error}", path.name),
    }
}

/// What is wrong with the searches on `path`.
fn faults(path: &PathSpec, seed: u64) -> Vec<String> {
    let objectives = OBJECTIVES.into_iter().take(Scope::asked().objectives);
    let found = objectives.flat_map(|objective| {
        let body = search(path, objective, seed)?;
        let name = format!("{} for {} with seed {seed}", path.name, objective.name());
        let page = report::page::tune::page(&body);
        let text = draw::render::terminal::text(&page, draw::Paint::Plain);
        let faults = check::faults(&body);
        let told = faults
            .into_iter()
            .map(move |fault| format!("{name}: {fault}\n{text}"));
        Some(told.collect::<Vec<_>>())
    });
    found.flatten().collect()
}

fn none(faults: Vec<String>, searches: u64) {
    let shown: Vec<&str> = faults.iter().take(3).map(String::as_str).collect();
    assert!(
        faults.is_empty(),
        "{} faults in {searches} searches, such as\n{}",
        faults.len(),
        shown.join("\n")
    );
    println!("{searches} searches without a fault");
}

#[test]
fn named_paths_have_no_sentence_that_their_rows_contradict() {
    let seeds = Scope::asked().seeds;
    let named: Vec<PathSpec> = netpath::presets::names()
        .filter_map(|name| PathSpec::load(name).ok())
        // The simulator has one link each way.
        .filter(|path| path.before.is_empty() && path.beyond.is_empty())
        .step_by(Scope::asked().every)
        .collect();
    let all = named
        .iter()
        .flat_map(|path| (1..=seeds).map(move |seed| (path, seed)));
    let found = all.flat_map(|(path, seed)| faults(path, seed));
    none(
        found.collect(),
        named.len() as u64 * seeds * Scope::asked().objectives as u64,
    );
}

#[test]
fn random_paths_have_no_sentence_that_their_rows_contradict() {
    let count = Scope::asked().random;
    let found = (0..count).flat_map(|seed| faults(&paths::random(seed), seed));
    none(found.collect(), count * Scope::asked().objectives as u64);
}

#[test]
fn a_sentence_that_its_rows_contradict_is_found() {
    let path = PathSpec::load("slac-cern").unwrap();
    let plan = TunePlan {
        controls: Controls::Kept,
        ..TunePlan::default()
    };
    let right = search_with(&path, &plan, 1).unwrap();
    assert_eq!(check::faults(&right), Vec::<String>::new());
    let wrong: [fn(&mut Tune); 4] = [
        |tune| tune.answer.as_mut().unwrap().recommended.sample = 0,
        |tune| {
            tune.answer
                .as_mut()
                .unwrap()
                .recommended
                .goodput_bits_per_second += 1_000_000
        },
        |tune| {
            tune.answer.as_mut().unwrap().limit_default.could_reach =
                Some(Rate::from_bits_per_second(1))
        },
        // A row that promises far more than what is recommended.
        |tune| {
            let promise = tune.samples[0].promise.as_mut();
            promise.unwrap().goodput_bits_per_second *= 1_000;
        },
    ];
    for (place, spoil) in wrong.into_iter().enumerate() {
        let mut spoilt = right.clone();
        spoil(&mut spoilt);
        assert!(
            !check::faults(&spoilt).is_empty(),
            "mistake {place} was not found"
        );
    }
}
