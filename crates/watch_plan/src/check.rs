//! Checks of a whole plan, whatever file it comes from.

use std::collections::BTreeMap;

use units::{Bytes, Rate, Span};

use crate::model::{Kind, Pair, Plan, Task};
use crate::names::{HostName, TaskName};
use crate::schedule::seconds;
use crate::section::{Findings, Place, Section};
use crate::timetable::Timetable;

const DAY: i64 = 86_400;
/// How many cycles of a task are compared with its quiet hours: eight weeks of one a day.
const CYCLES: usize = 60;

/// Checks budgets, that addresses are different, and that all schedules can be kept. `hosts` is
/// the table of the hosts.
pub(crate) fn check(
    plan: &Plan,
    hosts: Option<&Section>,
    places: &BTreeMap<TaskName, Place>,
    found: &mut Findings,
) {
    let unknown = Place {
        line: 1,
        field: "tasks".to_owned(),
    };
    let place = |task: &TaskName| places.get(task).unwrap_or(&unknown);
    addresses(plan, hosts, found);
    for task in &plan.tasks {
        budget(plan, task, place(&task.name), found);
    }
    match Timetable::new(plan, 0) {
        Err(tight) => {
            let place = place(&tight.task).clone();
            found.refuse(&place, tight.problem(), tight.hint());
        }
        Ok(table) => {
            for task in &plan.tasks {
                quiet(&table, task, place(&task.name), found);
            }
        }
    }
}

/// Two hosts at one address are one machine.
fn addresses(plan: &Plan, hosts: Option<&Section>, found: &mut Findings) {
    let mut known = BTreeMap::new();
    for (name, host) in &plan.hosts {
        match known.insert(host.address.to_ascii_lowercase(), (name, &host.machine)) {
            Some((other, machine)) if *machine != host.machine => {
                let Some(place) = hosts.map(|hosts| hosts.at(name.as_str())) else {
                    continue;
                };
                let problem = format!(
                    "`{}` is the address of `{other}` and of `{name}`",
                    host.address
                );
                found.refuse(
                    &place,
                    problem,
                    "keep one of them, or give both the same `machine`",
                );
            }
            _ => {}
        }
    }
}

fn budget(plan: &Plan, task: &Task, place: &Place, found: &mut Findings) {
    let rates: Vec<Option<Rate>> = plan
        .pairs(task)
        .iter()
        .map(|pair| plan.expected_rate(task, pair))
        .collect();
    let fastest = rates.iter().copied().max().flatten();
    copy_in_time(plan, task, place, found);
    let Some(budget) = task.budget.bytes_a_day else {
        return;
    };
    if fastest.is_none() && !matches!(task.kind, Kind::Copy { .. }) {
        let text = format!("{budget} a day: no host has a `link`, so only the visits will show it");
        return found.notice(place, text);
    }
    let rate = fastest.unwrap_or(Rate::ZERO);
    let (visit, day) = (
        task.expected_bytes(rate),
        plan.expected_bytes_a_day(task, rate),
    );
    if visit > budget {
        let problem = format!(
            "one visit of {} is above the budget of {budget} a day",
            visit.human()
        );
        found.refuse(
            place,
            problem,
            "shorten `duration`, lower `share`, or raise `bytes_a_day`",
        );
    } else if day > budget {
        let stretch = day.as_f64() / budget.as_f64();
        let every = (task.schedule.shortest() as f64 * stretch).ceil() as u64;
        let problem = format!(
            "up to {} a day at one host are above the budget of {budget}",
            day.human()
        );
        let hint = format!("visit every {} or less often", Span::from_secs(every));
        found.refuse(place, problem, hint);
    }
}

