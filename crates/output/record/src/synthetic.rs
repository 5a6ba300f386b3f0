//! Made-up but plausible documents, the same for the same seed: for tests and examples only.
//!
//! The path is a toy: 45 Mbit/s, 165 ms, a queue of 128 KiB and a loss that holds one stream to
//! about 5 Mbit/s. The documents come about through the same conversions as real ones.

mod copied;
mod datagrams;
mod examined;
mod prediction;
mod run;
mod simulation;
mod sweep;

use observe::{Limit, Punctuality, StreamCount, TargetInfo, TargetKind, Verdict, Window};
use tune::{Purpose, SysctlLine, Tuning};
use units::{Bytes, Rate, Span};

use crate::{Demo, Document, Host, LabelledRun, Measure, Origin, Published, Run, Tune};
pub use copied::{copy, copy_spec, events};
pub use datagrams::datagrams;
pub use examined::{characteristics, responsiveness};
pub use prediction::{fit, predict};
pub use run::Case;
use run::Made;
#[cfg(test)]
pub(crate) use simulation::results;
pub use simulation::{campaign, scenario, simulate, transfer};
pub use sweep::{SweepCase, sweep};

fn target() -> TargetInfo {
    TargetInfo {
        name: "emu:slac-cern".to_owned(),
        kind: TargetKind::Emulated,
        limits: Some(observe::HostLimits {
            send_fixed_max: Bytes::from_kib(208),
            receive_fixed_max: Bytes::from_kib(208),
            send_auto_max: Bytes::from_mib(4),
            receive_auto_max: Bytes::from_mib(6),
        }),
        congestion: vec!["cubic".to_owned()],
        mover: None,
    }
}

/// The path of the toy as far as documents name it.
fn on_path(target: crate::Target) -> crate::Target {
    crate::Target {
        path_digest: Some("5d6c2b1a09f8e7d4".to_owned()),
        punctuality: Some(Punctuality {
            packets: 120_000,
            late: 240,
            bound: Span::from_micros(3300),
            worst: Span::from_micros(7340),
        }),
        ..target
    }
}

fn origin(words: &str, seed: u64) -> Origin {
    Origin {
        trunkline_version: "0.1.0".to_owned(),
        created: "2026-03-14T15:09:26Z".to_owned(),
        seed: Some(seed),
        command_line: words.split(' ').map(str::to_owned).collect(),
        host: Host {
            name: Some("dtn1.example.org".to_owned()),
            kernel: Some("6.12.48-amd64".to_owned()),
            cpus: Some(2),
            memory_bytes: Some(8_245_927_936),
        },
    }
}

fn loss() -> Verdict {
    Verdict {
        limit: Limit::Loss,
        probability: Some(0.7),
        or: vec![Limit::ShallowQueue],
        because: "0.03 % of the bytes were sent again while the round trip stayed within 2 ms of \
                  the idle path, so packets are lost without a full queue"
            .to_owned(),
        window_needed: None,
        could_reach: None,
    }
}

fn full() -> Verdict {
    Verdict {
        limit: Limit::Link,
        probability: Some(0.98),
        or: Vec::new(),
        because: "doubling the streams gained 2 %, and the round trip rose by 19 ms".to_owned(),
        window_needed: None,
        could_reach: None,
    }
}

fn small_window() -> Verdict {
    Verdict {
        limit: Limit::ReceiveBuffer,
        probability: None,
        or: Vec::new(),
        because: "the peer's window was full in 97 % of the readings".to_owned(),
        window_needed: Some(Bytes::from_kib(900)),
        could_reach: None,
    }
}

/// A measure document of one run.
pub fn measure(case: &Case) -> Document<Measure> {
    let made = run::make(case);
    let mut body = Measure::new(&target(), &made.observation, &made.summary, &loss());
    body.target = on_path(body.target);
    let words = format!(
        "trunkline measure emu:slac-cern -P {} -w {}",
        case.streams, case.window
    );
    Document::new(origin(&words, case.seed), body)
}

/// A tune document: streams doubled on automatic windows, then one fixed window.
pub fn tune(seed: u64) -> Document<Tune> {
    let words = "trunkline tune emu:slac-cern --seed 7";
    Document::new(origin(words, seed), tune_body(seed))
}

fn tune_body(seed: u64) -> Tune {
    let tried = [1, 2, 4, 8, 16, 32].map(|streams| (streams, Window::Auto));
    let fixed = [(8, Window::Fixed(Bytes::from_kib(256)))];
    let case = |(index, (streams, window)): (u64, (u16, Window))| Case {
        streams,
        window,
        seconds: 5,
        seed: seed.wrapping_add(index),
    };
    let cases = (0..).zip(tried.into_iter().chain(fixed)).map(case);
    let tuning = tuning(cases.collect());
    let mut body = Tune::new(&target(), &tuning);
    body.target = on_path(body.target);
    body
}

