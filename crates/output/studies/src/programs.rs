//! What real programs carried, beside what was simulated of them. Nothing is run here.

use std::fmt;

use draw::format;
use netpath::PathSpec;
use units::{Bytes, Rate};

use crate::StudyError;
use crate::figure::{Figure, Line, Origin, Panel, Rows, Values};
use crate::finding::{Finding, digits};
use crate::striping::streams;
use crate::study::Studied;

/// The study that has a figure of programs, and that figure.
pub const STUDY: &str = "striping";
const FIGURE: &str = "F8";

const WINDOWS: [(&str, Option<Bytes>); 2] =
    [("64 KiB", Some(Bytes::from_kib(64))), ("no limit", None)];
const STREAMS: [u32; 3] = [1, 4, 16];
/// How far a program may be from what is simulated, as a share.
const TOLERANCE: f64 = 0.15;
const COLUMNS: [&str; 4] = [
    "program",
    "Mbit/s",
    "near processor [%]",
    "far processor [%]",
];

/// How a program is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramSetting {
    /// The window of each stream; `None` where it is not limited.
    pub window: Option<Bytes>,
    /// The window in words.
    pub window_name: &'static str,
    /// Streams.
    pub streams: u32,
}

/// What one run of a program carried.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramRun {
    /// The program.
    pub program: &'static str,
    /// How it was run.
    pub setting: ProgramSetting,
    /// What the receiver got.
    pub rate: Rate,
    /// Share of one processor that it took at the near and at the far end, in percent; `None` where
    /// it does not tell.
    pub processors: Option<[f64; 2]>,
}

/// What all runs came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProgramRuns {
    /// The runs, those of a program and window one after the other.
    pub runs: Vec<ProgramRun>,
    /// How they were run, what was not run and why: sentences.
    pub notes: Vec<String>,
}

impl ProgramRun {
    /// Program and window.
    fn curve(&self) -> String {
        format!("{}, window {}", self.program, self.setting.window_name)
    }
}

/// `iperf3, window 64 KiB, streams 4: 43.1 Mbit/s`.
impl fmt::Display for ProgramRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = format::rate(self.rate.bits_per_second());
        write!(
            f,
            "{}, streams {}: {rate}",
            self.curve(),
            self.setting.streams
        )
    }
}

/// The path of the figure.
///
/// # Errors
/// When it cannot be read.
pub fn path() -> Result<PathSpec, StudyError> {
    Ok(streams::path()?)
}

/// Every setting, those of a window one after the other.
pub fn settings() -> impl Iterator<Item = ProgramSetting> {
    let of = |(window_name, window): (&'static str, Option<Bytes>)| {
        STREAMS.map(|streams| ProgramSetting {
            window,
            window_name,
            streams,
        })
    };
    WINDOWS.into_iter().flat_map(of)
}

/// Puts what programs carried beside the figure that is of them; where none were to be run, that.
pub fn put_beside(studies: &mut [Studied], seen: Option<&ProgramRuns>) {
    let own = studies.iter_mut().filter(|study| study.name == STUDY);
    for part in own.flat_map(|study| &mut study.parts) {
        let figures = part.figures.iter_mut();
        for figure in figures.filter(|figure| figure.ids.contains(&FIGURE)) {
            match seen {
                None => part.settings.push(
                    "No real program was run: `trunkline study striping --programs` runs iperf3 \
                     and globus-url-copy."
                        .to_owned(),
                ),
                Some(seen) => {
                    part.settings.extend(seen.notes.iter().cloned());
                    add(figure, &seen.runs);
                }
            }
        }
    }
}

fn add(figure: &mut Figure, runs: &[ProgramRun]) {
    let Some(panel) = figure.panels.first_mut().filter(|_| !runs.is_empty()) else {
        return;
    };
    let curves = || runs.chunk_by(|one, next| one.curve() == next.curve());
    let checks: Vec<_> = curves().map(|runs| check(panel, runs)).collect();
    panel.lines.extend(curves().filter_map(line));
    figure.tables.push(Rows {
        columns: COLUMNS.to_vec(),
        rows: runs.iter().map(row).collect(),
    });
    figure.findings.push(Finding::new(
        "The programs themselves carry what their simulated streams do.",
        "At each number of streams a program carries what the simulated window does, within 15 %.",
        checks,
    ));
}

