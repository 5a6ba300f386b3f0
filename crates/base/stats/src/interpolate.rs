//! The straight line between two points.

/// The height at `at` of the straight line from `before` to `after`, each a place and a height;
/// that of `before` where `after` does not lie beyond it, and no further than that of `after`.
///
/// ```
/// // 100 bytes by 0.1 s and 400 by 0.4 s: 200 by 0.2 s.
/// let bytes = stats::between((0.1, 100.0), (0.4, 400.0), 0.2);
/// assert!((bytes - 200.0).abs() < 1e-9);
/// ```
pub fn between(before: (f64, f64), after: (f64, f64), at: f64) -> f64 {
    let width = after.0 - before.0;
    if width <= 0.0 {
        return before.1;
    }
    let share = ((at - before.0) / width).min(1.0);
    before.1 + (after.1 - before.1) * share
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn two_points_at_one_place_or_out_of_order_give_the_first() {
        assert_eq!(between((1.0, 5.0), (1.0, 9.0), 1.0), 5.0);
        assert_eq!(between((2.0, 5.0), (1.0, 9.0), 1.5), 5.0);
    }

    #[test]
    fn beyond_the_second_point_the_line_is_level() {
        assert_eq!(between((0.0, 0.0), (1.0, 9.0), 3.0), 9.0);
    }
}
