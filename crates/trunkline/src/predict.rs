//! Formulas: what they say about a path file, and curves through measured points.

use std::path::Path;

use record::Document;
use units::{Bytes, Span};

use crate::{Error, origin};

pub use ::predict::{
    FLOWS_MAX, FlowClass, FluidQuestion, KNEE_SHARE, Prediction, Question, STREAMS_MAX,
};

/// What formulas say about a path.
#[derive(Debug, Clone)]
pub struct Predicted {
    /// Throughput, knee and buffers.
    pub prediction: Prediction,
    /// The document of it.
    pub document: Document<record::Predict>,
}

/// Everything that the formulas say about the path of `question`. Sends nothing.
///
/// ```
/// use trunkline::predict::{KNEE_SHARE, Question};
/// use trunkline::units::Bytes;
///
/// let predicted = trunkline::predict(Question {
///     path: trunkline::load_path("slac-cern")?,
///     congestion: None,
///     window: Some(Bytes::from_kib(64)),
///     streams: vec![1, 8],
///     knee: KNEE_SHARE,
/// })?;
/// // 22.9 Mbit/s; Cottrell et al. measured 26.8 in 2000-2001.
/// let eight = predicted.prediction.points[1].equilibrium.throughput;
/// assert!((eight.as_f64() / 1e6 - 22.9).abs() < 0.1);
/// # Ok::<(), trunkline::Error>(())
/// ```
///
/// # Errors
/// When no formula covers the path or its congestion control.
pub fn predict(question: Question) -> Result<Predicted, Error> {
    let prediction = ::predict::predict(question)?;
    let document = Document::new(origin(None), record::Predict::from(&prediction));
    Ok(Predicted {
        prediction,
        document,
    })
}

impl Predicted {
    /// Adds to the document how long `bytes` take by each formula.
    pub fn add_transfer(&mut self, bytes: Bytes) {
        self.document.body.transfer = Some(self.prediction.transfer(bytes));
    }

    /// Adds to the document the loss that one stream bears, by rate and round trip.
    pub fn add_losses(&mut self) {
        self.document.body.acceptable_losses = self.prediction.acceptable_losses();
    }

    /// Adds to the document what the fluid model says of these classes of flows. Those that name no
    /// congestion control, window or round trip have those of the question. `None` lets them run
    /// for a minute, or on short paths for as many round trips as fit.
    ///
    /// # Errors
    /// When the model describes the path or a class not.
    pub fn add_flows(
        &mut self,
        classes: &[FlowClass],
        duration: Option<Span>,
    ) -> Result<(), Error> {
        let question = &self.prediction.question;
        let class = |class: &FlowClass| FlowClass {
            congestion: class
                .congestion
                .clone()
                .or_else(|| question.congestion.clone()),
            window: class.window.or(question.window),
            ..class.clone()
        };
        self.document.body.fluid = Some(::predict::fluid(&FluidQuestion {
            path: question.path.clone(),
            classes: classes.iter().map(class).collect(),
            duration,
            warmup: None,
            seed: 1,
        })?);
        Ok(())
    }
}

/// Curves through the measured points of a file: a document of trunkline, or comma-separated
/// values. Gives the document.
///
/// * `window`: of a file with several windows, the one whose points count.
/// * `knee`: share of the highest throughput at which the knee lies.
/// * `explain`: the document has what the rules of the literature would have chosen, too.
///
/// # Errors
/// When the file cannot be read or has no points.
pub fn fit(
    file: &Path,
    window: Option<observe::Window>,
    knee: f64,
    explain: bool,
) -> Result<Document<record::Fit>, Error> {
    let points = record::load_points(file, window)?;
    let fitting = ::predict::fit(points, knee);
    let mut body = record::Fit::new(&file.display().to_string(), &fitting);
    if explain {
        body.choices = fitting.choices();
    }
    Ok(Document::new(origin(None), body))
}
