//! What really limits a setting on a path, found by taking parts of the path away.
//!
//! The setting runs as long as those that tell what it carries, with two seeds; then with one part
//! gone. Parts whose absence brings a tenth or more are compared, and all that come within a tenth
//! of the best count as true.
//!
//! The link is no part that can be taken away: four times the rate makes almost anything faster,
//! and a stream that a shallow queue keeps at three quarters of the link would be limited by the
//! link. So it is the truth where the setting fills nine tenths of it, beside other parts from eight
//! tenths on, and where nothing else helps but a faster link does.
//!
//! Two buffers that are equally small are taken away together where nothing else helps: then either
//! is right. Where nothing helps at all there is no single truth, as where a pace just fits a policer.

use netpath::{Loss, PathSpec, QueueLimit, QueueSpec, Variation};
use observe::{Limit, Setting, StreamCount, Window};
use units::{Bytes, Rate};

use crate::grid::{flight, in_flight};
use crate::runs::{Job, Length, Runner, carried_most};

/// Those of the runs that tell what a setting carries: the whole path needs no further runs.
const SEEDS: [u64; 2] = [super::JUDGES[0], super::JUDGES[1]];
/// A part whose absence brings less does not limit.
const GAIN_MIN: f64 = 1.1;
/// Parts that bring this share of the best gain are as true.
const AS_TRUE: f64 = 0.9;
/// A link that carries this share is full.
const FULL: f64 = 0.9;
/// ... and this one nearly so.
const NEARLY_FULL: f64 = 0.8;
const FASTER: u64 = 4;
/// A queue of so many bandwidth-delay products is not shallow.
const DEEP: u64 = 2;
const UNBOUNDED: Bytes = Bytes::from_mib(1024);

/// A setting on a path: whose limit is asked for.
#[derive(Debug, Clone)]
pub struct Question {
    pub path: PathSpec,
    pub setting: Setting,
}

/// What can be taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Loss,
    Queue,
    ReceiveBuffer,
    SendBuffer,
    /// The window that the setting asks for.
    Window,
    /// Both buffers of automatic windows.
    Buffers,
    Policer,
    Others,
    Reordering,
    WayBack,
    Variation,
    Link,
}

impl Part {
    /// What is taken away first.
    const FIRST: [Part; 10] = [
        Part::Loss,
        Part::Queue,
        Part::ReceiveBuffer,
        Part::SendBuffer,
        Part::Window,
        Part::Policer,
        Part::Others,
        Part::Reordering,
        Part::WayBack,
        Part::Variation,
    ];
    /// ... and what only where nothing of that helps.
    const THEN: [Part; 2] = [Part::Buffers, Part::Link];

    /// The verdicts that are right where this part limits. A link that others fill, one whose rate
    /// falls and a way back that is full are full links as well.
    fn verdicts(self) -> &'static [Limit] {
        match self {
            Part::Loss => &[Limit::Loss],
            Part::Queue => &[Limit::ShallowQueue],
            Part::ReceiveBuffer => &[Limit::ReceiveBuffer],
            Part::SendBuffer => &[Limit::SendBuffer],
            Part::Window | Part::Buffers => &[Limit::ReceiveBuffer, Limit::SendBuffer],
            Part::Policer => &[Limit::Policer],
            Part::Reordering => &[Limit::Reordering],
            Part::Others => &[Limit::Link, Limit::Others],
            Part::Variation => &[Limit::Link, Limit::VaryingRate],
            Part::WayBack => &[Limit::Link, Limit::WayBack],
            Part::Link => &[Limit::Link],
        }
    }

    /// The same without this part.
    fn removed(self, question: &Question) -> Question {
        let mut without = question.clone();
        let path = &mut without.path;
        match self {
            Part::Loss => path.forward.loss = Loss::None,
            Part::Queue => path.forward.queue = deep(path),
            Part::ReceiveBuffer => path.hosts.receive_buffer_max = UNBOUNDED,
            Part::SendBuffer => path.hosts.send_buffer_max = UNBOUNDED,
            Part::Window | Part::Buffers => {
                path.hosts.receive_buffer_max = UNBOUNDED;
                path.hosts.send_buffer_max = UNBOUNDED;
                without.setting.window = Window::Auto;
            }
            Part::Policer => path.forward.policer = None,
            Part::Others => path.cross.clear(),
            Part::Reordering => path.forward.reorder = None,
            Part::WayBack => path.reverse.rate = path.reverse.rate.max(path.forward.rate),
            Part::Variation => {
                path.forward.variation = None;
                path.reverse.variation = None;
            }
            Part::Link => quicken(path),
        }
        without
    }

    /// Whether the question may have this part: what cannot bind is not taken away.
    fn is_in(self, question: &Question) -> bool {
        let Question { path, setting } = question;
        let is_auto = setting.window == Window::Auto;
        match self {
            Part::Window => !is_auto,
            Part::ReceiveBuffer | Part::SendBuffer | Part::Buffers => {
                is_auto && may_bind(path, setting.streams)
            }
            _ => {
                let without = self.removed(question);
                without.path != *path
            }
        }
    }
}

