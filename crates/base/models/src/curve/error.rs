//! Why samples give no curve.

use thiserror::Error;
use units::Rate;

use super::Form;

/// Why samples give no curve of a form.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum CurveError {
    /// A sample without streams or without throughput.
    #[error("a sample of {streams} streams at {throughput} cannot lie on the curve")]
    EmptySample {
        /// Streams of that sample.
        streams: u32,
        /// Its throughput.
        throughput: Rate,
    },
    /// Fewer different numbers of streams than the form has coefficients.
    #[error(
        "{distinct} different numbers of streams were sampled, the {form} curve needs {}; sample \
            more",
        form.coefficients()
    )]
    TooFewSamples {
        /// Which form.
        form: Form,
        /// How many different numbers of streams there were.
        distinct: usize,
    },
    /// More samples than a curve can go through.
    #[error(
        "the {form} curve goes through {} samples, {given} were given; fit them by least squares",
        form.coefficients()
    )]
    TooManySamples {
        /// Which form.
        form: Form,
        /// How many there were.
        given: usize,
    },
    /// Throughput still grows in proportion to the streams: no limit in sight.
    #[error(
        "throughput grows in proportion up to {streams} streams, so the samples show no limit; \
            sample more streams"
    )]
    NoLimit {
        /// The most streams sampled.
        streams: u32,
    },
    /// Throughput falls as streams are added.
    #[error(
        "throughput falls as streams are added, which the {form} curve cannot follow; choose among \
            the measured points"
    )]
    Falling {
        /// Which form.
        form: Form,
    },
    /// No power of the streams bends as these samples do.
    #[error(
        "no power of the streams bends the {form} curve as these samples do; use a form without one"
    )]
    NoPower {
        /// Which form.
        form: Form,
    },
    /// A coefficient for which the form has no peak beyond one stream, or no value somewhere.
    #[error(
        "the {form} curve needs {bound}, and the samples give {value:.3e}: they show no peak of \
            this form; use the knee of a form without one"
    )]
    OutOfBounds {
        /// Which form.
        form: Form,
        /// The bound that is broken, a formula and what it has to exceed.
        bound: &'static str,
        /// The value of that formula.
        value: f64,
    },
}
