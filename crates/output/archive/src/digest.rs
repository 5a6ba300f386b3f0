//! What a document of each kind comes down to.

use units::Rate;

use super::copied::of_copy;
use super::essence::{Essence, Outcome, Point, Tried};
use super::examined::{of_characteristics, of_datagrams, of_responsiveness};
use super::rows;
use record::simulate::{SimulatedRun, SimulatedSetting};
use record::{
    Answer, AnyDocument, Demo, Direction, FluidSimulation, Interval, Kind, Measure, Origin, Path,
    Run, Schema, Simulate, Target, Transport, Tune,
};

impl Essence {
    /// What `document` comes down to; `None` of a kind without one operating point: programs across
    /// an emulated path, and campaigns.
    pub fn of(document: &AnyDocument) -> Option<Self> {
        let essence = match document {
            AnyDocument::Measure(document) => of_measure(&document.body, &document.origin),
            AnyDocument::Tune(document) => of_tune(&document.body, &document.origin)?,
            AnyDocument::Demo(document) => of_demo(&document.body, &document.origin)?,
            AnyDocument::Simulate(document) => of_simulate(&document.body, &document.origin),
            AnyDocument::Fluid(document) => of_fluid(&document.body, &document.origin)?,
            AnyDocument::Characteristics(document) => {
                of_characteristics(&document.body, &document.origin)?
            }
            AnyDocument::Responsiveness(document) => {
                of_responsiveness(&document.body, &document.origin)?
            }
            AnyDocument::Datagrams(document) => of_datagrams(&document.body, &document.origin)?,
            AnyDocument::Copy(document) => of_copy(&document.body, &document.origin)?,
            _ => return None,
        };
        Some(essence)
    }
}

fn of_measure(body: &Measure, origin: &Origin) -> Essence {
    let outcome = Outcome::from(&body.run);
    let sample = Tried {
        purpose: "measure".to_owned(),
        outcome: outcome.clone(),
    };
    Essence {
        samples: vec![sample],
        ..Essence::new(Schema::Measure, origin, body.target.clone(), outcome)
    }
}

/// `None` where the recommendation names a sample that is not there, and of a stopped search
/// without samples.
fn of_tune(body: &Tune, origin: &Origin) -> Option<Essence> {
    let outcome = match &body.answer {
        Some(answer) => recommended(answer, &body.recommended_sample()?.run),
        None => Outcome {
            limit: Some(STOPPED.to_owned()),
            ..best_seen(body)?
        },
    };
    let samples = body.samples.iter().map(|sample| Tried {
        purpose: rows::word(&sample.purpose),
        outcome: Outcome::from(&sample.run),
    });
    Some(Essence {
        objective: Some(body.objective.name().to_owned()),
        cut_because: body.cut_because.clone(),
        samples: samples.collect(),
        ..Essence::new(Schema::Tune, origin, body.target.clone(), outcome)
    })
}

/// What stands in place of a limit where a search was stopped: it found none.
const STOPPED: &str = "stopped";

fn recommended(answer: &Answer, run: &Run) -> Outcome {
    let recommended = &answer.recommended;
    Outcome {
        goodput_bits_per_second: recommended.goodput_bits_per_second,
        interval: recommended.interval,
        rtt_unloaded_seconds: recommended.rtt_unloaded_seconds,
        rtt_loaded_seconds: recommended.rtt_loaded_seconds,
        limit: Some(answer.limit.limit.name().to_owned()),
        ..Outcome::from(run)
    }
}

fn best_seen(body: &Tune) -> Option<Outcome> {
    let runs = body.samples.iter().map(|sample| &sample.run);
    runs.max_by_key(|run| run.goodput_bits_per_second)
        .map(Outcome::from)
}

/// The search of the demonstration, with the settings that stand beside it as samples before its
/// own.
fn of_demo(body: &Demo, origin: &Origin) -> Option<Essence> {
    let mut essence = of_tune(&body.tune, origin)?;
    let labelled = body.runs.iter().map(|labelled| Tried {
        purpose: labelled.label.clone(),
        outcome: Outcome::from(&labelled.run),
    });
    essence.samples = labelled.chain(essence.samples).collect();
    essence.schema = Schema::Demo;
    Some(essence)
}

fn of_simulate(body: &Simulate, origin: &Origin) -> Essence {
    let seed = |run: &SimulatedRun| Tried {
        purpose: format!("seed {}", run.seed),
        outcome: of_seed(body, run),
    };
    Essence {
        samples: body.runs.iter().map(seed).collect(),
        ..Essence::new(
            Schema::Simulate,
            origin,
            simulated_target(&body.path),
            of_seeds(body),
        )
    }
}

fn simulated_target(path: &Path) -> Target {
    Target {
        name: format!("sim:{}", path.name),
        kind: Kind::Simulated,
        limits: None,
        path_digest: Some(path.digest()),
        punctuality: None,
    }
}

/// `None` where the model has no goodput.
fn of_fluid(body: &FluidSimulation, origin: &Origin) -> Option<Essence> {
    let outcome = Outcome {
        setting: simulated_point(&body.setting),
        goodput_bits_per_second: body.aggregate.goodput_bits_per_second?,
        interval: None,
        degrees_of_freedom: None,
        rtt_unloaded_seconds: None,
        rtt_loaded_seconds: body.rtt.map(|rtt| rtt.mean_seconds),
        retransmitted_ratio: None,
        limit: None,
    };
    let asked = Tried {
        purpose: "fluid".to_owned(),
        outcome: outcome.clone(),
    };
    Some(Essence {
        samples: vec![asked],
        ..Essence::new(Schema::Fluid, origin, simulated_target(&body.path), outcome)
    })
}

/// All seeds together, with the interval that they give.
fn of_seeds(body: &Simulate) -> Outcome {
    let rates = body.runs.iter();
    let rates: Vec<f64> = rates
        .map(|run| run.goodput_bits_per_second as f64)
        .collect();
    let mean = stats::Mean::of_repeats(&rates);
    Outcome {
        setting: simulated_point(&body.setting),
        goodput_bits_per_second: body.figures.aggregate.goodput_bits_per_second,
        interval: mean.and_then(|mean| mean.interval()).map(interval),
        degrees_of_freedom: mean.map(|mean| mean.degrees),
        rtt_unloaded_seconds: None,
        rtt_loaded_seconds: body.figures.rtt.map(|rtt| rtt.mean_seconds),
        retransmitted_ratio: None,
        limit: None,
    }
}

fn of_seed(body: &Simulate, run: &SimulatedRun) -> Outcome {
    Outcome {
        goodput_bits_per_second: run.goodput_bits_per_second,
        interval: None,
        degrees_of_freedom: None,
        rtt_loaded_seconds: run.rtt.map(|rtt| rtt.mean_seconds),
        ..of_seeds(body)
    }
}

fn simulated_point(setting: &SimulatedSetting) -> Point {
    Point {
        transport: Transport::Tcp,
        streams: setting.streams,
        window: setting.window,
        direction: Direction::Forward,
        congestion: Some(setting.variant.clone()),
        pacing: None,
        mss: None,
    }
}

fn interval(interval: stats::Interval<f64>) -> Interval {
    // A rate below zero is none.
    let rate = |rate: f64| Rate::from_f64(rate.max(0.0));
    Interval {
        low: rate(interval.low),
        high: rate(interval.high),
        confidence: interval.confidence,
    }
}
