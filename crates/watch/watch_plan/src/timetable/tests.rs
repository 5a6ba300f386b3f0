use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::{Due, Planned, Timetable, Why};
use crate::model::Plan;
use crate::names::{HostName, TaskName};
use crate::schedule::seconds;

fn plan(text: &str) -> Plan {
    Plan::parse(text, "test.toml")
        .unwrap_or_else(|error| panic!("{error}"))
        .0
}

fn table(text: &str) -> Timetable {
    Timetable::new(&plan(text), 0).unwrap()
}

fn host(name: &str) -> HostName {
    name.parse().unwrap()
}

/// A plan of `hosts` hosts `h0`, `h1`, ... in one mesh `all`.
fn mesh(hosts: usize, tasks: &str) -> String {
    let names: Vec<String> = (0..hosts).map(|number| format!("\"h{number}\"")).collect();
    let mut text = String::from("[hosts]\n");
    for number in 0..hosts {
        writeln!(
            text,
            "h{number} = {{ address = \"h{number}.example.org\" }}"
        )
        .unwrap();
    }
    format!(
        "{text}[groups]\nall = {{ mesh = [{}] }}\n[tasks]\n{tasks}",
        names.join(", ")
    )
}

/// All visits of all hosts from `from` to `until`, each once, skipped ones too.
fn all(table: &Timetable, from: i64, until: i64) -> Vec<Planned> {
    let mut visits: Vec<Planned> = Vec::new();
    for name in table.plan().hosts().keys() {
        let next = table.next_visits(name, from);
        let ours = next.take_while(|next| next.due().at < until);
        visits.extend(ours.filter(|next| next.due().from == *name));
    }
    visits.sort_by_key(|visit| {
        (
            visit.due().at,
            visit.due().from.clone(),
            visit.due().to.clone(),
        )
    });
    visits
}

/// No two visits at a machine are closer than the gap, light ones beside each other apart.
fn assert_no_collision(table: &Timetable, visits: &[Planned]) {
    let gap = seconds(table.plan().gap());
    let mut at: BTreeMap<&str, Vec<&Due>> = BTreeMap::new();
    for visit in visits {
        let due = visit.due();
        for end in [&due.from, &due.to] {
            at.entry(table.plan().hosts()[end].machine.as_str())
                .or_default()
                .push(due);
        }
    }
    for (machine, visits) in at {
        for (index, one) in visits.iter().enumerate() {
            for other in &visits[index + 1..] {
                // In the order of beginnings: all later ones begin later still.
                if other.at >= one.until + gap {
                    break;
                }
                let light = !one.kind.is_exclusive() && !other.kind.is_exclusive();
                assert!(light, "at {machine}: {one:?} and {other:?}");
            }
        }
    }
}

#[test]
fn all_pairs_of_21_hosts_are_visited_in_less_than_25_minutes() {
    let task = r#"t = { kind = "throughput", group = "all", every = "25min", duration = "30s" }"#;
    let table = table(&mesh(21, task));
    let visits = all(&table, 0, 25 * 60);
    assert_eq!(visits.len(), 420);
    let pairs: BTreeSet<_> = visits
        .iter()
        .map(|visit| (&visit.due().from, &visit.due().to))
        .collect();
    assert_eq!(pairs.len(), 420);
    let last = visits.iter().map(|visit| visit.due().until).max().unwrap();
    // 42 rounds of 30 s with 41 gaps of 5 s.
    assert_eq!(last, 42 * 30 + 41 * 5);
    assert_no_collision(&table, &visits);
}

#[test]
fn an_interval_that_is_too_short_is_refused_with_the_one_that_would_do() {
    let text = |every: &str| {
        let task = format!(
            "t = {{ kind = \"throughput\", group = \"all\", every = \"{every}\", \
             duration = \"30s\" }}"
        );
        mesh(21, &task)
    };
    let error = Plan::parse(&text("20min"), "p.toml").unwrap_err();
    let mistake = &error.mistakes()[0];
    assert_eq!(mistake.line, 26);
    assert!(mistake.problem.contains("1470s is the least"), "{mistake}");
    assert!(Plan::parse(&text("1469s"), "p.toml").is_err());
    assert!(Plan::parse(&text("1470s"), "p.toml").is_ok());
}

