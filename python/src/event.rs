//! What happens during a call, as one flat shape.

use pyo3::prelude::*;
use trunkline::copy::CopyEvent;
use trunkline::report::text::copy as say;
use trunkline::units::{Bytes, Rate, Span};
use trunkline::{measure::Setting, simulate};

/// One thing that happened. What does not belong to its kind is `None`.
#[pyclass(frozen, get_all, module = "trunkline._trunkline")]
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// What it is.
    pub kind: &'static str,
    /// A few words for people.
    pub message: String,
    /// Since the streams, or the copy, began.
    pub at_seconds: Option<f64>,
    /// Share of the whole that lies behind, 0 to 1.
    pub share: Option<f64>,
    /// Time that is left, about.
    pub left_seconds: Option<f64>,
    /// Rate over the last interval.
    pub goodput_bits_per_second: Option<u64>,
    /// Smoothed round trip, mean of the streams.
    pub rtt_seconds: Option<f64>,
    /// Bytes that have arrived.
    pub bytes: Option<u64>,
    /// Bytes of all files, as far as they are known.
    pub total_bytes: Option<u64>,
    /// Streams that carry data.
    pub streams: Option<u16>,
    /// Which sample, visit or run.
    pub number: Option<u64>,
    /// Name of a file.
    pub name: Option<String>,
}

impl Progress {
    /// Words of a kind.
    pub fn words(kind: &'static str, message: impl Into<String>) -> Self {
        Progress {
            kind,
            message: message.into(),
            ..Progress::default()
        }
    }

    fn at(self, at: trunkline::units::Time) -> Self {
        Progress {
            at_seconds: Some(at.as_secs_f64()),
            ..self
        }
    }

    fn file(self, name: String, bytes: Option<Bytes>) -> Self {
        Progress {
            name: Some(name),
            bytes: bytes.map(Bytes::get),
            ..self
        }
    }
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        format!("<Progress {}: {}>", self.kind, self.message)
    }
}

fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

fn setting(setting: &Setting) -> String {
    format!("{} x {}", setting.streams, setting.window)
}

impl From<trunkline::Progress<'_>> for Progress {
    fn from(progress: trunkline::Progress<'_>) -> Self {
        use trunkline::Progress as Seen;
        match progress {
            Seen::Running(snapshot) => running(snapshot),
            Seen::Waiting { why, wait } => Progress {
                left_seconds: Some(seconds(wait)),
                ..Progress::words("waiting", why)
            },
            Seen::SampleStarted { number, request } => Progress {
                number: Some(number as u64),
                streams: Some(request.setting.streams.get()),
                ..Progress::words(
                    "sample-started",
                    format!("{}: {}", setting(&request.setting), request.why),
                )
            },
            Seen::SampleDone { number, sample } => {
                let mean = sample.summary.goodput().mean;
                let asked = &sample.observation.setting;
                Progress {
                    number: Some(number as u64),
                    streams: Some(asked.streams.get()),
                    goodput_bits_per_second: Some(mean.bits_per_second()),
                    ..Progress::words(
                        "sample-done",
                        format!("{}: {}", setting(asked), mean.human()),
                    )
                }
            }
            Seen::SampleFailed { number, failed } => Progress {
                number: Some(number as u64),
                streams: Some(failed.setting.streams.get()),
                ..Progress::words(
                    "sample-failed",
                    format!("{}: {}", setting(&failed.setting), failed.error),
                )
            },
            Seen::PartStarted(part) => Progress::words("part-started", part),
            Seen::VisitStarted { visit, left } => Progress {
                left_seconds: Some(seconds(left)),
                ..of_visit("visit-started", visit, "")
            },
            Seen::VisitRetried { visit, error, wait } => Progress {
                left_seconds: Some(seconds(wait)),
                ..of_visit("visit-retried", visit, &error.to_string())
            },
            Seen::VisitNotKept { visit, error, wait } => Progress {
                left_seconds: Some(seconds(wait)),
                ..of_visit("visit-not-kept", visit, &error.to_string())
            },
            Seen::VisitDone { visit, left, .. } => Progress {
                left_seconds: Some(seconds(left)),
                ..of_visit("visit-done", visit, "")
            },
        }
    }
}

fn running(snapshot: &trunkline::measure::Snapshot) -> Progress {
    let at = snapshot.at.as_secs_f64();
    let whole = snapshot.duration_max.map(seconds);
    Progress {
        share: whole
            .filter(|whole| *whole > 0.0)
            .map(|whole| (at / whole).min(1.0)),
        left_seconds: whole.map(|whole| (whole - at).max(0.0)),
        goodput_bits_per_second: Some(snapshot.rate.bits_per_second()),
        rtt_seconds: snapshot.rtt.map(seconds),
        bytes: Some(snapshot.bytes.get()),
        ..Progress::words("running", snapshot.rate.human()).at(snapshot.at)
    }
}