/// Whether automatic windows keep less in flight than twice what path and queue hold.
fn may_bind(path: &PathSpec, streams: StreamCount) -> bool {
    let together = flight(path, Window::Auto).times(streams.get().into());
    together < in_flight(path).times(2)
}

/// A drop-tail queue that is not shallow; the path's own where that is one.
fn deep(path: &PathSpec) -> QueueSpec {
    let enough = path.bandwidth_delay_product().times(DEEP);
    let holds = in_flight(path) - path.bandwidth_delay_product();
    match path.forward.queue {
        own @ QueueSpec::DropTail(_) if holds >= enough => own,
        _ => QueueSpec::DropTail(QueueLimit::Bytes(enough.max(holds))),
    }
}

/// A faster link, there and back, with a queue as long in time.
fn quicken(path: &mut PathSpec) {
    let quick = |rate: Rate| Rate::from_bits_per_second(rate.bits_per_second() * FASTER);
    let holds = in_flight(path) - path.bandwidth_delay_product();
    path.forward.queue = QueueSpec::DropTail(QueueLimit::Bytes(holds.times(FASTER)));
    path.forward.rate = quick(path.forward.rate);
    path.reverse.rate = quick(path.reverse.rate);
    if let Some(Variation::Drawn(drawn)) = &mut path.forward.variation {
        drawn.low = quick(drawn.low);
        drawn.high = quick(drawn.high);
    }
}

/// The verdicts that are right, for each question in turn; none where there is no single truth.
///
/// # Errors
/// When a setting cannot be simulated.
pub fn of(questions: &[Question], runner: &mut Runner) -> Result<Vec<Vec<Limit>>, String> {
    let own = goodputs("limits: the whole path", questions, runner)?;
    let mut known: Vec<Known> = questions.iter().zip(own).map(Known::new).collect();
    ask("limits: without a part", &mut known, &Part::FIRST, runner)?;
    ask("limits: a faster link", &mut known, &Part::THEN, runner)?;
    Ok(known.iter().map(Known::verdicts).collect())
}

/// Takes each of `parts` away where there is no truth yet.
fn ask(what: &str, known: &mut [Known], parts: &[Part], runner: &mut Runner) -> Result<(), String> {
    let wanted = |one: &Known| match one.truths().is_empty() {
        true => parts
            .iter()
            .copied()
            .filter(|part| part.is_in(one.question))
            .collect(),
        false => Vec::new(),
    };
    let wanted: Vec<Vec<Part>> = known.iter().map(wanted).collect();
    let removed = known.iter().zip(&wanted);
    let removed = removed.flat_map(|(one, parts)| {
        let without = |part: &Part| part.removed(one.question);
        parts.iter().map(without).collect::<Vec<_>>()
    });
    let removed: Vec<Question> = removed.collect();
    let mut goodputs = goodputs(what, &removed, runner)?.into_iter();
    for (one, parts) in known.iter_mut().zip(wanted) {
        one.without.extend(parts.into_iter().zip(&mut goodputs));
    }
    Ok(())
}

