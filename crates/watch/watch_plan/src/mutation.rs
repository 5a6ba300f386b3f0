//! Plans with random changes, and random bytes: refused with a line and a hint, or a plan whose
//! timetable can be asked; never a panic.

use testkit::Mutator;

use crate::{Notice, Plan, PlanError, Timetable, psconfig};

const RUNS: usize = 1_000;

/// Pieces that make a file wrong in interesting ways, or right in another.
const PIECES: [&str; 49] = [
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
    " ",
    "\t\n",
    "\"class\": \"west\",",
    "\"type\": \"not\",",
    "\"type\": \"address-class\",",
    "\"label\": \"backup\",",
    "\"includes\": [\"psconfig-common.json\"],",
    "\"{% address[1] %}\"",
    "\"reverse\": true,",
];

type Read = fn(&str, &str) -> Result<(Plan, Vec<Notice>), PlanError>;

fn changed(seed: u64, originals: &[&str], read: Read) {
    testkit::read_changed(seed, RUNS * originals.len(), originals, &PIECES, |text| {
        let read = read(text, "changed");
        match &read {
            Ok((plan, _)) => assert_usable(plan),
            Err(error) => assert_helpful(error, text.lines().count().max(400)),
        }
        read.is_ok()
    });
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
        &[include_str!("../testdata/plan.toml")],
        Plan::parse,
    );
}

fn read_psconfig(text: &str, name: &str) -> Result<(Plan, Vec<Notice>), PlanError> {
    let common = include_str!("../testdata/psconfig-common.json");
    psconfig::read(text, name, &mut |_| Ok(common.to_owned()))
}

#[test]
fn changed_psconfig_is_refused_with_a_hint_or_usable() {
    changed(
        20_261_125,
        &[
            include_str!("../testdata/psconfig.json"),
            include_str!("../testdata/psconfig-sites.json"),
        ],
        read_psconfig,
    );
}

#[test]
fn changed_includes_are_refused_with_a_hint_or_usable() {
    changed(
        20_261_127,
        &[include_str!("../testdata/psconfig-common.json")],
        |text, name| {
            let sites = include_str!("../testdata/psconfig-sites.json");
            psconfig::read(sites, name, &mut |_| Ok(text.to_owned()))
        },
    );
}

#[test]
fn random_text_is_refused() {
    let seed = 20_261_126;
    let mut mutator = Mutator::new(seed, &PIECES);
    for run in 0..20_000 {
        let bytes: Vec<u8> = (0..mutator.below(60))
            .map(|_| mutator.below(256) as u8)
            .collect();
        let text = String::from_utf8_lossy(&bytes);
        println!("seed {seed}, run {run}: {text:?}");
        assert!(Plan::parse(&text, "random").is_err());
        assert!(read_psconfig(&text, "random").is_err());
    }
}

/// What is nested without end is refused before it takes the stack.
#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{\"a\":", "a = [", "a = {b="] {
        let text = open.repeat(100_000);
        assert!(Plan::parse(&text, "deep").is_err());
        assert!(read_psconfig(&text, "deep").is_err());
    }
}
