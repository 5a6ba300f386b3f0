//! One search for the operating point.

use observe::{MoverCommand, Moving, Setting, StreamCount, TargetInfo, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use tune::{Advice, Cost, Ended, Objective, Purpose, SysctlLine, Tuning};
use units::{Rate, Span};

use crate::{Interval, Run, Target, Transport, Window, optional};

/// The body of a `trunkline/tune` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tune {
    /// What was tuned.
    pub target: Target,
    /// What was sought.
    pub objective: Objective,
    /// What the samples say together; absent of a search that was stopped, or that failed with
    /// only one setting seen.
    #[serde(flatten, deserialize_with = "whole_or_none")]
    pub answer: Option<Answer>,
    /// What the search took.
    pub cost: Cost,
    /// Why it ended before it had what it needed; absent when it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_because: Option<String>,
    /// What changed on the path while it was measured: a sentence without a full stop; absent when
    /// nothing seems to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<String>,
    /// What the budget left untried that might carry more: a sentence without a full stop; absent
    /// when more streams had stopped to bring more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untried: Option<String>,
    /// Settings that could not be sampled; absent where all could.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedSample>,
    /// What could not be removed from the far end: a sentence without a full stop; absent where
    /// nothing was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_behind: Option<String>,
    /// Runs of what was recommended, in order: several where one led to another answer. Of a
    /// demonstration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmations: Vec<Confirmation>,
    /// The path that explains the samples, as a path file; absent where they tell nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_file: Option<String>,
    /// Everything that was tried, in order.
    pub samples: Vec<Sample>,
}

/// A setting that could not be sampled, where that did not end the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedSample {
    /// What was asked for.
    pub setting: Setting,
    /// Why there is no sample of it: a sentence without a full stop.
    pub because: String,
}

/// What a search comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// What to use.
    pub recommended: Recommended,
    /// What to use where streams cannot be paced; absent unless the recommendation is paced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unpaced: Option<Recommended>,
    /// What to use where a program leaves the congestion control to the host; absent unless the
    /// recommendation has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_control: Option<Recommended>,
    /// Which sample shows one stream with everything as the host has it, counted from 0: of several
    /// the one that counts; absent where none was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_sample: Option<usize>,
    /// What limits the recommended setting.
    #[serde(flatten)]
    pub limit: Verdict,
    /// What limits that stream: what there is to overcome.
    pub limit_default: Verdict,
    /// Ready-made commands.
    pub settings: Vec<ToolSetting>,
    /// Kernel settings that held the default stream back, with values that would not.
    pub sysctl: Vec<SysctlLine>,
}

/// The operating point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recommended {
    /// What carries the streams; absent where it is TCP.
    #[serde(default, skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
    /// Parallel streams.
    pub streams: StreamCount,
    /// Socket buffers of each stream: `"auto"` or bytes.
    pub window: Window,
    /// How another program is to move the data; absent where that is left to it.
    #[serde(default, skip_serializing_if = "Moving::is_default")]
    pub moving: Moving,
    /// Congestion control, where it is not the host's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Upper bound on each stream's rate, where there is one.
    #[serde(
        rename = "pacing_bits_per_second",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub pacing: Option<Rate>,
    /// What a minute of it is expected to carry.
    pub goodput_bits_per_second: u64,
    /// Where 95 in 100 such minutes lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Mean round-trip time beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_loaded_seconds: Option<f64>,
    /// Mean round-trip time of the idle path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_unloaded_seconds: Option<f64>,
    /// Which sample showed it, counted from 0.
    pub sample: usize,
    /// Why this one: a sentence without a full stop.
    pub because: String,
}

/// How one tool is told to use the recommendation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSetting {
    /// The tool.
    pub tool: String,
    /// A command; parts in capitals are the user's to fill in.
    pub command: String,
    /// What the tool does differently from what was asked; several remarks with semicolons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One setting that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// What it was taken for.
    pub purpose: Purpose,
    /// Why it was tried: a sentence without a full stop.
    pub why: String,
    /// What a minute of its setting is expected to carry; absent in searches of before 0.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
    /// Why it did not count for what it showed, in searches of before 0.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
    /// What was seen.
    #[serde(flatten)]
    pub run: Run,
}

/// What a minute of a setting is expected to carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Promise {
    /// The middle of it.
    pub goodput_bits_per_second: u64,
    /// Where 95 in 100 such minutes lie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// What was recommended, run once more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// Which sample that is: its index in `samples`, from 0.
    pub sample: usize,
    /// What was promised before.
    pub promise: Promise,
}

/// Why a sample did not count for what it showed where one was recommended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doubt {
    /// What it counts for; absent where it does not count at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts_for_bits_per_second: Option<u64>,
    /// Why: a sentence without a full stop.
    pub because: String,
}

impl Tune {
    /// The shape of one search.
    pub fn new(info: &TargetInfo, tuning: &Tuning) -> Self {
        Tune {
            target: info.into(),
            objective: tuning.objective,
            answer: tuning.answer().map(Answer::from),
            cost: tuning.cost,
            cut_because: cut_because(&tuning.ended),
            drift: tuning.drift.clone(),
            untried: tuning.untried.clone(),
            failed: tuning.failed.iter().map(FailedSample::from).collect(),
            left_behind: tuning.left_behind.clone(),
            confirmations: tuning
                .confirmations
                .iter()
                .map(Confirmation::from)
                .collect(),
            path_file: tuning.path_file.clone(),
            samples: samples(tuning),
        }
    }

