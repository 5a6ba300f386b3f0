//! What is shown while files are copied: two lines on a terminal, elsewhere a line every ten
//! seconds.

use std::mem;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use trunkline::copy::{CopyEvent, CopyObserver, ProblemKind};
use trunkline::report;
use trunkline::report::text::copy as say;
use trunkline::units::{Bytes, Span};

use crate::args::Copy;
use crate::output::{self, tell};

/// How often a line is written where no terminal is: seldom enough for a log, often enough to see
/// that it lives.
const PERIOD: Duration = Duration::from_secs(10);
/// Steps of the bar, more than a terminal shows.
const STEPS: u64 = 1_000;

/// How often it is said that a copy still waits for a place, where nothing changes.
const WAITING_PERIOD: Duration = Duration::from_secs(60);

/// What was said of a place at the far end.
struct Waiting {
    ahead: u16,
    is_time_known: bool,
    said: Instant,
}

/// Follows a copy.
pub(crate) struct CopyProgress {
    bar: ProgressBar,
    is_json: bool,
    is_quiet: bool,
    is_verbose: bool,
    is_dry: bool,
    /// It was told what is there already.
    is_planned: bool,
    /// The far end is gone, and that was told.
    is_lost: bool,
    /// It was told that files are read for lists of checksums.
    is_listing: bool,
    /// What was told last of a place at the far end.
    waiting: Option<Waiting>,
    /// When the last line was written where no terminal is.
    told: Instant,
}

impl CopyProgress {
    pub(crate) fn new(arguments: &Copy) -> Self {
        let bar = match arguments.quiet {
            true => ProgressBar::hidden(),
            false => ProgressBar::new(STEPS),
        };
        let style = ProgressStyle::with_template("{bar:24} {percent:>3} %  {wide_msg}\n{prefix}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        CopyProgress {
            bar,
            is_json: arguments.output.json,
            is_quiet: arguments.quiet,
            is_verbose: arguments.verbose,
            is_dry: arguments.dry_run,
            is_planned: false,
            is_lost: false,
            is_listing: false,
            waiting: None,
            told: Instant::now(),
        }
    }

    /// Takes the lines away.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }

    /// A remark for people, beside the result.
    fn say(&self, text: &str) {
        match (self.is_quiet, self.bar.is_hidden()) {
            (true, _) => {}
            (false, true) => tell!("{text}"),
            (false, false) => self.bar.suspend(|| tell!("{text}")),
        }
    }

    /// A part of the result: standard output, unless that is for programs.
    fn put(&self, text: &str) {
        if self.is_json || self.is_quiet {
            return;
        }
        // A closed pipe is told at the end of the copy, if at all.
        self.bar
            .suspend(|| drop(output::print(&format!("{text}\n"))));
    }

    fn json(&self, event: &CopyEvent) {
        let line = event.to_line();
        self.bar.suspend(|| drop(output::print(&line)));
    }

    fn show(&mut self, line: &trunkline::copy::CopyProgress) {
        let (done, how) = say::progress(line);
        self.bar.set_position(say::thousandths(line));
        self.bar.set_message(done.clone());
        self.bar.set_prefix(how.clone());
        self.bar.tick();
        if self.bar.is_hidden() && !self.is_quiet && self.told.elapsed() >= PERIOD {
            self.told = Instant::now();
            tell!("{done}; {how}");
        }
    }

    fn verbose(&self, text: &str) {
        if self.is_verbose {
            self.say(text);
        }
    }

    /// A file of which something is known.
    fn file(&self, name: &str, what: &str) {
        if self.is_verbose {
            self.put(&format!("{}  {what}", report::text::plain(name)));
        }
    }
}