fn line(runs: &[ProgramRun]) -> Option<Line> {
    let place = |run: &ProgramRun| (f64::from(run.setting.streams), run.rate.as_f64() / 1e6);
    let places = runs.iter().map(place).collect();
    Some(Line::new(runs.first()?.curve(), Origin::Measured, places))
}

fn check(panel: &Panel, runs: &[ProgramRun]) -> Option<(bool, String)> {
    let first = runs.first()?;
    let label = streams::label(first.setting.window_name);
    let simulated = panel.lines.iter().find(|line| line.label == label)?;
    let ratio = |run: &ProgramRun| {
        let simulated = simulated.at(f64::from(run.setting.streams))?;
        Some(run.rate.as_f64() / 1e6 / simulated)
    };
    let ratios: Option<Vec<f64>> = runs.iter().map(ratio).collect();
    let ratios = ratios?;
    let least = ratios.iter().copied().reduce(f64::min)?;
    let most = ratios.iter().copied().reduce(f64::max)?;
    let words = format!(
        "{} carries {} to {} times what is simulated",
        first.curve(),
        digits(least),
        digits(most)
    );
    Some((least >= 1.0 - TOLERANCE && most <= 1.0 + TOLERANCE, words))
}

fn row(run: &ProgramRun) -> Vec<String> {
    let of = |place: usize| {
        run.processors
            .map_or("-".to_owned(), |shares| digits(shares[place]))
    };
    vec![
        format!("{}, streams {}", run.curve(), run.setting.streams),
        digits(run.rate.as_f64() / 1e6),
        of(0),
        of(1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Scale;
    use crate::finding::Verdict;
    use crate::part::Shown;

    fn studied() -> Studied {
        let places = STREAMS.map(|streams| (f64::from(streams), 10.0 * f64::from(streams)));
        let line = |window| Line::new(streams::label(window), Origin::Runs, places.to_vec());
        let lines = WINDOWS.map(|(window, _)| line(window)).to_vec();
        let scales = (Scale::doublings("streams"), Scale::even("Mbit/s"));
        let panel = Panel::new("streams", "", scales, lines);
        Studied {
            name: STUDY,
            title: "",
            source: "",
            parts: vec![Shown {
                title: "",
                assumed: "",
                settings: Vec::new(),
                figures: vec![Figure::new(&[FIGURE], "", vec![panel], Vec::new())],
                runs: 0,
                cpu: units::Span::ZERO,
            }],
            left: &[],
            seeds: 1,
        }
    }

    fn runs(factor: f64) -> Vec<ProgramRun> {
        let run = |setting: ProgramSetting| ProgramRun {
            program: "iperf3",
            rate: Rate::from_f64(1e7 * factor * f64::from(setting.streams)),
            processors: Some([3.0, 4.0]),
            setting,
        };
        settings().map(run).collect()
    }

    #[test]
    fn programs_are_judged_beside_the_simulated_window() {
        for (factor, verdict) in [(0.9, Verdict::Holds), (1.2, Verdict::DoesNotHold)] {
            let mut studies = [studied()];
            let seen = ProgramRuns {
                runs: runs(factor),
                notes: vec!["Of them.".to_owned()],
            };
            put_beside(&mut studies, Some(&seen));
            let part = &studies[0].parts[0];
            let figure = &part.figures[0];
            assert_eq!(figure.findings[0].verdict(), verdict);
            assert_eq!(figure.panels[0].lines.len(), 4);
            assert_eq!(figure.tables[0].rows.len(), 6);
            assert_eq!(part.settings, ["Of them."]);
        }
    }

    #[test]
    fn without_runs_the_page_says_so() {
        let mut studies = [studied()];
        put_beside(&mut studies, None);
        let part = &studies[0].parts[0];
        assert!(part.settings[0].contains("--programs"));
        assert!(part.figures[0].findings.is_empty());
        let mut studies = [studied()];
        put_beside(&mut studies, Some(&ProgramRuns::default()));
        assert!(studies[0].parts[0].figures[0].findings.is_empty());
    }
}
