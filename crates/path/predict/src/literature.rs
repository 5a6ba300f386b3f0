//! What the rules of the literature would have chosen from the same points.

use models::{Form, best_combination, exp_selection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

use super::Fitting;

/// What a further stream has to add for ExpSelection to go on, as a share of the highest point.
const ACCURACY: f64 = 0.01;

/// What one rule chooses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// The rule, and the form of its curve.
    pub rule: String,
    /// The points that its curve goes through.
    pub through_streams: Vec<u32>,
    /// How many streams it chooses; absent when it chooses none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<u32>,
    /// What its curve promises there.
    #[serde(
        rename = "goodput_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub goodput: Option<Rate>,
    /// Why it chooses none, or where it had to stop; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

type Samples = Vec<(u32, Rate)>;

impl Fitting {
    /// What ExpSelection and BestCmb with Newton's and the full second order form would have chosen
    /// from these points, and what is recommended here.
    ///
    /// Source: Yildirim, Yin and Kosar, as for [`exp_selection`] and [`best_combination`]. Their
    /// accuracy is not printed; here a further stream has to add a hundredth of the highest point.
    pub fn choices(&self) -> Vec<Choice> {
        let all: Samples = self
            .samples
            .iter()
            .map(|at| (at.streams, at.throughput))
            .collect();
        let (picked, stopped) = exponential(&all);
        let forms = [Form::Newton, Form::FullSecondOrder];
        let few = forms.map(|form| {
            let choice = combination(format!("ExpSelection, then BestCmb, {form}"), form, &picked);
            Choice {
                problem: choice.problem.clone().or_else(|| stopped.clone()),
                ..choice
            }
        });
        let every =
            forms.map(|form| combination(format!("BestCmb of all points, {form}"), form, &all));
        few.into_iter().chain(every).chain([self.own()]).collect()
    }

    fn own(&self) -> Choice {
        let curve = self
            .ranked
            .first()
            .and_then(|best| Some(best.fit.as_ref().ok()?.curve));
        let streams = self.recommended.map(|best| best.streams);
        let form = self.recommended.map(|best| format!(", {}", best.form));
        Choice {
            rule: format!("recommended here: knee{}", form.unwrap_or_default()),
            through_streams: self.samples.iter().map(|at| at.streams).collect(),
            streams,
            goodput: streams
                .zip(curve)
                .map(|(streams, curve)| curve.throughput(streams)),
            problem: streams
                .is_none()
                .then(|| "no form fits these points".to_owned()),
        }
    }
}

/// The points that ExpSelection takes, and what it looks for in vain.
fn exponential(all: &[(u32, Rate)]) -> (Samples, Option<String>) {
    let highest = all
        .iter()
        .map(|(_, rate)| *rate)
        .max()
        .unwrap_or(Rate::ZERO);
    let accuracy = Rate::from_f64(highest.as_f64() * ACCURACY);
    let most = all.iter().map(|(streams, _)| *streams).max().unwrap_or(0);
    let mut taken = Samples::new();
    while let Some(next) = exp_selection(&taken, accuracy, most) {
        match all.iter().find(|(streams, _)| *streams == next) {
            Some(sample) => taken.push(*sample),
            None => {
                return (
                    taken,
                    Some(format!("ExpSelection finds no point of {next} streams")),
                );
            }
        }
    }
    (taken, None)
}

fn combination(rule: String, form: Form, samples: &[(u32, Rate)]) -> Choice {
    let best = best_combination(form, samples);
    let peak = best.as_ref().ok().and_then(|best| best.curve.peak());
    let streams = peak.map(|peak| peak.round().max(1.0) as u32);
    let curve = best.as_ref().ok().map(|best| best.curve);
    Choice {
        rule,
        through_streams: match &best {
            Ok(best) => best.through.iter().map(|(streams, _)| *streams).collect(),
            Err(_) => samples.iter().map(|(streams, _)| *streams).collect(),
        },
        streams,
        goodput: streams
            .zip(curve)
            .map(|(streams, curve)| curve.throughput(streams)),
        problem: best.err().map(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Curve;

    #[test]
    fn all_rules_find_the_peak_of_a_clean_curve_and_ours_the_knee() {
        let curve = Curve::FullSecondOrder {
            a: 1e-4,
            b: -1.5e-3,
            c: 0.012,
        };
        let counts = [1, 2, 4, 8, 16, 32];
        let samples = counts.map(|n| (n, curve.throughput(n)));
        let choices = crate::fit(samples.to_vec(), 0.9).choices();
        let full = choices
            .iter()
            .find(|choice| choice.rule.contains("all points, full"));
        assert_eq!(full.unwrap().streams, Some(16));
        assert_eq!(choices.last().unwrap().streams, Some(11));
        assert_eq!(choices.len(), 5);
    }

    #[test]
    fn missing_points_and_curves_without_a_peak_are_told() {
        let mbit = |rate: u64| Rate::from_bits_per_second(rate * 1_000_000);
        let samples = vec![(1, mbit(5)), (2, mbit(10)), (5, mbit(25)), (9, mbit(45))];
        let choices = crate::fit(samples, 0.9).choices();
        assert!(choices[..4].iter().all(|choice| choice.streams.is_none()));
        assert!(choices[..4].iter().all(|choice| choice.problem.is_some()));
        assert!(
            crate::fit(Vec::new(), 0.9)
                .choices()
                .last()
                .unwrap()
                .problem
                .is_some()
        );
    }
}
