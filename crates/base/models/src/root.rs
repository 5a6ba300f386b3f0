//! Roots of one equation.

/// Bisections halve a bracket; more than this many change nothing in 64 bits.
const HALVINGS: u32 = 100;
/// Steps of Newton's method, each at least a halving.
const STEPS: u32 = 200;

/// Where between `low` and `high` the answer of `below` changes from true to false, to the last
/// bits.
///
/// `low` when it is false there already.
pub(crate) fn bisect(low: f64, high: f64, below: impl Fn(f64) -> bool) -> f64 {
    if !below(low) {
        return low;
    }
    let (mut low, mut high) = (low, high);
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        match below(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// The root of `value` between `low` and `high`, where it has unlike signs, by Newton's method; a
/// step that leaves the bracket or closes it too slowly halves it.
///
/// `value` returns the function and its derivative. `None` when the signs are alike.
pub(crate) fn newton(low: f64, high: f64, value: impl Fn(f64) -> (f64, f64)) -> Option<f64> {
    let (at_low, at_high) = (value(low).0, value(high).0);
    let bracketed = at_low * at_high <= 0.0 && at_low.is_finite() && at_high.is_finite();
    if !bracketed {
        return None;
    }
    let rises = at_high > at_low;
    let (mut low, mut high) = (low, high);
    let mut x = high;
    for _ in 0..STEPS {
        let (there, slope) = value(x);
        match (there > 0.0) == rises {
            true => high = x,
            false => low = x,
        }
        let step = x - there / slope;
        let inside = step > low && step < high;
        let next = if inside {
            step
        } else {
            low + (high - low) / 2.0
        };
        if (next - x).abs() <= f64::EPSILON * x.abs() {
            return Some(next);
        }
        x = next;
    }
    Some(x)
}