#[test]
fn the_interval_that_an_error_names_is_enough() {
    let text = |every: u64| {
        let tasks = format!(
            "a = {{ kind = \"throughput\", group = \"all\", every = \"{every}s\", \
             duration = \"30s\" }}\n\
             b = {{ kind = \"tune\", group = \"all\", every = \"24h\", duration = \"5min\" }}\n\
             c = {{ kind = \"ping\", group = \"all\", every = \"{every}s\", duration = \"10s\" }}"
        );
        mesh(9, &tasks)
    };
    let error = Plan::parse(&text(60), "p.toml").unwrap_err();
    let problem = &error.mistakes()[0].problem;
    let needed = problem
        .rsplit(": ")
        .next()
        .unwrap()
        .split("s ")
        .next()
        .unwrap();
    let needed: u64 = needed.parse().unwrap();
    assert!(
        Plan::parse(&text(needed - 1), "p.toml").is_err(),
        "{problem}"
    );
    let found = table(&text(needed));
    assert_no_collision(&found, &all(&found, 0, 30_000));
}

#[test]
fn ping_runs_beside_ping_and_never_beside_throughput() {
    let tasks = r#"
        a = { kind = "throughput", group = "all", every = "30min", duration = "30s" }
        b = { kind = "ping", group = "all", every = "5min", duration = "10s" }
        c = { kind = "path", group = "all", every = "10min", duration = "8s" }"#;
    let table = table(&mesh(21, tasks));
    let visits = all(&table, 0, 3_600);
    assert_no_collision(&table, &visits);
    let at_zero = visits.iter().filter(|visit| visit.due().at == 0).count();
    assert_eq!(at_zero, 840, "all pings and paths begin together");
    let count = |task: &str| {
        visits
            .iter()
            .filter(|visit| visit.due().task.as_str() == task)
            .count()
    };
    assert_eq!(
        (count("a"), count("b"), count("c")),
        (840, 420 * 12, 420 * 6)
    );
}

#[test]
fn a_busy_host_says_until_when_and_who_waits_is_seen() {
    let task = r#"t = { kind = "throughput", group = "all", every = "10min", duration = "30s" }"#;
    let table = table(&mesh(4, task));
    let h0 = host("h0");
    let now = 1_000 * 600 + 36;
    let running = table.busy_until(&h0, now).unwrap();
    assert_eq!((running.at, running.until), (600_035, 600_065));
    assert_eq!(table.busy_until(&h0, 600_032), None, "in the gap");
    let waiting = table.waiting(&h0, now);
    // Six rounds, all with h0; one is over, one runs.
    assert_eq!(waiting.len(), 4);
    assert!(waiting.iter().all(|waiting| waiting.since == 600_000));
    assert_eq!(waiting[0].visit.at, 600_070);
    assert_eq!(table.busy_until(&host("elsewhere"), now), None);
    assert_eq!(table.next_visits(&host("elsewhere"), now).count(), 0);
}

#[test]
fn quiet_hours_skip_visits_and_say_why() {
    let task = r#"t = { kind = "throughput", group = "all", every = "6h", duration = "30s",
                        budget = { quiet = ["Mon-Fri 08:00-18:00"] } }"#;
    let table = table(&mesh(2, task));
    // 2026-11-23 was a Monday.
    let monday = 1_795_392_000;
    let visits = all(&table, monday, monday + 7 * 86_400);
    assert_eq!(visits.len(), 7 * 4 * 2);
    let skipped: Vec<_> = visits
        .iter()
        .filter_map(|visit| match visit {
            Planned::Skipped { due, why } => Some((due.at, why)),
            Planned::Visit(_) => None,
        })
        .collect();
    // 12:00 on five days, both ways. The one at 18:00 runs.
    assert_eq!(skipped.len(), 10);
    assert_eq!(skipped[0].0, monday + 12 * 3_600);
    assert_eq!(
        *skipped[0].1,
        Why::QuietHours("Mon-Fri 08:00-18:00".to_owned())
    );
}

