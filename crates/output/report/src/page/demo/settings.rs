//! The settings that a demonstration sets side by side.

use std::borrow::Cow;

use draw::format;
use record::StreamCount;
use record::{Demo, LabelledRun, Promise, Published, Run, Tune, Window};

use crate::page::tune::tuned_run;
use crate::text;

/// One setting of the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared<'a> {
    /// Its name.
    pub label: String,
    /// What was seen.
    pub run: Cow<'a, Run>,
    /// What the search promised for it before it saw this run.
    pub promise: Option<&'a Promise>,
    /// What others measured with it on the real path.
    pub published: Option<&'a Published>,
    /// Whether it is the one to use.
    pub role: Role,
}

/// What a setting stands for in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// What people use, or used.
    Usual,
    /// What the tuner recommends.
    Tuned,
}

/// One default stream, the labelled runs in their order, and the tuned setting.
///
/// The default stream comes from the search, which starts there, unless a labelled run has that
/// setting.
pub fn settings(demo: &Demo) -> Vec<Compared<'_>> {
    let labelled = demo.runs.iter().any(|labelled| is_default(&labelled.run));
    let default = default_stream(&demo.tune).filter(|_| !labelled);
    let runs = demo.runs.iter().map(Compared::from);
    default.into_iter().chain(runs).chain(tuned(demo)).collect()
}

fn is_default(run: &Run) -> bool {
    run.setting.streams == StreamCount::ONE && run.setting.window == Window::Auto
}

fn default_stream(tune: &Tune) -> Option<Compared<'_>> {
    let first = tune
        .default_sample()
        .filter(|sample| is_default(&sample.run))?;
    Some(Compared {
        label: "1 default stream".to_owned(),
        run: Cow::Borrowed(&first.run),
        promise: first.promise.as_ref(),
        published: None,
        role: Role::Usual,
    })
}

/// The run that was made again, else the one that the search saw.
fn tuned(demo: &Demo) -> Option<Compared<'_>> {
    let chosen = &demo.tune.answer.as_ref()?.recommended;
    let paced = chosen.pacing.map(|_| ", paced");
    let run = match &demo.tuned {
        Some(run) => Cow::Borrowed(run),
        None => Cow::Owned(tuned_run(&demo.tune)?),
    };
    Some(Compared {
        label: format!(
            "tuned: {} x {}{}",
            chosen.streams,
            chosen.window,
            paced.unwrap_or_default()
        ),
        promise: promised(&demo.tune, &run),
        run,
        published: None,
        role: Role::Tuned,
    })
}

/// What was promised for a setting before it was run once more.
fn promised<'a>(tune: &'a Tune, run: &Run) -> Option<&'a Promise> {
    let sample = |one: &&record::Confirmation| {
        let sample = tune.samples.get(one.sample);
        sample.is_some_and(|sample| sample.run.setting == run.setting)
    };
    let confirmation = tune.confirmations.iter().find(sample);
    confirmation.map(|one| &one.promise)
}

impl Compared<'_> {
    /// What others measured with it, in bits per second.
    pub fn published_bits_per_second(&self) -> Option<u64> {
        self.published
            .map(|published| published.goodput_bits_per_second)
    }

    /// Goodput with half its interval.
    pub fn goodput(&self) -> String {
        let run = &self.run;
        format::rate_with_margin(run.goodput_bits_per_second, run.interval.as_ref())
    }
}

impl<'a> From<&'a LabelledRun> for Compared<'a> {
    fn from(labelled: &'a LabelledRun) -> Self {
        Compared {
            label: text::plain(&labelled.label),
            run: Cow::Borrowed(&labelled.run),
            promise: labelled.promise.as_ref(),
            published: labelled.published.as_ref(),
            role: Role::Usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    fn labels(demo: &Demo) -> Vec<String> {
        settings(demo)
            .into_iter()
            .map(|compared| compared.label)
            .collect()
    }

    #[test]
    fn the_default_stream_comes_first_and_the_tuned_setting_last() {
        let demo = synthetic::demo(7).body;
        let expected = [
            "1 default stream",
            "2 x 256 KiB",
            "8 x 64 KiB",
            "tuned: 8 x auto",
        ];
        assert_eq!(labels(&demo), expected);
    }

    #[test]
    fn a_default_stream_among_the_runs_is_not_shown_twice() {
        let mut demo = synthetic::demo(7).body;
        demo.runs[0].run.setting.streams = StreamCount::ONE;
        demo.runs[0].run.setting.window = Window::Auto;
        assert_eq!(
            labels(&demo),
            ["2 x 256 KiB", "8 x 64 KiB", "tuned: 8 x auto"]
        );
    }
}