/// What each carries, bits per second.
fn goodputs(what: &str, questions: &[Question], runner: &mut Runner) -> Result<Vec<f64>, String> {
    let jobs = questions.iter().flat_map(|question| {
        SEEDS.map(|seed| Job {
            path: &question.path,
            setting: Some(&question.setting),
            seed,
            length: Length::Minute,
        })
    });
    let outcomes = runner.run(what, &jobs.collect::<Vec<_>>())?;
    let mean = |runs: &[crate::runs::Outcome]| crate::runs::mean(runs).goodput;
    Ok(outcomes.chunks(SEEDS.len()).map(mean).collect())
}

/// What is known about a question.
struct Known<'a> {
    question: &'a Question,
    /// Bits per second.
    own: f64,
    /// Without a part.
    without: Vec<(Part, f64)>,
}

impl<'a> Known<'a> {
    fn new((question, own): (&'a Question, f64)) -> Self {
        Known {
            question,
            own,
            without: Vec::new(),
        }
    }

    fn carries(&self, share: f64) -> bool {
        self.own >= share * carried_most(&self.question.path)
    }

    fn is_full(&self) -> bool {
        self.carries(FULL)
    }

    fn truths(&self) -> Vec<Part> {
        if self.is_full() {
            return vec![Part::Link];
        }
        let helps = |(_, without): &&(Part, f64)| *without >= GAIN_MIN * self.own;
        let most = self.without.iter().map(|(_, goodput)| *goodput);
        let most = most.fold(0.0, f64::max);
        let truths = self.without.iter().filter(helps);
        let truths = truths.filter(|(_, goodput)| *goodput >= AS_TRUE * most);
        let mut truths: Vec<Part> = truths.map(|(part, _)| *part).collect();
        if !truths.is_empty() && self.carries(NEARLY_FULL) {
            truths.push(Part::Link);
        }
        truths
    }

    fn verdicts(&self) -> Vec<Limit> {
        let mut verdicts: Vec<Limit> = Vec::new();
        for part in self.truths() {
            verdicts.extend(part.verdicts());
        }
        verdicts.sort();
        verdicts.dedup();
        verdicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        let path = super::super::draw::path("loss+shallow-queue", 0).unwrap();
        Question {
            path,
            setting: Setting::new(StreamCount::ONE, Window::Auto),
        }
    }

    /// On a path that carries 100, with these gains.
    fn verdicts(own: f64, without: &[(Part, f64)]) -> Vec<Limit> {
        let question = question();
        let scale = carried_most(&question.path) / 100.0;
        let without = without.iter().map(|(part, rate)| (*part, rate * scale));
        let known = Known {
            question: &question,
            own: own * scale,
            without: without.collect(),
        };
        known.verdicts()
    }

    #[test]
    fn the_part_whose_absence_brings_most_is_true_and_so_are_those_close_to_it() {
        let (loss, queue) = ((Part::Loss, 50.0), (Part::Queue, 30.0));
        assert_eq!(verdicts(20.0, &[loss, queue]), [Limit::Loss]);
        let (loss, queue) = ((Part::Loss, 32.0), (Part::Queue, 30.0));
        assert_eq!(
            verdicts(20.0, &[loss, queue]),
            [Limit::Loss, Limit::ShallowQueue]
        );
    }

    #[test]
    fn a_full_link_is_the_truth_and_a_nearly_full_one_is_beside_another_part() {
        assert_eq!(verdicts(93.0, &[]), [Limit::Link]);
        assert_eq!(
            verdicts(82.0, &[(Part::Queue, 95.0)]),
            [Limit::Link, Limit::ShallowQueue]
        );
        assert_eq!(
            verdicts(75.0, &[(Part::Queue, 95.0)]),
            [Limit::ShallowQueue]
        );
    }

    #[test]
    fn where_nothing_helps_there_is_no_truth() {
        assert!(verdicts(50.0, &[(Part::Loss, 52.0)]).is_empty());
        assert_eq!(
            verdicts(50.0, &[(Part::Loss, 52.0), (Part::Link, 90.0)]),
            [Limit::Link]
        );
    }

    #[test]
    fn a_part_that_a_path_does_not_have_is_not_taken_away() {
        let question = question();
        let parts = Part::FIRST.into_iter();
        let parts: Vec<Part> = parts.filter(|part| part.is_in(&question)).collect();
        assert_eq!(parts, [Part::Loss, Part::Queue]);
    }
}
