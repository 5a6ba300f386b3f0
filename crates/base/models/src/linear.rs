//! Linear least squares with a few unknowns.

/// Unknowns that bring the left sides closest to the right ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Solution<const K: usize> {
    pub unknowns: [f64; K],
    /// Sum of the squared differences that remain.
    pub residual: f64,
    /// Variance of each unknown for right sides that vary by 1: the diagonal of `(X'X)^-1`.
    pub variances: [f64; K],
}

/// Solves rows of left side and right side by orthogonal columns (modified Gram-Schmidt).
///
/// `None` when there are fewer rows than unknowns, a value is not finite, or the columns depend on
/// one another to the accuracy of the arithmetic.
///
/// Source: Golub and Van Loan, "Matrix Computations", section 5.2.
pub(crate) fn least_squares<const K: usize>(rows: &[([f64; K], f64)]) -> Option<Solution<K>> {
    if rows.len() < K {
        return None;
    }
    let mut columns: [Vec<f64>; K] =
        std::array::from_fn(|k| rows.iter().map(|(left, _)| left[k]).collect());
    let mut rest: Vec<f64> = rows.iter().map(|(_, right)| *right).collect();
    let mut triangle = [[0.0; K]; K];
    let mut projected = [0.0; K];
    for k in 0..K {
        let before = norm(rows.iter().map(|(left, _)| left[k]));
        let length = norm(columns[k].iter().copied());
        // Also false for what is not a number.
        let independent = length > before * 1e-12 && length.is_finite();
        if !independent {
            return None;
        }
        columns[k].iter_mut().for_each(|value| *value /= length);
        triangle[k][k] = length;
        let (done, others) = columns.split_at_mut(k + 1);
        for (later, column) in others.iter_mut().enumerate() {
            triangle[k][k + 1 + later] = take_out(&done[k], column);
        }
        projected[k] = take_out(&done[k], &mut rest);
    }
    // Column k of the triangle's inverse: what the unknowns owe to the k-th projection.
    let inverse: [[f64; K]; K] = std::array::from_fn(|k| inverse_column(&triangle, k));
    let unknown = |row: usize| {
        inverse
            .iter()
            .zip(&projected)
            .map(|(x, y)| x[row] * y)
            .sum()
    };
    let variance = |row: usize| inverse.iter().map(|x| x[row] * x[row]).sum();
    Some(Solution {
        unknowns: std::array::from_fn(unknown),
        residual: rest.iter().map(|value| value * value).sum(),
        variances: std::array::from_fn(variance),
    })
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// Takes the part along the unit vector `along` out of `vector`, and returns how long it was.
fn take_out(along: &[f64], vector: &mut [f64]) -> f64 {
    let length = along.iter().zip(&*vector).map(|(x, y)| x * y).sum();
    for (value, along) in vector.iter_mut().zip(along) {
        *value -= length * along;
    }
    length
}

/// One column of the inverse of an upper triangle without a zero on its diagonal.
fn inverse_column<const K: usize>(triangle: &[[f64; K]; K], column: usize) -> [f64; K] {
    let mut unknowns = [0.0; K];
    for (row, left) in triangle.iter().enumerate().take(column + 1).rev() {
        let right = if row == column { 1.0 } else { 0.0 };
        let later: f64 = (row + 1..=column).map(|k| left[k] * unknowns[k]).sum();
        unknowns[row] = (right - later) / left[row];
    }
    unknowns
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_comes_out_as_by_the_textbook() {
        // y = 0.15 x with one point 1 too high: stats::fit_line has the same slope and error.
        let points = [(10.0, 1.5), (20.0, 4.0), (40.0, 6.0), (80.0, 12.0)];
        let line = stats::fit_line(&points).unwrap();
        let solution = least_squares(&points.map(|(x, y)| ([x, 1.0], y))).unwrap();
        assert!((solution.unknowns[0] - line.slope).abs() < 1e-12);
        assert!((solution.unknowns[1] - line.intercept).abs() < 1e-12);
        let error = (solution.residual / 2.0 * solution.variances[0]).sqrt();
        assert!((error - line.slope_error.unwrap()).abs() < 1e-12);
    }

    #[test]
    fn columns_that_say_the_same_have_no_solution() {
        assert!(
            least_squares(&[([1.0, 2.0], 1.0), ([2.0, 4.0], 2.0), ([3.0, 6.0], 4.0)]).is_none()
        );
        assert!(least_squares(&[([1.0, 2.0], 1.0)]).is_none());
        assert!(least_squares(&[([f64::NAN], 1.0)]).is_none());
        assert!(least_squares(&[([0.0], 1.0)]).is_none());
    }

    proptest! {
        #[test]
        fn what_is_linear_is_found_again(wanted in prop::array::uniform3(-10.0..10.0_f64)) {
            let row = |n: f64| ([n * n, n, 1.0], wanted[0] * n * n + wanted[1] * n + wanted[2]);
            let solution = least_squares(&[1.0, 2.0, 4.0, 8.0, 16.0].map(row)).unwrap();
            for (found, wanted) in solution.unknowns.iter().zip(wanted) {
                prop_assert!((found - wanted).abs() < 1e-9);
            }
            prop_assert!(solution.residual < 1e-18);
        }
    }
}