    /// The sample that showed the recommendation.
    pub fn recommended_sample(&self) -> Option<&Sample> {
        self.samples.get(self.answer.as_ref()?.recommended.sample)
    }

    /// The sample that shows one stream with everything as the host has it.
    pub fn default_sample(&self) -> Option<&Sample> {
        let told = self
            .answer
            .as_ref()
            .and_then(|answer| answer.default_sample);
        self.samples.get(told.unwrap_or(0))
    }

    /// The window whose samples make the curve over streams: the recommended one, and of a stopped
    /// search that of its last sample.
    pub fn window(&self) -> Option<Window> {
        let last = || self.samples.last();
        let sample = self.recommended_sample().or_else(last)?;
        Some(sample.run.setting.window)
    }
}

impl From<&tune::Answer> for Answer {
    fn from(answer: &tune::Answer) -> Self {
        let own = answer.own_control.as_ref().map(|own| &own.setting);
        let every = || tune::advice::for_setting(&answer.recommended.setting, own);
        let settings = match &answer.command {
            Some(command) => vec![ToolSetting::from(command)],
            None => every().iter().map(ToolSetting::from).collect(),
        };
        Answer {
            settings,
            recommended: (&answer.recommended).into(),
            unpaced: answer.unpaced.as_ref().map(Recommended::from),
            own_control: answer.own_control.as_ref().map(Recommended::from),
            default_sample: answer.default_sample,
            limit: answer.limit_recommended.clone(),
            limit_default: answer.limit_default.clone(),
            sysctl: answer.host_advice.clone(),
        }
    }
}

impl From<&tune::FailedSample> for FailedSample {
    fn from(failed: &tune::FailedSample) -> Self {
        FailedSample {
            setting: failed.setting.clone(),
            because: failed.error.to_string(),
        }
    }
}

fn whole_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Answer>, D::Error> {
    optional::part(from, &["recommended", "limit", "settings"])
}

impl From<&tune::Promise> for Promise {
    fn from(promise: &tune::Promise) -> Self {
        Promise {
            goodput_bits_per_second: promise.goodput.bits_per_second(),
            interval: promise.interval,
        }
    }
}

impl From<&tune::Confirmation> for Confirmation {
    fn from(confirmation: &tune::Confirmation) -> Self {
        Confirmation {
            sample: confirmation.sample,
            promise: Promise::from(&confirmation.promise),
        }
    }
}

fn cut_because(ended: &Ended) -> Option<String> {
    match ended {
        Ended::Found(_) => None,
        Ended::Cut(_, error) | Ended::Stopped(error) => Some(error.to_string()),
    }
}

fn samples(tuning: &Tuning) -> Vec<Sample> {
    let shape = |(index, sample): (usize, &tune::Sample)| Sample {
        purpose: sample.purpose,
        why: sample.why.clone(),
        promise: tuning.promises.get(index).map(Promise::from),
        doubt: None,
        run: run(tuning, sample, tuning.verdicts.get(index)),
    };
    tuning.samples.iter().enumerate().map(shape).collect()
}

/// The idle path is probed once for a whole search, so samples without idle probes of their own
/// are compared with the search's.
fn run(tuning: &Tuning, sample: &tune::Sample, verdict: Option<&Verdict>) -> Run {
    let mut run = Run::new(&sample.observation, &sample.summary, verdict);
    let added = || {
        let idle = sample.summary.rtt_unloaded.or(tuning.rtt_unloaded)?;
        Some(sample.summary.rtt_loaded?.as_secs_f64() - idle.as_secs_f64())
    };
    run.rtt.added_seconds = run.rtt.added_seconds.or_else(added);
    run
}

impl From<&tune::Recommended> for Recommended {
    fn from(recommended: &tune::Recommended) -> Self {
        Recommended {
            transport: recommended.setting.transport,
            streams: recommended.setting.streams,
            window: recommended.setting.window,
            moving: recommended.setting.moving,
            congestion: recommended.setting.congestion.clone(),
            pacing: recommended.setting.pacing,
            goodput_bits_per_second: recommended.promise.goodput.bits_per_second(),
            interval: recommended.promise.interval,
            rtt_loaded_seconds: recommended.rtt_loaded.map(Span::as_secs_f64),
            rtt_unloaded_seconds: recommended.rtt_unloaded.map(Span::as_secs_f64),
            sample: recommended.sample,
            because: recommended.because.clone(),
        }
    }
}

impl From<&MoverCommand> for ToolSetting {
    fn from(command: &MoverCommand) -> Self {
        ToolSetting {
            tool: command.program.clone(),
            command: command.line.clone(),
            note: command.note.clone(),
        }
    }
}

impl From<&Advice> for ToolSetting {
    fn from(advice: &Advice) -> Self {
        ToolSetting {
            tool: advice.tool.name().to_owned(),
            command: advice.command.clone(),
            note: advice.note.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::synthetic;

    #[test]
    fn a_sample_without_idle_probes_is_compared_with_the_search() {
        let tune = synthetic::tune(1).body;
        let later = &tune.samples[4].run;
        assert_eq!(later.rtt.unloaded, None);
        let idle = tune.answer.unwrap().recommended.rtt_unloaded_seconds;
        let added = later.rtt_loaded_seconds().unwrap() - idle.unwrap();
        assert!((later.rtt.added_seconds.unwrap() - added).abs() < 1e-9);
    }
}
