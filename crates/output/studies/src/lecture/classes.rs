//! Three classes of service on a DS3: F15.

use netpath::{Class, Cross, CrossTraffic, PathSpec};
use sim::Scenario;
use stats::mean;
use units::{Bytes, Span};

use crate::figure::Figure;
use crate::finding::{Finding, digits};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::setup::endless;
use crate::sweep::{Cell, Curve, Seen, Sweep};

const STREAMS: u16 = 8;

/// Who sends in each setting: the class whose streams are counted first, and the others beside it.
const SETTINGS: [(Class, &[Class]); 5] = [
    (Class::BestEffort, &[Class::Scavenger, Class::Priority]),
    (Class::Scavenger, &[]),
    (Class::Scavenger, &[Class::BestEffort]),
    (Class::Priority, &[Class::BestEffort]),
    (Class::BestEffort, &[]),
];

pub(crate) fn part() -> Result<Part, SetUpError> {
    let path = PathSpec::load("classes-ds3")?;
    let others = |class: &Class| Cross {
        traffic: CrossTraffic::Streams {
            streams: STREAMS,
            window: Bytes::from_kib(256),
        },
        congestion: None,
        class: *class,
        extra_delay: Span::ZERO,
    };
    let cell = |(class, beside): &(Class, &[Class])| {
        let mut path = path.clone();
        path.cross = beside.iter().map(others).collect();
        let cell = Scenario {
            streams: STREAMS.into(),
            window: Some(Bytes::from_kib(256)),
            class: *class,
            ..endless(path, 90, 30)?
        };
        Ok((0.0, cell))
    };
    let cells: Result<Vec<_>, SetUpError> = SETTINGS.iter().map(cell).collect();
    let mut cells = cells?;
    for (number, (x, _)) in cells.iter_mut().enumerate() {
        *x = number as f64 + 1.0;
    }
    Ok(Part {
        title: "Classes of service",
        assumed: "a DS3 with a round trip of 70 ms and a queue of 100 packets for each class; \
            eight streams in each class that sends, without end.",
        sweeps: vec![Sweep::new(vec![Curve {
            label: "settings".to_owned(),
            cells,
        }])],
        read,
    })
}

/// What each class carries in one setting, in percent of all that is carried.
fn shares(setting: &(Class, &[Class]), cell: &Cell<'_>) -> Option<Shares> {
    let mut rates = vec![(setting.0, mean(&cell.values(goodput)?)?)];
    for (index, class) in setting.1.iter().enumerate() {
        let of = cell.values(|_, result| Some(result.cross.get(index)?.goodput.as_f64() / 1e6))?;
        rates.push((*class, mean(&of)?));
    }
    let all: f64 = rates.iter().map(|(_, rate)| rate).sum();
    let share = |(class, rate): (Class, f64)| (class, rate, rate / all * 100.0);
    Some(rates.into_iter().map(share).collect())
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let cells: Vec<Cell<'_>> = seen.iter().flat_map(Seen::cells).flatten().collect();
    let settings: Vec<_> = SETTINGS
        .iter()
        .zip(&cells)
        .map(|(s, cell)| shares(s, cell))
        .collect();
    let findings = findings(&settings);
    let rows = settings
        .iter()
        .flatten()
        .enumerate()
        .flat_map(|(number, shares)| {
            shares.iter().map(move |(class, rate, share)| {
                vec![
                    format!("{}", number + 1),
                    class.name().to_owned(),
                    digits(*rate),
                    digits(*share),
                ]
            })
        });
    let rows = rows.collect();
    let figure = Figure::new(
        &["F15"],
        "Scavenger, best effort, priority",
        Vec::new(),
        findings,
    );
    vec![figure.with(["setting", "class", "Mbit/s", "share [%]"], rows)]
}

type Shares = Vec<(Class, f64, f64)>;

fn findings(settings: &[Option<Shares>]) -> Vec<Finding> {
    let share = |setting: usize, class: Class| {
        let shares = settings.get(setting)?.as_ref()?;
        shares
            .iter()
            .find(|share| share.0 == class)
            .map(|share| share.2)
    };
    let told = |class: Class, wanted: f64, within: f64| {
        let ours = share(0, class)?;
        let words = format!("{} {} % for {wanted:.0}", class.name(), digits(ours));
        Some(((ours - wanted).abs() <= within, words))
    };
    let alone = || {
        let rate = settings.get(1)?.as_ref()?.first()?.1;
        Some((
            rate >= 0.9 * 45.0,
            format!("alone scavenger carries {} Mbit/s of 45", digits(rate)),
        ))
    };
    let beside = || {
        let ours = share(2, Class::Scavenger)?;
        Some((
            ours <= 2.0,
            format!("beside best effort scavenger has {} %", digits(ours)),
        ))
    };
    vec![
        Finding::new(
            "The three classes work as expected: scavenger 1 %, priority 30 %, best effort the \
                rest.",
            "While all send, scavenger has 1 % of what is carried, give or take one point, \
                priority 30 and best effort 69 %, give or take three.",
            [
                told(Class::Scavenger, 1.0, 1.0),
                told(Class::Priority, 30.0, 3.0),
                told(Class::BestEffort, 69.0, 3.0),
            ],
        ),
        Finding::new(
            "What a class leaves, the others get.",
            "Scavenger alone carries at least 90 % of the link, beside best effort at most 2 % of \
                all.",
            [alone(), beside()],
        ),
    ]
}