fn copy_in_time(plan: &Plan, task: &Task, place: &Place, found: &mut Findings) {
    let Kind::Copy { size } = task.kind else {
        return;
    };
    let rates = plan.pairs(task).into_iter().filter_map(|pair| {
        let rate = plan.expected_rate(task, &pair)?;
        Some((rate, pair))
    });
    let Some((rate, pair)) = rates.min() else {
        return;
    };
    let needed = rate.time_to_send(size);
    if needed > task.duration {
        let problem = format!(
            "{size} from `{}` to `{}` take {} at {rate}, longer than `duration`, {}",
            pair.from,
            pair.to,
            needed.human(),
            task.duration
        );
        found.refuse(place, problem, "copy less, or give it a longer `duration`");
    }
}

/// Rounds that fall into quiet hours in every cycle never run.
fn quiet(table: &Timetable, task: &Task, place: &Place, found: &mut Findings) {
    if task.budget.quiet.is_empty() {
        return;
    }
    let (never, rounds) = table.rounds_never_run(task, CYCLES);
    if never > 0 {
        let problem = format!(
            "{never} of {rounds} rounds fall into quiet hours in each of the first {CYCLES} cycles"
        );
        let hint = "choose another time, shorter quiet hours, or an interval that moves through \
                    the day";
        found.refuse(place, problem, hint);
    }
}

impl Task {
    /// How much one visit sends if the path carries `rate`: for copies the file, for exclusive
    /// visits all of their duration, for light ones nothing that counts.
    pub fn expected_bytes(&self, rate: Rate) -> Bytes {
        match self.kind {
            Kind::Copy { size } => size,
            kind if kind.is_exclusive() => rate.bytes_in(self.duration),
            _ => Bytes::ZERO,
        }
    }
}

impl Plan {
    /// The rate that a visit may reach: the narrower link of the pair, or the task's share of it;
    /// `None` where no link is known.
    pub fn expected_rate(&self, task: &Task, pair: &Pair) -> Option<Rate> {
        let link = |host: &HostName| self.hosts.get(host)?.link;
        let links = [link(&pair.from), link(&pair.to)];
        let narrower = links.into_iter().flatten().min()?;
        let share = task.budget.share.map_or(1.0, |share| share.get());
        Some(Rate::from_f64(narrower.as_f64() * share))
    }

    /// How many bytes the busiest host sends and receives for a task on a day at most, if its paths
    /// carry `rate`.
    ///
    /// ```
    /// # let text = r#"
    /// #     hosts = { a = { address = "a" }, b = { address = "b" }, c = { address = "c" } }
    /// #     groups.all = { mesh = ["a", "b", "c"] }
    /// #     tasks.t = { kind = "throughput", group = "all", every = "1h", duration = "10s" }
    /// # "#;
    /// let (plan, _) = watch_plan::Plan::parse(text, "plan.toml").unwrap();
    /// // 10 s at 1 Gbit/s are 1.25 GB; four pairs at each of three hosts, 24 times a day.
    /// let bytes = plan.expected_bytes_a_day(&plan.tasks()[0], "1G".parse().unwrap());
    /// assert_eq!(bytes.get(), 4 * 24 * 1_250_000_000);
    /// ```
    pub fn expected_bytes_a_day(&self, task: &Task, rate: Rate) -> Bytes {
        let mut visits: BTreeMap<HostName, u64> = BTreeMap::new();
        for pair in self.pairs(task) {
            *visits.entry(pair.from).or_default() += 1;
            *visits.entry(pair.to).or_default() += 1;
        }
        let most = visits.into_values().max().unwrap_or(0);
        let cycle = task.expected_bytes(rate).times(most);
        let shortest = task.schedule.shortest().max(1);
        let day = cycle.as_f64() * DAY as f64 / shortest as f64;
        // An interval of more than a day still has days with a whole cycle.
        cycle.max(Bytes::new(day.ceil() as u64))
    }
}

/// Seconds that a round of a task takes, with the pause after it.
pub(crate) fn slot(plan: &Plan, task: &Task) -> i64 {
    seconds(task.duration) + seconds(plan.gap)
}

#[cfg(test)]
mod tests;
