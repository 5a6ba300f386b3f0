//! Random visits in random batches: both databases and a plain model give the same answers.

mod common;

use std::collections::BTreeMap;

use changes::{UnixTime, Visit};
use common::server::Server;
use common::{Draw, START, name, time};
use watch_store::{
    DatabaseName, GridCell, Level, Month, PairHistory, Receipt, Store, StoredVisit, VisitId,
};

const DAYS: u64 = 70;

#[test]
fn both_databases_and_a_model_give_the_same_answers() {
    let server = Server::start();
    for seed in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseName::Sqlite(folder.path().join("watch.sqlite"));
        let one = answers(seed, &file);
        if let Some(server) = &server {
            let other = answers(seed, &server.database(&format!("seed{seed}")));
            assert_eq!(one, other, "seed {seed}: SQLite and PostgreSQL");
        }
    }
}

type Answers = (
    Vec<Receipt>,
    Vec<Vec<GridCell>>,
    Vec<Month>,
    Vec<PairHistory>,
);

/// Stores, rolls up and asks; what the model knows is compared here.
fn answers(seed: u64, database: &DatabaseName) -> Answers {
    let mut store = Store::open(database).unwrap();
    let mut draw = Draw::new(seed);
    let mut model: BTreeMap<VisitId, StoredVisit> = BTreeMap::new();
    let mut receipts = Vec::new();
    for _ in 0..30 {
        let batch = batch(&mut draw, &model);
        let found = store.insert(&batch).unwrap();
        for (visit, receipt) in batch.iter().zip(&found) {
            let expected = match model.get(&visit.id) {
                None => "stored",
                Some(known) if known == visit => "known",
                Some(_) => "refused",
            };
            let receipt = match receipt {
                Receipt::Stored => "stored",
                Receipt::Known => "known",
                Receipt::Refused(_) => "refused",
            };
            assert_eq!(receipt, expected, "seed {seed}, visit {}", visit.id);
            model.entry(visit.id).or_insert_with(|| visit.clone());
        }
        receipts.extend(found);
        if draw.below(3) == 0 {
            store.roll_up(draw.below(40) as u32).unwrap();
        }
    }
    while store.roll_up(50).unwrap() > 0 {}
    let tasks = [name("mesh"), name("other")];
    let grids: Vec<_> = tasks.iter().map(|task| store.grid(task).unwrap()).collect();
    for (task, grid) in tasks.iter().zip(&grids) {
        let expected = latest(&model, task);
        let found: Vec<_> = grid
            .iter()
            .map(|cell| (cell.pair.clone(), cell.at))
            .collect();
        assert_eq!(found, expected, "seed {seed}, grid of {task}");
    }
    let histories = histories(seed, &mut store, &mut draw, &model);
    let months = store.months(&tasks[0], time(0), time(u64::MAX)).unwrap();
    (receipts, grids, months, histories)
}

/// New visits, some that were sent before, and some with the identity of another.
fn batch(draw: &mut Draw, model: &BTreeMap<VisitId, StoredVisit>) -> Vec<StoredVisit> {
    let count = 1 + draw.below(30);
    let any = |draw: &mut Draw| {
        let place = draw.below(model.len().max(1) as u64) as usize;
        model.values().nth(place).cloned()
    };
    let visit = |draw: &mut Draw| match (draw.below(10), any(draw)) {
        (0, Some(known)) => known,
        (1, Some(known)) => StoredVisit {
            id: known.id,
            ..draw.visit(DAYS)
        },
        _ => draw.visit(DAYS),
    };
    (0..count).map(|_| visit(draw)).collect()
}

fn latest(
    model: &BTreeMap<VisitId, StoredVisit>,
    task: &watch_store::Name,
) -> Vec<(watch_store::Pair, UnixTime)> {
    let mut latest = BTreeMap::new();
    for visit in model.values().filter(|visit| visit.task == *task) {
        let at = latest.entry(visit.pair.clone()).or_insert(visit.visit.at);
        *at = visit.visit.at.max(*at);
    }
    latest.into_iter().collect()
}

fn histories(
    seed: u64,
    store: &mut Store,
    draw: &mut Draw,
    model: &BTreeMap<VisitId, StoredVisit>,
) -> Vec<PairHistory> {
    let mut histories = Vec::new();
    for visit in model.values().step_by(7) {
        let from = START + draw.below(DAYS * 86_400);
        let to = from + draw.below(DAYS * 86_400);
        let points = 3 + draw.below(40) as usize;
        let range = (time(from), time(to));
        let history = store
            .history(&visit.pair, &visit.task, range, points)
            .unwrap();
        let inside = model
            .values()
            .filter(|other| other.pair == visit.pair && other.task == visit.task);
        check(seed, &history, inside.collect(), range, points);
        histories.push(history);
    }
    histories
}

fn check(
    seed: u64,
    history: &PairHistory,
    series: Vec<&StoredVisit>,
    (from, to): (UnixTime, UnixTime),
    points: usize,
) {
    let within = |from: u64, to: u64| -> Vec<&Visit> {
        let visits = series.iter().map(|stored| &stored.visit);
        visits
            .filter(|visit| (from..to).contains(&visit.at.seconds()))
            .collect()
    };
    let visits = within(from.seconds(), to.seconds());
    match history {
        PairHistory::Visits(found) => {
            assert!(found.len() <= points, "seed {seed}");
            assert_eq!(found.len(), visits.len(), "seed {seed}");
            for (id, found) in found {
                let stored = series.iter().find(|stored| stored.id == *id).unwrap();
                let medians = |visit: &Visit| visit.round_trips.as_ref().map(|t| t.median());
                assert_eq!(medians(found), medians(&stored.visit), "seed {seed}");
                let without = |visit: &Visit| Visit {
                    round_trips: None,
                    ..visit.clone()
                };
                assert_eq!(without(found), without(&stored.visit), "seed {seed}");
            }
        }
        PairHistory::RollUps(level, found) => {
            assert!(
                found.len() <= points && visits.len() > points,
                "seed {seed}"
            );
            let seconds = match level {
                Level::Hour => 3600,
                Level::Day => 86_400,
                // Three months at most are in the range; the fixed test has their figures.
                Level::Month => return,
            };
            for roll_up in found {
                let start = roll_up.start.seconds();
                let visits = within(start, start + seconds);
                assert_eq!(roll_up.visits, visits.len() as u64, "seed {seed}");
                let goodputs: Vec<f64> = visits
                    .iter()
                    .filter_map(|v| Some(v.goodput?.as_f64()))
                    .collect();
                let median = stats::median(&goodputs).map(|median| median.round());
                let found = roll_up.goodput.map(|goodput| goodput.median.as_f64());
                assert_eq!(found, median, "seed {seed}");
                let sent = visits
                    .iter()
                    .filter_map(|v| v.probes)
                    .map(|p| u64::from(p.sent));
                assert_eq!(roll_up.sent, sent.sum::<u64>(), "seed {seed}");
            }
        }
    }
}