fn tuning(cases: Vec<Case>) -> Tuning {
    let mut samples: Vec<_> = cases.iter().map(sample).collect();
    for later in samples.iter_mut().skip(1) {
        later.observation.round_trips.unloaded = None;
        later.summary.rtt_unloaded = None;
    }
    let chosen = 3;
    let best = &samples[chosen];
    let recommended = tune::Recommended {
        setting: best.setting.clone(),
        sample: chosen,
        promise: promise(best),
        rtt_loaded: best.summary.rtt_loaded,
        rtt_unloaded: samples[0].summary.rtt_unloaded,
        because: "8 is the smallest number of streams that reaches 90 % of the highest goodput \
                  seen, 41.2 Mbit/s"
            .to_owned(),
    };
    let answer = tune::Answer {
        recommended,
        unpaced: None,
        own_control: None,
        limit_recommended: full(),
        default_sample: Some(0),
        limit_default: loss(),
        host_advice: vec![SysctlLine {
            end: tune::End::Receiver,
            key: "net.core.rmem_max".to_owned(),
            value: "4194304".to_owned(),
            now: Some(Bytes::from_kib(208)),
            why: "a fixed window above 208 KiB is cut to it".to_owned(),
        }],
        command: None,
    };
    Tuning {
        objective: tune::Objective::Knee { share: 0.9 },
        promises: samples.iter().map(promise).collect(),
        verdicts: samples.iter().map(|_| full()).collect(),
        rtt_unloaded: samples[0].summary.rtt_unloaded,
        cost: tune::Cost {
            elapsed: Span::from_millis(46_800),
            bytes: samples
                .iter()
                .map(|s| s.observation.bytes_delivered())
                .sum(),
        },
        samples,
        confirmations: Vec::new(),
        asked: Vec::new(),
        path_file: Some("[forward]\nrate = \"45Mbit/s\"\n".to_owned()),
        drift: None,
        untried: None,
        failed: Vec::new(),
        left_behind: None,
        ended: tune::Ended::Found(answer),
    }
}

fn promise(sample: &tune::Sample) -> tune::Promise {
    let goodput = sample.summary.directions[0].goodput;
    tune::Promise {
        goodput: goodput.mean,
        interval: goodput.interval,
    }
}

fn sample(case: &Case) -> tune::Sample {
    let Made {
        observation,
        summary,
    } = run::make(case);
    tune::Sample {
        setting: observation.setting.clone(),
        purpose: purpose(case),
        why: why(case),
        observation,
        summary,
    }
}

fn purpose(case: &Case) -> Purpose {
    match case.window {
        Window::Auto => Purpose::Streams,
        Window::Fixed(_) => Purpose::Fit,
    }
}

fn why(case: &Case) -> String {
    match (case.window, case.streams) {
        (Window::Fixed(_), _) => "a window that just fits the path may spare its queue".to_owned(),
        (Window::Auto, 1) => "what the host does by default".to_owned(),
        (Window::Auto, 2) => "one stream may leave room".to_owned(),
        (Window::Auto, n) => format!("{} streams brought more than {}", n / 2, n / 4),
    }
}

/// A demo document: two settings of the year 2000 and the tuned one.
pub fn demo(seed: u64) -> Document<Demo> {
    let kib = |kib| Window::Fixed(Bytes::from_kib(kib));
    let slac = |megabits: u64| Published {
        goodput_bits_per_second: megabits,
        source: "SLAC to CERN, 2000".to_owned(),
    };
    let body = Demo {
        target: on_path((&target()).into()),
        runs: vec![
            labelled(
                "2 x 256 KiB",
                (2, kib(256)),
                Some(slac(9_450_000)),
                loss(),
                seed,
            ),
            labelled(
                "8 x 64 KiB",
                (8, kib(64)),
                Some(slac(26_800_000)),
                small_window(),
                seed,
            ),
        ],
        tune: tune_body(seed),
        tuned: None,
    };
    Document::new(origin("trunkline demo --seed 7", seed), body)
}

fn labelled(
    label: &str,
    (streams, window): (u16, Window),
    published: Option<Published>,
    verdict: Verdict,
    seed: u64,
) -> LabelledRun {
    let made = run::make(&Case {
        streams,
        window,
        seconds: 10,
        seed,
    });
    LabelledRun {
        label: label.to_owned(),
        promise: None,
        published,
        run: Run::new(&made.observation, &made.summary, Some(&verdict)),
    }
}

impl Case {
    /// So many streams with automatic windows over ten seconds.
    ///
    /// # Panics
    /// Outside 1 to 128 streams.
    pub fn streams(streams: u16, seed: u64) -> Self {
        StreamCount::new(u64::from(streams)).expect("1 to 128 streams");
        Case {
            streams,
            window: Window::Auto,
            seconds: 10,
            seed,
        }
    }

    /// Goodput of the toy path: what windows, losses and the link allow, whichever is least.
    fn goodput(&self) -> Rate {
        let streams = f64::from(self.streams);
        let window = match self.window {
            Window::Auto => Bytes::from_mib(3),
            Window::Fixed(bytes) => bytes,
        };
        let by_window = streams * window.as_f64() * 8.0 / 0.165;
        let by_loss = streams * 4.9e6;
        let by_link = 42.3e6 * (1.0 - 0.25 / (1.0 + streams));
        Rate::from_f64(by_window.min(by_loss).min(by_link))
    }
}
