//! Sites after their links were made faster: F16.

use sim::Scenario;
use stats::mean;

use crate::figure::Figure;
use crate::finding::{Finding, digits};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::setup::{Link, endless, granted};
use crate::sweep::{Cell, Curve, Seen, Sweep};

/// A site, what it had, what is to come, and its round trip in ms.
const SITES: [(&str, f64, f64, f64); 4] = [
    ("in2p3", 21.0, 155.0, 170.0),
    ("ral", 40.0, 622.0, 150.0),
    ("infn", 34.0, 155.0, 180.0),
    ("colorado", 45.0, 100.0, 30.0),
];
/// What filled the links of before, and what may fill those of after: streams and kB.
const OLD: (u32, u64) = (10, 64);
const NEW: (u32, u64) = (20, 1024);

pub(crate) fn part() -> Result<Part, SetUpError> {
    let cell = |name, mbit: f64, rtt_ms, (streams, kib)| {
        let link = Link {
            name,
            mbit,
            rtt_ms,
            queue_kib: (mbit * 4.0) as u64,
            loss: 1e-5,
            mtu: 1500,
        };
        Ok::<_, SetUpError>(Scenario {
            streams,
            window: Some(granted(kib)),
            ..endless(link.path()?, 40, 10)?
        })
    };
    let curve = |(name, before, after, rtt): &(&'static str, f64, f64, f64)| {
        Ok(Curve {
            label: (*name).to_owned(),
            cells: vec![
                (1.0, cell(name, *before, *rtt, OLD)?),
                (2.0, cell(name, *after, *rtt, OLD)?),
                (3.0, cell(name, *after, *rtt, NEW)?),
            ],
        })
    };
    let curves: Result<Vec<Curve>, SetUpError> = SITES.iter().map(curve).collect();
    Ok(Part {
        title: "Sites after their links were made faster",
        assumed: "all rates but 155 Mbit/s of IN2P3 and 622 of RAL, which are printed as to come; \
            round trips, queues, a loss of 1e-5; 10 streams of 64 kB before, and after either \
            these or 20 of 1 MB.",
        sweeps: vec![Sweep::new(curves?)],
        read,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let sites = seen.iter().flat_map(Seen::cells);
    let rate = |cell: &Cell<'_>| mean(&cell.values(goodput)?);
    let rates = |cells: Vec<Cell<'_>>| cells.iter().map(rate).collect::<Option<Vec<f64>>>();
    let all: Vec<Vec<f64>> = sites
        .filter_map(rates)
        .filter(|rates| rates.len() == 3)
        .collect();
    let check = |index: usize| {
        let (rates, name) = (all.get(index)?, SITES[index].0);
        let (same, tuned) = (rates[1] / rates[0], rates[2] / rates[0]);
        let words = format!(
            "{name} carries {} times as much with the old setting, {} with the new one",
            digits(same),
            digits(tuned)
        );
        // A seed more or less is no loss.
        Some((same >= 0.95 && tuned <= 16.0, words))
    };
    let finding = Finding::new(
        "Better links carried 1 to 16 times as much within a year.",
        "With the setting of before each site carries no less (within 5 %), and with larger \
            windows and more streams at most 16 times as much.",
        [0, 1, 2, 3].map(check),
    );
    let rows = SITES
        .iter()
        .zip(&all)
        .map(|((name, before, after, _), rates)| {
            let numbers = [*before, rates[0], *after, rates[1], rates[2]].map(digits);
            [(*name).to_owned()].into_iter().chain(numbers).collect()
        });
    let columns = [
        "site",
        "link before [Mbit/s]",
        "carried",
        "link after",
        "old setting",
        "new setting",
    ];
    let rows = rows.collect();
    vec![Figure::new(&["F16"], "Faster links", Vec::new(), vec![finding]).with(columns, rows)]
}
