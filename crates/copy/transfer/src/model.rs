//! Both roles of a copy against a model of what the destination must be.
//!
//! [`SenderState`](crate::sender::state::SenderState) and
//! [`ReceiverState`](crate::receiver::state::ReceiverState) with their files in memory talk to each
//! other through queues, on one thread. What happens next is drawn from a seed: which message,
//! portion of a stream or file on the disk is next, what breaks, who is killed, what befalls the
//! files between two tries. After every try each name stands for one whole version; after a last
//! try that nothing disturbs, for the source's.
//!
//! `make model CASES=1000000` tries a million cases, `cargo test` a few hundred. A case that fails
//! is made as small as it gets and printed with its seed; `MODEL_SEED` repeats it.
//!
//! Reading order: `draw` (choices and how they shrink), `world` (both folders, and what must be
//! true of them), `talk` (one conversation, with `around` and `heard`), `streams`, `events` (what
//! breaks), `meddling` (between tries), `verdict` (after the last try).

mod around;
mod draw;
mod events;
mod heard;
mod meddling;
mod streams;
mod talk;
mod verdict;
mod world;

use std::cell::Cell;
use std::env;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use draw::{Draw, shrink};
use talk::{Calm, hold};
use world::World;

/// Cases where the environment does not say how many.
const CASES: u64 = 300;
/// Tries before the last one.
const TRIES: usize = 4;

thread_local! {
    /// Whether a panic is part of the search for a smaller case, and told later.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// In memory, where there is such a place.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    }
}

/// One case, from its first try to its last.
fn case(place: &Path, draw: &mut Draw) {
    let mut world = World::new(place, draw);
    for number in 0..draw.below(TRIES) {
        draw.note(|| format!("try {number}"));
        hold(&mut world, draw, Calm::No);
        world.check_names();
        for _ in 0..draw.below(3) {
            world.meddle(draw);
        }
    }
    draw.note(|| "the last try".to_owned());
    let expected = world.expected();
    let told = hold(&mut world, draw, Calm::Yes);
    world.judge(&expected, &told);
    if draw.chance(4) {
        draw.note(|| "once more".to_owned());
        let expected = world.expected();
        let told = hold(&mut world, draw, Calm::Yes);
        world.judge(&expected, &told);
        world.check_nothing_sent(&expected, &told);
    }
}

/// What is wrong with a case, if anything.
fn failure(place: &Path, draw: &mut Draw) -> Option<String> {
    let was_quiet = IS_QUIET.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| case(place, draw)));
    IS_QUIET.set(was_quiet);
    let panic = outcome.err()?;
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    Some(text.unwrap_or_default())
}

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no number")),
    )
}

fn be_quiet_where_asked() {
    let told = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !IS_QUIET.get() {
            told(panic);
        }
    }));
}

/// The smallest case like this one, as what happens in it, and what is wrong.
fn told(place: &Path, failed: Draw, why: &str) -> String {
    let start = why.get(..20).unwrap_or(why);
    let tape = shrink(failed.tape(), |tape| {
        let mut draw = Draw::again(tape.to_vec());
        let failed = failure(place, &mut draw);
        failed
            .filter(|why| why.starts_with(start))
            .map(|_| draw.tape())
    });
    let mut draw = Draw::again(tape).telling();
    let small = failure(place, &mut draw);
    let log = draw.log().join("\n  ");
    match small {
        Some(small) => format!("{why}\nThe smallest case like it:\n  {log}\n{small}"),
        None => format!("{why}\nIt does not happen again with the same draws."),
    }
}

#[test]
fn whatever_happens_to_both_roles_the_folder_is_what_it_must_be() {
    be_quiet_where_asked();
    let place = folder();
    let one = number("MODEL_SEED");
    let first = one.or_else(|| number("MODEL_FIRST")).unwrap_or(0);
    let count = one.map_or_else(|| number("MODEL_CASES").unwrap_or(CASES), |_| 1);
    for seed in first..first + count {
        let mut draw = Draw::seeded(seed);
        if let Some(why) = failure(place.path(), &mut draw) {
            let told = told(place.path(), draw, &why);
            panic!(
                "seed {seed}: {told}\nagain: MODEL_SEED={seed} cargo test -p trunkline-transfer \
                --lib model"
            );
        }
        let done = seed - first + 1;
        if done.is_multiple_of(10_000) {
            eprintln!("{done} cases from seed {first} without a difference");
        }
    }
    eprintln!("{count} cases from seed {first} without a difference");
}

#[test]
fn a_seed_is_always_the_same_case() {
    let place = folder();
    for seed in 0..40 {
        let log = || {
            let mut draw = Draw::seeded(seed).telling();
            case(place.path(), &mut draw);
            (draw.log().to_vec(), draw.tape())
        };
        assert_eq!(log(), log(), "seed {seed}");
    }
}