fn of_visit(kind: &'static str, visit: &trunkline::sweep::Visit, why: &str) -> Progress {
    let message = match why {
        "" => setting(&visit.setting),
        why => format!("{}: {why}", setting(&visit.setting)),
    };
    Progress {
        number: Some(visit.number.into()),
        streams: Some(visit.setting.streams.get()),
        ..Progress::words(kind, message)
    }
}

impl From<&simulate::Progress> for Progress {
    fn from(progress: &simulate::Progress) -> Self {
        let (done, runs) = (progress.done, progress.runs);
        Progress {
            share: Some(progress.share.clamp(0.0, 1.0)),
            number: Some(done as u64),
            ..Progress::words("simulated", format!("{done} of {runs} runs"))
        }
    }
}

impl From<&CopyEvent> for Progress {
    fn from(event: &CopyEvent) -> Self {
        use Progress as P;
        match event {
            CopyEvent::Connected { at, peer, rtt } => P {
                rtt_seconds: rtt.map(seconds),
                ..P::words("connected", peer.as_str()).at(*at)
            },
            CopyEvent::ProgramSent {
                at,
                host,
                file,
                bytes,
            } => P {
                bytes: Some(bytes.get()),
                ..P::words("program-sent", say::program_sent(host, file, *bytes)).at(*at)
            },
            CopyEvent::OverSftp { at, host, because } => {
                P::words("over-sftp", say::over_sftp(host, because)).at(*at)
            }
            CopyEvent::Planned {
                at, files, bytes, ..
            } => P {
                total_bytes: Some(bytes.get()),
                number: Some(*files),
                ..P::words("planned", format!("{files} files, {}", bytes.human())).at(*at)
            },
            CopyEvent::Progress(progress) => copying(progress),
            CopyEvent::Published {
                at, name, bytes, ..
            } => {
                let name = name.to_string();
                P::words("published", name.as_str())
                    .at(*at)
                    .file(name, Some(*bytes))
            }
            CopyEvent::Skipped { at, name, bytes } => {
                let name = name.to_string();
                P::words("skipped", name.as_str())
                    .at(*at)
                    .file(name, Some(*bytes))
            }
            CopyEvent::Checksum {
                name,
                bytes,
                algorithm,
                digest,
            } => {
                let words = format!("{algorithm} {digest}");
                P::words("checksum", words).file(name.to_string(), Some(*bytes))
            }
            CopyEvent::WouldCopy { name, bytes } => {
                let name = name.to_string();
                P::words("would-copy", name.as_str()).file(name, Some(*bytes))
            }
            CopyEvent::Removed { at, name } => P::words("removed", name.as_str())
                .at(*at)
                .file(name.clone(), None),
            CopyEvent::LeftOut { at, problem } => P::words("left-out", problem.what.as_str())
                .at(*at)
                .file(problem.name.clone(), None),
            CopyEvent::Failed { at, problem } => P::words("failed", problem.what.as_str())
                .at(*at)
                .file(problem.name.clone(), None),
            CopyEvent::Steered { at, streams, why } => P {
                streams: Some(*streams),
                ..P::words("steered", why.as_str()).at(*at)
            },
            CopyEvent::Queued {
                at,
                why,
                ahead,
                place_in,
                ..
            } => P {
                number: Some((*ahead).into()),
                left_seconds: place_in.map(seconds),
                ..P::words("queued", why.as_str()).at(*at)
            },
            CopyEvent::Stalled {
                at,
                still,
                here,
                there,
            } => P::words("stalled", say::stalled(*still, here, there)).at(*at),
            CopyEvent::Moving { at, still } => {
                P::words("moving", format!("after {}", still.human())).at(*at)
            }
            CopyEvent::Lost { at, why, retry_in } => P {
                left_seconds: Some(seconds(*retry_in)),
                ..P::words("lost", why.as_str()).at(*at)
            },
            CopyEvent::Resumed { at, left } => P {
                bytes: Some(left.get()),
                ..P::words("resumed", format!("{} are left", left.human())).at(*at)
            },
            CopyEvent::Following {
                at,
                files,
                bytes,
                waiting,
            } => P {
                bytes: Some(bytes.get()),
                number: Some(*files),
                ..P::words("following", say::following(*files, *bytes, *waiting)).at(*at)
            },
            CopyEvent::Error { what, .. } => P::words("error", what.as_str()),
        }
    }
}

fn copying(progress: &trunkline::copy::CopyProgress) -> Progress {
    let (done, total) = (progress.done, progress.total);
    let rate: Rate = progress.rate;
    let share = (total.get() > 0).then(|| done.get() as f64 / total.get() as f64);
    Progress {
        share: share.map(|share| share.clamp(0.0, 1.0)),
        left_seconds: progress.left.map(seconds),
        goodput_bits_per_second: Some(rate.bits_per_second()),
        rtt_seconds: progress.rtt.map(seconds),
        bytes: Some(done.get()),
        total_bytes: Some(total.get()),
        streams: Some(progress.streams),
        ..Progress::words("progress", format!("{} of {}", done.human(), total.human()))
            .at(progress.at)
    }
}