impl CopyObserver for CopyProgress {
    fn on_event(&mut self, event: &CopyEvent) {
        if self.is_json {
            self.json(event);
        }
        match event {
            CopyEvent::Progress(progress) => self.show(progress),
            CopyEvent::Connected { peer, rtt, .. } => {
                let rtt = rtt.map(|rtt| format!(", RTT {}", rtt.human()));
                self.verbose(&format!("connected to {peer}{}", rtt.unwrap_or_default()));
            }
            CopyEvent::ProgramSent {
                host, file, bytes, ..
            } => self.say(&say::program_sent(host, file, *bytes)),
            CopyEvent::OverSftp { host, because, .. } => self.say(&say::over_sftp(host, because)),
            CopyEvent::Published { name, bytes, .. } => {
                self.file(&name.to_string(), &bytes.human())
            }
            // A folder of thousands that are there would hide what is new.
            CopyEvent::Skipped { .. } => {}
            // The lists have them.
            CopyEvent::Checksum { .. } => {}
            CopyEvent::Removed { name, .. } => self.removed(name),
            CopyEvent::LeftOut { problem, .. } => self.verbose(&say::failure(problem)),
            CopyEvent::Failed { problem, .. } if problem.kind == ProblemKind::Follows => {}
            CopyEvent::WouldCopy { name, bytes } => self.would_copy(&name.to_string(), *bytes),
            CopyEvent::Failed { problem, .. } => {
                let failure = say::failure(problem);
                self.verbose(&format!("error: {failure}"));
            }
            CopyEvent::Steered { streams, why, .. } => {
                let streams = report::text::count((*streams).into(), "stream");
                self.verbose(&format!(
                    "{streams} from now on: {}",
                    report::text::plain(why)
                ));
            }
            CopyEvent::Queued {
                why,
                ahead,
                place_in,
                ..
            } => self.queued(why, *ahead, *place_in),
            CopyEvent::Stalled {
                still, here, there, ..
            } => self.say(&say::stalled(*still, here, there)),
            CopyEvent::Moving { still, .. } => {
                self.say(&format!("the copy moves again, after {}", still.human()));
            }
            CopyEvent::Lost { why, retry_in, .. } => self.lost(why, *retry_in),
            CopyEvent::Resumed { left, .. } => {
                self.is_lost = false;
                self.say(&format!("the far end is back; {} to go", left.human()));
            }
            CopyEvent::Planned { bytes, present, .. } => self.planned(*bytes, *present),
            CopyEvent::Following { .. } => self.following(event),
            CopyEvent::Error { .. } => {}
        }
    }

    fn on_checksums(&mut self, left: Bytes) {
        let left = format!("{} to read for the lists of checksums", left.human());
        if !mem::replace(&mut self.is_listing, true) {
            self.say(&format!("all is copied; {left}"));
        }
        self.bar.set_prefix(left);
        self.bar.tick();
    }
}

impl CopyProgress {
    /// What an earlier try or copy left is told before the rest comes.
    fn planned(&mut self, bytes: Bytes, present: Bytes) {
        let left = bytes - present.min(bytes);
        let is_told = mem::replace(&mut self.is_planned, true);
        let is_news = present > Bytes::ZERO && left > Bytes::ZERO;
        if is_news && !is_told && !self.is_dry {
            self.say(&format!(
                "{} are there already; {} to go",
                present.human(),
                left.human()
            ));
        }
    }

    /// A wait may take days, so that a line is written where something changed.
    fn following(&mut self, event: &CopyEvent) {
        let CopyEvent::Following {
            files,
            bytes,
            waiting,
            ..
        } = event
        else {
            return;
        };
        let text = say::following(*files, *bytes, *waiting);
        // The next pass is part of the same copy.
        self.is_planned = true;
        self.bar.set_message(text.clone());
        self.bar.set_prefix("");
        self.bar.tick();
        if self.bar.is_hidden() && !self.is_quiet {
            tell!("{text}");
        }
    }

    /// One line for each outage: it may take days, with a try every few seconds.
    fn lost(&mut self, why: &str, retry_in: Span) {
        let is_told = mem::replace(&mut self.is_lost, true);
        let why = report::text::plain(why);
        let next = match is_told {
            true => return self.verbose(&format!("still gone ({why})")),
            false => retry_in.human(),
        };
        self.say(&format!(
            "the far end is gone ({why}); trying again in {next}, and then until it is back or \
             `--patience` is over"
        ));
    }

    /// One line each time that the turn comes nearer, and each minute.
    fn queued(&mut self, why: &str, ahead: u16, place_in: Option<Span>) {
        let is_time_known = place_in.is_some();
        let is_said = |before: &Waiting| {
            before.ahead == ahead
                && before.is_time_known == is_time_known
                && before.said.elapsed() < WAITING_PERIOD
        };
        if self.waiting.as_ref().is_some_and(is_said) {
            return;
        }
        self.waiting = Some(Waiting {
            ahead,
            is_time_known,
            said: Instant::now(),
        });
        let why = report::text::plain(why);
        let turn = match ahead {
            0 => "this copy is the next".to_owned(),
            1 => "1 waits before this copy".to_owned(),
            ahead => format!("{ahead} wait before this copy"),
        };
        let time = place_in.map_or_else(String::new, |left| {
            format!("; a place may be free in about {}", left.human())
        });
        self.say(&format!("waiting: {why}; {turn}{time}"));
    }

    fn removed(&self, name: &str) {
        let name = report::text::plain(name);
        match (self.is_dry, self.is_verbose) {
            (true, _) => self.put(&format!("{name}  would be removed")),
            (false, true) => self.put(&format!("{name}  removed")),
            (false, false) => {}
        }
    }

    /// What a dry run is for, so it is told without `--verbose` too.
    fn would_copy(&self, name: &str, bytes: Bytes) {
        let name = report::text::plain(name);
        match bytes {
            // A folder, a link or an empty file.
            Bytes::ZERO => self.put(&name),
            bytes => self.put(&format!("{name}  {}", bytes.human())),
        }
    }
}
