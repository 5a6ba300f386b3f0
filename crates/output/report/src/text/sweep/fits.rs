//! What the relations over all visits of a direction say.

use record::sweep::{DirectionAnalysis, Distribution, LineFit};

use super::r_squared;
use draw::format::{self, percent};

/// A line that explains less than this is not worth a sentence.
const WORTH: f64 = 0.5;
/// Fewer visits than this lie on a line by chance.
const VISITS_MIN: u64 = 8;
/// Where the idle path's rate variability has this share of the loaded one's, streams make little
/// of it.
const IDLE_SHARE: f64 = 0.5;

/// The relations that are worth a sentence.
pub fn fits(way: &DirectionAnalysis) -> Vec<String> {
    let sentences = [
        variability(way),
        way.rate_variability_loaded
            .as_ref()
            .filter(|_| has_visits(way))
            .and_then(form),
        agreement(way),
        processor(way),
        products(way),
        load(way),
        durations(way),
        fairness(way),
    ];
    sentences.into_iter().flatten().collect()
}

fn worth(fit: &LineFit) -> bool {
    fit.r_squared.is_some_and(|share| share >= WORTH)
}

fn variability(way: &DirectionAnalysis) -> Option<String> {
    let loaded = way.rate_variability_loaded.as_ref()?;
    let idle = way.rate_variability_unloaded.as_ref();
    let idle = idle.map_or(String::new(), |idle| {
        format!(" ({} on the idle path)", percent(idle.mean_ratio))
    });
    Some(format!(
        "Rate variability beside the streams is {} in the mean{idle}, sd {}, median {}; at most 10 \
            % in {} of {} visits.",
        percent(loaded.mean_ratio),
        percent(loaded.standard_deviation_ratio),
        percent(loaded.spread.median_ratio),
        percent(loaded.at_most_tenth_ratio),
        loaded.spread.count,
    ))
}

/// How the rate variability is distributed.
fn form(loaded: &Distribution) -> Option<String> {
    let exponential = loaded.exponential?;
    let logarithm = loaded.logarithm.map_or(String::new(), |fit| {
        format!(
            "; the share below grows as {:.2} ln RV{}",
            fit.slope,
            r_squared(fit.r_squared)
        )
    });
    let falls = exponential.scale_ratio > 0.0 && exponential.r_squared >= Some(WORTH);
    let frequency = match falls {
        true => format!("falls e-fold every {}", percent(exponential.scale_ratio)),
        false => "is no exponential".to_owned(),
    };
    Some(format!(
        "Its frequency {frequency}{}{logarithm}.",
        r_squared(exponential.r_squared)
    ))
}

/// Whether the idle path's round trips vary about as much as those beside streams.
fn idle_varies_as_much(way: &DirectionAnalysis) -> bool {
    let idle = way.rate_variability_unloaded.as_ref();
    let both = idle.zip(way.rate_variability_loaded.as_ref());
    both.is_some_and(|(idle, loaded)| idle.mean_ratio > IDLE_SHARE * loaded.mean_ratio)
}

fn has_visits(way: &DirectionAnalysis) -> bool {
    let loaded = way.rate_variability_loaded.as_ref();
    loaded.is_some_and(|loaded| loaded.spread.count >= VISITS_MIN)
}

fn agreement(way: &DirectionAnalysis) -> Option<String> {
    if !has_visits(way) {
        return None;
    }
    let fit = way.variability_against_added?;
    let share = fit.r_squared?;
    Some(match share >= WORTH {
        true if idle_varies_as_much(way) => format!(
            "Rate variability (RV) follows the added delay (dRTT), R\u{b2} {share:.2}, but the \
             idle path varies as much: others' traffic has its part."
        ),
        true => format!(
            "Rate variability (RV) follows the added delay (dRTT), R\u{b2} {share:.2}: queues that \
                the streams fill make it, not traffic of others."
        ),
        false => format!(
            "Rate variability (RV) does not follow the added delay (dRTT), R\u{b2} {share:.2}: \
                others' traffic has its part."
        ),
    })
}

fn processor(way: &DirectionAnalysis) -> Option<String> {
    let fit = way.cpu_against_goodput.as_ref().filter(|fit| worth(fit))?;
    let kernel = way.kernel_to_user_ratio.map_or(String::new(), |ratio| {
        format!("; the kernel takes {ratio:.1} times what the program does")
    });
    Some(format!(
        "This end's processor: {} for each Mbit/s{}{kernel}.",
        percent(fit.slope * 1e6),
        r_squared(fit.r_squared)
    ))
}

fn products(way: &DirectionAnalysis) -> Option<String> {
    let of = |product: &record::sweep::Product| {
        let kernel = product.kernel.filter(worth)?;
        Some((product.product_bytes, product.streams.clone(), kernel))
    };
    let (bytes, streams, kernel) = way
        .products
        .iter()
        .filter_map(of)
        .max_by_key(|p| p.1.len())?;
    let (few, many) = (streams.first()?, streams.last()?);
    let change = if kernel.slope > 0.0 { "rises" } else { "falls" };
    Some(format!(
        "Where windows come to {} in all, kernel time {change} from {few} to {many} streams{}.",
        units::Bytes::new(bytes),
        r_squared(kernel.r_squared)
    ))
}

fn load(way: &DirectionAnalysis) -> Option<String> {
    let load = way.rtt_spread_against_load.as_ref()?;
    let grows = worth(&load.fit) && load.fit.slope > 0.0;
    grows.then(|| {
        format!(
            "Round trips scatter ever more as the load nears {}, like the wait in a queue (1/(1 - \
                load)){}: stay below.",
            format::rate(load.reference_bits_per_second),
            r_squared(load.fit.r_squared)
        )
    })
}

/// Whether the longest visits carried another rate than the shortest: their quartiles do not
/// overlap.
fn durations(way: &DirectionAnalysis) -> Option<String> {
    let (short, long) = (way.durations.first()?, way.durations.last()?);
    let (a, b) = (&short.relative_goodput, &long.relative_goodput);
    let apart = a.quartile1_ratio > b.quartile3_ratio || b.quartile1_ratio > a.quartile3_ratio;
    let times = format!(
        "{} and {}",
        format::time(short.duration_seconds),
        format::time(long.duration_seconds)
    );
    Some(match apart {
        true => format!(
            "Visits of {times} differ: {} and {} of their settings' medians.",
            percent(a.median_ratio),
            percent(b.median_ratio)
        ),
        false => format!("Visits of {times} carry about the same."),
    })
}

fn fairness(way: &DirectionAnalysis) -> Option<String> {
    let fairness = way.fairness.as_ref()?;
    Some(format!(
        "Streams share with a Jain index of {:.3} (half of the visits {:.3} to {:.3}).",
        fairness.median_ratio, fairness.quartile1_ratio, fairness.quartile3_ratio
    ))
}
