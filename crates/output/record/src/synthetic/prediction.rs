//! Predictions over a named path, and curves through made-up points.

use models::Curve;
use predict::{FlowClass, FluidQuestion, Question, fit as fitted, fluid, predict as predicted};
use units::{Bytes, Rate};

use super::origin;
use crate::{Document, Fit, Predict};

/// What the formulas say about SLAC to CERN with windows of 256 KiB.
pub fn predict() -> Document<Predict> {
    let question = Question {
        path: netpath::PathSpec::load("slac-cern").expect("a named path"),
        congestion: None,
        window: Some(Bytes::from_kib(256)),
        streams: vec![1, 2, 4, 8, 16, 32],
        knee: 0.9,
    };
    let flows = FluidQuestion {
        path: question.path.clone(),
        classes: vec![FlowClass::of(40)],
        duration: None,
        warmup: None,
        seed: 1,
    };
    let prediction = predicted(question).expect("reno is known");
    let mut origin = origin("trunkline predict slac-cern -w 256k", 1);
    origin.seed = None;
    let mut body = Predict::from(&prediction);
    body.transfer = Some(prediction.transfer(Bytes::new(1_000_000_000_000)));
    body.acceptable_losses = prediction.acceptable_losses();
    body.fluid = Some(fluid(&flows).expect("reno is known"));
    Document::new(origin, body)
}

/// Points of a curve with a peak at 16 streams, 2 % up and down.
pub fn fit() -> Document<Fit> {
    let curve = Curve::FullSecondOrder {
        a: 1e-4,
        b: -1.5e-3,
        c: 0.012,
    };
    let samples = [
        (1, 1.02),
        (2, 0.98),
        (4, 1.01),
        (8, 0.99),
        (16, 1.02),
        (24, 0.99),
        (32, 0.98),
    ];
    let samples = samples.map(|(streams, off): (u32, f64)| {
        (
            streams,
            Rate::from_f64(curve.throughput(streams).as_f64() * off),
        )
    });
    let mut origin = origin("trunkline predict --fit points.csv", 1);
    origin.seed = None;
    let fitting = fitted(samples.to_vec(), 0.9);
    let mut body = Fit::new("points.csv", &fitting);
    body.choices = fitting.choices();
    Document::new(origin, body)
}
