//! What is shown while a run goes on: one line on a terminal, nothing elsewhere.

mod copy;
mod sweep;

use indicatif::{ProgressBar, ProgressStyle};
use trunkline::Progress;
use trunkline::measure::{Setting, Snapshot};
use trunkline::tune::{FailedSample, Request, Sample};
use trunkline::units::Span;
use trunkline::{draw, simulate};

use crate::output::tell;

pub(crate) use copy::CopyProgress;
pub(crate) use sweep::SweepProgress;

/// A line on standard error that follows a run. Not drawn where that is no terminal.
pub(crate) struct RunProgress {
    line: ProgressBar,
    has_waited: bool,
}

impl RunProgress {
    pub(crate) fn new() -> Self {
        let line = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {prefix}{msg}");
        line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        RunProgress {
            line,
            has_waited: false,
        }
    }

    /// Says what is being done now.
    pub(crate) fn label(&self, text: &str) {
        self.line.set_prefix(text.to_owned());
        self.line.set_message("");
        self.line.tick();
    }

    /// Says how what is being done goes.
    fn show(&self, text: &str) {
        self.line.set_message(text.to_owned());
        self.line.tick();
    }

    /// Whether anybody sees the line.
    fn is_drawn(&self) -> bool {
        !self.line.is_hidden()
    }

    /// Prints with the line out of the way.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.line.suspend(print);
    }

    /// Leaves a line behind and goes on below it.
    pub(crate) fn leave(&self, text: &str) {
        self.line.println(text);
    }
}

impl Drop for RunProgress {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

impl RunProgress {
    /// Shows what happens; visits of a sweep are shown by [`SweepProgress`].
    pub(crate) fn on(&mut self, event: Progress<'_>) {
        match event {
            Progress::Running(snapshot) => self.show(&describe(snapshot)),
            Progress::Waiting { why, wait } => self.wait(why, wait),
            Progress::SampleStarted { number, request } => self.sample_started(number, request),
            Progress::SampleDone { sample, .. } => self.sample_done(sample),
            Progress::SampleFailed { failed, .. } => self.sample_failed(failed),
            Progress::PartStarted(part) => match self.is_drawn() {
                true => self.label(part),
                false => tell!("{part}"),
            },
            Progress::VisitStarted { .. }
            | Progress::VisitRetried { .. }
            | Progress::VisitNotKept { .. }
            | Progress::VisitDone { .. } => {}
        }
    }

    fn wait(&mut self, why: &str, wait: Span) {
        let text = format!("{why}, asking again in {}", wait.human());
        if self.is_drawn() {
            self.show(&format!("  {text}"));
        } else if !self.has_waited {
            // A script waits without a word otherwise; once is enough.
            tell!("{text}");
        }
        self.has_waited = true;
    }

    fn sample_started(&mut self, number: usize, request: &Request) {
        let (streams, window) = (request.setting.streams, request.setting.window);
        self.label(&format!("sample {number}: {streams} x {window}"));
    }

    fn sample_done(&mut self, sample: &Sample) {
        let goodput = sample.summary.goodput().mean.human();
        self.row(&sample.setting, &goodput, &sample.why);
    }

    fn sample_failed(&mut self, failed: &FailedSample) {
        self.row(&failed.setting, "-", &failed.error.to_string());
    }

    /// A line of what was tried.
    fn row(&self, setting: &Setting, goodput: &str, why: &str) {
        let (streams, window) = (setting.streams, setting.window);
        let head = format!("{streams:>3} x {window:<7} {goodput:>11}  ");
        for line in draw::render::terminal::beside(&head, why) {
            self.leave(&line);
        }
    }
}

/// A bar on standard error that follows many simulations. Not drawn where that is no terminal.
pub(crate) struct CampaignProgress {
    bar: ProgressBar,
}

impl CampaignProgress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(SHARES);
        let style =
            ProgressStyle::with_template("{bar:30} {percent:>3} % {msg}  {elapsed}, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        CampaignProgress { bar }
    }

    pub(crate) fn show(&mut self, seen: &simulate::Progress) {
        self.bar.set_position(seen.share_of(SHARES));
        let kept = match seen.cached {
            0 => String::new(),
            cached => format!(", {cached} kept from before"),
        };
        self.bar
            .set_message(format!("{} of {} runs{kept}", seen.done, seen.runs));
    }
}

impl Drop for CampaignProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Steps of the bar, more than a terminal shows.
const SHARES: u64 = 1_000;

fn describe(snapshot: &Snapshot) -> String {
    let at = snapshot.at.as_secs_f64();
    let of = snapshot
        .duration_max
        .map(|max| format!(" of {}", max.human()))
        .unwrap_or_default();
    let rtt = snapshot
        .rtt
        .map(|rtt| format!(", RTT {}", rtt.human()))
        .unwrap_or_default();
    format!("  {at:.1} s{of}  {}{rtt}", snapshot.rate.human())
}

/// How many days of a demonstration are done.
pub(crate) struct Days(ProgressBar);

impl Days {
    /// A bar, where standard error is a terminal.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("day {pos} of {len} {wide_bar} {elapsed}") {
            bar.set_style(style);
        }
        Days(bar)
    }

    /// So many days are done, of how many. Without a terminal each tenth is a line.
    pub(crate) fn done(&self, done: u64, all: u64) {
        self.0.set_length(all);
        self.0.set_position(done);
        if self.0.is_hidden() && done.is_multiple_of(10) {
            tell!("{done} of {all} days are done");
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
