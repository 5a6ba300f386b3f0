//! Checks of a whole plan, whatever file it comes from.

use std::collections::BTreeMap;

use units::{Bytes, Rate, Span};

use crate::kind::Kind;
use crate::model::{Pair, Plan, Task};
use crate::names::{HostName, TaskName};
use crate::schedule::DAY;
use crate::section::{Findings, Place, Section};
use crate::timetable::Timetable;

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
        visited(plan, task, place(&task.name), found);
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

/// A task of which no pair can be visited is a mistake.
fn visited(plan: &Plan, task: &Task, place: &Place, found: &mut Findings) {
    if !plan.pairs(task).is_empty() {
        return;
    }
    let speaking = task.ip.map_or(String::new(), |ip| format!(" over {ip}"));
    let problem = format!(
        "no pair of `{}` can have a `{}`{speaking}",
        task.group,
        task.kind.word()
    );
    let hint = "one end needs an agent, a copy needs two; hosts have to be on two machines, and \
                addresses of the version that `ip` asks for";
    found.refuse(place, problem, hint);
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
    let pairs = plan.pairs(task);
    let rate = |pair: &Pair| plan.expected_rate(task, pair);
    let fastest = pairs.iter().filter_map(rate).max();
    copy_in_time(plan, task, place, found);
    share(plan, task, &pairs, place, found);
    let Some(budget) = task.budget.bytes_a_day else {
        return;
    };
    match (task.expected_bytes(fastest), plan.rate_of_budget(task)) {
        (Some(visit), _) => bytes_a_day(plan, task, (budget, visit), place, found),
        (None, Some(bound)) => {
            let text = format!(
                "{budget} a day: no host of `{}` has a `link`, so each visit sends at most {}",
                task.group,
                bound.human()
            );
            found.notice(place, text);
        }
        (None, None) => {}
    }
}

/// Without a link there is nothing that a share is of.
fn share(plan: &Plan, task: &Task, pairs: &[Pair], place: &Place, found: &mut Findings) {
    let is_unknown = |pair: &&Pair| plan.expected_rate(task, pair).is_none();
    let unknown: Vec<&Pair> = pairs.iter().filter(is_unknown).collect();
    if let (Some(share), Some(first)) = (task.budget.share, unknown.first()) {
        let text = format!(
            "`share` of {:.0} % bounds nothing on {} of {} pairs, from `{}` to `{}` the first: \
             neither host has a `link`",
            share.get() * 100.0,
            unknown.len(),
            pairs.len(),
            first.from,
            first.to
        );
        found.notice(place, text);
    }
}

fn bytes_a_day(
    plan: &Plan,
    task: &Task,
    (budget, visit): (Bytes, Bytes),
    place: &Place,
    found: &mut Findings,
) {
    let day = visit.times(plan.visits_a_day(task));
    let cycle = visit.times(plan.visits_a_cycle(task));
    if visit > budget {
        let problem = format!(
            "one visit of {} is above the budget of {budget} a day",
            visit.human()
        );
        let hint = "shorten `duration`, lower `share`, or raise `bytes_a_day`";
        found.refuse(place, problem, hint);
    } else if cycle > budget {
        let problem = format!(
            "one cycle has {} at one host, above the budget of {budget} a day",
            cycle.human()
        );
        let hint = "make the group smaller, shorten `duration`, lower `share`, or raise \
                    `bytes_a_day`";
        found.refuse(place, problem, hint);
    } else if day > budget {
        let cycles = budget.get() / cycle.get().max(1);
        let every = (DAY as u64).div_ceil(cycles.max(1));
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
        let problem = format!("{never} of {rounds} rounds fall into quiet hours in every cycle");
        let hint = "choose another time, shorter quiet hours, or an interval that moves through \
                    the day";
        found.refuse(place, problem, hint);
    }
}

impl Task {
    /// How much one visit sends if the path carries `rate`; `None` where that has to be known.
    pub fn expected_bytes(&self, rate: Option<Rate>) -> Option<Bytes> {
        self.kind.bytes(self.duration, rate)
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
    /// carry `rate`; `None` where that has to be known.
    ///
    /// ```
    /// # let text = r#"
    /// #     hosts = { a = { address = "a" }, b = { address = "b" }, c = { address = "c" } }
    /// #     groups.all = { mesh = ["a", "b", "c"] }
    /// #     tasks.t = { kind = "throughput", group = "all", every = "1h", duration = "10s" }
    /// # "#;
    /// let (plan, _) = watch_plan::Plan::parse(text, "plan.toml").unwrap();
    /// // 10 s at 1 Gbit/s are 1.25 GB; four pairs at each of three hosts, 24 times a day.
    /// let bytes = plan.expected_bytes_a_day(&plan.tasks()[0], "1G".parse().ok());
    /// assert_eq!(bytes.unwrap().get(), 4 * 24 * 1_250_000_000);
    /// ```
    pub fn expected_bytes_a_day(&self, task: &Task, rate: Option<Rate>) -> Option<Bytes> {
        let visit = task.expected_bytes(rate)?;
        Some(visit.times(self.visits_a_day(task)))
    }

    /// The most that a visit may send: the task's share of the narrower link, and its part of the
    /// bytes a day; `None` where nothing bounds it.
    ///
    /// What was sent need not be remembered to keep to it, not over a restart of an agent either:
    /// each visit that there can be on a day has an equal part.
    pub fn rate_max(&self, task: &Task, pair: &Pair) -> Option<Rate> {
        let share = task.budget.share;
        let of_link = share.and_then(|_| self.expected_rate(task, pair));
        let bounds = [of_link, self.rate_of_budget(task)];
        bounds.into_iter().flatten().min()
    }

    /// What each visit may send all of its time if they are to keep to the bytes a day. A copy
    /// sends its size.
    fn rate_of_budget(&self, task: &Task) -> Option<Rate> {
        let budget = task.budget.bytes_a_day?;
        if matches!(task.kind, Kind::Copy { .. }) {
            return None;
        }
        let each = budget.as_f64() * 8.0 / self.visits_a_day(task).max(1) as f64;
        Some(Rate::from_f64(each / task.duration.as_secs_f64()))
    }

    /// How many visits of a task the busiest host has on a day at most.
    fn visits_a_day(&self, task: &Task) -> u64 {
        let shortest = task.schedule.shortest().max(1);
        // A day may have one cycle more than fit into it whole.
        let cycles = (DAY + shortest - 1) / shortest;
        self.visits_a_cycle(task) * cycles.unsigned_abs()
    }

    /// The same of one cycle.
    fn visits_a_cycle(&self, task: &Task) -> u64 {
        let mut visits: BTreeMap<HostName, u64> = BTreeMap::new();
        for pair in self.pairs(task) {
            *visits.entry(pair.from).or_default() += 1;
            *visits.entry(pair.to).or_default() += 1;
        }
        visits.into_values().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
