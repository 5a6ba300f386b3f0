//! What is wrong with the sentences about a search, by its rows alone.

use draw::format;
use record::{Answer, Objective, Recommended, Sample, Tune};
use report::text;

/// Of settings whose promises differ by less, either may be recommended.
const ALIKE: f64 = 0.06;

pub fn faults(tune: &Tune) -> Vec<String> {
    let Some(answer) = &tune.answer else {
        return vec!["no answer".to_owned()];
    };
    let mut faults = choice(tune, &answer.recommended);
    faults.extend(headline(tune, answer));
    faults.extend(verdicts(tune, answer));
    faults.extend(tune.samples.iter().flat_map(promise));
    faults
}

/// What a minute of a row's setting is expected to carry.
fn promised(row: &Sample) -> f64 {
    let promise = row.promise.as_ref();
    promise.map_or(0.0, |promise| promise.goodput_bits_per_second as f64)
}

/// Whether what is recommended is what its row promises, and no other row beats it.
fn choice(tune: &Tune, chosen: &Recommended) -> Vec<String> {
    let row = &tune.samples[chosen.sample];
    let mut faults = Vec::new();
    let mut fault = |text: String| faults.push(format!("{text} ({})", chosen.because));
    if promised(row) != chosen.goodput_bits_per_second as f64 {
        fault("the recommendation is not what its row promises".to_owned());
    }
    let most = tune.samples.iter().map(promised).fold(0.0, f64::max);
    let share = match tune.objective {
        Objective::Knee { share } => share,
        Objective::Max => 1.0,
        _ => 0.0,
    };
    let enough = (share - ALIKE) * most;
    if promised(row) < enough {
        fault(format!("{} is less than {share} of {most}", promised(row)));
    }
    faults
}

/// The headline has what is recommended.
fn headline(tune: &Tune, answer: &Answer) -> Option<String> {
    let text = text::recommendation(tune);
    let chosen = &answer.recommended;
    let rate = format::rate_with_margin(chosen.goodput_bits_per_second, chosen.interval.as_ref());
    (!text.contains(&rate)).then(|| format!("{rate} is recommended: {text}"))
}

/// What is said to limit a setting is what its row says, and brings something.
fn verdicts(tune: &Tune, answer: &Answer) -> Vec<String> {
    let recommended = (Some(answer.recommended.sample), &answer.limit);
    let default = (answer.default_sample, &answer.limit_default);
    let one = |(sample, verdict): (Option<usize>, &observe::Verdict)| {
        let row = &tune.samples[sample?];
        let reach = verdict.could_reach.map(|rate| rate.as_f64());
        match () {
            () if row.run.limit() != Some(verdict.limit) => Some(format!(
                "the row says {:?} and the text {:?}",
                row.run.limit(),
                verdict.limit
            )),
            () if reach.is_some_and(|reach| reach < promised(row)) => {
                Some(format!("{reach:?} is no gain beside {}", promised(row)))
            }
            () => None,
        }
    };
    [recommended, default].into_iter().filter_map(one).collect()
}

/// A promise lies in its interval.
fn promise(row: &Sample) -> Option<String> {
    let promise = row.promise.as_ref()?;
    let interval = promise.interval.as_ref()?;
    let (low, high) = (interval.low.as_f64(), interval.high.as_f64());
    let is_in = low <= promised(row) && promised(row) <= high;
    (!is_in).then(|| format!("{promise:?}"))
}