#[test]
fn explain_has_the_share_of_time_and_what_comes_next() {
    let task = r#"t = { kind = "throughput", group = "all", every = "1h", duration = "30s" }"#;
    let plan = plan(&mesh(4, task));
    let explained = plan.explain(3_600 * 5 + 1).unwrap();
    assert_eq!(explained.hosts.len(), 4);
    for load in &explained.hosts {
        // Six visits of 30 s in an hour.
        assert!((load.busy - 0.05).abs() < 1e-12);
        assert!(load.running.is_some());
        assert_eq!(load.next.as_ref().unwrap().at, 3_600 * 5 + 35);
    }
    let task = &explained.tasks[0];
    assert_eq!(
        (task.pairs, task.rounds, task.cycle.to_string().as_str()),
        (12, 6, "205s")
    );
}

#[test]
fn a_year_of_a_large_mesh_costs_no_more_than_a_day() {
    let tasks = r#"
        a = { kind = "throughput", group = "all", every = "2h", duration = "30s" }
        b = { kind = "tune", group = "all", every = "720h", duration = "5min" }
        c = { kind = "ping", group = "all", every = "30min", duration = "10s" }
        d = { kind = "copy", group = "all", cron = "0 3 * * 0", duration = "60s", size = "2GB" }"#;
    let table = table(&mesh(30, tasks));
    // Seen by the work, not by a clock: far times give the answers of near ones.
    let month = 720 * 3_600;
    let h7 = host("h7");
    let starts = |from: i64| -> Vec<(i64, String)> {
        let next = table.next_visits(&h7, from);
        let next = next.filter(|next| next.due().task.as_str() != "d");
        next.take(500)
            .map(|next| (next.due().at - from, format!("{:?}", next.due().to)))
            .collect()
    };
    assert_eq!(starts(0), starts(month * 120));
    assert_eq!(table.next_visits(&h7, i64::MAX).count(), 0);
    assert!(table.next_visits(&h7, i64::MIN).next().is_some());
    assert!(
        table
            .explain(month * 600)
            .hosts
            .iter()
            .all(|load| load.next.is_some())
    );
}

struct Draw(Pcg64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    /// A plan of a few hosts, some on one machine, and a few groups and tasks.
    fn plan(&mut self) -> String {
        let hosts = 4 + self.below(5);
        let mut text = format!("gap = \"{}s\"\n[hosts]\n", 1 + self.below(9));
        for number in 0..hosts {
            let machine = if self.below(5) == 0 {
                "shared".to_owned()
            } else {
                format!("m{number}")
            };
            writeln!(
                text,
                "h{number} = {{ address = \"a{number}\", machine = \"{machine}\" }}"
            )
            .unwrap();
        }
        text += "[groups]\n";
        for group in 0..3 {
            let first = self.below(hosts - 1);
            let names: Vec<String> = (first..hosts.min(first + 2 + self.below(4)))
                .map(|number| format!("\"h{number}\""))
                .collect();
            let (a, b) = names.split_at(names.len() / 2);
            match self.below(3) {
                0 => writeln!(
                    text,
                    "g{group} = {{ disjoint = {{ a = [{}], b = [{}] }} }}",
                    a.join(","),
                    b.join(",")
                ),
                1 => writeln!(
                    text,
                    "g{group} = {{ list = [[{}, {}]] }}",
                    names[0], names[1]
                ),
                _ => writeln!(text, "g{group} = {{ mesh = [{}] }}", names.join(",")),
            }
            .unwrap();
        }
        text += "[tasks]\n";
        for task in 0..1 + self.below(5) {
            let kind = self.pick(&["ping", "path", "throughput", "tune", "responsiveness"]);
            let when = match self.below(4) {
                0 => format!(
                    "cron = \"{}\"",
                    self.pick(&[
                        "0 * * * *",
                        "7,37 * * * *",
                        "*/20 2-4 * * *",
                        "0 3 * * 1",
                        "13 1 * * *"
                    ])
                ),
                _ => format!("every = \"{}s\"", 300 + self.below(12) * self.below(600)),
            };
            let (group, duration) = (self.below(3), 1 + self.below(60));
            let what = format!("kind = \"{kind}\", group = \"g{group}\"");
            writeln!(
                text,
                "t{task} = {{ {what}, {when}, duration = \"{duration}s\" }}"
            )
            .unwrap();
        }
        text
    }
}

