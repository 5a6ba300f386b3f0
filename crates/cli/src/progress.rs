//! What is shown while a run goes on: one line on a terminal, nothing elsewhere.

mod copy;
mod sweep;

use indicatif::{ProgressBar, ProgressStyle};
use observe::{Snapshot, Watch};
use tune::{Onlooker, Request, Sample};
use units::Span;

use crate::output::tell;
use crate::stop::Stop;

pub(crate) use copy::CopyProgress;
pub(crate) use sweep::SweepProgress;

/// A line on standard error that follows a run. Not drawn where that is no terminal.
pub(crate) struct Progress {
    line: ProgressBar,
    stop: Stop,
    has_waited: bool,
}

impl Progress {
    pub(crate) fn new(stop: &Stop) -> Self {
        let line = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {prefix}{msg}");
        line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Progress {
            line,
            stop: stop.clone(),
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

    /// Leaves a line behind and goes on below it.
    pub(crate) fn leave(&self, text: &str) {
        self.line.println(text);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

impl Watch for Progress {
    fn on_progress(&mut self, snapshot: &Snapshot) {
        self.line.set_message(describe(snapshot));
        self.line.tick();
    }

    fn is_cancelled(&self) -> bool {
        self.stop.is_asked()
    }

    fn on_wait(&mut self, why: &str, wait: Span) {
        let text = format!("{why}, asking again in {}", wait.human());
        if !self.line.is_hidden() {
            self.line.set_message(format!("  {text}"));
            self.line.tick();
        } else if !self.has_waited {
            // A script waits without a word otherwise; once is enough.
            tell!("{text}");
        }
        self.has_waited = true;
    }
}

impl Onlooker for Progress {
    fn on_sample_started(&mut self, number: usize, request: &Request) {
        let (streams, window) = (request.setting.streams, request.setting.window);
        self.label(&format!("sample {number}: {streams} x {window}"));
    }

    fn on_sample_done(&mut self, _number: usize, sample: &Sample) {
        let (streams, window) = (sample.setting.streams, sample.setting.window);
        let goodput = sample.summary.goodput().mean.human();
        let head = format!("{streams:>3} x {window:<7} {goodput:>11}  ");
        for line in report::render::terminal::beside(&head, &sample.why) {
            self.leave(&line);
        }
    }
}

impl probing::Onlooker for Progress {
    fn on_part(&mut self, part: &str) {
        match self.is_drawn() {
            true => self.label(part),
            false => tell!("{part}"),
        }
    }
}

/// A bar on standard error that follows many simulations. Not drawn where that is no terminal.
pub(crate) struct CampaignProgress {
    bar: ProgressBar,
}

impl CampaignProgress {
    pub(crate) fn new(runs: usize) -> Self {
        let bar = ProgressBar::new(SHARES);
        let style =
            ProgressStyle::with_template("{bar:30} {percent:>3} % {msg}  {elapsed}, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(format!("0 of {runs} runs"));
        CampaignProgress { bar }
    }

    pub(crate) fn show(&mut self, seen: &campaign::Progress) {
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