#[test]
fn random_plans_never_collide_and_visit_each_pair_once_a_cycle() {
    let seed = 20_261_124;
    let mut draw = Draw(Pcg64::seed_from_u64(seed));
    let (mut kept, mut visited) = (0, 0);
    for run in 0..400 {
        let text = draw.plan();
        println!("seed {seed}, run {run}:\n{text}");
        let Ok((plan, _)) = Plan::parse(&text, "random.toml") else {
            continue;
        };
        let epoch = (draw.below(3) * 12_345) as i64;
        let table = Timetable::new(&plan, epoch).unwrap();
        let until = epoch + 40_000;
        let visits = all(&table, epoch, until);
        assert_no_collision(&table, &visits);
        assert_cycles(&table, &visits, epoch, until);
        // What is to come is the same, whenever it is asked for.
        let later = epoch + draw.below(30_000) as i64;
        let rest: Vec<&Planned> = visits
            .iter()
            .filter(|visit| visit.due().at >= later)
            .collect();
        assert_eq!(all(&table, later, until).iter().collect::<Vec<_>>(), rest);
        assert_busy(&table, &visits, later);
        (kept, visited) = (kept + 1, visited + visits.len());
    }
    assert!(
        kept > 100 && visited > 10_000,
        "{kept} plans, {visited} visits"
    );
}

/// Between the due times of two cycles, and a frame more, each pair is visited once a cycle.
fn assert_cycles(table: &Timetable, visits: &[Planned], epoch: i64, until: i64) {
    for course in &table.courses {
        let dues: Vec<i64> = course
            .task
            .schedule
            .due_from(epoch, epoch, 0)
            .take_while(|due| *due < until)
            .collect();
        let mut starts: BTreeMap<(&HostName, &HostName), Vec<i64>> = BTreeMap::new();
        for due in visits
            .iter()
            .map(Planned::due)
            .filter(|due| due.task == course.task.name)
        {
            starts.entry((&due.from, &due.to)).or_default().push(due.at);
        }
        for pair in &course.pairs {
            let found = starts.remove(&(&pair.from, &pair.to)).unwrap_or_default();
            // Cycles begin in time, in order, and end before the next but one is due.
            assert!(
                found.len() <= dues.len() && found.len() + 2 >= dues.len(),
                "{found:?} {dues:?}"
            );
            for (at, due) in found.iter().zip(&dues) {
                assert!(
                    at >= due && *at < due + 2 * course.task.schedule.shortest(),
                    "{at} {due}"
                );
            }
        }
        assert!(starts.is_empty(), "pairs of no group: {starts:?}");
    }
}

fn assert_busy(table: &Timetable, visits: &[Planned], now: i64) {
    for (name, of) in table.plan().hosts() {
        let here = |end: &HostName| table.plan().hosts()[end].machine == of.machine;
        let running = visits.iter().map(Planned::due).find(|due| {
            due.kind.is_exclusive()
                && due.at <= now
                && now < due.until
                && (here(&due.from) || here(&due.to))
        });
        assert_eq!(table.busy_until(name, now).as_ref(), running);
    }
}

#[test]
fn tasks_that_share_no_machine_do_not_wait_for_each_other() {
    let text = r#"
        [hosts]
        a = { address = "a" }
        b = { address = "b" }
        c = { address = "c" }
        d = { address = "d" }
        [groups]
        one = { list = [["a", "b"]] }
        two = { list = [["c", "d"]] }
        [tasks]
        first = { kind = "tune", group = "one", every = "10min", duration = "9min" }
        second = { kind = "tune", group = "two", every = "10min", duration = "9min" }"#;
    let visits = all(&table(text), 0, 600);
    assert_eq!(
        visits
            .iter()
            .map(|visit| visit.due().at)
            .collect::<Vec<_>>(),
        [0, 0]
    );
    let name: TaskName = "first".parse().unwrap();
    assert_eq!(table(text).rounds(&name), Some(1));
}
